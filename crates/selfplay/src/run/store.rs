//! The directory of a run: stream, journal and report, and what is left of them after a kill (selfplay.md §5).
//!
//! Games go to the stream, and when that is on disk to the journal: what the journal tells of is whole. What is behind
//! it in the stream after a kill is cut off, and the games are played again, to the same bytes.

use crate::error::{Error, Result};
use crate::report::{GameLine, Report, Totals, hash};
use crate::run::settings::difference;
use manaka_core::conventions::Conventions;
use manaka_core::stream::{FileSink, HEADER_LEN, Header, RecordRef, StreamWriter};
use manaka_core::whole_file::{Existing, WholeFile};
use serde_json::Value;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The stream, in the directory of a run.
pub const DATA: &str = "games.mpk";
/// One line for each game.
pub const JOURNAL: &str = "games.jsonl";
/// What was played how.
pub const REPORT: &str = "selfplay.json";

/// Bytes of the longest line of a journal: several times a line of the largest numbers.
const LINE: u64 = 4 << 10;

/// An open run.
pub(crate) struct Store {
    dir: PathBuf,
    stream: StreamWriter<FileSink>,
    journal: File,
    /// Lines of games that wait for the stream to be on disk.
    waiting: Vec<u8>,
    /// Since when.
    since: Instant,
    sync: Duration,
    report: Report,
    started: Instant,
    seconds_before: f64,
}

/// The lock goes with the run.
impl Drop for Store {
    fn drop(&mut self) {
        // It would go with the file anyway.
        let _ = self.journal.unlock();
    }
}

impl Store {
    /// Fails early when there is a run that shall not be resumed.
    pub(crate) fn check(dir: &Path, resume: bool) -> Result<()> {
        let holds = |name: &str| fs::metadata(dir.join(name)).is_ok_and(|meta| meta.len() > 0);
        if !resume && [REPORT, JOURNAL, DATA].into_iter().any(holds) {
            return Err(Error::Exists(dir.to_owned()));
        }
        Ok(())
    }

    /// Opens or creates a run. Returns what there is to tell about it.
    pub(crate) fn open(
        dir: &Path,
        resume: bool,
        settings: Value,
        games: u64,
        sync: Duration,
    ) -> Result<(Self, Vec<String>)> {
        fs::create_dir_all(dir).map_err(Error::io(dir))?;
        let mut notes = Vec::new();
        let journal_path = dir.join(JOURNAL);
        let mut journal = read_write(&journal_path)?;
        match journal.try_lock() {
            Ok(()) => {}
            Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {
                notes.push(
                    "the file system knows no locks: see to it that no other run writes here".to_owned(),
                );
            }
            Err(TryLockError::WouldBlock) => return Err(Error::Busy(dir.to_owned())),
            Err(TryLockError::Error(error)) => return Err(Error::io(&journal_path)(error)),
        }
        Self::check(dir, resume)?;
        let (data_path, report_path) = (dir.join(DATA), dir.join(REPORT));
        let mut report = if report_path.try_exists().map_err(Error::io(&report_path))? {
            let report = read_report(dir)?;
            if let Some(found) = difference(&report.settings, &settings) {
                let path = report_path;
                return Err(Error::Mismatch { path, key: found.key, there: found.there, here: found.here });
            }
            Report { settings, games, complete: false, totals: Totals::default(), ..report }
        } else {
            for path in [&data_path, &journal_path] {
                if fs::metadata(path).is_ok_and(|meta| meta.len() > 0) {
                    return Err(Error::damaged(path, format!("there is no {REPORT} beside it")));
                }
            }
            // Before a byte of the stream: data whose settings nobody knows cannot be gone on with.
            let report = fresh(settings, games);
            write_report(dir, &report)?;
            report
        };
        report.data_bytes = recover(&data_path, &mut journal, &journal_path, &mut report.totals, &mut notes)?;
        let (stream, found) = StreamWriter::append(&data_path, Conventions::VISITS)?;
        if found.records != report.totals.positions {
            let (there, told) = (found.records, report.totals.positions);
            let reason = format!("{there} records, where {JOURNAL} tells of {told}");
            return Err(Error::damaged(&data_path, reason));
        }
        report.data_bytes = report.data_bytes.max(HEADER_LEN as u64);
        let (started, seconds_before) = (Instant::now(), report.seconds);
        let mut store = Self {
            dir: dir.to_owned(),
            stream,
            journal,
            waiting: Vec::new(),
            since: started,
            sync,
            report,
            started,
            seconds_before,
        };
        store.write_report()?;
        Ok((store, notes))
    }

    pub(crate) const fn report(&self) -> &Report {
        &self.report
    }

    /// The number of the next game to write.
    pub(crate) const fn next(&self) -> u64 {
        self.report.totals.games
    }

    /// Writes a game, all of its records.
    pub(crate) fn append(&mut self, line: &GameLine, records: &[u8]) -> Result<()> {
        let mut rest = records;
        while !rest.is_empty() {
            let record = RecordRef::frame(rest).map_err(|need| {
                let reason = format!("a record of game {} wants {need} bytes", line.game);
                Error::damaged(&self.dir.join(DATA), reason)
            })?;
            self.stream.write_ref(record)?;
            rest = &rest[record.bytes().len()..];
        }
        if self.waiting.is_empty() {
            self.since = Instant::now();
        }
        let path = self.dir.join(JOURNAL);
        serde_json::to_writer(&mut self.waiting, line).map_err(|error| Error::io(&path)(error.into()))?;
        self.waiting.push(b'\n');
        self.report.data_bytes += records.len() as u64;
        self.report.totals.add(line);
        Ok(())
    }

    /// Brings to disk what has waited long enough.
    pub(crate) fn sync_in_time(&mut self) -> Result<()> {
        if self.waiting.is_empty() || self.since.elapsed() < self.sync { Ok(()) } else { self.sync() }
    }

    /// Brings everything to disk: the stream, then the journal, then the report.
    pub(crate) fn sync(&mut self) -> Result<()> {
        self.stream.sync()?;
        let path = self.dir.join(JOURNAL);
        let mut write = || {
            self.journal.write_all(&self.waiting)?;
            self.journal.sync_data()
        };
        write().map_err(Error::io(&path))?;
        self.waiting.clear();
        self.write_report()
    }

    fn write_report(&mut self) -> Result<()> {
        let report = &mut self.report;
        report.seconds = rounded(self.seconds_before + self.started.elapsed().as_secs_f64());
        report.positions_per_second = rounded(rate(report.totals.positions, report.seconds));
        report.evaluations_per_second = rounded(rate(report.totals.evaluations, report.seconds));
        report.mean_plies = report.totals.mean_plies().map(rounded);
        report.first_mover_win_share = report.totals.first_mover_win_share().map(rounded);
        report.false_resign_rate = report.totals.false_resign_rate().map(rounded);
        write_report(&self.dir, report)
    }

    /// The last sync.
    pub(crate) fn finish(mut self) -> Result<Report> {
        self.report.complete = self.next() >= self.report.games;
        self.sync()?;
        Ok(self.report.clone())
    }
}

fn write_report(dir: &Path, report: &Report) -> Result<()> {
    let path = dir.join(REPORT);
    let mut text = serde_json::to_vec_pretty(report).map_err(|error| Error::io(&path)(error.into()))?;
    text.push(b'\n');
    let write = || {
        let mut file = WholeFile::create(&path, Existing::Replace)?;
        file.write_all(&text)?;
        file.commit()
    };
    write().map(|_| ()).map_err(Error::io(&path))
}

fn fresh(settings: Value, games: u64) -> Report {
    Report {
        format: Report::FORMAT.to_owned(),
        version: Report::VERSION,
        writer: concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION")).to_owned(),
        settings,
        games,
        complete: false,
        totals: Totals::default(),
        mean_plies: None,
        first_mover_win_share: None,
        false_resign_rate: None,
        data_bytes: 0,
        seconds: 0.0,
        positions_per_second: 0.0,
        evaluations_per_second: 0.0,
    }
}

fn read_write(path: &Path) -> Result<File> {
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
    file.map_err(Error::io(path))
}

#[expect(clippy::cast_precision_loss, reason = "a figure for reading")]
fn rate(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
}

/// To ten-thousandths: a figure for reading, which comes back from a file as it was.
fn rounded(x: f64) -> f64 {
    (x * 10_000.0).round() / 10_000.0
}

/// The report of a directory.
fn read_report(dir: &Path) -> Result<Report> {
    let path = dir.join(REPORT);
    let text = fs::read(&path).map_err(Error::io(&path))?;
    let damaged = |error: serde_json::Error| Error::damaged(&path, error.to_string());
    // What it is comes first: another version may have other fields.
    let value: Value = serde_json::from_slice(&text).map_err(damaged)?;
    if value["format"] != Report::FORMAT || value["version"] != Report::VERSION {
        let (format, version) = (&value["format"], &value["version"]);
        let reason = format!("format {format}, version {version}: not written by this program");
        return Err(Error::damaged(&path, reason));
    }
    serde_json::from_value(value).map_err(damaged)
}

/// Reads the whole journal and proves every game it tells of, cuts off what is behind them in both files, and leaves the
/// journal at its end. Returns the bytes that the stream has then.
fn recover(
    data_path: &Path,
    journal: &mut File,
    journal_path: &Path,
    totals: &mut Totals,
    notes: &mut Vec<String>,
) -> Result<u64> {
    let mut data = read_write(data_path)?;
    let data_len = data.metadata().map_err(Error::io(data_path))?.len();
    let journal_len = journal.metadata().map_err(Error::io(journal_path))?.len();
    let mut whole = if data_len < HEADER_LEN as u64 { 0 } else { HEADER_LEN as u64 };
    let wanted = Header::new(Conventions::VISITS).encode();
    let mut header = Vec::new();
    (&data).take(HEADER_LEN as u64).read_to_end(&mut header).map_err(Error::io(data_path))?;
    if !wanted.starts_with(&header) {
        return Err(Error::damaged(data_path, "it does not begin as a stream of visits does"));
    }
    data.seek(SeekFrom::Start(whole)).map_err(Error::io(data_path))?;
    let mut data_reader = BufReader::with_capacity(1 << 20, &data);
    let (mut lines, mut text, mut told) = (BufReader::new(&*journal), Vec::new(), 0);
    let mut records = Vec::new();
    loop {
        text.clear();
        let read = lines.by_ref().take(LINE).read_until(b'\n', &mut text).map_err(Error::io(journal_path))?;
        if text.last() != Some(&b'\n') {
            break;
        }
        let number = totals.games;
        let line: GameLine = serde_json::from_slice(&text)
            .map_err(|error| Error::damaged(journal_path, format!("the line of game {number}: {error}")))?;
        if line.game != number {
            let reason = format!("game {} where game {number} should stand", line.game);
            return Err(Error::damaged(journal_path, reason));
        }
        records.clear();
        if line.bytes <= data_len - whole {
            let read = data_reader.by_ref().take(line.bytes).read_to_end(&mut records);
            read.map_err(Error::io(data_path))?;
        }
        if records.len() as u64 != line.bytes || hash(&records) != line.xxh3 {
            let reason = format!("game {number}, at byte {whole}, is not what {JOURNAL} tells of");
            return Err(Error::damaged(data_path, reason));
        }
        whole += line.bytes;
        told += read as u64;
        totals.add(&line);
    }
    drop((data_reader, lines));
    for (file, name, path, len, keep) in
        [(&data, DATA, data_path, data_len, whole), (&*journal, JOURNAL, journal_path, journal_len, told)]
    {
        if len > keep {
            notes.push(format!("{name}: cut {} bytes behind the last whole game", len - keep));
            file.set_len(keep).map_err(Error::io(path))?;
        }
    }
    journal.seek(SeekFrom::Start(told)).map_err(Error::io(journal_path))?;
    Ok(whole)
}
