//! The directory of a run: data, journal and report, and what is left of them after a kill.
//!
//! A game is data first and a line of the journal then; what the journal does not know was never written. The report is
//! replaced when both are on disk, and says how far that is; behind that point each game is proved by its hash.

use crate::error::Result;
use crate::fault::Fault;
use crate::report::{Entry, GameLine, Report, Totals};
use crate::run::settings;
use manaka_runs::{Error as RunError, Found, Kind, Lines, RunDir, Stopwatch, hash, rate, rounded};
use serde_json::Value;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

/// The records, in the directory of a run.
pub const DATA: &str = "games.psv";
/// One line for each game.
pub const JOURNAL: &str = "games.jsonl";
/// What was played how.
pub const REPORT: &str = "gensfen.json";
/// Faults with the last lines of the engine.
pub const FAULTS: &str = "faults.log";

/// The directories of this producer.
pub(crate) const KIND: Kind = Kind {
    data: DATA,
    journal: JOURNAL,
    report: REPORT,
    format: Report::FORMAT,
    version: Report::VERSION,
    free: &settings::FREE,
};

/// Bytes of the longest line of a journal: a game of 65535 records, and as much again.
const LINE: u64 = 1 << 20;

/// An open run.
#[derive(Debug)]
pub(crate) struct Store {
    dir: RunDir,
    data: File,
    faults: Option<File>,
    report: Report,
    /// Games since the last sync.
    unsynced: u64,
    sync_games: u64,
    time: Stopwatch,
}

impl Store {
    /// Opens or creates a run. Returns what had to be cut off.
    pub(crate) fn open(
        dir: &Path,
        found: Found,
        settings: Value,
        games: Option<u64>,
        sync_games: u64,
    ) -> Result<(Self, Vec<String>)> {
        let (dir, mut notes) = KIND.claim(dir, found)?;
        let report = dir.report::<Report>(&settings)?;
        let mut data = dir.data()?;
        let report = match report {
            Some(report) => {
                let mut report = Report { settings, games, complete: false, ..report };
                recover(&dir, &mut data, &mut report, &mut notes)?;
                report
            }
            None => Report {
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
            },
        };
        let time = Stopwatch::from(report.seconds);
        let mut store = Self { dir, data, faults: None, report, unsynced: 0, sync_games, time };
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
        self.data.write_all(records).map_err(RunError::io(&self.dir.path(DATA)))?;
        let path = self.dir.path(JOURNAL);
        let mut text = serde_json::to_vec(&entry).map_err(|error| RunError::io(&path)(error.into()))?;
        text.push(b'\n');
        self.dir.journal().write_all(&text).map_err(RunError::io(&path))?;
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
        let path = self.dir.path(FAULTS);
        if self.faults.is_none() {
            let file = OpenOptions::new().append(true).create(true).open(&path);
            self.faults = Some(file.map_err(RunError::io(&path))?);
        }
        match &mut self.faults {
            Some(file) => Ok(writeln!(file, "game {game}: {}", fault.log()).map_err(RunError::io(&path))?),
            None => Ok(()),
        }
    }

    /// Brings everything to disk, the report last.
    pub(crate) fn sync(&mut self) -> Result<()> {
        self.data.sync_data().map_err(RunError::io(&self.dir.path(DATA)))?;
        self.dir.journal().sync_data().map_err(RunError::io(&self.dir.path(JOURNAL)))?;
        self.unsynced = 0;
        let report = &mut self.report;
        report.seconds = rounded(self.time.seconds(), 1000);
        report.positions_per_second = rounded(rate(report.totals.positions, report.seconds), 1000);
        Ok(self.dir.write_report(report)?)
    }

    /// The last sync.
    pub(crate) fn finish(mut self, complete: bool) -> Result<Report> {
        self.report.complete = complete;
        self.sync()?;
        Ok(self.report.clone())
    }
}

/// Reads the entries of a journal one by one.
#[derive(Debug)]
pub(crate) struct Journal<R>(Lines<R>);

impl<R: Read> Journal<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self(Lines::new(inner, LINE))
    }

    /// The next entry and the bytes of its line; `None` at the end and where the lines are none of ours.
    pub(crate) fn next(&mut self) -> std::io::Result<Option<(Entry, u64)>> {
        let line = self.0.next_line()?;
        Ok(line.and_then(|line| Some((serde_json::from_slice(line).ok()?, line.len() as u64))))
    }
}

/// Finds the last whole game, cuts off what is behind it, and leaves both files there.
fn recover(dir: &RunDir, data: &mut File, report: &mut Report, notes: &mut Vec<String>) -> Result<()> {
    let (data_path, journal_path, mut journal) = (dir.path(DATA), dir.path(JOURNAL), dir.journal());
    let data_len = data.metadata().map_err(RunError::io(&data_path))?.len();
    let journal_len = journal.metadata().map_err(RunError::io(&journal_path))?.len();
    for (path, len, stated) in
        [(&data_path, data_len, report.data_bytes), (&journal_path, journal_len, report.journal_bytes)]
    {
        if len < stated {
            let reason = format!("has {len} bytes, and {REPORT} says that {stated} were on disk");
            return Err(RunError::damaged(path, reason).into());
        }
    }
    journal.seek(SeekFrom::Start(report.journal_bytes)).map_err(RunError::io(&journal_path))?;
    let mut lines = Journal::new(journal);
    let mut records = Vec::new();
    while let Some((entry, bytes)) = lines.next().map_err(RunError::io(&journal_path))? {
        if entry.game() != report.next_game {
            break;
        }
        let mut len = 0;
        if let Entry::Game(line) = &entry {
            len =
                match proved(data, line, report, data_len, &mut records).map_err(RunError::io(&data_path))? {
                    Some(len) => len,
                    None => break,
                };
        }
        report.totals.add(&entry);
        report.next_game += 1;
        report.data_bytes += len;
        report.journal_bytes += bytes;
    }
    Ok(dir.cut(data, report.data_bytes, report.journal_bytes, notes)?)
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
