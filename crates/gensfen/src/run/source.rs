//! The games of a recovery's source, and what each of them goes on from.
//!
//! A game has no result when a limit cut it off ([`Ending::is_cut`]), as its journal says; in a directory without a
//! journal, when all of its records say that nobody has won, and its moves do not show a draw by repetition. Every
//! other game is taken over as it is.

use crate::ending::{Ending, Outcome};
use crate::error::{Error, Result};
use crate::game::Start;
use crate::report::{Entry, GameLine, Report};
use crate::run::settings;
use crate::run::store::{DATA, JOURNAL, Journal, KIND, REPORT};
use manaka_core::inputs;
use manaka_core::stream::opens_game;
use manaka_core::{Move16, Packed};
use manaka_corpus::psv::{Layout, Reader, Record, SUFFIXES};
use manaka_runs::Error as RunError;
use manaka_shogi::{Board, Repetition, Verdict};
use std::collections::VecDeque;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Reads games in their order.
#[derive(Debug)]
pub(crate) struct Source {
    files: VecDeque<PathBuf>,
    layout: Layout,
    reader: Option<Reader<File>>,
    journal: Option<(PathBuf, Journal<File>)>,
    /// The first record of the next game, read to see that the last one had ended.
    ahead: Option<Record>,
    games: Option<u64>,
}

/// A game as it is there.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct SourceGame {
    pub records: Vec<Record>,
    /// Its line in the journal; `None` where there is no journal.
    pub line: Option<GameLine>,
}

/// What becomes of it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Plan {
    /// Taken over.
    Keep,
    /// Played on from here. The start holds the records that stay; there is one depth for each.
    Replay(Start, Vec<u32>),
}

impl Source {
    /// Opens a directory: that of a run, or one that holds raw files of this layout.
    pub(crate) fn open(dir: &Path, layout: Layout) -> Result<Self> {
        if dir.join(REPORT).try_exists().map_err(RunError::io(dir))? {
            let report: Report = KIND.read_report(dir)?;
            let (there, here) = (&report.settings["layout"], settings::layout(&layout));
            if *there != here {
                return Err(Error::Run(RunError::Mismatch {
                    path: dir.join(REPORT),
                    key: "layout".to_owned(),
                    there: there.to_string(),
                    here: here.to_string(),
                }));
            }
            let path = dir.join(JOURNAL);
            let journal = Journal::new(File::open(&path).map_err(RunError::io(&path))?);
            return Ok(Self {
                files: [dir.join(DATA)].into(),
                layout,
                reader: None,
                journal: Some((path, journal)),
                ahead: None,
                games: report.complete.then_some(report.totals.games),
            });
        }
        let found = inputs::resolve(&[dir.to_owned()], SUFFIXES);
        let found = found.map_err(|error| Error::Option(error.to_string()))?;
        Ok(Self { files: found.files.into(), layout, reader: None, journal: None, ahead: None, games: None })
    }

    /// How many games there are, where it is known.
    pub(crate) const fn games(&self) -> Option<u64> {
        self.games
    }

    /// The next game.
    pub(crate) fn next(&mut self) -> Result<Option<SourceGame>> {
        if self.journal.is_some() { self.next_listed() } else { self.next_found() }
    }

    /// The records that the journal says belong to it.
    fn next_listed(&mut self) -> Result<Option<SourceGame>> {
        while let Some((path, journal)) = &mut self.journal {
            let line = match journal.next().map_err(RunError::io(path))? {
                None => break,
                Some((Entry::Dropped { .. }, _)) => continue,
                Some((Entry::Game(line), _)) => line,
            };
            let mut records = Vec::new();
            for _ in 0..line.records {
                match self.record()? {
                    Some(record) => records.push(record),
                    None => {
                        let path = self.journal.as_ref().map_or(Path::new(JOURNAL), |(path, _)| path);
                        let reason = format!("game {} has more records than {DATA}", line.game);
                        return Err(RunError::damaged(path, reason).into());
                    }
                }
            }
            return Ok(Some(SourceGame { records, line: Some(line) }));
        }
        Ok(None)
    }

    /// The records up to one whose ply does not increase (corpus.md).
    fn next_found(&mut self) -> Result<Option<SourceGame>> {
        let first = match self.ahead.take() {
            Some(record) => Some(record),
            None => self.record()?,
        };
        let Some(first) = first else { return Ok(None) };
        let mut records = vec![first];
        while let Some(record) = self.record()? {
            if records.last().is_none_or(|last| opens_game(last.ply, record.ply)) {
                self.ahead = Some(record);
                break;
            }
            records.push(record);
        }
        Ok(Some(SourceGame { records, line: None }))
    }

    fn record(&mut self) -> Result<Option<Record>> {
        loop {
            if let Some(reader) = &mut self.reader {
                let mut record = Record::default();
                if reader.read_record(&mut record)? {
                    return Ok(Some(record));
                }
                self.reader = None;
            }
            match self.files.pop_front() {
                Some(path) => self.reader = Some(Reader::open(&path, self.layout)?),
                None => return Ok(None),
            }
        }
    }
}

impl SourceGame {
    /// How it ended, as far as the source says: `given` where there is no journal.
    pub(crate) fn ending(&self) -> (Ending, Outcome) {
        match &self.line {
            Some(line) => (line.ending, line.outcome),
            None => {
                let first = self.records.first();
                let outcome =
                    first.map_or(Outcome::Draw, |record| match (record.result, record.packed.side()) {
                        (0, _) => Outcome::Draw,
                        (1.., side) => Outcome::won_by(side),
                        (_, side) => Outcome::won_by(side.flip()),
                    });
                (Ending::Given, outcome)
            }
        }
    }

    /// What becomes of the game with move numbers up to `max_ply`.
    pub(crate) fn plan(&self, max_ply: u16) -> Plan {
        let unfinished = match &self.line {
            Some(line) => line.ending.is_cut(),
            None => self.records.iter().all(|record| record.result == 0),
        };
        if !unfinished {
            return Plan::Keep;
        }
        let Some((start, end)) = self.start() else { return Plan::Keep };
        match end {
            // The journal knows why a game ended; without one a draw has to be seen.
            Verdict::Draw if self.line.is_none() => Plan::Keep,
            _ if start.ply.saturating_add(u32::try_from(start.moves.len()).unwrap_or(u32::MAX))
                > max_ply.into() =>
            {
                Plan::Keep
            }
            _ => {
                let known = self.line.as_ref().map_or(&[][..], |line| &line.depths);
                let mut depths = known.to_vec();
                depths.resize(start.kept.len(), 0);
                Plan::Replay(start, depths)
            }
        }
    }

    /// Where the game goes on: behind the last move, or in front of it when it is none. Moves that lead there without
    /// a gap are its history. `None` when there is no record, or no position to play on.
    fn start(&self) -> Option<(Start, Verdict)> {
        let (last, before) = self.records.split_last()?;
        let mut board = Board::from_packed(&last.packed, last.ply.into()).ok()?;
        let played = last.mv.is_some_and(|mv| board.play(mv).is_ok());
        let kept = if played { &self.records[..] } else { before };

        // Backwards, as long as a record's move leads to what comes behind it.
        let (mut packed, mut ply) = (board.to_packed(), board.ply());
        let mut moves = Vec::new();
        for record in kept.iter().rev() {
            let Some(mv) = record.mv else { break };
            let sound = board.set(&record.packed, record.ply.into()).is_ok() && board.play(mv).is_ok();
            if !sound || board.ply() != ply || board.to_packed() != packed {
                break;
            }
            moves.push(mv);
            (packed, ply) = (record.packed, record.ply.into());
        }
        moves.reverse();

        let verdict = verdict(&packed, &moves);
        Some((Start { packed, ply, moves, kept: kept.to_vec() }, verdict))
    }
}

/// What the rules say at the end of a line.
fn verdict(packed: &Packed, moves: &[Move16]) -> Verdict {
    let Ok(mut board) = Board::from_packed(packed, 1) else { return Verdict::None };
    let mut repetition = Repetition::new();
    let mut verdict = repetition.push(packed, board.in_check()).verdict;
    for &mv in moves {
        if board.play(mv).is_err() {
            break;
        }
        verdict = repetition.push(&board.to_packed(), board.in_check()).verdict;
    }
    verdict
}

#[cfg(test)]
mod tests;
