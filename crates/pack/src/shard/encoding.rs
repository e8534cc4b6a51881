//! The encodings of Parquet that shards use (shards.md §7), appended to page bodies whose memory is used again.

/// Appends an unsigned LEB128 number.
fn uleb(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

/// Appends a signed number, zigzag.
fn zigzag(value: i64, out: &mut Vec<u8>) {
    uleb((value << 1 ^ value >> 63).cast_unsigned(), out);
}

/// Appends values of `width` bits each, least bit first. The last byte is filled with zeros.
fn bits(values: impl Iterator<Item = u32>, width: u32, out: &mut Vec<u8>) {
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

/// Appends values as one bit-packed run of the hybrid of RLE and bit-packing.
pub fn packed_run(values: impl ExactSizeIterator<Item = u32>, width: u32, out: &mut Vec<u8>) {
    let groups = values.len().div_ceil(8);
    uleb((groups as u64) << 1 | 1, out);
    let end = out.len() + groups * width as usize;
    bits(values, width, out);
    // Runs are whole groups of eight values.
    out.resize(end, 0);
}

/// Appends levels as a data page of version 1 holds them, behind their length.
fn levels(out: &mut Vec<u8>, run: impl FnOnce(&mut Vec<u8>)) {
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    run(out);
    let len = u32::try_from(out.len() - at - 4).unwrap_or(u32::MAX);
    out[at..at + 4].copy_from_slice(&len.to_le_bytes());
}

/// Appends levels that are 0 or 1.
pub fn binary_levels(values: &[u8], out: &mut Vec<u8>) {
    levels(out, |out| {
        let (groups, rest) = values.as_chunks::<8>();
        uleb((values.len().div_ceil(8) as u64) << 1 | 1, out);
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

/// Appends `count` levels of the same value.
pub fn equal_levels(value: u8, count: usize, out: &mut Vec<u8>) {
    levels(out, |out| {
        uleb((count as u64) << 1, out);
        out.push(value);
    });
}

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

/// The distinct values of a column in the order in which they come, and where each value stands among them.
#[derive(Default)]
pub struct Dictionary {
    /// Open addressing; a place holds one more than an index, 0 where it is free.
    table: Vec<u32>,
    values: Vec<u32>,
    indices: Vec<u32>,
}

impl Dictionary {
    /// Takes a column's values, as bits.
    pub fn fill(&mut self, values: impl ExactSizeIterator<Item = u32>) {
        let places = (2 * values.len()).next_power_of_two().max(2);
        self.table.clear();
        self.table.resize(places, 0);
        self.values.clear();
        self.indices.clear();
        let shift = u32::BITS - places.trailing_zeros();
        for value in values {
            // The high bits of the product depend on all bits of the value.
            let mut place = (value.wrapping_mul(0x9E37_79B1) >> shift) as usize;
            let index = loop {
                match self.table[place].checked_sub(1) {
                    Some(index) if self.values[index as usize] == value => break index,
                    Some(_) => place = (place + 1) & (places - 1),
                    None => {
                        let index = u32::try_from(self.values.len()).unwrap_or(u32::MAX);
                        self.values.push(value);
                        self.table[place] = index + 1;
                        break index;
                    }
                }
            };
            self.indices.push(index);
        }
    }

    /// The distinct values, each four bytes.
    pub fn values(&self) -> &[u32] {
        &self.values
    }

    /// Appends the values of a data page: the width of an index, then all indices.
    pub fn indices(&self, out: &mut Vec<u8>) {
        let most = self.values.len().saturating_sub(1);
        let width = usize::BITS - most.leading_zeros();
        out.push(width.to_le_bytes()[0]);
        packed_run(self.indices.iter().copied(), width, out);
    }
}
