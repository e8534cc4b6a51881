//! Pages of the plainest kind, read where they lie: version 1, levels in runs, values plain or of a dictionary.
//!
//! Nearly all corpora have no others. The parquet crate's reader is the slow twin, and reads whatever else there is.

use super::{bad_levels, ends_early, goes_on, too_many, widen_32, widen_64};
use crate::error::Cause;
use crate::file::STEP_LEVELS;
use crate::rows::{Ints, Lists, Nullable, Texts};
use crate::schema::{Leaf, Signedness};
use bytes::Bytes;
use manaka_pages::hybrid::HybridReader;
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageReader};

/// How values lie in plain pages and in a dictionary.
pub(crate) trait Values {
    /// Where values go.
    type Out: Nullable;
    /// The values of a dictionary.
    type Dictionary: Default;

    /// Reads a dictionary of `count` values.
    fn dictionary(&self, bytes: Bytes, count: u32) -> Result<Self::Dictionary, Cause>;

    /// Appends values of the dictionary.
    fn indices(
        &self,
        dictionary: &Self::Dictionary,
        indices: impl Iterator<Item = Result<u32, Cause>>,
        out: &mut Self::Out,
    ) -> Result<(), Cause>;

    /// Appends the value at the front of the bytes and moves behind it.
    fn plain(&self, bytes: &[u8], at: &mut usize, out: &mut Self::Out) -> Result<(), Cause>;
}

/// Texts: four bytes of length, then as many bytes.
pub(crate) struct Text;

/// Bytes of a dictionary that every batch may have a copy of, in place of its texts one by one. Those of moves have 100 KB
/// at most.
const SHARED: usize = 256 << 10;

/// A dictionary's bytes, and the beginnings and lengths of its texts.
#[derive(Default)]
pub(crate) struct TextDictionary {
    bytes: Bytes,
    spans: Vec<(u32, u32)>,
}

impl Values for Text {
    type Out = Texts;
    type Dictionary = TextDictionary;

    fn dictionary(&self, bytes: Bytes, count: u32) -> Result<TextDictionary, Cause> {
        let (mut spans, mut at) = (Vec::new(), 0);
        for _ in 0..count {
            let (start, end) = span(&bytes, &mut at)?;
            let [start, len] = [start, end - start].map(u32::try_from);
            spans.push((start.map_err(|_| cut())?, len.map_err(|_| cut())?));
        }
        Ok(TextDictionary { bytes, spans })
    }

    fn indices(
        &self,
        dictionary: &TextDictionary,
        indices: impl Iterator<Item = Result<u32, Cause>>,
        out: &mut Texts,
    ) -> Result<(), Cause> {
        let span = |index: u32| dictionary.spans.get(index as usize).copied().ok_or_else(no_such_value);
        if dictionary.bytes.len() > SHARED {
            for index in indices {
                let (start, len) = span(index?)?;
                out.push(&dictionary.bytes[start as usize..][..len as usize])?;
            }
            return Ok(());
        }
        let base = out.dictionary(&dictionary.bytes)?;
        for index in indices {
            let (start, len) = span(index?)?;
            out.push_span(base + start, len);
        }
        Ok(())
    }

    fn plain(&self, bytes: &[u8], at: &mut usize, out: &mut Texts) -> Result<(), Cause> {
        let (start, end) = span(bytes, at)?;
        out.push(&bytes[start..end])
    }
}

/// Where the text at `at` begins and ends; `at` moves behind it.
fn span(bytes: &[u8], at: &mut usize) -> Result<(usize, usize), Cause> {
    let len = take::<4>(bytes, at).map(u32::from_le_bytes)?;
    let start = *at;
    let end = start.checked_add(len as usize).filter(|&end| end <= bytes.len()).ok_or_else(cut)?;
    *at = end;
    Ok((start, end))
}

/// Integers of `WIDTH` bytes.
pub(crate) struct Int<const WIDTH: usize>(pub Signedness);

impl<const WIDTH: usize> Int<WIDTH> {
    fn value(&self, bytes: &[u8], at: &mut usize) -> Result<i64, Cause> {
        let raw = take::<WIDTH>(bytes, at)?;
        let mut wide = [0; 8];
        wide[..WIDTH].copy_from_slice(&raw);
        Ok(match (WIDTH, wide) {
            (4, [a, b, c, d, ..]) => widen_32(self.0, i32::from_le_bytes([a, b, c, d])),
            _ => widen_64(self.0, i64::from_le_bytes(wide)),
        })
    }
}

impl<const WIDTH: usize> Values for Int<WIDTH> {
    type Out = Ints;
    type Dictionary = Vec<i64>;

    fn dictionary(&self, bytes: Bytes, count: u32) -> Result<Vec<i64>, Cause> {
        let (mut values, mut at) = (Vec::new(), 0);
        for _ in 0..count {
            values.push(self.value(&bytes, &mut at)?);
        }
        Ok(values)
    }

    fn indices(
        &self,
        dictionary: &Vec<i64>,
        indices: impl Iterator<Item = Result<u32, Cause>>,
        out: &mut Ints,
    ) -> Result<(), Cause> {
        for index in indices {
            out.push(*dictionary.get(index? as usize).ok_or_else(no_such_value)?);
        }
        Ok(())
    }

    fn plain(&self, bytes: &[u8], at: &mut usize, out: &mut Ints) -> Result<(), Cause> {
        out.push(self.value(bytes, at)?);
        Ok(())
    }
}

fn take<const N: usize>(bytes: &[u8], at: &mut usize) -> Result<[u8; N], Cause> {
    let taken = bytes.get(*at..).and_then(<[u8]>::first_chunk).copied().ok_or_else(cut)?;
    *at += N;
    Ok(taken)
}

fn cut() -> Cause {
    Cause::damaged("a page ends inside a value")
}

fn no_such_value() -> Cause {
    Cause::damaged("a page refers to a value that its dictionary does not have")
}

/// A column being read, and the rows that were asked for.
pub(crate) struct Direct<V: Values> {
    pages: Box<dyn PageReader>,
    leaf: Leaf,
    values: V,
    dictionary: Option<V::Dictionary>,
    page: DataPage,
    /// A repetition level that was read ahead.
    ahead: Option<u32>,
}

/// What is left of a data page.
#[derive(Default)]
struct DataPage {
    bytes: Bytes,
    /// Levels left; a flat column has one for each row.
    left: u32,
    rep: HybridReader,
    def: HybridReader,
    /// Where the next plain value is, or the next index.
    plain: usize,
    indices: Option<HybridReader>,
}

impl<V: Values> Direct<V> {
    pub(super) fn new(leaf: &Leaf, pages: Box<dyn PageReader>, values: V) -> Self {
        Self { pages, leaf: leaf.clone(), values, dictionary: None, page: DataPage::default(), ahead: None }
    }

    /// Goes to the next page if this one is done; `false` behind the last.
    fn page(&mut self) -> Result<bool, Cause> {
        while self.page.left == 0 {
            match self.pages.get_next_page()? {
                None => return Ok(false),
                Some(Page::DictionaryPage { buf, num_values, .. }) => {
                    self.dictionary = Some(self.values.dictionary(buf, num_values)?);
                }
                Some(Page::DataPage { buf, num_values, encoding, .. }) => {
                    self.page = DataPage::open(&self.leaf, buf, num_values, encoding)?;
                    if self.page.indices.is_some() && self.dictionary.is_none() {
                        return Err(Cause::damaged("a page refers to a dictionary that is not there"));
                    }
                }
                Some(Page::DataPageV2 { .. }) => return Err(Cause::damaged("a page of another version")),
            }
        }
        Ok(true)
    }

    /// Appends the next `count` values, none of them null.
    fn push(&mut self, count: u32, out: &mut V::Out) -> Result<(), Cause> {
        let Self { values, dictionary, page: DataPage { bytes, plain, indices, .. }, .. } = self;
        match (indices, dictionary) {
            (Some(indices), Some(dictionary)) => {
                let indices = (0..count).map(|_| indices.next(bytes).ok_or_else(cut));
                values.indices(dictionary, indices, out)
            }
            _ => (0..count).try_for_each(|_| values.plain(bytes, plain, out)),
        }
    }

    /// Reads `rows` rows of a flat column.
    pub(super) fn flat(&mut self, rows: usize, out: &mut V::Out) -> Result<(), Cause> {
        let mut left = u32::try_from(rows).map_err(|_| ends_early())?;
        let value = u32::from(self.leaf.value.unsigned_abs());
        while left > 0 {
            if !self.page()? {
                return Err(ends_early());
            }
            let DataPage { bytes, def, left: levels, .. } = &mut self.page;
            let most = left.min(*levels);
            let mut taken = if value == 0 { most } else { def.run_of(value, bytes).min(most) };
            if taken > 0 {
                def.skip_run(taken);
                *levels -= taken;
                self.push(taken, out)?;
            } else {
                *levels -= 1;
                taken = 1;
                if def.next(bytes).ok_or_else(bad_levels)? == value {
                    self.push(1, out)?;
                } else {
                    out.push_null();
                }
            }
            left -= taken;
        }
        Ok(())
    }

    /// Reads `rows` rows of a list column, no more of them than a step has.
    pub(super) fn lists(&mut self, rows: usize, out: &mut Lists<V::Out>) -> Result<(), Cause> {
        let [list_present, element_present, value] =
            [self.leaf.list_present, self.leaf.element_present, self.leaf.value]
                .map(|level| u32::from(level.unsigned_abs()));
        let end = out.spans.len() + rows;
        let before = out.spans.len();
        let mut room = STEP_LEVELS;
        loop {
            if !self.page()? {
                return if out.spans.len() == end { Ok(()) } else { Err(ends_early()) };
            }
            let page = &mut self.page;
            if self.ahead.is_none() {
                // Most lists have elements, and none is null.
                let most = page.def.run_of(value, &page.bytes).min(page.left).min(room);
                let (taken, done) = page.stretch(most, out, before, end)?;
                self.push(taken, &mut out.elements)?;
                room -= taken;
                if done {
                    self.ahead = Some(0);
                    return Ok(());
                }
                if taken > 0 {
                    continue;
                }
            }
            let page = &mut self.page;
            let rep = match self.ahead.take() {
                Some(rep) => rep,
                None => page.rep.next(&page.bytes).ok_or_else(bad_levels)?,
            };
            if rep == 0 && out.spans.len() == end {
                self.ahead = Some(rep);
                return Ok(());
            }
            page.left -= 1;
            room = room.checked_sub(1).ok_or_else(too_many)?;
            let def = page.def.next(&page.bytes).ok_or_else(bad_levels)?;
            let at = out.elements.count();
            if rep == 0 {
                out.spans.push(if def < list_present { Lists::<V::Out>::NULL } else { (at, at) });
            }
            if def < element_present {
                if rep != 0 {
                    return Err(bad_levels());
                }
                continue;
            }
            // An element of this row, of this batch, with no null or empty list in between.
            match out.spans.get_mut(before..).and_then(<[_]>::last_mut) {
                Some((start, end)) if *end == at && (rep == 0 || *start < at) => *end += 1,
                _ => return Err(bad_levels()),
            }
            if def == value {
                self.push(1, &mut out.elements)?;
            } else if def < value {
                out.elements.push_null();
            } else {
                return Err(bad_levels());
            }
        }
    }

    /// Whether everything was read.
    pub(super) fn at_end(&mut self) -> Result<(), Cause> {
        if self.page()? { Err(goes_on()) } else { Ok(()) }
    }
}

impl DataPage {
    /// Takes the levels of up to `most` values, which all have a value, as far as no row begins that is one too many; says
    /// how many they are and whether it is because of such a row.
    fn stretch<S: Nullable>(
        &mut self,
        most: u32,
        out: &mut Lists<S>,
        before: usize,
        end: usize,
    ) -> Result<(u32, bool), Cause> {
        let start = out.elements.count();
        let mut at = start;
        let (mut taken, mut done) = (0, false);
        while taken < most {
            let rep = self.rep.next(&self.bytes).ok_or_else(bad_levels)?;
            if rep == 0 {
                if out.spans.len() == end {
                    done = true;
                    break;
                }
                out.spans.push((at, at + 1));
            } else {
                match out.spans.get_mut(before..).and_then(<[_]>::last_mut) {
                    Some((start, end)) if *end == at && *start < at => *end += 1,
                    _ => return Err(bad_levels()),
                }
            }
            at += 1;
            taken += 1;
        }
        self.def.skip_run(taken);
        self.left -= taken;
        Ok((taken, done))
    }

    fn open(leaf: &Leaf, bytes: Bytes, levels: u32, encoding: Encoding) -> Result<Self, Cause> {
        let mut at = 0;
        let mut levels_of = |max: i16| -> Result<HybridReader, Cause> {
            if max == 0 {
                return Ok(HybridReader::default());
            }
            let (start, end) = span(&bytes, &mut at)?;
            Ok(HybridReader::new(max.unsigned_abs().ilog2() + 1, start, end))
        };
        let rep = levels_of(leaf.descr.max_rep_level())?;
        let def = levels_of(leaf.value)?;
        let indices = match encoding {
            Encoding::PLAIN => None,
            // The older name and the newer.
            Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY => {
                let [width] = take(&bytes, &mut at)?;
                if width > 32 {
                    return Err(Cause::damaged("a page has indices of more than 32 bits"));
                }
                Some(HybridReader::new(width.into(), at, bytes.len()))
            }
            // Pages were looked at before one of them was read.
            other => return Err(Cause::damaged(format!("a page of another encoding, {other}"))),
        };
        Ok(Self { bytes, left: levels, rep, def, plain: at, indices })
    }
}

#[cfg(test)]
#[path = "direct_tests.rs"]
mod tests;
