//! Between the formats of `manaka-core` and the values of the rules library.
//!
//! The library numbers squares from 1a down the files, counts its pieces P L N S B R G K and keeps hands in bit
//! fields. Every table is made from named constants of both sides, so that no number of either is written here twice.

use manaka_core::packed::{BLACK_HAND, BOARD, EMPTY, SIDE, WHITE_HAND, board_byte};
use manaka_core::{Color, HandKind, Move16, Packed, PieceKind, Square};
use rsshogi::board::{BoardArray, Position, PositionState};
use rsshogi::types as lib;

/// Our index of a library square and back: files are counted from the other side, so it is its own inverse.
const MIRRORED: [u8; Square::COUNT] = {
    let mut table = [0; Square::COUNT];
    let mut file = 0u8;
    while file < 9 {
        let mut rank = 0;
        while rank < 9 {
            table[(file * 9 + rank) as usize] = (8 - file) * 9 + rank;
            rank += 1;
        }
        file += 1;
    }
    table
};

/// The library's square, by our index.
const LIBRARY_SQUARES: [lib::Square; Square::COUNT] = {
    let mut table = [lib::Square::NONE; Square::COUNT];
    let mut i = 0;
    while i < Square::COUNT {
        table[i] = lib::Square::new(MIRRORED[i].cast_signed());
        i += 1;
    }
    table
};

/// Our square, by the library's index.
const SQUARES: [Square; Square::COUNT] = {
    let Some(first) = Square::new(0) else { unreachable!() };
    let mut table = [first; Square::COUNT];
    let mut i = 0;
    while i < Square::COUNT {
        let Some(square) = Square::new(MIRRORED[i]) else { unreachable!() };
        table[i] = square;
        i += 1;
    }
    table
};

const fn piece_type(kind: PieceKind) -> lib::PieceType {
    match kind {
        PieceKind::King => lib::PieceType::KING,
        PieceKind::Rook => lib::PieceType::ROOK,
        PieceKind::Bishop => lib::PieceType::BISHOP,
        PieceKind::Gold => lib::PieceType::GOLD,
        PieceKind::Silver => lib::PieceType::SILVER,
        PieceKind::Knight => lib::PieceType::KNIGHT,
        PieceKind::Lance => lib::PieceType::LANCE,
        PieceKind::Pawn => lib::PieceType::PAWN,
        PieceKind::Dragon => lib::PieceType::DRAGON,
        PieceKind::Horse => lib::PieceType::HORSE,
        PieceKind::ProSilver => lib::PieceType::PRO_SILVER,
        PieceKind::ProKnight => lib::PieceType::PRO_KNIGHT,
        PieceKind::ProLance => lib::PieceType::PRO_LANCE,
        PieceKind::ProPawn => lib::PieceType::PRO_PAWN,
    }
}

const fn hand_piece(kind: HandKind) -> lib::HandPiece {
    match kind {
        HandKind::Pawn => lib::HandPiece::PAWN,
        HandKind::Lance => lib::HandPiece::LANCE,
        HandKind::Knight => lib::HandPiece::KNIGHT,
        HandKind::Silver => lib::HandPiece::SILVER,
        HandKind::Gold => lib::HandPiece::GOLD,
        HandKind::Bishop => lib::HandPiece::BISHOP,
        HandKind::Rook => lib::HandPiece::ROOK,
    }
}

const fn library_color(color: Color) -> lib::Color {
    match color {
        Color::Black => lib::Color::BLACK,
        Color::White => lib::Color::WHITE,
    }
}

/// Our side of a library colour.
pub(crate) fn color(color: lib::Color) -> Color {
    if color == lib::Color::BLACK { Color::Black } else { Color::White }
}

/// The library's piece, by board byte; bytes that name no piece of ours hold `NONE`.
const PIECES: [lib::Piece; 32] = {
    let mut table = [lib::Piece::NONE; 32];
    let mut i = 0;
    while i < PieceKind::COUNT * 2 {
        let (color, kind) = (Color::ALL[i % 2], PieceKind::ALL[i / 2]);
        table[board_byte(color, kind) as usize] =
            lib::Piece::from_parts(library_color(color), piece_type(kind));
        i += 1;
    }
    table
};

/// Our board byte, by the library's piece.
const BOARD_BYTES: [u8; lib::Piece::COUNT] = {
    let mut table = [EMPTY; lib::Piece::COUNT];
    let mut byte = 0u8;
    while (byte as usize) < PIECES.len() {
        let piece = PIECES[byte as usize];
        if !piece.is_empty() {
            table[piece.to_index()] = byte;
        }
        byte += 1;
    }
    table
};

/// Our hand kind, by the library's piece type; types that are never in hand hold `Pawn`.
const HAND_KINDS: [HandKind; lib::PieceType::COUNT] = {
    let mut table = [HandKind::Pawn; lib::PieceType::COUNT];
    let mut i = 0;
    while i < HandKind::COUNT {
        table[piece_type(HandKind::ALL[i].piece_kind()).to_index()] = HandKind::ALL[i];
        i += 1;
    }
    table
};

/// The arrays the library builds a position from (stream.md §4). `None` when a hand does not fit the library's bit
/// fields, which no position without faults does. The library's own move counter starts at 0.
pub(crate) fn position_state(packed: &Packed) -> Option<PositionState> {
    let mut board = BoardArray::empty();
    for (&square, &byte) in LIBRARY_SQUARES.iter().zip(&packed.as_bytes()[BOARD]) {
        if let Some(&piece) = PIECES.get(usize::from(byte)) {
            board.set(square, piece);
        }
    }
    let mut hands = [lib::Hand::ZERO; 2];
    for color in Color::ALL {
        let hand = &mut hands[library_color(color).to_index()];
        for kind in HandKind::ALL {
            *hand = hand.checked_add(hand_piece(kind), u32::from(packed.hand(color, kind)))?;
        }
    }
    Some(PositionState { board, hands, side_to_move: library_color(packed.side()), ply: 0 })
}

/// The 96 bytes of a library position (stream.md §4).
pub(crate) fn packed(position: &Position) -> Packed {
    let mut packed = Packed::empty();
    let bytes = packed.as_bytes_mut();
    let board = position.board_array();
    for (byte, &square) in bytes[BOARD].iter_mut().zip(&LIBRARY_SQUARES) {
        *byte = BOARD_BYTES[board.get(square).to_index()];
    }
    for (color, range) in [(Color::Black, BLACK_HAND), (Color::White, WHITE_HAND)] {
        let hand = position.hand(library_color(color));
        for (byte, kind) in bytes[range].iter_mut().zip(HandKind::ALL) {
            // A hand field has at most five bits.
            *byte = hand.count(hand_piece(kind)).to_le_bytes()[0];
        }
    }
    bytes[SIDE] = color(position.turn()) as u8;
    packed
}

/// The library's move (stream.md §5); `None` when the bits do not look like a move.
pub(crate) fn library_move(mv: Move16) -> Option<lib::Move> {
    if !mv.is_well_formed() {
        return None;
    }
    let to = LIBRARY_SQUARES[mv.to_square()?.index()];
    match mv.from_square() {
        Some(from) => {
            let from = LIBRARY_SQUARES[from.index()];
            Some(if mv.is_promote() { lib::Move::promotion(from, to) } else { lib::Move::normal(from, to) })
        }
        None => Some(lib::Move::drop(piece_type(mv.dropped_kind()?.piece_kind()), to)),
    }
}

/// Our move of a move the library generated (stream.md §5).
pub(crate) fn move16(mv: lib::Move) -> Move16 {
    let to = SQUARES[mv.to_sq().to_index()];
    match mv.dropped_piece() {
        Some(kind) => Move16::drop(HAND_KINDS[kind.to_index()], to),
        None => Move16::board(SQUARES[mv.from_sq().to_index()], to, mv.is_promotion()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_keep_their_usi_names() {
        for square in Square::all() {
            let library = LIBRARY_SQUARES[square.index()];
            assert_eq!(library.to_string(), square.to_string());
            assert_eq!(SQUARES[library.to_index()], square);
        }
    }

    #[test]
    fn pieces_keep_their_sfen_letters() {
        for kind in PieceKind::ALL {
            for (color, letters) in
                [(Color::Black, kind.sfen().to_owned()), (Color::White, kind.sfen().to_lowercase())]
            {
                let piece = PIECES[usize::from(board_byte(color, kind))];
                assert_eq!(piece.to_string(), letters);
                assert_eq!(BOARD_BYTES[piece.to_index()], board_byte(color, kind));
            }
        }
        assert_eq!(BOARD_BYTES[lib::Piece::NONE.to_index()], EMPTY);
        for kind in HandKind::ALL {
            assert_eq!(hand_piece(kind).to_piece_type().to_string(), kind.letter().to_string());
            assert_eq!(HAND_KINDS[hand_piece(kind).to_piece_type().to_index()], kind);
        }
    }

    #[test]
    fn every_move_keeps_its_usi_text_both_ways() {
        for bits in 0..=u16::MAX {
            let mv = Move16::from_bits(bits);
            let still = mv.from_square().is_some() && mv.from_square() == mv.to_square();
            match library_move(mv) {
                Some(library) if !still => {
                    assert_eq!(library.to_usi(), mv.to_string());
                    assert_eq!(move16(library), mv);
                }
                // The library keeps its special values (null, resign, win) among the moves that go nowhere.
                Some(library) => assert!(!library.is_normal(), "{bits:#06x}"),
                None => assert!(!mv.is_well_formed(), "{bits:#06x}"),
            }
        }
    }
}
