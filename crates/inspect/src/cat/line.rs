//! One record or row as a line of text.

use super::LineFormat;
use crate::source::Line;
use manaka_core::conventions::{NO_CP, NO_VISITS};
use manaka_core::sfen::SfenWriter;
use manaka_core::stream::Candidate;
use manaka_core::{Move16, Packed};
use std::path::Path;

/// The columns of tab-separated text. Lists are separated by spaces and have as many elements as there are candidates,
/// or none.
const COLUMNS: [&str; 12] = [
    "number", "sfen", "ply", "weight", "value_z", "value_q", "root_cp", "move", "usi", "cp", "visits", "prob",
];

/// Writes lines into a buffer, with as little work as it takes.
pub struct Printer {
    format: LineFormat,
    sfen: SfenWriter,
    floats: zmij::Buffer,
    /// How a line begins: up to its number.
    opening: Vec<u8>,
}

impl Printer {
    pub fn new(format: LineFormat) -> Self {
        let mut printer =
            Self { format, sfen: SfenWriter::default(), floats: zmij::Buffer::new(), opening: Vec::new() };
        printer.file(None);
        printer
    }

    /// The header line, where there is one.
    pub fn header(&self, paths: bool, out: &mut Vec<u8>) {
        if self.format == LineFormat::Tsv {
            let path = paths.then_some("path");
            let names: Vec<&str> = path.into_iter().chain(COLUMNS).collect();
            out.extend_from_slice(names.join("\t").as_bytes());
            out.push(b'\n');
        }
    }

    /// From now on lines are of this file, or name none.
    pub fn file(&mut self, path: Option<&Path>) {
        let path = path.map(Path::to_string_lossy);
        self.opening.clear();
        let opening = match (self.format, &path) {
            (LineFormat::Jsonl, None) => "{\"number\":".to_owned(),
            (LineFormat::Jsonl, Some(path)) => format!("{{\"path\":{},\"number\":", json_text(path)),
            (LineFormat::Tsv, None) => String::new(),
            (LineFormat::Tsv, Some(path)) => format!("{}\t", tsv_text(path)),
        };
        self.opening.extend_from_slice(opening.as_bytes());
    }

    /// Appends a line.
    pub fn line(&mut self, line: &Line<'_>, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.opening);
        push_int(i64::try_from(line.number).unwrap_or(i64::MAX), out);
        match self.format {
            LineFormat::Jsonl => self.json(line, out),
            LineFormat::Tsv => self.tsv(line, out),
        }
        out.push(b'\n');
    }

    fn json(&mut self, line: &Line<'_>, out: &mut Vec<u8>) {
        let item = &line.item;
        out.extend_from_slice(b",\"sfen\":\"");
        self.position(line, out);
        out.extend_from_slice(b"\",\"ply\":");
        push_int(item.ply.into(), out);
        if line.offset.is_none() && item.root.is_none() {
            out.extend_from_slice(b",\"weight\":");
            push_int(item.weight.into(), out);
        }
        for (name, value) in [(&b",\"value_z\":"[..], item.value_z), (&b",\"value_q\":"[..], item.value_q)] {
            if let Some(value) = value {
                out.extend_from_slice(name);
                self.json_float(value, out);
            }
        }
        if let Some(root) = item.root {
            out.extend_from_slice(b",\"root_cp\":");
            push_int(root.into(), out);
        }
        if let Some(mv) = line.played {
            out.extend_from_slice(b",\"move\":\"");
            mv.write_usi(out);
            out.push(b'"');
        }
        out.extend_from_slice(b",\"candidates\":[");
        for (at, Candidate { mv, visits, cp }) in item.candidates.iter().enumerate() {
            out.extend_from_slice(if at == 0 { b"{\"usi\":\"" } else { b",{\"usi\":\"" });
            mv.write_usi(out);
            out.push(b'"');
            if cp != NO_CP {
                out.extend_from_slice(b",\"cp\":");
                push_int(cp.into(), out);
            }
            if visits != NO_VISITS {
                out.extend_from_slice(b",\"visits\":");
                push_int(visits.into(), out);
            }
            if let Some(&prob) = line.prob.get(at) {
                out.extend_from_slice(b",\"prob\":");
                self.json_float(prob, out);
            }
            out.push(b'}');
        }
        out.extend_from_slice(b"]}");
    }

    fn tsv(&mut self, line: &Line<'_>, out: &mut Vec<u8>) {
        let item = &line.item;
        out.push(b'\t');
        self.position(line, out);
        out.push(b'\t');
        push_int(item.ply.into(), out);
        out.push(b'\t');
        push_int(item.weight.into(), out);
        for value in [item.value_z, item.value_q] {
            out.push(b'\t');
            if let Some(value) = value {
                self.float(value, out);
            }
        }
        out.push(b'\t');
        if let Some(root) = item.root {
            push_int(root.into(), out);
        }
        out.push(b'\t');
        if let Some(mv) = line.played {
            mv.write_usi(out);
        }
        out.push(b'\t');
        let candidates = item.candidates;
        list(out, candidates.iter().map(|c| c.mv), Move16::write_usi);
        out.push(b'\t');
        list(out, candidates.iter().map(|c| c.cp).filter(|&cp| cp != NO_CP), |cp, out| {
            push_int(cp.into(), out);
        });
        out.push(b'\t');
        let visits = candidates.iter().map(|c| c.visits).filter(|&visits| visits != NO_VISITS);
        list(out, visits, |visits, out| push_int(visits.into(), out));
        out.push(b'\t');
        list(out, line.prob.iter(), |&prob, out| self.float(prob, out));
    }

    /// SFEN with the move number.
    fn position(&mut self, line: &Line<'_>, out: &mut Vec<u8>) {
        self.sfen.write(&Packed::from_bytes(*line.item.packed), out);
        out.push(b' ');
        push_int(line.item.ply.into(), out);
    }

    /// The shortest decimal that reads back to the same f32.
    fn float(&mut self, value: f32, out: &mut Vec<u8>) {
        out.extend_from_slice(self.floats.format(value).as_bytes());
    }

    /// The same; `null` for what JSON has no number for.
    fn json_float(&mut self, value: f32, out: &mut Vec<u8>) {
        if value.is_finite() {
            out.extend_from_slice(self.floats.format_finite(value).as_bytes());
        } else {
            out.extend_from_slice(b"null");
        }
    }
}

/// Elements between spaces.
fn list<T>(out: &mut Vec<u8>, elements: impl Iterator<Item = T>, mut write: impl FnMut(T, &mut Vec<u8>)) {
    for (at, element) in elements.enumerate() {
        if at > 0 {
            out.push(b' ');
        }
        write(element, out);
    }
}

fn push_int(number: i64, out: &mut Vec<u8>) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    let mut rest = number.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + u8::try_from(rest % 10).unwrap_or(0);
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&digits[at..]);
}

/// A text as JSON, with its quotes.
fn json_text(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if u32::from(c) < 0x20 => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A text that fits into a cell: a tab, a line's end and a backslash become `\t`, `\n`, `\r` and `\\`.
fn tsv_text(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_printed_as_the_standard_library_prints_them() {
        for number in
            [0, 1, -1, 9, 10, -10, 99, 100, 32_767, -32_768, i64::from(u32::MAX), i64::MAX, i64::MIN]
        {
            let mut out = Vec::new();
            push_int(number, &mut out);
            assert_eq!(out, number.to_string().into_bytes());
        }
    }

    #[test]
    fn names_of_files_are_escaped() {
        let name = "a\t\"b\"\\c\n\u{1}歩.mpk";
        assert_eq!(serde_json::from_str::<String>(&json_text(name)).unwrap(), name);
        assert_eq!(tsv_text("a\tb\\c\nd\re"), "a\\tb\\\\c\\nd\\re");
    }
}
