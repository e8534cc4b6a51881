//! A whole run: workers play, one thread writes what they bring in the order of the games.

mod numbers;
mod settings;
mod store;
mod worker;

pub(crate) use numbers::window;
pub use store::{DATA, JOURNAL, REPORT};

use crate::error::{Error, Result};
use crate::evaluator::Evaluators;
use crate::options::Options;
use crate::report::{Live, Observer, Report};
use manaka_corpus::book::Book;
use numbers::Numbers;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;
use store::Store;
use worker::{Brought, Context, OpeningOrder};

/// How often the writer looks whether the run was cancelled.
const LOOK: Duration = Duration::from_millis(100);

/// Plays games into a directory, which is created if it is not there, and returns the report that it leaves there.
///
/// An evaluator is made before anything is written: what is wrong with it is said at once. If the observer cancels the
/// run, the games in play are finished and the report is not [`complete`](Report::complete); the run can be resumed, as
/// after a kill.
///
/// # Errors
/// [`Error`]. Games finished before it are written, and the run can be resumed.
pub fn run(
    options: &Options,
    evaluators: &dyn Evaluators,
    out: &Path,
    observer: &dyn Observer,
) -> Result<Report> {
    options.check()?;
    Store::check(out, options.resume)?;
    let book = match &options.openings.book {
        Some(path) => Book::read(path, options.max_ply)?,
        None => Book::startpos()?,
    };
    let openings = OpeningOrder::new(book, options.seed);
    let likes = evaluators.evaluator().map_err(Error::Evaluator)?.batch_hint().max(1);
    let in_play = options.threads.get() * options.batch.map_or(likes, std::num::NonZeroUsize::get);
    let identity = evaluators.identity();
    let settings = settings::settings(options, &identity, &openings);

    let (mut store, notes) = Store::open(out, options.resume, settings, options.games, options.sync)?;
    notes.iter().for_each(|note| observer.notice(note));
    observer.begin(&identity, options.games, &store.report().totals);
    let context = Context {
        options,
        evaluators,
        openings,
        numbers: Numbers::new(store.next(), options.games, in_play as u64),
        halted: AtomicBool::new(false),
        positions: AtomicU64::new(0),
        evaluations: AtomicU64::new(0),
    };
    match on_workers(&context, |brought| write(&mut store, observer, &context, brought)) {
        Ok(()) => store.finish(),
        Err(error) => {
            // The error is the news; that the last games could not be brought to disk as well changes nothing.
            let _ = store.sync();
            Err(error)
        }
    }
}

/// Runs the workers, and `write` on this thread for what they bring.
fn on_workers(context: &Context<'_>, write: impl FnOnce(&Receiver<Brought>) -> Result<()>) -> Result<()> {
    let (sender, receiver) = channel();
    thread::scope(|scope| {
        let handles: Vec<_> = (0..context.options.threads.get())
            .map(|_| {
                let sender = sender.clone();
                scope.spawn(move || {
                    let _alarm = Alarm(context);
                    context.work(&sender);
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

/// Writes games in the order of their numbers, until there are no more.
fn write(
    store: &mut Store,
    observer: &dyn Observer,
    context: &Context<'_>,
    brought: &Receiver<Brought>,
) -> Result<()> {
    let mut early = BTreeMap::new();
    loop {
        match brought.recv_timeout(LOOK) {
            Ok(game) => {
                let (line, records) = game?;
                early.insert(line.game, (line, records));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
        while let Some((line, records)) = early.remove(&store.next()) {
            store.append(&line, &records)?;
            context.numbers.written(store.next());
            observer.game(&line, &store.report().totals);
        }
        store.sync_in_time()?;
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let live = Live { positions: count(&context.positions), evaluations: count(&context.evaluations) };
        observer.tick(live, &store.report().totals);
        if observer.cancelled() {
            // Games in play are finished: the last that was begun has all before it.
            context.numbers.close();
        }
    }
}
