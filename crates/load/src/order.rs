//! The rows of one set in an epoch: the order of row groups, and the part of a rank (loading.md §4 and §5).

use crate::options::{LastBatch, Options, Order};
use crate::set::GroupPlace;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::ops::Range;

/// What draws are made for; the last byte of the generator's key, so that no two uses share numbers.
#[derive(Clone, Copy)]
pub enum Use {
    Order = 0,
    Mirror = 1,
}

/// The generator of a use in an epoch: ChaCha8 keyed by seed, epoch, pass, set and use (loading.md §4).
pub fn generator(seed: u64, epoch: u64, pass: u64, set: u32, what: Use) -> ChaCha8Rng {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(&epoch.to_le_bytes());
    key[16..24].copy_from_slice(&pass.to_le_bytes());
    key[24..28].copy_from_slice(&set.to_le_bytes());
    key[31] = what as u8;
    ChaCha8Rng::from_seed(key)
}

/// A set's row groups in the order of one pass over it.
pub struct Pass {
    /// Numbers of groups.
    pub order: Vec<usize>,
    /// Rows in front of each group of the order, and in all.
    pub starts: Vec<u64>,
}

impl Pass {
    pub fn new(groups: &[GroupPlace], order: Order, generator: impl FnOnce() -> ChaCha8Rng) -> Self {
        let mut numbers: Vec<usize> = (0..groups.len()).collect();
        if order == Order::ShuffledGroups {
            let mut draws = generator();
            // Fisher and Yates, from the back; a draw below n is the upper half of n times 64 random bits.
            for last in (1..numbers.len()).rev() {
                let product = u128::from(draws.next_u64()) * (last as u128 + 1);
                numbers.swap(last, usize::try_from(product >> 64).unwrap_or(last));
            }
        }
        let mut starts = Vec::with_capacity(numbers.len() + 1);
        let mut rows = 0;
        for &number in &numbers {
            starts.push(rows);
            rows += groups[number].rows;
        }
        starts.push(rows);
        Self { order: numbers, starts }
    }

    /// The place in the order of the group that holds a row of the pass.
    pub fn group_of(&self, row: u64) -> usize {
        self.starts.partition_point(|&start| start <= row).saturating_sub(1)
    }
}

/// The rows of a pass of `rows` rows that a rank delivers (loading.md §5).
pub fn part(rows: u64, options: &Options) -> Range<u64> {
    let (rank, world) = (u128::from(options.rank), u128::from(options.world_size));
    let cut = |rank: u128| u64::try_from(u128::from(rows) * rank / world).unwrap_or(rows);
    let part = cut(rank)..cut(rank + 1);
    match options.last_batch {
        LastBatch::Deliver => part,
        // Parts differ by one row; without it every rank has as many.
        LastBatch::Drop => part.start..part.start + rows / u64::from(options.world_size),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers are those of tests/oracle/oracle/loading.py, which has a ChaCha of its own.
    #[test]
    fn draws_are_those_of_the_specification() {
        let groups: Vec<GroupPlace> = (0..9)
            .map(|index| GroupPlace { shard: 0, index, first_row: 0, rows: 1 + index as u64 })
            .collect();
        let order = |epoch, pass, set| {
            Pass::new(&groups, Order::ShuffledGroups, || generator(1, epoch, pass, set, Use::Order)).order
        };
        assert_eq!(order(0, 0, 0), [8, 1, 7, 0, 4, 6, 5, 2, 3]);
        assert_eq!(order(3, 0, 0), [2, 7, 1, 3, 6, 5, 8, 0, 4]);
        assert_eq!(order(3, 2, 1), [6, 2, 5, 0, 3, 4, 7, 8, 1]);
        for (group, bits) in [(0, 0x02_0DEA), (1, 0x04_F7A4), (2, 0x6B_4AD5)] {
            let mut draws = generator(5, 2, 0, 0, Use::Mirror);
            draws.set_stream(group);
            assert_eq!(draws.next_u64() & 0xFF_FFFF, bits);
        }
        let pass = Pass::new(&groups, Order::AsWritten, || generator(0, 0, 0, 0, Use::Order));
        assert_eq!((pass.starts[0], pass.starts[1], pass.starts[9]), (0, 1, 45));
        assert_eq!([0, 1, 2, 3, 44].map(|row| pass.group_of(row)), [0, 1, 1, 2, 8]);
    }
}
