//! `manaka cat`: records and rows as lines of text.

use super::conditions::Conditions;
use super::raw::RawLayout;
use crate::exit::{Outcome, Usage};
use crate::inputs;
use crate::output::grouped;
use crate::progress::Watch;
use anyhow::{Result, anyhow};
use manaka_core::inputs::{PARQUET_SUFFIXES, PSV_SUFFIXES, STREAM_SUFFIXES};
use manaka_inspect::{CatOptions, Error, Extent, LineFormat, cat};
use std::io::{self, IsTerminal};
use std::path::PathBuf;

/// Print records or rows as lines: JSON or tab-separated.
///
/// Streams, shards, corpus parquet or raw PSV, read once from their beginning; files of one kind, taken as one set in the
/// order given.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Streams, shards, corpora or raw PSV: files, directories or globs.
    #[arg(required = true, value_name = "PATHS")]
    paths: Vec<PathBuf>,

    /// How lines are written.
    #[arg(long, value_enum, default_value_t)]
    format: Lines,

    /// Print the first N that meet the conditions.
    #[arg(long, value_name = "N")]
    head: Option<u64>,

    /// Pass over the first N that meet the conditions.
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip: u64,

    /// Print N of those that meet the conditions, each as likely as any other, in their order.
    #[arg(long, value_name = "N", conflicts_with_all = ["head", "skip"])]
    sample: Option<usize>,

    /// Another seed gives another sample.
    #[arg(long, value_name = "SEED", default_value_t = 0, requires = "sample")]
    seed: u64,

    /// Begin each line with the name of its file.
    #[arg(long)]
    with_path: bool,

    #[command(flatten)]
    conditions: Conditions,

    #[command(flatten)]
    raw: RawLayout,
}

/// How lines are written.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Lines {
    /// One JSON object a line.
    #[default]
    Jsonl,
    /// Tab-separated values under a header line.
    Tsv,
}

/// Runs the verb.
pub fn run(args: Args) -> Result<Outcome> {
    let options = CatOptions {
        select: args.conditions.select()?,
        extent: match args.sample {
            Some(count) => Extent::Sample { count, seed: args.seed },
            None => Extent::Run { skip: args.skip, head: args.head.unwrap_or(u64::MAX) },
        },
        format: match args.format {
            Lines::Jsonl => LineFormat::Jsonl,
            Lines::Tsv => LineFormat::Tsv,
        },
        paths: args.with_path,
        unbuffered: io::stdout().is_terminal(),
        psv: args.raw.options(),
    };
    let suffixes = [STREAM_SUFFIXES, PARQUET_SUFFIXES, PSV_SUFFIXES].concat();
    let files = inputs::files(&args.paths, &suffixes)?;
    let summary = match cat(&files, &options, &mut io::stdout().lock(), &Watch) {
        // Whoever read has seen enough.
        Err(Error::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(Outcome::Done),
        Err(Error::Output(error)) => return Err(anyhow!(error).context("stdout")),
        Err(error @ Error::Select { .. }) => return Err(Usage(error.to_string()).into()),
        result => result?,
    };
    for (reason, count) in &summary.refused {
        eprintln!("manaka: not printed: {} {reason}", grouped(*count));
    }
    if let Some((path, number)) = &summary.first_refused {
        eprintln!("manaka: the first of them is row {number} of {}", path.display());
    }
    Ok(Outcome::findings(!summary.refused.is_empty()))
}
