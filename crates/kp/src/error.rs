//! Why a file is no network that can be used.

use std::path::PathBuf;
use std::sync::Arc;

/// The result of reading or writing a network.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a file is no network that can be used (kpnet.md §5). Offsets are bytes from the start of the file.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be opened, read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: Arc<std::io::Error>,
    },
    /// What is wrong with a file that has a name.
    #[error("{}: {error}", path.display())]
    In {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: Box<Self>,
    },
    /// A reader or writer without a name failed.
    #[error("{0}")]
    Io(Arc<std::io::Error>),
    /// Another file altogether.
    #[error("offset 0: the file begins with {found:02x?}, a network begins with {expected:02x?}",
        expected = crate::format::MAGIC)]
    Magic {
        /// What stands there.
        found: [u8; 4],
    },
    /// A version that is not read.
    #[error("offset 4: the version is {found}, and {expected} is read", expected = crate::format::VERSION)]
    Version {
        /// What stands there.
        found: u32,
    },
    /// Features that are not computed here.
    #[error("offset 8: the feature set is {found:?}, and KP is read")]
    FeatureSet {
        /// What stands there, without the zeros behind it.
        found: String,
    },
    /// A size or a scale that is not that of this network.
    #[error("offset {offset}: {what} is {found}, and {expected} is read")]
    Size {
        /// Where it stands.
        offset: usize,
        /// Its name on the page.
        what: &'static str,
        /// What stands there.
        found: u32,
        /// What should.
        expected: u32,
    },
    /// The file ends early.
    #[error("offset {offset}: the file ends, {missing} bytes are missing")]
    Truncated {
        /// The length of the file.
        offset: usize,
        /// Bytes to where it should end; to the end of the header, where it ends in that.
        missing: usize,
    },
    /// Bytes behind the checksum.
    #[error("offset {offset}: there are bytes behind the network")]
    Trailing {
        /// Where the network ends.
        offset: usize,
    },
    /// The bytes are not those that were written.
    #[error("offset {offset}: the checksum is {found:#018x}, of these bytes it is {expected:#018x}")]
    Checksum {
        /// Where it stands.
        offset: usize,
        /// What stands there.
        found: u64,
        /// What should.
        expected: u64,
    },
}
