//! Positions put together from chance: a full set of pieces over board, hands and box.
#![allow(dead_code, reason = "each test binary uses its own part")]
#![allow(clippy::missing_panics_doc, reason = "a test tool")]

use manaka_core::packed::{BLACK_HAND, EMPTY, SIDE, WHITE_HAND, board_byte};
use manaka_core::{Color, HandKind, Packed, PieceKind};
use proptest::prelude::*;

/// Pieces of a full set that are no kings.
const PIECES: usize = 38;

fn promoted(kind: HandKind) -> Option<PieceKind> {
    PieceKind::ALL.into_iter().find(|p| p.hand_kind() == Some(kind) && *p != kind.piece_kind())
}

/// Any position that can be packed: not necessarily one that the rules allow.
pub fn any_position() -> impl Strategy<Value = Packed> {
    let kings = (0usize..81, 0usize..80);
    // How likely a piece is to stand on the board, in hand or in the box is drawn first: all mixes come up.
    let pieces = prop::collection::vec((0u8..100, 0usize..81, any::<[bool; 2]>()), PIECES);
    (kings, (0u8..=100, 0u8..=100), pieces, any::<bool>()).prop_map(
        |(kings, (board, hand), pieces, white)| {
            let mut packed = Packed::empty();
            let bytes = packed.as_bytes_mut();
            let second = if kings.1 >= kings.0 { kings.1 + 1 } else { kings.1 };
            bytes[kings.0] = board_byte(Color::Black, PieceKind::King);
            bytes[second] = board_byte(Color::White, PieceKind::King);
            let kinds =
                HandKind::ALL.into_iter().flat_map(|kind| std::iter::repeat_n(kind, kind.full_set().into()));
            for (kind, (draw, square, [white, promotes])) in kinds.zip(pieces) {
                let color = if white { Color::White } else { Color::Black };
                if draw < board {
                    let square = (square..81).chain(0..square).find(|&s| bytes[s] == EMPTY).unwrap();
                    let plain = kind.piece_kind();
                    let kind = if promotes { promoted(kind).unwrap_or(plain) } else { plain };
                    bytes[square] = board_byte(color, kind);
                } else if u16::from(draw) < u16::from(board) + u16::from(hand) {
                    let hand = if white { WHITE_HAND } else { BLACK_HAND };
                    bytes[hand.start + kind as usize] += 1;
                }
            }
            bytes[SIDE] = u8::from(white);
            packed
        },
    )
}
