//! Encoding row groups, which any thread may do.

use super::chunk::{Chunk, PageCompressor};
use super::columns::schema;
use super::dictionary::Dictionary;
use super::group::RowGroup;
use super::hybrid;
use super::text::move_text;
use crate::schema::{COLUMNS, Column};
use bytes::Bytes;
use manaka_core::Move16;
use parquet::basic::Encoding;
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::Result;
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor};
use std::fmt;

/// A row group that is encoded and compressed, but in no file yet.
#[derive(Debug)]
pub struct EncodedGroup {
    rows: u64,
    columns: Vec<(Bytes, ColumnCloseResult)>,
}

impl EncodedGroup {
    /// Its rows.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    pub(super) fn into_columns(self) -> Vec<(Bytes, ColumnCloseResult)> {
        self.columns
    }
}

/// Levels between two looks at how full a page is; in a list column the last row among them is finished.
pub(super) const BATCH: usize = 1024;
/// Rows and bytes from which on a page takes no more.
const PAGE_ROWS: usize = 20_000;
const PAGE_BYTES: usize = 1 << 20;

/// Encodes row groups, with memory of its own: one for each thread.
///
/// Every column has few kinds of values that fit 16 bits, or is text that is there already; so their pages are made here
/// instead of through the parquet crate, byte for byte as it would make them (the tests compare the two) and several times
/// as fast.
pub struct GroupEncoder {
    columns: Vec<ColumnDescPtr>,
    compressor: PageCompressor,
    dictionary: Dictionary,
    indices: Vec<u16>,
    page: Vec<u8>,
}

impl GroupEncoder {
    /// The zstd level unless told otherwise: the fastest, for a corpus is read once and made again from what is raw.
    pub const DEFAULT_ZSTD_LEVEL: i32 = 1;

    /// An encoder at this zstd level, at most 22.
    ///
    /// # Errors
    /// When there is no such level.
    pub fn new(zstd_level: i32) -> Result<Self> {
        let descriptor = SchemaDescriptor::new(schema()?);
        Ok(Self {
            columns: descriptor.columns().to_vec(),
            compressor: PageCompressor::new(zstd_level)?,
            dictionary: Dictionary::new(),
            indices: Vec::new(),
            page: Vec::new(),
        })
    }

    /// Encodes the rows. The bytes depend on nothing but the rows and the level.
    ///
    /// # Errors
    /// Whatever the compressor has to say; nothing that rows can hold is known to make it speak.
    pub fn encode(&mut self, group: &RowGroup) -> Result<EncodedGroup> {
        let columns = COLUMNS.into_iter().enumerate().map(|(at, column)| match column {
            Column::Sfen => self.texts(at, group),
            Column::Side => self.flat(at, &group.side, plain_unsigned),
            Column::Ply => self.flat(at, &group.ply, plain_unsigned),
            Column::Cp => self.flat(at, &group.cp, plain_signed),
            Column::Depth => self.flat(at, &group.depth, plain_unsigned),
            Column::CandMove => self.lists(at, group, &group.cand_move, plain_move),
            Column::CandCp => self.lists(at, group, &group.cand_cp, plain_signed),
            Column::Move => self.flat(at, &group.mv, plain_move),
            Column::Result => self.flat(at, &group.result, plain_signed),
        });
        Ok(EncodedGroup { rows: group.len() as u64, columns: columns.collect::<Result<_>>()? })
    }

    /// The positions: no dictionary, the texts as they are.
    fn texts(&mut self, at: usize, group: &RowGroup) -> Result<(Bytes, ColumnCloseResult)> {
        let mut chunk = Chunk::new(&mut self.compressor, Encoding::PLAIN);
        let (mut rows, mut start, mut end) = (0, 0, 0);
        let mut left = group.len();
        for &batch_end in group.sfen_batches.iter().chain([&group.sfens.len()]) {
            let batch = left.min(BATCH);
            left -= batch;
            rows += batch;
            end = batch_end.max(end);
            if rows > 0 && (rows >= PAGE_ROWS || end - start >= PAGE_BYTES || left == 0) {
                self.page.clear();
                present(rows, &mut self.page);
                self.page.extend_from_slice(&group.sfens[start..end]);
                chunk.page(&self.page, count(rows), rows as u64)?;
                (rows, start) = (0, end);
            }
        }
        chunk.finish(&self.columns[at], None)
    }

    /// A column with a value in each row.
    fn flat(
        &mut self,
        at: usize,
        values: &[u16],
        plain: impl Fn(u16, &mut Vec<u8>),
    ) -> Result<(Bytes, ColumnCloseResult)> {
        let Self { columns, compressor, dictionary, indices, page } = self;
        let mut chunk = Chunk::new(compressor, Encoding::RLE_DICTIONARY);
        dictionary.clear();
        indices.clear();
        let mut left = values.len();
        for batch in values.chunks(BATCH) {
            indices.extend(batch.iter().map(|&value| dictionary.index(value)));
            left -= batch.len();
            if indices.len() >= PAGE_ROWS || is_full(dictionary, indices) || left == 0 {
                page.clear();
                present(indices.len(), page);
                push_indices(dictionary, indices, page);
                chunk.page(page, count(indices.len()), indices.len() as u64)?;
                indices.clear();
            }
        }
        let count = push_dictionary(dictionary, plain, page);
        chunk.finish(&columns[at], Some((page, count)))
    }

    /// A column with a list in each row, whose values lie one behind the other.
    fn lists(
        &mut self,
        at: usize,
        group: &RowGroup,
        values: &[u16],
        plain: impl Fn(u16, &mut Vec<u8>),
    ) -> Result<(Bytes, ColumnCloseResult)> {
        let Self { columns, compressor, dictionary, indices, page } = self;
        let mut chunk = Chunk::new(compressor, Encoding::RLE_DICTIONARY);
        dictionary.clear();
        indices.clear();
        let (mut page_levels, mut page_rows, mut value) = (0, 0, 0);
        for (number, batch) in group.list_batches.iter().enumerate() {
            let batch_values = &values[value..batch.values];
            indices.extend(batch_values.iter().map(|&value| dictionary.index(value)));
            value = batch.values;
            page_rows += batch.rows;
            let last = number + 1 == group.list_batches.len();
            if page_rows >= PAGE_ROWS || is_full(dictionary, indices) || last {
                page.clear();
                let levels = page_levels..batch.levels;
                push_levels(&group.rep[levels.clone()], 1, page);
                push_levels(&group.def[levels.clone()], 2, page);
                push_indices(dictionary, indices, page);
                chunk.page(page, count(levels.len()), page_rows as u64)?;
                (page_levels, page_rows) = (batch.levels, 0);
                indices.clear();
            }
        }
        let count = push_dictionary(dictionary, plain, page);
        chunk.finish(&columns[at], Some((page, count)))
    }
}

/// The definition levels of rows that all have a value.
fn present(rows: usize, out: &mut Vec<u8>) {
    with_length(out, |out| hybrid::run(1, rows, 1, out));
}

fn push_levels(levels: &[u16], width: u32, out: &mut Vec<u8>) {
    with_length(out, |out| hybrid::encode(levels, width, out));
}

/// Puts the length of what is appended in front of it.
fn with_length(out: &mut Vec<u8>, append: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    append(out);
    let len = count(out.len() - start - 4);
    out[start..start + 4].copy_from_slice(&len.to_le_bytes());
}

fn push_indices(dictionary: &Dictionary, indices: &[u16], out: &mut Vec<u8>) {
    out.push(dictionary.width().to_le_bytes()[0]);
    hybrid::encode(indices, dictionary.width(), out);
}

/// Whether the indices may take a whole page, if nothing repeats.
fn is_full(dictionary: &Dictionary, indices: &[u16]) -> bool {
    indices.len().div_ceil(8) * (1 + dictionary.width() as usize) >= PAGE_BYTES
}

/// Replaces `page` by that of a dictionary and says how many values it has.
fn push_dictionary(dictionary: &Dictionary, plain: impl Fn(u16, &mut Vec<u8>), page: &mut Vec<u8>) -> u32 {
    page.clear();
    dictionary.values().iter().for_each(|&value| plain(value, page));
    count(dictionary.values().len())
}

fn plain_unsigned(value: u16, out: &mut Vec<u8>) {
    out.extend_from_slice(&u32::from(value).to_le_bytes());
}

fn plain_signed(value: u16, out: &mut Vec<u8>) {
    out.extend_from_slice(&i32::from(value.cast_signed()).to_le_bytes());
}

fn plain_move(value: u16, out: &mut Vec<u8>) {
    let text = move_text(Move16::from_bits(value));
    out.extend_from_slice(&count(text.len()).to_le_bytes());
    out.extend_from_slice(text);
}

/// What is in a row group can be counted in 32 bits.
fn count(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

impl fmt::Debug for GroupEncoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GroupEncoder").finish_non_exhaustive()
    }
}
