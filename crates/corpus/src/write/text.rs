//! The texts of a row, written as fast as they can be read: an SFEN without a move number, moves in USI.

use bytes::Bytes;
use manaka_core::packed::{BLACK_HAND, EMPTY, SIDE, WHITE_HAND, board_byte};
use manaka_core::{Color, HandKind, Move16, Packed, PieceKind};
use std::sync::LazyLock;

/// Letters of a board byte, first letter lowest, and how many there are. One that names no piece prints as `?`.
#[derive(Clone, Copy)]
struct Letters {
    text: u16,
    len: u8,
}

/// By the low five bits of a board byte; the last one is where those of [`EMPTY`] lead, and is not looked at.
const PIECES: [Letters; 32] = {
    let mut pieces = [Letters { text: b'?' as u16, len: 1 }; 32];
    let mut i = 0;
    while i < 2 * PieceKind::COUNT {
        let (color, kind) = (Color::ALL[i % 2], PieceKind::ALL[i / 2]);
        let name = kind.sfen().as_bytes();
        let mut letters = Letters { text: 0, len: 0 };
        while (letters.len as usize) < name.len() {
            let letter = name[letters.len as usize];
            let letter = if matches!(color, Color::White) { letter.to_ascii_lowercase() } else { letter };
            letters.text |= (letter as u16) << (8 * letters.len);
            letters.len += 1;
        }
        pieces[board_byte(color, kind) as usize] = letters;
        i += 1;
    }
    pieces
};

/// More than the longest board has: two letters a square and a byte behind each rank.
const BOARD_TEXT: usize = 81 * 2 + 9 + 2;

/// Appends what [`Packed::sfen`] prints without a move number.
pub(super) fn push_sfen(packed: &Packed, out: &mut Vec<u8>) {
    let bytes = packed.as_bytes();
    let mut text = [0u8; BOARD_TEXT];
    let mut at = 0;
    for rank in 0..9 {
        // Where pieces stand cannot be predicted, so nothing here branches on it: the count of empty squares is
        // written again and again to the same place, and `at` moves past it only when a piece follows.
        let mut empty = 0u8;
        for file in 0..9 {
            let byte = bytes[file * 9 + rank];
            let piece = PIECES[usize::from(byte & 0x1F)];
            let unknown = byte & 0xE0 != 0;
            let is_empty = byte == EMPTY;
            let letters = if unknown { u16::from(b'?') } else { piece.text };
            let len = if unknown { 1 } else { piece.len };
            at += usize::from(!is_empty & (empty > 0));
            empty = if is_empty { empty + 1 } else { 0 };
            let letters = if is_empty { u16::from(b'0' + empty) } else { letters };
            text[at..at + 2].copy_from_slice(&letters.to_le_bytes());
            at += if is_empty { 0 } else { usize::from(len) };
        }
        at += usize::from(empty > 0);
        text[at] = if rank == 8 { b' ' } else { b'/' };
        at += 1;
    }
    out.extend_from_slice(&text[..at]);
    out.extend_from_slice(if bytes[SIDE] == 0 { b"b " } else { b"w " });
    let start = out.len();
    for (hand, color) in [(BLACK_HAND, Color::Black), (WHITE_HAND, Color::White)] {
        for kind in HandKind::ALL.into_iter().rev() {
            let count = bytes[hand.start + kind as usize];
            if count == 0 {
                continue;
            }
            if count > 1 {
                push_count(count, out);
            }
            let [letter, _] = PIECES[usize::from(board_byte(color, kind.piece_kind()))].text.to_le_bytes();
            out.push(letter);
        }
    }
    if out.len() == start {
        out.push(b'-');
    }
}

fn push_count(count: u8, out: &mut Vec<u8>) {
    for unit in [100, 10, 1] {
        if count >= unit {
            out.push(b'0' + count / unit % 10);
        }
    }
}

/// The longest text of a move.
const MOVE_LEN: usize = 5;

/// The USI text of every 15-bit value, and its length; what is no move has none.
static MOVES: LazyLock<Vec<([u8; MOVE_LEN], u8)>> = LazyLock::new(|| {
    let text_of = |bits| {
        let text = Move16::from_bits(bits).to_string();
        let mut padded = [0; MOVE_LEN];
        match (padded.get_mut(..text.len()), u8::try_from(text.len())) {
            (Some(room), Ok(len)) if Move16::from_bits(bits).is_well_formed() => {
                room.copy_from_slice(text.as_bytes());
                (padded, len)
            }
            _ => (padded, 0),
        }
    };
    (0..1 << 15).map(text_of).collect()
});

/// The USI text of a well-formed move, without an allocation; an empty one for other bits.
pub(super) fn move_text(mv: Move16) -> Bytes {
    match MOVES.get(usize::from(mv.bits())) {
        Some((text, len)) => Bytes::from_static(&text[..usize::from(*len)]),
        None => Bytes::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use manaka_core::sfen::STARTPOS;
    use proptest::prelude::*;

    fn text(packed: &Packed) -> String {
        let mut out = b"before".to_vec();
        push_sfen(packed, &mut out);
        String::from_utf8(out.split_off(6)).unwrap()
    }

    #[test]
    fn known_positions_have_their_known_text() {
        for sfen in [
            STARTPOS,
            "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1",
            "4k4/9/9/9/9/9/9/9/4K4 b 10P8p 1",
        ] {
            let packed = Packed::from_sfen(sfen).unwrap().0;
            assert_eq!(format!("{} 1", text(&packed)), sfen);
        }
    }

    #[test]
    fn every_move_has_its_usi_text() {
        for bits in 0..=u16::MAX {
            let mv = Move16::from_bits(bits);
            let expected = if mv.is_well_formed() { mv.to_string() } else { String::new() };
            assert_eq!(move_text(mv), expected.as_bytes(), "{bits:#06x}");
        }
    }

    proptest! {
        #[test]
        fn any_96_bytes_print_as_the_slow_twin_prints_them(board in prop::collection::vec(0u8..0x24, 81),
                                                           hands in any::<[u8; 14]>(),
                                                           empty in 0u8..0x20,
                                                           side in 0u8..3) {
            let mut packed = Packed::empty();
            let bytes = packed.as_bytes_mut();
            for (byte, piece) in bytes[..81].iter_mut().zip(board) {
                // Some bytes that are neither empty nor a piece, too.
                *byte = if piece < empty { EMPTY } else { piece };
            }
            bytes[81..95].copy_from_slice(&hands);
            bytes[SIDE] = side;
            prop_assert_eq!(text(&packed), packed.sfen(None).to_string());
        }
    }
}
