//! Items of chunks in the order of their keys; and looking ahead at them.
//!
//! Hashes and draws are spread evenly, so one pass over the keys puts nearly every item into a pocket of its own.

use std::mem::MaybeUninit;
use std::ops::RangeInclusive;

/// An item of some chunks: its key and where it lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Item {
    pub key: u64,
    pub chunk: u32,
    pub offset: u32,
}

impl Item {
    /// The bytes from the item to the end of its chunk.
    pub fn bytes(self, chunks: &[Vec<u8>]) -> &[u8] {
        chunks.get(self.chunk as usize).and_then(|chunk| chunk.get(self.offset as usize..)).unwrap_or(&[])
    }
}

/// Asks for the memory of an item that is wanted soon, and of as many bytes behind its start.
#[inline]
pub fn prefetch(item: Item, len: usize, chunks: &[Vec<u8>]) {
    let bytes = item.bytes(chunks);
    for at in (0..bytes.len().min(len)).step_by(64) {
        prefetch_line(&bytes[at]);
    }
}

/// Asks for memory that is written to soon.
#[inline]
pub fn prefetch_to_write(room: &[MaybeUninit<u8>]) {
    #[cfg(target_arch = "x86_64")]
    for byte in room.iter().step_by(64) {
        use std::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
        // SAFETY: a prefetch neither reads nor writes: it may be given any address, and this one is of a byte that exists.
        unsafe { _mm_prefetch(std::ptr::from_ref(byte).cast(), _MM_HINT_ET0) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = room;
}

#[inline]
fn prefetch_line(byte: &u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch neither reads nor writes: it may be given any address, and this one is of a byte that exists.
        unsafe { _mm_prefetch(std::ptr::from_ref(byte).cast(), _MM_HINT_T0) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = byte;
}

/// Sorts items; keeps its tables between sorts.
#[derive(Default)]
pub struct Sorter {
    found: Vec<Item>,
    sorted: Vec<Item>,
    ends: Vec<u32>,
}

impl Sorter {
    /// The items of the chunks by key; equal keys in the order in which they come. `step` gives the key and the length of the
    /// item at the start of some bytes. Keys are spread over `range`; one outside costs time and nothing else.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a chunk is handed over long before 4 GiB, there are far fewer than 2^32; a pocket is a usize"
    )]
    pub fn sort(
        &mut self,
        chunks: &[Vec<u8>],
        range: &RangeInclusive<u64>,
        step: impl Fn(&[u8]) -> Option<(u64, usize)>,
    ) -> &[Item] {
        let (least, most) = (*range.start(), *range.end());
        // About one item a pocket, or half of one.
        let pockets = (chunks.iter().map(Vec::len).sum::<usize>() / USUAL).next_power_of_two();
        let shift =
            (u64::BITS - most.saturating_sub(least).leading_zeros()).saturating_sub(pockets.trailing_zeros());
        // With one pocket the shift may be that of all bits.
        let pocket = |key: u64| {
            let pocket = key.saturating_sub(least).checked_shr(shift).unwrap_or(0);
            (pocket as usize).min(pockets - 1)
        };
        self.found.clear();
        self.ends.clear();
        self.ends.resize(pockets, 0);
        for (number, chunk) in chunks.iter().enumerate() {
            let mut at = 0;
            while let Some((key, len)) = chunk.get(at..).and_then(&step) {
                self.found.push(Item { key, chunk: number as u32, offset: at as u32 });
                self.ends[pocket(key)] += 1;
                at += len;
            }
        }
        let mut end = 0;
        for count in &mut self.ends {
            // Where the pocket begins; it has moved to its end when it is filled.
            end += std::mem::replace(count, end);
        }
        self.sorted.clear();
        self.sorted.resize(self.found.len(), Item::default());
        for item in &self.found {
            let place = &mut self.ends[pocket(item.key)];
            self.sorted[*place as usize] = *item;
            *place += 1;
        }
        let mut begin = 0;
        for &end in &self.ends {
            let end = end as usize;
            match &mut self.sorted[begin..end] {
                [] | [_] => {}
                [one, other] if one.key <= other.key => {}
                [one, other] => std::mem::swap(one, other),
                many => many.sort_by_key(|item| item.key),
            }
            begin = end;
        }
        &self.sorted
    }
}

/// Bytes of a usual item.
const USUAL: usize = 64;

#[cfg(test)]
#[expect(clippy::cast_possible_truncation, reason = "a handful of items")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key() -> impl Strategy<Value = u64> {
        prop_oneof![any::<u64>(), 0u64..4, Just(u64::MAX), (0u64..9).prop_map(|n| (7 << 60) + n)]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn items_stand_in_the_order_of_a_stable_sort(
            keys in prop::collection::vec(prop::collection::vec(key(), 0..60), 0..4),
            (least, most) in prop_oneof![Just((0, u64::MAX)), Just((7 << 60, u64::MAX)), (key(), key())],
        ) {
            let range = least..=most;
            let mut expected = Vec::new();
            for (chunk, keys) in keys.iter().enumerate() {
                let place = |(at, &key): (usize, &u64)| Item { key, chunk: chunk as u32, offset: 8 * at as u32 };
                expected.extend(keys.iter().enumerate().map(place));
            }
            expected.sort_by_key(|item| item.key);
            let chunk = |keys: &Vec<u64>| keys.iter().flat_map(|key| key.to_le_bytes()).collect::<Vec<u8>>();
            let step = |bytes: &[u8]| Some((u64::from_le_bytes(*bytes.first_chunk()?), 8));
            let mut sorter = Sorter::default();
            // What is left from a sort before does not show.
            sorter.sort(&[chunk(&vec![5, 3])], &(0..=9), step);
            let chunks: Vec<_> = keys.iter().map(chunk).collect();
            prop_assert_eq!(sorter.sort(&chunks, &range, step), &expected);
        }
    }

    #[test]
    fn asking_for_memory_is_harmless_wherever_it_lies() {
        let chunks = [vec![8; 210]];
        for offset in [0, 10, 209, 210, u32::MAX] {
            prefetch(Item { key: 0, chunk: 0, offset }, 500, &chunks);
        }
        prefetch(Item { key: 0, chunk: 1, offset: 0 }, 500, &chunks);
        for room in [0, 1, 300] {
            prefetch_to_write(&vec![MaybeUninit::uninit(); room]);
        }
        assert_eq!(chunks[0][209], 8);
    }
}
