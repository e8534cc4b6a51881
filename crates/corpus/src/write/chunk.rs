//! The pages of one column, and what the file says about them.

use bytes::Bytes;
use parquet::basic::{Compression, Encoding, EncodingMask, PageType, ZstdLevel};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::Result;
use parquet::file::metadata::{ColumnChunkMetaData, PageEncodingStats};
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use zstd::bulk::Compressor;

/// Compresses pages, with one context for all of them.
pub(super) struct PageCompressor {
    level: ZstdLevel,
    compressor: Compressor<'static>,
    compressed: Vec<u8>,
}

impl PageCompressor {
    pub(super) fn new(zstd_level: i32) -> Result<Self> {
        let level = ZstdLevel::try_new(zstd_level)?;
        Ok(Self { level, compressor: Compressor::new(zstd_level)?, compressed: Vec::new() })
    }

    fn compress(&mut self, bytes: &[u8]) -> Result<Bytes> {
        self.compressed.clear();
        self.compressed.reserve(zstd::zstd_safe::compress_bound(bytes.len()));
        self.compressor.compress_to_buffer(bytes, &mut self.compressed)?;
        Ok(Bytes::copy_from_slice(&self.compressed))
    }
}

/// A data page that waits for the dictionary to be whole, which stands in front of it.
struct DataPage {
    compressed: Bytes,
    uncompressed: usize,
    values: u32,
}

/// The pages of a column, in order.
pub(super) struct Chunk<'c> {
    compressor: &'c mut PageCompressor,
    encoding: Encoding,
    pages: Vec<DataPage>,
    rows: u64,
}

impl<'c> Chunk<'c> {
    /// Begins a column whose values have this encoding.
    pub(super) const fn new(compressor: &'c mut PageCompressor, encoding: Encoding) -> Self {
        Self { compressor, encoding, pages: Vec::new(), rows: 0 }
    }

    /// Appends a data page of the first version, whose bytes are levels and values.
    pub(super) fn page(&mut self, bytes: &[u8], values: u32, rows: u64) -> Result<()> {
        let compressed = self.compressor.compress(bytes)?;
        self.pages.push(DataPage { compressed, uncompressed: bytes.len(), values });
        self.rows += rows;
        Ok(())
    }

    /// The bytes of the column and its part of the footer. `dictionary` is its page and how many values that has.
    pub(super) fn finish(
        self,
        column: &ColumnDescPtr,
        dictionary: Option<(&[u8], u32)>,
    ) -> Result<(Bytes, ColumnCloseResult)> {
        let Self { compressor, encoding, pages, rows } = self;
        let room = pages.iter().map(|page| page.compressed.len() + HEADER_ROOM).sum::<usize>()
            + dictionary.map_or(0, |(bytes, _)| bytes.len() + HEADER_ROOM);
        let mut sink = TrackedWrite::new(Vec::with_capacity(room));
        let mut writer = SerializedPageWriter::new(&mut sink);
        let (mut encodings, mut stats) = (vec![Encoding::RLE], Vec::new());
        let (mut uncompressed, mut compressed, mut values) = (0, 0, 0);
        let (mut dictionary_at, mut data_at) = (None, None);
        if let Some((bytes, count)) = dictionary {
            let page = Page::DictionaryPage {
                buf: compressor.compress(bytes)?,
                num_values: count,
                encoding: Encoding::PLAIN,
                is_sorted: false,
            };
            let spec = writer.write_page(CompressedPage::new(page, bytes.len()))?;
            dictionary_at = Some(signed(spec.offset));
            uncompressed += spec.uncompressed_size;
            compressed += spec.compressed_size;
            encodings.push(Encoding::PLAIN);
            let (page_type, encoding) = (PageType::DICTIONARY_PAGE, Encoding::PLAIN);
            stats.push(PageEncodingStats { page_type, encoding, count: 1 });
        }
        if !pages.is_empty() {
            encodings.push(encoding);
            let count = i32::try_from(pages.len()).unwrap_or(i32::MAX);
            stats.push(PageEncodingStats { page_type: PageType::DATA_PAGE, encoding, count });
        }
        for page in pages {
            let data = Page::DataPage {
                buf: page.compressed,
                num_values: page.values,
                encoding,
                def_level_encoding: Encoding::RLE,
                rep_level_encoding: Encoding::RLE,
                statistics: None,
            };
            let spec = writer.write_page(CompressedPage::new(data, page.uncompressed))?;
            data_at = data_at.or(Some(signed(spec.offset)));
            uncompressed += spec.uncompressed_size;
            compressed += spec.compressed_size;
            values += i64::from(page.values);
        }
        writer.close()?;
        let metadata = ColumnChunkMetaData::builder(column.clone())
            .set_compression(Compression::ZSTD(compressor.level))
            .set_encodings_mask(EncodingMask::new_from_encodings(encodings.iter()))
            .set_page_encoding_stats(stats)
            .set_total_compressed_size(signed(compressed as u64))
            .set_total_uncompressed_size(signed(uncompressed as u64))
            .set_num_values(values)
            .set_data_page_offset(data_at.unwrap_or(0))
            .set_dictionary_page_offset(dictionary_at)
            .build()?;
        let bytes = Bytes::from(sink.into_inner()?);
        let close = ColumnCloseResult {
            bytes_written: bytes.len() as u64,
            rows_written: rows,
            metadata,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        Ok((bytes, close))
    }
}

/// More than the header of a page takes.
const HEADER_ROOM: usize = 64;

/// Sizes of a row group in memory are far below the end of either type.
fn signed(size: u64) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX)
}
