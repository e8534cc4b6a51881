//! The directory of a run: data, journal and report, and what is left of them after a kill.
//!
//! A game is data first and a line of the journal then; what the journal does not know was never written. The report is
//! replaced when both are on disk, and says how far that is; behind that point each game is proved by its hash.

use crate::error::{Error, Result};
use crate::fault::Fault;
use crate::report::{Entry, GameLine, Report, Totals};
use crate::run::settings::difference;
use manaka_core::whole_file::{Existing, WholeFile};
use serde_json::Value;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;
use xxhash_rust::xxh3::xxh3_64;

/// The records, in the directory of a run.
pub const DATA: &str = "games.psv";
/// One line for each game.
pub const JOURNAL: &str = "games.jsonl";
/// What was played how.
pub const REPORT: &str = "gensfen.json";
/// Faults with the last lines of the engine.
pub const FAULTS: &str = "faults.log";

/// Bytes of the longest line of a journal: a game of 65535 records, and as much again.
const LINE: u64 = 1 << 20;

/// An open run.
#[derive(Debug)]
pub(crate) struct Store {
    dir: PathBuf,
    data: File,
    journal: File,
    faults: Option<File>,
    report: Report,
    /// Games since the last sync.
    unsynced: u64,
    sync_games: u64,
    started: Instant,
    seconds_before: f64,
}

/// What is done about a run that is there already.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Found {
    Refuse,
    Resume,
}

/// The lock goes with the run, even while a process that is just being started still holds a copy of the file.
impl Drop for Store {
    fn drop(&mut self) {
        // It would go with the last copy of the file anyway.
        let _ = self.journal.unlock();
    }
}

impl Store {
    /// Fails early when there is a run that shall not be resumed.
    pub(crate) fn check(dir: &Path, found: Found) -> Result<()> {
        if found == Found::Refuse {
            for name in [REPORT, JOURNAL, DATA] {
                let path = dir.join(name);
                let size = fs::metadata(&path).map(|meta| meta.len());
                if size.is_ok_and(|size| size > 0) {
                    return Err(Error::Exists(dir.to_owned()));
                }
            }
        }
        Ok(())
    }

    /// Opens or creates a run. Returns what had to be cut off.
    pub(crate) fn open(
        dir: &Path,
        found: Found,
        settings: Value,
        games: Option<u64>,
        sync_games: u64,
    ) -> Result<(Self, Vec<String>)> {
        fs::create_dir_all(dir).map_err(Error::io(dir))?;
        let open = |name: &str| {
            let path = dir.join(name);
            let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
            file.map_err(Error::io(&path))
        };
        let mut notes = Vec::new();
        let mut journal = open(JOURNAL)?;
        match journal.try_lock() {
            Ok(()) => {}
            Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {
                notes.push(
                    "the file system knows no locks: see to it that no other run writes here".to_owned(),
                );
            }
            Err(TryLockError::WouldBlock) => return Err(Error::Busy(dir.to_owned())),
            Err(TryLockError::Error(error)) => return Err(Error::io(&dir.join(JOURNAL))(error)),
        }
        Self::check(dir, found)?;
        let mut data = open(DATA)?;
        let path = dir.join(REPORT);
        let report = if path.try_exists().map_err(Error::io(&path))? {
            let report = read_report(dir)?;
            if let Some(found) = difference(&report.settings, &settings) {
                return Err(Error::Mismatch { path, key: found.key, there: found.there, here: found.here });
            }
            let (next_game, totals) = (report.next_game, report.totals.clone());
            let mut report = Report { settings, games, next_game, totals, complete: false, ..report };
            recover(dir, &mut data, &mut journal, &mut report, &mut notes)?;
            report
        } else {
            for (name, file) in [(DATA, &data), (JOURNAL, &journal)] {
                let path = dir.join(name);
                if file.metadata().map_err(Error::io(&path))?.len() > 0 {
                    return Err(Error::damaged(&path, format!("there is no {REPORT} beside it")));
                }
            }
            Report {
                format: Report::FORMAT.to_owned(),
                version: Report::VERSION,
                writer: concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION")).to_owned(),
                settings,
                games,
                next_game: 0,
                complete: false,
                totals: Totals::default(),
                data_bytes: 0,
                journal_bytes: 0,
                seconds: 0.0,
                positions_per_second: 0.0,
            }
        };
        let seconds_before = report.seconds;
        let mut store = Self {
            dir: dir.to_owned(),
            data,
            journal,
            faults: None,
            report,
            unsynced: 0,
            sync_games,
            started: Instant::now(),
            seconds_before,
        };
        store.sync()?;
        Ok((store, notes))
    }

    pub(crate) const fn report(&self) -> &Report {
        &self.report
    }

    /// Writes a game: all of its records, or none if it was dropped. `line.at` is filled in here.
    pub(crate) fn append(&mut self, mut entry: Entry, records: &[u8]) -> Result<Entry> {
        if let Entry::Game(line) = &mut entry {
            line.at = self.report.data_bytes;
            line.xxh3 = hash(records);
        }
        self.data.write_all(records).map_err(Error::io(&self.dir.join(DATA)))?;
        let path = self.dir.join(JOURNAL);
        let mut text = serde_json::to_vec(&entry).map_err(|error| Error::io(&path)(error.into()))?;
        text.push(b'\n');
        self.journal.write_all(&text).map_err(Error::io(&path))?;
        self.report.data_bytes += records.len() as u64;
        self.report.journal_bytes += text.len() as u64;
        self.report.next_game = entry.game() + 1;
        self.report.totals.add(&entry);
        self.unsynced += 1;
        if self.unsynced >= self.sync_games {
            self.sync()?;
        }
        Ok(entry)
    }

    /// Notes a fault with the last lines of the engine.
    pub(crate) fn log(&mut self, game: u64, fault: &Fault) -> Result<()> {
        let path = self.dir.join(FAULTS);
        if self.faults.is_none() {
            let file = OpenOptions::new().append(true).create(true).open(&path);
            self.faults = Some(file.map_err(Error::io(&path))?);
        }
        match &mut self.faults {
            Some(file) => writeln!(file, "game {game}: {}", fault.log()).map_err(Error::io(&path)),
            None => Ok(()),
        }
    }

    /// Brings everything to disk, the report last.
    pub(crate) fn sync(&mut self) -> Result<()> {
        self.data.sync_data().map_err(Error::io(&self.dir.join(DATA)))?;
        self.journal.sync_data().map_err(Error::io(&self.dir.join(JOURNAL)))?;
        self.unsynced = 0;
        let report = &mut self.report;
        report.seconds = rounded(self.seconds_before + self.started.elapsed().as_secs_f64());
        report.positions_per_second = rounded(rate(report.totals.positions, report.seconds));
        let path = self.dir.join(REPORT);
        let mut text = serde_json::to_vec_pretty(report).map_err(|error| Error::io(&path)(error.into()))?;
        text.push(b'\n');
        let write = || {
            let mut file = WholeFile::create(&path, Existing::Replace)?;
            file.write_all(&text)?;
            file.commit()
        };
        write().map(|_| ()).map_err(Error::io(&path))
    }

    /// The last sync.
    pub(crate) fn finish(mut self, complete: bool) -> Result<Report> {
        self.report.complete = complete;
        self.sync()?;
        Ok(self.report.clone())
    }
}

#[expect(clippy::cast_precision_loss, reason = "a figure for reading")]
fn rate(positions: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { positions as f64 / seconds } else { 0.0 }
}

/// To thousandths: a figure for reading, which comes back from a file as it was.
fn rounded(x: f64) -> f64 {
    (x * 1000.0).round() / 1000.0
}

fn hash(bytes: &[u8]) -> String {
    format!("{:016x}", xxh3_64(bytes))
}

/// The report of a directory.
pub(crate) fn read_report(dir: &Path) -> Result<Report> {
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

/// Reads the lines of a journal one by one; `None` at its end, which a line without an end is as well.
#[derive(Debug)]
pub(crate) struct Journal<R> {
    lines: BufReader<R>,
    line: Vec<u8>,
}

impl<R: Read> Journal<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self { lines: BufReader::new(inner), line: Vec::new() }
    }

    /// The next entry and the bytes of its line; `None` at the end and where the lines are none of ours.
    pub(crate) fn next(&mut self) -> std::io::Result<Option<(Entry, u64)>> {
        self.line.clear();
        let read = self.lines.by_ref().take(LINE).read_until(b'\n', &mut self.line)?;
        if self.line.last() != Some(&b'\n') {
            return Ok(None);
        }
        Ok(serde_json::from_slice(&self.line).ok().map(|entry| (entry, read as u64)))
    }
}

/// Finds the last whole game, cuts off what is behind it, and leaves both files there.
fn recover(
    dir: &Path,
    data: &mut File,
    journal: &mut File,
    report: &mut Report,
    notes: &mut Vec<String>,
) -> Result<()> {
    let (data_path, journal_path) = (dir.join(DATA), dir.join(JOURNAL));
    let data_len = data.metadata().map_err(Error::io(&data_path))?.len();
    let journal_len = journal.metadata().map_err(Error::io(&journal_path))?.len();
    for (path, len, stated) in
        [(&data_path, data_len, report.data_bytes), (&journal_path, journal_len, report.journal_bytes)]
    {
        if len < stated {
            let reason = format!("has {len} bytes, and {REPORT} says that {stated} were on disk");
            return Err(Error::damaged(path, reason));
        }
    }
    journal.seek(SeekFrom::Start(report.journal_bytes)).map_err(Error::io(&journal_path))?;
    let mut lines = Journal::new(&*journal);
    let mut records = Vec::new();
    while let Some((entry, bytes)) = lines.next().map_err(Error::io(&journal_path))? {
        if entry.game() != report.next_game {
            break;
        }
        let mut len = 0;
        if let Entry::Game(line) = &entry {
            len = match proved(data, line, report, data_len, &mut records).map_err(Error::io(&data_path))? {
                Some(len) => len,
                None => break,
            };
        }
        report.totals.add(&entry);
        report.next_game += 1;
        report.data_bytes += len;
        report.journal_bytes += bytes;
    }
    for (file, path, len, whole) in [
        (data, &data_path, data_len, report.data_bytes),
        (journal, &journal_path, journal_len, report.journal_bytes),
    ] {
        if len > whole {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            notes.push(format!("{name}: cut {} bytes behind the last whole game", len - whole));
            file.set_len(whole).map_err(Error::io(path))?;
        }
        file.seek(SeekFrom::Start(whole)).map_err(Error::io(path))?;
    }
    Ok(())
}

/// The bytes of a game, if they are there and are the ones that were written.
fn proved(
    data: &mut File,
    line: &GameLine,
    report: &Report,
    data_len: u64,
    records: &mut Vec<u8>,
) -> std::io::Result<Option<u64>> {
    let each = report.settings["layout"]["record_bytes"].as_u64().unwrap_or(0);
    let len = line.records.checked_mul(each).filter(|&len| len <= data_len - report.data_bytes);
    let (Some(len), true) = (len, line.at == report.data_bytes) else { return Ok(None) };
    data.seek(SeekFrom::Start(line.at))?;
    records.clear();
    data.take(len).read_to_end(records)?;
    Ok((records.len() as u64 == len && hash(records) == line.xxh3).then_some(len))
}

#[cfg(test)]
mod tests;
