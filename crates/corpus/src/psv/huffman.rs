//! The prefix codes of a packed position and the tables that read them (psv.md §3.2).
//!
//! Bits run from the lowest of a byte to its highest. A piece on the board is its code, a promotion bit (gold has none)
//! and a colour bit. In hand the first bit of the code is left out, for it only tells a piece from an empty square. A
//! piece in the box is one in hand that is promoted; gold, which has no such bit, takes the pattern of a promoted White
//! silver.

#![expect(clippy::cast_possible_truncation, reason = "made at compile time, from numbers below 1024")]

use manaka_core::packed::{EMPTY, board_byte};
use manaka_core::{Color, HandKind, PieceKind};

/// The bits of some symbol, first bit lowest, and how many there are.
#[derive(Clone, Copy)]
pub(super) struct Code {
    pub bits: u32,
    pub len: u32,
}

impl Code {
    const fn then(self, bit: bool) -> Self {
        Self { bits: self.bits | (bit as u32) << self.len, len: self.len + 1 }
    }

    /// Without the bit that says that there is a piece.
    const fn in_hand(self) -> Self {
        Self { bits: self.bits >> 1, len: self.len - 1 }
    }

    /// Whether the next bits are this symbol's.
    const fn begins(self, window: u32) -> bool {
        window & ((1 << self.len) - 1) == self.bits
    }
}

/// The code of a kind, without promotion and colour.
const fn code(kind: HandKind) -> Code {
    let (bits, len) = match kind {
        HandKind::Pawn => (0b01, 2),
        HandKind::Lance => (0b0011, 4),
        HandKind::Knight => (0b1011, 4),
        HandKind::Silver => (0b0111, 4),
        HandKind::Gold => (0b0_1111, 5),
        HandKind::Bishop => (0b01_1111, 6),
        HandKind::Rook => (0b11_1111, 6),
    };
    Code { bits, len }
}

/// A piece on the board.
const fn on_board(kind: HandKind, promoted: bool, color: Color) -> Code {
    let code = code(kind);
    let code = if matches!(kind, HandKind::Gold) { code } else { code.then(promoted) };
    code.then(matches!(color, Color::White))
}

/// A piece in a hand.
pub(super) const fn in_hand(kind: HandKind, color: Color) -> Code {
    on_board(kind, false, color).in_hand()
}

/// A piece that is in no one's hand and not on the board.
pub(super) const fn in_box(kind: HandKind) -> Code {
    match kind {
        HandKind::Gold => on_board(HandKind::Silver, true, Color::White).in_hand(),
        _ => on_board(kind, true, Color::Black).in_hand(),
    }
}

/// An empty square.
const NO_PIECE: Code = Code { bits: 0, len: 1 };

/// Every board byte that has a code, with the kind it counts as.
const PIECES: [(u8, HandKind, Code); 26] = {
    let mut pieces = [(EMPTY, HandKind::Pawn, NO_PIECE); 26];
    let mut n = 0;
    let mut kind = 1;
    while kind < PieceKind::COUNT {
        let kind_here = PieceKind::ALL[kind];
        let Some(hand) = kind_here.hand_kind() else { unreachable!() };
        let promoted = kind_here as u8 != hand.piece_kind() as u8;
        let mut color = 0;
        while color < 2 {
            let color_here = Color::ALL[color];
            pieces[n] = (board_byte(color_here, kind_here), hand, on_board(hand, promoted, color_here));
            n += 1;
            color += 1;
        }
        kind += 1;
    }
    pieces
};

/// A count of each hand kind, eight bits apiece.
pub(super) type Counts = u64;

/// One piece of a kind.
pub(super) const fn one(kind: HandKind) -> Counts {
    1 << (8 * kind as u32)
}

/// The pieces of a full set, kings apart.
pub(super) const FULL_SET: Counts = {
    let mut counts = 0;
    let mut i = 0;
    while i < HandKind::COUNT {
        counts += one(HandKind::ALL[i]) * HandKind::ALL[i].full_set() as Counts;
        i += 1;
    }
    counts
};

/// What to write for a board byte that is a piece other than a king; a length of 0 for every other byte.
pub(super) const BOARD_CODES: [(Code, Counts); 32] = {
    let mut codes = [(Code { bits: 0, len: 0 }, 0); 32];
    let mut i = 0;
    while i < PIECES.len() {
        let (byte, kind, code) = PIECES[i];
        codes[byte as usize] = (code, one(kind));
        i += 1;
    }
    codes
};

/// The board byte that a window of bits begins with, what it counts as and its length.
const fn board_symbol(window: u32) -> (u8, Counts, u32) {
    if NO_PIECE.begins(window) {
        return (EMPTY, 0, NO_PIECE.len);
    }
    let mut i = 0;
    while i < PIECES.len() {
        let (byte, kind, code) = PIECES[i];
        if code.begins(window) {
            return (byte, one(kind), code.len);
        }
        i += 1;
    }
    unreachable!()
}

/// Bits looked at in one step through the board.
pub(super) const RUN_BITS: u32 = 10;
/// Most squares of one step.
pub(super) const RUN_LEN: usize = 4;

/// The squares that a window of [`RUN_BITS`] bits holds whole: at least one.
#[derive(Clone, Copy)]
pub(super) struct Run {
    pub counts: Counts,
    pub squares: [u8; RUN_LEN],
    pub len: u8,
    /// Bits of these squares.
    pub bits: u8,
    /// Bits and counts of the first square alone.
    pub first_bits: u8,
}

/// By the next [`RUN_BITS`] bits. No bits are without a meaning: the code is complete.
pub(super) static RUNS: [Run; 1 << RUN_BITS] = {
    let nothing = Run { counts: 0, squares: [EMPTY; RUN_LEN], len: 0, bits: 0, first_bits: 0 };
    let mut runs = [nothing; 1 << RUN_BITS];
    let mut window = 0;
    while window < runs.len() {
        let mut run = nothing;
        while (run.len as usize) < RUN_LEN {
            let (byte, counts, bits) = board_symbol(window as u32 >> run.bits);
            if run.bits as u32 + bits > RUN_BITS {
                break;
            }
            run.squares[run.len as usize] = byte;
            run.len += 1;
            run.bits += bits as u8;
            run.counts += counts;
            if run.len == 1 {
                run.first_bits = bits as u8;
            }
        }
        runs[window] = run;
        window += 1;
    }
    runs
};

/// Most bits of a piece behind the board.
pub(super) const REST_BITS: u32 = 7;

/// A piece behind the board.
#[derive(Clone, Copy)]
pub(super) struct Rest {
    /// Where in the 96 bytes it is counted, as an offset from Black's hand; 14, behind both hands, for the box.
    pub slot: u8,
    /// 0 when the bits are no piece.
    pub bits: u8,
    pub counts: Counts,
}

/// The slot of a piece in the box.
pub(super) const BOX_SLOT: u8 = 2 * HandKind::COUNT as u8;

/// By the next [`REST_BITS`] bits.
pub(super) static RESTS: [Rest; 1 << REST_BITS] = {
    let mut rests = [Rest { slot: 0, bits: 0, counts: 0 }; 1 << REST_BITS];
    let mut i = 0;
    while i < HandKind::COUNT {
        let kind = HandKind::ALL[i];
        let codes = [in_hand(kind, Color::Black), in_hand(kind, Color::White), in_box(kind)];
        let slots = [i as u8, (HandKind::COUNT + i) as u8, BOX_SLOT];
        let mut n = 0;
        while n < codes.len() {
            let mut window = 0;
            while window < rests.len() {
                if codes[n].begins(window as u32) {
                    // Two symbols never begin alike.
                    assert!(rests[window].bits == 0);
                    rests[window] = Rest { slot: slots[n], bits: codes[n].len as u8, counts: one(kind) };
                }
                window += 1;
            }
            n += 1;
        }
        i += 1;
    }
    rests
};
