//! A worker: one engine, one game after the other.

use crate::RANDOM_MOVE_PAD;
use crate::error::{Error, Result};
use crate::fault::{Fault, Halt};
use crate::game::{Book, Dice, Played, Purpose, Referee};
use crate::options::{EngineLife, Options};
use crate::report::GameLine;
use crate::run::source::{Plan, Source, SourceGame};
use crate::run::{Gate, unsuitable};
use crate::usi::{Engine, Identity, Refusal};
use manaka_corpus::psv::Record;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Mutex, PoisonError};

/// What all workers share.
pub(crate) struct Context<'r> {
    pub options: &'r Options,
    pub referee: Referee,
    pub book: &'r Book,
    pub tasks: Mutex<Tasks>,
    pub gate: Gate,
    pub stop: &'r AtomicBool,
    /// Who the engine of the first game said it was.
    pub identity: Identity,
}

/// Hands out games.
#[derive(Debug)]
pub(crate) enum Tasks {
    /// New ones.
    Play { next: u64, games: u64 },
    /// Those of a source.
    Recover { source: Box<Source>, next: u64 },
}

/// A game to bring.
enum Task {
    Play,
    Recover(SourceGame),
}

/// A game that was brought, with its number. An error takes its place.
pub(crate) type Brought = (u64, Result<Work>);

/// What a worker made of a game.
pub(crate) enum Work {
    /// Its line, and the bytes of its records.
    Game { line: GameLine, records: Vec<u8> },
    /// It is dropped.
    Fault(Fault),
}

impl Tasks {
    fn next(&mut self) -> Option<(u64, Result<Task>)> {
        let (task, next) = match self {
            Self::Play { next, games } => (if *next < *games { Ok(Task::Play) } else { return None }, next),
            Self::Recover { source, next } => match source.next() {
                Ok(Some(game)) => (Ok(Task::Recover(game)), next),
                Ok(None) => return None,
                Err(error) => (Err(error), next),
            },
        };
        *next += 1;
        Some((*next - 1, task))
    }
}

impl<'r> Context<'r> {
    /// Tells everyone to stop.
    pub(crate) fn halt(&self) {
        self.stop.store(true, Ordering::Relaxed);
        self.gate.wake();
    }

    /// Plays games until there are none left, or nobody wants them.
    pub(crate) fn work(&self, mut engine: Option<Engine<'r>>, brought: &Sender<Brought>) {
        loop {
            let next = self.tasks.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((number, task)) = next else { break };
            self.gate.pass(number, self.stop);
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            let work = match task.and_then(|task| self.perform(number, task, &mut engine)) {
                Ok(Some(work)) => Ok(work),
                Ok(None) => break,
                Err(error) => Err(error),
            };
            let failed = work.is_err();
            if brought.send((number, work)).is_err() || failed {
                break;
            }
        }
        if let Some(engine) = engine {
            engine.quit();
        }
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
