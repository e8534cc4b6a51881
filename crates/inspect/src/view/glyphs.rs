//! The outlines of `glyphs.txt`: names of pieces, numbers.

use super::png::Segment;
use ab_glyph_rasterizer::{Point, point};

/// From a font under the SIL Open Font License, whose text lies beside it.
const OUTLINES: &str = include_str!("glyphs.txt");

/// A character to be filled; 1000 units are an em, y grows downwards from the baseline.
pub struct Glyph {
    pub advance: f32,
    pub outline: Vec<Segment>,
}

/// The outline of a character; `None` where there is none.
pub fn glyph(c: char) -> Option<Glyph> {
    let line = OUTLINES.lines().find(|line| line.starts_with(c) && !line.starts_with('#'))?;
    let mut fields = line.splitn(3, ' ').skip(1);
    let advance = fields.next()?.parse().ok()?;
    Some(Glyph { advance, outline: outline(fields.next()?)? })
}

/// Reads `M`, `L`, `Q` and `Z` of an SVG path, all of them absolute.
fn outline(path: &str) -> Option<Vec<Segment>> {
    let (mut segments, mut start, mut here) = (Vec::new(), point(0.0, 0.0), point(0.0, 0.0));
    let mut rest = path;
    while let Some(letter) = rest.chars().next() {
        let end = rest[1..].find(|c: char| c.is_ascii_uppercase()).map_or(rest.len(), |at| at + 1);
        let numbers: Vec<f32> =
            rest[1..end].split_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
        rest = &rest[end..];
        match (letter, numbers.as_slice()) {
            ('M', &[x, y]) => (start, here) = (point(x, y), point(x, y)),
            ('L', &[x, y]) => line(&mut segments, &mut here, point(x, y)),
            ('Q', &[by_x, by_y, x, y]) => {
                segments.push(Segment::Curve(here, point(by_x, by_y), point(x, y)));
                here = point(x, y);
            }
            ('Z', &[]) => line(&mut segments, &mut here, start),
            _ => return None,
        }
    }
    Some(segments)
}

fn line(segments: &mut Vec<Segment>, here: &mut Point, to: Point) {
    segments.push(Segment::Line(*here, to));
    *here = to;
}

#[cfg(test)]
mod tests {
    use super::super::board::{kanji_number, name};
    use super::*;
    use manaka_core::PieceKind;

    #[test]
    fn every_character_that_is_drawn_has_an_outline() {
        let names = PieceKind::ALL.map(name).concat();
        let numbers: String = (1..=9).map(kanji_number).collect();
        for c in names.chars().chain(numbers.chars()).chain("0123456789?".chars()) {
            let glyph = glyph(c).unwrap();
            assert!(glyph.advance > 400.0 && glyph.outline.len() > 7, "{c}");
        }
        assert!(glyph('#').is_none() && glyph('A').is_none());
    }
}
