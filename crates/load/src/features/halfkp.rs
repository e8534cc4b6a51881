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
pub(super) const HANDS: [[i32; HandKind::COUNT]; 2] =
    [[1, 39, 49, 59, 69, 79, 85], [20, 44, 54, 64, 74, 82, 88]];
/// First index of the own and the other side's pieces on the board, in board order. The king's is that of KP.
pub(super) const BOARDS: [[i32; PieceKind::COUNT]; 2] = [
    [1548, 1224, 900, 738, 576, 414, 252, 90, 1386, 1062, 738, 738, 738, 738],
    [1629, 1305, 981, 819, 657, 495, 333, 171, 1467, 1143, 819, 819, 819, 819],
];

/// The input of P that a piece on the board sets for a viewer (features.md §4); `None` for a king.
#[must_use]
pub fn p_on_board(viewer: Color, square: Square, owner: Color, kind: PieceKind) -> Option<i32> {
    let seen = i32::from(View::of(viewer).squares()[square.index()]);
    (kind != PieceKind::King).then(|| BOARDS[usize::from(owner != viewer)][kind as usize] + seen)
}

/// The input of P that the `nth` piece of a kind in a hand sets for a viewer, from 0 (features.md §4); `None` where no
/// hand holds so many.
#[must_use]
pub fn p_in_hand(viewer: Color, owner: Color, kind: HandKind, nth: u8) -> Option<i32> {
    (nth < kind.full_set()).then(|| HANDS[usize::from(owner != viewer)][kind as usize] + i32::from(nth))
}

/// An index of the mover's list, and of its opponent's in the upper half: both are found by one addition.
type Pair = u64;

const fn pair(own: i32, other: i32) -> Pair {
    own.cast_unsigned() as u64 | (other.cast_unsigned() as u64) << 32
}

/// By mover and board byte: the pair of a piece on the first square, whose turned square is the last.
static BASES: [[Pair; 32]; 2] = {
    let mut bases = [[0; 32]; 2];
    let mut mover = 0;
    while mover < 2 {
        let mut byte = 0;
        while byte < 32 {
            let (color, kind) = (byte >> 4, byte & 15);
            if kind < PieceKind::COUNT {
                let other = (color != mover) as usize;
                bases[mover][byte] = pair(BOARDS[other][kind], BOARDS[1 - other][kind]);
            }
            byte += 1;
        }
        mover += 1;
    }
    bases
};

/// A square from 0 to 80 and the same turned.
static SQUARES: [Pair; Square::COUNT] = {
    let mut squares = [0; Square::COUNT];
    let mut square = 0;
    while square < 81 {
        squares[square as usize] = pair(square, 80 - square);
        square += 1;
    }
    squares
};

/// By whether it is the other side's: the first pair of each kind in hand.
const IN_HAND: [[Pair; HandKind::COUNT]; 2] = {
    let mut hands = [[0; HandKind::COUNT]; 2];
    let mut kind = 0;
    while kind < HandKind::COUNT {
        hands[0][kind] = pair(HANDS[0][kind], HANDS[1][kind]);
        hands[1][kind] = pair(HANDS[1][kind], HANDS[0][kind]);
        kind += 1;
    }
    hands
};

/// Pieces of a position as pairs, in the order of features.md §3: entry `n` of both lists is the same piece.
struct Men {
    /// With room for what is written behind the last and counts for nothing.
    pairs: [Pair; 64],
    count: usize,
}

impl Men {
    const NONE: Self = Self { pairs: [0; 64], count: 0 };

    #[inline]
    fn collect(&mut self, board: &Board<'_>, view: View) {
        let squares = view.squares();
        let bases = &BASES[view.mover() as usize];
        board.pieces(|square, byte| {
            let seen = usize::from(squares[square]);
            // A king is written over by the next.
            self.pairs[self.count % 64] = bases[usize::from(byte & 31)] + SQUARES[seen];
            self.count += usize::from(byte & 15 != PieceKind::King as u8);
        });
        for color in Color::ALL {
            let foreign = usize::from(color != view.mover());
            board.hand(color, |kind, count| {
                let (mut left, mut next) = (usize::from(count), IN_HAND[foreign][kind]);
                // Four at a time; most hands hold fewer.
                while left > 0 {
                    if let Some(four) = self.pairs[self.count.min(60)..].first_chunk_mut::<4>() {
                        *four = FOUR.map(|number| next + number);
                    }
                    let taken = left.min(4);
                    self.count += taken;
                    left -= taken;
                    next += 4 * ONE;
                }
            });
        }
        self.count = self.count.min(MEN);
    }

    /// Writes both lists, with a number added to each.
    #[inline]
    fn write(&mut self, add: [i32; 2], own: &mut [i32; MEN], other: &mut [i32; MEN]) {
        // What is added makes a pad of these.
        self.pairs[self.count..MEN].fill(pair(PAD - add[0], PAD - add[1]));
        for at in 0..MEN {
            let [first, second] = halves(self.pairs[at]);
            own[at] = first + add[0];
            other[at] = second + add[1];
        }
    }
}

const ONE: Pair = pair(1, 1);
const FOUR: [Pair; 4] = [0, ONE, 2 * ONE, 3 * ONE];

#[expect(clippy::cast_possible_truncation, reason = "the halves of a pair")]
const fn halves(pair: Pair) -> [i32; 2] {
    [pair as i32, (pair >> 32) as i32]
}

/// Writes the lists of all pieces but kings, a number added to each index, filled up with [`PAD`]; gives how many there
/// are.
#[inline]
pub(super) fn men(
    board: &Board<'_>,
    view: View,
    add: [i32; 2],
    own: &mut [i32; MEN],
    other: &mut [i32; MEN],
) -> usize {
    let mut men = Men::NONE;
    men.collect(board, view);
    men.write(add, own, other);
    men.count
}

/// Writes a row of HalfKP: the mover's list and its opponent's, filled up with [`PAD`] (features.md §4).
#[inline]
pub fn halfkp(board: &Board<'_>, view: View, own: &mut [i32; HALFKP_WIDTH], other: &mut [i32; HALFKP_WIDTH]) {
    halfkp_by(men, board, view, own, other);
}

/// What writes both lists of all pieces but kings.
pub trait Lists: Fn(&Board<'_>, View, [i32; 2], &mut [i32; MEN], &mut [i32; MEN]) -> usize {}
impl<F: Fn(&Board<'_>, View, [i32; 2], &mut [i32; MEN], &mut [i32; MEN]) -> usize> Lists for F {}

/// The same by another way to the lists.
#[inline(always)]
pub(crate) fn halfkp_by(
    lists: impl Lists,
    board: &Board<'_>,
    view: View,
    own: &mut [i32; HALFKP_WIDTH],
    other: &mut [i32; HALFKP_WIDTH],
) {
    let (mover, squares) = (view.mover(), view.squares());
    let king = i32::from(squares[board.king(mover)]);
    let enemy = 80 - i32::from(squares[board.king(mover.flip())]);
    lists(board, view, [king * INPUTS, enemy * INPUTS], own, other);
}

/// Writes a row of KP: the pieces, the own king, the other king, filled up with [`PAD`] (features.md §5).
#[inline]
pub fn kp(board: &Board<'_>, view: View, own: &mut [i32; KP_WIDTH], other: &mut [i32; KP_WIDTH]) {
    kp_by(men, board, view, own, other);
}

/// The same by another way to the lists.
#[inline(always)]
pub(crate) fn kp_by(
    lists: impl Lists,
    board: &Board<'_>,
    view: View,
    own: &mut [i32; KP_WIDTH],
    other: &mut [i32; KP_WIDTH],
) {
    const OWN: i32 = BOARDS[0][PieceKind::King as usize];
    const OTHER: i32 = BOARDS[1][PieceKind::King as usize];
    let (Some(own_men), Some(other_men)) = (own.first_chunk_mut(), other.first_chunk_mut()) else { return };
    let n = lists(board, view, [0, 0], own_men, other_men);
    let (mover, squares) = (view.mover(), view.squares());
    let king = i32::from(squares[board.king(mover)]);
    let enemy = i32::from(squares[board.king(mover.flip())]);
    own[n..].fill(PAD);
    other[n..].fill(PAD);
    own[n..n + 2].copy_from_slice(&[OWN + king, OTHER + enemy]);
    other[n..n + 2].copy_from_slice(&[OWN + 80 - enemy, OTHER + 80 - king]);
}
