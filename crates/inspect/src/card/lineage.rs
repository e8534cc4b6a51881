//! Where the data comes from: the steps that `LINEAGE.json` records (lineage.md), and the counts that can be measured.

use super::DataSet;
use super::files::CardFile;
use super::generation::Manifest;
use super::markdown::{Doc, Left, Right, code, counted, grouped, plain};
use crate::error::{Error, Result};
use crate::sniff::Kind;
use manaka_edit::lineage::{Count, FileFacts, InOut, LINEAGE_FILE, Lineage, Step};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The steps that lie beside the data.
pub fn beside(dirs: &[PathBuf]) -> Result<Lineage> {
    // Any name will do: only its directory is looked at.
    let names: Vec<PathBuf> = dirs.iter().map(|dir| dir.join(LINEAGE_FILE)).collect();
    Lineage::of(&names).map_err(Error::lineage)
}

/// The hash of a file as lineages write it.
pub fn hash(file: &CardFile) -> String {
    format!("{:032x}", file.hash)
}

/// The section.
pub fn write(doc: &mut Doc, lineage: &Lineage, manifests: &[Manifest], sets: &[DataSet<'_>]) {
    doc.heading(2, "Lineage");
    doc.code_block("text", &tree(lineage, manifests, sets));
    if lineage.steps.is_empty() {
        doc.paragraph(&format!(
            "No `{LINEAGE_FILE}` lies beside the data, so no step of an editor is on record."
        ));
        return;
    }
    let known = |file: &CardFile| lineage.maker_of(&hash(file)).is_some();
    let streams: Vec<&&CardFile> =
        sets.iter().flat_map(|set| &set.files).filter(|f| f.kind == Kind::Stream).collect();
    let strangers: Vec<String> =
        streams.iter().filter(|file| !known(file)).map(|file| code(&file.name)).collect();
    let mut text = format!(
        "What was done to the data is written down in `{LINEAGE_FILE}`, step by step, the oldest first. Hashes are XXH3-128."
    );
    if !streams.is_empty() && strangers.is_empty() {
        text.push_str(" The files of this card are, by their hashes, what the steps wrote.");
    }
    doc.paragraph(&text);
    if !strangers.is_empty() {
        doc.paragraph(&format!(
            "**No step wrote these files as they are: they were changed since, or put there.** {}",
            strangers.join(", ")
        ));
    }
    for (at, step) in lineage.steps.iter().enumerate() {
        self::step(doc, at + 1, step);
    }
}

fn in_out(of: &InOut) -> String {
    format!("{} → {}", grouped(of.input), grouped(of.output))
}

fn step(doc: &mut Doc, number: usize, step: &Step) {
    doc.heading(3, &format!("{number}. {}", code(&format!("manaka {}", step.verb))));
    let options: Vec<String> = (step.options.iter())
        .map(|(name, value)| {
            code(&format!("{name}={}", value.as_str().map_or(value.to_string(), str::to_owned)))
        })
        .collect();
    let options = if options.is_empty() { "none".to_owned() } else { options.join(" ") };
    let mut rows = vec![
        ["by".to_owned(), plain(&step.tool)],
        ["options".to_owned(), options],
        ["records".to_owned(), in_out(&step.records)],
    ];
    rows.extend(step.games.as_ref().map(|games| ["games".to_owned(), in_out(games)]));
    doc.table([("step", Left), ("value", Left)], rows);
    let named = |what: &'static str, counts: &BTreeMap<String, Count>| -> Vec<[String; 5]> {
        (counts.iter())
            .map(|(name, count)| {
                let some = |count: Option<u64>| count.map_or("–".to_owned(), grouped);
                [what.to_owned(), code(name), grouped(count.records), some(count.games), some(count.bytes)]
            })
            .collect()
    };
    let counts =
        [named("dropped", &step.dropped), named("changed", &step.changed), named("refused", &step.refused)]
            .concat();
    if !counts.is_empty() {
        let head = [("what", Left), ("why", Left), ("records", Right), ("games", Right), ("bytes", Right)];
        doc.table(head, counts);
    }
    let files = |what: &'static str, files: &[FileFacts]| -> Vec<[String; 5]> {
        (files.iter())
            .map(|FileFacts { name, bytes, records, xxh3_128, .. }| {
                [what.to_owned(), code(name), grouped(*bytes), grouped(*records), code(xxh3_128)]
            })
            .collect()
    };
    let head = [("files", Left), ("name", Left), ("bytes", Right), ("records", Right), ("XXH3-128", Left)];
    doc.table(head, [files("read", &step.inputs), files("written", &step.outputs)].concat());
}

/// The way from games to these files, with the counts that stand in reports or were measured.
fn tree(lineage: &Lineage, manifests: &[Manifest], sets: &[DataSet<'_>]) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut depth = 0;
    let add = |lines: &mut Vec<String>, depth: usize, text: String| {
        lines.push(match depth {
            0 => text,
            deep => format!("{}└─ {text}", "   ".repeat(deep - 1)),
        });
    };
    for manifest in manifests {
        let (games, positions) = manifest.counts();
        let counts: Vec<String> =
            [games.map(|n| counted(n, "game")), positions.map(|n| counted(n, "position"))]
                .into_iter()
                .flatten()
                .collect();
        let counts = if counts.is_empty() { String::new() } else { format!(": {}", counts.join(", ")) };
        add(&mut lines, 0, format!("{}{counts}", manifest.name()));
        depth = 1;
    }
    for step in &lineage.steps {
        let games =
            step.games.as_ref().map_or(String::new(), |games| format!(", {}", counted(games.output, "game")));
        let InOut { input, output } = step.records;
        let text =
            format!("manaka {}: {} in, {} out{games}", step.verb, counted(input, "record"), grouped(output));
        add(&mut lines, depth, text);
        depth += 1;
    }
    for set in sets {
        let (stat, files) = (&set.stat, set.files.len() as u64);
        let records = stat.totals.records;
        let text = match set.kind {
            Kind::Shard => {
                let folded = set.folded().unwrap_or(records);
                add(&mut lines, depth, format!("{} before the fold", counted(folded, "record")));
                let text = format!("{} in {}", counted(records, "row"), counted(files, "shard"));
                add(&mut lines, depth + 1, format!("{text}   ← these files"));
                continue;
            }
            Kind::Stream => format!("{} in {}", counted(records, "record"), counted(files, "stream")),
            Kind::Corpus => format!("{} in {}", counted(records, "row"), counted(files, "corpus file")),
            Kind::Psv => format!("{} in {}", counted(records, "record"), counted(files, "raw file")),
        };
        add(&mut lines, depth, format!("{text}   ← these files"));
    }
    lines.join("\n")
}
