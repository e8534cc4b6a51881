//! Plots as SVG, drawn in CSS variables so that one picture serves light and dark.

use super::text::grouped;
use manaka_core::Square;
use std::fmt::Write;

/// The box of a plot, and of what is drawn in it.
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 58.0;
const RIGHT: f64 = 22.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 40.0;

/// A number as it lies in an SVG.
fn n(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Escapes text for HTML and SVG.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A number on an axis: `1.2M`, `40k`, `0.5`.
pub fn short(value: f64) -> String {
    let size = value.abs();
    match size {
        _ if size >= 1e9 => format!("{}G", n(value / 1e9)),
        _ if size >= 1e6 => format!("{}M", n(value / 1e6)),
        _ if size >= 1e4 => format!("{}k", n(value / 1e3)),
        _ => n(value),
    }
}

/// Round numbers from `low` to `high`, about so many.
fn ticks(low: f64, high: f64, about: f64) -> Vec<f64> {
    let raw = (high - low) / about;
    if raw.is_nan() || raw <= 0.0 {
        return vec![low];
    }
    let power = 10f64.powf(raw.log10().floor());
    let step =
        [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().map(|m| m * power).find(|&step| step >= raw).unwrap_or(raw);
    let mut at = (low / step).ceil() * step;
    let mut ticks = Vec::new();
    while at <= high + step * 1e-6 && ticks.len() < 50 {
        ticks.push(at);
        at += step;
    }
    ticks
}

/// A plot with two axes.
pub struct Plot {
    x: (f64, f64),
    y: (f64, f64),
    body: String,
    front: String,
}

impl Plot {
    /// Axes over these ranges; places on the x axis are left to the caller.
    pub fn bare(x: (f64, f64), y: (f64, f64), x_title: &str, y_format: impl Fn(f64) -> String) -> Self {
        let x = if x.1 > x.0 { x } else { (x.0, x.0 + 1.0) };
        let y = if y.1 > y.0 { y } else { (y.0, y.0 + 1.0) };
        let mut plot = Self { x, y, body: String::new(), front: String::new() };
        for at in ticks(y.0, y.1, 5.0) {
            let _ = write!(
                plot.body,
                r#"<line class="grid" x1="{}" x2="{}" y1="{2}" y2="{2}"/><text class="tick" x="{3}" y="{4}" text-anchor="end">{5}</text>"#,
                n(LEFT),
                n(WIDTH - RIGHT),
                n(plot.py(at)),
                n(LEFT - 6.0),
                n(plot.py(at) + 3.5),
                y_format(at)
            );
        }
        let base = n(HEIGHT - BOTTOM);
        let _ = write!(
            plot.front,
            r#"<line class="axis" x1="{}" x2="{}" y1="{base}" y2="{base}"/><text class="title" x="{}" y="{}" text-anchor="middle">{}</text>"#,
            n(LEFT),
            n(WIDTH - RIGHT),
            n(f64::midpoint(LEFT, WIDTH - RIGHT)),
            n(HEIGHT - 6.0),
            escaped(x_title)
        );
        plot
    }

    /// Axes over these ranges, with round numbers on both.
    pub fn new(x: (f64, f64), y: (f64, f64), x_title: &str, y_format: impl Fn(f64) -> String) -> Self {
        let mut plot = Self::bare(x, y, x_title, y_format);
        for at in ticks(plot.x.0, plot.x.1, 8.0) {
            plot.tick(at, &short(at));
        }
        plot
    }

    /// A place on the x axis.
    pub fn tick(&mut self, x: f64, text: &str) {
        let _ = write!(
            self.front,
            r#"<text class="tick" x="{}" y="{}" text-anchor="middle">{text}</text>"#,
            n(self.px(x)),
            n(HEIGHT - BOTTOM + 15.0)
        );
    }

    /// Axes for counts from 0.
    pub fn counts(x: (f64, f64), most: f64, x_title: &str) -> Self {
        Self::new(x, (0.0, most * 1.04), x_title, short)
    }

    fn px(&self, x: f64) -> f64 {
        LEFT + (x - self.x.0) / (self.x.1 - self.x.0) * (WIDTH - LEFT - RIGHT)
    }

    fn py(&self, y: f64) -> f64 {
        HEIGHT - BOTTOM - (y - self.y.0) / (self.y.1 - self.y.0) * (HEIGHT - TOP - BOTTOM)
    }

    /// A bar from 0 up, with what it says when it is pointed at.
    pub fn bar(&mut self, from: f64, to: f64, height: f64, class: &str, says: &str) {
        let gap = if self.px(to) - self.px(from) > 4.0 { 1.0 } else { 0.0 };
        let (left, right) = (self.px(from), self.px(to) - gap);
        let (top, base) = (self.py(height), self.py(0.0));
        let _ = write!(
            self.body,
            r#"<rect class="{class}" x="{}" y="{}" width="{}" height="{}"><title>{}</title></rect>"#,
            n(left),
            n(top),
            n((right - left).max(0.5)),
            n((base - top).max(0.0)),
            escaped(says)
        );
    }

    /// The area between two lines over the same places.
    pub fn band(&mut self, points: &[(f64, f64, f64)], class: &str) {
        let mut path = String::new();
        for (at, &(x, _, high)) in points.iter().enumerate() {
            let _ = write!(path, "{}{} {}", if at == 0 { "M" } else { "L" }, n(self.px(x)), n(self.py(high)));
        }
        for &(x, low, _) in points.iter().rev() {
            let _ = write!(path, "L{} {}", n(self.px(x)), n(self.py(low)));
        }
        if !path.is_empty() {
            let _ = write!(self.body, r#"<path class="{class}" d="{path}Z"/>"#);
        }
    }

    /// A line through points.
    pub fn line(&mut self, points: &[(f64, f64)], class: &str) {
        let places: Vec<String> =
            points.iter().map(|&(x, y)| format!("{},{}", n(self.px(x)), n(self.py(y)))).collect();
        let _ = write!(self.body, r#"<polyline class="{class}" points="{}"/>"#, places.join(" "));
    }

    /// A dot.
    pub fn dot(&mut self, x: f64, y: f64, radius: f64, class: &str, says: &str) {
        let _ = write!(
            self.body,
            r#"<circle class="{class}" cx="{}" cy="{}" r="{}"><title>{}</title></circle>"#,
            n(self.px(x)),
            n(self.py(y)),
            n(radius),
            escaped(says)
        );
    }

    /// A marked place on the x axis, with its name.
    pub fn mark(&mut self, x: f64, name: &str) {
        let at = self.px(x);
        let _ = write!(
            self.front,
            r#"<line class="mark" x1="{0}" x2="{0}" y1="{1}" y2="{2}"/><text class="tick" x="{3}" y="{4}">{5}</text>"#,
            n(at),
            n(TOP),
            n(HEIGHT - BOTTOM),
            n(at + 4.0),
            n(TOP + 9.0),
            escaped(name)
        );
    }

    /// The picture.
    pub fn svg(self, label: &str) -> String {
        format!(
            r#"<svg viewBox="0 0 {} {}" role="img" aria-label="{}">{}{}</svg>"#,
            n(WIDTH),
            n(HEIGHT),
            escaped(label),
            self.body,
            self.front
        )
    }
}

/// Two boards, the darker a square the more often it was counted.
pub fn heat(squares: [(&str, &[u64]); 2]) -> String {
    const CELL: f64 = 28.0;
    const SIDE: f64 = 9.0 * CELL;
    const APART: f64 = 60.0;
    let mut svg = format!(
        r#"<svg viewBox="0 0 {} {}" role="img" aria-label="where the kings stand">"#,
        n(2.0 * SIDE + APART + 40.0),
        n(SIDE + 44.0)
    );
    for (at, (name, counts)) in squares.into_iter().enumerate() {
        let left = 10.0 + if at == 0 { 0.0 } else { SIDE + APART };
        let all: u64 = counts.iter().sum();
        let most = counts.iter().copied().max().unwrap_or(0).max(1);
        let _ = write!(
            svg,
            r#"<text class="title" x="{}" y="11" text-anchor="middle">{}</text>"#,
            n(left + SIDE / 2.0),
            escaped(name)
        );
        for (square, &count) in counts.iter().enumerate().take(Square::COUNT) {
            // stream.md §4.1: file 9 is the first, on the left of the board; ranks go down.
            #[expect(clippy::cast_precision_loss, reason = "below 9")]
            let (x, y) = (left + (square / 9) as f64 * CELL, 30.0 + (square % 9) as f64 * CELL);
            #[expect(clippy::cast_precision_loss, reason = "a shade")]
            let (share, shade) = (count as f64 / all.max(1) as f64, (count as f64 / most as f64).sqrt());
            let usi =
                format!("{}{}", 9 - square / 9, ["a", "b", "c", "d", "e", "f", "g", "h", "i"][square % 9]);
            let _ = write!(
                svg,
                r#"<rect class="cell" x="{0}" y="{1}" width="{CELL}" height="{CELL}"/><rect class="heat" x="{0}" y="{1}" width="{CELL}" height="{CELL}" fill-opacity="{2}"><title>{usi}: {3} ({4:.2}%)</title></rect>"#,
                n(x),
                n(y),
                n(shade),
                grouped(count),
                share * 100.0
            );
            if share >= 0.01 {
                let class = if shade > 0.6 { "on" } else { "off" };
                let _ = write!(
                    svg,
                    r#"<text class="{class}" x="{}" y="{}" text-anchor="middle">{:.0}</text>"#,
                    n(x + CELL / 2.0),
                    n(y + CELL / 2.0 + 3.5),
                    share * 100.0
                );
            }
        }
        for step in 0..9u32 {
            let offset = (f64::from(step) + 0.5) * CELL;
            let _ = write!(
                svg,
                r#"<text class="tick" x="{}" y="26" text-anchor="middle">{}</text><text class="tick" x="{}" y="{}">{}</text>"#,
                n(left + offset),
                9 - step,
                n(left + SIDE + 5.0),
                n(30.0 + offset + 3.5),
                step + 1
            );
        }
    }
    svg + "</svg>"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers_within_the_range() {
        assert_eq!(ticks(0.0, 100.0, 5.0), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(ticks(-1.0, 1.0, 4.0), [-1.0, -0.5, 0.0, 0.5, 1.0]);
        assert_eq!(ticks(3.0, 3.0, 4.0), [3.0]);
        assert_eq!([0.0, 950.0, 12_345.0, 2_500_000.0].map(short), ["0", "950", "12.35k", "2.5M"]);
    }

    #[test]
    fn text_cannot_leave_its_element() {
        assert_eq!(escaped("<a & \"b\">"), "&lt;a &amp; &quot;b&quot;&gt;");
    }
}
