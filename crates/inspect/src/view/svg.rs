//! A position drawn in SVG: one self-contained element, for notebooks and pages.

use super::board::name;
use super::picture::{HEIGHT, NAME, PIECE, Paint, Shape, WIDTH, ink, shapes};
use manaka_core::{Color, Move16, Packed};
use std::fmt;

const FONTS: &str = "'Noto Serif CJK JP','Noto Serif JP','Yu Mincho','Hiragino Mincho ProN',serif";

/// A position as an SVG element, 616 by 488 units. The squares of `marked`, the last move for example, are coloured.
/// A board byte that names no piece is drawn as `?`; a dot stands beside the hand of the side to move.
pub fn board_svg(packed: &Packed, marked: Option<Move16>) -> impl fmt::Display {
    fmt::from_fn(move |f| {
        write!(f, r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" "#)?;
        write!(f, r#"width="{WIDTH}" height="{HEIGHT}" font-family="{FONTS}" text-anchor="middle">"#)?;
        write!(f, "<title>{}</title>", packed.sfen(None))?;
        for shape in shapes(packed, marked) {
            draw(f, &shape)?;
        }
        f.write_str("</svg>")
    })
}

impl fmt::Display for Paint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:06x}", *self as u32)
    }
}

fn draw(f: &mut fmt::Formatter<'_>, shape: &Shape) -> fmt::Result {
    let edge = Paint::Ink;
    match shape {
        Shape::Fill { at: (x, y), size: (width, height), paint } => {
            write!(f, r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{paint}"/>"#)
        }
        Shape::Frame { at: (x, y), size: (width, height) } => {
            write!(f, r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="none" "#)?;
            write!(f, r#"stroke="{edge}" stroke-width="2"/>"#)
        }
        Shape::Rules(lines) => {
            write!(f, r#"<path fill="none" stroke="{edge}" d=""#)?;
            for [(x, y), (to_x, to_y)] in lines {
                write!(f, "M{x} {y}L{to_x} {to_y}")?;
            }
            f.write_str(r#""/>"#)
        }
        Shape::Dot { at: (x, y), radius, paint } => {
            write!(f, r#"<circle cx="{x}" cy="{y}" r="{radius}" fill="{paint}"/>"#)
        }
        Shape::Piece { at: (x, y), color, kind } => {
            let turn = if *color == Color::White { " rotate(180)" } else { "" };
            write!(f, r#"<g transform="translate({x} {y}){turn}"><path d="M"#)?;
            for (at, (x, y)) in PIECE.iter().enumerate() {
                write!(f, "{}{x} {y}", if at == 0 { "" } else { " " })?;
            }
            write!(f, r#"Z" fill="{}" stroke="{edge}"/>"#, Paint::Piece)?;
            let (base, size) = NAME;
            write!(
                f,
                r#"<text y="{base}" font-size="{size}" fill="{}">{}</text></g>"#,
                ink(*kind),
                name(*kind)
            )
        }
        Shape::Text { at: (x, y), size, paint, text } => {
            write!(f, r#"<text x="{x}" y="{y}" font-size="{size}" fill="{paint}">{text}</text>"#)
        }
    }
}
