//! A whole run: workers play, one thread writes what they bring in the order of the games.

mod settings;
mod source;
mod store;
mod worker;

pub use store::{DATA, FAULTS, JOURNAL, REPORT};

use crate::error::{Error, Result};
use crate::fault::{Fault, FaultKind, Halt};
use crate::game::{Book, Referee};
use crate::options::Options;
use crate::report::{Entry, Observer, Report};
use crate::usi::{Engine, MateScale, Refusal};
use manaka_runs::{Brought, Error as RunError, Found, InOrder, Numbers, Turn, on_threads};
use source::Source;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use store::{KIND, Store};
use worker::{Context, Work};

/// Plays games into a directory, which is created if it is not there, and returns the report that it leaves there.
///
/// The engine is started once before anything is written: what it cannot do is said at once. If the observer cancels
/// the run, the report is not [`complete`](Report::complete), and the run can be resumed as after a kill.
///
/// # Errors
/// [`Error`]. Games finished before it are written, and the run can be resumed.
pub fn run(options: &Options, out: &Path, observer: &dyn Observer) -> Result<Report> {
    options.check()?;
    let scale = MateScale::new(options.play.mate_scale)
        .ok_or_else(|| Error::Option("mate_scale is none".to_owned()))?;
    let found = if options.resume { Found::Resume } else { Found::Refuse };
    KIND.check(out, found)?;
    if let Some(dir) = &options.recover_from
        && let (Ok(there), Ok(here)) = (dir.canonicalize(), out.canonicalize())
        && there == here
    {
        return Err(Error::Option(format!("{}: games are recovered into another directory", dir.display())));
    }
    let book = match &options.openings.book {
        Some(path) => Book::read(path, options.play.max_ply, options.seed)?,
        None => Book::startpos()?,
    };
    let mut source = match &options.recover_from {
        Some(dir) => Some(Source::open(dir, options.layout)?),
        None => None,
    };

    let stop = AtomicBool::new(false);
    let engine = first_engine(options, &stop, observer)?;
    let settings = settings::settings(options, engine.identity(), &book);
    let games = source.as_ref().map_or(Some(options.games), Source::games);
    let (mut store, notes) = Store::open(out, found, settings, games, options.sync_games.get())?;
    notes.iter().for_each(|note| observer.notice(note));
    observer.begin(engine.identity(), games, &store.report().totals);

    let first = store.report().next_game;
    if let Some(source) = &mut source {
        for _ in 0..first {
            source.next()?;
        }
    }
    let mut play = options.play.clone();
    if source.is_some() {
        play.resign_count = 0;
    }
    let workers = options.workers.get();
    // Of a source it is known how many games it has when there are no more.
    let end = if source.is_some() { u64::MAX } else { options.games };
    let context = Context {
        options,
        referee: Referee::new(&play, scale, options.engine.multipv),
        book: &book,
        source: source.map(Mutex::new),
        // Some ten games' worth of waiting for each worker, at about 10 KB a game.
        numbers: Numbers::new(first, end, 64 + 16 * workers as u64),
        stop: &stop,
        identity: engine.identity().clone(),
    };
    let engines = std::iter::once(Some(engine)).chain(std::iter::repeat_with(|| None)).take(workers);
    let written = on_threads(
        engines,
        || context.halt(),
        |engine, brought| context.work(engine, brought),
        |brought| {
            Writer { store: &mut store, observer, faults_in_a_row: 0, last: None }.write(&context, brought)
        },
    )
    .unwrap_or(Err(RunError::Worker.into()));
    let all = match written {
        Ok(ended) => ended,
        Err(error) => {
            // The error is the news; that the last games could not be brought to disk as well changes nothing.
            let _ = store.sync();
            return Err(error);
        }
    };
    store.finish(all)
}

/// The engine of the first worker, started early.
fn first_engine<'r>(
    options: &'r Options,
    stop: &'r AtomicBool,
    observer: &dyn Observer,
) -> Result<Engine<'r>> {
    match Engine::start(&options.engine, stop) {
        Ok((engine, warnings)) => {
            warnings.iter().for_each(|warning| observer.notice(warning));
            Ok(engine)
        }
        Err(Refusal::Halt(Halt::Fault(fault))) => Err(Error::Start(Box::new(fault))),
        Err(Refusal::Halt(Halt::Cancelled)) => Err(RunError::Worker.into()),
        Err(Refusal::Unsuitable { engine, reason }) => Err(Error::Unsuitable { engine, reason }),
    }
}

/// Writes games in the order of their numbers.
struct Writer<'w> {
    store: &'w mut Store,
    observer: &'w dyn Observer,
    faults_in_a_row: u64,
    last: Option<Fault>,
}

impl Writer<'_> {
    /// Until there is no more. Whether all games were brought.
    fn write(mut self, context: &Context<'_>, brought: &Receiver<Brought<Result<Work>>>) -> Result<bool> {
        let mut games = InOrder::new(brought, self.store.report().next_game);
        for turn in games.by_ref() {
            match turn {
                Turn::Take(work) => {
                    self.one(context, work?)?;
                    context.numbers.written(self.store.report().next_game);
                }
                Turn::Look if self.observer.cancelled() => return Ok(false),
                Turn::Look => {}
            }
        }
        let all = games.is_empty() && !context.stop.load(Ordering::Relaxed);
        let totals = &self.store.report().totals;
        match self.last {
            // As many as there were.
            Some(last) if all && totals.games == 0 => {
                Err(Error::NeverWorks { faults: totals.dropped, last: Box::new(last) })
            }
            _ => Ok(all),
        }
    }

    fn one(&mut self, context: &Context<'_>, work: Work) -> Result<()> {
        let game = self.store.report().next_game;
        let (entry, records) = match work {
            Work::Game { line, records } => {
                self.faults_in_a_row = 0;
                (Entry::Game(line), records)
            }
            Work::Fault(fault) => {
                self.faults_in_a_row += 1;
                self.store.log(game, &fault)?;
                self.observer.fault(game, &fault);
                let entry = Entry::Dropped { game, fault: fault.kind, detail: fault.detail.clone() };
                self.last = Some(fault);
                (entry, Vec::new())
            }
        };
        let entry = self.store.append(entry, &records)?;
        self.observer.game(&entry, &self.store.report().totals);
        match self.last.take_if(|_| self.faults_in_a_row >= context.options.max_faults.max(1)) {
            Some(last) => Err(Error::NeverWorks { faults: self.faults_in_a_row, last: Box::new(last) }),
            None => Ok(()),
        }
    }
}

/// A fault of an engine that works and cannot do what it is asked for, met by a later worker.
fn unsuitable(reason: String) -> Fault {
    Fault { kind: FaultKind::Start, detail: reason, lines: Vec::new() }
}
