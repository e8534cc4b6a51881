//! A game made of tables: every state has the same number of moves, and logits, values, ends and successors come from
//! splitmix64 by the formula in the note of `data/mctx_cases.json`.
#![allow(dead_code, reason = "every user takes another part")]

pub mod cases;
pub mod wild;

use manaka_search::{Error, Game, Outcome, Search, Status, Step};
use wild::Wild;

/// The table game of one seed.
#[derive(Clone, Debug)]
pub struct Table {
    pub states: u64,
    pub actions: u32,
    pub seed: u64,
    /// The states of the line, the current one last.
    pub line: Vec<u64>,
}

fn splitmix64(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl Table {
    pub fn new(states: u64, actions: u32, seed: u64) -> Self {
        Self { states, actions, seed, line: vec![0] }
    }

    fn u24(&self, stream: u64, index: u64) -> u32 {
        (splitmix64((self.seed << 48) ^ (stream << 40) ^ index) >> 40) as u32
    }

    fn unit(&self, stream: u64, index: u64) -> f32 {
        self.u24(stream, index) as f32 * (1.0 / 16_777_216.0) - 0.5
    }

    pub fn state(&self) -> u64 {
        *self.line.last().unwrap()
    }

    fn next(&self, action: u32) -> u64 {
        (31 * self.state() + 7 * u64::from(action) + 1) % self.states
    }

    fn result(&self, state: u64) -> Option<f32> {
        let over = state != 0 && self.u24(3, state).is_multiple_of(10);
        over.then(|| (self.u24(4, state) % 3) as f32 - 1.0)
    }

    pub fn logits(&self) -> Vec<f32> {
        let first = self.state() * u64::from(self.actions);
        (0..u64::from(self.actions)).map(|action| self.unit(1, first + action) * 6.0).collect()
    }

    pub fn value(&self) -> f32 {
        self.unit(2, self.state()) * 1.8
    }
}

impl Game for Table {
    type Move = u32;

    fn status(&mut self, moves: &mut Vec<u32>) -> Status {
        if let Some(value) = self.result(self.state()) {
            return Status::Over(value);
        }
        moves.extend(0..self.actions);
        Status::Open
    }

    fn play(&mut self, action: u32) {
        assert!(action < self.actions && self.result(self.state()).is_none());
        let next = self.next(action);
        self.line.push(next);
    }

    fn undo(&mut self) {
        self.line.pop();
        assert!(!self.line.is_empty(), "a move taken back that was not played");
    }
}

/// The rest of a search that was begun, with the evaluations of a wild game.
pub fn run_wild(search: &mut Search<u32>, game: &mut Wild) -> Result<Outcome<u32>, Error> {
    loop {
        match search.step(game)? {
            Step::Evaluate(moves) => {
                let logits = game.logits(moves);
                search.apply(&logits, game.value())?;
            }
            Step::Done(outcome) => return Ok(outcome.clone()),
        }
    }
}

/// The rest of a search that was begun, with the table's evaluations.
pub fn run(search: &mut Search<u32>, game: &mut Table) -> Result<Outcome<u32>, Error> {
    loop {
        match search.step(game)? {
            Step::Evaluate(moves) => {
                assert_eq!(moves.len(), game.actions as usize);
                search.apply(&game.logits(), game.value())?;
            }
            Step::Done(outcome) => return Ok(outcome.clone()),
        }
    }
}
