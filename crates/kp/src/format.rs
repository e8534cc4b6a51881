//! What stands where in a network's file (kpnet.md §2).

use crate::error::{Error, Result};
use std::ops::Range;
use xxhash_rust::xxh3::xxh3_64;

/// What every file begins with.
pub const MAGIC: [u8; 4] = *b"MKKP";
/// The version that is read and written.
pub const VERSION: u32 = 1;
/// The name of the features (features.md §5), with zeros behind it.
pub const FEATURE_SET: [u8; 16] = *b"KP\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
/// One is 127 in activations and in the first layer.
pub const ACTIVATION: u8 = 127;
/// One is 2^6 in i8 weights.
pub const WEIGHT_SHIFT: u32 = 6;
/// One is 64 in i8 weights.
pub const WEIGHT: u8 = 1 << WEIGHT_SHIFT;
/// One is 127 · 64 in sums behind the first layer: biases, the value and logits.
pub const ONE: u16 = ACTIVATION as u16 * WEIGHT as u16;
/// Bytes in front of the first tensor.
pub const HEADER_BYTES: usize = 52;
/// Bytes of the checksum behind the last: XXH3-64 of all in front of it.
pub const CHECKSUM_BYTES: usize = 8;

/// How many numbers the layers of a network have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sizes {
    /// Inputs of the first layer.
    pub inputs: u32,
    /// Its outputs, a side.
    pub half: u32,
    /// Hidden numbers behind the value.
    pub value: u32,
    /// Hidden numbers behind the policy.
    pub policy: u32,
    /// Logits.
    pub labels: u32,
}

/// The sizes that are read and written.
pub const KP256: Sizes = Sizes { inputs: 1710, half: 256, value: 32, policy: 64, labels: 2187 };

/// Tensors of a file, in its order.
pub const TENSORS: usize = 8;

impl Sizes {
    /// Bytes of each tensor, in the order of the file.
    #[must_use]
    pub const fn tensor_bytes(self) -> [usize; TENSORS] {
        let (inputs, half, labels) = (self.inputs as usize, self.half as usize, self.labels as usize);
        let (value, policy) = (self.value as usize, self.policy as usize);
        let hidden = value + policy;
        [2 * half, 2 * half * inputs, 4 * hidden, hidden * 2 * half, 4, value, 4 * labels, labels * policy]
    }

    /// Bytes of a file.
    #[must_use]
    pub const fn file_bytes(self) -> usize {
        let tensors = self.tensor_bytes();
        let mut sum = HEADER_BYTES + CHECKSUM_BYTES;
        let mut at = 0;
        while at < TENSORS {
            sum += tensors[at];
            at += 1;
        }
        sum
    }

    /// Sizes and scales as the header has them, with their names on the page.
    #[must_use]
    pub const fn stated(self) -> [(&'static str, u32); 7] {
        [
            ("inputs", self.inputs),
            ("half", self.half),
            ("value hidden", self.value),
            ("policy hidden", self.policy),
            ("labels", self.labels),
            ("activation scale", ACTIVATION as u32),
            ("weight scale", WEIGHT as u32),
        ]
    }
}

/// Bytes of a file.
pub const FILE_BYTES: usize = KP256.file_bytes();
const _: () = assert!(FILE_BYTES == 1_074_380);
const NAME: Range<usize> = 8..8 + FEATURE_SET.len();
const _: () = assert!(NAME.end + 4 * KP256.stated().len() == HEADER_BYTES);

/// The tensors of a file, in its order, as they stand in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parts<'a> {
    /// Bytes by tensor.
    pub tensors: [&'a [u8]; TENSORS],
    /// The checksum, which is right.
    pub checksum: u64,
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |chunk| u32::from_le_bytes(*chunk))
}

impl<'a> Parts<'a> {
    /// Cuts a file up that has these sizes: [`KP256`], but for fuzzing. Nothing is allocated.
    ///
    /// # Errors
    /// [`Error`] with the offset of the first thing that is wrong (kpnet.md §5).
    pub fn of(file: &'a [u8], sizes: Sizes) -> Result<Self> {
        if let Some(magic) = file.first_chunk()
            && *magic != MAGIC
        {
            return Err(Error::Magic { found: *magic });
        }
        let truncated = |end: usize| Error::Truncated { offset: file.len(), missing: end - file.len() };
        if file.len() < HEADER_BYTES {
            return Err(truncated(HEADER_BYTES));
        }
        let found = u32_at(file, MAGIC.len());
        if found != VERSION {
            return Err(Error::Version { found });
        }
        let name = &file[NAME];
        if name != FEATURE_SET {
            let end = name.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
            return Err(Error::FeatureSet { found: String::from_utf8_lossy(&name[..end]).into_owned() });
        }
        for (number, (what, expected)) in sizes.stated().into_iter().enumerate() {
            let offset = NAME.end + 4 * number;
            let found = u32_at(file, offset);
            if found != expected {
                return Err(Error::Size { offset, what, found, expected });
            }
        }
        let end = sizes.file_bytes();
        if file.len() < end {
            return Err(truncated(end));
        }
        if file.len() > end {
            return Err(Error::Trailing { offset: end });
        }
        let offset = end - CHECKSUM_BYTES;
        let (summed, checksum) = file.split_at(offset);
        let found = checksum.first_chunk().map_or(0, |chunk| u64::from_le_bytes(*chunk));
        let expected = xxh3_64(summed);
        if found != expected {
            return Err(Error::Checksum { offset, found, expected });
        }
        let mut at = HEADER_BYTES;
        let tensors = sizes.tensor_bytes().map(|bytes| {
            at += bytes;
            &file[at - bytes..at]
        });
        Ok(Self { tensors, checksum: found })
    }
}

/// The header of a file of these sizes.
#[must_use]
pub fn header(sizes: Sizes) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(sizes.file_bytes());
    bytes.extend(MAGIC);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(FEATURE_SET);
    bytes.extend(sizes.stated().into_iter().flat_map(|(_, number)| number.to_le_bytes()));
    bytes
}

/// Puts the checksum behind a header and its tensors.
#[must_use]
pub fn close(mut bytes: Vec<u8>) -> Vec<u8> {
    let checksum = xxh3_64(&bytes);
    bytes.extend(checksum.to_le_bytes());
    bytes
}
