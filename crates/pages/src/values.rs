//! The encodings of values, appended to page bodies whose memory is used again.

use crate::bits::{bits, uleb, zigzag};

/// Appends four-byte values with their first bytes first, then their second, and so on.
pub fn byte_stream_split(values: impl ExactSizeIterator<Item = [u8; 4]>, out: &mut Vec<u8>) {
    let (start, len) = (out.len(), values.len());
    out.resize(start + 4 * len, 0);
    let (first, rest) = out[start..].split_at_mut(len);
    let (second, rest) = rest.split_at_mut(len);
    let (third, fourth) = rest.split_at_mut(len);
    let places = first.iter_mut().zip(second).zip(third).zip(fourth);
    for ((((a, b), c), d), value) in places.zip(values) {
        [*a, *b, *c, *d] = value;
    }
}

/// Values of a delta block, and of a miniblock, of which there are four.
const BLOCK: usize = 128;
const MINIBLOCK: usize = BLOCK / 4;

/// Appends the values DELTA_BINARY_PACKED.
pub fn delta_binary_packed(values: &[i16], out: &mut Vec<u8>) {
    uleb(BLOCK as u64, out);
    uleb((BLOCK / MINIBLOCK) as u64, out);
    uleb(values.len() as u64, out);
    zigzag(values.first().map_or(0, |&first| i64::from(first)), out);
    let mut deltas = [0i32; BLOCK];
    for block in 0..values.len().saturating_sub(1).div_ceil(BLOCK) {
        let pairs = &values[block * BLOCK..values.len().min((block + 1) * BLOCK + 1)];
        let deltas = &mut deltas[..pairs.len() - 1];
        for (delta, pair) in deltas.iter_mut().zip(pairs.windows(2)) {
            *delta = i32::from(pair[1]) - i32::from(pair[0]);
        }
        let least = deltas.iter().copied().min().unwrap_or(0);
        zigzag(i64::from(least), out);
        let widths = out.len();
        out.extend_from_slice(&[0; BLOCK / MINIBLOCK]);
        for (miniblock, deltas) in deltas.chunks(MINIBLOCK).enumerate() {
            let above = |delta: &i32| delta.abs_diff(least);
            let all = deltas.iter().map(above).fold(0, |all, above| all | above);
            let width = u32::BITS - all.leading_zeros();
            out[widths + miniblock] = width.to_le_bytes()[0];
            // A miniblock is whole.
            let end = out.len() + MINIBLOCK / 8 * width as usize;
            bits(deltas.iter().map(above), width, out);
            out.resize(end, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_split_by_their_bytes() {
        let mut out = vec![7];
        byte_stream_split([[1, 2, 3, 4], [5, 6, 7, 8]].into_iter(), &mut out);
        assert_eq!(out, [7, 1, 5, 2, 6, 3, 7, 4, 8]);
    }

    #[test]
    fn the_examples_of_the_parquet_specification_are_written_so() {
        // Encodings.md, with our blocks of 128 in 4 miniblocks: 1 to 5, then 7 5 3 1 2 3 4 5.
        let mut out = Vec::new();
        delta_binary_packed(&[1, 2, 3, 4, 5], &mut out);
        assert_eq!(out, [0x80, 1, 4, 5, 2, 2, 0, 0, 0, 0]);
        out.clear();
        delta_binary_packed(&[7, 5, 3, 1, 2, 3, 4, 5], &mut out);
        // The least delta is -2, and what is above it 0 0 0 3 3 3 3.
        let packed = [0b1100_0000, 0b0011_1111];
        assert_eq!(out[..10], [0x80, 1, 4, 8, 14, 3, 2, 0, 0, 0]);
        assert_eq!((&out[10..12], &out[12..]), (&packed[..], &[0; 6][..]));
    }

    #[test]
    fn the_widest_deltas_fit() {
        let mut out = Vec::new();
        delta_binary_packed(&[i16::MAX, i16::MIN, i16::MAX], &mut out);
        // The least is -65535, and 131070 above it takes 17 bits: 0, then that.
        assert_eq!(out[..14], [0x80, 1, 4, 3, 0xFE, 0xFF, 3, 0xFD, 0xFF, 7, 17, 0, 0, 0]);
        let mut packed = [0; 4 * 17];
        packed[2..5].copy_from_slice(&[0b1111_1100, 0xFF, 0b0000_0011]);
        assert_eq!(out[14..], packed);
    }
}
