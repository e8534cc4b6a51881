//! HalfKP and KP: pieces as indices, seen by the mover and by its opponent (features.md §4 and §5).

use super::board::{Board, MEN};
use super::view::View;
use manaka_core::{Color, HandKind, PieceKind, Square};

/// Inputs of P: what a piece that is no king may be and where (features.md §4).
pub const P_INPUTS: usize = INPUTS as usize;
const INPUTS: i32 = 1548;
/// Inputs of HalfKP: P for each square of the own king.
pub const HALFKP_INPUTS: usize = Square::COUNT * P_INPUTS;
const _: () = assert!(HALFKP_INPUTS == 125_388);
/// Inputs of KP: P, then the own king's squares, then the other king's (features.md §5).
pub const KP_INPUTS: usize = P_INPUTS + 2 * Square::COUNT;
const _: () = assert!(KP_INPUTS == 1710);
/// Indices of a row in HalfKP.
pub const HALFKP_WIDTH: usize = MEN;
/// Indices of a row in KP.
pub const KP_WIDTH: usize = MEN + 2;
/// What stands behind the last index of a position with fewer pieces (features.md §3).
pub const PAD: i32 = -1;

/// First index of the own and the other side's pieces in hand, in hand order; one number is spare in front of each.
const HANDS: [[i32; HandKind::COUNT]; 2] = [[1, 39, 49, 59, 69, 79, 85], [20, 44, 54, 64, 74, 82, 88]];
/// First index of the own and the other side's pieces on the board, in board order. The king's is that of KP.
const BOARDS: [[i32; PieceKind::COUNT]; 2] = [
    [1548, 1224, 900, 738, 576, 414, 252, 90, 1386, 1062, 738, 738, 738, 738],
    [1629, 1305, 981, 819, 657, 495, 333, 171, 1467, 1143, 819, 819, 819, 819],
];

/// By mover and board byte: the first index in the mover's list and in its opponent's, whose squares are turned.
static BASES: [[[i32; 2]; 32]; 2] = {
    let mut bases = [[[0; 2]; 32]; 2];
    let mut mover = 0;
    while mover < 2 {
        let mut byte = 0;
        while byte < 32 {
            let (color, kind) = (byte >> 4, byte & 15);
            if kind < PieceKind::COUNT {
                let other = (color != mover) as usize;
                bases[mover][byte] = [BOARDS[other][kind], BOARDS[1 - other][kind] + 80];
            }
            byte += 1;
        }
        mover += 1;
    }
    bases
};

/// The P indices of a position, in the order of features.md §3: entry `n` of both lists is the same piece.
#[inline]
fn men(board: &Board<'_>, view: View, own: &mut [i32; MEN], other: &mut [i32; MEN]) -> usize {
    let squares = view.squares();
    let bases = &BASES[view.mover() as usize];
    let mut n = 0;
    for (square, byte) in board.men() {
        let seen = i32::from(squares[square]);
        let base = &bases[usize::from(byte & 31)];
        // A board holds at most 38 of them: the bound is there for the compiler.
        if n < MEN {
            own[n] = base[0] + seen;
            other[n] = base[1] - seen;
            n += 1;
        }
    }
    for color in Color::ALL {
        let foreign = usize::from(color != view.mover());
        for (kind, &count) in board.hand(color).iter().enumerate() {
            for number in 0..i32::from(count) {
                if n < MEN {
                    own[n] = HANDS[foreign][kind] + number;
                    other[n] = HANDS[1 - foreign][kind] + number;
                    n += 1;
                }
            }
        }
    }
    n
}

/// Writes a row of HalfKP: the mover's list and its opponent's, filled up with [`PAD`] (features.md §4).
#[inline]
pub fn halfkp(board: &Board<'_>, view: View, own: &mut [i32; HALFKP_WIDTH], other: &mut [i32; HALFKP_WIDTH]) {
    let n = men(board, view, own, other);
    let mover = view.mover();
    let squares = view.squares();
    let king = INPUTS * i32::from(squares[board.king(mover)]);
    let other_king = INPUTS * (80 - i32::from(squares[board.king(mover.flip())]));
    for at in 0..HALFKP_WIDTH {
        let is = at < n;
        own[at] = if is { own[at] + king } else { PAD };
        other[at] = if is { other[at] + other_king } else { PAD };
    }
}

/// Writes a row of KP: the pieces, the own king, the other king, filled up with [`PAD`] (features.md §5).
#[inline]
pub fn kp(board: &Board<'_>, view: View, own: &mut [i32; KP_WIDTH], other: &mut [i32; KP_WIDTH]) {
    const OWN: i32 = BOARDS[0][PieceKind::King as usize];
    const OTHER: i32 = BOARDS[1][PieceKind::King as usize];
    let (Some(own_men), Some(other_men)) = (own.first_chunk_mut(), other.first_chunk_mut()) else { return };
    let n = men(board, view, own_men, other_men);
    let mover = view.mover();
    let squares = view.squares();
    let king = i32::from(squares[board.king(mover)]);
    let enemy = i32::from(squares[board.king(mover.flip())]);
    own[n..].fill(PAD);
    other[n..].fill(PAD);
    own[n..n + 2].copy_from_slice(&[OWN + king, OTHER + enemy]);
    other[n..n + 2].copy_from_slice(&[OWN + 80 - enemy, OTHER + 80 - king]);
}
