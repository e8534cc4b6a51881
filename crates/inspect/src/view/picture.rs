//! What a drawn position consists of, whoever draws it: `svg` writes the shapes, `png` fills them.

use super::board::kanji_number;
use manaka_core::packed::EMPTY;
use manaka_core::{Color, HandKind, Move16, Packed, PieceKind, Square};

// All lengths are user units; a drawing scales as a whole.
const CELL: i32 = 48;
const BOARD: i32 = 9 * CELL;
/// How wide a drawing is.
pub const WIDTH: i32 = 616;
/// How high it is.
pub const HEIGHT: i32 = 488;
/// The upper left corner of the board.
const LEFT: i32 = 80;
const TOP: i32 = 36;
/// Where hands stand, by their middle.
const WHITE_HAND_X: i32 = 38;
const BLACK_HAND_X: i32 = WIDTH - 44;
/// From one kind in hand to the next.
const HAND_STEP: i32 = 50;
/// The outline of a piece around its middle, pointing up.
pub const PIECE: [(i32, i32); 5] = [(0, -21), (14, -15), (19, 20), (-19, 20), (-14, -15)];
/// Where the baseline of a piece's name lies below its middle, and how large the name is.
pub const NAME: (i32, i32) = (12, 27);

/// Colours, by what they are for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Paint {
    Ink = 0x2a_1f_12,
    Promoted = 0xb3_26_1e,
    Wood = 0xf0_c9_87,
    Piece = 0xfb_e6_bf,
    Mark = 0xe9_a2_3b,
}

/// One thing to be drawn.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shape {
    /// A rectangle: its corner, its sides.
    Fill { at: (i32, i32), size: (i32, i32), paint: Paint },
    /// The border of a rectangle, 2 wide.
    Frame { at: (i32, i32), size: (i32, i32) },
    /// Lines, 1 wide.
    Rules(Vec<[(i32, i32); 2]>),
    /// A disc: its middle, its radius.
    Dot { at: (i32, i32), radius: i32, paint: Paint },
    /// A piece by its middle; turned around when it is White's.
    Piece { at: (i32, i32), color: Color, kind: PieceKind },
    /// A text by the middle of its baseline.
    Text { at: (i32, i32), size: i32, paint: Paint, text: String },
}

/// The shapes of a position, the lowest first. The squares of `marked`, the last move for example, are coloured.
pub fn shapes(packed: &Packed, marked: Option<Move16>) -> Vec<Shape> {
    let mut shapes = grid(marked);
    for square in Square::all() {
        let (x, y) = middle(square);
        match packed.piece(square) {
            Some((color, kind)) => shapes.push(Shape::Piece { at: (x, y), color, kind }),
            None if packed.as_bytes()[square.index()] != EMPTY => {
                shapes.push(text((x, y + 9), 26, Paint::Promoted, "?".to_owned()));
            }
            None => {}
        }
    }
    for color in Color::ALL {
        hand(packed, color, &mut shapes);
    }
    shapes
}

fn text(at: (i32, i32), size: i32, paint: Paint, text: String) -> Shape {
    Shape::Text { at, size, paint, text }
}

/// The middle of a square; file 9 is on the left, rank 1 on top.
fn middle(square: Square) -> (i32, i32) {
    let (file, rank) = (i32::from(square.file()), i32::from(square.rank()));
    (LEFT + (9 - file) * CELL + CELL / 2, TOP + (rank - 1) * CELL + CELL / 2)
}

/// The wood, what is marked on it, lines, stars and the names of files and ranks.
fn grid(marked: Option<Move16>) -> Vec<Shape> {
    let (at, size) = ((LEFT, TOP), (BOARD, BOARD));
    let mut shapes = vec![Shape::Fill { at, size, paint: Paint::Wood }];
    let squares = marked.map_or([None; 2], |mv| [mv.from_square(), mv.to_square()]);
    for square in squares.into_iter().flatten() {
        let (x, y) = middle(square);
        let at = (x - CELL / 2, y - CELL / 2);
        shapes.push(Shape::Fill { at, size: (CELL, CELL), paint: Paint::Mark });
    }
    let lines = (1..9).flat_map(|line| {
        let (x, y) = (LEFT + line * CELL, TOP + line * CELL);
        [[(x, TOP), (x, TOP + BOARD)], [(LEFT, y), (LEFT + BOARD, y)]]
    });
    shapes.push(Shape::Rules(lines.collect()));
    shapes.push(Shape::Frame { at, size });
    for (x, y) in [(3, 3), (3, 6), (6, 3), (6, 6)] {
        let at = (LEFT + x * CELL, TOP + y * CELL);
        shapes.push(Shape::Dot { at, radius: 3, paint: Paint::Ink });
    }
    for at in 1..=9u8 {
        let along = i32::from(at) * CELL - CELL / 2;
        shapes.push(text((LEFT + BOARD - along, TOP - 9), 15, Paint::Ink, at.to_string()));
        shapes.push(text((LEFT + BOARD + 14, TOP + along + 5), 15, Paint::Ink, kanji_number(at)));
    }
    shapes
}

/// What a side has in hand, strongest first: Black's from the lower right corner up, White's from the upper left down.
/// A dot stands beside the hand of the side to move.
fn hand(packed: &Packed, color: Color, shapes: &mut Vec<Shape>) {
    let (x, start, step) = match color {
        Color::Black => (BLACK_HAND_X, TOP + BOARD - CELL / 2, -HAND_STEP),
        Color::White => (WHITE_HAND_X, TOP + CELL / 2, HAND_STEP),
    };
    if packed.side() == color {
        // In the margin outside of the hand, on the side of its player.
        let y = if color == Color::Black { HEIGHT - 9 } else { 14 };
        shapes.push(Shape::Dot { at: (x, y), radius: 6, paint: Paint::Promoted });
    }
    let held = HandKind::ALL.into_iter().rev().filter(|&kind| packed.hand(color, kind) > 0);
    for (at, kind) in (0..).zip(held) {
        let y = start + at * step;
        shapes.push(Shape::Piece { at: (x, y), color, kind: kind.piece_kind() });
        let count = packed.hand(color, kind);
        if count > 1 {
            shapes.push(text((x + 30, y + 20), 15, Paint::Ink, count.to_string()));
        }
    }
}

/// The colour of a piece's name.
pub fn ink(kind: PieceKind) -> Paint {
    if kind >= PieceKind::Dragon { Paint::Promoted } else { Paint::Ink }
}
