//! One game being played: opening, searches, resignation, records.

use crate::ending::{End, Ending};
use crate::error::{Error, Result};
use crate::evaluator::{Reply, Request};
use crate::game::Shogi;
use crate::options::Options;
use manaka_core::stream::{Candidate, Record};
use manaka_core::{Color, Move16, Packed, conventions::NO_CP};
use manaka_corpus::book::Opening;
use manaka_search::{Random, Search, Step};

/// The ply whose draws belong to a game as a whole: no move has this number.
const WHOLE_GAME: u32 = u32::MAX;

/// A game that came to its end.
#[derive(Debug)]
pub(crate) struct Finished {
    pub number: u64,
    /// Every position that was searched.
    pub records: Vec<Record>,
    pub end: End,
    /// The side that moved first.
    pub first: Color,
    /// Moves played, those of the opening included.
    pub plies: u32,
    pub evaluations: u64,
    /// Whether nobody was to resign.
    pub plays_on: bool,
    /// Who would have resigned in such a game.
    pub given_up: Option<Color>,
}

/// What a game waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// A position of the game that was just reached.
    Reached,
    /// The policy of a position of the opening.
    Drawing,
    /// A search.
    Searching,
}

/// One game after the other, in the same memory. Exactly one position of it waits for an evaluation at a time.
#[derive(Debug)]
pub(crate) struct Playing<'r> {
    options: &'r Options,
    shogi: Shogi,
    search: Search<Move16>,
    state: State,
    number: u64,
    opening_left: u32,
    records: Vec<Record>,
    first: Color,
    plies: u32,
    searches: u64,
    evaluations: u64,
    /// Searches and evaluations that were told of by [`news`](Self::news).
    told: (u64, u64),
    /// By side: searches in a row that found it lost.
    lost: [u32; 2],
    plays_on: bool,
    given_up: Option<Color>,
    /// The position that waits, and its moves.
    position: Packed,
    moves: Vec<Move16>,
}

impl<'r> Playing<'r> {
    /// Nothing yet.
    pub(crate) fn new(options: &'r Options) -> Result<Self> {
        Ok(Self {
            options,
            shogi: Shogi::new(options.max_ply),
            search: Search::new(options.search)?,
            state: State::Reached,
            number: 0,
            opening_left: 0,
            records: Vec::new(),
            first: Color::Black,
            plies: 0,
            searches: 0,
            evaluations: 0,
            told: (0, 0),
            lost: [0; 2],
            plays_on: false,
            given_up: None,
            position: Packed::empty(),
            moves: Vec::new(),
        })
    }

    /// Begins a game.
    pub(crate) fn begin(&mut self, number: u64, opening: Opening) {
        let set = self.shogi.set(&opening.packed, opening.ply.into());
        debug_assert_eq!(set, Ok(()), "openings can be played on");
        self.state = State::Reached;
        self.number = number;
        self.opening_left = self.options.openings.policy_plies;
        self.records.clear();
        self.first = self.shogi.side();
        (self.plies, self.evaluations, self.told) = (0, 0, (0, 0));
        (self.searches, self.lost, self.given_up) = (0, [0; 2], None);
        let draw = Random::new(self.options.seed, number, WHOLE_GAME).unit();
        self.plays_on = draw < self.options.resign.play_on;
    }

    /// Goes on until a position needs an evaluation, or to the end of the game.
    pub(crate) fn advance(&mut self) -> Result<Option<Finished>> {
        loop {
            match self.state {
                State::Reached => {
                    if let Some(end) = self.shogi.end() {
                        return Ok(Some(self.finish(end)));
                    }
                    if self.opening_left > 0 {
                        self.opening_left -= 1;
                        self.shogi.board().legal_moves(&mut self.moves);
                        self.position = self.shogi.packed();
                        self.state = State::Drawing;
                        return Ok(None);
                    }
                    self.search.begin(self.draws(), self.moves_before());
                    self.state = State::Searching;
                }
                State::Drawing => return Ok(None),
                State::Searching => match self.search.step(&mut self.shogi)? {
                    Step::Evaluate(moves) => {
                        self.moves.clear();
                        self.moves.extend_from_slice(moves);
                        self.position = self.shogi.packed();
                        return Ok(None);
                    }
                    Step::Done(_) => {
                        if let Some(end) = self.searched()? {
                            return Ok(Some(self.finish(end)));
                        }
                    }
                },
            }
        }
    }

    /// What waits for its evaluation, after an [`advance`](Self::advance) that did not end the game.
    pub(crate) fn request(&self) -> Request<'_> {
        Request { position: &self.position, moves: &self.moves }
    }

    /// The number of the game.
    pub(crate) const fn number(&self) -> u64 {
        self.number
    }

    /// Searches done since this was asked last, and once there are any the evaluations made up to now.
    pub(crate) fn news(&mut self) -> (u64, u64) {
        let (searches, evaluations) = self.told;
        if self.searches == searches {
            return (0, 0);
        }
        self.told = (self.searches, self.evaluations);
        (self.searches - searches, self.evaluations - evaluations)
    }

    /// Takes the evaluation.
    pub(crate) fn apply(&mut self, reply: Reply<'_>) -> Result<()> {
        self.evaluations += 1;
        if self.state == State::Drawing {
            return self.draw(reply);
        }
        let game = self.number;
        self.search
            .apply(reply.logits, reply.value)
            .map_err(|error| Error::Evaluation { game, reason: error.to_string() })
    }

    /// Moves of the game that led to the position, by its move number.
    fn moves_before(&self) -> u32 {
        self.shogi.board().ply().saturating_sub(1)
    }

    fn draws(&self) -> Random {
        Random::new(self.options.seed, self.number, self.moves_before())
    }

    /// Plays a move of the opening, drawn by the policy. One that ends the game is taken back, and the searches begin
    /// in front of it: a game is there to be searched.
    fn draw(&mut self, Reply { logits, value }: Reply<'_>) -> Result<()> {
        if !logits.iter().all(|logit| logit.is_finite()) || !(-1.0..=1.0).contains(&value) {
            let reason = format!("a value of {value}, or logits that are not finite");
            return Err(Error::Evaluation { game: self.number, reason });
        }
        let top = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let weight = |logit: f32| libm::exp(f64::from(logit) - f64::from(top));
        let sum: f64 = logits.iter().copied().map(weight).sum();
        let mut left = self.draws().unit() * sum;
        let drawn = logits.iter().position(|&logit| {
            left -= weight(logit);
            left < 0.0
        });
        // The last digits of the sum may leave a rest.
        let mv = self.moves[drawn.unwrap_or(logits.len() - 1)];
        self.play(mv)?;
        if self.shogi.end().is_some() {
            self.shogi.retreat();
            self.plies -= 1;
            self.opening_left = 0;
        }
        Ok(())
    }

    fn play(&mut self, mv: Move16) -> Result<()> {
        self.shogi.advance(mv).map_err(|_| Error::Search(manaka_search::Error::NoMoves))?;
        self.plies += 1;
        self.state = State::Reached;
        Ok(())
    }

    /// Records a search that is done, and plays its move. The end of the game if it is given up instead.
    fn searched(&mut self) -> Result<Option<End>> {
        let Some(outcome) = self.search.outcome() else { return Ok(None) };
        self.searches += 1;
        let mover = self.shogi.side();
        #[expect(clippy::cast_possible_truncation, reason = "records hold f32")]
        let value_q = outcome.value as f32;
        self.records.push(Record {
            // At most max_ply, which has 16 bits.
            ply: u16::try_from(self.shogi.board().ply()).unwrap_or(u16::MAX),
            value_z: 0.0,
            value_q,
            packed: self.shogi.packed(),
            candidates: outcome.written().map(|(mv, visits)| Candidate { mv, visits, cp: NO_CP }).collect(),
        });
        let (value, best) = (outcome.value, outcome.best());
        let resign = &self.options.resign;
        let lost = &mut self.lost[mover as usize];
        *lost = if value <= -resign.value { *lost + 1 } else { 0 };
        if resign.count > 0 && *lost >= resign.count && self.given_up.is_none() {
            if !self.plays_on {
                return Ok(Some(End::won(Ending::Resignation, mover.flip())));
            }
            self.given_up = Some(mover);
        }
        match best {
            Some(mv) => self.play(mv).map(|()| None),
            None => Err(Error::Search(manaka_search::Error::NoMoves)),
        }
    }

    fn finish(&mut self, end: End) -> Finished {
        let mut records = std::mem::take(&mut self.records);
        for record in &mut records {
            record.value_z = end.value_for(record.packed.side());
        }
        Finished {
            number: self.number,
            records,
            end,
            first: self.first,
            plies: self.plies,
            evaluations: self.evaluations,
            plays_on: self.plays_on,
            given_up: self.given_up,
        }
    }
}
