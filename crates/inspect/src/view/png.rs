//! A position drawn as pixels. Names of pieces are outlines that come with the program: no font is looked for, so the
//! picture is the same on every machine.

use super::board::name;
use super::glyphs::{Glyph, glyph};
use super::picture::{HEIGHT, NAME, PIECE, Paint, Shape, WIDTH, ink, shapes};
use crate::error::{Error, Result};
use ab_glyph_rasterizer::{Point, Rasterizer, point};
use manaka_core::{Color, Move16, Packed};

/// Pixels of a unit unless told otherwise.
pub const SCALE: u32 = 2;

/// A position as a PNG file, 616 by 488 times `scale` pixels (1 to 8); otherwise as [`board_svg`](super::board_svg).
///
/// # Errors
/// [`Error::Output`] when the encoder fails.
pub fn board_png(packed: &Packed, marked: Option<Move16>, scale: u32) -> Result<Vec<u8>> {
    let mut canvas = Canvas::new(scale.clamp(1, 8));
    for shape in shapes(packed, marked) {
        canvas.draw(&shape);
    }
    canvas.encode()
}

/// A piece of an outline.
#[derive(Clone, Copy)]
pub enum Segment {
    Line(Point, Point),
    Curve(Point, Point, Point),
}

impl Segment {
    fn map(self, f: impl Fn(Point) -> Point) -> Self {
        match self {
            Self::Line(from, to) => Self::Line(f(from), f(to)),
            Self::Curve(from, by, to) => Self::Curve(f(from), f(by), f(to)),
        }
    }

    fn points(self) -> impl Iterator<Item = Point> {
        let (points, count) = match self {
            Self::Line(from, to) => ([from, to, to], 2),
            Self::Curve(from, by, to) => ([from, by, to], 3),
        };
        points.into_iter().take(count)
    }
}

struct Canvas {
    scale: f32,
    width: usize,
    height: usize,
    /// Red, green and blue of each pixel, row by row.
    pixels: Vec<u8>,
}

impl Canvas {
    fn new(scale: u32) -> Self {
        let pixels = |units: i32| usize::try_from(units).unwrap_or(0) * usize::try_from(scale).unwrap_or(1);
        let (width, height) = (pixels(WIDTH), pixels(HEIGHT));
        Self {
            scale: float(i32::try_from(scale).unwrap_or(1)),
            width,
            height,
            pixels: vec![0xff; 3 * width * height],
        }
    }

    fn draw(&mut self, shape: &Shape) {
        match shape {
            &Shape::Fill { at, size, paint } => self.fill(&rectangle(at, size), paint),
            &Shape::Frame { at: (x, y), size: (width, height) } => {
                for (at, size) in [
                    ((x - 1, y - 1), (width + 2, 2)),
                    ((x - 1, y + height - 1), (width + 2, 2)),
                    ((x - 1, y + 1), (2, height - 2)),
                    ((x + width - 1, y + 1), (2, height - 2)),
                ] {
                    self.fill(&rectangle(at, size), Paint::Ink);
                }
            }
            Shape::Rules(lines) => {
                for &[from, to] in lines {
                    self.stroke(at(from), at(to));
                }
            }
            &Shape::Dot { at: middle, radius, paint } => self.fill(&disc(at(middle), float(radius)), paint),
            &Shape::Piece { at: middle, color, kind } => {
                let middle = at(middle);
                let place = |p: Point| match color {
                    Color::Black => point(middle.x + p.x, middle.y + p.y),
                    Color::White => point(middle.x - p.x, middle.y - p.y),
                };
                let corners = PIECE.map(|corner| place(at(corner)));
                self.fill(&polygon(&corners), Paint::Piece);
                for (index, &from) in corners.iter().enumerate() {
                    self.stroke(from, corners[(index + 1) % corners.len()]);
                }
                let (base, size) = NAME;
                self.text(name(kind), size, ink(kind), |p| place(point(p.x, p.y + float(base))));
            }
            Shape::Text { at: place, size, paint, text } => {
                let base = at(*place);
                self.text(text, *size, *paint, |p| point(base.x + p.x, base.y + p.y));
            }
        }
    }

    /// A text around the middle of its baseline; `place` says where a point beside that middle lies.
    fn text(&mut self, text: &str, size: i32, paint: Paint, place: impl Fn(Point) -> Point) {
        let em = float(size) / 1000.0;
        let glyphs: Vec<Glyph> = text.chars().filter_map(glyph).collect();
        let mut x = -glyphs.iter().map(|glyph| glyph.advance).sum::<f32>() * em / 2.0;
        for glyph in glyphs {
            let outline: Vec<Segment> = (glyph.outline.iter())
                .map(|segment| segment.map(|p| place(point(x + p.x * em, p.y * em))))
                .collect();
            self.fill(&outline, paint);
            x += glyph.advance * em;
        }
    }

    /// A line one unit wide.
    fn stroke(&mut self, from: Point, to: Point) {
        let (dx, dy) = (to.x - from.x, to.y - from.y);
        let long = dx.hypot(dy).max(1.0);
        // Half a unit along and across.
        let (ax, ay) = (dx / long / 2.0, dy / long / 2.0);
        let corners = [
            point(from.x - ax - ay, from.y - ay + ax),
            point(to.x + ax - ay, to.y + ay + ax),
            point(to.x + ax + ay, to.y + ay - ax),
            point(from.x - ax + ay, from.y - ay - ax),
        ];
        self.fill(&polygon(&corners), Paint::Ink);
    }

    /// Paints an outline's inside, edges by how much of a pixel they cover.
    fn fill(&mut self, outline: &[Segment], paint: Paint) {
        let outline: Vec<Segment> =
            outline.iter().map(|s| s.map(|p| point(p.x * self.scale, p.y * self.scale))).collect();
        let (mut least, mut most) = ((f32::MAX, f32::MAX), (0.0f32, 0.0f32));
        for p in outline.iter().flat_map(|segment| segment.points()) {
            least = (least.0.min(p.x), least.1.min(p.y));
            most = (most.0.max(p.x), most.1.max(p.y));
        }
        let (left, top) = (pixel(least.0), pixel(least.1));
        let (right, bottom) = (pixel(most.0) + 2, pixel(most.1) + 2);
        if right <= left || bottom <= top {
            return;
        }
        let mut rasterizer = Rasterizer::new(right - left, bottom - top);
        let corner = point(whole(left), whole(top));
        for segment in outline {
            match segment.map(|p| point(p.x - corner.x, p.y - corner.y)) {
                Segment::Line(from, to) => rasterizer.draw_line(from, to),
                Segment::Curve(from, by, to) => rasterizer.draw_quad(from, by, to),
            }
        }
        let [_, red, green, blue] = (paint as u32).to_be_bytes();
        let (width, height) = (self.width, self.height);
        let pixels = &mut self.pixels;
        rasterizer.for_each_pixel_2d(|x, y, coverage| {
            let at = |start: usize, along: u32| start + usize::try_from(along).unwrap_or(usize::MAX / 2);
            let (x, y) = (at(left, x), at(top, y));
            if x < width && y < height && coverage > 0.0 {
                let start = 3 * (y * width + x);
                for (channel, new) in pixels[start..start + 3].iter_mut().zip([red, green, blue]) {
                    *channel = mixed(*channel, new, coverage.min(1.0));
                }
            }
        });
    }

    fn encode(&self) -> Result<Vec<u8>> {
        let mut file = Vec::new();
        let side = |pixels: usize| u32::try_from(pixels).unwrap_or(0);
        let mut encoder = png::Encoder::new(&mut file, side(self.width), side(self.height));
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let failed = |error: png::EncodingError| Error::Output(error.into());
        let mut writer = encoder.write_header().map_err(failed)?;
        writer.write_image_data(&self.pixels).map_err(failed)?;
        writer.finish().map_err(failed)?;
        Ok(file)
    }
}

#[expect(clippy::cast_precision_loss, reason = "lengths of a drawing are below 10,000")]
fn float(units: i32) -> f32 {
    units as f32
}

#[expect(clippy::cast_precision_loss, reason = "lengths of a drawing are below 10,000")]
fn whole(pixels: usize) -> f32 {
    pixels as f32
}

/// The pixel a length reaches into, 0 for what is negative.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "lengths of a drawing are below 10,000"
)]
fn pixel(length: f32) -> usize {
    length.floor().clamp(0.0, 10_000.0) as usize
}

/// A channel, painted over with so much of another.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between two bytes")]
fn mixed(old: u8, new: u8, coverage: f32) -> u8 {
    (f32::from(old) + (f32::from(new) - f32::from(old)) * coverage).round() as u8
}

fn at((x, y): (i32, i32)) -> Point {
    point(float(x), float(y))
}

fn rectangle((x, y): (i32, i32), (width, height): (i32, i32)) -> Vec<Segment> {
    polygon(&[at((x, y)), at((x + width, y)), at((x + width, y + height)), at((x, y + height))])
}

fn polygon(corners: &[Point]) -> Vec<Segment> {
    let next = |index: usize| corners[(index + 1) % corners.len()];
    corners.iter().enumerate().map(|(index, &from)| Segment::Line(from, next(index))).collect()
}

/// A circle of eight curves.
fn disc(middle: Point, radius: f32) -> Vec<Segment> {
    use std::f32::consts::PI;
    let on = |eighths: f32, radius: f32| {
        let (sin, cos) = (eighths * PI / 4.0).sin_cos();
        point(middle.x + radius * cos, middle.y + radius * sin)
    };
    // The tangents of two neighbouring points meet this far out.
    let out = radius / (PI / 8.0).cos();
    (0..8u8)
        .map(f32::from)
        .map(|eighth| Segment::Curve(on(eighth, radius), on(eighth + 0.5, out), on(eighth + 1.0, radius)))
        .collect()
}
