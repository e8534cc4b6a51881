//! `manaka check`: judge streams and shards.

use super::Threads;
use crate::exit::Outcome;
use crate::inputs;
use crate::output::{Format, print, print_json};
use crate::progress::Bar;
use anyhow::Result;
use manaka_core::inputs::{PARQUET_SUFFIXES, STREAM_SUFFIXES};
use manaka_inspect::{CheckOptions, check};
use std::path::PathBuf;

/// Check streams and shards: every rule, every position, every candidate, the shuffle.
///
/// Exits with 3 when there is a finding. Notes, such as too few rows to judge the shuffle by, are none.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Streams and shards: files, directories or globs.
    #[arg(required = true, value_name = "PATHS")]
    paths: Vec<PathBuf>,

    /// How many findings to list one by one; all are counted.
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,

    #[command(flatten)]
    threads: Threads,

    /// How to print the report.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Runs the verb.
pub fn run(args: Args) -> Result<Outcome> {
    let suffixes = [STREAM_SUFFIXES, PARQUET_SUFFIXES].concat();
    let files = inputs::files(&args.paths, &suffixes)?;
    let bar = Bar::new("check");
    let options = CheckOptions { threads: args.threads.get(), limit: args.limit };
    let result = check(&files, &options, &bar);
    bar.finish();
    let report = result?;
    match args.format {
        Format::Text => print(report.to_string().trim_end())?,
        Format::Json => print_json(&report)?,
    }
    Ok(Outcome::findings(report.has_findings()))
}
