//! Levels as a data page of version 1 holds them: behind their length.

use crate::hybrid::{encode, equal_run, packed_header};

/// Appends what `append` appends, behind its length in four bytes. Plain texts lie so too.
pub fn with_length(out: &mut Vec<u8>, append: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    append(out);
    let len = u32::try_from(out.len() - start - 4).unwrap_or(u32::MAX);
    out[start..start + 4].copy_from_slice(&len.to_le_bytes());
}

/// Appends levels of `width` bits in the runs that the parquet crate would cut.
pub fn cut(levels: &[u16], width: u32, out: &mut Vec<u8>) {
    with_length(out, |out| encode(levels, width, out));
}

/// Appends `count` levels of the same value as one run.
pub fn equal(level: u8, count: usize, out: &mut Vec<u8>) {
    with_length(out, |out| equal_run(level.into(), count, u8::BITS, out));
}

/// Appends levels that are 0 or 1 as one bit-packed run.
pub fn binary(levels: &[u8], out: &mut Vec<u8>) {
    with_length(out, |out| {
        let (groups, rest) = levels.as_chunks::<8>();
        packed_header(levels.len().div_ceil(8), out);
        // The product brings the low bit of byte i to bit 56 + i, and no sum of others carries into those.
        const GATHER: u64 = 0x0102_0408_1020_4080;
        let byte = |group: &[u8; 8]| u64::from_le_bytes(*group).wrapping_mul(GATHER).to_be_bytes()[0];
        out.extend(groups.iter().map(byte));
        if !rest.is_empty() {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            out.push(byte(&last));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hybrid::packed_run;
    use proptest::prelude::*;

    #[test]
    fn levels_stand_behind_their_length() {
        let mut out = vec![9];
        equal(2, 300, &mut out);
        assert_eq!(out, [9, 3, 0, 0, 0, 0xD8, 0x04, 2]);
        out.clear();
        binary(&[1, 0, 1, 1, 0, 0, 0, 1, 1], &mut out);
        assert_eq!(out, [3, 0, 0, 0, 5, 0b1000_1101, 1]);
        out.clear();
        cut(&[3; 9], 2, &mut out);
        assert_eq!(out, [2, 0, 0, 0, 18, 3]);
    }

    proptest! {
        #[test]
        fn binary_levels_are_a_packed_run_of_one_bit(levels in prop::collection::vec(0u8..2, 0..200)) {
            let (mut ours, mut twin) = (Vec::new(), Vec::new());
            binary(&levels, &mut ours);
            with_length(&mut twin, |out| packed_run(levels.iter().map(|&level| level.into()), 1, out));
            prop_assert_eq!(ours, twin);
        }
    }
}
