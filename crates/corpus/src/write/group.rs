//! Rows on their way into a row group, column by column.

use super::text::move_text;
use bytes::Bytes;
use manaka_core::sfen::SfenWriter;
use manaka_core::{Move16, Packed};
use parquet::data_type::ByteArray;

/// A row to be written (corpus.md §3).
#[derive(Clone, Copy, Debug)]
pub struct CorpusRow<'a> {
    /// The position; `sfen` and `side` come from it.
    pub packed: &'a Packed,
    /// The move number.
    pub ply: u16,
    /// The root score, for the side to move.
    pub cp: i16,
    /// The depth of the root score; 0 when nobody knows.
    pub depth: u8,
    /// The moves the search reported, with their scores for the side to move.
    pub candidates: &'a [(Move16, i16)],
    /// The move that was played.
    pub mv: Move16,
    /// How the game ended for **Black**: 1 won, 0 drawn, −1 lost.
    pub result: i8,
}

/// Rows in game order.
#[derive(Debug, Default)]
pub struct RowGroup {
    /// Texts one behind the other, and where each ends.
    sfens: Vec<u8>,
    sfen_ends: Vec<usize>,
    writer: SfenWriter,
    pub(super) side: Vec<i32>,
    pub(super) ply: Vec<i32>,
    pub(super) cp: Vec<i32>,
    pub(super) depth: Vec<i32>,
    pub(super) result: Vec<i32>,
    mv: Vec<Move16>,
    cand_move: Vec<Move16>,
    pub(super) cand_cp: Vec<i32>,
    /// The levels of both list columns.
    pub(super) def: Vec<i16>,
    pub(super) rep: Vec<i16>,
}

/// A list is there and empty.
const EMPTY_LIST: i16 = 1;
/// A value is there: in a list, in a flat column.
const VALUE_IN_LIST: i16 = 3;
const VALUE: i16 = 1;

impl RowGroup {
    /// How many rows there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.ply.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.ply.is_empty()
    }

    /// Forgets the rows and keeps the memory.
    pub fn clear(&mut self) {
        let Self {
            sfens,
            sfen_ends,
            writer: _,
            side,
            ply,
            cp,
            depth,
            result,
            mv,
            cand_move,
            cand_cp,
            def,
            rep,
        } = self;
        sfens.clear();
        sfen_ends.clear();
        mv.clear();
        cand_move.clear();
        for ints in [side, ply, cp, depth, result, cand_cp] {
            ints.clear();
        }
        def.clear();
        rep.clear();
    }

    /// Appends a row. Moves that are not well-formed get an empty text.
    pub fn push(&mut self, row: &CorpusRow<'_>) {
        self.writer.write(row.packed, &mut self.sfens);
        self.sfen_ends.push(self.sfens.len());
        self.side.push(row.packed.side() as i32);
        self.ply.push(row.ply.into());
        self.cp.push(row.cp.into());
        self.depth.push(row.depth.into());
        self.result.push(row.result.into());
        self.mv.push(row.mv);
        if row.candidates.is_empty() {
            self.def.push(EMPTY_LIST);
            self.rep.push(0);
        }
        for (at, &(mv, cp)) in row.candidates.iter().enumerate() {
            self.cand_move.push(mv);
            self.cand_cp.push(cp.into());
            self.def.push(VALUE_IN_LIST);
            self.rep.push(i16::from(at > 0));
        }
    }

    /// The positions' texts.
    pub(super) fn sfens(&self) -> Vec<ByteArray> {
        let all = Bytes::copy_from_slice(&self.sfens);
        let mut start = 0;
        let text = |&end: &usize| ByteArray::from(all.slice(std::mem::replace(&mut start, end)..end));
        self.sfen_ends.iter().map(text).collect()
    }

    /// The played moves' texts.
    pub(super) fn moves(&self) -> Vec<ByteArray> {
        self.mv.iter().map(|&mv| move_text(mv).into()).collect()
    }

    /// The candidates' texts, all rows' one behind the other.
    pub(super) fn candidates(&self) -> Vec<ByteArray> {
        self.cand_move.iter().map(|&mv| move_text(mv).into()).collect()
    }

    /// The definition levels of a flat column.
    pub(super) fn present(&self) -> Vec<i16> {
        vec![VALUE; self.len()]
    }
}
