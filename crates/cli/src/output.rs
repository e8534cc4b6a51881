//! Reports, and numbers as people write them.

use anyhow::{Context, Result};
pub use manaka_inspect::grouped;
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;

/// How a report is printed.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Format {
    /// For a person.
    #[default]
    Text,
    /// One JSON object.
    Json,
}

/// A number of bytes as people write them: `512M`, `8GiB`, `1000000`. K, M, G and T are powers of 1024.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let shift = match text[digits..].to_ascii_lowercase().trim_end_matches("ib").trim_end_matches('b') {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return Err("a number of bytes, with K, M, G or T behind it at most".to_owned()),
    };
    let number: u64 =
        text[..digits].parse().map_err(|_| "a number of bytes must begin with digits".to_owned())?;
    number.checked_mul(1 << shift).ok_or_else(|| "too many bytes".to_owned())
}

/// Prints a report on stdout. A reader that went away (`| head`) is no error.
pub fn print(text: impl std::fmt::Display) -> Result<()> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.context("stdout"),
    }
}

/// Prints a report as JSON.
pub fn print_json(report: &impl Serialize) -> Result<()> {
    print(serde_json::to_string_pretty(report)?)
}

/// Where a refused record stands, as reports name it.
pub fn refused_at(path: &Path, record: u64, offset: u64) -> String {
    format!("{}: record {record} at byte {offset}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        assert_eq!(parse_bytes("512M"), Ok(512 << 20));
        assert_eq!(parse_bytes("8GiB"), Ok(8 << 30));
        assert_eq!(parse_bytes("3gb"), Ok(3 << 30));
        assert_eq!(parse_bytes("1000"), Ok(1000));
        for bad in ["", "M", "1.5G", "-1", "1X", "99999999999T"] {
            assert!(parse_bytes(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn numbers_are_grouped_by_thousands() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }
}
