//! `manaka card`: the card a dataset is published with.

use super::Threads;
use crate::exit::{Outcome, Usage};
use crate::inputs;
use crate::output::print;
use crate::progress::Bar;
use anyhow::Result;
use manaka_core::inputs::{PARQUET_SUFFIXES, PSV_SUFFIXES, STREAM_SUFFIXES};
use manaka_corpus::PsvOptions;
use manaka_corpus::psv::{LayoutText, MoveLayout};
use manaka_inspect::{Card, CardOptions, Replace, card};
use std::io::Write;
use std::path::PathBuf;

/// Write the card of a dataset: Markdown with the front matter of the hubs, every number measured.
///
/// Shards, streams, corpus parquet or raw PSV; several kinds make one card with a chapter each. Settings come from
/// gensfen.json or selfplay.json, steps from LINEAGE.json, where they lie beside the data; what cannot be measured is left as
/// a marked blank. The same files give the same text. Exits with 3 when an alarm went off.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Shards, streams, corpora or raw PSV: files, directories or globs.
    #[arg(required = true, value_name = "PATHS")]
    paths: Vec<PathBuf>,

    /// Where to write it; stdout unless given, or `-`. Files are called by their paths from its directory.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Replace a file that is no card, or one that was changed by hand. A card as it was written is always replaced.
    #[arg(long, requires = "out")]
    force: bool,

    /// What the dataset is called.
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,

    /// Its license, by the name that hubs know it by, for example cc0-1.0.
    #[arg(long, value_name = "ID")]
    license: Option<String>,

    /// How moves of raw PSV lie in their 16 bits: yaneuraou, apery or manaka; found out unless given.
    #[arg(long, value_name = "LAYOUT", help_heading = "Raw PSV")]
    move16: Option<MoveLayout>,

    /// Slots for candidates in a raw record, 0 for the plain 40 bytes; found out unless given.
    #[arg(long, value_name = "N", help_heading = "Raw PSV")]
    candidates: Option<u16>,

    /// How candidates of raw records are laid out, as in `manaka corpus`.
    #[arg(long, value_name = "LAYOUT", default_value_t, help_heading = "Raw PSV")]
    layout: LayoutText,

    #[command(flatten)]
    threads: Threads,
}

/// Runs the verb.
pub fn run(args: Args) -> Result<Outcome> {
    let out = args.out.filter(|path| path.as_os_str() != "-");
    for (option, text) in [("--name", &args.name), ("--license", &args.license)] {
        if text.as_ref().is_some_and(|text| text.trim().is_empty()) {
            return Err(Usage(format!("{option}: an empty text")).into());
        }
    }
    let suffixes = [STREAM_SUFFIXES, PARQUET_SUFFIXES, PSV_SUFFIXES].concat();
    let files = inputs::files(&args.paths, &suffixes)?;
    // Before the long work: a card that cannot be written is known at once.
    let replace = if args.force { Replace::Anything } else { Replace::Untouched };
    let page = out.as_deref().map(|path| Card::claim(path, replace)).transpose()?;
    let psv = PsvOptions {
        moves: args.move16,
        candidates: args.candidates,
        layout: args.layout,
        ..PsvOptions::default()
    };
    let options = CardOptions {
        threads: args.threads.get(),
        psv,
        name: args.name,
        license: args.license,
        root: out.as_deref().map(CardOptions::root_of),
    };
    let bar = Bar::new("card");
    let result = card(&files, &options, &bar);
    bar.finish();
    let card = result?;
    match page {
        Some(mut page) => {
            page.write_all(card.to_string().as_bytes())?;
            page.commit()?;
        }
        None => print(card.to_string().trim_end_matches('\n'))?,
    }
    let alarms = card.alarms().len();
    for alarm in card.alarms() {
        eprintln!("manaka: alarm {}: {}", alarm.id, alarm.message);
    }
    Ok(Outcome::findings(alarms > 0))
}
