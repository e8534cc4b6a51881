//! A move as one of dlshogi's 27 × 81 policy labels (features.md §8).

use super::view::View;
use manaka_core::{HandKind, Move16, Square};

/// Policy labels: 27 kinds of moves, each to 81 squares.
pub const LABELS: usize = 27 * Square::COUNT;
const _: () = assert!(LABELS == 2187);

/// Directions a piece on the board comes from; promoting moves have as many again.
const DIRECTIONS: u8 = 10;
/// No direction leads from the one square to the other.
const NOWHERE: u8 = u8::MAX;
/// The number of a drop behind the directions, by hand index: P L N S B R G.
const DROPS: [u8; HandKind::COUNT] = [0, 1, 2, 3, 6, 4, 5];

/// The direction of a move by origin and target, both in the mover's view.
static BETWEEN: [[u8; Square::COUNT]; Square::COUNT] = {
    let mut table = [[NOWHERE; Square::COUNT]; Square::COUNT];
    let mut from = 0i32;
    while from < 81 {
        let mut to = 0i32;
        while to < 81 {
            // Files count from the right, ranks from the top.
            let left = to / 9 - from / 9;
            let up = from % 9 - to % 9;
            table[from as usize][to as usize] = direction(left, up);
            to += 1;
        }
        from += 1;
    }
    table
};

const fn direction(left: i32, up: i32) -> u8 {
    if up == 2 && left == 1 {
        return 8;
    }
    if up == 2 && left == -1 {
        return 9;
    }
    if left != 0 && up != 0 && left.abs() != up.abs() {
        return NOWHERE;
    }
    match (up.signum(), left.signum()) {
        (1, 0) => 0,
        (1, 1) => 1,
        (1, -1) => 2,
        (0, 1) => 3,
        (0, -1) => 4,
        (-1, 0) => 5,
        (-1, 1) => 6,
        (-1, -1) => 7,
        _ => NOWHERE,
    }
}

/// The label of a move, 0..2187; `None` where it is not well-formed or no piece moves like that.
#[must_use]
pub fn label(mv: Move16, view: View) -> Option<u16> {
    if !mv.is_well_formed() {
        return None;
    }
    let squares = view.squares();
    let to = squares[mv.to_square()?.index()];
    let kind = match mv.from_square() {
        Some(from) => {
            let direction = BETWEEN[usize::from(squares[from.index()])][usize::from(to)];
            if direction == NOWHERE {
                return None;
            }
            direction + if mv.is_promote() { DIRECTIONS } else { 0 }
        }
        None => 2 * DIRECTIONS + DROPS[mv.dropped_kind()? as usize],
    };
    Some(u16::from(kind) * 81 + u16::from(to))
}
