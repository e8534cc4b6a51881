//! Writing shards: row groups were encoded by any thread; one writer strings them together in order.

use super::footer::Footer;
use super::schema::{Outcomes, columns, properties, schema};
use crate::error::{Error, Result};
use manaka_core::whole_file::{Existing, WholeFile};
use manaka_pages::EncodedGroup;
use parquet::errors::Result as ParquetResult;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::TypePtr;
use serde::Serialize;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn created_by() -> String {
    concat!("manaka-pack version ", env!("CARGO_PKG_VERSION")).to_owned()
}

/// What a finished shard holds.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ShardSummary {
    /// The file.
    #[serde(serialize_with = "crate::report::lossy")]
    pub path: PathBuf,
    /// Its rows.
    pub rows: u64,
    /// Its length in bytes.
    pub bytes: u64,
    /// Compressed bytes of each leaf column, in file order.
    #[serde(skip)]
    pub column_bytes: Vec<u64>,
}

/// Hands bytes on to a file in whole blocks, has each sent to disk at once, and lets go of it when it is there.
///
/// The system copies whole pages without a look at what they held before; what is on its way to disk while rows are still
/// encoded need not be waited for at the end; and pages that come back take the next block, where new ones would cost more
/// than the copy.
struct Blocks {
    file: WholeFile,
    block: Vec<u8>,
    /// Bytes written.
    at: u64,
}

impl Blocks {
    /// Bytes of a block.
    const LEN: usize = 1 << 20;
    /// A block is on disk when as many bytes more were sent, if the disk keeps up.
    const BEHIND: u64 = 32 << 20;

    fn new(file: WholeFile) -> Self {
        Self { file, block: Vec::with_capacity(Self::LEN), at: 0 }
    }

    fn send(&mut self) -> io::Result<()> {
        self.file.write_all(&self.block)?;
        self.file.begin_write_back(self.at, self.block.len() as u64);
        if let Some(behind) = self.at.checked_sub(Self::BEHIND) {
            self.file.begin_write_back(behind, Self::LEN as u64);
        }
        self.at += self.block.len() as u64;
        self.block.clear();
        Ok(())
    }

    /// Sends what is left; the file.
    fn into_file(mut self) -> io::Result<WholeFile> {
        self.send()?;
        Ok(self.file)
    }
}

impl Write for Blocks {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(Self::LEN - self.block.len());
        self.block.extend_from_slice(&bytes[..taken]);
        if self.block.len() == Self::LEN {
            self.send()?;
        }
        Ok(taken)
    }

    /// Nothing: the rest is sent at the end.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes one shard. It gets its name when it is finished.
pub struct ShardWriter {
    path: PathBuf,
    writer: SerializedFileWriter<Blocks>,
    rows: u64,
    column_bytes: Vec<u64>,
}

impl ShardWriter {
    /// Creates a shard whose footer states `footer`; `outcomes` is that of the encoder of its groups.
    ///
    /// # Errors
    /// [`Error::Io`] when the file exists or cannot be created, [`Error::Parquet`].
    pub fn create(path: &Path, footer: &Footer, outcomes: Outcomes) -> Result<Self> {
        let source = footer.conventions.policy_source;
        let file = WholeFile::create(path, Existing::Refuse).map_err(Error::io(path))?;
        let build = || -> ParquetResult<SerializedFileWriter<Blocks>> {
            let schema: TypePtr = schema(source, outcomes)?;
            let properties = properties(created_by(), footer.key_values());
            SerializedFileWriter::new(Blocks::new(file), schema, Arc::new(properties))
        };
        let writer = build().map_err(Error::parquet(path))?;
        Ok(Self { path: path.to_owned(), writer, rows: 0, column_bytes: vec![0; columns(source).count()] })
    }

    /// Rows appended so far.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Appends an encoded row group. Returns the memory it was in, for [`GroupEncoder::give_back`](super::GroupEncoder::give_back).
    ///
    /// # Errors
    /// [`Error::Parquet`].
    pub fn append(&mut self, group: EncodedGroup) -> Result<Vec<u8>> {
        for (close, total) in group.columns().iter().zip(&mut self.column_bytes) {
            *total += close.bytes_written;
        }
        let rows = group.rows();
        let memory = group.append_to(&mut self.writer).map_err(Error::parquet(&self.path))?;
        self.rows += rows;
        Ok(memory)
    }

    /// Writes the footer and gives the shard its name.
    ///
    /// # Errors
    /// [`Error::Io`] or [`Error::Parquet`]; the shard does not appear then.
    pub fn finish(self) -> Result<ShardSummary> {
        let blocks = self.writer.into_inner().map_err(Error::parquet(&self.path))?;
        let file = blocks.into_file().map_err(Error::io(&self.path))?;
        let bytes = file.commit().map_err(Error::io(&self.path))?;
        Ok(ShardSummary { path: self.path, rows: self.rows, bytes, column_bytes: self.column_bytes })
    }
}
