//! Where a position belongs: its hash, its slot, its bucket (shards.md §6).

use manaka_core::packed::PACKED_LEN;
use std::ops::RangeInclusive;
use xxhash_rust::xxh3::xxh3_128;

/// Fixed slots the hash space is cut into. The row order depends on them, buckets and spools do not reach it.
pub const SLOTS: u32 = 4096;

/// The 128-bit hash of a position's bytes: XXH3 with seed 0.
#[must_use]
pub fn hash(packed: &[u8; PACKED_LEN]) -> u128 {
    xxh3_128(packed)
}

/// What orders positions: hash, then bytes.
pub fn whole(packed: &[u8; PACKED_LEN]) -> (u128, [u8; PACKED_LEN]) {
    (hash(packed), *packed)
}

/// Bits of the key a position is sorted by. Positions whose keys are equal are told apart by what they are; among a billion, one in
/// a thousand is.
const KEY_BITS: u32 = 40;

/// The slot of a hash: its top 12 bits.
pub const fn slot(hash: u128) -> u32 {
    slot_of_key(sort_key(hash))
}

/// The key a position is sorted by: the top 40 bits of its hash.
pub const fn sort_key(hash: u128) -> u64 {
    (hash >> (u128::BITS - KEY_BITS)) as u64
}

/// The slot of a hash whose sort key is known.
#[expect(clippy::cast_possible_truncation, reason = "12 bits remain")]
pub const fn slot_of_key(key: u64) -> u32 {
    (key >> (KEY_BITS - SLOTS.trailing_zeros())) as u32
}

/// The bucket of a slot when there are `buckets` of them, at most one a slot: each is a run of whole slots.
pub const fn bucket(slot: u32, buckets: u32) -> usize {
    (slot * buckets / SLOTS) as usize
}

/// The sort keys of a bucket, both ends included.
pub fn range(bucket: usize, buckets: usize) -> RangeInclusive<u64> {
    let slots = u64::from(SLOTS);
    // The first slot of a bucket: as many before it as there are shares of earlier buckets, rounded up.
    let first = |bucket: usize| (bucket as u64 * slots).div_ceil(buckets.max(1) as u64);
    let width = KEY_BITS - SLOTS.trailing_zeros();
    (first(bucket) << width)..=(first(bucket + 1) << width).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_holds_the_keys_of_its_slots() {
        for buckets in [1, 2, 3, 100, 256, 4095, 4096] {
            let mut next = 0;
            for bucket_at in 0..buckets as usize {
                let range = range(bucket_at, buckets as usize);
                assert_eq!(*range.start(), next);
                for key in [*range.start(), *range.end()] {
                    assert_eq!(bucket(slot_of_key(key), buckets), bucket_at);
                }
                next = range.end() + 1;
            }
            assert_eq!(next, 1 << KEY_BITS);
        }
    }
}
