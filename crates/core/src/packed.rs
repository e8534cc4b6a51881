//! A position in 96 bytes (stream.md §4), and everything that can be structurally wrong with one.
//!
//! [`Packed`] is any 96 bytes: a representable thing. [`Packed::faults`] says, all at once, why it is no position of
//! shogi, as far as that can be told without a move generator. What needs the rules (the opponent left in check,
//! legality of moves) lives in `manaka-shogi`.

use crate::move16::Move16;
use crate::piece::{Color, HandKind, PieceKind, Square};
use std::fmt;
use std::ops::Range;

/// Bytes of a packed position: 81 squares, two hands of 7 counts, the side to move.
pub const PACKED_LEN: usize = Square::COUNT + 2 * HandKind::COUNT + 1;
const _: () = assert!(PACKED_LEN == 96);

/// The board, one byte a square in index order.
pub const BOARD: Range<usize> = 0..Square::COUNT;
/// Black's hand, counts in the order P L N S G B R.
pub const BLACK_HAND: Range<usize> = BOARD.end..BOARD.end + HandKind::COUNT;
/// White's hand, same order.
pub const WHITE_HAND: Range<usize> = BLACK_HAND.end..BLACK_HAND.end + HandKind::COUNT;
/// The side to move: 0 Black, 1 White.
pub const SIDE: usize = WHITE_HAND.end;
const _: () = assert!(SIDE + 1 == PACKED_LEN);

const fn hand_range(color: Color) -> Range<usize> {
    match color {
        Color::Black => BLACK_HAND,
        Color::White => WHITE_HAND,
    }
}

/// The board byte of an empty square; no piece can take it.
pub const EMPTY: u8 = 0xFF;
/// The bit of a board byte that says White.
pub const WHITE_BIT: u8 = 0x10;

/// The board byte of a piece.
#[must_use]
pub const fn board_byte(color: Color, kind: PieceKind) -> u8 {
    kind as u8 | ((color as u8) << 4)
}

/// The piece of a board byte; `None` for [`EMPTY`] and for bytes that name no piece.
#[must_use]
pub const fn piece_of(byte: u8) -> Option<(Color, PieceKind)> {
    let kind = byte & 0x0F;
    if byte & 0xE0 != 0 || kind as usize >= PieceKind::COUNT {
        return None;
    }
    let color = if byte & WHITE_BIT == 0 { Color::Black } else { Color::White };
    Some((color, PieceKind::ALL[kind as usize]))
}

/// By board byte: the same piece of the other colour. Bytes that name no piece stay, or one would become [`EMPTY`].
const OTHER_COLOUR: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0u8;
    loop {
        table[byte as usize] = if piece_of(byte).is_some() { byte ^ WHITE_BIT } else { byte };
        if byte == u8::MAX {
            break table;
        }
        byte += 1;
    }
};

/// The 96 bytes of a position, sound or not. Ordered by its bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Packed([u8; PACKED_LEN]);

impl Packed {
    /// Wraps bytes as they are.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; PACKED_LEN]) -> Self {
        Self(bytes)
    }

    /// An empty board, empty hands, Black to move: what a builder starts from.
    #[must_use]
    pub const fn empty() -> Self {
        let mut bytes = [EMPTY; PACKED_LEN];
        let mut i = BOARD.end;
        while i < PACKED_LEN {
            bytes[i] = 0;
            i += 1;
        }
        Self(bytes)
    }

    /// The bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; PACKED_LEN] {
        &self.0
    }

    /// The bytes, for a builder.
    pub const fn as_bytes_mut(&mut self) -> &mut [u8; PACKED_LEN] {
        &mut self.0
    }

    /// The piece on a square; `None` when it is empty or the byte names no piece.
    #[must_use]
    pub const fn piece(&self, square: Square) -> Option<(Color, PieceKind)> {
        piece_of(self.0[square.index()])
    }

    /// How many of a kind stand in a side's hand.
    #[must_use]
    pub const fn hand(&self, color: Color, kind: HandKind) -> u8 {
        self.0[hand_range(color).start + kind as usize]
    }

    /// The side to move. A side byte other than 0 and 1 (a [`Fault::SideByte`]) reads as White.
    #[must_use]
    pub const fn side(&self) -> Color {
        if self.0[SIDE] == 0 { Color::Black } else { Color::White }
    }

    /// The same position with the colours exchanged: every piece is the other side's and stands where that side sees it,
    /// hands and the side to move change places. What is right for the mover of one is right for the mover of the other.
    ///
    /// Done twice it is the position it was, bytes that name no piece and no side included: those stay as they are.
    #[must_use]
    pub fn rotated(&self) -> Self {
        let mut turned = *self;
        for (to, &byte) in turned.0[BOARD].iter_mut().zip(self.0[BOARD].iter().rev()) {
            *to = OTHER_COLOUR[byte as usize];
        }
        turned.0[BLACK_HAND].copy_from_slice(&self.0[WHITE_HAND]);
        turned.0[WHITE_HAND].copy_from_slice(&self.0[BLACK_HAND]);
        if self.0[SIDE] <= 1 {
            turned.0[SIDE] ^= 1;
        }
        turned
    }

    /// The position behind a move that the mover's pieces could make if there were no rules: a piece of the mover's
    /// leaves its square, or one in hand is put on an empty square; what stood on the square it goes to is captured.
    /// `None` where not even that is so. Legality is not looked at.
    #[must_use]
    pub fn after(&self, mv: Move16) -> Option<Self> {
        let side = self.side();
        let to = mv.to_square()?;
        let mut next = *self;
        let placed = match mv.from_square() {
            Some(from) => {
                let (owner, kind) = self.piece(from)?;
                if owner != side {
                    return None;
                }
                next.0[from.index()] = EMPTY;
                if mv.is_promote() { kind.promoted()? } else { kind }
            }
            None => {
                let kind = mv.dropped_kind()?;
                let count = &mut next.0[hand_range(side).start + kind as usize];
                *count = count.checked_sub(1)?;
                kind.piece_kind()
            }
        };
        match self.piece(to) {
            None if self.0[to.index()] == EMPTY => {}
            Some((owner, kind)) if owner != side && !mv.is_drop() => {
                let count = &mut next.0[hand_range(side).start + kind.hand_kind()? as usize];
                *count = count.checked_add(1)?;
            }
            _ => return None,
        }
        next.0[to.index()] = board_byte(side, placed);
        next.0[SIDE] = side.flip() as u8;
        Some(next)
    }

    /// Every structural fault of the position at once; empty when it is sound (stream.md §4.4).
    ///
    /// Positions with fewer pieces than a full set (handicaps) are sound.
    #[must_use]
    pub fn faults(&self) -> Faults {
        let mut faults = Faults::NONE;
        // One count per board byte value: cheaper than matching on each square, and the sums below read it by kind.
        let mut seen = [0u8; 32];
        for file in 0..9 {
            let mut pawns = [0u8; 2];
            for rank in 0..9 {
                let byte = self.0[file * 9 + rank];
                if byte == EMPTY {
                    continue;
                }
                if byte & 0xE0 != 0 || usize::from(byte & 0x0F) >= PieceKind::COUNT {
                    faults.insert(Fault::BoardByte);
                    continue;
                }
                seen[usize::from(byte)] += 1;
                let white = byte & WHITE_BIT != 0;
                // Ranks left to a piece that only moves forward.
                let ahead = if white { 8 - rank } else { rank };
                const PAWN: u8 = PieceKind::Pawn as u8;
                const LANCE: u8 = PieceKind::Lance as u8;
                const KNIGHT: u8 = PieceKind::Knight as u8;
                match byte & 0x0F {
                    PAWN => {
                        pawns[usize::from(white)] += 1;
                        if ahead == 0 {
                            faults.insert(Fault::DeadPawn);
                        }
                    }
                    LANCE if ahead == 0 => faults.insert(Fault::DeadLance),
                    KNIGHT if ahead < 2 => faults.insert(Fault::DeadKnight),
                    _ => {}
                }
            }
            if pawns[0] > 1 {
                faults.insert(Fault::NifuBlack);
            }
            if pawns[1] > 1 {
                faults.insert(Fault::NifuWhite);
            }
        }

        let on_board =
            |kind: PieceKind| u16::from(seen[kind as usize]) + u16::from(seen[kind as usize | 0x10]);
        for (count, none, many) in [
            (seen[0], Fault::NoBlackKing, Fault::ManyBlackKings),
            (seen[usize::from(WHITE_BIT)], Fault::NoWhiteKing, Fault::ManyWhiteKings),
        ] {
            match count {
                0 => faults.insert(none),
                1 => {}
                _ => faults.insert(many),
            }
        }
        for (hand, fault) in HandKind::ALL.into_iter().zip(Fault::TOO_MANY) {
            let promoted = match hand {
                HandKind::Pawn => on_board(PieceKind::ProPawn),
                HandKind::Lance => on_board(PieceKind::ProLance),
                HandKind::Knight => on_board(PieceKind::ProKnight),
                HandKind::Silver => on_board(PieceKind::ProSilver),
                HandKind::Gold => 0,
                HandKind::Bishop => on_board(PieceKind::Horse),
                HandKind::Rook => on_board(PieceKind::Dragon),
            };
            let total = on_board(hand.piece_kind())
                + promoted
                + u16::from(self.hand(Color::Black, hand))
                + u16::from(self.hand(Color::White, hand));
            if total > u16::from(hand.full_set()) {
                faults.insert(fault);
            }
        }
        if self.0[SIDE] > 1 {
            faults.insert(Fault::SideByte);
        }
        faults
    }
}

impl fmt::Debug for Packed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Packed({})", self.sfen(None))
    }
}

/// One way in which 96 bytes are no position of shogi (stream.md §4.4).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Fault {
    /// A board byte that is neither [`EMPTY`] nor a piece.
    BoardByte,
    /// A side byte other than 0 and 1.
    SideByte,
    /// No Black king.
    NoBlackKing,
    /// Two or more Black kings.
    ManyBlackKings,
    /// No White king.
    NoWhiteKing,
    /// Two or more White kings.
    ManyWhiteKings,
    /// More than 18 pawns over board and hands, promoted ones included.
    TooManyPawns,
    /// More than 4 lances.
    TooManyLances,
    /// More than 4 knights.
    TooManyKnights,
    /// More than 4 silvers.
    TooManySilvers,
    /// More than 4 golds.
    TooManyGolds,
    /// More than 2 bishops.
    TooManyBishops,
    /// More than 2 rooks.
    TooManyRooks,
    /// Two unpromoted Black pawns on one file.
    NifuBlack,
    /// Two unpromoted White pawns on one file.
    NifuWhite,
    /// A pawn on its last rank.
    DeadPawn,
    /// A lance on its last rank.
    DeadLance,
    /// A knight on one of its last two ranks.
    DeadKnight,
}

impl Fault {
    /// Every fault, in the order in which they are reported.
    pub const ALL: [Self; 18] = [
        Self::BoardByte,
        Self::SideByte,
        Self::NoBlackKing,
        Self::ManyBlackKings,
        Self::NoWhiteKing,
        Self::ManyWhiteKings,
        Self::TooManyPawns,
        Self::TooManyLances,
        Self::TooManyKnights,
        Self::TooManySilvers,
        Self::TooManyGolds,
        Self::TooManyBishops,
        Self::TooManyRooks,
        Self::NifuBlack,
        Self::NifuWhite,
        Self::DeadPawn,
        Self::DeadLance,
        Self::DeadKnight,
    ];

    /// The count faults in hand order.
    const TOO_MANY: [Self; HandKind::COUNT] = [
        Self::TooManyPawns,
        Self::TooManyLances,
        Self::TooManyKnights,
        Self::TooManySilvers,
        Self::TooManyGolds,
        Self::TooManyBishops,
        Self::TooManyRooks,
    ];

    /// The stable name used in reports, for example `nifu_black`.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::BoardByte => "board_byte",
            Self::SideByte => "side_byte",
            Self::NoBlackKing => "no_black_king",
            Self::ManyBlackKings => "many_black_kings",
            Self::NoWhiteKing => "no_white_king",
            Self::ManyWhiteKings => "many_white_kings",
            Self::TooManyPawns => "too_many_pawns",
            Self::TooManyLances => "too_many_lances",
            Self::TooManyKnights => "too_many_knights",
            Self::TooManySilvers => "too_many_silvers",
            Self::TooManyGolds => "too_many_golds",
            Self::TooManyBishops => "too_many_bishops",
            Self::TooManyRooks => "too_many_rooks",
            Self::NifuBlack => "nifu_black",
            Self::NifuWhite => "nifu_white",
            Self::DeadPawn => "dead_pawn",
            Self::DeadLance => "dead_lance",
            Self::DeadKnight => "dead_knight",
        }
    }
}

/// A set of [`Fault`]s.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Faults(u32);

impl Faults {
    /// No fault.
    pub const NONE: Self = Self(0);

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether this fault is among them.
    #[must_use]
    pub const fn contains(self, fault: Fault) -> bool {
        self.0 & (1 << fault as u8) != 0
    }

    /// Adds a fault.
    pub const fn insert(&mut self, fault: Fault) {
        self.0 |= 1 << fault as u8;
    }

    /// The faults in their fixed order.
    pub fn iter(self) -> impl Iterator<Item = Fault> {
        Fault::ALL.into_iter().filter(move |&fault| self.contains(fault))
    }
}

impl FromIterator<Fault> for Faults {
    fn from_iter<I: IntoIterator<Item = Fault>>(faults: I) -> Self {
        let mut set = Self::NONE;
        for fault in faults {
            set.insert(fault);
        }
        set
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, fault) in self.iter().enumerate() {
            f.write_str(if i == 0 { "" } else { ", " })?;
            f.write_str(fault.id())?;
        }
        Ok(())
    }
}

impl fmt::Debug for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sfen::STARTPOS;

    /// Turned by hand; and bytes that are no piece and no side stay what they are.
    #[test]
    fn a_rotated_position_is_the_other_colours_and_twice_the_same() {
        for (one, other) in [
            (STARTPOS, "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w -"),
            ("4k4/9/4+n4/4P4/9/9/9/8L/4K4 b 2Nn3P 1", "4k4/l8/9/9/9/4p4/4+N4/9/4K4 w N3p2n"),
        ] {
            let packed = Packed::from_sfen(one).unwrap().0;
            assert_eq!(packed.rotated(), Packed::from_sfen(&format!("{other} 1")).unwrap().0, "{one}");
            assert_eq!(packed.rotated().rotated(), packed);
        }
        for byte in 0..=u8::MAX {
            for at in [0, 40, 80, SIDE] {
                let mut packed = Packed::empty();
                packed.0[at] = byte;
                assert_eq!(packed.rotated().rotated(), packed, "byte {byte:#x} at {at}");
            }
        }
        let mut unsound = Packed::empty();
        (unsound.0[0], unsound.0[SIDE]) = (0xEF, 7);
        assert_eq!((unsound.rotated().0[80], unsound.rotated().0[SIDE]), (0xEF, 7));
    }

    /// Positions behind moves, written by hand; a move that cannot be made has none.
    #[test]
    fn moves_are_made_without_rules() {
        let after = |sfen: &str, usi: &str| {
            let packed = Packed::from_sfen(sfen).unwrap().0;
            let next = packed.after(Move16::from_usi(usi).unwrap());
            next.map(|next| next.sfen(None).to_string())
        };
        let cases = [
            (STARTPOS, "7g7f", Some("lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w -")),
            // A promoted piece is captured as what it was, by a piece that promotes.
            ("4k4/9/4+n4/4P4/9/9/9/9/4K4 b 2Nn 1", "5d5c+", Some("4k4/9/4+P4/9/9/9/9/9/4K4 w 3Nn")),
            ("4k4/9/9/9/9/9/4p4/4R4/4K4 w Gr 1", "5g5h", Some("4k4/9/9/9/9/9/9/4p4/4K4 b G2r")),
            ("4k4/9/9/9/9/9/9/9/4K4 w 2Pp 1", "P*3c", Some("4k4/9/6p2/9/9/9/9/9/4K4 b 2P")),
            // No piece of the mover's, own piece in the way, a drop on a piece, nothing in hand, the king captured,
            // what cannot promote.
            (STARTPOS, "5e5d", None),
            (STARTPOS, "3c3d", None),
            (STARTPOS, "9i9g", None),
            ("4k4/9/9/9/9/9/9/9/4K4 b P 1", "P*5a", None),
            ("4k4/9/9/9/9/9/9/9/4K4 b P 1", "L*5e", None),
            ("4k4/9/4R4/9/9/9/9/9/4K4 b P 1", "5c5a", None),
            ("4k4/4G4/9/9/9/9/9/9/4K4 b P 1", "5b4b+", None),
        ];
        for (sfen, usi, expected) in cases {
            assert_eq!(after(sfen, usi).as_deref(), expected, "{sfen} {usi}");
        }
    }
}
