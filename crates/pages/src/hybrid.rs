//! Parquet's hybrid of runs and bit packing, which levels and indices into a dictionary are written in.

mod reader;

pub use reader::HybridReader;

use crate::bits::{bits, eight, uleb};

/// Values that are packed together.
const GROUP: usize = 8;
/// Groups behind one header of [`encode`] at most: it is a single byte.
const GROUPS: usize = 63;

/// Appends the values, each of which fits `width` bits, at most 16, in the runs that the parquet crate would cut, byte for
/// byte.
///
/// Eight equal values that begin where a group would make a run, of as many as follow; all others are packed in groups of
/// eight.
pub fn encode(values: &[u16], width: u32, out: &mut Vec<u8>) {
    let mut rest = values;
    // Groups that are packed but stand behind no header yet.
    let mut packed = Packed { header: None, groups: 0 };
    while let Some((group, behind)) = rest.split_first_chunk::<GROUP>() {
        if group.iter().all(|value| *value == group[0]) {
            packed.close(out);
            let more = behind.iter().take_while(|value| **value == group[0]).count();
            equal_run(group[0], GROUP + more, width, out);
            rest = &behind[more..];
        } else {
            packed.push(group, width, out);
            rest = behind;
        }
    }
    if rest.is_empty() {
        packed.close(out);
    } else if packed.groups == 0 && rest.iter().all(|value| *value == rest[0]) {
        equal_run(rest[0], rest.len(), width, out);
    } else {
        let mut group = [0; GROUP];
        group[..rest.len()].copy_from_slice(rest);
        packed.push(&group, width, out);
        packed.close(out);
    }
}

/// Appends one run of a value that is there `count` times and fits `width` bits, at most 16.
pub fn equal_run(value: u16, count: usize, width: u32, out: &mut Vec<u8>) {
    uleb((count as u64) << 1, out);
    out.extend_from_slice(&value.to_le_bytes()[..width.div_ceil(8) as usize]);
}

/// Appends the values, each of which fits `width` bits, as one bit-packed run.
pub fn packed_run(values: impl ExactSizeIterator<Item = u32>, width: u32, out: &mut Vec<u8>) {
    let groups = values.len().div_ceil(GROUP);
    packed_header(groups, out);
    let end = out.len() + groups * width as usize;
    bits(values, width, out);
    // Runs are whole groups.
    out.resize(end, 0);
}

/// Appends the header of a run of so many groups of bit-packed values.
pub(crate) fn packed_header(groups: usize, out: &mut Vec<u8>) {
    uleb((groups as u64) << 1 | 1, out);
}

/// Packed groups with one header in front.
struct Packed {
    /// Where its byte is.
    header: Option<usize>,
    groups: usize,
}

impl Packed {
    fn push(&mut self, group: &[u16; GROUP], width: u32, out: &mut Vec<u8>) {
        if self.header.is_none() {
            self.header = Some(out.len());
            out.push(0);
        }
        eight(group, width, out);
        self.groups += 1;
        if self.groups == GROUPS {
            self.close(out);
        }
    }

    fn close(&mut self, out: &mut [u8]) {
        if let Some(header) = self.header.take() {
            out[header] = (self.groups << 1 | 1).to_le_bytes()[0];
        }
        self.groups = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encoded(values: &[u16], width: u32) -> Vec<u8> {
        let mut out = Vec::new();
        encode(values, width, &mut out);
        out
    }

    fn packed(values: &[u32], width: u32) -> Vec<u8> {
        let mut out = Vec::new();
        packed_run(values.iter().copied(), width, &mut out);
        out
    }

    #[test]
    fn the_examples_of_the_parquet_specification_are_written_so() {
        // Encodings.md: 0 to 7 in 3 bits.
        assert_eq!(encoded(&[0, 1, 2, 3, 4, 5, 6, 7], 3), [3, 0b1000_1000, 0b1100_0110, 0b1111_1010]);
        assert_eq!(packed(&[0, 1, 2, 3, 4, 5, 6, 7], 3), [3, 0b1000_1000, 0b1100_0110, 0b1111_1010]);
        assert_eq!(encoded(&[5; 100], 3), [0xC8, 0x01, 5]);
        assert_eq!(encoded(&[300; 9], 9), [18, 0x2C, 0x01]);
        assert_eq!(encoded(&[0; 3], 0), [6]);
        // A tail that is no run fills its group with zeros.
        assert_eq!(encoded(&[1, 0, 1], 1), [3, 0b101]);
        assert_eq!(encoded(&[], 4), []);
    }

    #[test]
    fn a_header_stands_in_front_of_63_groups_at_most() {
        let values: Vec<u16> = (0..64 * 8).map(|i| i % 2).collect();
        let bytes = encoded(&values, 1);
        assert_eq!((bytes[0], bytes[64], bytes.len()), (63 << 1 | 1, 3, 66));
    }

    #[test]
    fn a_packed_run_is_one_however_long_and_however_equal() {
        assert_eq!(packed(&[7; 9], 3), [5, 0xFF, 0xFF, 0xFF, 7, 0, 0]);
        assert_eq!(packed(&[], 3), [1]);
        assert_eq!(packed(&[0; 17], 0), [7]);
        let long = packed(&[1; 64 * 8], 1);
        assert_eq!((&long[..2], long.len()), (&[0x81, 0x01][..], 66));
    }

    proptest! {
        #[test]
        fn a_packed_run_of_any_width_is_read(
            values in prop::collection::vec(any::<u32>(), 0..300),
            width in 0u32..33,
        ) {
            let values: Vec<u32> =
                values.iter().map(|value| value.checked_shr(32 - width).unwrap_or(0)).collect();
            let bytes = packed(&values, width);
            let mut reader = HybridReader::new(width, 0, bytes.len());
            for &value in &values {
                prop_assert_eq!(reader.next(&bytes), Some(value));
            }
            // What fills the last group.
            for _ in values.len()..values.len().next_multiple_of(GROUP) {
                prop_assert_eq!(reader.next(&bytes), Some(0));
            }
            prop_assert_eq!(reader.next(&bytes), None);
        }
    }
}
