//! What the sums look at: a record of a stream, a raw record, a row of a corpus or of a shard.

use manaka_core::Color;
use manaka_core::conventions::{NO_CP, NO_VISITS};
use manaka_core::packed::{PACKED_LEN, SIDE};
use manaka_core::stream::RecordRef;

/// One searched position. Values are in the view the data states.
pub trait Item {
    /// Move number.
    fn ply(&self) -> u16;
    /// The position.
    fn packed(&self) -> &[u8; PACKED_LEN];
    /// The outcome; `None` where the data, or this item of it, has none.
    fn outcome(&self) -> Option<f32>;
    /// The value of the root in [-1, 1].
    fn value(&self) -> f32;
    /// The score of the root in cp; `None` where only its value is stored.
    fn root(&self) -> Option<i16>;
    /// How many candidates there are.
    fn n_cand(&self) -> usize;
    /// The cp of the first candidate, if it has one.
    fn first_score(&self) -> Option<i16>;
    /// The cp of each candidate that has one; never [`NO_CP`].
    fn scores(&self) -> impl Iterator<Item = i16>;
    /// The visits of each candidate, in order; nothing where they are absent.
    fn visits(&self) -> impl Iterator<Item = u32>;
    /// Records that were folded into it.
    fn weight(&self) -> u32;

    /// The side to move.
    fn mover(&self) -> Color {
        if self.packed()[SIDE] == 0 { Color::Black } else { Color::White }
    }
}

impl Item for RecordRef<'_> {
    #[inline]
    fn ply(&self) -> u16 {
        RecordRef::ply(self)
    }

    #[inline]
    fn packed(&self) -> &[u8; PACKED_LEN] {
        self.packed_bytes()
    }

    #[inline]
    fn outcome(&self) -> Option<f32> {
        RecordRef::outcome(self)
    }

    #[inline]
    fn value(&self) -> f32 {
        self.value_q()
    }

    #[inline]
    fn root(&self) -> Option<i16> {
        None
    }

    #[inline]
    fn n_cand(&self) -> usize {
        RecordRef::n_cand(self)
    }

    // A valid record has each half on all candidates or on none.

    #[inline]
    fn first_score(&self) -> Option<i16> {
        self.candidates().next().map(|first| first.cp).filter(|&cp| cp != NO_CP)
    }

    #[inline]
    fn scores(&self) -> impl Iterator<Item = i16> {
        let count = if self.first_score().is_some() { RecordRef::n_cand(self) } else { 0 };
        self.candidates().take(count).map(|c| c.cp)
    }

    #[inline]
    fn visits(&self) -> impl Iterator<Item = u32> {
        let absent = self.candidates().next().is_none_or(|first| first.visits == NO_VISITS);
        let count = if absent { 0 } else { RecordRef::n_cand(self) };
        self.candidates().take(count).map(|c| c.visits)
    }

    #[inline]
    fn weight(&self) -> u32 {
        1
    }
}

/// An item of any other kind of data.
pub struct Row<'a> {
    pub ply: u16,
    pub packed: &'a [u8; PACKED_LEN],
    pub outcome: Option<f32>,
    pub value: f32,
    pub root: Option<i16>,
    /// Their scores, [`NO_CP`] where one has none; empty where none has.
    pub cp: &'a [i16],
    /// How many candidates there are, with scores or without.
    pub candidates: usize,
    pub weight: u32,
}

impl Item for Row<'_> {
    fn ply(&self) -> u16 {
        self.ply
    }

    fn packed(&self) -> &[u8; PACKED_LEN] {
        self.packed
    }

    fn outcome(&self) -> Option<f32> {
        self.outcome
    }

    fn value(&self) -> f32 {
        self.value
    }

    fn root(&self) -> Option<i16> {
        self.root
    }

    fn n_cand(&self) -> usize {
        self.candidates
    }

    fn first_score(&self) -> Option<i16> {
        self.cp.first().copied().filter(|&cp| cp != NO_CP)
    }

    fn scores(&self) -> impl Iterator<Item = i16> {
        self.cp.iter().copied().filter(|&cp| cp != NO_CP)
    }

    fn visits(&self) -> impl Iterator<Item = u32> {
        std::iter::empty()
    }

    fn weight(&self) -> u32 {
        self.weight
    }
}
