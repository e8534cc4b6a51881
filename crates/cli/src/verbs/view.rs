//! `manaka view`: records and rows as a person reads them.

use crate::exit::Outcome;
use crate::output::{Format, print, print_json};
use anyhow::Result;
use manaka_inspect::{Notation, Selection, view};
use std::path::PathBuf;

/// Show records of a stream or rows of a shard: the board, and the candidates in USI.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// A stream or a shard.
    #[arg(value_name = "PATH")]
    path: PathBuf,

    /// The first row or record to show, counted from 0.
    #[arg(long, value_name = "N", default_value_t = 0, visible_alias = "record")]
    row: u64,

    /// How many to show.
    #[arg(long, value_name = "N", default_value_t = 1)]
    rows: u64,

    /// Draw boards with the letters of SFEN instead of kanji.
    #[arg(long)]
    ascii: bool,

    /// How to print it.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Runs the verb.
pub fn run(args: Args) -> Result<Outcome> {
    let notation = if args.ascii { Notation::Ascii } else { Notation::Kanji };
    let view = view(&args.path, Selection { start: args.row, count: args.rows }, notation)?;
    match args.format {
        Format::Text => print(view.to_string().trim_end())?,
        Format::Json => print_json(&view)?,
    }
    Ok(Outcome::Done)
}
