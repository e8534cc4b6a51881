//! What a search is to do: the budget, the rule and every constant (search.md §3 to §5).

use crate::error::{Error, Result};

/// What a search is to do.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Options {
    /// Simulations, which is what the root's visits sum to. The root's own evaluation is not one of them.
    pub budget: u32,
    /// How moves are selected.
    pub rule: Rule,
    /// Whether leaves are tested for a move that wins at once.
    pub mate_test: MateTest,
}

impl Options {
    /// A budget and a rule; leaves are tested for mate.
    pub fn new(budget: u32, rule: impl Into<Rule>) -> Self {
        Self { budget, rule: rule.into(), mate_test: MateTest::Leaf }
    }

    /// Every constant in range.
    pub(crate) fn check(&self) -> Result<()> {
        at_least_one("budget", self.budget)?;
        match &self.rule {
            Rule::Puct(puct) => puct.check(),
            Rule::Gumbel(gumbel) => gumbel.check(),
        }
    }
}

/// How moves are selected.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Rule {
    /// AlphaZero's.
    Puct(Puct),
    /// Gumbel AlphaZero's.
    Gumbel(Gumbel),
}

impl From<Puct> for Rule {
    fn from(puct: Puct) -> Self {
        Self::Puct(puct)
    }
}

impl From<Gumbel> for Rule {
    fn from(gumbel: Gumbel) -> Self {
        Self::Gumbel(gumbel)
    }
}

/// Whether leaves are tested for a move that wins at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MateTest {
    /// A leaf whose side to move wins at once is worth exactly 1 to it and is not evaluated.
    Leaf,
    /// No test.
    Off,
}

/// The constants of PUCT (search.md §4).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Puct {
    /// The constant part of the exploration factor.
    pub c_init: f64,
    /// The visits at which the growing part of the exploration factor has reached ln 2.
    pub c_base: f64,
    /// How the values of moves are scaled.
    pub q: PuctQ,
    /// α of the Dirichlet noise on the root's priors.
    pub noise_alpha: f64,
    /// ε, the share of the noise in the root's priors; 0 is no noise.
    pub noise_share: f64,
    /// The temperature at which the move is drawn from the visits; 0 takes the most visited.
    pub temperature: Schedule,
}

impl Puct {
    /// AlphaZero's c_init.
    pub const C_INIT: f64 = 1.25;
    /// AlphaZero's c_base.
    pub const C_BASE: f64 = 19_652.0;
    /// AlphaZero's α for shogi.
    pub const NOISE_ALPHA: f64 = 0.15;
    /// AlphaZero's ε.
    pub const NOISE_SHARE: f64 = 0.25;
    /// AlphaZero's plies at temperature 1.
    pub const TEMPERATURE_PLIES: u32 = 30;

    fn check(&self) -> Result<()> {
        not_negative("c_init", self.c_init)?;
        positive("c_base", self.c_base)?;
        positive("noise_alpha", self.noise_alpha)?;
        within("noise_share", self.noise_share, 0.0, 1.0, "in 0 to 1")?;
        if let PuctQ::Unit(Unvisited::Below(below)) = self.q {
            not_negative("unvisited", below)?;
        }
        self.temperature.check("temperature")
    }
}

/// AlphaZero's constants, and temperature 1 for 30 plies, then the most visited move.
impl Default for Puct {
    fn default() -> Self {
        Self {
            c_init: Self::C_INIT,
            c_base: Self::C_BASE,
            q: PuctQ::Unit(Unvisited::Loss),
            noise_alpha: Self::NOISE_ALPHA,
            noise_share: Self::NOISE_SHARE,
            temperature: Schedule { first: 1.0, plies: Self::TEMPERATURE_PLIES, then: 0.0 },
        }
    }
}

/// How PUCT scales the values of moves.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum PuctQ {
    /// (1 + value) / 2, with this for moves not visited yet.
    Unit(Unvisited),
    /// MuZero's: from 0 at the lowest to 1 at the highest value among the node and its visited moves; moves not visited
    /// have 0.
    Siblings,
}

/// First-play urgency: what PUCT takes for the value of a move not visited yet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Unvisited {
    /// A loss, as AlphaZero has it.
    Loss,
    /// The node's own value: the mean of its evaluation and of what its visits brought.
    Node,
    /// The node's own value less this, on the scale 0 to 1, but no less than a loss.
    Below(f64),
}

/// The constants of Gumbel search (search.md §5).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Gumbel {
    /// m: root moves that sequential halving starts with. Those of a position with fewer are all considered.
    pub considered: u32,
    /// c_visit.
    pub c_visit: f64,
    /// c_scale.
    pub c_scale: f64,
    /// The scale on which values enter.
    pub q: QScale,
    /// The factor of the root's Gumbel noise; 0 is play without noise.
    pub noise_scale: Schedule,
}

impl Gumbel {
    /// The default m.
    pub const CONSIDERED: u32 = 16;
    /// The default c_visit.
    pub const C_VISIT: f64 = 50.0;
    /// The default c_scale, which belongs to values in 0 to 1.
    pub const C_SCALE: f64 = 1.0;

    fn check(&self) -> Result<()> {
        at_least_one("considered", self.considered)?;
        not_negative("c_visit", self.c_visit)?;
        not_negative("c_scale", self.c_scale)?;
        self.noise_scale.check("noise_scale")
    }
}

/// m 16, c_visit 50, c_scale 1 on values in 0 to 1, noise at every ply.
impl Default for Gumbel {
    fn default() -> Self {
        Self {
            considered: Self::CONSIDERED,
            c_visit: Self::C_VISIT,
            c_scale: Self::C_SCALE,
            q: QScale::Unit,
            noise_scale: Schedule::constant(1.0),
        }
    }
}

/// The scale on which values enter the completed Q of Gumbel search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QScale {
    /// (1 + value) / 2.
    Unit,
    /// The value as it is, in −1 to 1.
    Signed,
    /// From 0 at the node's lowest completed value to 1 at its highest.
    MinMax,
}

/// A number that changes once in a game.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Schedule {
    /// The number in the first plies.
    pub first: f64,
    /// How many plies those are.
    pub plies: u32,
    /// The number from then on.
    pub then: f64,
}

impl Schedule {
    /// The same number at every ply.
    #[must_use]
    pub const fn constant(value: f64) -> Self {
        Self { first: value, plies: 0, then: value }
    }

    /// The number for the move after `ply` moves of the game.
    #[must_use]
    pub fn at(&self, ply: u32) -> f64 {
        if ply < self.plies { self.first } else { self.then }
    }

    fn check(&self, option: &'static str) -> Result<()> {
        not_negative(option, self.first)?;
        not_negative(option, self.then)
    }
}

fn within(option: &'static str, found: f64, low: f64, high: f64, wanted: &'static str) -> Result<()> {
    // No number is in no range.
    if found >= low && found <= high { Ok(()) } else { Err(Error::Option { option, found, wanted }) }
}

fn at_least_one(option: &'static str, found: u32) -> Result<()> {
    within(option, found.into(), 1.0, f64::MAX, "at least 1")
}

fn not_negative(option: &'static str, found: f64) -> Result<()> {
    within(option, found, 0.0, f64::MAX, "a number that is not negative")
}

fn positive(option: &'static str, found: f64) -> Result<()> {
    within(option, found, f64::MIN_POSITIVE, f64::MAX, "a positive number")
}
