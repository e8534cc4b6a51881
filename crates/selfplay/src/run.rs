//! A whole run: workers play, one thread writes what they bring in the order of the games.

mod settings;
mod store;
mod worker;

pub use store::{DATA, JOURNAL, REPORT};

use crate::error::{Error, Result};
use crate::evaluator::Evaluators;
use crate::options::Options;
use crate::report::{Live, Observer, Report};
use manaka_corpus::book::Book;
use manaka_runs::{Error as RunError, Found, InOrder, Numbers, Turn, on_threads};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Receiver;
use store::{KIND, Store};
use worker::{Brought, Context, OpeningOrder};

/// How many games may be begun behind the first that is not written. A game's records are 20 to 200 KB, and some games
/// last several times as long as others.
pub(crate) const fn window(in_play: u64) -> u64 {
    64 + 4 * in_play
}

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
    let found = if options.resume { Found::Resume } else { Found::Refuse };
    KIND.check(out, found)?;
    let book = match &options.openings.book {
        Some(path) => Book::read(path, options.max_ply)?,
        None => Book::startpos()?,
    };
    let openings = OpeningOrder::new(book, options.seed);
    let likes = evaluators.evaluator().map_err(Error::Evaluator)?.batch_hint().max(1);
    let in_play = options.threads.get() * options.batch.map_or(likes, std::num::NonZeroUsize::get);
    let identity = evaluators.identity();
    let settings = settings::settings(options, &identity, &openings);

    let (mut store, notes) = Store::open(out, found, settings, options.games, options.sync)?;
    notes.iter().for_each(|note| observer.notice(note));
    observer.begin(&identity, options.games, &store.report().totals);
    let context = Context {
        options,
        evaluators,
        openings,
        numbers: Numbers::new(store.next(), options.games, window(in_play as u64)),
        halted: AtomicBool::new(false),
        positions: AtomicU64::new(0),
        evaluations: AtomicU64::new(0),
    };
    let written = on_threads(
        0..options.threads.get(),
        || context.halt(),
        |_, brought| context.work(brought),
        |brought| write(&mut store, observer, &context, brought),
    )
    .unwrap_or(Err(RunError::Worker.into()));
    match written {
        Ok(()) => store.finish(),
        Err(error) => {
            // The error is the news; that the last games could not be brought to disk as well changes nothing.
            let _ = store.sync();
            Err(error)
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
    for turn in InOrder::new(brought, store.next()) {
        match turn {
            Turn::Take(game) => {
                let (line, records) = game?;
                store.append(&line, &records)?;
                context.numbers.written(store.next());
                observer.game(&line, &store.report().totals);
            }
            Turn::Look => {
                store.sync_in_time()?;
                let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
                let live =
                    Live { positions: count(&context.positions), evaluations: count(&context.evaluations) };
                observer.tick(live, &store.report().totals);
                if observer.cancelled() {
                    // Games in play are finished: the last that was begun has all before it.
                    context.numbers.close();
                }
            }
        }
    }
    Ok(())
}
