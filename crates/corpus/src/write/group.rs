//! Rows on their way into a row group, column by column.

use super::encode::BATCH;
use manaka_core::sfen::SfenWriter;
use manaka_core::{Move16, Packed};
use manaka_pages::levels::with_length;

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

/// Rows in game order. Numbers and moves are kept as the 16 bits that hold them.
#[derive(Debug, Default)]
pub struct RowGroup {
    /// Texts one behind the other, each behind its length, as pages hold them.
    pub(super) sfens: Vec<u8>,
    /// Where every batch of rows ends there.
    pub(super) sfen_batches: Vec<usize>,
    writer: SfenWriter,
    pub(super) side: Vec<u16>,
    pub(super) ply: Vec<u16>,
    pub(super) cp: Vec<u16>,
    pub(super) depth: Vec<u16>,
    pub(super) result: Vec<u16>,
    pub(super) mv: Vec<u16>,
    pub(super) cand_move: Vec<u16>,
    pub(super) cand_cp: Vec<u16>,
    /// The levels of both list columns.
    pub(super) def: Vec<u16>,
    pub(super) rep: Vec<u16>,
    pub(super) list_batches: Vec<Batch>,
}

/// A batch of rows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Batch {
    /// Its rows.
    pub rows: usize,
    /// Where its levels end.
    pub levels: usize,
    /// Where its values end.
    pub values: usize,
}

/// A list is there and empty.
const EMPTY_LIST: u16 = 1;
/// A value is there in a list.
const VALUE_IN_LIST: u16 = 3;

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
            sfen_batches,
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
            list_batches,
        } = self;
        sfens.clear();
        sfen_batches.clear();
        for bits in [side, ply, cp, depth, result, mv, cand_move, cand_cp, def, rep] {
            bits.clear();
        }
        list_batches.clear();
    }

    /// Appends a row. Moves that are not well-formed get an empty text.
    pub fn push(&mut self, row: &CorpusRow<'_>) {
        with_length(&mut self.sfens, |sfens| self.writer.write(row.packed, sfens));
        self.side.push(row.packed.side() as u16);
        self.ply.push(row.ply);
        self.cp.push(row.cp.cast_unsigned());
        self.depth.push(row.depth.into());
        self.result.push(i16::from(row.result).cast_unsigned());
        self.mv.push(text_bits(row.mv));
        if self.len().is_multiple_of(BATCH) {
            self.sfen_batches.push(self.sfens.len());
        }

        if self.list_batches.last().is_none_or(|batch| batch.levels - self.batch_start() >= BATCH) {
            self.list_batches.push(Batch::default());
        }
        if row.candidates.is_empty() {
            self.def.push(EMPTY_LIST);
            self.rep.push(0);
        }
        for (at, &(mv, cp)) in row.candidates.iter().enumerate() {
            self.cand_move.push(text_bits(mv));
            self.cand_cp.push(cp.cast_unsigned());
            self.def.push(VALUE_IN_LIST);
            self.rep.push(u16::from(at > 0));
        }
        if let Some(batch) = self.list_batches.last_mut() {
            batch.rows += 1;
            (batch.levels, batch.values) = (self.def.len(), self.cand_move.len());
        }
    }

    /// Where the levels of the last batch of lists begin.
    fn batch_start(&self) -> usize {
        self.list_batches.iter().rev().nth(1).map_or(0, |before| before.levels)
    }
}

/// The bits of a move; of all those that are none and have an empty text the same ones.
const fn text_bits(mv: Move16) -> u16 {
    if mv.is_well_formed() { mv.bits() } else { u16::MAX }
}
