//! The fold of one position's records into a row (shards.md §4). Sums are exact integers, so their order cannot matter.

use crate::entry::Entry;
use crate::error::{Error, Result};
use crate::policy::{Policy, prob_of_visits};
use crate::squeezed::Position;
use manaka_core::{Color, Packed, PolicySource};

/// `value_q` is summed as an integer of this many fractional bits: exact for all but the tiniest f32, and 2^32 of them
/// stay far below the range of i128.
const VALUE_Q_ONE: i64 = 1 << 60;

/// A folded row: what one line of a shard holds, but for `prob` of score rows, which follows from cp at the writer.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Row {
    pub ply: u16,
    pub weight: u32,
    /// The mean outcome; `None` where no record has one.
    pub value_z: Option<f32>,
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
    /// Records that listed it; in an unfinished sum it may pass what a weight can hold.
    records: u64,
}

/// Folds positions one after another; keeps its tables between them.
///
/// A position is begun, given its entries or sums that were written out before, and ended as a row or as a sum.
pub struct Folder<'a> {
    policy: &'a Policy,
    /// One sum per move16 value: a position met a million times costs no more than one met twice.
    sums: Vec<MoveSum>,
    touched: Vec<u16>,
    records: u64,
    ply: u16,
    /// Records that have an outcome, and the sum of these.
    outcomes: u64,
    z_sum: i64,
    q_sum: i128,
    excluded: bool,
    row: Row,
}

/// How a position ended.
pub enum Folded<'a> {
    /// As a row.
    Row(&'a Row),
    /// Left out, with this many records; none when the exclusion met nothing.
    Excluded(u64),
}

/// move16 values have bit 15 clear.
const MOVES: usize = 1 << 15;

impl<'a> Folder<'a> {
    pub fn new(policy: &'a Policy) -> Self {
        Self {
            policy,
            sums: vec![MoveSum::default(); MOVES],
            touched: Vec::new(),
            records: 0,
            ply: u16::MAX,
            outcomes: 0,
            z_sum: 0,
            q_sum: 0,
            excluded: false,
            row: Row::default(),
        }
    }

    /// Adds one entry of the position.
    pub fn add(&mut self, entry: &Entry<'_>) {
        if entry.is_exclusion() {
            self.excluded = true;
            return;
        }
        self.records += 1;
        self.ply = self.ply.min(entry.ply());
        if let Some(outcome) = entry.outcome() {
            self.outcomes += 1;
            self.z_sum += i64::from(outcome);
        }
        self.q_sum += i128::from(fixed(entry.value_q()));
        match self.policy.conventions().policy_source {
            PolicySource::Visits => {
                entry.visits().for_each(|(mv, visits)| self.add_move(mv, i64::from(visits), 1))
            }
            PolicySource::SoftmaxCp => {
                entry.scores().for_each(|(mv, cp)| self.add_move(mv, i64::from(cp), 1))
            }
        }
    }

    fn add_move(&mut self, mv: u16, value: i64, records: u64) {
        let sum = &mut self.sums[usize::from(mv) & (MOVES - 1)];
        if sum.records == 0 {
            self.touched.push(mv);
        }
        sum.sum += value;
        sum.records += records;
    }

    /// Ends the position as a row; the folder is empty again.
    ///
    /// # Errors
    /// [`Error::Weight`] above `u32::MAX` records.
    pub fn finish(&mut self, position: Position<'_>) -> Result<Folded<'_>> {
        if self.excluded {
            let records = self.records;
            self.forget();
            return Ok(Folded::Excluded(records));
        }
        let weight = u32::try_from(self.records)
            .map_err(|_| Error::Weight(Box::new(Packed::from_bytes(position.packed()))))?;
        self.row.ply = self.ply;
        self.row.weight = weight;
        self.row.value_z = mean_outcome(self.z_sum, self.outcomes);
        self.row.value_q = mean_value(self.q_sum, weight);
        self.candidates(position.mover());
        self.forget();
        Ok(Folded::Row(&self.row))
    }

    /// Ends the position as a sum that [`Folder::add_sum`] takes up again; the folder is empty again.
    ///
    /// ```text
    /// excluded u8 | records u64 | ply u16 | outcomes u64 | z_sum i64 | q_sum i128 | n u16 | position
    ///   | n × (mv u16, sum i64, records u64)
    /// ```
    pub fn finish_sum(&mut self, position: Position<'_>, out: &mut Vec<u8>) {
        out.push(u8::from(self.excluded));
        out.extend_from_slice(&self.records.to_le_bytes());
        out.extend_from_slice(&self.ply.to_le_bytes());
        out.extend_from_slice(&self.outcomes.to_le_bytes());
        out.extend_from_slice(&self.z_sum.to_le_bytes());
        out.extend_from_slice(&self.q_sum.to_le_bytes());
        let n = u16::try_from(self.touched.len()).unwrap_or(u16::MAX);
        out.extend_from_slice(&n.to_le_bytes());
        out.extend_from_slice(position.bytes());
        for &mv in &self.touched {
            let MoveSum { sum, records } = self.sums[usize::from(mv)];
            out.extend_from_slice(&mv.to_le_bytes());
            out.extend_from_slice(&sum.to_le_bytes());
            out.extend_from_slice(&records.to_le_bytes());
        }
        self.forget();
    }

    /// Adds a sum of the position that was written out before.
    pub fn add_sum(&mut self, sum: &Sum<'_>) {
        self.excluded |= sum.excluded();
        self.records += sum.records();
        self.ply = self.ply.min(sum.ply());
        self.outcomes += sum.outcomes();
        self.z_sum += sum.z_sum();
        self.q_sum += sum.q_sum();
        for (mv, value, records) in sum.moves() {
            self.add_move(mv, value, records);
        }
    }

    fn forget(&mut self) {
        for mv in self.touched.drain(..) {
            self.sums[usize::from(mv)] = MoveSum::default();
        }
        (self.records, self.ply, self.excluded) = (0, u16::MAX, false);
        (self.outcomes, self.z_sum, self.q_sum) = (0, 0, 0);
    }

    /// Divides the sums and orders the candidates.
    fn candidates(&mut self, mover: Color) {
        let source = self.policy.conventions().policy_source;
        let out = &mut self.row.candidates;
        out.clear();
        let total: u64 = match source {
            PolicySource::Visits => {
                self.touched.iter().map(|&mv| self.sums[usize::from(mv)].sum.unsigned_abs()).sum()
            }
            PolicySource::SoftmaxCp => 0,
        };
        for &mv in &self.touched {
            let MoveSum { sum, records } = self.sums[usize::from(mv)];
            out.push(match source {
                PolicySource::Visits => {
                    RowCandidate { mv, cp: 0, prob: prob_of_visits(sum.unsigned_abs(), total) }
                }
                PolicySource::SoftmaxCp => RowCandidate { mv, cp: mean_cp(sum, records), prob: 0.0 },
            });
        }
        order(out, self.policy, mover);
    }
}

/// Puts the candidates of a row in their order (shards.md §5).
fn order(candidates: &mut [RowCandidate], policy: &Policy, mover: Color) {
    match policy.conventions().policy_source {
        PolicySource::Visits => {
            candidates.sort_unstable_by(|a, b| b.prob.total_cmp(&a.prob).then(a.mv.cmp(&b.mv)));
        }
        PolicySource::SoftmaxCp => {
            candidates.sort_unstable_by_key(|c| score_key(policy, mover, c.mv, c.cp));
        }
    }
}

/// Makes `row` the row of a position with one entry, of a record: what adding it to an empty [`Folder`] and finishing gives, without its
/// tables.
pub fn of_one(entry: &Entry<'_>, policy: &Policy, row: &mut Row) {
    row.ply = entry.ply();
    row.weight = 1;
    row.value_z = entry.outcome().map(f32::from);
    row.value_q = single_value(entry.value_q());
    row.candidates.clear();
    match policy.conventions().policy_source {
        PolicySource::Visits => {
            let total = entry.visits().map(|(_, visits)| u64::from(visits)).sum();
            row.candidates.extend(entry.visits().map(|(mv, visits)| RowCandidate {
                mv,
                cp: 0,
                prob: prob_of_visits(u64::from(visits), total),
            }));
        }
        PolicySource::SoftmaxCp => {
            row.candidates.extend(entry.scores().map(|(mv, cp)| RowCandidate { mv, cp, prob: 0.0 }));
        }
    }
    order(&mut row.candidates, policy, entry.position().mover());
}

/// The mean root value of a position with one entry, where its candidates are those of its row: a score entry that lists its
/// moves in the order of a row, as engines do. `None` otherwise. What [`of_one`] gives, in a fraction of the time.
pub fn as_it_is(entry: &Entry<'_>, policy: &Policy) -> Option<f32> {
    if policy.conventions().policy_source == PolicySource::Visits {
        return None;
    }
    let mover = entry.position().mover();
    let ordered = entry.scores().is_sorted_by_key(|(mv, cp)| score_key(policy, mover, mv, cp));
    ordered.then(|| single_value(entry.value_q()))
}

/// What orders candidates: best for the mover first, which is descending in prob too.
fn score_key(policy: &Policy, mover: Color, mv: u16, cp: i16) -> i64 {
    -i64::from(policy.for_mover(cp, mover)) << 16 | i64::from(mv)
}

const SUM_HEAD: usize = 1 + 8 + 2 + 8 + 8 + 16 + 2;
const SUM_MOVE: usize = 2 + 8 + 8;

/// A sum where it lies; written by [`Folder::finish_sum`].
#[derive(Clone, Copy)]
pub struct Sum<'a> {
    head: &'a [u8; SUM_HEAD],
    position: Position<'a>,
    moves: &'a [[u8; SUM_MOVE]],
}

impl<'a> Sum<'a> {
    /// The sum at the start of `bytes`; `None` when they do not hold a whole one.
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        let (head, rest) = bytes.split_first_chunk::<SUM_HEAD>()?;
        let n = usize::from(u16::from_le_bytes([head[SUM_HEAD - 2], head[SUM_HEAD - 1]]));
        let position = Position::read(rest)?;
        Some(Self { head, position, moves: position.rest().get(..n * SUM_MOVE)?.as_chunks().0 })
    }

    pub fn len(&self) -> usize {
        SUM_HEAD + self.position.bytes().len() + self.moves.len() * SUM_MOVE
    }

    pub const fn position(&self) -> Position<'a> {
        self.position
    }

    /// `N` bytes of the head at `at` behind the position.
    fn field<const N: usize>(&self, at: usize) -> [u8; N] {
        self.head[at..].first_chunk().copied().unwrap_or([0; N])
    }

    fn excluded(&self) -> bool {
        self.field::<1>(0) != [0]
    }

    fn records(&self) -> u64 {
        u64::from_le_bytes(self.field(1))
    }

    fn ply(&self) -> u16 {
        u16::from_le_bytes(self.field(9))
    }

    fn outcomes(&self) -> u64 {
        u64::from_le_bytes(self.field(11))
    }

    fn z_sum(&self) -> i64 {
        i64::from_le_bytes(self.field(19))
    }

    fn q_sum(&self) -> i128 {
        i128::from_le_bytes(self.field(27))
    }

    fn moves(&self) -> impl Iterator<Item = (u16, i64, u64)> + use<'a> {
        self.moves.iter().map(|m| {
            let [a, b, rest @ ..] = m;
            let (sum, records) = rest.as_chunks::<8>().0.split_at(1);
            (u16::from_le_bytes([*a, *b]), i64::from_le_bytes(sum[0]), u64::from_le_bytes(records[0]))
        })
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

/// The mean of one root value: itself, but for those whose least bits the sum does not hold.
fn single_value(value_q: f32) -> f32 {
    // An f32 has 24 bits, so all of these are multiples of 2^-60.
    const WHOLE: f32 = 1.0 / (1u64 << 36) as f32;
    if value_q.abs() >= WHOLE { value_q } else { mean_value(i128::from(fixed(value_q)), 1) }
}

/// The mean over the records that have an outcome, if one has: divided in f64, then cast to f32 (shards.md §4).
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "the specified casts")]
fn mean_outcome(z_sum: i64, outcomes: u64) -> Option<f32> {
    (outcomes > 0).then(|| (z_sum as f64 / outcomes as f64) as f32)
}

/// The mean of root values: divided in f64, then cast to f32 (shards.md §4).
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "the specified casts")]
fn mean_value(q_sum: i128, weight: u32) -> f32 {
    (q_sum as f64 / VALUE_Q_ONE as f64 / f64::from(weight)) as f32
}

/// The mean of cp, rounded half away from zero so that it is symmetric in the point of view.
fn mean_cp(sum: i64, records: u64) -> i16 {
    // A row's records fit a u32; `finish` has seen to it.
    let n = i64::try_from(records).unwrap_or(i64::MAX);
    let rounded = (2 * sum.abs() + n) / (2 * n);
    // The mean of i16 values lies between them.
    i16::try_from(sum.signum() * rounded).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry;
    use manaka_core::conventions::{NO_CP, NO_OUTCOME, NO_VISITS};
    use manaka_core::stream::{Candidate, Record, RecordRef};
    use manaka_core::{Conventions, Move16, Pov};
    use proptest::prelude::*;

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
        assert_eq!(mean_value(sum([1.0, -0.5, 0.0]), 4), 0.125);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_mean_of_one_value_is_computed_as_any_mean(bits in any::<u32>(), near in -4i32..4) {
            let whole = (1.0 / (1u64 << 36) as f32).to_bits().wrapping_add_signed(near);
            for value in [f32::from_bits(bits), f32::from_bits(whole), -f32::from_bits(whole), 0.0, -0.0, 1.0, -1.0] {
                if value.abs() <= 1.0 {
                    let mean = mean_value(i128::from(fixed(value)), 1);
                    prop_assert_eq!(single_value(value).to_bits(), mean.to_bits(), "{}", value);
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_row_of_one_entry_is_the_row_of_a_folder_that_has_added_it(
            moves in prop::collection::btree_map(0u16..2000, (1u32..50, -300i16..300), 1..20),
            (z, q, ply, white) in (prop::option::of(-1i8..=1), -1f32..=1.0, any::<u16>(), any::<bool>()),
            from_visits in any::<bool>(),
            pov in prop::sample::select(&[Pov::SideToMove, Pov::Black][..]),
        ) {
            let conventions = match from_visits {
                true => Conventions { pov, ..Conventions::VISITS },
                false => Conventions { pov, ..Conventions::TEACHER },
            };
            let policy = Policy::new(conventions, 100.0).unwrap();
            let mut packed = Packed::empty();
            packed.as_bytes_mut()[95] = u8::from(white);
            // In another order than that of a row.
            let candidates = moves.iter().map(|(&mv, &(visits, cp))| match from_visits {
                true => Candidate { mv: Move16::from_bits(mv), visits, cp: NO_CP },
                false => Candidate { mv: Move16::from_bits(mv), visits: NO_VISITS, cp },
            });
            let value_z = z.map_or(NO_OUTCOME, f32::from);
            let record = Record { ply, value_z, value_q: q, packed, candidates: candidates.collect() };
            let (mut bytes, mut item) = (Vec::new(), Vec::new());
            record.encode(&mut bytes).unwrap();
            let record = RecordRef::frame(&bytes).unwrap();
            entry::push(&record, 0, conventions.policy_source, &mut item);
            let entry = Entry::read(&item, conventions.policy_source).unwrap();
            let mut row = Row::default();
            of_one(&entry, &policy, &mut row);
            let mut folder = Folder::new(&policy);
            folder.add(&entry);
            match folder.finish(entry.position()).unwrap() {
                Folded::Row(folded) => {
                    prop_assert_eq!(&row, folded);
                    let as_it_is = as_it_is(&entry, &policy);
                    let ordered = row.candidates.iter().map(|c| (c.mv, c.cp)).eq(entry.scores());
                    prop_assert_eq!(as_it_is, (!from_visits && ordered).then_some(row.value_q));
                }
                Folded::Excluded(_) => prop_assert!(false),
            }
        }
    }

    #[test]
    fn the_mean_outcome_is_that_of_the_records_that_have_one() {
        assert_eq!(mean_outcome(-2, 4), Some(-0.5));
        assert_eq!(mean_outcome(0, 3).map(f32::to_bits), Some(0));
        assert_eq!(mean_outcome(0, 0), None);
    }
}
