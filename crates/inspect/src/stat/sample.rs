//! How much comes twice: exact while few are different, then over a fixed share of the hash space.
//!
//! Hashes are kept with how often each came. When more than [`ROOM`] different ones are held, the range of hashes that
//! count is halved, and those outside are dropped. What is left is every occurrence of every hash in the range, so no
//! count in it is an estimate; only the step from the range to all of them is. The range depends on which hashes came and
//! not on their order, nor on the number of threads. A large set begins with a smaller range ([`halvings_for`]): most of
//! what a whole one would have held at first would have been dropped again.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Different hashes held at once; 16 bytes each with their table.
pub const ROOM: usize = 1 << 16;

/// Bytes of data, for each place in a sample, from which on it begins with half of the range. As a record is not longer
/// than some hundred bytes, enough of them are left to fill it, or nearly.
const BYTES_A_PLACE: u64 = 256;

/// The range that a sample of a set of this length on disk begins with: one in 2^halvings.
pub fn halvings_for(bytes: u64) -> u32 {
    (bytes / (ROOM as u64 * BYTES_A_PLACE)).max(1).ilog2()
}

/// The bit of a hash from which on it is looked at whether it is in the range: hash tables use those below and above.
const FIRST_BIT: u32 = 24;

/// Hashes need no hashing.
#[derive(Default)]
pub struct AsIs(u64);

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {}

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// Hashes of a range, with how often each came.
#[derive(Clone, Default)]
pub struct Sample {
    counts: HashMap<u64, u32, BuildHasherDefault<AsIs>>,
    /// The range is one in 2^halvings of all hashes.
    halvings: u32,
}

impl Sample {
    /// A sample that begins with a range of one in 2^halvings.
    pub fn of_one_in(halvings: u32) -> Self {
        Self { counts: HashMap::default(), halvings }
    }

    fn mask(&self) -> u64 {
        ((1 << self.halvings) - 1) << FIRST_BIT
    }

    /// Takes a hash, if it is in the range.
    #[inline]
    pub fn add(&mut self, hash: u64) {
        if hash & self.mask() == 0 {
            self.count(hash, 1);
        }
    }

    fn count(&mut self, hash: u64, times: u32) {
        let count = self.counts.entry(hash).or_insert(0);
        *count = count.saturating_add(times);
        while self.counts.len() > ROOM && self.halvings < 32 {
            self.halve(self.halvings + 1);
        }
    }

    fn halve(&mut self, halvings: u32) {
        self.halvings = halvings;
        let mask = self.mask();
        self.counts.retain(|hash, _| hash & mask == 0);
    }

    pub fn merge(&mut self, other: &Self) {
        if other.halvings > self.halvings {
            self.halve(other.halvings);
        }
        for (&hash, &times) in &other.counts {
            if hash & self.mask() == 0 {
                self.count(hash, times);
            }
        }
    }

    /// One in how many hashes is in the range; 1 when all of them are.
    pub const fn one_in(&self) -> u64 {
        1 << self.halvings
    }

    /// Different hashes in the range.
    pub fn different(&self) -> u64 {
        self.counts.len() as u64
    }

    /// Occurrences of hashes in the range.
    pub fn all(&self) -> u64 {
        self.counts.values().map(|&count| u64::from(count)).sum()
    }

    /// How often the most frequent one came.
    pub fn most(&self) -> u64 {
        self.counts.values().max().map_or(0, |&count| count.into())
    }

    /// The sum over different hashes of the squared number of further occurrences: what the spread of an estimate
    /// comes from.
    pub fn squares(&self, of: impl Fn(u64) -> f64) -> f64 {
        // Summed by count, so that the order in which a table is walked does not reach the last bit.
        let mut by_count: HashMap<u32, u64> = HashMap::new();
        for &count in self.counts.values() {
            *by_count.entry(count).or_insert(0) += 1;
        }
        let mut by_count: Vec<_> = by_count.into_iter().collect();
        by_count.sort_unstable();
        #[expect(clippy::cast_precision_loss, reason = "a figure of a report")]
        let sum = by_count.into_iter().map(|(count, n)| n as f64 * of(count.into()).powi(2)).sum();
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(i: u64) -> u64 {
        // splitmix64's finish.
        let z = (i ^ (i >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    #[test]
    fn a_sample_does_not_depend_on_order_or_parts_and_its_counts_are_exact() {
        // 400,000 hashes, those of multiples of 4 three times.
        let all: Vec<u64> =
            (1..=400_000u64).flat_map(|i| [hash(i * 7919)].repeat(if i % 4 == 0 { 3 } else { 1 })).collect();
        let of = |hashes: &[u64]| {
            let mut sample = Sample::default();
            hashes.iter().for_each(|&hash| sample.add(hash));
            sample
        };
        let whole = of(&all);
        assert_eq!(whole.one_in(), 8);
        assert!(whole.counts.values().all(|&count| count == 1 || count == 3));
        let share = 1.0 - whole.different() as f64 / whole.all() as f64;
        assert!((share - 1.0 / 3.0).abs() < 0.01, "{share}");
        let mut backward: Vec<u64> = all.clone();
        backward.reverse();
        assert_eq!(of(&backward).counts, whole.counts);
        let mut joined = of(&all[..100_001]);
        joined.merge(&of(&all[100_001..]));
        assert_eq!((joined.counts, joined.halvings), (whole.counts, whole.halvings));
    }
}
