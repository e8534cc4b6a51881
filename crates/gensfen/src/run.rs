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
use source::Source;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use store::{Found, Store};
use worker::{Brought, Context, Tasks};

/// How often the writer looks whether the run was cancelled.
const LOOK: Duration = Duration::from_millis(100);

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
    Store::check(out, found)?;
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
    let context = Context {
        options,
        referee: Referee::new(&play, scale, options.engine.multipv),
        book: &book,
        tasks: Mutex::new(match source {
            Some(source) => Tasks::Recover { source: Box::new(source), next: first },
            None => Tasks::Play { next: first, games: options.games },
        }),
        gate: Gate::new(first, options.workers.get()),
        stop: &stop,
        identity: engine.identity().clone(),
    };
    let written = on_workers(&context, engine, |brought| {
        Writer { store: &mut store, observer, faults_in_a_row: 0, last: None }.write(&context, brought)
    });
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
        Err(Refusal::Halt(Halt::Cancelled)) => Err(Error::Worker),
        Err(Refusal::Unsuitable { engine, reason }) => Err(Error::Unsuitable { engine, reason }),
    }
}

/// Runs the workers, and `write` on this thread for what they bring.
fn on_workers<'r, T>(
    context: &Context<'r>,
    engine: Engine<'r>,
    write: impl FnOnce(&Receiver<Brought>) -> Result<T>,
) -> Result<T> {
    let (sender, receiver) = channel();
    thread::scope(|scope| {
        let mut first = Some(engine);
        let handles: Vec<_> = (0..context.options.workers.get())
            .map(|_| {
                let (sender, engine) = (sender.clone(), first.take());
                scope.spawn(move || {
                    let _alarm = Alarm(context);
                    context.work(engine, &sender);
                })
            })
            .collect();
        drop(sender);
        let written = write(&receiver);
        // Everything was brought, or nothing more is wanted.
        drop(receiver);
        context.halt();
        let joined: Vec<_> = handles.into_iter().map(thread::ScopedJoinHandle::join).collect();
        if joined.iter().any(Result::is_err) { Err(Error::Worker) } else { written }
    })
}

/// Stops the others when a worker panics: they would wait for its game.
struct Alarm<'c, 'r>(&'c Context<'r>);

impl Drop for Alarm<'_, '_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.halt();
        }
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
    fn write(mut self, context: &Context<'_>, brought: &Receiver<Brought>) -> Result<bool> {
        let mut early = BTreeMap::new();
        loop {
            match brought.recv_timeout(LOOK) {
                Ok((number, work)) => {
                    early.insert(number, work);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            while let Some(work) = early.remove(&self.store.report().next_game) {
                self.one(context, work?)?;
                context.gate.open(self.store.report().next_game);
            }
            if self.observer.cancelled() {
                return Ok(false);
            }
        }
        let all = early.is_empty() && !context.stop.load(Ordering::Relaxed);
        let totals = &self.store.report().totals;
        match self.last {
            // As many as there were.
            Some(last) if all && totals.games == 0 => {
                Err(Error::NeverWorks { faults: totals.dropped, last: Box::new(last) })
            }
            _ => Ok(all),
        }
    }

    fn one(&mut self, context: &Context<'_>, work: worker::Work) -> Result<()> {
        let game = self.store.report().next_game;
        let (entry, records) = match work {
            worker::Work::Game { line, records } => {
                self.faults_in_a_row = 0;
                (Entry::Game(line), records)
            }
            worker::Work::Fault(fault) => {
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

/// Holds back games that are far ahead of the first one that is not yet written: they would pile up in memory.
#[derive(Debug)]
struct Gate {
    written: Mutex<u64>,
    moved: Condvar,
    window: u64,
}

impl Gate {
    fn new(written: u64, workers: usize) -> Self {
        // Some ten games' worth of waiting for each worker, at about 10 KB a game.
        let window = 64 + 16 * workers as u64;
        Self { written: Mutex::new(written), moved: Condvar::new(), window }
    }

    fn open(&self, next: u64) {
        *self.written.lock().unwrap_or_else(PoisonError::into_inner) = next;
        self.moved.notify_all();
    }

    /// Has everyone look whether the run stops. Under the lock, so that nobody who has just looked falls asleep.
    fn wake(&self) {
        let _written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        self.moved.notify_all();
    }

    /// Waits until the game may be played, or the run stops.
    fn pass(&self, game: u64, stop: &AtomicBool) {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        while game >= *written + self.window && !stop.load(Ordering::Relaxed) {
            written = self.moved.wait(written).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// A fault of an engine that works and cannot do what it is asked for, met by a later worker.
fn unsuitable(reason: String) -> Fault {
    Fault { kind: FaultKind::Start, detail: reason, lines: Vec::new() }
}
