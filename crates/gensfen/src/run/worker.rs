//! A worker: one engine, one game after the other.

use crate::RANDOM_MOVE_PAD;
use crate::error::{Error, Result};
use crate::fault::{Fault, Halt};
use crate::game::{Book, Dice, Played, Purpose, Referee};
use crate::options::{EngineLife, Options};
use crate::report::GameLine;
use crate::run::source::{Plan, Source, SourceGame};
use crate::run::unsuitable;
use crate::usi::{Engine, Identity, Refusal};
use manaka_corpus::psv::Record;
use manaka_runs::{Brought, Next, Numbers};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Mutex, PoisonError};

/// What all workers share.
pub(crate) struct Context<'r> {
    pub options: &'r Options,
    pub referee: Referee,
    pub book: &'r Book,
    /// Where games are recovered from.
    pub source: Option<Mutex<Source>>,
    pub numbers: Numbers,
    pub stop: &'r AtomicBool,
    /// Who the engine of the first game said it was.
    pub identity: Identity,
}

/// A game to bring.
enum Task {
    Play,
    Recover(SourceGame),
}

/// What a worker made of a game.
pub(crate) enum Work {
    /// Its line, and the bytes of its records.
    Game { line: GameLine, records: Vec<u8> },
    /// It is dropped.
    Fault(Fault),
}

impl<'r> Context<'r> {
    /// Tells everyone to stop.
    pub(crate) fn halt(&self) {
        self.stop.store(true, Ordering::Relaxed);
        self.numbers.close();
    }

    /// Plays games until there are none left, or nobody wants them.
    pub(crate) fn work(&self, mut engine: Option<Engine<'r>>, brought: &Sender<Brought<Result<Work>>>) {
        while let Some((number, task)) = self.next() {
            let work = match task.and_then(|task| self.perform(number, task, &mut engine)) {
                Ok(Some(work)) => Ok(work),
                Ok(None) => break,
                Err(error) => Err(error),
            };
            let failed = work.is_err();
            if brought.send((Some(number), work)).is_err() || failed {
                break;
            }
        }
        if let Some(engine) = engine {
            engine.quit();
        }
    }

    /// The next game, once those long before it are written. `None` when there is none, or the run stops.
    fn next(&self) -> Option<(u64, Result<Task>)> {
        // Held until the number is taken: a source gives its games in their order.
        let source = self.source.as_ref().map(|source| source.lock().unwrap_or_else(PoisonError::into_inner));
        let Next::Game(number) = self.numbers.take(true) else { return None };
        let task =
            match source.map_or(Ok(Some(Task::Play)), |mut source| Ok(source.next()?.map(Task::Recover))) {
                Ok(Some(task)) => Ok(task),
                Ok(None) => {
                    self.numbers.close();
                    return None;
                }
                Err(error) => Err(error),
            };
        Some((number, task))
    }

    /// `None` when the run stops.
    fn perform(&self, number: u64, task: Task, engine: &mut Option<Engine<'r>>) -> Result<Option<Work>> {
        let mut dice = Dice::new(self.options.seed, Purpose::Game, number);
        let (start, depths) = match task {
            Task::Play => {
                let opening = self.book.opening(number);
                (self.referee.open(opening, self.options.openings.random_plies, &mut dice), Vec::new())
            }
            Task::Recover(game) => match game.plan(self.options.play.max_ply) {
                Plan::Keep => return self.keep(number, game).map(Some),
                Plan::Replay(start, depths) => (start, depths),
            },
        };
        let played = self.engine(engine).and_then(|engine| self.referee.play(engine, start, &mut dice));
        match played {
            Ok(played) => {
                if self.options.engine.life == EngineLife::Game
                    && let Some(engine) = engine.take()
                {
                    engine.quit();
                }
                self.record(number, played, depths).map(Some)
            }
            Err(Halt::Fault(fault)) => {
                // Whatever state it is in: the next game gets another one.
                *engine = None;
                Ok(Some(Work::Fault(fault)))
            }
            Err(Halt::Cancelled) => Ok(None),
        }
    }

    /// The engine, started if there is none.
    fn engine<'e>(&self, engine: &'e mut Option<Engine<'r>>) -> Result<&'e mut Engine<'r>, Halt> {
        if engine.is_none() {
            match Engine::start(&self.options.engine, self.stop) {
                Ok((started, _)) if *started.identity() != self.identity => {
                    let detail = format!(
                        "it is {:?} now, and was {:?} when the run began",
                        started.identity().name,
                        self.identity.name
                    );
                    return Err(Halt::Fault(unsuitable(detail)));
                }
                Ok((started, _)) => *engine = Some(started),
                Err(Refusal::Halt(halt)) => return Err(halt),
                Err(Refusal::Unsuitable { reason, .. }) => return Err(Halt::Fault(unsuitable(reason))),
            }
        }
        engine.as_mut().ok_or(Halt::Cancelled)
    }

    /// A game that was played, or played on.
    fn record(&self, number: u64, played: Played, mut depths: Vec<u32>) -> Result<Work> {
        depths.extend(&played.depths);
        let line = GameLine {
            game: number,
            at: 0,
            records: played.records.len() as u64,
            ending: played.ending,
            outcome: played.outcome,
            kept: played.kept as u64,
            random_moves: random_moves(&played.records),
            unscored: played.unscored.into(),
            unlisted: played.unlisted.into(),
            duplicates: played.duplicates.into(),
            depths,
            xxh3: String::new(),
        };
        Ok(Work::Game { line, records: self.encode(number, played.records)? })
    }

    /// A game of a source that has its result, or cannot be played on.
    fn keep(&self, number: u64, game: SourceGame) -> Result<Work> {
        let (ending, outcome) = game.ending();
        let SourceGame { records, line } = game;
        let count = records.len() as u64;
        let mut kept = line.unwrap_or_else(|| GameLine {
            game: number,
            at: 0,
            records: count,
            ending,
            outcome,
            kept: 0,
            random_moves: random_moves(&records),
            unscored: 0,
            unlisted: 0,
            duplicates: 0,
            depths: vec![0; records.len()],
            xxh3: String::new(),
        });
        (kept.game, kept.kept) = (number, count);
        Ok(Work::Game { line: kept, records: self.encode(number, records)? })
    }

    fn encode(&self, game: u64, mut records: Vec<Record>) -> Result<Vec<u8>> {
        let layout = &self.options.layout;
        let mut bytes = Vec::with_capacity(records.len() * layout.record_len());
        for record in &mut records {
            if layout.candidates == 0 {
                record.candidates.clear();
            }
            layout.encode(record, &mut bytes).map_err(|error| Error::Record { game, error })?;
        }
        Ok(bytes)
    }
}

fn random_moves(records: &[Record]) -> u64 {
    records.iter().filter(|record| record.pad == RANDOM_MOVE_PAD).count() as u64
}
