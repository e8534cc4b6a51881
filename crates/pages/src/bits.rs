//! Numbers as Parquet's encodings pack them: LEB128, zigzag, bits.

/// Appends an unsigned LEB128 number.
pub(crate) fn uleb(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

/// Appends a signed number, zigzag.
pub(crate) fn zigzag(value: i64, out: &mut Vec<u8>) {
    uleb((value << 1 ^ value >> 63).cast_unsigned(), out);
}

/// Appends values of `width` bits each, least bit first. The last byte is filled with zeros.
pub(crate) fn bits(values: impl Iterator<Item = u32>, width: u32, out: &mut Vec<u8>) {
    let (mut held, mut count) = (0u64, 0);
    for value in values {
        held |= u64::from(value) << count;
        count += width;
        if count >= u32::BITS {
            let [a, b, c, d, ..] = held.to_le_bytes();
            out.extend_from_slice(&[a, b, c, d]);
            held >>= u32::BITS;
            count -= u32::BITS;
        }
    }
    out.extend_from_slice(&held.to_le_bytes()[..count.div_ceil(8) as usize]);
}

/// Appends eight values as [`bits`] does, of at most 16 bits, in as many bytes as a value has bits.
#[inline]
pub(crate) fn eight(values: &[u16; 8], width: u32, out: &mut Vec<u8>) {
    // Each half fits a register.
    let half =
        |values: &[u16]| values.iter().rev().fold(0u64, |bits, &value| bits << width | u64::from(value));
    let (low, high) = values.split_at(4);
    let bits = u128::from(half(low)) | u128::from(half(high)) << (4 * width);
    out.extend_from_slice(&bits.to_le_bytes()[..width as usize]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_written_as_the_parquet_specification_says() {
        let mut out = Vec::new();
        for value in [0, 127, 128, 624_485, u64::MAX] {
            uleb(value, &mut out);
        }
        let most = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1];
        assert_eq!((&out[..7], &out[7..]), (&[0, 127, 0x80, 1, 0xE5, 0x8E, 0x26][..], &most[..]));
        out.clear();
        for value in [0, -1, 1, -2, i64::MIN] {
            zigzag(value, &mut out);
        }
        assert_eq!((&out[..4], &out[4..]), (&[0, 1, 2, 3][..], &most[..]));
    }

    proptest! {
        #[test]
        fn bits_are_packed_one_after_the_other(values in any::<[u32; 8]>(), count in 0usize..9, width in 0u32..33) {
            let values = values.map(|value| value.checked_shr(32 - width).unwrap_or(0));
            let (mut ours, mut twin) = (Vec::new(), vec![0; (count * width as usize).div_ceil(8)]);
            bits(values[..count].iter().copied(), width, &mut ours);
            for (at, value) in values[..count].iter().enumerate() {
                for bit in 0..width as usize {
                    let place = at * width as usize + bit;
                    twin[place / 8] |= u8::from(value >> bit & 1 == 1) << (place % 8);
                }
            }
            prop_assert_eq!(&ours, &twin);
            if count == 8 && width <= 16 {
                ours.clear();
                eight(&values.map(|value| u16::try_from(value).unwrap()), width, &mut ours);
                prop_assert_eq!(ours, twin);
            }
        }
    }
}
