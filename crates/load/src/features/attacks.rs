//! What pieces attack, as bits of 81 squares of a view (features.md §2): tables of steps and rays.

use manaka_core::{PieceKind, Square};

/// A set of squares of a view: bit `file · 9 + rank`, the viewer's 1a being bit 0.
pub type Bitboard = u128;

/// The directions of rays, as the viewer sees them.
#[derive(Clone, Copy)]
#[repr(u8)]
pub enum Dir {
    Up,
    Down,
    Left,
    Right,
    UpLeft,
    UpRight,
    DownLeft,
    DownRight,
}

/// Files to the left and ranks up, by [`Dir`].
const DELTAS: [(i32, i32); 8] = [(0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (-1, 1), (1, -1), (-1, -1)];

static BITS: [Bitboard; 128] = {
    let mut bits = [0; 128];
    let mut at = 0;
    while at < 128 {
        bits[at] = 1 << at;
        at += 1;
    }
    bits
};

/// The set of one square.
#[inline]
pub const fn bit(square: u8) -> Bitboard {
    BITS[(square & 127) as usize]
}

const fn shifted(square: i32, left: i32, up: i32) -> Option<i32> {
    let (file, rank) = (square / 9 + left, square % 9 - up);
    if file < 0 || file > 8 || rank < 0 || rank > 8 { None } else { Some(file * 9 + rank) }
}

static RAYS: [[Bitboard; Square::COUNT]; 8] = {
    let mut rays = [[0; Square::COUNT]; 8];
    let mut dir = 0;
    while dir < 8 {
        let (left, up) = DELTAS[dir];
        let mut from = 0;
        while from < 81 {
            let mut at = from;
            while let Some(next) = shifted(at, left, up) {
                rays[dir][from as usize] |= 1 << next;
                at = next;
            }
            from += 1;
        }
        dir += 1;
    }
    rays
};

/// The squares from `square` on in a direction, up to and including the first that is occupied.
#[inline]
pub const fn ray(dir: Dir, square: u8, occupied: Bitboard) -> Bitboard {
    let ray = RAYS[dir as usize][square as usize % Square::COUNT];
    let blockers = ray & occupied;
    match dir {
        // Squares rise: everything up to the lowest blocker; with none, x ^ (x − 1) is all ones.
        Dir::Down | Dir::Left | Dir::UpLeft | Dir::DownLeft => ray & (blockers ^ blockers.wrapping_sub(1)),
        // Squares fall: everything down to the highest blocker; with none, bit 0 stands for it.
        Dir::Up | Dir::Right | Dir::UpRight | Dir::DownRight => {
            ray & (Bitboard::MAX << (127 - (blockers | 1).leading_zeros()))
        }
    }
}

/// Single steps of the viewer's own pieces, (left, up), by what several kinds share.
const MOVES: [&[(i32, i32)]; 8] = [
    &[],
    &DELTAS,
    &[(0, 1), (1, 1), (-1, 1), (1, 0), (-1, 0), (0, -1)],
    &[(0, 1), (1, 1), (-1, 1), (1, -1), (-1, -1)],
    &[(1, 2), (-1, 2)],
    &[(0, 1)],
    &[(1, 1), (-1, 1), (1, -1), (-1, -1)],
    &[(0, 1), (0, -1), (1, 0), (-1, 0)],
];
/// Which of them a board kind has: K R B G S N L P +R +B +S +N +L +P.
const OF_KIND: [u8; 16] = [1, 0, 0, 2, 3, 4, 0, 5, 6, 7, 2, 2, 2, 2, 0, 0];
const _: () = assert!(PieceKind::COUNT <= OF_KIND.len());

/// The single steps of the viewer's pieces (side 0) and of its opponent's (side 1), by board kind.
#[inline]
pub fn steps(side: usize, kind: usize, square: u8) -> Bitboard {
    STEPS[side & 1][usize::from(OF_KIND[kind & 15] & 7)][square as usize % Square::COUNT]
}

static STEPS: [[[Bitboard; Square::COUNT]; MOVES.len()]; 2] = {
    let mut steps = [[[0; Square::COUNT]; MOVES.len()]; 2];
    let mut moves = 0;
    while moves < MOVES.len() {
        let mut from = 0;
        while from < 81 {
            let mut number = 0;
            while number < MOVES[moves].len() {
                let (left, up) = MOVES[moves][number];
                if let Some(to) = shifted(from, left, up) {
                    steps[0][moves][from as usize] |= 1 << to;
                }
                if let Some(to) = shifted(from, -left, -up) {
                    steps[1][moves][from as usize] |= 1 << to;
                }
                number += 1;
            }
            from += 1;
        }
        moves += 1;
    }
    steps
};
