//! A game with any number of moves, in which nothing comes back: states are hashes of the moves that led to them.

use super::splitmix64;
use manaka_search::{Game, Status};

/// The game of one seed.
#[derive(Clone, Debug)]
pub struct Wild {
    pub line: Vec<u64>,
    /// The most moves a state can have.
    pub width: u64,
    /// Logits lie within plus and minus this.
    pub spread: f32,
    /// Games end after so many moves in a draw.
    pub longest: usize,
    /// One state in so many is over.
    pub over: u64,
    /// Evaluations and results are all this instead.
    pub flat: Option<f32>,
}

impl Wild {
    pub fn new(seed: u64, width: u64) -> Self {
        let line = vec![splitmix64(seed ^ 0xabcd)];
        Self { line, width, spread: 3.0, longest: 40, over: 12, flat: None }
    }

    fn draw(&self, what: u64) -> u64 {
        splitmix64(self.line[self.line.len() - 1] ^ what)
    }

    pub fn state(&self) -> u64 {
        self.draw(0)
    }

    pub fn depth(&self) -> usize {
        self.line.len() - 1
    }

    fn unit(&self, what: u64) -> f32 {
        (self.draw(what) >> 40) as f32 / 8_388_608.0 - 1.0
    }

    pub fn value(&self) -> f32 {
        self.flat.unwrap_or_else(|| self.unit(1))
    }

    pub fn logits(&self, moves: &[u32]) -> Vec<f32> {
        moves.iter().map(|&mv| self.unit(1000 + u64::from(mv)) * self.spread).collect()
    }
}

impl Game for Wild {
    type Move = u32;

    fn status(&mut self, moves: &mut Vec<u32>) -> Status {
        if self.depth() >= self.longest {
            return Status::Over(0.0);
        }
        if self.depth() > 0 && self.draw(2).is_multiple_of(self.over) {
            return Status::Over(self.flat.unwrap_or((self.draw(3) % 3) as f32 - 1.0));
        }
        moves.extend((0..=self.draw(4) % self.width).map(|mv| 5 * mv as u32 + 3));
        Status::Open
    }

    fn play(&mut self, mv: u32) {
        let next = self.draw(1_000_000 + u64::from(mv));
        self.line.push(next);
    }

    fn undo(&mut self) {
        assert!(self.depth() > 0, "a move taken back that was not played");
        self.line.pop();
    }

    fn wins_at_once(&mut self) -> bool {
        self.draw(5).is_multiple_of(20)
    }
}
