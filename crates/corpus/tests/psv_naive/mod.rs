//! The position codec once more, bit by bit and straight from psv.md §3: what the fast one is held to.
#![allow(clippy::missing_panics_doc, reason = "a test tool")]

use manaka_core::packed::{BLACK_HAND, EMPTY, SIDE, WHITE_HAND, board_byte};
use manaka_core::{Color, HandKind, Packed, PieceKind, Square};

/// The codes as psv.md §3.2 writes them, first bit first.
const CODES: [(&str, HandKind); 7] = [
    ("10", HandKind::Pawn),
    ("1100", HandKind::Lance),
    ("1101", HandKind::Knight),
    ("1110", HandKind::Silver),
    ("11110", HandKind::Gold),
    ("111110", HandKind::Bishop),
    ("111111", HandKind::Rook),
];

struct Bits<'a> {
    bytes: &'a [u8; 32],
    at: usize,
}

impl Bits<'_> {
    fn bit(&mut self) -> Option<bool> {
        let byte = self.bytes.get(self.at / 8)?;
        let bit = byte >> (self.at % 8) & 1 == 1;
        self.at += 1;
        Some(bit)
    }

    fn number(&mut self, bits: u32) -> Option<u8> {
        let mut number = 0;
        for i in 0..bits {
            number |= u8::from(self.bit()?) << i;
        }
        Some(number)
    }

    /// A code whose first bits are known, then the promotion bit of what has one.
    fn piece(&mut self, mut read: String) -> Option<(HandKind, bool)> {
        loop {
            if let Some(&(_, kind)) = CODES.iter().find(|(code, _)| *code == read) {
                return Some((kind, kind != HandKind::Gold && self.bit()?));
            }
            assert!(read.len() < 6);
            read.push(if self.bit()? { '1' } else { '0' });
        }
    }
}

fn at(square: u8) -> Square {
    Square::at(square / 9 + 1, square % 9 + 1).unwrap()
}

pub fn decode(bytes: &[u8; 32]) -> Option<Packed> {
    let mut bits = Bits { bytes, at: 0 };
    let mut packed = Packed::empty();
    let out = packed.as_bytes_mut();
    out[SIDE] = u8::from(bits.bit()?);
    let kings = [bits.number(7)?, bits.number(7)?];
    if kings[0] == kings[1] || kings.iter().any(|&king| king > 80) {
        return None;
    }
    for (color, king) in Color::ALL.into_iter().zip(kings) {
        out[at(king).index()] = board_byte(color, PieceKind::King);
    }
    let mut counts = [0u8; 7];
    for square in (0..81).filter(|square| !kings.contains(square)) {
        if !bits.bit()? {
            continue;
        }
        let (kind, promoted) = bits.piece("1".to_owned())?;
        let color = if bits.bit()? { Color::White } else { Color::Black };
        let plain = kind.piece_kind();
        let piece =
            PieceKind::ALL.into_iter().find(|p| p.hand_kind() == Some(kind) && (*p != plain) == promoted);
        assert_eq!(out[at(square).index()], EMPTY);
        out[at(square).index()] = board_byte(color, piece?);
        counts[kind as usize] += 1;
    }
    while bits.at < 256 {
        let (mut kind, promoted) = bits.piece("1".to_owned())?;
        let white = bits.bit()?;
        match (promoted, white) {
            (false, _) => {
                let hand = if white { WHITE_HAND } else { BLACK_HAND };
                out[hand.start + kind as usize] += 1;
            }
            (true, false) => {}
            (true, true) if kind == HandKind::Silver => kind = HandKind::Gold,
            (true, true) => return None,
        }
        counts[kind as usize] += 1;
    }
    HandKind::ALL.into_iter().all(|kind| counts[kind as usize] == kind.full_set()).then_some(packed)
}

pub fn encode(packed: &Packed) -> [u8; 32] {
    let mut bits = String::new();
    let number =
        |square: u8| (0..7).map(|i| if square >> i & 1 == 1 { '1' } else { '0' }).collect::<String>();
    let code = |kind| CODES.iter().find(|(_, k)| *k == kind).unwrap().0;
    let color_bit = |color| if color == Color::White { "1" } else { "0" };
    bits += color_bit(packed.side());
    for color in Color::ALL {
        let king = (0..81).find(|&s| packed.piece(at(s)) == Some((color, PieceKind::King))).unwrap();
        bits += &number(king);
    }
    let mut left = HandKind::ALL.map(HandKind::full_set);
    for square in 0..81 {
        let Some((color, piece)) = packed.piece(at(square)) else {
            bits.push('0');
            continue;
        };
        let Some(kind) = piece.hand_kind() else { continue };
        bits += code(kind);
        if kind != HandKind::Gold {
            bits.push(if piece == kind.piece_kind() { '0' } else { '1' });
        }
        bits += color_bit(color);
        left[kind as usize] -= 1;
    }
    for color in Color::ALL {
        for kind in HandKind::ALL {
            for _ in 0..packed.hand(color, kind) {
                bits += &code(kind)[1..];
                if kind != HandKind::Gold {
                    bits.push('0');
                }
                bits += color_bit(color);
                left[kind as usize] -= 1;
            }
        }
    }
    for kind in HandKind::ALL {
        for _ in 0..left[kind as usize] {
            bits += if kind == HandKind::Gold { "11011" } else { &code(kind)[1..] };
            if kind != HandKind::Gold {
                bits += "10";
            }
        }
    }
    assert_eq!(bits.len(), 256);
    let mut bytes = [0; 32];
    for (i, bit) in bits.bytes().enumerate() {
        bytes[i / 8] |= (bit - b'0') << (i % 8);
    }
    bytes
}
