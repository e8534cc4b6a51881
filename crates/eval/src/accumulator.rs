//! The sums of the feature transformer's rows, kept for both sides (nnbin.md §4).

use crate::format::HALF;
use crate::net::Net;
use manaka_core::packed::{BLACK_HAND, BOARD, PACKED_LEN, WHITE_HAND, piece_of};
use manaka_core::{Color, HandKind, PieceKind, Square};
use manaka_load::features::{Board, HALFKP_WIDTH, P_INPUTS, PAD, View, halfkp, p_in_hand, p_on_board};

/// For each side the biases and the rows of its features, summed in i16 that wrap.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Accumulator {
    /// Black's, White's.
    sides: [[i16; HALF]; 2],
}

impl Accumulator {
    /// The sums of a position, from nothing.
    #[must_use]
    pub fn of(net: &Net, board: &Board<'_>) -> Self {
        let mut made = Self { sides: [[0; HALF]; 2] };
        made.refresh(net, board, [true; 2]);
        made
    }

    /// The sums of one side.
    #[must_use]
    pub const fn side(&self, side: Color) -> &[i16; HALF] {
        &self.sides[side as usize]
    }

    /// Makes the sums of the chosen sides, Black and White, from nothing.
    pub(crate) fn refresh(&mut self, net: &Net, board: &Board<'_>, which: [bool; 2]) {
        let (mut own, mut other) = ([PAD; HALFKP_WIDTH], [PAD; HALFKP_WIDTH]);
        let mover = board.mover();
        halfkp(board, View::of(mover), &mut own, &mut other);
        for (side, list) in [(mover, &own), (mover.flip(), &other)] {
            if !which[side as usize] {
                continue;
            }
            let sums = &mut self.sides[side as usize];
            *sums = *net.feature_biases;
            for row in list.iter().filter_map(|&index| row(net, index)) {
                add(sums, row);
            }
        }
    }

    /// Turns the sums of the position before into those of the one after by the pieces that differ, and makes a side's
    /// from nothing where its king moved.
    pub(crate) fn update(
        &mut self,
        net: &Net,
        before: &[u8; PACKED_LEN],
        old: &Board<'_>,
        after: &[u8; PACKED_LEN],
        new: &Board<'_>,
    ) {
        let stays = Color::ALL.map(|side| old.king(side) == new.king(side));
        let kings = Color::ALL.map(|side| {
            let seen = View::of(side).squares()[new.king(side) % Square::COUNT];
            i32::from(seen) * p_inputs()
        });
        let mut change = |men: [Option<i32>; 2], how: fn(&mut [i16; HALF], &[i16; HALF])| {
            for (at, p) in men.into_iter().enumerate() {
                if let Some(row) = p.filter(|_| stays[at]).and_then(|p| row(net, kings[at] + p)) {
                    how(&mut self.sides[at], row);
                }
            }
        };
        for square in Square::all() {
            let (was, is) = (before[BOARD][square.index()], after[BOARD][square.index()]);
            if was != is {
                for (byte, how) in [(was, subtract as fn(&mut _, &_)), (is, add)] {
                    if let Some((owner, kind)) = piece_of(byte) {
                        change(on_board(square, owner, kind), how);
                    }
                }
            }
        }
        for (owner, hand) in [(Color::Black, BLACK_HAND), (Color::White, WHITE_HAND)] {
            for (kind, at) in HandKind::ALL.into_iter().zip(hand) {
                let (was, is) = (before[at], after[at]);
                for nth in is..was {
                    change(in_hand(owner, kind, nth), subtract);
                }
                for nth in was..is {
                    change(in_hand(owner, kind, nth), add);
                }
            }
        }
        self.refresh(net, new, stays.map(|stays| !stays));
    }
}

/// A piece on the board as P of Black and of White.
fn on_board(square: Square, owner: Color, kind: PieceKind) -> [Option<i32>; 2] {
    Color::ALL.map(|viewer| p_on_board(viewer, square, owner, kind))
}

/// A piece in a hand as P of Black and of White.
fn in_hand(owner: Color, kind: HandKind, nth: u8) -> [Option<i32>; 2] {
    Color::ALL.map(|viewer| p_in_hand(viewer, owner, kind, nth))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "1548")]
const fn p_inputs() -> i32 {
    P_INPUTS as i32
}

/// The row of an input; `None` for a pad.
fn row(net: &Net, index: i32) -> Option<&[i16; HALF]> {
    net.feature_weights().get(usize::try_from(index).ok()?)
}

fn add(sums: &mut [i16; HALF], row: &[i16; HALF]) {
    for (sum, weight) in sums.iter_mut().zip(row) {
        *sum = sum.wrapping_add(*weight);
    }
}

fn subtract(sums: &mut [i16; HALF], row: &[i16; HALF]) {
    for (sum, weight) in sums.iter_mut().zip(row) {
        *sum = sum.wrapping_sub(*weight);
    }
}
