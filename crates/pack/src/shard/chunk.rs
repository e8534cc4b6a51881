//! The bytes of one column chunk, read in one piece from a file that threads share.

use bytes::{Buf, Bytes, buf::Reader};
use parquet::column::page::{Page, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// A column chunk in memory. Offsets are those of the file, as its metadata states them.
pub(super) struct Chunk {
    start: u64,
    bytes: Bytes,
}

impl Chunk {
    /// Reads a chunk without moving the place the file is read at: threads may read at once.
    pub(super) fn read(file: &File, column: &ColumnChunkMetaData) -> Result<Arc<Self>> {
        let (start, length) = column.byte_range();
        if start.checked_add(length).is_none_or(|end| end > file.len()) {
            return Err(ParquetError::General("a column reaches beyond the end of the file".to_owned()));
        }
        let length = usize::try_from(length).map_err(|error| ParquetError::External(Box::new(error)))?;
        let mut bytes = vec![0; length];
        file.read_exact_at(&mut bytes, start)?;
        Ok(Arc::new(Self { start, bytes: bytes.into() }))
    }

    /// The pages of the chunk from its first.
    pub(super) fn pages(
        self: &Arc<Self>,
        column: &ColumnChunkMetaData,
        rows: usize,
    ) -> Result<SerializedPageReader<Self>> {
        SerializedPageReader::new(Arc::clone(self), column, rows, None)
    }

    /// What is left of the chunk behind an offset of the file.
    fn behind(&self, start: u64) -> Result<Bytes> {
        let at = start.checked_sub(self.start).and_then(|at| usize::try_from(at).ok());
        let at = at.filter(|&at| at <= self.bytes.len());
        let at = at.ok_or_else(|| ParquetError::General("a page lies outside of its column".to_owned()))?;
        Ok(self.bytes.slice(at..))
    }
}

impl Length for Chunk {
    fn len(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

impl ChunkReader for Chunk {
    type T = Reader<Bytes>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(self.behind(start)?.reader())
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let rest = self.behind(start)?;
        if length > rest.len() {
            return Err(ParquetError::General("a page reaches beyond its column".to_owned()));
        }
        Ok(rest.slice(..length))
    }
}

/// Appends the values of a required column of fixed-length bytes, straight from its pages. `false`, and nothing is
/// promised about `out`, where a page is not PLAIN: another writer's file, which the general reader reads.
pub(super) fn plain<const N: usize>(pages: &mut impl PageReader, out: &mut Vec<[u8; N]>) -> Result<bool> {
    use parquet::basic::Encoding::PLAIN;
    while let Some(page) = pages.get_next_page()? {
        let (Page::DataPage { buf, num_values, encoding: PLAIN, .. }
        | Page::DataPageV2 { buf, num_values, encoding: PLAIN, num_nulls: 0, .. }) = &page
        else {
            return Ok(false);
        };
        let (values, rest) = buf.as_chunks::<N>();
        if !rest.is_empty() || values.len() as u64 != u64::from(*num_values) {
            return Err(ParquetError::General(format!(
                "a page of {} bytes does not hold {num_values} values of {N}",
                buf.len()
            )));
        }
        out.extend_from_slice(values);
    }
    Ok(true)
}
