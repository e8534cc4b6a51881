//! `manaka info`: what files state about themselves.

use crate::exit::Outcome;
use crate::inputs;
use crate::output::{Format, print, print_json};
use anyhow::Result;
use manaka_core::inputs::{PARQUET_SUFFIXES, PSV_SUFFIXES, STREAM_SUFFIXES};
use manaka_inspect::info;
use std::path::PathBuf;

/// Print what files state about themselves: stream headers, shard and corpus footers, the layout of raw PSV.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Streams, shards, corpora or raw PSV: files, directories or globs.
    #[arg(required = true, value_name = "PATHS")]
    paths: Vec<PathBuf>,

    /// How to print it.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Runs the verb.
pub fn run(args: Args) -> Result<Outcome> {
    let suffixes = [STREAM_SUFFIXES, PARQUET_SUFFIXES, PSV_SUFFIXES].concat();
    let infos = inputs::files(&args.paths, &suffixes)?
        .iter()
        .map(|path| info(path))
        .collect::<Result<Vec<_>, _>>()?;
    match args.format {
        Format::Text => {
            let texts: Vec<String> =
                infos.iter().map(|info| info.to_string().trim_end().to_owned()).collect();
            print(texts.join("\n\n"))?;
        }
        Format::Json => print_json(&infos)?,
    }
    Ok(Outcome::Done)
}
