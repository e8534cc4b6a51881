//! `manaka stat`: measure a set of data.

use super::Threads;
use super::raw::RawLayout;
use crate::exit::Outcome;
use crate::inputs;
use crate::output::{Format, print, print_json};
use crate::progress::Bar;
use anyhow::Result;
use manaka_core::inputs::{PARQUET_SUFFIXES, PSV_SUFFIXES, STREAM_SUFFIXES};
use manaka_core::whole_file::{Existing, WholeFile};
use manaka_inspect::{StatOptions, stat};
use std::io::Write;
use std::path::PathBuf;

/// Measure a set of data: games, plies, outcomes, candidates, scores, calibration, board, duplicates; and alarms.
///
/// Streams, shards, corpus parquet or raw PSV, read once; files of one kind, taken as one set in the order given. Exits
/// with 3 when an alarm went off.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Streams, shards, corpora or raw PSV: files, directories or globs.
    #[arg(required = true, value_name = "PATHS")]
    paths: Vec<PathBuf>,

    /// Also write the figures as a page with plots: one file that needs no other.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    #[command(flatten)]
    raw: RawLayout,

    #[command(flatten)]
    threads: Threads,

    /// How to print the report.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Runs the verb.
pub fn run(args: Args) -> Result<Outcome> {
    let suffixes = [STREAM_SUFFIXES, PARQUET_SUFFIXES, PSV_SUFFIXES].concat();
    let files = inputs::files(&args.paths, &suffixes)?;
    // Before the long work: a page that cannot be written is known at once.
    let page = args.html.as_deref().map(|path| WholeFile::create(path, Existing::Replace)).transpose()?;
    let psv = args.raw.options();
    let bar = Bar::new("stat");
    let result = stat(&files, &StatOptions { threads: args.threads.get(), psv }, &bar);
    bar.finish();
    let report = result?;
    if let Some(mut page) = page {
        page.write_all(report.html().as_bytes())?;
        page.commit()?;
    }
    match args.format {
        Format::Text => print(report.to_string().trim_end())?,
        Format::Json => print_json(&report)?,
    }
    Ok(Outcome::findings(!report.ok))
}
