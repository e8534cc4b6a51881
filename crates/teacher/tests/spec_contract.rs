//! docs/spec/corpus.md and the code say the same.

use manaka_corpus::COLUMNS;
use manaka_teacher::{Reason, USI_WORDS};
use std::fs;
use std::path::{Path, PathBuf};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page() -> String {
    fs::read_to_string(repository().join("docs/spec/corpus.md")).unwrap()
}

/// The text of a section, from its heading to the next.
fn section(page: &str, number: u32) -> &str {
    let from = page.find(&format!("## {number}. ")).unwrap();
    let rest = &page[from + 3..];
    &rest[..rest.find("\n## ").unwrap_or(rest.len())]
}

#[test]
fn the_page_lists_the_reasons_in_the_order_of_precedence() {
    let page = page();
    let listed: Vec<_> = section(&page, 4)
        .lines()
        .filter_map(|line| {
            let (number, rest) = line.split_once(". `")?;
            Some((number.parse::<usize>().ok()?, rest.split_once('`')?.0.to_owned()))
        })
        .collect();
    let expected: Vec<_> =
        Reason::ALL.iter().enumerate().map(|(i, reason)| (i + 1, reason.id().to_owned())).collect();
    assert_eq!(listed, expected);
    let words = USI_WORDS.map(|word| format!("`{word}`")).join(", ");
    assert!(section(&page, 4).contains(&words), "{words}");
}

#[test]
fn the_page_lists_the_columns_in_their_order() {
    let page = page();
    let listed: Vec<_> = section(&page, 3)
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`').map(|(name, _)| name.to_owned()))
        .collect();
    assert_eq!(listed, COLUMNS.map(|column| column.name().to_owned()));
}

#[test]
fn every_section_that_the_code_cites_is_there() {
    let page = page();
    let mut cited = 0;
    for dir in [
        "crates/core/src",
        "crates/corpus/src",
        "crates/teacher/src",
        "crates/corpus/tests",
        "crates/teacher/tests",
    ] {
        for entry in fs::read_dir(repository().join(dir)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            let source = fs::read_to_string(&path).unwrap();
            for (_, rest) in
                source.match_indices("corpus.md §").map(|(at, what)| (at, &source[at + what.len()..]))
            {
                let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
                if !number.is_empty() {
                    assert!(page.contains(&format!("\n## {number}. ")), "{}: §{number}", path.display());
                    cited += 1;
                }
            }
        }
    }
    assert!(cited > 10);
}
