//! What a file is, told by its content and never by its name.

use crate::error::{Error, Result};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The first and last four bytes of every Parquet file.
const PARQUET_MAGIC: &[u8] = b"PAR1";

/// What a file is taken for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileKind {
    /// MPK1, raw or zstd; also anything that is no Parquet file.
    Stream,
    /// Parquet.
    Shard,
}

/// The kind and the length of a file.
pub fn sniff(path: &Path) -> Result<(FileKind, u64)> {
    let file = File::open(path).map_err(Error::io(path))?;
    let len = file.metadata().map_err(Error::io(path))?.len();
    let mut first = Vec::new();
    file.take(PARQUET_MAGIC.len() as u64).read_to_end(&mut first).map_err(Error::io(path))?;
    Ok((if first == PARQUET_MAGIC { FileKind::Shard } else { FileKind::Stream }, len))
}
