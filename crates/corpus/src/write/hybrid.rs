//! Parquet's hybrid of runs and bit packing, which levels and indices into a dictionary are written in.

/// Values that are packed together.
const GROUP: usize = 8;
/// Groups behind one header at most: it is a single byte.
const GROUPS: usize = 63;

/// Appends the values, each of which fits `width` bits, at most 16.
///
/// Eight equal values that begin where a group would make a run, of as many as follow; all others are packed in groups of
/// eight. That is what the parquet crate writes, byte for byte.
pub(crate) fn encode(values: &[u16], width: u32, out: &mut Vec<u8>) {
    let mut rest = values;
    // Groups that are packed but stand behind no header yet.
    let mut packed = Packed { header: None, groups: 0 };
    while let Some((group, behind)) = rest.split_first_chunk::<GROUP>() {
        if group.iter().all(|value| *value == group[0]) {
            packed.close(out);
            let more = behind.iter().take_while(|value| **value == group[0]).count();
            run(group[0], GROUP + more, width, out);
            rest = &behind[more..];
        } else {
            packed.push(group, width, out);
            rest = behind;
        }
    }
    if rest.is_empty() {
        packed.close(out);
    } else if packed.groups == 0 && rest.iter().all(|value| *value == rest[0]) {
        run(rest[0], rest.len(), width, out);
    } else {
        let mut group = [0; GROUP];
        group[..rest.len()].copy_from_slice(rest);
        packed.push(&group, width, out);
        packed.close(out);
    }
}

/// Appends a run: a value and how often it is there.
pub(super) fn run(value: u16, count: usize, width: u32, out: &mut Vec<u8>) {
    let mut header = count << 1;
    while header > 0x7F {
        out.push(header.to_le_bytes()[0] | 0x80);
        header >>= 7;
    }
    out.push(header.to_le_bytes()[0]);
    out.extend_from_slice(&value.to_le_bytes()[..width.div_ceil(8) as usize]);
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
        let bits = group.iter().rev().fold(0u128, |bits, &value| bits << width | u128::from(value));
        // Eight values of `width` bits are as many bytes.
        out.extend_from_slice(&bits.to_le_bytes()[..width as usize]);
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

    fn encoded(values: &[u16], width: u32) -> Vec<u8> {
        let mut out = Vec::new();
        encode(values, width, &mut out);
        out
    }

    #[test]
    fn the_examples_of_the_parquet_specification_are_written_so() {
        // Encodings.md: 0 to 7 in 3 bits.
        assert_eq!(encoded(&[0, 1, 2, 3, 4, 5, 6, 7], 3), [3, 0b1000_1000, 0b1100_0110, 0b1111_1010]);
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
}
