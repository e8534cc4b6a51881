//! What the sums look at: a record of a stream, a raw record, a row of a corpus or of a shard.

use manaka_core::Color;
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
    /// Visits and cp of each candidate, in order; absent halves have their markers.
    fn candidates(&self) -> impl ExactSizeIterator<Item = (u32, i16)>;
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
    fn candidates(&self) -> impl ExactSizeIterator<Item = (u32, i16)> {
        RecordRef::candidates(self).map(|c| (c.visits, c.cp))
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
    /// Their scores; empty where there are none.
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

    fn candidates(&self) -> impl ExactSizeIterator<Item = (u32, i16)> {
        let cp = |at| self.cp.get(at).copied().unwrap_or(manaka_core::conventions::NO_CP);
        (0..self.candidates).map(move |at| (manaka_core::conventions::NO_VISITS, cp(at)))
    }

    fn weight(&self) -> u32 {
        self.weight
    }
}
