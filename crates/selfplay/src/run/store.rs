//! The directory of a run: stream, journal and report, and what is left of them after a kill (selfplay.md §5).
//!
//! Games go to the stream, and when that is on disk to the journal: what the journal tells of is whole. What is behind
//! it in the stream after a kill is cut off, and the games are played again, to the same bytes.

use crate::error::Result;
use crate::report::{GameLine, Report, Totals};
use crate::run::settings;
use manaka_core::conventions::Conventions;
use manaka_core::stream::{FileSink, HEADER_LEN, Header, RecordRef, StreamWriter};
use manaka_runs::{Error as RunError, Found, Kind, Lines, RunDir, Stopwatch, hash, rate, rounded};
use serde_json::Value;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// The stream, in the directory of a run.
pub const DATA: &str = "games.mpk";
/// One line for each game.
pub const JOURNAL: &str = "games.jsonl";
/// What was played how.
pub const REPORT: &str = "selfplay.json";

/// The directories of this producer.
pub(crate) const KIND: Kind = Kind {
    data: DATA,
    journal: JOURNAL,
    report: REPORT,
    format: Report::FORMAT,
    version: Report::VERSION,
    free: &settings::FREE,
};

/// Bytes of the longest line of a journal: several times a line of the largest numbers.
const LINE: u64 = 4 << 10;

/// An open run.
pub(crate) struct Store {
    dir: RunDir,
    stream: StreamWriter<FileSink>,
    /// Lines of games that wait for the stream to be on disk.
    waiting: Vec<u8>,
    /// Since when.
    since: Instant,
    sync: Duration,
    report: Report,
    time: Stopwatch,
}

impl Store {
    /// Opens or creates a run. Returns what there is to tell about it.
    pub(crate) fn open(
        dir: &Path,
        found: Found,
        settings: Value,
        games: u64,
        sync: Duration,
    ) -> Result<(Self, Vec<String>)> {
        let (dir, mut notes) = KIND.claim(dir, found)?;
        let mut report = match dir.report::<Report>(&settings)? {
            Some(report) => Report { settings, games, complete: false, totals: Totals::default(), ..report },
            None => {
                // Before a byte of the stream: data whose settings nobody knows cannot be gone on with.
                let report = fresh(settings, games);
                dir.write_report(&report)?;
                report
            }
        };
        report.data_bytes = recover(&dir, dir.data()?, &mut report.totals, &mut notes)?;
        let data_path = dir.path(DATA);
        let (stream, found) = StreamWriter::append(&data_path, Conventions::VISITS)?;
        if found.records != report.totals.positions {
            let (there, told) = (found.records, report.totals.positions);
            let reason = format!("{there} records, where {JOURNAL} tells of {told}");
            return Err(RunError::damaged(&data_path, reason).into());
        }
        report.data_bytes = report.data_bytes.max(HEADER_LEN as u64);
        let time = Stopwatch::from(report.seconds);
        let mut store = Self { dir, stream, waiting: Vec::new(), since: Instant::now(), sync, report, time };
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
                RunError::damaged(&self.dir.path(DATA), reason)
            })?;
            self.stream.write_ref(record)?;
            rest = &rest[record.bytes().len()..];
        }
        if self.waiting.is_empty() {
            self.since = Instant::now();
        }
        let path = self.dir.path(JOURNAL);
        serde_json::to_writer(&mut self.waiting, line).map_err(|error| RunError::io(&path)(error.into()))?;
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
        let path = self.dir.path(JOURNAL);
        let write = || {
            self.dir.journal().write_all(&self.waiting)?;
            self.dir.journal().sync_data()
        };
        write().map_err(RunError::io(&path))?;
        self.waiting.clear();
        self.write_report()
    }

    fn write_report(&mut self) -> Result<()> {
        let report = &mut self.report;
        let figure = |x| rounded(x, 10_000);
        report.seconds = figure(self.time.seconds());
        report.positions_per_second = figure(rate(report.totals.positions, report.seconds));
        report.evaluations_per_second = figure(rate(report.totals.evaluations, report.seconds));
        report.mean_plies = report.totals.mean_plies().map(figure);
        report.first_mover_win_share = report.totals.first_mover_win_share().map(figure);
        report.false_resign_rate = report.totals.false_resign_rate().map(figure);
        Ok(self.dir.write_report(report)?)
    }

    /// The last sync.
    pub(crate) fn finish(mut self) -> Result<Report> {
        self.report.complete = self.next() >= self.report.games;
        self.sync()?;
        Ok(self.report.clone())
    }
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

/// Reads the whole journal and proves every game it tells of, cuts off what is behind them in both files, and leaves the
/// journal at its end. Returns the bytes that the stream has then.
fn recover(dir: &RunDir, mut data: File, totals: &mut Totals, notes: &mut Vec<String>) -> Result<u64> {
    let (data_path, journal_path) = (dir.path(DATA), dir.path(JOURNAL));
    let data_len = data.metadata().map_err(RunError::io(&data_path))?.len();
    let mut whole = if data_len < HEADER_LEN as u64 { 0 } else { HEADER_LEN as u64 };
    let wanted = Header::new(Conventions::VISITS).encode();
    let mut header = Vec::new();
    (&data).take(HEADER_LEN as u64).read_to_end(&mut header).map_err(RunError::io(&data_path))?;
    if !wanted.starts_with(&header) {
        return Err(RunError::damaged(&data_path, "it does not begin as a stream of visits does").into());
    }
    data.seek(SeekFrom::Start(whole)).map_err(RunError::io(&data_path))?;
    let mut reader = BufReader::with_capacity(1 << 20, &data);
    let (mut lines, mut told) = (Lines::new(dir.journal(), LINE), 0);
    let mut records = Vec::new();
    while let Some(text) = lines.next_line().map_err(RunError::io(&journal_path))? {
        let number = totals.games;
        let line: GameLine = serde_json::from_slice(text).map_err(|error| {
            RunError::damaged(&journal_path, format!("the line of game {number}: {error}"))
        })?;
        if line.game != number {
            let reason = format!("game {} where game {number} should stand", line.game);
            return Err(RunError::damaged(&journal_path, reason).into());
        }
        records.clear();
        if line.bytes <= data_len - whole {
            let read = reader.by_ref().take(line.bytes).read_to_end(&mut records);
            read.map_err(RunError::io(&data_path))?;
        }
        if records.len() as u64 != line.bytes || hash(&records) != line.xxh3 {
            let reason = format!("game {number}, at byte {whole}, is not what {JOURNAL} tells of");
            return Err(RunError::damaged(&data_path, reason).into());
        }
        whole += line.bytes;
        told += text.len() as u64;
        totals.add(&line);
    }
    dir.cut(&data, whole, told, notes)?;
    Ok(whole)
}
