//! The place of a row: a draw that depends on nothing in the row (shards.md §6).
//!
//! Rows stand by draw; equal draws, which 64 bits make rare, by slot and rank.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::ops::RangeInclusive;

/// Fixed, so that the same records give the same shards: the magic of the stream, read big-endian.
const SEED: u64 = 0x4D50_4B31;

/// The draws of one slot, in rank order: the u64 words of the ChaCha8 stream whose number is the slot.
pub struct Draws(ChaCha8Rng);

impl Draws {
    /// The draws of a slot, from rank 0.
    pub fn of_slot(slot: u32) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&SEED.to_le_bytes());
        let mut rng = ChaCha8Rng::from_seed(key);
        rng.set_stream(u64::from(slot));
        Self(rng)
    }

    /// The draw of the next rank.
    pub fn next(&mut self) -> u64 {
        self.0.next_u64()
    }
}

/// The spool of a draw when there are `spools` of them: each is a range of draws.
pub fn spool(draw: u64, spools: usize) -> usize {
    // The high half of the product scales the draw from [0, 2^64) to [0, spools).
    let scaled = (u128::from(draw) * spools as u128) >> 64;
    usize::try_from(scaled).unwrap_or(0)
}

/// The draws of a spool, both ends included.
pub fn range(at: usize, spools: usize) -> RangeInclusive<u64> {
    let first = |spool: usize| ((spool as u128) << 64).div_ceil(spools.max(1) as u128);
    let end = |bound: u128| u64::try_from(bound).unwrap_or(u64::MAX);
    end(first(at))..=end(first(at + 1) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_the_chacha8_words_of_the_specification() {
        // Computed with an independent ChaCha8: key 31 4b 50 4d 00…, stream 0 and 4095, ranks 0 to 2.
        let draws = |slot| {
            let mut draws = Draws::of_slot(slot);
            [draws.next(), draws.next(), draws.next()]
        };
        assert_eq!(draws(0), [0x41e32a43b00749a2, 0xc62633c25eaae605, 0x87a77fb6ed6af46a]);
        assert_eq!(draws(4095), [0xed93d0275396428d, 0x8bf31d8d41060b4e, 0xf568f6b4d9001958]);
    }

    #[test]
    fn spools_are_ranges_of_the_draw() {
        assert_eq!(spool(0, 7), 0);
        assert_eq!(spool(u64::MAX, 7), 6);
        assert_eq!(spool(1 << 63, 2), 1);
        assert_eq!(spool((1 << 63) - 1, 2), 0);
        for spools in [1, 2, 7, 430] {
            let mut next = Some(0);
            for at in 0..spools {
                let range = range(at, spools);
                assert_eq!(Some(*range.start()), next);
                assert_eq!([*range.start(), *range.end()].map(|draw| spool(draw, spools)), [at; 2]);
                next = range.end().checked_add(1);
            }
            assert_eq!(next, None);
        }
    }
}
