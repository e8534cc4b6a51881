//! A uniform sample of a run whose length is not known, in one pass.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// The lines with the least draws so far. Item number *n* of the run has the u64 number *n* of the ChaCha8 stream 0 whose
/// key begins with the seed, little-endian, and is zero else; of equal draws the lower number is the lesser. So the sample
/// depends on the seed and on the run alone, and every set of `count` items is as likely as any other.
pub struct Sample {
    count: usize,
    draws: ChaCha8Rng,
    /// By draw, the greatest first.
    kept: BinaryHeap<Kept>,
}

/// Ordered by its first two fields, for numbers differ.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Kept {
    draw: u64,
    number: u64,
    line: Vec<u8>,
}

impl Sample {
    pub fn new(count: usize, seed: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        Self { count, draws: ChaCha8Rng::from_seed(key), kept: BinaryHeap::new() }
    }

    /// Offers the next item, which `print` writes when it belongs to the sample, so far.
    #[inline]
    pub fn offer(&mut self, number: u64, print: impl FnOnce(&mut Vec<u8>)) {
        let draw = self.draws.next_u64();
        let mut line = Vec::new();
        if self.kept.len() >= self.count {
            match self.kept.peek_mut() {
                Some(greatest) if (draw, number) < (greatest.draw, greatest.number) => {
                    line = PeekMut::pop(greatest).line;
                }
                _ => return,
            }
        }
        line.clear();
        print(&mut line);
        self.kept.push(Kept { draw, number, line });
    }

    /// Its lines, in the order of the run.
    pub fn in_order(self) -> impl Iterator<Item = Vec<u8>> {
        let mut kept = self.kept.into_vec();
        kept.sort_unstable_by_key(|kept| kept.number);
        kept.into_iter().map(|kept| kept.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampled(items: u64, count: usize, seed: u64) -> Vec<u64> {
        let mut sample = Sample::new(count, seed);
        for number in 0..items {
            sample.offer(number, |line| line.extend_from_slice(&number.to_le_bytes()));
        }
        sample.in_order().map(|line| u64::from_le_bytes(line.try_into().unwrap())).collect()
    }

    #[test]
    fn it_is_in_order_without_repeats_and_all_there_is_when_that_is_less() {
        let lines = sampled(1000, 30, 7);
        assert_eq!(lines.len(), 30);
        assert!(lines.is_sorted_by(|a, b| a < b));
        assert_eq!(lines, sampled(1000, 30, 7));
        assert_ne!(lines, sampled(1000, 30, 8));
        assert_eq!(sampled(5, 30, 7), [0, 1, 2, 3, 4]);
        assert!(sampled(5, 0, 7).is_empty());
        assert!(sampled(0, 3, 7).is_empty());
    }

    #[test]
    fn it_has_the_least_draws_of_the_whole_run() {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&77u64.to_le_bytes());
        let mut rng = ChaCha8Rng::from_seed(key);
        let mut draws: Vec<(u64, u64)> = (0..500).map(|number| (rng.next_u64(), number)).collect();
        draws.sort_unstable();
        let mut expected: Vec<u64> = draws[..40].iter().map(|&(_, number)| number).collect();
        expected.sort_unstable();
        assert_eq!(sampled(500, 40, 77), expected);
    }

    /// 4000 samples of 5 out of 40: each item is expected 500 times, each pair of neighbours about 51 times.
    #[test]
    fn every_item_is_as_likely_as_any_other() {
        let (mut seen, mut pairs) = ([0u32; 40], [0u32; 39]);
        for seed in 0..4000 {
            let sample = sampled(40, 5, seed);
            for &number in &sample {
                seen[usize::try_from(number).unwrap()] += 1;
            }
            for pair in sample.windows(2).filter(|pair| pair[0] + 1 == pair[1]) {
                pairs[usize::try_from(pair[0]).unwrap()] += 1;
            }
        }
        let chi = |counts: &[u32], expected: f64| -> f64 {
            counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum()
        };
        // Drawn without replacement, counts vary less than independent ones: by 35/39 of it.
        let figure = chi(&seen, 500.0) / (35.0 / 39.0);
        // 39 degrees of freedom: 72.05 is passed once in a thousand. The seeds are fixed.
        assert!(figure < 72.05, "{figure}");
        assert!(figure > 15.0, "{figure}");
        let pair = 4000.0 * (5.0 * 4.0) / (40.0 * 39.0);
        // 38 degrees of freedom, about.
        assert!(chi(&pairs, pair) < 70.7, "{}", chi(&pairs, pair));
    }
}
