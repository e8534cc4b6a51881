//! What a raw file does not say about itself: how long its records are, and how their moves lie in 16 bits (psv.md §6).
//!
//! Both are found in a sample. A position has to use up its 256 bits and a full set of pieces to the last one, so bytes
//! that are none almost never pass for one: the record length is the one at which positions follow one another. Moves
//! are told apart by their bits and by the rules: in the right layout they are legal.

use super::layout::Layout;
use super::moves::MoveLayout;
use super::{SFEN_LEN, decode_position};
use manaka_shogi::Trail;
use std::fmt;

/// Most candidates that are looked for behind the 40 bytes.
pub const MAX_CANDIDATES: u16 = 64;
/// Records that a sample of one set of files should have, spread over all of them.
pub const SAMPLE_RECORDS: usize = 4096;

/// How many records of a sample begin with a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Positions {
    /// Records looked at.
    pub records: usize,
    /// Of these, records whose first 32 bytes decode.
    pub decoded: usize,
}

impl Positions {
    /// Looks at one more.
    pub fn look(&mut self, record: &[u8]) {
        self.records += 1;
        self.decoded +=
            usize::from(record.first_chunk::<SFEN_LEN>().is_some_and(|p| decode_position(p).is_ok()));
    }

    /// Whether the sample is of records of this length: more than half begin with a position.
    #[must_use]
    pub const fn fits(&self) -> bool {
        self.decoded * 2 > self.records
    }
}

/// What the moves of a sample say about their layout.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MoveTally {
    /// Records looked at.
    pub records: u64,
    /// Of these, records whose position can be played on; only their moves are counted.
    pub positions: u64,
    /// Moves by the set of layouts in which they are legal: bit `i` of the index stands for `MoveLayout::ALL[i]`.
    by_set: [u64; 1 << MoveLayout::ALL.len()],
}

/// Why the layout of moves cannot be told; the sample's counts say the rest.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Undecided {
    /// There is no move, or most are legal in no layout.
    #[error("no layout fits: {0}")]
    Nothing(MoveTally),
    /// Two layouts or more explain every move equally well.
    #[error("several layouts fit: {0}")]
    Ambiguous(MoveTally),
    /// No layout explains what the others do: files were mixed, or moves are damaged.
    #[error("no single layout fits, moves are mixed: {0}")]
    Mixed(MoveTally),
}

/// One move in so many may be legal in another layout only, and be taken for damage.
const DAMAGED_ONE_IN: u64 = 500;

impl MoveTally {
    /// Looks at the moves of one more record; of the layout only what is not about moves matters. `trail` is scratch.
    pub fn look(&mut self, layout: &Layout, record: &[u8], trail: &mut Trail) {
        self.records += 1;
        let position = record.first_chunk::<SFEN_LEN>().and_then(|position| decode_position(position).ok());
        if position.is_none_or(|packed| trail.step(&packed).is_err()) {
            return;
        }
        self.positions += 1;
        for bits in layout.move_bits(record) {
            let mut set = 0;
            for (i, layout) in MoveLayout::ALL.into_iter().enumerate() {
                let legal = layout.decode(bits).is_some_and(|mv| trail.is_legal(mv));
                set |= usize::from(legal) << i;
            }
            self.by_set[set] += 1;
        }
    }

    /// Adds what another sample says.
    pub fn add(&mut self, other: &Self) {
        self.records += other.records;
        self.positions += other.positions;
        for (sum, n) in self.by_set.iter_mut().zip(other.by_set) {
            *sum += n;
        }
    }

    /// Moves looked at.
    #[must_use]
    pub fn moves(&self) -> u64 {
        self.by_set.iter().sum()
    }

    /// Moves that are legal in some layout.
    #[must_use]
    pub fn explained(&self) -> u64 {
        self.moves() - self.by_set[0]
    }

    fn count(&self, matches: impl Fn(usize) -> bool) -> u64 {
        self.by_set.iter().enumerate().filter(|&(set, _)| matches(set)).map(|(_, n)| n).sum()
    }

    /// Moves that are legal in this layout.
    #[must_use]
    pub fn legal(&self, layout: MoveLayout) -> u64 {
        self.count(|set| has(set, layout))
    }

    /// Moves that are legal in this layout and in no other.
    #[must_use]
    pub fn only(&self, layout: MoveLayout) -> u64 {
        self.count(|set| set == 1 << layout as usize)
    }

    /// The layout that explains what every other one does, and something that each other one does not.
    ///
    /// # Errors
    /// [`Undecided`].
    pub fn verdict(&self) -> Result<MoveLayout, Undecided> {
        let explained = self.explained();
        if explained == 0 || self.by_set[0] > explained {
            return Err(Undecided::Nothing(*self));
        }
        // Moves that are legal in the other layout and not in this one.
        let against = |this, other| self.count(|set| has(set, other) && !has(set, this));
        let others = |this| MoveLayout::ALL.into_iter().filter(move |&other| other != this);
        let fits = |this| self.count(|set| set != 0 && !has(set, this)) * DAMAGED_ONE_IN <= explained;
        let mut fitting = MoveLayout::ALL.into_iter().filter(|&this| fits(this)).peekable();
        if fitting.peek().is_none() {
            return Err(Undecided::Mixed(*self));
        }
        fitting
            .find(|&this| others(this).all(|other| against(other, this) > against(this, other)))
            .ok_or(Undecided::Ambiguous(*self))
    }
}

const fn has(set: usize, layout: MoveLayout) -> bool {
    set >> layout as usize & 1 != 0
}

impl fmt::Display for MoveTally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "of {} moves in {} of {} records", self.moves(), self.positions, self.records)?;
        for layout in MoveLayout::ALL {
            write!(f, ", {layout} {} legal ({} in no other)", self.legal(layout), self.only(layout))?;
        }
        write!(f, ", {} legal in none", self.by_set[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tally by sets, in the order none, Y, A, YA, M, YM, AM, YAM.
    fn tally(by_set: [u64; 8]) -> MoveTally {
        MoveTally { by_set, ..MoveTally::default() }
    }

    #[test]
    fn a_layout_is_told_when_it_explains_what_the_others_do_and_more() {
        use MoveLayout::*;
        let verdict = |by_set| tally(by_set).verdict().ok();
        assert_eq!(verdict([0, 1, 0, 90, 0, 0, 0, 9]), Some(YaneuraOu));
        assert_eq!(verdict([0, 0, 3, 90, 0, 0, 0, 9]), Some(Apery));
        assert_eq!(verdict([0, 0, 0, 0, 90, 0, 2, 9]), Some(Manaka));
        // A few damaged moves, one of which another layout makes sense of.
        assert_eq!(verdict([7, 200, 1, 700, 0, 0, 0, 9]), Some(YaneuraOu));
    }

    #[test]
    fn what_cannot_be_told_is_refused_with_the_counts() {
        let refused = |by_set| tally(by_set).verdict().unwrap_err();
        for by_set in [[0; 8], [5, 0, 0, 0, 0, 0, 0, 0], [9, 2, 0, 6, 0, 0, 0, 0]] {
            assert_eq!(refused(by_set), Undecided::Nothing(tally(by_set)));
        }
        for by_set in [[0, 0, 0, 90, 0, 0, 0, 9], [0, 0, 0, 0, 0, 0, 0, 9], [0, 0, 0, 0, 0, 0, 30, 9]] {
            assert_eq!(refused(by_set), Undecided::Ambiguous(tally(by_set)));
        }
        for by_set in [[0, 50, 50, 0, 0, 0, 0, 0], [0, 100, 1, 0, 0, 0, 0, 9], [0, 0, 9, 900, 90, 0, 0, 0]] {
            assert_eq!(refused(by_set), Undecided::Mixed(tally(by_set)));
        }
        let text = refused([3, 50, 40, 20, 0, 0, 0, 0]).to_string();
        assert!(text.contains("of 113 moves"), "{text}");
        assert!(text.contains("yaneuraou 70 legal (50 in no other)"), "{text}");
        assert!(text.contains("apery 60 legal (40 in no other)"), "{text}");
        assert!(text.contains("manaka 0 legal"), "{text}");
        assert!(text.ends_with("3 legal in none"), "{text}");
    }
}
