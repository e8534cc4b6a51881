//! SFEN text of many positions, each most likely like the one before.

use crate::packed::{BLACK_HAND, EMPTY, PACKED_LEN, Packed, SIDE, WHITE_HAND, board_byte};
use crate::piece::{Color, HandKind, PieceKind};

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

/// Room for a rank: two letters a square, and what the last write may touch behind it.
const RANK_TEXT: usize = 9 * 2 + 2;

/// Writes what [`Packed::sfen`] prints without a move number, several times as fast.
///
/// The ranks that are as they were in the position before are not written anew; along a game those are most. What is
/// written depends on nothing but the position.
#[derive(Clone, Debug)]
pub struct SfenWriter {
    /// The position that was written last.
    last: Packed,
    ranks: [Rank; 9],
}

#[derive(Clone, Copy, Debug)]
struct Rank {
    text: [u8; RANK_TEXT],
    len: usize,
}

impl Default for SfenWriter {
    fn default() -> Self {
        let last = Packed::empty();
        Self { last, ranks: std::array::from_fn(|rank| Rank::of(&last, rank)) }
    }
}

impl SfenWriter {
    /// Appends the text of a position to `out`.
    pub fn write(&mut self, packed: &Packed, out: &mut Vec<u8>) {
        let changed = changed_ranks(packed.as_bytes(), self.last.as_bytes());
        for (rank, cached) in self.ranks.iter_mut().enumerate() {
            if changed & 1 << rank != 0 {
                *cached = Rank::of(packed, rank);
            }
        }
        self.last = *packed;

        let mut board = [0u8; 9 * RANK_TEXT];
        let mut at = 0;
        for rank in &self.ranks {
            board[at..at + RANK_TEXT].copy_from_slice(&rank.text);
            at += rank.len;
        }
        out.extend_from_slice(&board[..at]);
        push_rest(packed, out);
    }
}

/// A bit for each rank that differs.
fn changed_ranks(now: &[u8; PACKED_LEN], before: &[u8; PACKED_LEN]) -> u16 {
    let mut changed = [false; 9];
    for file in 0..9 {
        for rank in 0..9 {
            changed[rank] |= now[file * 9 + rank] != before[file * 9 + rank];
        }
    }
    changed.iter().rev().fold(0, |bits, &changed| bits << 1 | u16::from(changed))
}

impl Rank {
    /// The text of a rank, from 0, and the byte behind it.
    fn of(packed: &Packed, rank: usize) -> Self {
        let bytes = packed.as_bytes();
        let mut text = [0u8; RANK_TEXT];
        let mut at = 0;
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
        Self { text, len: at + 1 }
    }
}

/// The side to move and the hands.
fn push_rest(packed: &Packed, out: &mut Vec<u8>) {
    let bytes = packed.as_bytes();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sfen::STARTPOS;
    use proptest::prelude::*;

    fn text(writer: &mut SfenWriter, packed: &Packed) -> String {
        let mut out = b"before".to_vec();
        writer.write(packed, &mut out);
        String::from_utf8(out.split_off(6)).unwrap()
    }

    #[test]
    fn known_positions_have_their_known_text() {
        let mut writer = SfenWriter::default();
        for sfen in [
            STARTPOS,
            "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1",
            "4k4/9/9/9/9/9/9/9/4K4 b 10P8p 1",
        ] {
            let packed = Packed::from_sfen(sfen).unwrap().0;
            assert_eq!(format!("{} 1", text(&mut writer, &packed)), sfen);
        }
    }

    fn any_packed() -> impl Strategy<Value = Packed> {
        let board = prop::collection::vec(0u8..0x24, 81);
        (board, any::<[u8; 14]>(), 0u8..0x20, 0u8..3).prop_map(|(board, hands, empty, side)| {
            let mut packed = Packed::empty();
            let bytes = packed.as_bytes_mut();
            for (byte, piece) in bytes[..81].iter_mut().zip(board) {
                // Some bytes that are neither empty nor a piece, too.
                *byte = if piece < empty { EMPTY } else { piece };
            }
            bytes[81..95].copy_from_slice(&hands);
            bytes[SIDE] = side;
            packed
        })
    }

    proptest! {
        #[test]
        fn any_96_bytes_print_as_the_slow_twin_prints_them(
            first in any_packed(),
            second in any_packed(),
            changes in prop::collection::vec((0usize..96, any::<u8>()), 0..4),
        ) {
            let mut third = second;
            for (at, byte) in changes {
                third.as_bytes_mut()[at] = byte;
            }
            let mut writer = SfenWriter::default();
            for packed in [first, second, second, third] {
                prop_assert_eq!(text(&mut writer, &packed), packed.sfen(None).to_string());
            }
        }
    }
}
