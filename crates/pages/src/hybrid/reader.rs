//! Reading Parquet's hybrid of runs and bit packing, value by value or run by run.

/// Where the next value is. The bytes are handed in with each call, so that a page can own both.
#[derive(Clone, Copy, Debug, Default)]
pub struct HybridReader {
    width: u32,
    /// The next byte of which nothing was read.
    at: usize,
    end: usize,
    /// Values left of a run, and which it is.
    run: u32,
    value: u32,
    /// Values left that are packed, and the bit where the next one begins.
    packed: u32,
    bit: usize,
}

impl HybridReader {
    /// Values of `width` bits, at most 32, in the bytes from `at` to `end`.
    pub const fn new(width: u32, at: usize, end: usize) -> Self {
        Self { width, at, end, run: 0, value: 0, packed: 0, bit: 0 }
    }

    /// The next value; `None` when there is none, or the bytes are cut.
    #[inline]
    pub fn next(&mut self, bytes: &[u8]) -> Option<u32> {
        if self.run > 0 {
            self.run -= 1;
            return Some(self.value);
        }
        if self.packed == 0 {
            self.begin(bytes)?;
            return self.next(bytes);
        }
        self.packed -= 1;
        let (at, shift) = (self.bit / 8, self.bit % 8);
        self.bit += self.width as usize;
        if self.bit > 8 * self.end {
            return None;
        }
        // At most 32 bits from one of the first eight on.
        let word = match bytes.get(at..at + 8) {
            Some(word) => u64::from_le_bytes(word.try_into().ok()?),
            None => bytes.get(at..)?.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
        };
        u32::try_from(word >> shift & ((1 << self.width) - 1)).ok()
    }

    /// How many of the next values are known to be `value` without looking at each. 0 says nothing.
    #[inline]
    pub fn run_of(&mut self, value: u32, bytes: &[u8]) -> u32 {
        if self.run == 0 && (self.packed != 0 || self.begin(bytes).is_none()) {
            return 0;
        }
        if self.value == value { self.run } else { 0 }
    }

    /// Passes over so many values of what [`run_of`](Self::run_of) counted.
    #[inline]
    pub const fn skip_run(&mut self, count: u32) {
        self.run = self.run.saturating_sub(count);
    }

    /// Reads a header, of runs and groups that hold something.
    fn begin(&mut self, bytes: &[u8]) -> Option<()> {
        while self.run == 0 && self.packed == 0 {
            let header = self.header(bytes)?;
            if header & 1 == 0 {
                let len = self.width.div_ceil(8) as usize;
                let value = bytes.get(self.at..self.at + len).filter(|_| self.at + len <= self.end)?;
                self.value = value.iter().rev().fold(0, |value, &byte| value << 8 | u32::from(byte));
                self.at += len;
                self.run = header >> 1;
            } else {
                // Eight values of `width` bits are as many bytes. The last may be left out where no value is in them.
                let groups = header >> 1;
                self.bit = 8 * self.at;
                self.at = self.end.min(self.at.checked_add(groups as usize * self.width as usize)?);
                self.packed = groups.checked_mul(8)?;
            }
        }
        Some(())
    }

    fn header(&mut self, bytes: &[u8]) -> Option<u32> {
        let mut header = 0u32;
        for shift in (0..32).step_by(7) {
            let byte = *bytes.get(self.at).filter(|_| self.at < self.end)?;
            self.at += 1;
            if shift == 28 && byte > 0x0F {
                return None;
            }
            header |= u32::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return Some(header);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hybrid::encode;
    use proptest::prelude::*;

    fn all(width: u32, bytes: &[u8]) -> Vec<u32> {
        let mut hybrid = HybridReader::new(width, 0, bytes.len());
        std::iter::from_fn(|| hybrid.next(bytes)).take(10_000).collect()
    }

    #[test]
    fn the_examples_of_the_parquet_specification_are_read_so() {
        // Encodings.md: 0 to 7 in 3 bits.
        assert_eq!(all(3, &[3, 0b1000_1000, 0b1100_0110, 0b1111_1010]), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(all(3, &[0xC8, 0x01, 5]), [5; 100]);
        assert_eq!(all(9, &[4, 0x2C, 0x01]), [300; 2]);
        assert_eq!(all(0, &[6]), [0; 3]);
        assert_eq!(all(32, &[2, 1, 2, 3, 4]), [0x0403_0201]);
    }

    #[test]
    fn what_is_cut_ends_and_nothing_overflows() {
        assert_eq!(all(3, &[3, 0b1000_1000]), [0, 1]);
        for bytes in [
            &[][..],
            &[0xFF; 12],
            &[0x80],
            &[2],
            &[0, 0, 0],
            &[1, 1, 1],
            &[0xFF, 0xFF, 0xFF, 0xFF, 0x0F],
            &[0x82, 0x80, 0x80, 0x80, 0x10, 1],
        ] {
            assert_eq!(all(20, bytes).len(), 0, "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(
            runs in prop::collection::vec((any::<u16>(), 1usize..40), 0..60),
            width in 0u32..17,
            takes in prop::collection::vec((any::<u16>(), 1u32..50), 0..20),
        ) {
            let mask = u16::try_from((1u32 << width) - 1).unwrap();
            let values: Vec<u16> =
                runs.iter().flat_map(|&(value, n)| vec![value & mask; n]).collect();
            let mut bytes = vec![0xAA; 3];
            encode(&values, width, &mut bytes);
            let end = bytes.len();
            bytes.extend([0x55; 3]);
            let mut hybrid = HybridReader::new(width, 3, end);
            let (mut at, mut takes) = (0, takes.into_iter().cycle());
            while at < values.len() {
                if let Some((_, most)) = takes.next() {
                    let most = most.min(u32::try_from(values.len() - at).unwrap());
                    let taken = hybrid.run_of(values[at].into(), &bytes).min(most);
                    hybrid.skip_run(taken);
                    let taken = taken as usize;
                    prop_assert!(values[at..at + taken].iter().all(|&v| v == values[at]));
                    at += taken;
                    if at == values.len() {
                        break;
                    }
                    prop_assert_eq!(hybrid.run_of(u32::from(values[at]) + 1, &bytes), 0);
                }
                prop_assert_eq!(hybrid.next(&bytes), Some(values[at].into()));
                at += 1;
            }
        }
    }
}
