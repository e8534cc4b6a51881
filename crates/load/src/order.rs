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
