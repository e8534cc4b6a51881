//! The sums of one thread: taken record by record, merged in any order. Every sum is of whole numbers.

use super::counts::Counts;
use super::games::{Edge, Games, Tracker, UNKNOWN};
use super::heat::Heat;
use super::item::Item;
use super::parts::Batch;
use super::sample::{Sample, halvings_for};
use super::value::{BINS, Bin, Bins, ONE, Scales, bin_of, fixed};
use manaka_core::{Color, Conventions, Pov};
use std::sync::atomic::{AtomicU32, Ordering};
use xxhash_rust::xxh3::xxh3_64;

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
    /// The value of every score under the conventions; `None` where the first candidate is not the root's.
    values: Option<Values>,
    /// Whether items are in the order of games.
    pub in_games: bool,
    /// The range of hashes that positions are compared in at first.
    pub halvings: u32,
}

/// The value of each score by its bits, computed when it first comes: data has a few thousand of all.
struct Values(Box<[AtomicU32]>);

impl Values {
    /// No bits of a value: a number that is none.
    const MISSING: u32 = u32::MAX;

    #[inline]
    fn of(&self, cp: i16, conventions: &Conventions) -> f32 {
        let kept = &self.0[usize::from(cp.cast_unsigned())];
        match kept.load(Ordering::Relaxed) {
            Self::MISSING => {
                let value = conventions.value_q(cp);
                kept.store(value.to_bits(), Ordering::Relaxed);
                value
            }
            bits => f32::from_bits(bits),
        }
    }
}

impl Facts {
    pub fn new(conventions: Conventions, slot_0: bool, in_games: bool, bytes: u64) -> Self {
        let values = (slot_0 && conventions.eval_coef > 0.0)
            .then(|| Values((0..SCORES).map(|_| AtomicU32::new(Values::MISSING)).collect()));
        Self { conventions, values, in_games, halvings: halvings_for(bytes) }
    }

    /// The value of a score, where scores have one.
    #[inline]
    pub fn value(&self, cp: i16) -> Option<f32> {
        self.values.as_ref().map(|values| values.of(cp, &self.conventions))
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
    #[inline(always)]
    pub fn add(&mut self, item: &impl Item, facts: &Facts, tracker: &mut Tracker, batch: &mut Batch) {
        let (ply, packed, mover) = (item.ply(), item.packed(), item.mover());
        let black_view = facts.conventions.pov == Pov::Black;
        // From the mover's view to Black's, and from the stated view to the mover's.
        let to_black: i8 = if mover == Color::White { -1 } else { 1 };
        let to_mover: i8 = if black_view { to_black } else { 1 };
        self.items += 1;
        self.heat.add(packed);
        let hash = xxh3_64(packed);
        self.positions.add(hash);

        let value = item.value() * f32::from(to_mover);
        let outcome = item.outcome();
        // As it is stored: a change of view would change its sign.
        self.negative_zeros += u64::from(outcome.map(f32::to_bits) == Some((-0.0f32).to_bits()));
        let fixed_value = fixed(value);
        let (class, outcome) =
            self.outcome(outcome.map(|z| z * f32::from(to_mover)), value, fixed_value, mover);
        let from_black = if class > 2 || mover == Color::Black { class } else { 2 - class };
        if usize::from(ply) >= self.plies.len() {
            self.plies.resize(usize::from(ply) + 1, [0; CLASSES]);
        }
        self.plies[usize::from(ply)][from_black] += 1;

        let count = item.n_cand();
        self.candidates.add(count as u64);
        // A score is never the one number that has no opposite.
        let of_mover = |cp: i16| if to_mover < 0 { cp.wrapping_neg() } else { cp };
        if let Some(cp) = item.first_score() {
            self.first_candidate(item.root(), value, of_mover(cp), hash, facts);
        }
        for cp in item.scores() {
            self.scores[usize::from(of_mover(cp).cast_unsigned())] += 1;
        }
        let mut playouts = 0u64;
        for visits in item.visits() {
            self.visits.add(visits.into());
            playouts += u64::from(visits);
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
        batch.add(&edge, count, fixed_value);
        if facts.in_games {
            tracker.push(edge, hash, &mut self.games);
        }
    }

    /// Counts an outcome from the mover; gives its class and itself.
    #[inline]
    fn outcome(&mut self, outcome: Option<f32>, value: f32, fixed_value: i32, mover: Color) -> (usize, i8) {
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
        bin.value += i64::from(fixed_value);
        bin.outcome += if single { i64::from(whole) * ONE } else { fixed(z).into() };
        (class, if single { whole } else { UNKNOWN })
    }

    /// Whether the first candidate carries the root's score.
    #[inline]
    fn first_candidate(&mut self, root: Option<i16>, value: f32, cp: i16, hash: u64, facts: &Facts) {
        if let Some(root) = root {
            self.slot_0[0] += 1;
            self.slot_0[1] += u64::from(root == cp);
        } else if let Some(expected) = facts.value(cp) {
            self.slot_0[0] += 1;
            let same = (expected - value).abs() <= SAME_VALUE;
            self.slot_0[1] += u64::from(same);
            // From bits that neither samples nor tables use.
            if !same && (hash >> 8).is_multiple_of(SCALES_ONE_IN) && !facts.conventions.is_mate(cp) {
                self.scales.add(value, cp, facts.conventions.eval_coef);
            }
        }
    }

    /// Ends what can be ended before other sums are there.
    pub fn settle(&mut self) {
        self.positions.settle();
        self.games.repeats.settle();
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
