//! How to read the files: code that runs as it stands beside them. Tests compile and run it.

use super::files::CardFile;
use super::front::pattern;
use super::markdown::Doc;
use manaka_core::conventions::{Conventions, PolicySource};
use manaka_corpus::psv::{CandidateOrder, Layout, LayoutText, PlayedMove};

/// A text between quotation marks, as Rust and Python read it.
fn string(text: &str) -> String {
    serde_json::Value::from(super::markdown::one_line(text)).to_string()
}

fn first(files: &[&CardFile]) -> String {
    string(files.first().map_or("", |file| &file.name))
}

fn snippet(doc: &mut Doc, language: &str, name: &str, text: &str, swaps: &[(&str, &str)]) {
    let text = swaps.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
    doc.paragraph(&format!("{name}:"));
    doc.code_block(language, &text);
}

const FILE: &str = "\"FILE\"";
const MANAKA: &str = "Python, with the wheel `manaka`";
const PYARROW: &str = "pyarrow";

/// Shards.
pub fn shard(doc: &mut Doc, files: &[&CardFile]) {
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    let all = match pattern(&names) {
        Some(pattern) if files.len() > 1 => string(&pattern),
        _ if files.len() == 1 => first(files),
        _ => format!("[{}]", names.iter().map(|name| string(name)).collect::<Vec<_>>().join(", ")),
    };
    let file = first(files);
    doc.heading(2, "Reading it");
    snippet(doc, "python", PYARROW, include_str!("snippets/shard_pyarrow.py"), &[(FILE, &file)]);
    snippet(doc, "python", MANAKA, include_str!("snippets/shard_manaka.py"), &[("\"GLOB\"", &all)]);
    snippet(doc, "rust", "Rust, with `manaka-pack`", include_str!("snippets/shard.rs"), &[(FILE, &file)]);
}

/// Streams.
pub fn stream(doc: &mut Doc, files: &[&CardFile], conventions: &Conventions) {
    let file = first(files);
    let half = match conventions.policy_source {
        PolicySource::Visits => "visits",
        PolicySource::SoftmaxCp => "cp",
    };
    doc.heading(2, "Reading it");
    let swaps = [(FILE, file.as_str()), ("HALF", half)];
    snippet(doc, "python", MANAKA, include_str!("snippets/stream_manaka.py"), &swaps);
    snippet(doc, "python", PYARROW, include_str!("snippets/stream_pyarrow.py"), &swaps);
    snippet(doc, "python", "Python with nothing else", include_str!("snippets/stream_plain.py"), &[]);
    snippet(doc, "rust", "Rust, with `manaka-core`", include_str!("snippets/stream.rs"), &swaps);
}

/// Corpus parquet.
pub fn corpus(doc: &mut Doc, files: &[&CardFile]) {
    let file = first(files);
    doc.heading(2, "Reading it");
    snippet(doc, "python", PYARROW, include_str!("snippets/corpus_pyarrow.py"), &[(FILE, &file)]);
    let streams = "To a stream, with the wheel `manaka`";
    snippet(doc, "python", streams, include_str!("snippets/corpus_manaka.py"), &[(FILE, &file)]);
    snippet(doc, "rust", "Rust, with `manaka-corpus`", include_str!("snippets/corpus.rs"), &[(FILE, &file)]);
}

/// Raw records.
pub fn raw(doc: &mut Doc, files: &[&CardFile], layout: Layout) {
    let file = first(files);
    doc.heading(2, "Reading it");
    let text = LayoutText { order: layout.order, played: layout.played };
    let usual = (layout.order, layout.played) == (CandidateOrder::default(), PlayedMove::default());
    let mut options = format!("move16=\"{}\", candidates={}", layout.moves, layout.candidates);
    if !usual {
        options.push_str(&format!(", layout=\"{text}\""));
    }
    let corpus = "To a corpus, with the wheel `manaka`";
    let swaps = [(FILE, file.as_str()), ("OPTIONS", &options)];
    snippet(doc, "python", corpus, include_str!("snippets/psv_manaka.py"), &swaps);
    let Layout { moves, candidates, order, played } = layout;
    let (literal, imports) = if usual {
        (
            format!("Layout::multipv(MoveLayout::{moves:?}, {candidates})"),
            "{Layout, MoveLayout, Reader, Record}",
        )
    } else {
        let order = format!("order: CandidateOrder::{order:?}, played: PlayedMove::{played:?}");
        (
            format!("Layout {{ moves: MoveLayout::{moves:?}, candidates: {candidates}, {order} }}"),
            "{CandidateOrder, Layout, MoveLayout, PlayedMove, Reader, Record}",
        )
    };
    let swaps = [
        (FILE, file.as_str()),
        ("Layout::multipv(MoveLayout::YaneuraOu, 5)", literal.as_str()),
        ("{Layout, MoveLayout, Reader, Record}", imports),
    ];
    snippet(doc, "rust", "Rust, with `manaka-corpus`", include_str!("snippets/psv.rs"), &swaps);
}
