//! The fold of one position's records into a row (shards.md §4). Sums are exact integers, so their order cannot matter.

use crate::entry::Entry;
use crate::error::{Error, Result};
use crate::policy::{Policy, prob_of_visits};
use manaka_core::packed::{PACKED_LEN, SIDE};
use manaka_core::{Color, Packed, PolicySource};

/// `value_q` is summed as an integer of this many fractional bits: exact for all but the tiniest f32, and 2^32 of them
/// stay far below the range of i128.
const VALUE_Q_ONE: i64 = 1 << 60;

/// A folded row: what one line of a shard holds, but for `prob` of score rows, which follows from cp at the writer.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Row {
    pub ply: u16,
    pub weight: u32,
    pub value_z: f32,
    pub value_q: f32,
    /// In the order of shards.md §5.
    pub candidates: Vec<RowCandidate>,
}

/// A candidate of a folded row.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RowCandidate {
    pub mv: u16,
    /// The folded cp of a score row, else 0.
    pub cp: i16,
    /// The prob of a visits row, else 0.
    pub prob: f32,
}

/// The sum of one move over the records that listed it.
#[derive(Clone, Copy, Default)]
struct MoveSum {
    /// Visits, or centipawns.
    sum: i64,
    /// Records that listed it.
    records: u32,
}

/// Folds groups of entries; keeps its tables between groups.
pub struct Folder<'a> {
    policy: &'a Policy,
    /// One sum per move16 value: a position met a million times costs no more than one met twice.
    sums: Vec<MoveSum>,
    touched: Vec<u16>,
    row: Row,
}

/// move16 values have bit 15 clear.
const MOVES: usize = 1 << 15;

impl<'a> Folder<'a> {
    pub fn new(policy: &'a Policy) -> Self {
        Self { policy, sums: vec![MoveSum::default(); MOVES], touched: Vec::new(), row: Row::default() }
    }

    /// Folds the entries of one position, of which there is at least one.
    ///
    /// # Errors
    /// [`Error::Weight`] above `u32::MAX` records.
    pub fn fold<'e>(
        &mut self,
        packed: &[u8; PACKED_LEN],
        entries: impl Iterator<Item = Entry<'e>> + Clone,
    ) -> Result<&Row> {
        let source = self.policy.conventions().policy_source;
        let (mut records, mut ply, mut z_sum, mut q_sum) = (0u64, u16::MAX, 0i64, 0i128);
        for entry in entries {
            records += 1;
            ply = ply.min(entry.ply());
            z_sum += i64::from(entry.value_z());
            q_sum += i128::from(fixed(entry.value_q()));
            match source {
                PolicySource::Visits => {
                    entry.visits().for_each(|(mv, visits)| self.add(mv, i64::from(visits)))
                }
                PolicySource::SoftmaxCp => entry.scores().for_each(|(mv, cp)| self.add(mv, i64::from(cp))),
            }
        }
        let weight =
            u32::try_from(records).map_err(|_| Error::Weight(Box::new(Packed::from_bytes(*packed))))?;
        self.row.ply = ply;
        self.row.weight = weight;
        (self.row.value_z, self.row.value_q) = means(z_sum, q_sum, weight);
        let mover = if packed[SIDE] == 0 { Color::Black } else { Color::White };
        self.candidates(source, mover);
        Ok(&self.row)
    }

    fn add(&mut self, mv: u16, value: i64) {
        let sum = &mut self.sums[usize::from(mv) & (MOVES - 1)];
        if sum.records == 0 {
            self.touched.push(mv);
        }
        sum.sum += value;
        sum.records += 1;
    }

    /// Divides the sums and orders the candidates; leaves the tables empty.
    fn candidates(&mut self, source: PolicySource, mover: Color) {
        let out = &mut self.row.candidates;
        out.clear();
        let mut total = 0u64;
        if source == PolicySource::Visits {
            total = self.touched.iter().map(|&mv| self.sums[usize::from(mv)].sum.unsigned_abs()).sum();
        }
        for &mv in &self.touched {
            let MoveSum { sum, records } = std::mem::take(&mut self.sums[usize::from(mv)]);
            out.push(match source {
                PolicySource::Visits => {
                    RowCandidate { mv, cp: 0, prob: prob_of_visits(sum.unsigned_abs(), total) }
                }
                PolicySource::SoftmaxCp => RowCandidate { mv, cp: mean_cp(sum, records), prob: 0.0 },
            });
        }
        self.touched.clear();
        match source {
            PolicySource::Visits => {
                out.sort_unstable_by(|a, b| b.prob.total_cmp(&a.prob).then(a.mv.cmp(&b.mv)));
            }
            // Best for the mover first is descending in prob too.
            PolicySource::SoftmaxCp => {
                let policy = self.policy;
                out.sort_unstable_by_key(|c| (-i32::from(policy.for_mover(c.cp, mover)), c.mv));
            }
        }
    }
}

/// A root value as the integer that is summed.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "|value_q| <= 1: 61 bits hold it"
)]
fn fixed(value_q: f32) -> i64 {
    (f64::from(value_q) * VALUE_Q_ONE as f64).round() as i64
}

/// The means of outcome and root value: divided in f64, then cast to f32 (shards.md §4).
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "the specified casts")]
fn means(z_sum: i64, q_sum: i128, weight: u32) -> (f32, f32) {
    let weight = f64::from(weight);
    ((z_sum as f64 / weight) as f32, (q_sum as f64 / VALUE_Q_ONE as f64 / weight) as f32)
}

/// The mean of cp, rounded half away from zero so that it is symmetric in the point of view.
fn mean_cp(sum: i64, records: u32) -> i16 {
    let n = i64::from(records);
    let rounded = (2 * sum.abs() + n) / (2 * n);
    // The mean of i16 values lies between them.
    i16::try_from(sum.signum() * rounded).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cp_means_round_half_away_from_zero() {
        assert_eq!([mean_cp(3, 2), mean_cp(-3, 2), mean_cp(5, 2), mean_cp(-5, 2)], [2, -2, 3, -3]);
        assert_eq!([mean_cp(1, 3), mean_cp(-1, 3), mean_cp(2, 3), mean_cp(0, 9)], [0, 0, 1, 0]);
        assert_eq!(mean_cp(-32767 * 5, 5), -32767);
    }

    #[test]
    fn value_sums_do_not_depend_on_their_order() {
        // In floating point these sums would differ: 1 + 2^-60 - 1 in two orders.
        let sum = |values: [f32; 3]| values.iter().map(|&q| i128::from(fixed(q))).sum::<i128>();
        let tiny = 2f32.powi(-60);
        assert_eq!(sum([1.0, tiny, -1.0]), sum([-1.0, 1.0, tiny]));
        assert_eq!(sum([1.0, tiny, -1.0]), 1);
        assert_eq!(means(-2, sum([1.0, -0.5, 0.0]), 4), (-0.5, 0.125));
        assert_eq!(means(0, 0, 3).0.to_bits(), 0);
    }
}
