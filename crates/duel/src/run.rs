//! Pairs on threads, counted in order.

use crate::contestant::Contestant;
use crate::error::{Error, Result};
use crate::game::{Played, opening, play};
use crate::options::Options;
use crate::report::{Observer, Report, Standing, Tally, Verdict};
use manaka_corpus::book::Book;
use manaka_runs::{InOrder, Turn, on_threads};
use manaka_selfplay::Shogi;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender};

/// What threads share.
struct Context<'r> {
    options: &'r Options,
    players: [&'r Contestant; 2],
    book: Book,
    /// The next pair.
    next: AtomicU64,
    /// Nobody wants more.
    over: AtomicBool,
}

type Brought = manaka_runs::Brought<Result<[Played; 2]>>;

/// Plays a match.
///
/// # Errors
/// [`Error`] for options that make no sense, a book that cannot be read, and a player that fails: nothing is reported
/// then.
pub fn run(options: &Options, players: [&Contestant; 2], observer: &dyn Observer) -> Result<Report> {
    options.check()?;
    let book = match &options.book {
        Some(path) => Book::read(path, options.max_ply)?,
        None => Book::startpos()?,
    };
    let context = Context { options, players, book, next: AtomicU64::new(0), over: AtomicBool::new(false) };
    let tally = on_threads(
        0..options.threads.get(),
        || context.over.store(true, Ordering::Relaxed),
        |_, brought| context.work(brought),
        |brought| context.count(brought, observer),
    )
    .unwrap_or(Err(Error::Worker))?;
    Ok(tally.report(players.map(ToString::to_string), options.sprt.as_ref()))
}

impl Context<'_> {
    /// Counts pairs in the order of their numbers until the match is decided or asked to stop.
    fn count(&self, brought: &Receiver<Brought>, observer: &dyn Observer) -> Result<Tally> {
        let mut tally = Tally::default();
        for turn in InOrder::new(brought, 0) {
            match turn {
                Turn::Take(pair) => {
                    let pair = pair?;
                    tally.add(&pair);
                    let standing = self.options.sprt.as_ref().map(|sprt| Standing::of(sprt, &tally.score));
                    observer.pair(&pair, &tally.score, standing.as_ref());
                    if standing.is_some_and(|standing| standing.verdict != Verdict::Undecided) {
                        break;
                    }
                }
                Turn::Look if observer.is_stopping() => break,
                Turn::Look => {}
            }
        }
        Ok(tally)
    }

    fn work(&self, brought: &Sender<Brought>) {
        // The first pair that was not begun carries what went wrong before it.
        let mut players = match self.make_players() {
            Ok(players) => players,
            Err(error) => {
                let pair = self.next.fetch_add(1, Ordering::Relaxed);
                if pair < self.options.pairs {
                    // Whoever receives has stopped already if it does not want to know.
                    let _ = brought.send((Some(pair), Err(error)));
                }
                return;
            }
        };
        let mut shogi = Shogi::new(self.options.max_ply);
        loop {
            let pair = self.next.fetch_add(1, Ordering::Relaxed);
            if pair >= self.options.pairs || self.over.load(Ordering::Relaxed) {
                return;
            }
            let played = self.play(&mut shogi, &mut players, pair);
            let failed = played.is_err();
            if brought.send((Some(pair), played)).is_err() || failed {
                return;
            }
        }
    }

    fn make_players(&self) -> Result<[Box<dyn crate::player::Player + '_>; 2]> {
        Ok([self.players[0].player(&self.over)?, self.players[1].player(&self.over)?])
    }

    fn play(
        &self,
        shogi: &mut Shogi,
        players: &mut [Box<dyn crate::player::Player + '_>; 2],
        pair: u64,
    ) -> Result<[Played; 2]> {
        let Options { seed, random_plies, .. } = *self.options;
        let openings = self.book.openings();
        let turn = usize::try_from(pair % openings.len() as u64).unwrap_or(0);
        let from = opening(shogi, openings[turn], random_plies, seed, pair);
        let mut game = |first| play(shogi, players, self.players, &from, (seed, pair), first);
        Ok([game(true)?, game(false)?])
    }
}
