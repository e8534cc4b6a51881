//! SFEN text of many positions, each most likely like the one before.

use crate::packed::{BLACK_HAND, BOARD, EMPTY, PACKED_LEN, Packed, SIDE, WHITE_HAND, board_byte};
use crate::piece::{Color, HandKind, PieceKind};
use std::ops::Range;

/// How a square is written.
#[derive(Clone, Copy)]
struct Letters {
    /// Its letters, first letter lowest. `?` for a byte that names no piece.
    text: [u8; 2],
    len: u8,
    /// All ones when there is nothing on it, and it is counted instead; else 0.
    empty: u8,
}

/// By board byte.
static SQUARES: [Letters; 256] = {
    let mut squares = [Letters { text: [b'?', 0], len: 1, empty: 0 }; 256];
    squares[EMPTY as usize] = Letters { text: [0; 2], len: 0, empty: !0 };
    let mut i = 0;
    while i < 2 * PieceKind::COUNT {
        let (color, kind) = (Color::ALL[i % 2], PieceKind::ALL[i / 2]);
        let name = kind.sfen().as_bytes();
        let mut letters = Letters { text: [0; 2], len: 0, empty: 0 };
        while (letters.len as usize) < name.len() {
            let letter = name[letters.len as usize];
            let letter = if matches!(color, Color::White) { letter.to_ascii_lowercase() } else { letter };
            letters.text[letters.len as usize] = letter;
            letters.len += 1;
        }
        squares[board_byte(color, kind) as usize] = letters;
        i += 1;
    }
    squares
};

/// Room for a rank: two letters a square, and what the last write may touch behind it.
const RANK_TEXT: usize = 9 * 2 + 2;

/// Writes what [`Packed::sfen`] prints without a move number, several times as fast.
///
/// The ranks and hands that are as they were in the position before are not written anew; along a game those are most. What is
/// written depends on nothing but the position.
#[derive(Clone, Debug)]
pub struct SfenWriter {
    /// The position that was written last.
    last: Packed,
    ranks: [Rank; 9],
    hands: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Rank {
    text: [u8; RANK_TEXT],
    len: usize,
}

impl Default for SfenWriter {
    fn default() -> Self {
        let last = Packed::empty();
        Self { last, ranks: std::array::from_fn(|rank| Rank::of(&last, rank)), hands: b"-".to_vec() }
    }
}

impl SfenWriter {
    /// Appends the text of a position to `out`.
    pub fn write(&mut self, packed: &Packed, out: &mut Vec<u8>) {
        let (now, before) = (packed.as_bytes(), self.last.as_bytes());
        let (mut first, last) = changed_ranks(now, before);
        while first != 0 {
            let rank = first.trailing_zeros() / 8;
            self.ranks[rank as usize] = Rank::of(packed, rank as usize);
            first &= !(0xFF << (8 * rank));
        }
        if last {
            self.ranks[8] = Rank::of(packed, 8);
        }
        if now[HANDS] != before[HANDS] {
            self.hands.clear();
            push_hands(packed, &mut self.hands);
        }
        self.last = *packed;

        let mut board = [0u8; 9 * RANK_TEXT];
        let mut at = 0;
        for rank in &self.ranks {
            board[at..at + RANK_TEXT].copy_from_slice(&rank.text);
            at += rank.len;
        }
        out.extend_from_slice(&board[..at]);
        out.extend_from_slice(if now[SIDE] == 0 { b"b " } else { b"w " });
        out.extend_from_slice(&self.hands);
    }
}

/// Both hands, one behind the other.
const HANDS: Range<usize> = BLACK_HAND.start..WHITE_HAND.end;

/// A byte for each of the first eight ranks, 0 where it is the same, the first lowest; and whether the last differs.
fn changed_ranks(now: &[u8; PACKED_LEN], before: &[u8; PACKED_LEN]) -> (u64, bool) {
    let (mut first, mut last) = (0, 0);
    for (now, before) in now[BOARD].as_chunks::<9>().0.iter().zip(before[BOARD].as_chunks::<9>().0) {
        let [a, b, c, d, e, f, g, h, now_last] = *now;
        let [i, j, k, l, m, n, o, p, before_last] = *before;
        first |= u64::from_le_bytes([a, b, c, d, e, f, g, h]) ^ u64::from_le_bytes([i, j, k, l, m, n, o, p]);
        last |= now_last ^ before_last;
    }
    (first, last != 0)
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
            let square = &SQUARES[usize::from(bytes[file * 9 + rank])];
            at += usize::from(u8::from(empty != 0) & !square.empty);
            empty = (empty + 1) & square.empty;
            let [first, second] = square.text;
            text[at..at + 2].copy_from_slice(&[first | (b'0' + empty) & square.empty, second]);
            at += usize::from(square.len);
        }
        at += usize::from(empty > 0);
        text[at] = if rank == 8 { b' ' } else { b'/' };
        Self { text, len: at + 1 }
    }
}

/// The hands.
fn push_hands(packed: &Packed, out: &mut Vec<u8>) {
    let bytes = packed.as_bytes();
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
            let [letter, _] = SQUARES[usize::from(board_byte(color, kind.piece_kind()))].text;
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
