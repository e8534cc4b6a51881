//! What stands where in `nn.bin`, and the hashes that say for which architecture (nnbin.md §2 and §3).

use crate::error::{Error, Result, Section};

/// The version every such file begins with.
pub const VERSION: u32 = 0x7AF3_2F16;
/// Numbers of the accumulator of one side.
pub const HALF: usize = 256;
/// Inputs of the first layer behind it: the mover's half, then the opponent's.
pub const INPUT: usize = 2 * HALF;
/// Numbers of both hidden layers.
pub const HIDDEN: usize = 32;
/// Rows of the feature transformer.
pub const FEATURES: usize = 125_388;
/// One is 127 in activations.
pub const ACTIVATION: i32 = 127;
/// One is 2^6 in weights of the network.
pub const WEIGHT_SHIFT: u32 = 6;
/// The longest text of an architecture that is read; the usual one has 178 bytes.
pub const MAX_ARCHITECTURE: usize = 4096;
/// The text YaneuraOu writes for this architecture. Readers go by the hash.
pub const ARCHITECTURE: &str = "Features=HalfKP(Friend)[125388->256x2],Network=AffineTransform[1<-32](ClippedReLU[32]\
    (AffineTransform[32<-32](ClippedReLU[32](AffineTransform[32<-512](InputSlice[512(0:512)])))))";
const _: () = assert!(ARCHITECTURE.len() == 178);

/// The number of a width in hashes.
#[expect(clippy::cast_possible_truncation, reason = "widths are below 2^16")]
const fn width(of: usize) -> u32 {
    assert!(of < 1 << 16);
    of as u32
}

// nnbin.md §3
const HALFKP: u32 = 0x5D69_D5B9;
const FRIEND: u32 = 1;

/// The hash in front of the feature transformer.
pub const TRANSFORMER_HASH: u32 = (HALFKP ^ FRIEND) ^ width(INPUT);

const fn affine(before: u32, outputs: usize) -> u32 {
    let hash = 0xCC03_DAE4u32.wrapping_add(width(outputs));
    hash ^ before >> 1 ^ before << 31
}

const fn clipped(before: u32) -> u32 {
    before.wrapping_add(0x538D_24C7)
}

/// The hash in front of the network.
pub const NETWORK_HASH: u32 = {
    let slice = 0xEC42_E90D ^ width(INPUT);
    let first = clipped(affine(slice, HIDDEN));
    let second = clipped(affine(first, HIDDEN));
    affine(second, 1)
};

/// The hash of the whole, in the header.
pub const HASH: u32 = TRANSFORMER_HASH ^ NETWORK_HASH;
// As public readers of such files state them.
const _: () = assert!(TRANSFORMER_HASH == 0x5D69_D7B8 && NETWORK_HASH == 0x6333_7156 && HASH == 0x3E5A_A6EE);

/// Bytes of the feature transformer, its hash included.
pub const TRANSFORMER_BYTES: usize = 4 + 2 * HALF + 2 * HALF * FEATURES;
/// Bytes of the network, its hash included.
pub const NETWORK_BYTES: usize =
    4 + (4 * HIDDEN + HIDDEN * INPUT) + (4 * HIDDEN + HIDDEN * HIDDEN) + (4 + HIDDEN);
/// Bytes of the file with the usual text.
pub const FILE_BYTES: usize = 12 + ARCHITECTURE.len() + TRANSFORMER_BYTES + NETWORK_BYTES;
const _: () = assert!(FILE_BYTES == 64_217_066);

/// Bytes of a file, taken from the front.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, offset: 0 }
    }

    pub(crate) const fn offset(&self) -> usize {
        self.offset
    }

    /// The next `count` bytes of a section.
    pub(crate) fn take(&mut self, count: usize, section: Section) -> Result<&'a [u8]> {
        let left = self.bytes.len() - self.offset;
        if left < count {
            return Err(Error::Truncated { section, offset: self.bytes.len(), missing: count - left });
        }
        let taken = &self.bytes[self.offset..][..count];
        self.offset += count;
        Ok(taken)
    }

    pub(crate) fn u32(&mut self, section: Section) -> Result<u32> {
        let bytes = self.take(4, section)?;
        Ok(bytes.first_chunk().map_or(0, |chunk| u32::from_le_bytes(*chunk)))
    }

    /// A hash that must be this one.
    pub(crate) fn hash(&mut self, section: Section, expected: u32) -> Result<()> {
        let offset = self.offset;
        let found = self.u32(section)?;
        if found == expected { Ok(()) } else { Err(Error::Hash { section, offset, found, expected }) }
    }

    /// Nothing may follow.
    pub(crate) const fn end(&self) -> Result<()> {
        match self.bytes.len() - self.offset {
            0 => Ok(()),
            extra => Err(Error::Trailing { offset: self.offset, extra }),
        }
    }
}

/// Reads the header and returns the architecture's text.
fn header<'a>(cursor: &mut Cursor<'a>) -> Result<&'a str> {
    let found = cursor.u32(Section::Header)?;
    if found != VERSION {
        return Err(Error::Version { found });
    }
    cursor.hash(Section::Header, HASH)?;
    let offset = cursor.offset();
    let length = cursor.u32(Section::Header)?;
    let bytes = match usize::try_from(length) {
        Ok(count) if count <= MAX_ARCHITECTURE => cursor.take(count, Section::Header)?,
        _ => return Err(Error::ArchitectureLength { offset, length }),
    };
    std::str::from_utf8(bytes)
        .map_err(|error| Error::ArchitectureText { offset: offset + 4 + error.valid_up_to() })
}

/// The parts of a file, in its order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parts<'a> {
    /// What the file says of itself.
    pub architecture: &'a str,
    /// The numbers of the feature transformer, without its hash.
    pub transformer: &'a [u8],
    /// The numbers of the network, without its hash.
    pub network: &'a [u8],
}

impl<'a> Parts<'a> {
    /// Cuts a file up whose feature transformer and network have so many bytes, with their hashes: in a true file
    /// [`TRANSFORMER_BYTES`] and [`NETWORK_BYTES`].
    ///
    /// # Errors
    /// [`Error`] with the offset of the first thing that is wrong (nnbin.md §5).
    pub fn of(file: &'a [u8], [transformer, network]: [usize; 2]) -> Result<Self> {
        let mut cursor = Cursor::new(file);
        let architecture = header(&mut cursor)?;
        cursor.hash(Section::FeatureTransformer, TRANSFORMER_HASH)?;
        let transformer = cursor.take(transformer.saturating_sub(4), Section::FeatureTransformer)?;
        cursor.hash(Section::Network, NETWORK_HASH)?;
        let network = cursor.take(network.saturating_sub(4), Section::Network)?;
        cursor.end()?;
        Ok(Self { architecture, transformer, network })
    }
}
