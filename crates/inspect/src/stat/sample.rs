//! How much comes twice: exact while few are different, then over a fixed share of the hash space.
//!
//! Hashes are kept with how often each came. When more than [`ROOM`] different ones are held, the range of hashes that
//! count is halved, and those outside are dropped. What is left is every occurrence of every hash in the range, so no
//! count in it is an estimate; only the step from the range to all of them is. The range depends on which hashes came and
//! not on their order, nor on the number of threads. A large set begins with a smaller range ([`halvings_for`]): most of
//! what a whole one would have held at first would have been dropped again.
//!
//! Hashes that came are noted one behind the other, and sorted into the others when there are many of them: a hash table of
//! this size would miss the caches on each.

/// Different hashes held at once, 16 bytes each, and as many noted ones of 8.
pub const ROOM: usize = 1 << 16;

/// Bytes of data, for each place in a sample, from which on it begins with half of the range. As a record is not longer
/// than some hundred bytes, enough of them are left to fill it, or nearly.
const BYTES_A_PLACE: u64 = 256;

/// The range that a sample of a set of this length on disk begins with: one in 2^halvings.
pub fn halvings_for(bytes: u64) -> u32 {
    (bytes / (ROOM as u64 * BYTES_A_PLACE)).max(1).ilog2()
}

/// The bit of a hash from which on it is looked at whether it is in the range.
const FIRST_BIT: u32 = 24;

/// Hashes of a range, with how often each came.
#[derive(Clone, Default)]
pub struct Sample {
    /// Ascending by hash.
    counts: Vec<(u64, u32)>,
    /// Not yet among the counts.
    noted: Vec<u64>,
    /// The range is one in 2^halvings of all hashes.
    halvings: u32,
}

impl Sample {
    /// A sample that begins with a range of one in 2^halvings.
    pub const fn of_one_in(halvings: u32) -> Self {
        Self { counts: Vec::new(), noted: Vec::new(), halvings }
    }

    /// Takes a hash, if it is in the range.
    #[inline]
    pub fn add(&mut self, hash: u64) {
        if in_range(hash, self.halvings) {
            self.noted.push(hash);
            if self.noted.len() == ROOM {
                self.settle();
            }
        }
    }

    /// Counts what was noted.
    pub fn settle(&mut self) {
        let mut noted = std::mem::take(&mut self.noted);
        noted.sort_unstable();
        let counted = noted
            .chunk_by(|a, b| a == b)
            .map(|same| (same[0], u32::try_from(same.len()).unwrap_or(u32::MAX)));
        self.take(counted);
        noted.clear();
        self.noted = noted;
    }

    /// Takes counts, ascending by hash.
    fn take(&mut self, more: impl Iterator<Item = (u64, u32)>) {
        let old = std::mem::take(&mut self.counts);
        self.counts.reserve(old.len() + more.size_hint().0);
        let (mut old, mut more) = (old.into_iter().peekable(), more.peekable());
        loop {
            let next = match (old.peek(), more.peek()) {
                (Some(a), Some(b)) if a.0 <= b.0 => old.next(),
                (Some(_), None) => old.next(),
                _ => more.next(),
            };
            let Some((hash, times)) = next else { break };
            match self.counts.last_mut() {
                Some((last, count)) if *last == hash => *count = count.saturating_add(times),
                _ => self.counts.push((hash, times)),
            }
        }
        while self.counts.len() > ROOM && self.halvings < 32 {
            self.halve(self.halvings + 1);
        }
    }

    fn halve(&mut self, halvings: u32) {
        self.halvings = halvings;
        self.counts.retain(|&(hash, _)| in_range(hash, halvings));
    }

    pub fn merge(&mut self, other: &Self) {
        self.settle();
        let other = other.settled();
        if other.halvings > self.halvings {
            self.halve(other.halvings);
        }
        let halvings = self.halvings;
        self.take(other.counts.into_iter().filter(|&(hash, _)| in_range(hash, halvings)));
    }

    /// What it holds, all counted.
    pub fn settled(&self) -> Settled {
        let mut all = self.clone();
        all.settle();
        Settled { counts: all.counts, halvings: all.halvings }
    }
}

/// Whether a hash is in the range of one in 2^halvings.
const fn in_range(hash: u64, halvings: u32) -> bool {
    hash & (((1 << halvings) - 1) << FIRST_BIT) == 0
}

/// A sample that is whole.
#[derive(PartialEq, Eq, Debug)]
pub struct Settled {
    counts: Vec<(u64, u32)>,
    halvings: u32,
}

impl Settled {
    /// One in how many hashes is in the range; 1 when all of them are.
    pub const fn one_in(&self) -> u64 {
        1 << self.halvings
    }

    /// Different hashes in the range.
    pub const fn different(&self) -> u64 {
        self.counts.len() as u64
    }

    /// How often each hash came.
    fn times(&self) -> impl Iterator<Item = u64> + '_ {
        self.counts.iter().map(|&(_, count)| count.into())
    }

    /// Occurrences of hashes in the range.
    pub fn all(&self) -> u64 {
        self.times().sum()
    }

    /// How often the most frequent one came.
    pub fn most(&self) -> u64 {
        self.times().max().unwrap_or(0)
    }

    /// The sum over different hashes of the squared number of further occurrences: what the spread of an estimate
    /// comes from.
    pub fn squares(&self, of: impl Fn(u64) -> f64) -> f64 {
        self.times().map(|count| of(count).powi(2)).sum()
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
        let whole = of(&all).settled();
        assert_eq!(whole.one_in(), 8);
        assert!(whole.times().all(|count| count == 1 || count == 3));
        let share = 1.0 - whole.different() as f64 / whole.all() as f64;
        assert!((share - 1.0 / 3.0).abs() < 0.01, "{share}");
        let mut backward: Vec<u64> = all.clone();
        backward.reverse();
        assert_eq!(of(&backward).settled(), whole);
        let mut joined = of(&all[..100_001]);
        joined.merge(&of(&all[100_001..]));
        assert_eq!(joined.settled(), whole);
    }
}
