//! Pages on their way to the parquet crate's decoders, which make room for whatever pages state: what a few bytes may
//! state without end is counted here first.

use super::too_many;
use crate::error::Cause;
use crate::file::{STEP_LEVELS, STEP_ROWS};
use crate::schema::Leaf;
use manaka_pages::hybrid::HybridReader;
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::Result as ParquetResult;

/// Texts that a page in a delta encoding may have, and bytes that they may have once those that they share with the text
/// before are written out: as many as a page may have.
const DELTA_TEXTS: u64 = 1 << 24;
const DELTA_BYTES: u64 = 256 << 20;

/// Pages that were looked at.
pub(super) struct Looked {
    pages: Box<dyn PageReader>,
    rep_bits: u32,
    def_bits: u32,
    /// Rows begun in this step, and levels of them.
    rows: usize,
    levels: u32,
    /// Levels of a few pages, as many as a step has or more, and the bytes that their texts share with those before.
    delta_levels: u32,
    delta_bytes: u64,
}

/// Where the parts of a data page are.
struct Parts<'p> {
    bytes: &'p [u8],
    levels: u32,
    /// Of lists.
    rep: HybridReader,
    values: usize,
}

impl Looked {
    pub(super) fn new(leaf: &Leaf, pages: Box<dyn PageReader>) -> Self {
        let bits = |max: i16| u16::BITS - max.unsigned_abs().leading_zeros();
        let (rep_bits, def_bits) = (bits(leaf.descr.max_rep_level()), bits(leaf.descr.max_def_level()));
        Self { pages, rep_bits, def_bits, rows: 0, levels: 0, delta_levels: 0, delta_bytes: 0 }
    }

    fn look(&mut self, page: &Page) -> Result<(), Cause> {
        let encoding = page.encoding();
        let Some(parts) = self.parts(page)? else { return Ok(()) };
        if self.rep_bits > 0 {
            self.count(parts.bytes, parts.levels, parts.rep)?;
        }
        if let Encoding::DELTA_LENGTH_BYTE_ARRAY | Encoding::DELTA_BYTE_ARRAY = encoding {
            self.texts(&parts, encoding == Encoding::DELTA_BYTE_ARRAY)?;
        }
        Ok(())
    }

    /// `None` where there are none, or none that can be read: the decoder says why.
    #[expect(deprecated, reason = "levels that are packed without runs")]
    fn parts<'p>(&self, page: &'p Page) -> Result<Option<Parts<'p>>, Cause> {
        match page {
            Page::DictionaryPage { .. } => Ok(None),
            Page::DataPage { buf, num_values, def_level_encoding, rep_level_encoding, .. } => {
                let (mut at, mut rep) = (0, HybridReader::default());
                for (bits, encoding, of_lists) in
                    [(self.rep_bits, *rep_level_encoding, true), (self.def_bits, *def_level_encoding, false)]
                {
                    if bits == 0 {
                        continue;
                    }
                    if encoding == Encoding::BIT_PACKED {
                        // Nobody has written these for years, and nothing tells rows here.
                        if of_lists && *num_values > STEP_LEVELS {
                            return Err(too_many());
                        }
                        at += (*num_values as usize * bits as usize).div_ceil(8);
                        continue;
                    }
                    let Some(len) = buf.get(at..).and_then(<[u8]>::first_chunk) else { return Ok(None) };
                    let (start, end) = (at + 4, at + 4 + u32::from_le_bytes(*len) as usize);
                    if of_lists {
                        rep = HybridReader::new(bits, start, end);
                    }
                    at = end;
                }
                Ok(Some(Parts { bytes: buf, levels: *num_values, rep, values: at }))
            }
            Page::DataPageV2 { buf, num_values, rep_levels_byte_len, def_levels_byte_len, .. } => {
                let rep = HybridReader::new(self.rep_bits, 0, *rep_levels_byte_len as usize);
                let values = *rep_levels_byte_len as usize + *def_levels_byte_len as usize;
                Ok(Some(Parts { bytes: buf, levels: *num_values, rep, values }))
            }
        }
    }

    /// Counts the levels of the rows of each step, which begins where the last one has all of its rows.
    fn count(&mut self, bytes: &[u8], mut left: u32, mut rep: HybridReader) -> Result<(), Cause> {
        while left > 0 {
            let mut taken = rep.run_of(1, bytes).min(left);
            if taken > 0 {
                rep.skip_run(taken);
            } else {
                taken = 1;
                match rep.next(bytes) {
                    // The decoder says what is wrong.
                    None => return Ok(()),
                    Some(0) if self.rows == STEP_ROWS => (self.rows, self.levels) = (1, 0),
                    Some(0) => self.rows += 1,
                    Some(_) => {}
                }
            }
            left -= taken;
            self.levels = self.levels.saturating_add(taken);
            if self.levels > STEP_LEVELS {
                return Err(too_many());
            }
        }
        Ok(())
    }

    /// Counts the texts of a page in a delta encoding, and what they are when they are written out.
    fn texts(&mut self, page: &Parts<'_>, prefixes: bool) -> Result<(), Cause> {
        let most = u64::from(page.levels).min(DELTA_TEXTS);
        let mut deltas = Deltas { bytes: page.bytes, at: page.values };
        if prefixes {
            // A step touches two such stretches of pages at most.
            if self.delta_levels >= STEP_LEVELS {
                (self.delta_levels, self.delta_bytes) = (0, 0);
            }
            self.delta_levels = self.delta_levels.saturating_add(page.levels);
            let Some(shared) = deltas.sum(most)? else { return Ok(()) };
            self.delta_bytes = self.delta_bytes.saturating_add(shared);
            if self.delta_bytes > DELTA_BYTES {
                return Err(Cause::damaged(format!(
                    "texts of more than {DELTA_BYTES} bytes share their beginnings"
                )));
            }
        }
        deltas.sum(most).map(drop)
    }
}

/// Parquet's packed differences: a header, and blocks of a least difference, widths, and what is added to the least.
struct Deltas<'p> {
    bytes: &'p [u8],
    at: usize,
}

impl Deltas<'_> {
    /// The sum of all values that are lengths, of which there may be `most`; moves behind them. `None` where they are cut or
    /// their header makes no sense: the decoder says so.
    fn sum(&mut self, most: u64) -> Result<Option<u64>, Cause> {
        let (Some(block), Some(parts), Some(count)) = (self.varint(), self.varint(), self.varint()) else {
            return Ok(None);
        };
        if count > most {
            return Err(Cause::damaged(format!("a page states {count} texts; it can have {most}")));
        }
        Ok(self.values(block, parts, count))
    }

    fn values(&mut self, block: u64, parts: u64, count: u64) -> Option<u64> {
        let each = usize::try_from(block.checked_div(parts)?)
            .ok()
            .filter(|&each| each > 0 && each.is_multiple_of(32))?;
        let parts = usize::try_from(parts).ok()?;
        let mut value = self.zigzag()?;
        let mut sum = if count > 0 { length(value) } else { 0 };
        let mut left = usize::try_from(count.saturating_sub(1)).ok()?;
        while left > 0 {
            let least = self.zigzag()?;
            let widths = self.bytes.get(self.at..self.at.checked_add(parts)?)?;
            self.at += parts;
            for &width in widths {
                if left == 0 {
                    break;
                }
                let packed = self.bytes.get(self.at..)?;
                for index in 0..each.min(left) {
                    value = value.wrapping_add(least).wrapping_add(bits(packed, index, width.into())?);
                    sum = sum.saturating_add(length(value));
                }
                left = left.saturating_sub(each);
                self.at = self.at.checked_add(each.checked_mul(width.into())? / 8)?;
            }
        }
        Some(sum)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = *self.bytes.get(self.at)?;
            self.at += 1;
            value |= u64::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn zigzag(&mut self) -> Option<i64> {
        self.varint().map(|value| (value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }
}

/// A value in 32 bits as a length; 0 where it is negative, which the decoder takes for none.
fn length(value: i64) -> u64 {
    let value = value.cast_unsigned() & u64::from(u32::MAX);
    if value > i32::MAX.unsigned_abs().into() { 0 } else { value }
}

/// A value of `width` bits, at most 32, of those that lie one behind the other.
fn bits(packed: &[u8], index: usize, width: usize) -> Option<i64> {
    let (first, end) = (index.checked_mul(width)?, (index + 1).checked_mul(width)?);
    let word = packed.get(first / 8..end.div_ceil(8)).filter(|_| width <= 32)?;
    let word = word.iter().rev().fold(0u64, |word, &byte| word << 8 | u64::from(byte));
    Some((word >> (first % 8) & ((1 << width) - 1)).cast_signed())
}

impl Iterator for Looked {
    type Item = ParquetResult<Page>;

    fn next(&mut self) -> Option<ParquetResult<Page>> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Looked {
    fn get_next_page(&mut self) -> ParquetResult<Option<Page>> {
        let page = self.pages.get_next_page()?;
        if let Some(page) = &page {
            self.look(page)?;
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> ParquetResult<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> ParquetResult<()> {
        self.pages.skip_next_page()
    }
}
