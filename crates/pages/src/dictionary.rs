//! The distinct values of a column, in the order in which they first came, and the indices that stand for them.
//!
//! What is appended as a page's values is the width of an index, then the indices.

use crate::hybrid::{encode, packed_run};

/// Bits of the greatest index into so many values.
fn width(values: usize) -> u32 {
    usize::BITS - values.saturating_sub(1).leading_zeros()
}

/// Values of 16 bits, whatever they mean, of columns that are written page by page.
pub struct Dictionary16 {
    /// By value: its index, if `values` has that value there. So it need never be cleared.
    places: Box<[u16]>,
    values: Vec<u16>,
}

impl Dictionary16 {
    /// One without values.
    #[must_use]
    pub fn new() -> Self {
        Self { places: vec![0; 1 << 16].into(), values: Vec::new() }
    }

    /// Forgets the values.
    pub fn clear(&mut self) {
        self.values.clear();
    }

    /// The values, by index.
    #[must_use]
    pub fn values(&self) -> &[u16] {
        &self.values
    }

    /// Bits of the greatest index so far.
    #[must_use]
    pub fn width(&self) -> u32 {
        width(self.values.len())
    }

    /// The index of a value, which is a new one when it comes for the first time.
    #[inline]
    pub fn index(&mut self, value: u16) -> u16 {
        let index = self.places[usize::from(value)];
        if self.values.get(usize::from(index)) == Some(&value) { index } else { self.add(value) }
    }

    #[cold]
    fn add(&mut self, value: u16) -> u16 {
        // There are no more values than an index can tell apart.
        let index = u16::try_from(self.values.len()).unwrap_or(u16::MAX);
        self.places[usize::from(value)] = index;
        self.values.push(value);
        index
    }

    /// Appends indices in the runs that the parquet crate would cut.
    pub fn cut(&self, indices: &[u16], out: &mut Vec<u8>) {
        out.push(self.width().to_le_bytes()[0]);
        encode(indices, self.width(), out);
    }
}

impl Default for Dictionary16 {
    fn default() -> Self {
        Self::new()
    }
}

/// Values of 32 bits, of columns that are one page.
#[derive(Default)]
pub struct Dictionary32 {
    /// Open addressing; a place holds one more than an index, 0 where it is free.
    places: Vec<u32>,
    values: Vec<u32>,
    indices: Vec<u32>,
}

impl Dictionary32 {
    /// Takes a column's values in place of those before.
    pub fn fill(&mut self, values: impl ExactSizeIterator<Item = u32>) {
        let places = (2 * values.len()).next_power_of_two().max(2);
        self.places.clear();
        self.places.resize(places, 0);
        self.values.clear();
        self.indices.clear();
        let shift = u32::BITS - places.trailing_zeros();
        for value in values {
            // The high bits of the product depend on all bits of the value.
            let mut place = (value.wrapping_mul(0x9E37_79B1) >> shift) as usize;
            let index = loop {
                match self.places[place].checked_sub(1) {
                    Some(index) if self.values[index as usize] == value => break index,
                    Some(_) => place = (place + 1) & (places - 1),
                    None => {
                        let index = u32::try_from(self.values.len()).unwrap_or(u32::MAX);
                        self.values.push(value);
                        self.places[place] = index + 1;
                        break index;
                    }
                }
            };
            self.indices.push(index);
        }
    }

    /// The values, by index.
    #[must_use]
    pub fn values(&self) -> &[u32] {
        &self.values
    }

    /// Appends the column's indices as one bit-packed run.
    pub fn packed(&self, out: &mut Vec<u8>) {
        let width = width(self.values.len());
        out.push(width.to_le_bytes()[0]);
        packed_run(self.indices.iter().copied(), width, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_value_keeps_its_index_also_when_all_are_there_and_after_a_clear() {
        let mut dictionary = Dictionary16::new();
        assert_eq!(dictionary.width(), 0);
        for round in 0..2u16 {
            for i in 0..=u16::MAX {
                assert_eq!(dictionary.index(i.wrapping_mul(7).wrapping_add(round)), i);
            }
            for i in 0..=u16::MAX {
                assert_eq!(dictionary.index(i.wrapping_mul(7).wrapping_add(round)), i);
            }
            assert_eq!((dictionary.values().len(), dictionary.width()), (1 << 16, 16));
            dictionary.clear();
        }
        let widths = [0, 1, 2, 2, 3].map(|width| {
            dictionary.index(u16::try_from(dictionary.values().len()).unwrap());
            (dictionary.width(), width)
        });
        assert!(widths.iter().all(|(found, expected)| found == expected), "{widths:?}");
    }

    #[test]
    fn indices_stand_behind_their_width() {
        let (mut cut, mut packed) = (Vec::new(), Vec::new());
        let mut of_16 = Dictionary16::new();
        let indices = [7, 7, 9, 7, 7, 7, 7, 7, 7].map(|value| of_16.index(value));
        of_16.cut(&indices, &mut cut);
        assert_eq!(cut, [1, 5, 0b100, 0]);
        let mut of_32 = Dictionary32::default();
        of_32.fill([5, 5, 5].into_iter());
        of_32.packed(&mut packed);
        assert_eq!(packed, [0, 3]);
        packed.clear();
        of_32.fill([1 << 31, 3, 3, 1 << 31, 4, 0, 0, 0, 0].into_iter());
        of_32.packed(&mut packed);
        // 0 1 1 0 2 3 3 3, then 3.
        assert_eq!(packed, [2, 5, 0b0001_0100, 0b1111_1110, 3, 0]);
    }

    proptest! {
        #[test]
        fn both_find_what_a_search_of_all_values_finds(
            columns in prop::collection::vec(prop::collection::vec(prop_oneof![0u16..9, any::<u16>()], 0..400), 1..4),
        ) {
            let (mut of_16, mut of_32) = (Dictionary16::new(), Dictionary32::default());
            for column in columns {
                let (mut values, mut indices) = (Vec::new(), Vec::new());
                for &value in &column {
                    indices.push(values.iter().position(|&before| before == value).unwrap_or_else(|| {
                        values.push(value);
                        values.len() - 1
                    }));
                }
                of_16.clear();
                let found: Vec<usize> = column.iter().map(|&value| of_16.index(value).into()).collect();
                prop_assert_eq!(&found, &indices);
                prop_assert_eq!(of_16.values(), &values);
                // Bits in both halves.
                let wide = |value: u16| u32::from(value) << 16 | u32::from(value ^ 0x5A5A);
                of_32.fill(column.iter().map(|&value| wide(value)));
                let found: Vec<usize> = of_32.indices.iter().map(|&index| index as usize).collect();
                prop_assert_eq!(&found, &indices);
                prop_assert_eq!(of_32.values(), values.into_iter().map(wide).collect::<Vec<_>>());
            }
        }
    }
}
