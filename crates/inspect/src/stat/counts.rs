//! Counts by value: exact for small values, in narrow steps above.

/// Values below this are counted one by one.
const EXACT: u64 = 1 << EXACT_BITS;
const EXACT_BITS: u32 = 10;
const EXACT_BINS: usize = 1 << EXACT_BITS;
/// Steps of each octave above: a value is off by less than one in 2^7, 0.8 percent.
const STEP_BITS: u32 = 7;

/// How often each value came. Sum, least and greatest are exact whatever the values are.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    bins: Vec<u64>,
    /// Of values that are not counted one by one: their sum, and the least and greatest.
    sum: u128,
    range: Option<(u64, u64)>,
}

/// The bin of a value.
#[expect(clippy::cast_possible_truncation, reason = "there are fewer than 2^14 bins")]
const fn bin_of(value: u64) -> usize {
    if value < EXACT {
        return value as usize;
    }
    let octave = value.ilog2();
    let step = value >> (octave - STEP_BITS) & ((1 << STEP_BITS) - 1);
    (EXACT + (((octave - EXACT_BITS) as u64) << STEP_BITS) + step) as usize
}

/// The least value of a bin.
#[expect(clippy::cast_possible_truncation, reason = "an octave of 64")]
const fn value_of(bin: usize) -> u64 {
    let bin = bin as u64;
    if bin < EXACT {
        return bin;
    }
    let (octave, step) = ((bin - EXACT) >> STEP_BITS, (bin - EXACT) & ((1 << STEP_BITS) - 1));
    let octave = octave as u32 + EXACT_BITS;
    (1 << octave) + (step << (octave - STEP_BITS))
}

impl Counts {
    /// Counts a value once.
    #[inline]
    pub fn add(&mut self, value: u64) {
        self.add_times(value, 1);
    }

    /// Counts a value several times.
    #[inline]
    pub fn add_times(&mut self, value: u64, times: u64) {
        if times == 0 {
            return;
        }
        let bin = bin_of(value);
        if bin >= self.bins.len() {
            self.bins.resize(bin + 1, 0);
        }
        self.bins[bin] += times;
        if value >= EXACT {
            self.sum += u128::from(value) * u128::from(times);
            self.reach(value, value);
        }
    }

    fn reach(&mut self, low: u64, high: u64) {
        let (least, greatest) = self.range.unwrap_or((low, high));
        self.range = Some((least.min(low), greatest.max(high)));
    }

    pub fn merge(&mut self, other: &Self) {
        if other.bins.len() > self.bins.len() {
            self.bins.resize(other.bins.len(), 0);
        }
        for (bin, more) in self.bins.iter_mut().zip(&other.bins) {
            *bin += more;
        }
        self.sum += other.sum;
        if let Some((low, high)) = other.range {
            self.reach(low, high);
        }
    }

    /// How many values were counted.
    pub fn total(&self) -> u64 {
        self.bins.iter().sum()
    }

    /// How often a value below 1024 came.
    pub fn of(&self, value: u64) -> u64 {
        self.bins.get(bin_of(value)).copied().unwrap_or(0)
    }

    /// How many values are above this one, which is below 1024.
    pub fn beyond(&self, value: u64) -> u64 {
        self.bins.iter().skip(bin_of(value) + 1).sum()
    }

    /// Values that are counted one by one and came, with how often.
    fn exact(&self) -> impl DoubleEndedIterator<Item = (u64, u64)> + '_ {
        self.bins
            .iter()
            .enumerate()
            .take(EXACT_BINS)
            .filter(|&(_, &n)| n > 0)
            .map(|(value, &n)| (value as u64, n))
    }

    pub fn sum(&self) -> u128 {
        self.sum + self.exact().map(|(value, n)| u128::from(value) * u128::from(n)).sum::<u128>()
    }

    pub fn least(&self) -> Option<u64> {
        self.exact().next().map(|(value, _)| value).or(self.range.map(|range| range.0))
    }

    pub fn greatest(&self) -> Option<u64> {
        self.range.map(|range| range.1).or_else(|| self.exact().next_back().map(|(value, _)| value))
    }

    /// The mean; `None` of nothing.
    #[expect(clippy::cast_precision_loss, reason = "a figure of a report")]
    pub fn mean(&self) -> Option<f64> {
        let total = self.total();
        (total > 0).then(|| self.sum() as f64 / total as f64)
    }

    /// The least value that at least `percent` of all are not above.
    pub fn percentile(&self, percent: u64) -> Option<u64> {
        let total = u128::from(self.total());
        let rank = (total * u128::from(percent)).div_ceil(100).max(1);
        let mut seen = 0u128;
        let bin = self.bins.iter().position(|&count| {
            seen += u128::from(count);
            seen >= rank
        })?;
        // The greatest value is known exactly, and so is the percentile that lies in its bin.
        let greatest = self.greatest()?;
        Some(if bin == bin_of(greatest) && seen == total && percent == 100 {
            greatest
        } else {
            value_of(bin)
        })
    }

    /// Values that came, with how often, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.bins
            .iter()
            .enumerate()
            .filter(|&(_, &count)| count > 0)
            .map(|(bin, &count)| (value_of(bin), count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_values_are_exact_and_large_ones_nearly() {
        let mut last = 0;
        for value in (0..5000).chain((13..64).flat_map(|bit| [(1u64 << bit) - 1, 1 << bit, (1 << bit) + 7])) {
            let bin = bin_of(value);
            assert!(bin >= last, "{value}");
            last = bin;
            let low = value_of(bin);
            assert!(low <= value && bin_of(low) == bin, "{value} {low}");
            assert!(value - low <= value >> STEP_BITS, "{value} {low}");
            assert!(value >= EXACT || low == value);
        }
    }

    #[test]
    fn the_figures_of_a_few_values_are_those_worked_out_by_hand() {
        let mut counts = Counts::default();
        for value in [3, 1, 4, 1, 5, 9, 2, 6] {
            counts.add(value);
        }
        assert_eq!((counts.total(), counts.sum(), counts.of(1), counts.beyond(4)), (8, 31, 2, 3));
        assert_eq!((counts.least(), counts.greatest(), counts.mean()), (Some(1), Some(9), Some(3.875)));
        // Sorted: 1 1 2 3 4 5 6 9.
        let percentiles = [1, 25, 26, 50, 51, 75, 99, 100].map(|p| counts.percentile(p).unwrap());
        assert_eq!(percentiles, [1, 1, 2, 3, 4, 5, 9, 9]);
        assert_eq!(Counts::default().percentile(50), None);
        let mut more = Counts::default();
        [1023, 1_000_001, 5000].into_iter().for_each(|value| more.add(value));
        counts.merge(&more);
        assert_eq!((counts.sum(), counts.least(), counts.greatest()), (1_006_055, Some(1), Some(1_000_001)));
        assert_eq!((more.least(), more.percentile(100)), (Some(1023), Some(1_000_001)));
    }
}
