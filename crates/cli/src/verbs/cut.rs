//! `manaka cut`: games ended at a ply, unfinished ones taken out.

use super::edit::{Streams, conclude};
use crate::exit::Outcome;
use crate::progress::Bar;
use anyhow::Result;
use manaka_edit::{CutOptions, Relabel, Unfinished, cut};
use std::path::PathBuf;

/// End games at a ply, and take out those that were never finished.
///
/// The parts are read in order as one logical stream: a game may straddle them. A ply that does not increase opens a
/// game, so the records must be in game order. What was done is counted in the report and in LINEAGE.json.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Streams (.mpk, .mpk.zst): files, directories or globs.
    #[arg(required = true, value_name = "STREAMS")]
    streams: Vec<PathBuf>,

    /// Drop every record above this ply.
    #[arg(long, value_name = "PLY", requires = "relabel_cut")]
    max_ply: Option<u16>,

    /// What becomes of the outcome of a game with a record at that ply or above: its end is not in the file any more.
    #[arg(long, value_enum, value_name = "HOW", requires = "max_ply")]
    relabel_cut: Option<RelabelArg>,

    /// Take out whole games that end below that ply and have no outcome: drawn ones too, for generators that know no
    /// draw and write 0 where they stopped; or `unstated` for those alone that state none.
    #[arg(long, value_enum, value_name = "WHICH", num_args = 0..=1, require_equals = true, default_missing_value = "drawn")]
    drop_unfinished: Option<UnfinishedArg>,

    #[command(flatten)]
    output: Streams,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum RelabelArg {
    /// a draw in every record of the game
    Draw,
    /// none: the streams become version 3
    Unknown,
    /// what it was
    Keep,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum UnfinishedArg {
    /// no record is won or lost
    Drawn,
    /// no record states an outcome
    Unstated,
}

/// Runs the verb.
pub fn run(args: Args) -> Result<Outcome> {
    let options = CutOptions {
        max_ply: args.max_ply,
        relabel: args.relabel_cut.map(|how| match how {
            RelabelArg::Draw => Relabel::Draw,
            RelabelArg::Unknown => Relabel::Unknown,
            RelabelArg::Keep => Relabel::Keep,
        }),
        drop_unfinished: args.drop_unfinished.map(|which| match which {
            UnfinishedArg::Drawn => Unfinished::Drawn,
            UnfinishedArg::Unstated => Unfinished::Unstated,
        }),
        output: args.output.options(),
        ..CutOptions::default()
    };
    let bar = Bar::new("cut");
    conclude(&args.streams, &args.output, &bar, |job| cut(job, &options))
}
