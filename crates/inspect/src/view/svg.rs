//! A position drawn in SVG: one self-contained element, for notebooks and pages.

use super::board::{kanji_number, name};
use manaka_core::packed::EMPTY;
use manaka_core::{Color, HandKind, Move16, Packed, PieceKind, Square};
use std::fmt;

// All lengths are user units; the drawing scales with the element.
const CELL: i32 = 48;
const BOARD: i32 = 9 * CELL;
const WIDTH: i32 = 616;
const HEIGHT: i32 = 488;
/// The upper left corner of the board.
const LEFT: i32 = 80;
const TOP: i32 = 36;
/// Where hands stand, by their middle.
const WHITE_HAND_X: i32 = 38;
const BLACK_HAND_X: i32 = WIDTH - 44;
/// From one kind in hand to the next.
const HAND_STEP: i32 = 50;

const INK: &str = "#2a1f12";
const PROMOTED: &str = "#b3261e";
const WOOD: &str = "#f0c987";
const PIECE: &str = "#fbe6bf";
const MARK: &str = "#e9a23b";
const FONTS: &str = "'Noto Serif CJK JP','Noto Serif JP','Yu Mincho','Hiragino Mincho ProN',serif";

/// A position as an SVG element, 616 by 488 units. The squares of `marked`, the last move for example, are coloured.
/// A board byte that names no piece is drawn as `?`; a dot stands beside the hand of the side to move.
pub fn board_svg(packed: &Packed, marked: Option<Move16>) -> impl fmt::Display {
    fmt::from_fn(move |f| {
        write!(f, r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" "#)?;
        write!(f, r#"width="{WIDTH}" height="{HEIGHT}" font-family="{FONTS}" text-anchor="middle">"#)?;
        write!(f, "<title>{}</title>", packed.sfen(None))?;
        grid(f, marked)?;
        for square in Square::all() {
            let (x, y) = middle(square);
            match packed.piece(square) {
                Some((color, kind)) => piece(f, (x, y), color, kind)?,
                None if packed.as_bytes()[square.index()] != EMPTY => {
                    write!(f, r#"<text x="{x}" y="{}" font-size="26" fill="{PROMOTED}">?</text>"#, y + 9)?;
                }
                None => {}
            }
        }
        for color in Color::ALL {
            hand(f, packed, color)?;
        }
        f.write_str("</svg>")
    })
}

/// The middle of a square; file 9 is on the left, rank 1 on top.
fn middle(square: Square) -> (i32, i32) {
    let (file, rank) = (i32::from(square.file()), i32::from(square.rank()));
    (LEFT + (9 - file) * CELL + CELL / 2, TOP + (rank - 1) * CELL + CELL / 2)
}

/// The wood, what is marked on it, lines, stars and the names of files and ranks.
fn grid(f: &mut fmt::Formatter<'_>, marked: Option<Move16>) -> fmt::Result {
    write!(f, r#"<rect x="{LEFT}" y="{TOP}" width="{BOARD}" height="{BOARD}" fill="{WOOD}"/>"#)?;
    let squares = marked.map_or([None; 2], |mv| [mv.from_square(), mv.to_square()]);
    for square in squares.into_iter().flatten() {
        let (x, y) = middle(square);
        let (x, y) = (x - CELL / 2, y - CELL / 2);
        write!(f, r#"<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="{MARK}"/>"#)?;
    }
    write!(f, r#"<path fill="none" stroke="{INK}" d=""#)?;
    for line in 1..9 {
        let (x, y) = (LEFT + line * CELL, TOP + line * CELL);
        write!(f, "M{x} {TOP}v{BOARD}M{LEFT} {y}h{BOARD}")?;
    }
    write!(f, r#""/><rect x="{LEFT}" y="{TOP}" width="{BOARD}" height="{BOARD}" fill="none" "#)?;
    write!(f, r#"stroke="{INK}" stroke-width="2"/>"#)?;
    for (x, y) in [(3, 3), (3, 6), (6, 3), (6, 6)] {
        let (x, y) = (LEFT + x * CELL, TOP + y * CELL);
        write!(f, r#"<circle cx="{x}" cy="{y}" r="3" fill="{INK}"/>"#)?;
    }
    write!(f, r#"<g font-size="15" fill="{INK}">"#)?;
    for at in 1..=9u8 {
        let along = i32::from(at) * CELL - CELL / 2;
        write!(f, r#"<text x="{}" y="{}">{at}</text>"#, LEFT + BOARD - along, TOP - 9)?;
        write!(f, r#"<text x="{}" y="{}">{}</text>"#, LEFT + BOARD + 14, TOP + along + 5, kanji_number(at))?;
    }
    f.write_str("</g>")
}

/// A piece in the shape of one, its point towards the side it moves to.
fn piece(f: &mut fmt::Formatter<'_>, (x, y): (i32, i32), color: Color, kind: PieceKind) -> fmt::Result {
    let turn = if color == Color::White { " rotate(180)" } else { "" };
    let ink = if kind >= PieceKind::Dragon { PROMOTED } else { INK };
    write!(f, r#"<g transform="translate({x} {y}){turn}">"#)?;
    write!(f, r#"<path d="M0-21 14-15 19 20H-19L-14-15Z" fill="{PIECE}" stroke="{INK}"/>"#)?;
    write!(f, r#"<text y="12" font-size="27" fill="{ink}">{}</text></g>"#, name(kind))
}

/// What a side has in hand, strongest first: Black's from the lower right corner up, White's from the upper left down.
fn hand(f: &mut fmt::Formatter<'_>, packed: &Packed, color: Color) -> fmt::Result {
    let (x, start, step) = match color {
        Color::Black => (BLACK_HAND_X, TOP + BOARD - CELL / 2, -HAND_STEP),
        Color::White => (WHITE_HAND_X, TOP + CELL / 2, HAND_STEP),
    };
    if packed.side() == color {
        // In the margin outside of the hand, on the side of its player.
        let y = if color == Color::Black { HEIGHT - 9 } else { 14 };
        write!(f, r#"<circle cx="{x}" cy="{y}" r="6" fill="{PROMOTED}"/>"#)?;
    }
    let held = HandKind::ALL.into_iter().rev().filter(|&kind| packed.hand(color, kind) > 0);
    for (at, kind) in (0..).zip(held) {
        let y = start + at * step;
        piece(f, (x, y), color, kind.piece_kind())?;
        let count = packed.hand(color, kind);
        if count > 1 {
            let (x, y) = (x + 30, y + 20);
            write!(f, r#"<text x="{x}" y="{y}" font-size="15" fill="{INK}">{count}</text>"#)?;
        }
    }
    Ok(())
}
