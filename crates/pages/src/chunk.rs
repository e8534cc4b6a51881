//! The pages of one column chunk, and what the footer says about them.

use bytes::Bytes;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ColumnChunkMetaData, PageEncodingStats};
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use std::mem;
use zstd::bulk::Compressor;
use zstd::zstd_safe::compress_bound;

/// Compresses pages, with one context and one buffer for all of them.
pub(crate) struct Zstd {
    level: ZstdLevel,
    compressor: Compressor<'static>,
    buffer: Vec<u8>,
}

impl Zstd {
    pub(crate) fn new(level: i32) -> Result<Self> {
        let (level, compressor) = (ZstdLevel::try_new(level)?, Compressor::new(level)?);
        Ok(Self { level, compressor, buffer: Vec::new() })
    }

    /// The bytes, compressed. Their memory should come back to the buffer.
    fn compress(&mut self, bytes: &[u8]) -> Result<Bytes> {
        let mut compressed = mem::take(&mut self.buffer);
        compressed.clear();
        compressed.reserve(compress_bound(bytes.len()));
        self.compressor.compress_to_buffer(bytes, &mut compressed)?;
        Ok(compressed.into())
    }
}

/// Writes the pages of one column chunk and keeps its books.
pub struct ChunkWriter<'a> {
    column: ColumnDescPtr,
    zstd: &'a mut Zstd,
    sink: &'a mut TrackedWrite<Vec<u8>>,
    /// Data pages behind a dictionary that is not whole yet, and their bytes before they were compressed.
    held: Vec<(Page, usize)>,
    compressed: u64,
    uncompressed: usize,
    values: i64,
    dictionary: Option<i64>,
    data: Option<i64>,
    stats: Vec<PageEncodingStats>,
}

impl<'a> ChunkWriter<'a> {
    pub(crate) const fn new(
        column: ColumnDescPtr,
        zstd: &'a mut Zstd,
        sink: &'a mut TrackedWrite<Vec<u8>>,
    ) -> Self {
        Self {
            column,
            zstd,
            sink,
            held: Vec::new(),
            compressed: 0,
            uncompressed: 0,
            values: 0,
            dictionary: None,
            data: None,
            stats: Vec::new(),
        }
    }

    /// Writes the dictionary, `count` values that are PLAIN. It stands in front of all data pages.
    ///
    /// # Errors
    /// Whatever the compressor has to say, here and below; no bytes are known to make it speak.
    pub fn dictionary(&mut self, values: &[u8], count: usize) -> Result<()> {
        let (buf, num_values) = (self.zstd.compress(values)?, number(count)?);
        let page = Page::DictionaryPage {
            buf: buf.clone(),
            num_values,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        };
        self.write(page, values.len())?;
        self.give_back(buf);
        Ok(())
    }

    /// Writes a data page of version 1: levels, then values of this encoding, `count` of them with the nulls.
    ///
    /// # Errors
    /// As above.
    pub fn data(&mut self, page: &[u8], count: usize, encoding: Encoding) -> Result<()> {
        let buf = self.zstd.compress(page)?;
        self.write(data_page(buf.clone(), count, encoding)?, page.len())?;
        self.give_back(buf);
        Ok(())
    }

    /// Compresses a data page whose dictionary is not whole yet, and writes it when the chunk is closed.
    ///
    /// # Errors
    /// As above.
    pub fn hold(&mut self, page: &[u8], count: usize, encoding: Encoding) -> Result<()> {
        let buf = self.zstd.compress(page)?;
        self.held.push((data_page(Bytes::copy_from_slice(&buf), count, encoding)?, page.len()));
        self.give_back(buf);
        Ok(())
    }

    fn write(&mut self, page: Page, uncompressed: usize) -> Result<()> {
        let (page_type, encoding, count) = (page.page_type(), page.encoding(), page.num_values());
        let is_data = page.is_data_page();
        let page = CompressedPage::new(page, uncompressed);
        let spec = SerializedPageWriter::new(self.sink).write_page(page)?;
        let offset = Some(signed(spec.offset)?);
        if is_data {
            self.data = self.data.or(offset);
            self.values += i64::from(count);
        } else {
            self.dictionary = offset;
        }
        self.compressed += spec.bytes_written;
        self.uncompressed += spec.uncompressed_size;
        match self.stats.last_mut() {
            Some(same) if (same.page_type, same.encoding) == (page_type, encoding) => same.count += 1,
            _ => self.stats.push(PageEncodingStats { page_type, encoding, count: 1 }),
        }
        Ok(())
    }

    /// Takes memory for the next page. The page it was for is gone, so this is the only handle.
    fn give_back(&mut self, compressed: Bytes) {
        self.zstd.buffer = compressed.into();
    }

    /// Writes what was held; the chunk's part of the footer.
    pub(crate) fn close(mut self, rows: u64) -> Result<ColumnCloseResult> {
        for (page, uncompressed) in mem::take(&mut self.held) {
            self.write(page, uncompressed)?;
        }
        // Levels are RLE.
        let encodings = self.stats.iter().map(|page| page.encoding).chain([Encoding::RLE]);
        let metadata = ColumnChunkMetaData::builder(self.column)
            .set_compression(Compression::ZSTD(self.zstd.level))
            .set_encodings(encodings.collect())
            .set_page_encoding_stats(self.stats)
            .set_total_compressed_size(signed(self.compressed)?)
            .set_total_uncompressed_size(signed(self.uncompressed as u64)?)
            .set_num_values(self.values)
            .set_data_page_offset(self.data.unwrap_or(0))
            .set_dictionary_page_offset(self.dictionary)
            .build()?;
        Ok(ColumnCloseResult {
            bytes_written: self.compressed,
            rows_written: rows,
            metadata,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        })
    }
}

fn data_page(buf: Bytes, count: usize, encoding: Encoding) -> Result<Page> {
    Ok(Page::DataPage {
        buf,
        num_values: number(count)?,
        encoding,
        def_level_encoding: Encoding::RLE,
        rep_level_encoding: Encoding::RLE,
        statistics: None,
    })
}

fn number(count: usize) -> Result<u32> {
    u32::try_from(count).map_err(|error| ParquetError::External(Box::new(error)))
}

fn signed(size: u64) -> Result<i64> {
    i64::try_from(size).map_err(|error| ParquetError::External(Box::new(error)))
}
