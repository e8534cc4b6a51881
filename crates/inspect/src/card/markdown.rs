//! Markdown put together piece by piece: headings, paragraphs, tables whose rows cannot lose a cell; and figures as a card
//! writes them.

pub use crate::stat::grouped;

/// A real minus: wide enough to be seen in a column of figures.
const MINUS: char = '−';

/// What only a person can tell, and has not told yet.
pub fn blank(what: &str) -> String {
    format!("**[TO BE FILLED IN: {what}]**")
}

/// Text of others as text and nothing else: no character of it means anything to Markdown or HTML.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in one_line(text).chars() {
        if c.is_ascii_punctuation()
            && !matches!(c, ',' | '.' | '\'' | '"' | '/' | ':' | ';' | '?' | '%' | '-' | '=')
        {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Text without line breaks and other control characters.
pub fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') { ' ' } else { c })
        .collect()
}

/// Text in the typewriter's face, whatever it holds.
pub fn code(text: &str) -> String {
    let text = one_line(text);
    // A fence is longer than any run of backticks inside.
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    match text.trim().is_empty() {
        true => "(empty)".to_owned(),
        false if longest > 0 => format!("{fence} {text} {fence}"),
        false => format!("{fence}{text}{fence}"),
    }
}

/// A whole number with its sign and grouped digits.
pub fn whole(number: i64) -> String {
    let digits = grouped(number.unsigned_abs());
    if number < 0 { format!("{MINUS}{digits}") } else { digits }
}

/// A figure with so many places behind the point, its digits grouped.
pub fn figure(number: f64, places: usize) -> String {
    let text = format!("{:.places$}", number.abs());
    let (digits, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let digits = digits.parse().map_or_else(|_| digits.to_owned(), grouped);
    let negative = number < 0.0 && text.bytes().any(|b| (b'1'..=b'9').contains(&b));
    format!("{}{digits}{rest}", if negative { MINUS.to_string() } else { String::new() })
}

/// The same with its sign, plus or minus.
pub fn signed(number: f64, places: usize) -> String {
    let text = figure(number, places);
    if text.starts_with(MINUS) { text } else { format!("+{text}") }
}

/// The same of a figure that may be absent.
pub fn figure_or_dash(number: Option<f64>, places: usize) -> String {
    number.map_or_else(|| "–".to_owned(), |number| figure(number, places))
}

/// The same with its sign.
pub fn signed_or_dash(number: Option<f64>, places: usize) -> String {
    number.map_or_else(|| "–".to_owned(), |number| signed(number, places))
}

/// `1 shard`, `12 shards`.
pub fn counted(count: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// On which side a column's cells stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// Text.
    Left,
    /// Figures.
    Right,
}
pub use Side::{Left, Right};

/// A card as it grows. Blocks are set apart by an empty line.
pub struct Doc {
    text: String,
    /// Added to the level of every heading.
    deeper: usize,
}

impl Doc {
    pub fn new(front: String) -> Self {
        Self { text: front, deeper: 0 }
    }

    /// What is written next belongs under a heading of its own.
    pub fn deeper(&mut self, by: usize) {
        self.deeper = by;
    }

    fn block(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(text.trim_end());
        self.text.push('\n');
    }

    pub fn heading(&mut self, level: usize, title: &str) {
        let marks = "#".repeat(level + self.deeper);
        self.block(&format!("{marks} {title}"));
    }

    pub fn paragraph(&mut self, text: &str) {
        self.block(text);
    }

    pub fn code_block(&mut self, language: &str, text: &str) {
        self.block(&format!("```{language}\n{}\n```", text.trim_end()));
    }

    /// A table. Bars within cells are escaped, so that a row has as many cells as the head.
    pub fn table<const N: usize>(
        &mut self,
        head: [(&str, Side); N],
        rows: impl IntoIterator<Item = [String; N]>,
    ) {
        let line =
            |cells: [String; N]| format!("| {} |\n", cells.map(|cell| cell.replace('|', "\\|")).join(" | "));
        let mut text = line(head.map(|(name, _)| name.to_owned()));
        text.push_str(&line(head.map(|(_, side)| if side == Right { "---:" } else { "---" }.to_owned())));
        rows.into_iter().for_each(|row| text.push_str(&line(row)));
        self.block(&text);
    }

    pub fn finish(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_grouped_and_signed_with_a_real_minus() {
        assert_eq!([whole(-31_998), whole(0), whole(1_234_567)], ["−31,998", "0", "1,234,567"]);
        assert_eq!(figure(1512.173, 3), "1,512.173");
        assert_eq!([figure(-0.0004, 3), figure(-0.0006, 3), figure(12.0, 0)], ["0.000", "−0.001", "12"]);
        assert_eq!([signed(0.25, 2), signed(-1234.5, 1), signed(-0.0, 1)], ["+0.25", "−1,234.5", "+0.0"]);
        assert_eq!([counted(1, "row"), counted(1200, "row")], ["1 row", "1,200 rows"]);
    }

    #[test]
    fn text_of_others_means_nothing_to_markdown() {
        assert_eq!(plain("a*b_c <i>|`d`\n# e"), r"a\*b\_c \<i\>\|\`d\` \# e");
        assert_eq!(code("a`b``c"), "``` a`b``c ```");
        assert_eq!((code("x|y"), code(" ")), ("`x|y`".to_owned(), "(empty)".to_owned()));
        let mut doc = Doc::new(String::new());
        doc.table([("a", Left), ("b", Right)], [[code("x|y"), "1".to_owned()]]);
        assert_eq!(doc.finish(), "| a | b |\n| --- | ---: |\n| `x\\|y` | 1 |\n");
    }
}
