//! Why a file is no network that can be used.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// The result of reading a network.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A part of the file that has a hash of its own, or is named by an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Section {
    /// Version, hash and the architecture's text.
    Header,
    /// The first layer: 125,388 inputs to 256 numbers a side.
    FeatureTransformer,
    /// The layers 512, 32, 32, 1.
    Network,
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Header => "header",
            Self::FeatureTransformer => "feature transformer",
            Self::Network => "network",
        })
    }
}

/// Why a file is no network that can be used (nnbin.md §5). Offsets are bytes from the start of the file.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: Arc<std::io::Error>,
    },
    /// Another version, or no network at all.
    #[error("offset 0: the version is {found:#010x}, and {expected:#010x} is read", expected = crate::format::VERSION)]
    Version {
        /// What stands there.
        found: u32,
    },
    /// A hash of another architecture: other features or other layers.
    #[error(
        "offset {offset}: the hash of the {section} is {found:#010x}, of HalfKP 256x2-32-32 it is {expected:#010x}"
    )]
    Hash {
        /// Whose hash.
        section: Section,
        /// Where it stands.
        offset: usize,
        /// What stands there.
        found: u32,
        /// What should.
        expected: u32,
    },
    /// The architecture's text is longer than any such text is.
    #[error("offset {offset}: the architecture's text has {length} bytes, and at most {most} are read",
        most = crate::format::MAX_ARCHITECTURE)]
    ArchitectureLength {
        /// Where the length stands.
        offset: usize,
        /// What it says.
        length: u32,
    },
    /// The architecture's text is not UTF-8.
    #[error("offset {offset}: the architecture's text is not UTF-8")]
    ArchitectureText {
        /// The first byte that is none.
        offset: usize,
    },
    /// The file ends inside a section.
    #[error("offset {offset}: the file ends in the {section}, {missing} bytes are missing")]
    Truncated {
        /// The section it ends in.
        section: Section,
        /// The length of the file.
        offset: usize,
        /// Bytes to the end of the section, as far as it is known.
        missing: usize,
    },
    /// Bytes behind the last weight.
    #[error("offset {offset}: {extra} bytes behind the network")]
    Trailing {
        /// Where the network ends.
        offset: usize,
        /// How many.
        extra: usize,
    },
}
