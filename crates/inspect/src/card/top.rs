//! The top of a card: the title, what the data is, the files.

use super::markdown::{Doc, Left, Right, blank, code, counted, figure, grouped, plain};
use super::{CardOptions, DataSet, lineage};
use crate::sniff::Kind;
use crate::stat::Stat;

/// The title and what the data is.
pub fn head(doc: &mut Doc, options: &CardOptions, sets: &[DataSet<'_>]) {
    let name = options.name.as_deref().map_or_else(|| blank("the name of the dataset"), plain);
    doc.heading(1, &name);
    for set in sets {
        doc.paragraph(&what(set));
    }
    doc.paragraph(
        "Every number of this card was measured over its files, or read from them and from the reports beside them, by \
         `manaka card`; none was typed. What is known to people only is marked `TO BE FILLED IN` until one of them tells.",
    );
    let alarms: Vec<String> =
        sets.iter().flat_map(|set| &set.stat.alarms).map(|alarm| code(alarm.id)).collect();
    if !alarms.is_empty() {
        doc.paragraph(&format!(
            "> **{} went off** over this data: {}. The tables below say why.",
            counted(alarms.len() as u64, "alarm"),
            alarms.join(", ")
        ));
    }
}

/// What a set is, in a few sentences with its main figures.
fn what(set: &DataSet<'_>) -> String {
    let Stat { totals, games, stated, .. } = &set.stat;
    let per = totals.bytes_per_record.map_or(String::new(), |per| format!(", {} each", figure(per, 2)));
    let files = counted(set.files.len() as u64, set.noun());
    let place = format!("{files} ({} bytes{per})", grouped(totals.bytes));
    let games = games.as_ref().map_or(String::new(), |games| format!(" of {}", counted(games.games, "game")));
    let records = totals.records;
    let policy = match stated.as_ref().map(|stated| stated.policy_source) {
        Some("visits") => "visit counts of a tree search",
        _ => "the scores of a MultiPV search",
    };
    match set.kind {
        Kind::Shard => {
            let folded = set.folded().unwrap_or(records);
            format!(
                "Shogi training positions for neural networks: **{}** in {place}. A row is one position and stands for every \
                 search of it; {} were folded into these rows. Its policy comes from {policy}, its value from the root.",
                counted(records, "row"),
                counted(folded, "record"),
            )
        }
        Kind::Stream => format!(
            "Shogi positions as a search left them: **{}**{games} in {place}, one record a searched position. Positions \
             that come again are not folded. Candidates carry {policy}, unnormalised.",
            counted(records, "record"),
        ),
        Kind::Corpus => format!(
            "Shogi games as a generator observed them: **{}**{games} in {place}, one row a searched position, with the \
             moves of a MultiPV search and their scores.",
            counted(records, "row"),
        ),
        Kind::Psv => format!(
            "Shogi games as raw PackedSfenValue records: **{}**{games} in {place}, one record a searched position.",
            counted(records, "record"),
        ),
    }
}

/// The files with their hashes.
pub fn files(doc: &mut Doc, sets: &[DataSet<'_>]) {
    doc.heading(2, "Files");
    let mut rows: Vec<[String; 5]> = Vec::new();
    for set in sets {
        for (file, part) in set.files.iter().zip(&set.stat.parts) {
            rows.push([
                code(&file.name),
                set.noun().to_owned(),
                grouped(file.bytes),
                format!("{} {}", grouped(part.records), set.stat.unit()),
                code(&lineage::hash(file)),
            ]);
        }
        if set.files.len() > 1 {
            let totals = &set.stat.totals;
            rows.push([
                "**all**".to_owned(),
                counted(totals.files, set.noun()),
                grouped(totals.bytes),
                format!("{} {}", grouped(totals.records), set.stat.unit()),
                String::new(),
            ]);
        }
    }
    doc.table([("file", Left), ("kind", Left), ("bytes", Right), ("holds", Right), ("XXH3-128", Left)], rows);
    doc.paragraph("Hashes are those that `xxhsum -H2` prints.");
}
