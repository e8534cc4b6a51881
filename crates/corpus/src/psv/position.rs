//! A position in 32 bytes: the side to move, both kings, every other square, the hands, the box (psv.md §3).

use super::SFEN_LEN;
use super::huffman::{
    BOARD_CODES, BOX_SLOT, Code, Counts, FULL_SET, REST_BITS, RESTS, RUN_BITS, RUN_LEN, RUNS, in_box,
    in_hand, one,
};
use manaka_core::packed::{BLACK_HAND, EMPTY, Fault, Faults, PACKED_LEN, SIDE, WHITE_HAND, board_byte};
use manaka_core::{Color, HandKind, Packed, PieceKind, Square};

/// Bits of a position.
const BITS: usize = 8 * SFEN_LEN;
/// Bits of a king's square.
const KING_BITS: usize = 7;
/// Where the squares begin: behind the side and the kings.
const BOARD_START: usize = 1 + 2 * KING_BITS;
/// Squares that hold no king.
const OTHERS: usize = Square::COUNT - 2;
/// Squares of a file.
const FILE: usize = 9;

const KINGS: [u8; 2] = [board_byte(Color::Black, PieceKind::King), board_byte(Color::White, PieceKind::King)];

/// Why 32 bytes are no position.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeFault {
    /// A king stands on a square that is not on the board. Some writers put 81 for a king that is missing.
    #[error("{color}'s king is on square {square}, which is none")]
    KingSquare {
        /// Whose king.
        color: Color,
        /// The number found, 81 to 127.
        square: u8,
    },
    /// Both kings stand on one square.
    #[error("both kings are on square {square}")]
    KingsMeet {
        /// The number found.
        square: u8,
    },
    /// The bits behind the board are no piece.
    #[error("no piece begins at bit {bit}")]
    Code {
        /// Where.
        bit: u16,
    },
    /// The last square or piece needs more bits than there are.
    #[error("the pieces need more than 256 bits")]
    Overrun,
    /// Board, hands and box hold other than a full set.
    #[error("board, hands and box hold {found} {kind:?}s, and a set has {}", kind.full_set())]
    Inventory {
        /// The first kind, in hand order, that is not there as often as it should be.
        kind: HandKind,
        /// How many were found.
        found: u8,
    },
}

/// Why a position cannot be put into 32 bytes: the faults that stand in the way.
///
/// Kings and counts have to be right; two pawns on a file or a pawn that cannot move do not matter here.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, thiserror::Error)]
#[error("the position cannot be packed: {0}")]
pub struct EncodeFault(pub Faults);

/// Reads a position (psv.md §3).
///
/// Pieces of hands and box are taken in any order. What comes out has one king a side and no more of any piece than a
/// full set, but need not be sound ([`Packed::faults`]). Never allocates, never panics.
///
/// # Errors
/// [`DecodeFault`].
pub fn decode_position(bytes: &[u8; SFEN_LEN]) -> Result<Packed, DecodeFault> {
    // What is read beyond the end reads as empty squares, one bit each.
    let mut padded = [0; PADDED];
    padded[..SFEN_LEN].copy_from_slice(bytes);

    let head = window(&padded, 0);
    let [black, white] = [square(head >> 1), square(head >> (1 + KING_BITS))];
    for (color, square) in [(Color::Black, black), (Color::White, white)] {
        if usize::from(square) >= Square::COUNT {
            return Err(DecodeFault::KingSquare { color, square });
        }
    }
    if black == white {
        return Err(DecodeFault::KingsMeet { square: black });
    }

    let mut others = [EMPTY; OTHERS + RUN_LEN];
    let (mut at, mut counts) = read_board(&padded, &mut others);
    if at > BITS {
        return Err(DecodeFault::Overrun);
    }
    // One slot more, for the box.
    let mut hands = [0u8; BOX_SLOT as usize + 1];
    while at < BITS {
        let rest = &RESTS[(window(&padded, at) & ((1 << REST_BITS) - 1)) as usize];
        if rest.bits == 0 {
            #[expect(clippy::cast_possible_truncation, reason = "below 256")]
            return Err(DecodeFault::Code { bit: at as u16 });
        }
        hands[usize::from(rest.slot)] += 1;
        counts += rest.counts;
        at += usize::from(rest.bits);
    }
    if at > BITS {
        return Err(DecodeFault::Overrun);
    }
    if counts != FULL_SET {
        return Err(wrong_inventory(counts));
    }

    let mut packed = Packed::empty();
    let out = packed.as_bytes_mut();
    place(&others, [usize::from(black), usize::from(white)], out);
    out[BLACK_HAND.start..WHITE_HAND.end].copy_from_slice(&hands[..usize::from(BOX_SLOT)]);
    out[SIDE] = u8::from(head & 1 != 0);
    Ok(packed)
}

/// A king's square from the low bits.
const fn square(bits: u64) -> u8 {
    (bits & ((1 << KING_BITS) - 1)) as u8
}

/// Room for a window that begins where the longest possible run of squares ends: the last one of 8 bits begins before
/// bit 256, all behind it have one.
const PADDED: usize = (BITS + 8 + OTHERS) / 8 + size_of::<u64>();

/// At least 57 bits from bit `at` on.
fn window(padded: &[u8; PADDED], at: usize) -> u64 {
    let mut word = [0; size_of::<u64>()];
    if let Some(bytes) = padded.get(at / 8..at / 8 + size_of::<u64>()) {
        word.copy_from_slice(bytes);
    }
    u64::from_le_bytes(word) >> (at % 8)
}

/// Reads the squares without kings, in the file's own order; gives the bit behind them and what they count.
fn read_board(padded: &[u8; PADDED], out: &mut [u8; OTHERS + RUN_LEN]) -> (usize, Counts) {
    const MASK: u64 = (1 << RUN_BITS) - 1;
    const STEPS: usize = 57 / RUN_BITS as usize;
    let (mut at, mut done, mut counts) = (BOARD_START, 0, 0);
    while done + RUN_LEN <= OTHERS {
        let mut bits = window(padded, at);
        for _ in 0..STEPS {
            if done + RUN_LEN > OTHERS {
                break;
            }
            let run = &RUNS[(bits & MASK) as usize];
            out[done..done + RUN_LEN].copy_from_slice(&run.squares);
            done += usize::from(run.len);
            at += usize::from(run.bits);
            bits >>= run.bits;
            counts += run.counts;
        }
    }
    // The last few one by one, so that no bit of the hands is taken for a square.
    while done < OTHERS {
        let run = &RUNS[(window(padded, at) & MASK) as usize];
        let byte = run.squares[0];
        out[done] = byte;
        done += 1;
        at += usize::from(run.first_bits);
        if byte != EMPTY {
            counts += BOARD_CODES[usize::from(byte)].1;
        }
    }
    (at, counts)
}

/// Puts kings and other squares where they belong. PSV counts squares from 1a down the files; we from 9a.
fn place(others: &[u8; OTHERS + RUN_LEN], kings: [usize; 2], out: &mut [u8; PACKED_LEN]) {
    let [black, white] = kings;
    let (first, second) = (black.min(white), black.max(white));
    let mut board = [EMPTY; Square::COUNT];
    board[..first].copy_from_slice(&others[..first]);
    board[first + 1..second].copy_from_slice(&others[first..second - 1]);
    board[second + 1..].copy_from_slice(&others[second - 1..OTHERS]);
    board[black] = KINGS[0];
    board[white] = KINGS[1];
    for (file, squares) in board.chunks_exact(FILE).enumerate() {
        out[(8 - file) * FILE..(9 - file) * FILE].copy_from_slice(squares);
    }
}

#[cold]
fn wrong_inventory(counts: Counts) -> DecodeFault {
    let found = counts.to_le_bytes();
    let wrong = HandKind::ALL.into_iter().find(|&kind| found[kind as usize] != kind.full_set());
    let kind = wrong.unwrap_or(HandKind::Pawn);
    DecodeFault::Inventory { kind, found: found[kind as usize] }
}

/// Writes a position (psv.md §3): hands in the order P L N S G B R, Black's first, then what is missing from a full set
/// as pieces in the box.
///
/// # Errors
/// [`EncodeFault`].
pub fn encode_position(packed: &Packed) -> Result<[u8; SFEN_LEN], EncodeFault> {
    let bytes = packed.as_bytes();
    let fault = || EncodeFault(packed.faults().iter().filter(|&fault| stands_in_the_way(fault)).collect());

    let mut used = 0;
    let mut kings = [None; 2];
    for (file, squares) in bytes[..Square::COUNT].chunks_exact(FILE).rev().enumerate() {
        for (rank, &byte) in squares.iter().enumerate() {
            if byte == EMPTY {
                continue;
            }
            match BOARD_CODES.get(usize::from(byte)) {
                Some((code, counts)) if code.len > 0 => used += counts,
                _ => {
                    let color = usize::from(byte == KINGS[1]);
                    if byte != KINGS[color] || kings[color].replace(file * FILE + rank).is_some() {
                        return Err(fault());
                    }
                }
            }
        }
    }
    let [Some(black), Some(white)] = kings else { return Err(fault()) };
    let mut missing = [0; HandKind::COUNT];
    for kind in HandKind::ALL {
        let [in_black, in_white] = Color::ALL.map(|color| packed.hand(color, kind));
        let on_board = used.to_le_bytes()[kind as usize];
        let all = u16::from(in_black) + u16::from(in_white) + u16::from(on_board);
        missing[kind as usize] = match u16::from(kind.full_set()).checked_sub(all) {
            Some(missing) => missing,
            None => return Err(fault()),
        };
    }
    if bytes[SIDE] > 1 {
        return Err(fault());
    }

    let mut out = BitWriter::new();
    out.put(Code { bits: u32::from(bytes[SIDE]), len: 1 });
    for king in [black, white] {
        #[expect(clippy::cast_possible_truncation, reason = "at most 80")]
        out.put(Code { bits: king as u32, len: KING_BITS as u32 });
    }
    for squares in bytes[..Square::COUNT].chunks_exact(FILE).rev() {
        for &byte in squares {
            match BOARD_CODES.get(usize::from(byte)) {
                Some(&(code, _)) => out.put(code),
                None => out.put(Code { bits: 0, len: 1 }),
            }
        }
    }
    for color in Color::ALL {
        for kind in HandKind::ALL {
            for _ in 0..packed.hand(color, kind) {
                out.put(in_hand(kind, color));
            }
        }
    }
    for kind in HandKind::ALL {
        for _ in 0..missing[kind as usize] {
            out.put(in_box(kind));
        }
    }
    Ok(out.finish())
}

const fn stands_in_the_way(fault: Fault) -> bool {
    !matches!(
        fault,
        Fault::NifuBlack | Fault::NifuWhite | Fault::DeadPawn | Fault::DeadLance | Fault::DeadKnight
    )
}

/// Collects bits, lowest first.
struct BitWriter {
    out: [u8; SFEN_LEN],
    at: usize,
    /// Bits not yet in `out`, fewer than 32 between calls.
    held: u64,
    len: u32,
}

impl BitWriter {
    const fn new() -> Self {
        Self { out: [0; SFEN_LEN], at: 0, held: 0, len: 0 }
    }

    fn put(&mut self, code: Code) {
        self.held |= u64::from(code.bits) << self.len;
        self.len += code.len;
        if self.len >= u32::BITS {
            #[expect(clippy::cast_possible_truncation, reason = "the low half")]
            let low = self.held as u32;
            if let Some(out) = self.out.get_mut(self.at..self.at + 4) {
                out.copy_from_slice(&low.to_le_bytes());
            }
            self.at += 4;
            self.held >>= u32::BITS;
            self.len -= u32::BITS;
        }
    }

    /// A full set always makes 256 bits, so nothing is held.
    fn finish(self) -> [u8; SFEN_LEN] {
        debug_assert_eq!((self.at, self.len), (SFEN_LEN, 0));
        self.out
    }
}

const _: () = assert!(one(HandKind::Rook) < FULL_SET);
