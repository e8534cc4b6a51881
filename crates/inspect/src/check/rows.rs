//! The check of one row: what shards.md §4 and §5 say about it.

use super::collector::InFile;
use super::position::Judge;
use super::streams::above_scale;
use crate::finding::{Id, Place};
use manaka_core::conventions::NO_CP;
use manaka_core::{Color, Move16, Packed, PolicySource};
use manaka_pack::Policy;
use manaka_pack::shard::Rows;
use std::cmp::Reverse;

/// How far a `prob` may be from what the row's own cp give.
///
/// Whoever computes in f64 and rounds once, as the specification says, is off by nothing or by one step of f32, 6e-8 at
/// most. One who computes in f32 throughout, over the few candidates of a MultiPV row, stays within ten steps. Another
/// temperature, a cp of another view or another best move is off by far more.
const PROB_TOLERANCE: f64 = 1e-6;

/// How far the probs of a row may be from a sum of 1.
///
/// Each prob is an f64 quotient rounded once to f32, which changes it by at most 2^-24 of itself. Those errors add up to
/// at most 2^-24 of the sum, 6e-8, **however many candidates there are**: 593 legal moves share one 1. Quotients taken
/// in f32, of a total that was rounded as well, are within three times that. So 1e-6 leaves room, and still shows
/// one visit that is missing among a million; a tolerance that grew with the candidates would hide it.
const SUM_TOLERANCE: f64 = 1e-6;

/// Up to this weight f32 tells whether a number is a mean of at most as many outcomes: of more, nearly every f32 is one.
const MEAN_CHECKED: u32 = 1 << 12;

/// Judges rows under the conventions of one shard; one a thread.
pub struct RowJudge {
    judge: Judge,
    order: Vec<usize>,
    cp: Vec<i16>,
    scratch: Vec<i16>,
    prob: Vec<f32>,
}

/// A row's candidates.
struct Candidates<'a> {
    mv: &'a [u16],
    prob: &'a [f32],
    /// Empty in visits shards.
    cp: &'a [i16],
}

impl RowJudge {
    pub fn new() -> Self {
        Self { judge: Judge::new(), order: Vec::new(), cp: Vec::new(), scratch: Vec::new(), prob: Vec::new() }
    }

    /// Judges one row; `place` is where it stands.
    pub fn row(&mut self, rows: &Rows, row: usize, policy: &Policy, out: &InFile<'_>, place: Place) {
        let packed = rows.position(row);
        let range = rows.candidates(row);
        let candidates = Candidates {
            mv: &rows.mv[range.clone()],
            prob: &rows.prob[range.clone()],
            cp: rows.cp.get(range).unwrap_or(&[]),
        };
        values(rows, row, out, place);
        if let Some(&bits) = candidates.mv.iter().find(|&&bits| !Move16::from_bits(bits).is_well_formed()) {
            out.add(place, Id::Move16, || format!("{bits:#06x} is no move16"));
        }
        let moves = candidates.mv.iter().map(|&bits| Move16::from_bits(bits));
        self.judge.position(&packed, rows.ply[row], moves, out, place);
        probs(&candidates, policy.conventions().policy_source, out, place);
        match policy.conventions().policy_source {
            PolicySource::Visits => visits_order(&candidates, out, place),
            PolicySource::SoftmaxCp => self.scores(&candidates, policy, &packed, out, place),
        }
    }

    /// What only score rows have: the range of cp, their order, and prob as it follows from them.
    fn scores(
        &mut self,
        row: &Candidates<'_>,
        policy: &Policy,
        packed: &Packed,
        out: &InFile<'_>,
        place: Place,
    ) {
        let scale = policy.conventions().mate_scale;
        if let Some(at) = row.cp.iter().position(|&cp| cp == NO_CP) {
            out.add(place, Id::CpAbsent, || format!("{} has a cp of {NO_CP}", row.mv(at)));
            // No policy follows from it.
            return;
        }
        if scale != 0
            && let Some(at) = row.cp.iter().position(|&cp| cp != NO_CP && cp.unsigned_abs() > scale)
        {
            out.add(place, Id::CpAboveMateScale, || above_scale(row.mv(at), row.cp[at], scale));
        }
        let mover: Color = packed.side();
        let key = |at: usize| (Reverse(policy.for_mover(row.cp[at], mover)), row.mv[at]);
        self.order.clear();
        self.order.extend(0..row.mv.len());
        if let Some(at) = (1..row.mv.len()).find(|&at| key(at - 1) > key(at)) {
            out.add(place, Id::CandidateOrder, || {
                let (first, second) = (row.mv(at - 1), row.mv(at));
                format!("{first} (cp {}) stands before {second} (cp {})", row.cp[at - 1], row.cp[at])
            });
            self.order.sort_by_key(|&at| key(at));
        }
        self.cp.clear();
        self.cp.extend(self.order.iter().map(|&at| row.cp[at]));
        policy.probs_of_cp(&self.cp, mover, &mut self.scratch, &mut self.prob);
        let wrong = self
            .order
            .iter()
            .zip(&self.prob)
            .find(|&(&at, &prob)| !within(f64::from(row.prob[at]), f64::from(prob), PROB_TOLERANCE));
        if let Some((&at, &expected)) = wrong {
            let mate = row.cp.iter().any(|&cp| policy.conventions().is_mate(cp));
            out.add(place, if mate { Id::OneHot } else { Id::ProbMismatch }, || {
                let given = if mate { "a mate in the row gives" } else { "the cp of the row give" };
                format!("{} has a prob of {}, and {given} {expected}", row.mv(at), row.prob[at])
            });
        }
    }
}

impl Candidates<'_> {
    fn mv(&self, at: usize) -> Move16 {
        Move16::from_bits(self.mv[at])
    }
}

/// Whether two numbers are close; no number is close to none.
fn within(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance
}

/// Weight and targets.
fn values(rows: &Rows, row: usize, out: &InFile<'_>, place: Place) {
    let weight = rows.weight[row];
    if weight == 0 {
        out.add(place, Id::Weight, || "the weight is 0".to_owned());
    }
    let value_q = rows.value_q[row];
    if !(-1.0..=1.0).contains(&value_q) {
        out.add(place, Id::ValueQ, || format!("value_q is {value_q}"));
    }
    // No record of the row has one.
    let Some(&Some(value_z)) = rows.value_z.get(row) else { return };
    if !(-1.0..=1.0).contains(&value_z) {
        out.add(place, Id::ValueZ, || format!("value_z is {value_z}"));
    } else if (1..=MEAN_CHECKED).contains(&weight) {
        // A sum of outcomes is whole; the mean was rounded to f32, by at most half a step below 1: 2^-25.
        let is_mean_of = |outcomes: u32| {
            let sum = f64::from(value_z) * f64::from(outcomes);
            within(sum, sum.round(), f64::from(outcomes) * f64::from(f32::EPSILON) / 2.0)
        };
        // Mostly every record has an outcome, so the weight is asked first.
        if !(1..=weight).rev().any(is_mean_of) {
            out.add(place, Id::ValueZMean, || {
                format!("value_z {value_z} is no mean of at most {weight} outcomes")
            });
        }
    }
}

/// What the probs of any row keep.
fn probs(row: &Candidates<'_>, source: PolicySource, out: &InFile<'_>, place: Place) {
    let visited = source == PolicySource::Visits;
    let outside = |prob: f32| !(0.0..=1.0).contains(&prob) || (visited && prob == 0.0);
    if let Some(at) = row.prob.iter().position(|&prob| outside(prob)) {
        out.add(place, Id::ProbRange, || format!("{} has a prob of {}", row.mv(at), row.prob[at]));
    }
    let sum: f64 = row.prob.iter().map(|&prob| f64::from(prob)).sum();
    if !within(sum, 1.0, SUM_TOLERANCE) {
        out.add(place, Id::ProbSum, || format!("the probs sum to {sum:.9}"));
    }
}

/// The order of visits rows.
fn visits_order(row: &Candidates<'_>, out: &InFile<'_>, place: Place) {
    let behind =
        |a: usize, b: usize| row.prob[b].total_cmp(&row.prob[a]).then(row.mv[a].cmp(&row.mv[b])).is_gt();
    if let Some(at) = (1..row.mv.len()).find(|&at| behind(at - 1, at)) {
        out.add(place, Id::CandidateOrder, || {
            let (first, second) = (row.mv(at - 1), row.mv(at));
            format!("{first} (prob {}) stands before {second} (prob {})", row.prob[at - 1], row.prob[at])
        });
    }
}
