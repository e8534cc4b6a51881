//! The sums of one thread: taken record by record, merged in any order. Every sum is of whole numbers.

use super::counts::Counts;
use super::games::{Edge, Games, Tracker, UNKNOWN};
use super::heat::Heat;
use super::item::Item;
use super::parts::Batch;
use super::sample::{Sample, halvings_for};
use super::value::{BINS, Bin, Bins, Scales, bin_of, fixed};
use manaka_core::conventions::{NO_CP, NO_VISITS};
use manaka_core::{Color, Conventions, Pov};
use manaka_pack::hash;

/// Outcomes told apart: lost, drawn, won, a mean of several, not stated.
pub const CLASSES: usize = 5;
/// A mean that is no outcome of one game.
pub const MIXED: usize = 3;
/// The data has no outcomes.
pub const UNSTATED: usize = 4;

/// How many values there are of a score.
pub const SCORES: usize = 1 << 16;

/// A root value leans to a side from here on.
pub const LEANING: f32 = 0.2;

/// A value and the tanh of a score are the same when they differ by less: a unit or two in the last place.
const SAME_VALUE: f32 = 1e-6;

/// One value in so many that are not the tanh of the first candidate's score is looked at for its scale.
const SCALES_ONE_IN: u64 = 16;

/// What the items of the data have in common.
pub struct Facts {
    pub conventions: Conventions,
    /// The value of every score under the conventions, by its bits; empty where the first candidate is not the root's.
    pub values: Vec<f32>,
    /// Whether items are in the order of games.
    pub in_games: bool,
    /// The range of hashes that positions are compared in at first.
    pub halvings: u32,
}

impl Facts {
    pub fn new(conventions: Conventions, slot_0: bool, in_games: bool, bytes: u64) -> Self {
        let values = match slot_0 && conventions.eval_coef > 0.0 {
            true => (0..=u16::MAX).map(|bits| conventions.value_q(bits.cast_signed())).collect(),
            false => Vec::new(),
        };
        Self { conventions, values, in_games, halvings: halvings_for(bytes) }
    }

    /// The value of a score.
    pub fn value(&self, cp: i16) -> f32 {
        self.values.get(usize::from(cp.cast_unsigned())).copied().unwrap_or(0.0)
    }
}

/// The sums over items.
#[derive(Clone)]
pub struct Sums {
    pub items: u64,
    /// By ply, then by the class of the outcome from Black.
    pub plies: Vec<[u64; CLASSES]>,
    /// By mover, then by the class of the outcome from the mover.
    pub movers: [[u64; CLASSES]; 2],
    pub negative_zeros: u64,
    pub candidates: Counts,
    /// Visits of each candidate, and of all candidates of an item.
    pub visits: Counts,
    pub playouts: Counts,
    /// Scores of candidates from the mover, by their bits.
    pub scores: Box<[u64; SCORES]>,
    /// Items whose first candidate could be the root, and those where it is.
    pub slot_0: [u64; 2],
    pub scales: Scales,
    /// By mover.
    pub values: Box<[Bins; 2]>,
    pub heat: Heat,
    pub positions: Sample,
    pub weights: Counts,
    pub games: Games,
}

impl Sums {
    /// No items yet.
    pub fn new(facts: &Facts) -> Self {
        Self {
            items: 0,
            plies: Vec::new(),
            movers: [[0; CLASSES]; 2],
            negative_zeros: 0,
            candidates: Counts::default(),
            visits: Counts::default(),
            playouts: Counts::default(),
            scores: Box::new([0; SCORES]),
            slot_0: [0; 2],
            scales: Scales::default(),
            values: Box::new([[Bin::default(); BINS]; 2]),
            heat: Heat::default(),
            positions: Sample::of_one_in(facts.halvings),
            weights: Counts::default(),
            games: Games::default(),
        }
    }
}

impl Sums {
    /// Takes an item. `tracker` and `batch` follow the run it belongs to.
    #[inline]
    pub fn add(&mut self, item: &impl Item, facts: &Facts, tracker: &mut Tracker, batch: &mut Batch) {
        let (ply, packed, mover) = (item.ply(), item.packed(), item.mover());
        let black_view = facts.conventions.pov == Pov::Black;
        // From the mover's view to Black's, and from the stated view to the mover's.
        let to_black: i8 = if mover == Color::White { -1 } else { 1 };
        let to_mover: i8 = if black_view { to_black } else { 1 };
        self.items += 1;
        self.heat.add(packed);
        let hash = fold(hash(packed));
        self.positions.add(hash);

        let value = item.value() * f32::from(to_mover);
        let outcome = item.outcome();
        // As it is stored: a change of view would change its sign.
        self.negative_zeros += u64::from(outcome.map(f32::to_bits) == Some((-0.0f32).to_bits()));
        let (class, outcome) = self.outcome(outcome.map(|z| z * f32::from(to_mover)), value, mover);
        let from_black = if class > 2 || mover == Color::Black { class } else { 2 - class };
        if usize::from(ply) >= self.plies.len() {
            self.plies.resize(usize::from(ply) + 1, [0; CLASSES]);
        }
        self.plies[usize::from(ply)][from_black] += 1;

        let candidates = item.candidates();
        let count = candidates.len();
        self.candidates.add(count as u64);
        let mut playouts = 0u64;
        for (at, (visits, cp)) in candidates.enumerate() {
            if cp != NO_CP {
                let cp = if to_mover < 0 { cp.saturating_neg() } else { cp };
                self.scores[usize::from(cp.cast_unsigned())] += 1;
                if at == 0 {
                    self.first_candidate(item.root(), value, cp, hash, facts);
                }
            }
            if visits != NO_VISITS {
                self.visits.add(visits.into());
                playouts += u64::from(visits);
            }
        }
        if playouts > 0 {
            self.playouts.add(playouts);
        }
        if !facts.in_games {
            self.weights.add(item.weight().into());
        }

        let lean = i8::from(value > LEANING) - i8::from(value < -LEANING);
        let outcome = if outcome == UNKNOWN { UNKNOWN } else { outcome * to_black };
        let edge = Edge { ply, mover, lean: lean * to_black, outcome };
        batch.add(&edge, count, value);
        if facts.in_games {
            tracker.push(edge, hash, &mut self.games);
        }
    }

    /// Counts an outcome from the mover; gives its class and itself.
    #[inline]
    fn outcome(&mut self, outcome: Option<f32>, value: f32, mover: Color) -> (usize, i8) {
        let mover = mover as usize;
        let Some(z) = outcome else {
            self.movers[mover][UNSTATED] += 1;
            return (UNSTATED, UNKNOWN);
        };
        let whole = i8::from(z > 0.0) - i8::from(z < 0.0);
        let single = z == f32::from(whole);
        let class = if single { usize::from((whole + 1).unsigned_abs()) } else { MIXED };
        self.movers[mover][class] += 1;
        let bin = &mut self.values[mover][bin_of(value)];
        bin.count += 1;
        bin.value += fixed(value);
        bin.outcome += fixed(z);
        (class, if single { whole } else { UNKNOWN })
    }

    /// Whether the first candidate carries the root's score.
    #[inline]
    fn first_candidate(&mut self, root: Option<i16>, value: f32, cp: i16, hash: u64, facts: &Facts) {
        if let Some(root) = root {
            self.slot_0[0] += 1;
            self.slot_0[1] += u64::from(root == cp);
        } else if let Some(&expected) = facts.values.get(usize::from(cp.cast_unsigned())) {
            self.slot_0[0] += 1;
            let same = (expected - value).abs() <= SAME_VALUE;
            self.slot_0[1] += u64::from(same);
            // From bits that neither samples nor tables use.
            if !same && (hash >> 8).is_multiple_of(SCALES_ONE_IN) && !facts.conventions.is_mate(cp) {
                self.scales.add(value, cp, facts.conventions.eval_coef);
            }
        }
    }

    pub fn merge(&mut self, other: &Self) {
        self.items += other.items;
        if other.plies.len() > self.plies.len() {
            self.plies.resize(other.plies.len(), [0; CLASSES]);
        }
        let pairs = (self.plies.iter_mut().flatten().zip(other.plies.iter().flatten()))
            .chain(self.movers.iter_mut().flatten().zip(other.movers.iter().flatten()))
            .chain(self.scores.iter_mut().zip(other.scores.iter()))
            .chain(self.slot_0.iter_mut().zip(&other.slot_0));
        pairs.for_each(|(sum, more)| *sum += more);
        self.negative_zeros += other.negative_zeros;
        self.candidates.merge(&other.candidates);
        self.visits.merge(&other.visits);
        self.playouts.merge(&other.playouts);
        self.scales.merge(&other.scales);
        for (bin, more) in self.values.iter_mut().flatten().zip(other.values.iter().flatten()) {
            bin.merge(more);
        }
        self.heat.merge(&other.heat);
        self.positions.merge(&other.positions);
        self.weights.merge(&other.weights);
        self.games.merge(&other.games);
    }
}

/// Both halves of a hash in one.
#[expect(clippy::cast_possible_truncation, reason = "its halves")]
const fn fold(hash: u128) -> u64 {
    hash as u64 ^ (hash >> 64) as u64
}
