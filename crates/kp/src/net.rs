//! A network: its file, its identity, and where its evaluation begins.

use crate::error::{Error, Result};
use crate::evaluate::{Refused, Scratch, evaluate};
use crate::format::{CHECKSUM_BYTES, FILE_BYTES, KP256, Parts};
use crate::tensors::{HIDDEN, INPUT, Tensors, filled};
use manaka_core::whole_file::{Existing, WholeFile};
use manaka_core::{Move16, Packed};
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::{Arc, LazyLock};

/// The default network; docs/guide/default-net.md has the commands that remake it.
static EMBEDDED: &[u8; FILE_BYTES] = include_bytes!("../nets/kp256.kp");

/// Four inputs of the hidden layer: for each output, its weights of them. AVX2 takes eight outputs at a time.
pub type Four = crate::tensors::Aligned<[[i8; 32]; HIDDEN / 8]>;
/// Fours of the hidden layer's inputs.
pub const FOURS: usize = INPUT / 4;

/// A network of kp256, about 1 MB. Threads may share it.
#[derive(Clone)]
pub struct Net {
    tensors: Tensors,
    /// The hidden layer's weights as AVX2 wants them.
    fours: Box<[Four; FOURS]>,
    hash: u64,
}

impl Net {
    /// The network that is in the binary (docs/guide/default-net.md).
    #[must_use]
    pub fn embedded() -> &'static Self {
        static NET: LazyLock<Net> = LazyLock::new(|| {
            // A test reads the file; were it damaged, all would be zeros.
            Net::from_bytes(EMBEDDED).unwrap_or_else(|_| Net::new(Tensors::zeros()))
        });
        &NET
    }

    /// A network of these numbers.
    #[must_use]
    pub fn new(tensors: Tensors) -> Self {
        let bytes = tensors.to_bytes();
        let hash = bytes.last_chunk::<CHECKSUM_BYTES>().map_or(0, |chunk| u64::from_le_bytes(*chunk));
        Self::with_hash(tensors, hash)
    }

    fn with_hash(tensors: Tensors, hash: u64) -> Self {
        let mut fours = filled(crate::tensors::Aligned([[0; 32]; HIDDEN / 8]));
        for (output, row) in tensors.hidden_weights.iter().enumerate() {
            for (four, weights) in fours.iter_mut().zip(row.0.as_chunks::<4>().0) {
                let (to, _) = four.0[output / 8].as_chunks_mut::<4>();
                to[output % 8] = *weights;
            }
        }
        Self { tensors, fours, hash }
    }

    /// The numbers.
    #[must_use]
    pub const fn tensors(&self) -> &Tensors {
        &self.tensors
    }

    pub(crate) const fn fours(&self) -> &[Four; FOURS] {
        &self.fours
    }

    /// What tells networks apart: the checksum of the file, XXH3-64 of all in front of it (kpnet.md §2).
    #[must_use]
    pub const fn hash(&self) -> u64 {
        self.hash
    }

    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// [`Error`] with the offset of the first thing that is wrong (kpnet.md §5).
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let parts = Parts::of(bytes, KP256)?;
        Ok(Self::with_hash(Tensors::read(&parts), parts.checksum))
    }

    /// Reads a file to its end, of which there may be 1,074,380 bytes; no more than one byte beyond is taken.
    ///
    /// # Errors
    /// [`Error::Io`]; otherwise as [`from_bytes`](Self::from_bytes).
    pub fn read(reader: impl Read) -> Result<Self> {
        let mut bytes = Vec::with_capacity(FILE_BYTES + 1);
        reader
            .take(FILE_BYTES as u64 + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| Error::Io(Arc::new(error)))?;
        Self::from_bytes(&bytes)
    }

    /// Reads a file by its name.
    ///
    /// # Errors
    /// [`Error::File`]; [`Error::In`] around what is wrong with it.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|error| at(path, error))?;
        Self::read(file).map_err(|error| match error {
            Error::Io(source) => Error::File { path: path.into(), source },
            error => Error::In { path: path.into(), error: Box::new(error) },
        })
    }

    /// The bytes of its file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.tensors.to_bytes()
    }

    /// Writes its file.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn write(&self, mut writer: impl Write) -> Result<()> {
        writer.write_all(&self.to_bytes()).map_err(|error| Error::Io(Arc::new(error)))
    }

    /// Writes its file, which appears when it is whole and takes the place of one that is there.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn save(&self, path: &Path) -> Result<()> {
        let save = || {
            let mut file = WholeFile::create(path, Existing::Replace)?;
            file.write_all(&self.to_bytes())?;
            file.commit()
        };
        save().map(drop).map_err(|error| at(path, error))
    }

    /// Evaluates a position (kpnet.md §4): returns the value in [−1, 1] from the side to move, and fills in a logit for
    /// each move, in their order. Only the policy rows of these moves are computed, and legality is not looked at.
    ///
    /// # Errors
    /// [`Refused`]: there are no features of the position or no label of a move, or not as many logits as moves.
    pub fn evaluate(
        &self,
        scratch: &mut Scratch,
        position: &Packed,
        moves: &[Move16],
        logits: &mut [f32],
    ) -> Result<f32, Refused> {
        evaluate(self, scratch, position, moves, logits)
    }
}

fn at(path: &Path, error: std::io::Error) -> Error {
    Error::File { path: path.into(), source: Arc::new(error) }
}

impl std::fmt::Debug for Net {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Net({:016x})", self.hash)
    }
}
