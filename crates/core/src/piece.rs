//! Squares, colours and the two piece orders of the format (stream.md §4).

use std::fmt;

/// One of the 81 squares, `(9 - file) * 9 + (rank - 1)`: 0 is 9a, 80 is 1i (stream.md §4.1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Square(u8);

impl Square {
    /// Squares on the board.
    pub const COUNT: usize = 81;

    /// The square with this index, `None` above 80.
    #[must_use]
    pub const fn new(index: u8) -> Option<Self> {
        if (index as usize) < Self::COUNT { Some(Self(index)) } else { None }
    }

    /// The square at `file` 1..=9 and `rank` 1..=9, `None` outside.
    #[must_use]
    pub const fn at(file: u8, rank: u8) -> Option<Self> {
        if file >= 1 && file <= 9 && rank >= 1 && rank <= 9 {
            Some(Self((9 - file) * 9 + (rank - 1)))
        } else {
            None
        }
    }

    /// The index, 0..=80.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The file, 1..=9, counted from Black's right as SFEN and USI do.
    #[must_use]
    pub const fn file(self) -> u8 {
        9 - self.0 / 9
    }

    /// The rank, 1..=9, 1 being White's back rank.
    #[must_use]
    pub const fn rank(self) -> u8 {
        self.0 % 9 + 1
    }

    /// The same square seen from the other side of the board: 9i for 1a.
    #[must_use]
    pub const fn rotated(self) -> Self {
        Self(80 - self.0)
    }

    /// All squares in index order.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..81).map(Self)
    }

    /// The two bytes of the USI name, for example `7g`.
    pub(crate) const fn usi_bytes(self) -> [u8; 2] {
        [b'0' + self.file(), b'a' + self.rank() - 1]
    }

    /// The square of a two-byte USI name.
    pub(crate) const fn from_usi_bytes(file: u8, rank: u8) -> Option<Self> {
        if rank < b'a' || file < b'0' { None } else { Self::at(file - b'0', rank - b'a' + 1) }
    }
}

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [file, rank] = self.usi_bytes();
        write!(f, "{}{}", char::from(file), char::from(rank))
    }
}

impl fmt::Debug for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A side of the game. Black (sente) moves up the board and is `b` in SFEN.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Color {
    /// Sente, side byte 0.
    Black = 0,
    /// Gote, side byte 1.
    White = 1,
}

impl Color {
    /// Both sides, Black first.
    pub const ALL: [Self; 2] = [Self::Black, Self::White];

    /// The other side.
    #[must_use]
    pub const fn flip(self) -> Self {
        match self {
            Self::Black => Self::White,
            Self::White => Self::Black,
        }
    }
}

impl fmt::Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Black => "Black",
            Self::White => "White",
        })
    }
}

/// A piece kind in **board order**: K R B G S N L P +R +B +S +N +L +P are 0..=13 (stream.md §4.2).
///
/// Hands use another order: [`HandKind`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names are the field's own")]
pub enum PieceKind {
    King = 0,
    Rook = 1,
    Bishop = 2,
    Gold = 3,
    Silver = 4,
    Knight = 5,
    Lance = 6,
    Pawn = 7,
    Dragon = 8,
    Horse = 9,
    ProSilver = 10,
    ProKnight = 11,
    ProLance = 12,
    ProPawn = 13,
}

impl PieceKind {
    /// How many kinds a board byte can hold.
    pub const COUNT: usize = 14;

    /// All kinds in board order.
    pub const ALL: [Self; 14] = [
        Self::King,
        Self::Rook,
        Self::Bishop,
        Self::Gold,
        Self::Silver,
        Self::Knight,
        Self::Lance,
        Self::Pawn,
        Self::Dragon,
        Self::Horse,
        Self::ProSilver,
        Self::ProKnight,
        Self::ProLance,
        Self::ProPawn,
    ];

    /// The SFEN letters of a Black piece of this kind, `+R` for a dragon.
    #[must_use]
    pub const fn sfen(self) -> &'static str {
        ["K", "R", "B", "G", "S", "N", "L", "P", "+R", "+B", "+S", "+N", "+L", "+P"][self as usize]
    }

    /// What the kind becomes when it promotes; `None` for the king, the gold and what has promoted.
    #[must_use]
    pub const fn promoted(self) -> Option<Self> {
        Some(match self {
            Self::Rook => Self::Dragon,
            Self::Bishop => Self::Horse,
            Self::Silver => Self::ProSilver,
            Self::Knight => Self::ProKnight,
            Self::Lance => Self::ProLance,
            Self::Pawn => Self::ProPawn,
            _ => return None,
        })
    }

    /// The kind in the hand when this piece is captured, `None` for the king.
    #[must_use]
    pub const fn hand_kind(self) -> Option<HandKind> {
        Some(match self {
            Self::King => return None,
            Self::Rook | Self::Dragon => HandKind::Rook,
            Self::Bishop | Self::Horse => HandKind::Bishop,
            Self::Gold => HandKind::Gold,
            Self::Silver | Self::ProSilver => HandKind::Silver,
            Self::Knight | Self::ProKnight => HandKind::Knight,
            Self::Lance | Self::ProLance => HandKind::Lance,
            Self::Pawn | Self::ProPawn => HandKind::Pawn,
        })
    }
}

/// A piece kind in **hand order**: P L N S G B R are 0..=6, the reverse of the board's direction (stream.md §4.3).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names are the field's own")]
pub enum HandKind {
    Pawn = 0,
    Lance = 1,
    Knight = 2,
    Silver = 3,
    Gold = 4,
    Bishop = 5,
    Rook = 6,
}

impl HandKind {
    /// How many kinds a hand can hold.
    pub const COUNT: usize = 7;

    /// All kinds in hand order.
    pub const ALL: [Self; 7] =
        [Self::Pawn, Self::Lance, Self::Knight, Self::Silver, Self::Gold, Self::Bishop, Self::Rook];

    /// Pieces of this kind in a full set, both sides together, promoted ones included: 18 4 4 4 4 2 2.
    #[must_use]
    pub const fn full_set(self) -> u8 {
        [18, 4, 4, 4, 4, 2, 2][self as usize]
    }

    /// The kind with this hand index, `None` above 6.
    #[must_use]
    pub const fn new(index: u8) -> Option<Self> {
        if (index as usize) < Self::COUNT { Some(Self::ALL[index as usize]) } else { None }
    }

    /// The upper-case SFEN letter.
    #[must_use]
    pub const fn letter(self) -> char {
        ['P', 'L', 'N', 'S', 'G', 'B', 'R'][self as usize]
    }

    /// The same kind in board order.
    #[must_use]
    pub const fn piece_kind(self) -> PieceKind {
        match self {
            Self::Pawn => PieceKind::Pawn,
            Self::Lance => PieceKind::Lance,
            Self::Knight => PieceKind::Knight,
            Self::Silver => PieceKind::Silver,
            Self::Gold => PieceKind::Gold,
            Self::Bishop => PieceKind::Bishop,
            Self::Rook => PieceKind::Rook,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_run_down_a_file_from_9a_to_1i() {
        assert_eq!(Square::at(9, 1).unwrap().index(), 0);
        assert_eq!(Square::at(9, 9).unwrap().index(), 8);
        assert_eq!(Square::at(8, 1).unwrap().index(), 9);
        assert_eq!(Square::at(1, 9).unwrap().index(), 80);
        assert_eq!(Square::at(7, 7).unwrap().to_string(), "7g");
        assert!(Square::at(0, 1).is_none() && Square::at(1, 10).is_none() && Square::new(81).is_none());
        for square in Square::all() {
            assert_eq!(Square::at(square.file(), square.rank()), Some(square));
        }
    }

    #[test]
    fn the_two_piece_orders_name_the_same_kinds() {
        for hand in HandKind::ALL {
            assert_eq!(hand.piece_kind().hand_kind(), Some(hand));
            assert_eq!(hand.piece_kind().sfen(), hand.letter().to_string());
        }
    }
}
