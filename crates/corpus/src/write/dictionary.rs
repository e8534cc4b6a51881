//! The values of a column of which there are at most 65,536, in the order in which they first came.

/// Gives values their indices. A value is 16 bits, whatever they mean.
pub(super) struct Dictionary {
    /// By value: its index, if `values` has that value there. So it need never be cleared.
    indices: Box<[u16]>,
    values: Vec<u16>,
}

impl Dictionary {
    pub(super) fn new() -> Self {
        Self { indices: vec![0; 1 << 16].into(), values: Vec::new() }
    }

    pub(super) fn clear(&mut self) {
        self.values.clear();
    }

    /// The values, by index.
    pub(super) fn values(&self) -> &[u16] {
        &self.values
    }

    /// Bits of the greatest index.
    pub(super) fn width(&self) -> u32 {
        usize::BITS - self.values.len().saturating_sub(1).leading_zeros()
    }

    /// The index of a value, which is a new one when it comes for the first time.
    #[inline]
    pub(super) fn index(&mut self, value: u16) -> u16 {
        let index = self.indices[usize::from(value)];
        if self.values.get(usize::from(index)) == Some(&value) { index } else { self.add(value) }
    }

    #[cold]
    fn add(&mut self, value: u16) -> u16 {
        // There are no more values than an index can tell apart.
        let index = u16::try_from(self.values.len()).unwrap_or(u16::MAX);
        self.indices[usize::from(value)] = index;
        self.values.push(value);
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_keeps_its_index_also_when_all_are_there_and_after_a_clear() {
        let mut dictionary = Dictionary::new();
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
}
