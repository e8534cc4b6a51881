//! SFEN text to the 96 bytes and back: a single pass, no allocation, strict about malformed text (corpus.md §2).
//!
//! Tolerated, because real files hold it: hand pieces in any order, multi-digit counts, a missing move number.

mod writer;

pub use writer::SfenWriter;

use crate::packed::{BLACK_HAND, EMPTY, Faults, Packed, SIDE, WHITE_HAND, board_byte};
use crate::piece::{Color, HandKind, PieceKind, Square};
use std::fmt;

/// The standard starting position.
pub const STARTPOS: &str = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1";

/// What an SFEN says: a position, sound or not, and the move number where one was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sfen {
    /// The position; see [`Packed::faults`].
    pub packed: Packed,
    /// The move number, `None` when the text ended after the hands.
    pub ply: Option<u32>,
}

/// Why a text is no SFEN, or no sound position.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SfenError {
    /// The text does not follow the grammar.
    #[error("malformed SFEN at byte {at}: {what}")]
    Malformed {
        /// Byte offset into the text.
        at: usize,
        /// What was wrong there.
        what: Malformed,
    },
    /// The text is well-formed, the position is not.
    #[error("unsound position: {0}")]
    Faults(Faults),
}

/// What is malformed about a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// A byte that has no meaning where it stands.
    #[error("unexpected byte")]
    UnexpectedByte,
    /// The text ended inside a field.
    #[error("unexpected end")]
    UnexpectedEnd,
    /// A rank of other than nine squares.
    #[error("a rank must have nine squares")]
    RankLength,
    /// Other than nine ranks.
    #[error("a board must have nine ranks")]
    RankCount,
    /// Two digits side by side in a rank.
    #[error("two empty-square counts side by side")]
    AdjacentCounts,
    /// A `+` before something that cannot promote.
    #[error("this piece cannot be promoted")]
    CannotPromote,
    /// A hand count of 0, above 255 or with a leading zero.
    #[error("bad hand count")]
    HandCount,
    /// The same kind twice in one hand.
    #[error("the same kind twice in a hand")]
    HandTwice,
    /// A move number that is no u32.
    #[error("bad move number")]
    Ply,
}

/// What a byte means in the board field.
#[derive(Clone, Copy)]
enum Token {
    Bad,
    Piece(u8),
    Skip(u8),
    Slash,
    Plus,
    Space,
}

const TOKENS: [Token; 256] = {
    let mut table = [Token::Bad; 256];
    let letters = *b"KRBGSNLP";
    let mut i = 0;
    while i < letters.len() {
        table[letters[i] as usize] = Token::Piece(board_byte(Color::Black, PieceKind::ALL[i]));
        table[letters[i].to_ascii_lowercase() as usize] =
            Token::Piece(board_byte(Color::White, PieceKind::ALL[i]));
        i += 1;
    }
    let mut digit = b'1';
    while digit <= b'9' {
        table[digit as usize] = Token::Skip(digit - b'0');
        digit += 1;
    }
    table[b'/' as usize] = Token::Slash;
    table[b'+' as usize] = Token::Plus;
    table[b' ' as usize] = Token::Space;
    table
};

const fn malformed<T>(at: usize, what: Malformed) -> Result<T, SfenError> {
    Err(SfenError::Malformed { at, what })
}

impl Sfen {
    /// Parses a text; the position is not judged. Never allocates, never panics.
    ///
    /// # Errors
    /// [`SfenError::Malformed`] with the byte at which the text stops making sense.
    pub fn parse(text: &str) -> Result<Self, SfenError> {
        let text = text.as_bytes();
        let mut packed = Packed::empty();
        let at = board(text, &mut packed)?;
        let at = side(text, at, &mut packed)?;
        let at = hands(text, at, &mut packed)?;
        Ok(Self { packed, ply: ply(text, at)? })
    }
}

/// The board field and the space behind it.
fn board(text: &[u8], packed: &mut Packed) -> Result<usize, SfenError> {
    let squares = packed.as_bytes_mut();
    let (mut rank, mut column) = (0usize, 0usize);
    let mut after_count = false;
    let mut promote = false;
    for (at, &byte) in text.iter().enumerate() {
        let token = TOKENS[usize::from(byte)];
        if promote && !matches!(token, Token::Piece(_)) {
            return malformed(at, Malformed::CannotPromote);
        }
        match token {
            Token::Piece(mut piece) => {
                if column >= 9 {
                    return malformed(at, Malformed::RankLength);
                }
                if promote {
                    let Some(promoted) = PieceKind::ALL[usize::from(piece & 7)].promoted() else {
                        return malformed(at, Malformed::CannotPromote);
                    };
                    piece = promoted as u8 | (piece & 0x10);
                    promote = false;
                }
                // SFEN writes a rank from file 9 to file 1; the index steps a whole file at a time.
                squares[column * 9 + rank] = piece;
                column += 1;
                after_count = false;
            }
            Token::Skip(count) => {
                if after_count {
                    return malformed(at, Malformed::AdjacentCounts);
                }
                column += usize::from(count);
                if column > 9 {
                    return malformed(at, Malformed::RankLength);
                }
                after_count = true;
            }
            Token::Slash | Token::Space if column != 9 => return malformed(at, Malformed::RankLength),
            Token::Slash => {
                rank += 1;
                if rank == 9 {
                    return malformed(at, Malformed::RankCount);
                }
                column = 0;
                after_count = false;
            }
            Token::Space => {
                return if rank == 8 { Ok(at + 1) } else { malformed(at, Malformed::RankCount) };
            }
            Token::Plus => promote = true,
            Token::Bad => return malformed(at, Malformed::UnexpectedByte),
        }
    }
    malformed(text.len(), Malformed::UnexpectedEnd)
}

/// The side to move and the space behind it.
fn side(text: &[u8], at: usize, packed: &mut Packed) -> Result<usize, SfenError> {
    packed.as_bytes_mut()[SIDE] = match text.get(at) {
        Some(b'b') => 0,
        Some(b'w') => 1,
        Some(_) => return malformed(at, Malformed::UnexpectedByte),
        None => return malformed(at, Malformed::UnexpectedEnd),
    };
    match text.get(at + 1) {
        Some(b' ') => Ok(at + 2),
        Some(_) => malformed(at + 1, Malformed::UnexpectedByte),
        None => malformed(at + 1, Malformed::UnexpectedEnd),
    }
}

/// The hands, up to the end of the text or the space before the move number.
fn hands(text: &[u8], mut at: usize, packed: &mut Packed) -> Result<usize, SfenError> {
    let counts = packed.as_bytes_mut();
    if text.get(at) == Some(&b'-') {
        return Ok(at + 1);
    }
    let start = at;
    while let Some(&byte) = text.get(at) {
        if byte == b' ' {
            break;
        }
        let count_at = at;
        let mut count = None;
        while let Some(digit @ b'0'..=b'9') = text.get(at) {
            if count == Some(0) {
                return malformed(count_at, Malformed::HandCount);
            }
            let Some(next) = count.unwrap_or(0u8).checked_mul(10).and_then(|n| n.checked_add(digit - b'0'))
            else {
                return malformed(count_at, Malformed::HandCount);
            };
            count = Some(next);
            at += 1;
        }
        if count == Some(0) {
            return malformed(count_at, Malformed::HandCount);
        }
        let Some(&letter) = text.get(at) else { return malformed(at, Malformed::UnexpectedEnd) };
        let Token::Piece(piece) = TOKENS[usize::from(letter)] else {
            return malformed(at, Malformed::UnexpectedByte);
        };
        let Some(kind) = PieceKind::ALL[usize::from(piece & 7)].hand_kind() else {
            return malformed(at, Malformed::UnexpectedByte);
        };
        let hand = if piece & 0x10 == 0 { BLACK_HAND } else { WHITE_HAND };
        let slot = &mut counts[hand.start + kind as usize];
        if *slot != 0 {
            return malformed(at, Malformed::HandTwice);
        }
        *slot = count.unwrap_or(1);
        at += 1;
    }
    match text.get(at) {
        None if at == start => malformed(at, Malformed::UnexpectedEnd),
        Some(_) if at == start => malformed(at, Malformed::UnexpectedByte),
        _ => Ok(at),
    }
}

/// The move number, if there is one, and nothing behind it.
fn ply(text: &[u8], at: usize) -> Result<Option<u32>, SfenError> {
    match text.get(at) {
        None => return Ok(None),
        Some(b' ') => {}
        Some(_) => return malformed(at, Malformed::UnexpectedByte),
    }
    let digits = &text[at + 1..];
    if digits.is_empty() {
        return malformed(at + 1, Malformed::UnexpectedEnd);
    }
    let mut number = 0u32;
    for (i, &digit) in digits.iter().enumerate() {
        if !digit.is_ascii_digit() {
            return malformed(at + 1 + i, Malformed::UnexpectedByte);
        }
        number = match number.checked_mul(10).and_then(|n| n.checked_add(u32::from(digit - b'0'))) {
            Some(number) => number,
            None => return malformed(at + 1, Malformed::Ply),
        };
    }
    Ok(Some(number))
}

impl Packed {
    /// Parses an SFEN into a structurally sound position, with its move number where the text has one.
    ///
    /// # Errors
    /// [`SfenError::Malformed`] for the text, [`SfenError::Faults`] with every fault of the position at once.
    pub fn from_sfen(text: &str) -> Result<(Self, Option<u32>), SfenError> {
        let Sfen { packed, ply } = Sfen::parse(text)?;
        match packed.faults() {
            Faults::NONE => Ok((packed, ply)),
            faults => Err(SfenError::Faults(faults)),
        }
    }

    /// The position as canonical SFEN text: hands in the order R B G S N L P, Black's first; the move number only
    /// when one is given. A board byte that names no piece prints as `?`.
    #[must_use]
    pub const fn sfen(&self, ply: Option<u32>) -> SfenText<'_> {
        SfenText { packed: self, ply }
    }
}

/// Prints a position as SFEN; made by [`Packed::sfen`].
#[derive(Clone, Copy, Debug)]
pub struct SfenText<'a> {
    packed: &'a Packed,
    ply: Option<u32>,
}

impl fmt::Display for SfenText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write as _;
        for rank in 1..=9 {
            let mut empty = 0;
            for file in (1..=9).rev() {
                let Some(square) = Square::at(file, rank) else { continue };
                let byte = self.packed.as_bytes()[square.index()];
                if byte == EMPTY {
                    empty += 1;
                    continue;
                }
                if empty > 0 {
                    write!(f, "{empty}")?;
                    empty = 0;
                }
                match self.packed.piece(square) {
                    Some((color, kind)) => {
                        for letter in kind.sfen().chars() {
                            f.write_char(letter_of(color, letter))?;
                        }
                    }
                    None => f.write_char('?')?,
                }
            }
            if empty > 0 {
                write!(f, "{empty}")?;
            }
            f.write_char(if rank == 9 { ' ' } else { '/' })?;
        }
        f.write_str(match self.packed.side() {
            Color::Black => "b ",
            Color::White => "w ",
        })?;
        let mut any = false;
        for color in Color::ALL {
            for kind in HandKind::ALL.into_iter().rev() {
                let count = self.packed.hand(color, kind);
                if count > 0 {
                    any = true;
                    if count > 1 {
                        write!(f, "{count}")?;
                    }
                    f.write_char(letter_of(color, kind.letter()))?;
                }
            }
        }
        if !any {
            f.write_char('-')?;
        }
        match self.ply {
            Some(ply) => write!(f, " {ply}"),
            None => Ok(()),
        }
    }
}

const fn letter_of(color: Color, letter: char) -> char {
    match color {
        Color::Black => letter,
        Color::White => letter.to_ascii_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packed::Fault;

    fn at(text: &str) -> (usize, Malformed) {
        match Sfen::parse(text) {
            Err(SfenError::Malformed { at, what }) => (at, what),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn the_start_position_has_the_bytes_of_the_specification() {
        let Sfen { packed, ply } = Sfen::parse(STARTPOS).unwrap();
        assert_eq!(ply, Some(1));
        // File 9 from 9a to 9i, then file 8, written by hand from stream.md §4.
        let file_9 = [0x16, 0xFF, 0x17, 0xFF, 0xFF, 0xFF, 0x07, 0xFF, 0x06];
        let file_8 = [0x15, 0x11, 0x17, 0xFF, 0xFF, 0xFF, 0x07, 0x02, 0x05];
        assert_eq!(packed.as_bytes()[0..9], file_9);
        assert_eq!(packed.as_bytes()[9..18], file_8);
        assert_eq!(packed.as_bytes()[36..45], [0x10, 0xFF, 0x17, 0xFF, 0xFF, 0xFF, 0x07, 0xFF, 0x00]);
        assert_eq!(packed.as_bytes()[81..96], [0; 15]);
        assert_eq!(packed.sfen(Some(1)).to_string(), STARTPOS);
        assert!(packed.faults().is_empty());
    }

    #[test]
    fn hands_count_right_in_any_order_and_with_two_digits() {
        let board = "4k4/9/9/9/9/9/9/9/4K4";
        for hands in ["2Pp3b", "3bp2P", "p2P3b"] {
            let packed = Sfen::parse(&format!("{board} w {hands}")).unwrap().packed;
            assert_eq!(packed.hand(Color::Black, HandKind::Pawn), 2);
            assert_eq!(packed.hand(Color::White, HandKind::Pawn), 1);
            assert_eq!(packed.hand(Color::White, HandKind::Bishop), 3);
            assert_eq!(packed.faults(), Faults::from_iter([Fault::TooManyBishops]));
        }
        let (packed, ply) = Packed::from_sfen(&format!("{board} b R17p 7")).unwrap();
        assert_eq!(packed.hand(Color::White, HandKind::Pawn), 17);
        assert_eq!((packed.hand(Color::Black, HandKind::Rook), ply), (1, Some(7)));
    }

    #[test]
    fn malformed_texts_are_refused_where_they_go_wrong() {
        let board = "4k4/9/9/9/9/9/9/9/4K4";
        assert_eq!(at(""), (0, Malformed::UnexpectedEnd));
        assert_eq!(at("9/9"), (3, Malformed::UnexpectedEnd));
        assert_eq!(at("9/9 b -"), (3, Malformed::RankCount));
        assert_eq!(at("4k4/9/9/9/9/9/9/4K4 b -"), (19, Malformed::RankCount));
        assert_eq!(at("9/8/9"), (3, Malformed::RankLength));
        assert_eq!(at("9/91/9"), (3, Malformed::AdjacentCounts));
        assert_eq!(at("54/9"), (1, Malformed::AdjacentCounts));
        assert_eq!(at("9P/9"), (1, Malformed::RankLength));
        assert_eq!(at("0P7/9"), (0, Malformed::UnexpectedByte));
        assert_eq!(at("+G8/9"), (1, Malformed::CannotPromote));
        assert_eq!(at("+9/9"), (1, Malformed::CannotPromote));
        assert_eq!(at("++P7/9"), (1, Malformed::CannotPromote));
        assert_eq!(at(&format!("{board}/9 b -")), (21, Malformed::RankCount));
        assert_eq!(at(&format!("{board} x -")), (22, Malformed::UnexpectedByte));
        assert_eq!(at(&format!("{board} b")), (23, Malformed::UnexpectedEnd));
        assert_eq!(at(&format!("{board} b ")), (24, Malformed::UnexpectedEnd));
        assert_eq!(at(&format!("{board} b  1")), (24, Malformed::UnexpectedByte));
        assert_eq!(at(&format!("{board} b 0P")), (24, Malformed::HandCount));
        assert_eq!(at(&format!("{board} b 02P")), (24, Malformed::HandCount));
        assert_eq!(at(&format!("{board} b 256P")), (24, Malformed::HandCount));
        assert_eq!(at(&format!("{board} b 2")), (25, Malformed::UnexpectedEnd));
        assert_eq!(at(&format!("{board} b PP")), (25, Malformed::HandTwice));
        assert_eq!(at(&format!("{board} b K")), (24, Malformed::UnexpectedByte));
        assert_eq!(at(&format!("{board} b +P")), (24, Malformed::UnexpectedByte));
        assert_eq!(at(&format!("{board} b -P")), (25, Malformed::UnexpectedByte));
        assert_eq!(at(&format!("{board} b - ")), (26, Malformed::UnexpectedEnd));
        assert_eq!(at(&format!("{board} b - 1 moves 7g7f")), (27, Malformed::UnexpectedByte));
        assert_eq!(at(&format!("{board} b - 4294967296")), (26, Malformed::Ply));
        assert_eq!(at("４k4/9/9/9/9/9/9/9/4K4 b -"), (0, Malformed::UnexpectedByte));
    }

    #[test]
    fn all_faults_of_a_position_are_reported_at_once() {
        let faults = |text: &str| Sfen::parse(text).unwrap().packed.faults().to_string();
        assert_eq!(
            faults("P3k4/1N7/9/PR7/9/9/9/R8/pR2KK1l1 b 16P2n2N"),
            "many_black_kings, too_many_pawns, too_many_knights, too_many_rooks, nifu_black, dead_pawn, \
             dead_lance, dead_knight"
        );
        assert_eq!(faults("9/9/9/9/9/9/9/9/9 b -"), "no_black_king, no_white_king");
        assert_eq!(faults("4k3L/9/9/9/9/9/9/9/4K4 b -"), "dead_lance");
        assert_eq!(faults("4k4/4p4/4p4/9/9/9/9/4n4/4K3l b -"), "nifu_white, dead_lance, dead_knight");
        // The mirrored pieces of these are free to move: no fault.
        assert_eq!(faults("p3k4/1n7/9/9/9/9/9/7N1/4K3L b -"), "");
        // A promoted pawn beside an unpromoted one is no nifu; promoted pieces stand on the last rank.
        assert_eq!(faults("+P+L+N1k4/9/P8/9/9/9/9/9/4K4 b -"), "");
        // Handicap positions are sound.
        assert_eq!(faults("4k4/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1"), "");
    }

    #[test]
    fn bytes_that_no_sfen_can_hold_are_faults() {
        let mut packed = Sfen::parse(STARTPOS).unwrap().packed;
        packed.as_bytes_mut()[40] = 0x0E;
        packed.as_bytes_mut()[SIDE] = 2;
        assert_eq!(packed.faults().to_string(), "board_byte, side_byte");
        packed.as_bytes_mut()[40] = 0x2F;
        assert!(packed.faults().contains(Fault::BoardByte));
        assert!(packed.sfen(None).to_string().contains('?'));
    }
}
