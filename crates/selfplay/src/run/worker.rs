//! A worker: one evaluator, some games, one position of each in a batch.

use crate::error::{Error, Result};
use crate::evaluator::{Evaluator, Evaluators, Replies, Request};
use crate::options::Options;
use crate::playing::{Finished, Playing};
use crate::report::GameLine;
use manaka_core::Packed;
use manaka_corpus::book::{Book, Opening};
use manaka_runs::{Next, Numbers};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;

/// What all workers share.
pub(crate) struct Context<'r> {
    pub options: &'r Options,
    pub evaluators: &'r dyn Evaluators,
    pub openings: OpeningOrder,
    pub numbers: Numbers,
    /// Everyone stops at once.
    pub halted: AtomicBool,
    /// Searches done, and evaluations made in them.
    pub positions: AtomicU64,
    pub evaluations: AtomicU64,
}

/// The openings in the order in which games take them.
pub(crate) struct OpeningOrder {
    book: Book,
    order: Vec<u32>,
}

impl OpeningOrder {
    /// A shuffle by the seed (selfplay.md §4.1).
    pub(crate) fn new(book: Book, seed: u64) -> Self {
        let mut random = manaka_search::Random::new(seed, u64::MAX, u32::MAX);
        let mut order: Vec<u32> = (0..).take(book.openings().len()).collect();
        for last in (1..order.len()).rev() {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                clippy::cast_precision_loss,
                reason = "a book has at most 2^24 positions"
            )]
            let drawn = (random.unit() * (last + 1) as f64) as usize;
            order.swap(last, drawn);
        }
        Self { book, order }
    }

    pub(crate) const fn book(&self) -> &Book {
        &self.book
    }

    /// The position of a game. Games go through the whole book before one comes again.
    fn of(&self, game: u64) -> Opening {
        let turn = usize::try_from(game % self.order.len() as u64).unwrap_or(0);
        self.book.openings()[self.order[turn] as usize]
    }
}

/// A game to be written, under its number, or why there are no more.
pub(crate) type Brought = manaka_runs::Brought<Result<(GameLine, Vec<u8>)>>;

impl<'r> Context<'r> {
    /// Everyone stops at once.
    pub(crate) fn halt(&self) {
        self.halted.store(true, Ordering::Relaxed);
        self.numbers.close();
    }

    /// Plays games until there are none left.
    pub(crate) fn work(&self, brought: &Sender<Brought>) {
        let played = self.evaluators.evaluator().map_err(Error::Evaluator).and_then(|evaluator| {
            Worker { context: self, evaluator, games: Vec::new(), idle: Vec::new(), brought }.play()
        });
        if let Err(error) = played {
            // Whoever receives has stopped already if it does not want to know.
            let _ = brought.send((None, Err(error)));
        }
    }
}

/// The memory of a batch, for the next one, which borrows from elsewhere.
fn emptied(mut batch: Vec<Request<'_>>) -> Vec<Request<'static>> {
    const NOTHING: Packed = Packed::empty();
    batch.clear();
    batch.into_iter().map(|_| Request { position: &NOTHING, moves: &[] }).collect()
}

struct Worker<'w, 'r> {
    context: &'w Context<'r>,
    evaluator: Box<dyn Evaluator + 'w>,
    games: Vec<Playing<'r>>,
    /// Memory for games that may yet begin.
    idle: Vec<Playing<'r>>,
    brought: &'w Sender<Brought>,
}

impl Worker<'_, '_> {
    fn play(mut self) -> Result<()> {
        let at_once = match self.context.options.batch {
            Some(batch) => batch.get(),
            None => self.evaluator.batch_hint().max(1),
        };
        let mut replies = Replies::new();
        let mut spare: Vec<Request<'static>> = Vec::new();
        while !self.context.halted.load(Ordering::Relaxed) {
            while self.games.len() < at_once {
                match self.context.numbers.take(self.games.is_empty()) {
                    Next::Game(number) => self.begin(number)?,
                    Next::Later => break,
                    Next::Done if self.games.is_empty() => return Ok(()),
                    Next::Done => break,
                }
            }
            if !self.advance_to_requests()? {
                return Ok(());
            }
            let mut batch: Vec<Request<'_>> = spare;
            batch.extend(self.games.iter().map(Playing::request));
            if let Some(playing) = self.games.first() {
                replies.fit(&batch);
                self.evaluator.evaluate(&batch, &mut replies).map_err(|error| Error::Evaluation {
                    game: playing.number(),
                    reason: error.to_string(),
                })?;
            }
            spare = emptied(batch);
            for (playing, reply) in self.games.iter_mut().zip(replies.iter()) {
                playing.apply(reply)?;
            }
        }
        Ok(())
    }

    fn begin(&mut self, number: u64) -> Result<()> {
        let mut playing = match self.idle.pop() {
            Some(playing) => playing,
            None => Playing::new(self.context.options)?,
        };
        playing.begin(number, self.context.openings.of(number));
        self.games.push(playing);
        Ok(())
    }

    /// Takes every game to a position that needs an evaluation, and hands in those that come to their end. False when
    /// nobody wants them.
    fn advance_to_requests(&mut self) -> Result<bool> {
        let mut at = 0;
        while at < self.games.len() {
            let playing = &mut self.games[at];
            let finished = playing.advance()?;
            let (positions, evaluations) = playing.news();
            if positions > 0 {
                self.context.positions.fetch_add(positions, Ordering::Relaxed);
                self.context.evaluations.fetch_add(evaluations, Ordering::Relaxed);
            }
            let Some(finished) = finished else {
                at += 1;
                continue;
            };
            let playing = self.games.swap_remove(at);
            self.idle.push(playing);
            if self.brought.send((Some(finished.number), encode(&finished))).is_err() {
                return Ok(false);
            }
            // Another takes its place, so that batches stay full.
            if let Next::Game(number) = self.context.numbers.take(false) {
                self.begin(number)?;
            }
        }
        Ok(true)
    }
}

fn encode(game: &Finished) -> Result<(GameLine, Vec<u8>)> {
    let mut bytes = Vec::new();
    for record in &game.records {
        record.encode(&mut bytes).map_err(|fault| Error::Evaluation {
            game: game.number,
            reason: format!("a record that is none: {fault}"),
        })?;
    }
    Ok((GameLine::new(game, &bytes), bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluator::Uniform;
    use manaka_search::{Gumbel, Options as Search, Puct, Rule};

    /// In searches of many leaves, once the memory has grown: what is allocated is the records.
    #[test]
    fn leaves_allocate_nothing() {
        for rule in [Rule::Puct(Puct::default()), Rule::Gumbel(Gumbel::default())] {
            let options = Options::new(Search::new(300, rule), 1);
            let mut playing = Playing::new(&options).unwrap();
            playing.begin(0, Book::startpos().unwrap().openings()[0]);
            let (mut evaluator, mut replies) = (Uniform::default(), Replies::new());
            let mut spare = Vec::with_capacity(1);
            let mut leaves = |count: u32| {
                for _ in 0..count {
                    assert!(playing.advance().unwrap().is_none());
                    let mut batch: Vec<Request<'_>> = std::mem::take(&mut spare);
                    batch.push(playing.request());
                    replies.fit(&batch);
                    evaluator.evaluate(&batch, &mut replies).unwrap();
                    spare = emptied(batch);
                    let reply = replies.iter().next().unwrap();
                    playing.apply(reply).unwrap();
                }
            };
            leaves(5000);
            let counted = allocation_counter::measure(|| leaves(3000)).count_total;
            // A record for each of ten moves or so, and now and then memory that grows.
            assert!(counted < 60, "{counted} allocations in 3000 leaves");
        }
    }
}
