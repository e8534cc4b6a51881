//! A move in 16 bits (stream.md §5).
//!
//! ```text
//! bit  15 │ 14 │ 13 ──────── 7          │ 6 ──────── 0
//!       0 │ pr │ from, or 81 + hand kind │     to
//! ```

use crate::piece::{HandKind, Square};
use std::fmt;

/// A move as the stream stores it. Any u16 can be held; [`Move16::is_well_formed`] says whether it looks like a move.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Move16(u16);

const TO_MASK: u16 = 0x7F;
const ORIGIN_SHIFT: u32 = 7;
const ORIGIN_MASK: u16 = 0x7F;
const PROMOTE: u16 = 1 << 14;
const UNUSED: u16 = 1 << 15;
/// First origin value of a drop; the hand index is added to it.
#[expect(clippy::cast_possible_truncation, reason = "81")]
const DROP_BASE: u8 = Square::COUNT as u8;
/// Last origin value of a drop.
#[expect(clippy::cast_possible_truncation, reason = "87")]
const ORIGIN_MAX: u8 = (Square::COUNT + HandKind::COUNT - 1) as u8;

impl Move16 {
    /// Wraps the bits as they are.
    #[must_use]
    pub const fn from_bits(bits: u16) -> Self {
        Self(bits)
    }

    /// The bits.
    #[must_use]
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// A move of the piece on `from`.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "square indices are at most 80")]
    pub const fn board(from: Square, to: Square, promote: bool) -> Self {
        let promote = if promote { PROMOTE } else { 0 };
        Self(to.index() as u16 | (from.index() as u16) << ORIGIN_SHIFT | promote)
    }

    /// A drop from the hand.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "square indices are at most 80")]
    pub const fn drop(kind: HandKind, to: Square) -> Self {
        Self(to.index() as u16 | ((DROP_BASE + kind as u8) as u16) << ORIGIN_SHIFT)
    }

    const fn to_field(self) -> u8 {
        (self.0 & TO_MASK) as u8
    }

    const fn origin_field(self) -> u8 {
        ((self.0 >> ORIGIN_SHIFT) & ORIGIN_MASK) as u8
    }

    /// Whether the bits look like a move: bit 15 clear, `to` a square, the origin at most 87, no promoting drop.
    ///
    /// A record read at the wrong offset usually fails this.
    #[must_use]
    pub const fn is_well_formed(self) -> bool {
        self.0 & UNUSED == 0
            && (self.to_field() as usize) < Square::COUNT
            && self.origin_field() <= ORIGIN_MAX
            && !(self.is_drop() && self.is_promote())
    }

    /// The destination; `None` when the field holds no square.
    #[must_use]
    pub const fn to_square(self) -> Option<Square> {
        Square::new(self.to_field())
    }

    /// The origin of a board move; `None` for a drop.
    #[must_use]
    pub const fn from_square(self) -> Option<Square> {
        Square::new(self.origin_field())
    }

    /// Whether the move drops a piece from the hand.
    #[must_use]
    pub const fn is_drop(self) -> bool {
        self.origin_field() >= DROP_BASE
    }

    /// The kind a drop puts on the board; `None` for a board move or an origin above 87.
    #[must_use]
    pub const fn dropped_kind(self) -> Option<HandKind> {
        if self.is_drop() { HandKind::new(self.origin_field() - DROP_BASE) } else { None }
    }

    /// Whether the moving piece promotes.
    #[must_use]
    pub const fn is_promote(self) -> bool {
        self.0 & PROMOTE != 0
    }

    /// The same move on the board seen from the other side: the move of the other colour in
    /// [`Packed::rotated`](crate::Packed::rotated). Fields that hold no square stay as they are.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "square indices are at most 80")]
    pub const fn rotated(self) -> Self {
        let mut bits = self.0;
        if let Some(to) = self.to_square() {
            bits = bits & !TO_MASK | to.rotated().index() as u16;
        }
        if let Some(from) = self.from_square() {
            bits = bits & !(ORIGIN_MASK << ORIGIN_SHIFT) | (from.rotated().index() as u16) << ORIGIN_SHIFT;
        }
        Self(bits)
    }

    /// Parses USI text: `7g7f`, `8h2b+`, `P*5e`. Exactly that; `resign`, `win`, `0000` and lower-case drops are no moves.
    #[must_use]
    pub fn from_usi(text: &str) -> Option<Self> {
        Self::from_usi_bytes(text.as_bytes())
    }

    /// [`from_usi`](Self::from_usi) of text that need not be UTF-8.
    #[must_use]
    pub fn from_usi_bytes(text: &[u8]) -> Option<Self> {
        match *text {
            [letter, b'*', file, rank] => {
                let kind = HandKind::ALL.into_iter().find(|kind| kind.letter() == char::from(letter))?;
                Some(Self::drop(kind, Square::from_usi_bytes(file, rank)?))
            }
            [file, rank, to_file, to_rank, ref promote @ ..] => {
                let promote = match promote {
                    [] => false,
                    [b'+'] => true,
                    _ => return None,
                };
                let from = Square::from_usi_bytes(file, rank)?;
                let to = Square::from_usi_bytes(to_file, to_rank)?;
                if from == to { None } else { Some(Self::board(from, to, promote)) }
            }
            _ => None,
        }
    }
}

impl Move16 {
    /// Appends what `Display` prints, several times as fast.
    pub fn write_usi(self, out: &mut Vec<u8>) {
        match (self.is_well_formed(), self.dropped_kind(), self.from_square(), self.to_square()) {
            (true, Some(kind), _, Some(to)) => {
                let [file, rank] = to.usi_bytes();
                // The letters of hand kinds are ASCII.
                let mut letter = [0; 4];
                out.extend_from_slice(kind.letter().encode_utf8(&mut letter).as_bytes());
                out.extend_from_slice(&[b'*', file, rank]);
            }
            (true, None, Some(from), Some(to)) => {
                let ([file, rank], [to_file, to_rank]) = (from.usi_bytes(), to.usi_bytes());
                out.extend_from_slice(&[file, rank, to_file, to_rank]);
                if self.is_promote() {
                    out.push(b'+');
                }
            }
            _ => out.extend_from_slice(self.to_string().as_bytes()),
        }
    }
}

/// USI text; `move16:XXXX` in hexadecimal when the bits are not well-formed.
impl fmt::Display for Move16 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.is_well_formed(), self.dropped_kind(), self.from_square(), self.to_square()) {
            (true, Some(kind), _, Some(to)) => write!(f, "{}*{to}", kind.letter()),
            (true, None, Some(from), Some(to)) => {
                write!(f, "{from}{to}{}", if self.is_promote() { "+" } else { "" })
            }
            _ => write!(f, "move16:{:04x}", self.0),
        }
    }
}

impl fmt::Debug for Move16 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mv(text: &str) -> Move16 {
        Move16::from_usi(text).unwrap()
    }

    #[test]
    fn bits_are_those_of_the_specification() {
        // 7g = (9-7)*9 + 6 = 24, 7f = 23; 8h = 16, 2b = 64; 5e = 40.
        assert_eq!(mv("7g7f").bits(), 24 << 7 | 23);
        assert_eq!(mv("8h2b+").bits(), 1 << 14 | 16 << 7 | 64);
        assert_eq!(mv("P*5e").bits(), 81 << 7 | 40);
        assert_eq!(mv("R*5e").bits(), 87 << 7 | 40);
        assert_eq!(mv("G*5e").dropped_kind(), Some(HandKind::Gold));
        assert!(mv("8h2b+").is_promote() && !mv("8h2b").is_promote());
        assert_eq!(mv("8h2b+").from_square(), Square::at(8, 8));
        assert_eq!(mv("8h2b+").to_square(), Square::at(2, 2));
        assert_eq!((mv("N*1a").from_square(), mv("7g7f").dropped_kind()), (None, None));
    }

    #[test]
    fn every_well_formed_value_survives_usi_and_no_other_prints_as_a_move() {
        let mut well_formed = 0;
        for bits in 0..=u16::MAX {
            let mv = Move16::from_bits(bits);
            let naive = bits >> 15 == 0
                && bits & 127 <= 80
                && (bits >> 7 & 127) <= 87
                && !((bits >> 7 & 127) >= 81 && bits >> 14 & 1 == 1);
            assert_eq!(mv.is_well_formed(), naive, "{bits:#06x}");
            let still = mv.from_square().is_some() && mv.from_square() == mv.to_square();
            let expected = (naive && !still).then_some(mv);
            assert_eq!(Move16::from_usi(&mv.to_string()), expected, "{bits:#06x}");
            let mut written = Vec::new();
            mv.write_usi(&mut written);
            assert_eq!(written, mv.to_string().into_bytes());
            well_formed += u32::from(naive);
        }
        assert_eq!(well_formed, 81 * 81 * 2 + 7 * 81);
    }

    #[test]
    fn the_other_side_sees_every_square_of_a_move_turned_and_nothing_else() {
        let mv = |text| Move16::from_usi(text).unwrap();
        for (one, other) in [("7g7f", "3c3d"), ("8h2b+", "2b8h+"), ("P*5e", "P*5e"), ("G*1a", "G*9i")] {
            assert_eq!(mv(one).rotated(), mv(other));
        }
        for bits in 0..=u16::MAX {
            let mv = Move16::from_bits(bits);
            assert_eq!(mv.rotated().rotated(), mv);
            assert_eq!(mv.rotated().is_well_formed(), mv.is_well_formed());
        }
    }

    #[test]
    fn texts_that_are_no_moves_are_refused() {
        for text in [
            "", "7g", "7g7", "7g7f++", "7g7fx", "7g7f +", "0g7f", "7j7f", "7g7g", "p*5e", "K*5e", "P*5j",
            "P*5e+", "+P*5e", "resign", "win", "0000", "none", "７g7f", "7G7F",
        ] {
            assert_eq!(Move16::from_usi(text), None, "{text}");
        }
    }
}
