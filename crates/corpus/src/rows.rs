//! A bounded run of rows, column by column, and the view of one of them.

use crate::error::Cause;

/// Bytes of an `sfen` that are kept; a longer text is kept to one byte more, which tells (corpus.md §2).
pub const MAX_SFEN_TEXT: usize = 1024;
/// Bytes of a move text that are kept; no move and no USI word is as long.
pub const MAX_MOVE_TEXT: usize = 32;

/// Rows of a corpus as they are stored; filled by [`crate::Batches::read`], reused between calls.
#[derive(Debug)]
pub struct Rows {
    pub(crate) first: u64,
    pub(crate) len: usize,
    pub(crate) sfen: Texts,
    pub(crate) side: Ints,
    pub(crate) ply: Ints,
    pub(crate) cp: Ints,
    pub(crate) cand_move: Lists<Texts>,
    pub(crate) cand_cp: Lists<Ints>,
    pub(crate) mv: Texts,
    pub(crate) result: Ints,
}

impl Default for Rows {
    fn default() -> Self {
        Self {
            first: 0,
            len: 0,
            sfen: Texts::keeping(MAX_SFEN_TEXT + 1),
            side: Ints::default(),
            ply: Ints::default(),
            cp: Ints::default(),
            cand_move: Lists { spans: Vec::new(), elements: Texts::keeping(MAX_MOVE_TEXT) },
            cand_cp: Lists { spans: Vec::new(), elements: Ints::default() },
            mv: Texts::keeping(MAX_MOVE_TEXT),
            result: Ints::default(),
        }
    }
}

impl Rows {
    /// Number of the first row within the file, from 0.
    #[must_use]
    pub const fn first(&self) -> u64 {
        self.first
    }

    /// How many rows there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A row; `None` from [`Rows::len`] on.
    #[must_use]
    pub fn get(&self, at: usize) -> Option<Row<'_>> {
        (at < self.len).then_some(Row { rows: self, at })
    }

    /// The rows in file order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Row<'_>> {
        (0..self.len).map(|at| Row { rows: self, at })
    }

    /// Candidates read so far.
    pub(crate) fn elements(&self) -> usize {
        self.cand_move.elements.count().max(self.cand_cp.elements.count())
    }

    pub(crate) fn clear(&mut self, first: u64) {
        let Self { first: number, len, sfen, side, ply, cp, cand_move, cand_cp, mv, result } = self;
        (*number, *len) = (first, 0);
        sfen.clear();
        side.clear();
        ply.clear();
        cp.clear();
        cand_move.clear();
        cand_cp.clear();
        mv.clear();
        result.clear();
    }
}

/// One row, borrowed from its [`Rows`]. `None` is a null.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    rows: &'a Rows,
    at: usize,
}

impl<'a> Row<'a> {
    /// Its number within the file, from 0.
    #[must_use]
    pub const fn number(&self) -> u64 {
        self.rows.first + self.at as u64
    }

    /// The position, as it is spelt; not necessarily UTF-8. Longer than [`MAX_SFEN_TEXT`] when the text was, and cut.
    #[must_use]
    pub fn sfen(&self) -> Option<&'a [u8]> {
        self.rows.sfen.get(self.at)
    }

    /// The side to move.
    #[must_use]
    pub fn side(&self) -> Option<i64> {
        self.rows.side.get(self.at)
    }

    /// The move number.
    #[must_use]
    pub fn ply(&self) -> Option<i64> {
        self.rows.ply.get(self.at)
    }

    /// The root score.
    #[must_use]
    pub fn cp(&self) -> Option<i64> {
        self.rows.cp.get(self.at)
    }

    /// The candidate moves; texts longer than [`MAX_MOVE_TEXT`] are cut.
    #[must_use]
    pub fn cand_move(&self) -> Option<TextList<'a>> {
        let (start, end) = self.rows.cand_move.span(self.at)?;
        Some(TextList { texts: &self.rows.cand_move.elements, start, end })
    }

    /// The candidates' scores.
    #[must_use]
    pub fn cand_cp(&self) -> Option<IntList<'a>> {
        let (start, end) = self.rows.cand_cp.span(self.at)?;
        Some(IntList { ints: self.rows.cand_cp.elements.0.get(start..end).unwrap_or(&[]) })
    }

    /// The move that was played; a text longer than [`MAX_MOVE_TEXT`] is cut.
    #[must_use]
    pub fn mv(&self) -> Option<&'a [u8]> {
        self.rows.mv.get(self.at)
    }

    /// How the game ended, for Black.
    #[must_use]
    pub fn result(&self) -> Option<i64> {
        self.rows.result.get(self.at)
    }
}

/// A list of texts, any of them null.
#[derive(Clone, Copy, Debug)]
pub struct TextList<'a> {
    texts: &'a Texts,
    start: usize,
    end: usize,
}

impl<'a> TextList<'a> {
    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.end - self.start
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// The texts in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<&'a [u8]>> + use<'a> {
        let texts = self.texts;
        (self.start..self.end).map(|at| texts.get(at))
    }
}

/// A list of integers, any of them null.
#[derive(Clone, Copy, Debug)]
pub struct IntList<'a> {
    ints: &'a [i64],
}

impl<'a> IntList<'a> {
    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.ints.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.ints.is_empty()
    }

    /// The integers in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<i64>> + use<'a> {
        self.ints.iter().map(|&value| (value != Ints::NULL).then_some(value))
    }
}

/// A column of values, some of them null.
pub(crate) trait Nullable {
    fn push_null(&mut self);
    /// Values so far, nulls included.
    fn count(&self) -> usize;
}

/// Integers; a null is the one value that no reader hands over.
#[derive(Debug, Default)]
pub(crate) struct Ints(Vec<i64>);

impl Ints {
    const NULL: i64 = i64::MIN;

    fn get(&self, at: usize) -> Option<i64> {
        self.0.get(at).copied().filter(|&value| value != Self::NULL)
    }

    fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn push(&mut self, value: i64) {
        self.0.push(value.max(Self::NULL + 1));
    }
}

impl Nullable for Ints {
    fn push_null(&mut self) {
        self.0.push(Self::NULL);
    }

    fn count(&self) -> usize {
        self.0.len()
    }
}

/// Texts one behind the other, each cut to a bound.
#[derive(Debug)]
pub(crate) struct Texts {
    keep: usize,
    bytes: Vec<u8>,
    spans: Vec<Span>,
    /// Where a dictionary begins in `bytes`, if it was put there.
    dictionary: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    start: u32,
    /// [`Span::NULL`] where there is no text.
    len: u32,
}

impl Span {
    const NULL: u32 = u32::MAX;
}

impl Texts {
    const fn keeping(keep: usize) -> Self {
        Self { keep, bytes: Vec::new(), spans: Vec::new(), dictionary: None }
    }

    fn get(&self, at: usize) -> Option<&[u8]> {
        let Span { start, len } = *self.spans.get(at)?;
        if len == Span::NULL {
            return None;
        }
        self.bytes.get(start as usize..)?.get(..len as usize)
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.spans.clear();
        self.dictionary = None;
    }

    /// Where the bytes of a dictionary begin, which are put there when they are asked for the first time. From one clear to
    /// the next there is one dictionary.
    pub(crate) fn dictionary(&mut self, bytes: &[u8]) -> Result<u32, Cause> {
        if let Some(start) = self.dictionary {
            return Ok(start);
        }
        let start = u32::try_from(self.bytes.len()).ok();
        let start = start
            .filter(|start| u32::try_from(bytes.len()).is_ok_and(|len| start.checked_add(len).is_some()));
        self.bytes.extend_from_slice(bytes);
        self.dictionary = start;
        start.ok_or_else(too_much)
    }

    /// Appends a text that is there already, by its place in the bytes and its length.
    #[inline]
    pub(crate) fn push_span(&mut self, start: u32, len: u32) {
        self.spans.push(Span { start, len: len.min(u32::try_from(self.keep).unwrap_or(u32::MAX)) });
    }

    pub(crate) fn push(&mut self, value: &[u8]) -> Result<(), Cause> {
        let kept = value.get(..self.keep).unwrap_or(value);
        let (Ok(start), Ok(len)) = (u32::try_from(self.bytes.len()), u32::try_from(kept.len())) else {
            return Err(too_much());
        };
        self.bytes.extend_from_slice(kept);
        self.spans.push(Span { start, len });
        Ok(())
    }
}

fn too_much() -> Cause {
    Cause::damaged("4096 rows hold more than 4 GiB of text")
}

impl Nullable for Texts {
    fn push_null(&mut self) {
        self.spans.push(Span { start: 0, len: Span::NULL });
    }

    fn count(&self) -> usize {
        self.spans.len()
    }
}

/// Lists of a column's values.
#[derive(Debug)]
pub(crate) struct Lists<E> {
    /// First element and the one behind the last; a null list begins behind its end.
    pub(crate) spans: Vec<(usize, usize)>,
    pub(crate) elements: E,
}

impl<E> Lists<E> {
    pub(crate) const NULL: (usize, usize) = (1, 0);

    fn span(&self, at: usize) -> Option<(usize, usize)> {
        self.spans.get(at).copied().filter(|&span| span != Self::NULL)
    }
}

impl Lists<Texts> {
    fn clear(&mut self) {
        self.spans.clear();
        self.elements.clear();
    }
}

impl Lists<Ints> {
    fn clear(&mut self) {
        self.spans.clear();
        self.elements.clear();
    }
}
