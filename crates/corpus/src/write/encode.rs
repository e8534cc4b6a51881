//! Encoding row groups, which any thread may do.

use super::columns::schema;
use super::group::{Batch, RowGroup};
use super::text::move_text;
use crate::schema::{COLUMNS, Column};
use manaka_core::Move16;
use manaka_pages::levels::{cut, equal, with_length};
use manaka_pages::{ChunkWriter, Dictionary16, EncodedGroup, GroupWriter};
use parquet::basic::Encoding;
use parquet::errors::Result;
use std::fmt;
use std::ops::Range;

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
    groups: GroupWriter,
    columns: Columns,
}

impl GroupEncoder {
    /// The zstd level unless told otherwise: the fastest, for a corpus is read once and made again from what is raw.
    pub const DEFAULT_ZSTD_LEVEL: i32 = 1;

    /// An encoder at this zstd level, at most 22.
    ///
    /// # Errors
    /// When there is no such level.
    pub fn new(zstd_level: i32) -> Result<Self> {
        Ok(Self { groups: GroupWriter::new(schema()?, zstd_level)?, columns: Columns::default() })
    }

    /// Encodes the rows. The bytes depend on nothing but the rows and the level.
    ///
    /// # Errors
    /// Whatever the compressor has to say; nothing that rows can hold is known to make it speak.
    pub fn encode(&mut self, group: &RowGroup) -> Result<EncodedGroup> {
        let Self { groups, columns } = self;
        groups.group(group.len(), |at, chunk| match COLUMNS[at] {
            Column::Sfen => columns.texts(group, chunk),
            Column::Side => columns.flat(&group.side, plain_unsigned, chunk),
            Column::Ply => columns.flat(&group.ply, plain_unsigned, chunk),
            Column::Cp => columns.flat(&group.cp, plain_signed, chunk),
            Column::Depth => columns.flat(&group.depth, plain_unsigned, chunk),
            Column::CandMove => columns.lists(group, &group.cand_move, plain_move, chunk),
            Column::CandCp => columns.lists(group, &group.cand_cp, plain_signed, chunk),
            Column::Move => columns.flat(&group.mv, plain_move, chunk),
            Column::Result => columns.flat(&group.result, plain_signed, chunk),
        })
    }
}

/// Makes the pages of one column after another, out of the same memory.
#[derive(Default)]
struct Columns {
    dictionary: Dictionary16,
    indices: Vec<u16>,
    page: Vec<u8>,
}

impl Columns {
    /// The positions: no dictionary, the texts as they are.
    fn texts(&mut self, group: &RowGroup, chunk: &mut ChunkWriter<'_>) -> Result<()> {
        let (mut rows, mut start, mut end) = (0, 0, 0);
        let mut left = group.len();
        for &batch_end in group.sfen_batches.iter().chain([&group.sfens.len()]) {
            let batch = left.min(BATCH);
            left -= batch;
            rows += batch;
            end = batch_end.max(end);
            if rows > 0 && (rows >= PAGE_ROWS || end - start >= PAGE_BYTES || left == 0) {
                self.page.clear();
                equal(PRESENT, rows, &mut self.page);
                self.page.extend_from_slice(&group.sfens[start..end]);
                chunk.data(&self.page, rows, Encoding::PLAIN)?;
                (rows, start) = (0, end);
            }
        }
        Ok(())
    }

    /// A column with a value in each row.
    fn flat(
        &mut self,
        values: &[u16],
        plain: impl Fn(u16, &mut Vec<u8>),
        chunk: &mut ChunkWriter<'_>,
    ) -> Result<()> {
        let batches = values.chunks(BATCH).scan(0, |end, batch| {
            *end += batch.len();
            Some(Batch { rows: batch.len(), levels: *end, values: *end })
        });
        let levels = |rows: Range<usize>, page: &mut Vec<u8>| equal(PRESENT, rows.len(), page);
        self.column(values, values.len(), batches, levels, plain, chunk)
    }

    /// A column with a list in each row, whose values lie one behind the other.
    fn lists(
        &mut self,
        group: &RowGroup,
        values: &[u16],
        plain: impl Fn(u16, &mut Vec<u8>),
        chunk: &mut ChunkWriter<'_>,
    ) -> Result<()> {
        let levels = |levels: Range<usize>, page: &mut Vec<u8>| {
            cut(&group.rep[levels.clone()], 1, page);
            cut(&group.def[levels], 2, page);
        };
        let batches = group.list_batches.iter().copied();
        self.column(values, group.def.len(), batches, levels, plain, chunk)
    }

    /// A column with a dictionary: `all` levels, of which `levels` appends those that it is asked for.
    fn column(
        &mut self,
        values: &[u16],
        all: usize,
        batches: impl Iterator<Item = Batch>,
        levels: impl Fn(Range<usize>, &mut Vec<u8>),
        plain: impl Fn(u16, &mut Vec<u8>),
        chunk: &mut ChunkWriter<'_>,
    ) -> Result<()> {
        let Self { dictionary, indices, page } = self;
        dictionary.clear();
        indices.clear();
        let (mut start, mut rows, mut value) = (0, 0, 0);
        for batch in batches {
            indices.extend(values[value..batch.values].iter().map(|&value| dictionary.index(value)));
            value = batch.values;
            rows += batch.rows;
            if rows >= PAGE_ROWS || is_full(dictionary, indices) || batch.levels == all {
                page.clear();
                levels(start..batch.levels, page);
                dictionary.cut(indices, page);
                chunk.hold(page, batch.levels - start, Encoding::RLE_DICTIONARY)?;
                (start, rows) = (batch.levels, 0);
                indices.clear();
            }
        }
        page.clear();
        dictionary.values().iter().for_each(|&value| plain(value, page));
        chunk.dictionary(page, dictionary.values().len())
    }
}

/// The definition level of rows that have a value, in a flat column.
const PRESENT: u8 = 1;

/// Whether the indices may take a whole page, if nothing repeats.
fn is_full(dictionary: &Dictionary16, indices: &[u16]) -> bool {
    indices.len().div_ceil(8) * (1 + dictionary.width() as usize) >= PAGE_BYTES
}

fn plain_unsigned(value: u16, out: &mut Vec<u8>) {
    out.extend_from_slice(&u32::from(value).to_le_bytes());
}

fn plain_signed(value: u16, out: &mut Vec<u8>) {
    out.extend_from_slice(&i32::from(value.cast_signed()).to_le_bytes());
}

fn plain_move(value: u16, out: &mut Vec<u8>) {
    with_length(out, |out| out.extend_from_slice(move_text(Move16::from_bits(value))));
}

impl fmt::Debug for GroupEncoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GroupEncoder").finish_non_exhaustive()
    }
}
