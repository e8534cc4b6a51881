//! The three layouts of a move in 16 bits (psv.md §4).
//!
//! ```text
//!            15   14   13 ──────────────── 7          6 ─── 0
//! YaneuraOu  pr   drop  from, or the piece 1..=7      to        squares from 1a, pieces P L N S B R G
//! Apery       0   pr    from, or 81 + the piece       to        squares from 1a, pieces P L N S B R G
//! Manaka      0   pr    from, or 81 + the piece       to        squares from 9a, pieces P L N S G B R
//! ```

use manaka_core::{HandKind, Move16, Square};
use std::fmt;
use std::str::FromStr;

/// How moves lie in their 16 bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MoveLayout {
    /// YaneuraOu and what learns from it: drops are marked by bit 14, promotions by bit 15.
    YaneuraOu,
    /// Apery, dlshogi and cshogi: a drop's origin is 81 and more, promotions are bit 14.
    Apery,
    /// As in streams ([`Move16`]): as Apery's, with squares counted from 9a and pieces in the order of hands.
    Manaka,
}

const TO_MASK: u16 = 0x7F;
const FROM_SHIFT: u32 = 7;
const FROM_MASK: u16 = 0x7F;
/// YaneuraOu's marks.
const YANEURAOU_DROP: u16 = 1 << 14;
const YANEURAOU_PROMOTE: u16 = 1 << 15;
/// Apery's marks.
const APERY_PROMOTE: u16 = 1 << 14;
const APERY_UNUSED: u16 = 1 << 15;
const APERY_DROP_BASE: u16 = 81;

/// The order in which both of them count the pieces that can be dropped.
const DROPS: [HandKind; HandKind::COUNT] = [
    HandKind::Pawn,
    HandKind::Lance,
    HandKind::Knight,
    HandKind::Silver,
    HandKind::Bishop,
    HandKind::Rook,
    HandKind::Gold,
];

/// Where a kind stands in [`DROPS`].
#[expect(clippy::cast_possible_truncation, reason = "below 7")]
const DROP_INDEX: [u16; HandKind::COUNT] = {
    let mut index = [0; HandKind::COUNT];
    let mut i = 0;
    while i < DROPS.len() {
        index[DROPS[i] as usize] = i as u16;
        i += 1;
    }
    index
};

/// Our square of one counted from 1a down the files.
fn mirrored(square: u16) -> Option<Square> {
    #[expect(clippy::cast_possible_truncation, reason = "seven bits")]
    let square = square as u8;
    if usize::from(square) >= Square::COUNT {
        return None;
    }
    Square::new((8 - square / 9) * 9 + square % 9)
}

/// The same, the other way.
#[expect(clippy::cast_possible_truncation, reason = "at most 80")]
const fn mirror(square: Square) -> u16 {
    let index = square.index() as u16;
    (8 - index / 9) * 9 + index % 9
}

impl MoveLayout {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::YaneuraOu, Self::Apery, Self::Manaka];

    /// The name it is asked for by.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::YaneuraOu => "yaneuraou",
            Self::Apery => "apery",
            Self::Manaka => "manaka",
        }
    }

    /// The move of these bits; `None` when they are none in this layout, a move that goes nowhere included (0 is one:
    /// that no move is there is for the caller to see).
    #[must_use]
    pub fn decode(self, bits: u16) -> Option<Move16> {
        let (to, from) = (bits & TO_MASK, bits >> FROM_SHIFT & FROM_MASK);
        match self {
            Self::YaneuraOu if bits & YANEURAOU_DROP != 0 => {
                let kind = *DROPS.get(usize::from(from.checked_sub(1)?))?;
                (bits & YANEURAOU_PROMOTE == 0).then_some(Move16::drop(kind, mirrored(to)?))
            }
            Self::YaneuraOu => board_move(from, to, bits & YANEURAOU_PROMOTE != 0),
            Self::Apery if bits & APERY_UNUSED != 0 => None,
            Self::Apery if from >= APERY_DROP_BASE => {
                let kind = *DROPS.get(usize::from(from - APERY_DROP_BASE))?;
                (bits & APERY_PROMOTE == 0).then_some(Move16::drop(kind, mirrored(to)?))
            }
            Self::Apery => board_move(from, to, bits & APERY_PROMOTE != 0),
            Self::Manaka => {
                let mv = Move16::from_bits(bits);
                (mv.is_well_formed() && mv.from_square() != mv.to_square()).then_some(mv)
            }
        }
    }

    /// The bits of a move; `None` when it is none (not well-formed, or goes nowhere). Never 0.
    #[must_use]
    pub fn encode(self, mv: Move16) -> Option<u16> {
        if !mv.is_well_formed() || mv.from_square() == mv.to_square() {
            return None;
        }
        if self == Self::Manaka {
            return Some(mv.bits());
        }
        let to = mirror(mv.to_square()?);
        Some(match (self, mv.from_square()) {
            (Self::YaneuraOu, None) => {
                to | (DROP_INDEX[mv.dropped_kind()? as usize] + 1) << FROM_SHIFT | YANEURAOU_DROP
            }
            (_, None) => to | (DROP_INDEX[mv.dropped_kind()? as usize] + APERY_DROP_BASE) << FROM_SHIFT,
            (_, Some(from)) => {
                let promote = if self == Self::YaneuraOu { YANEURAOU_PROMOTE } else { APERY_PROMOTE };
                to | mirror(from) << FROM_SHIFT | if mv.is_promote() { promote } else { 0 }
            }
        })
    }
}

fn board_move(from: u16, to: u16, promote: bool) -> Option<Move16> {
    if from == to {
        return None;
    }
    Some(Move16::board(mirrored(from)?, mirrored(to)?, promote))
}

impl fmt::Display for MoveLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no move layout's.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0:?} is no layout of moves; there are yaneuraou, apery and manaka")]
pub struct UnknownMoveLayout(pub String);

impl FromStr for MoveLayout {
    type Err = UnknownMoveLayout;

    fn from_str(name: &str) -> Result<Self, UnknownMoveLayout> {
        Self::ALL
            .into_iter()
            .find(|layout| layout.name() == name)
            .ok_or_else(|| UnknownMoveLayout(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mv(usi: &str) -> Move16 {
        Move16::from_usi(usi).unwrap()
    }

    #[test]
    fn known_moves_have_the_bits_of_the_specification() {
        // psv.md §4, worked out by hand: 1a is 0, 7g is 6·9 + 6 = 60, 7f 59, 8h 70, 2b 10, 5e 40.
        let expected = [
            ("7g7f", 60 << 7 | 59, 60 << 7 | 59, (2 * 9 + 6) << 7 | (2 * 9 + 5)),
            ("8h2b+", 1 << 15 | 70 << 7 | 10, 1 << 14 | 70 << 7 | 10, 1 << 14 | (9 + 7) << 7 | (7 * 9 + 1)),
            ("P*5e", 1 << 14 | 1 << 7 | 40, 81 << 7 | 40, 81 << 7 | 40),
            ("B*5e", 1 << 14 | 5 << 7 | 40, 85 << 7 | 40, 86 << 7 | 40),
            ("R*5e", 1 << 14 | 6 << 7 | 40, 86 << 7 | 40, 87 << 7 | 40),
            ("G*5e", 1 << 14 | 7 << 7 | 40, 87 << 7 | 40, 85 << 7 | 40),
        ];
        for (usi, yaneuraou, apery, manaka) in expected {
            let bits = MoveLayout::ALL.map(|layout| layout.encode(mv(usi)).unwrap());
            assert_eq!(bits, [yaneuraou, apery, manaka], "{usi}");
        }
    }

    #[test]
    fn every_move_has_its_own_bits_in_every_layout_and_no_others_are_moves() {
        for layout in MoveLayout::ALL {
            let mut moves = 0;
            for bits in 0..=u16::MAX {
                let Some(mv) = layout.decode(bits) else { continue };
                assert_eq!(layout.encode(mv), Some(bits), "{layout} {bits:#06x}");
                moves += 1;
            }
            assert_eq!(moves, 81 * 80 * 2 + 7 * 81, "{layout}");
        }
    }

    #[test]
    fn what_is_no_move_has_no_bits() {
        for bits in 0..=u16::MAX {
            let mv = Move16::from_bits(bits);
            let usable = mv.is_well_formed() && mv.from_square() != mv.to_square();
            for layout in MoveLayout::ALL {
                assert_eq!(layout.encode(mv).is_some(), usable);
                assert!(layout.encode(mv) != Some(0));
            }
        }
        // 0, and YaneuraOu's words for no move, resignation and a win by declaration.
        for word in [0, 1 << 7 | 1, 2 << 7 | 2, 3 << 7 | 3] {
            assert!(MoveLayout::ALL.iter().all(|layout| layout.decode(word).is_none()));
        }
    }

    #[test]
    fn a_layout_is_found_by_its_name() {
        for layout in MoveLayout::ALL {
            assert_eq!(layout.to_string().parse(), Ok(layout));
        }
        assert_eq!(MoveLayout::from_str("Apery"), Err(UnknownMoveLayout("Apery".to_owned())));
    }
}
