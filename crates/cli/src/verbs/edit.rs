//! `manaka edit`: split, merge, filter, rotate, set-header, repair; and what they share with `cut`.

use super::conditions::Conditions;
use crate::exit::{Outcome, Usage};
use crate::inputs;
use crate::output::{Format, print, print_json};
use crate::progress::Bar;
use anyhow::Result;
use manaka_core::inputs::STREAM_SUFFIXES;
use manaka_core::stream::Compression;
use manaka_edit::lineage::LINEAGE_FILE;
use manaka_edit::{
    Error, FilterOptions, Job, OutputOptions, Report, SetHeaderOptions, SplitBy, SplitOptions, Take, filter,
    merge, repair, rotate, set_header, split,
};
use std::num::NonZeroU64;
use std::path::PathBuf;

/// Edit streams: new parts in a directory of their own, and LINEAGE.json beside them that tells what was done.
///
/// Nothing is changed in place. The parts are read in order as one logical stream.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(subcommand)]
    edit: Edit,
}

#[derive(clap::Subcommand, Debug)]
enum Edit {
    Split(SplitArgs),
    Merge(MergeArgs),
    Filter(Box<FilterArgs>),
    Rotate(RotateArgs),
    SetHeader(SetHeaderArgs),
    Repair(RepairArgs),
}

/// Where an edit writes to, and how.
#[derive(clap::Args, Debug)]
pub struct Streams {
    /// Directory for the parts; created, or empty.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,

    /// Records in every part but the last; without it a part is written for each input.
    #[arg(long, value_name = "N")]
    records_per_part: Option<NonZeroU64>,

    /// How parts are compressed; as the first input is, unless given.
    #[arg(long, value_enum)]
    compress: Option<Compress>,

    /// The zstd level of compressed parts.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(i32).range(1..=19))]
    level: i32,

    /// How to print the report.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum Compress {
    /// .mpk.zst, with a checksum
    Zstd,
    /// .mpk, as it is
    None,
}

impl Streams {
    /// The options of the output.
    pub fn options(&self) -> OutputOptions {
        let compression = self.compress.map(|how| match how {
            Compress::Zstd => Compression::Zstd { level: self.level },
            Compress::None => Compression::None,
        });
        OutputOptions { records_per_part: self.records_per_part, compression }
    }
}

/// Cut a set into parts, or into a training and a validation set by a draw of whole games.
#[derive(clap::Args, Debug)]
struct SplitArgs {
    /// Streams (.mpk, .mpk.zst): files, directories or globs.
    #[arg(required = true, value_name = "STREAMS")]
    streams: Vec<PathBuf>,

    #[command(flatten)]
    by: SplitByArgs,

    /// What the draws follow from; the same seed draws the same games.
    #[arg(long, value_name = "N", default_value_t = 0, requires = "validation")]
    seed: u64,

    /// Let parts end only where games do: with --records a part goes on to the end of its last game.
    #[arg(long)]
    whole_games: bool,

    #[command(flatten)]
    output: Streams,
}

#[derive(clap::Args, Debug)]
#[group(required = true, multiple = false)]
struct SplitByArgs {
    /// Into so many parts, as equal as can be.
    #[arg(long, value_name = "N")]
    parts: Option<NonZeroU64>,

    /// Into parts of so many records.
    #[arg(long, value_name = "N")]
    records: Option<NonZeroU64>,

    /// Into parts of so many games.
    #[arg(long, value_name = "N")]
    games: Option<NonZeroU64>,

    /// Into DIR/train and DIR/validation, which gets about this share of the games, each drawn whole.
    #[arg(long, value_name = "SHARE")]
    validation: Option<f64>,
}

/// Join parts into larger ones; headers must agree.
#[derive(clap::Args, Debug)]
struct MergeArgs {
    /// Streams (.mpk, .mpk.zst): files, directories or globs.
    #[arg(required = true, value_name = "STREAMS")]
    streams: Vec<PathBuf>,

    #[command(flatten)]
    output: Streams,
}

/// Keep the records, or the whole games, that meet conditions.
#[derive(clap::Args, Debug)]
struct FilterArgs {
    /// Streams (.mpk, .mpk.zst): files, directories or globs.
    #[arg(required = true, value_name = "STREAMS")]
    streams: Vec<PathBuf>,

    #[command(flatten)]
    conditions: Conditions,

    /// Take whole games: those with any record that meets the conditions, or those of which all records do.
    #[arg(long, value_enum, value_name = "WHICH")]
    games: Option<GamesArg>,

    /// Leave what would be taken, and take the rest.
    #[arg(long)]
    invert: bool,

    #[command(flatten)]
    output: Streams,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum GamesArg {
    /// some record meets the conditions
    Any,
    /// every record meets them
    All,
}

/// Turn every record into its colour-flip twin: board, hands, side to move and moves; numbers keep the view they are in.
#[derive(clap::Args, Debug)]
struct RotateArgs {
    /// Streams (.mpk, .mpk.zst): files, directories or globs.
    #[arg(required = true, value_name = "STREAMS")]
    streams: Vec<PathBuf>,

    #[command(flatten)]
    output: Streams,
}

/// State a convention that the headers left unsaid, as version 1 streams do. What is stated is never changed.
#[derive(clap::Args, Debug)]
struct SetHeaderArgs {
    /// Streams (.mpk, .mpk.zst): files, directories or globs.
    #[arg(required = true, value_name = "STREAMS")]
    streams: Vec<PathBuf>,

    /// The FV_SCALE the generating engine's evaluation was read at.
    #[arg(long, value_name = "N")]
    fv_scale: Option<u16>,

    /// How far below the mate scale mates reach.
    #[arg(long, value_name = "CP")]
    mate_slack: Option<u16>,

    #[command(flatten)]
    output: Streams,
}

/// Keep torn streams up to their last whole record, and say what was lost.
///
/// Exits with 3 when a file was torn.
#[derive(clap::Args, Debug)]
struct RepairArgs {
    /// Streams (.mpk, .mpk.zst): files, directories or globs.
    #[arg(required = true, value_name = "STREAMS")]
    streams: Vec<PathBuf>,

    #[command(flatten)]
    output: Streams,
}

/// Runs the verb.
pub fn run(args: Args) -> Result<Outcome> {
    match args.edit {
        Edit::Split(args) => {
            let SplitByArgs { parts, records, games, validation } = args.by;
            let by = match (parts, records, games, validation) {
                (Some(n), ..) => SplitBy::Parts(n),
                (_, Some(n), ..) => SplitBy::Records(n),
                (_, _, Some(n), _) => SplitBy::Games(n),
                (_, _, _, Some(share)) => SplitBy::Validation { share, seed: args.seed },
                _ => return Err(Usage("say where to split".to_owned()).into()),
            };
            let options = SplitOptions { by, whole_games: args.whole_games, output: args.output.options() };
            conclude(&args.streams, &args.output, &Bar::new("edit split"), |job| split(job, &options))
        }
        Edit::Merge(args) => {
            let options = args.output.options();
            conclude(&args.streams, &args.output, &Bar::new("edit merge"), |job| merge(job, &options))
        }
        Edit::Filter(args) => {
            let options = FilterOptions {
                select: args.conditions.select()?,
                take: match args.games {
                    None => Take::Records,
                    Some(GamesArg::Any) => Take::GamesWithAny,
                    Some(GamesArg::All) => Take::GamesWithAll,
                },
                invert: args.invert,
                output: args.output.options(),
                ..FilterOptions::default()
            };
            conclude(&args.streams, &args.output, &Bar::new("edit filter"), |job| filter(job, &options))
        }
        Edit::Rotate(args) => {
            let options = args.output.options();
            conclude(&args.streams, &args.output, &Bar::new("edit rotate"), |job| rotate(job, &options))
        }
        Edit::SetHeader(args) => {
            let options = SetHeaderOptions {
                fv_scale: args.fv_scale,
                mate_slack: args.mate_slack,
                output: args.output.options(),
            };
            conclude(&args.streams, &args.output, &Bar::new("edit set-header"), |job| {
                set_header(job, &options)
            })
        }
        Edit::Repair(args) => {
            let options = args.output.options();
            conclude(&args.streams, &args.output, &Bar::new("edit repair"), |job| repair(job, &options))
        }
    }
}

/// Resolves the inputs, runs an edit and prints its report.
pub fn conclude(
    streams: &[PathBuf],
    output: &Streams,
    bar: &Bar,
    edit: impl FnOnce(Job<'_>) -> Result<Report, Error>,
) -> Result<Outcome> {
    let files = inputs::files(streams, STREAM_SUFFIXES)?;
    let result = edit(Job { inputs: &files, out: &output.out, progress: bar });
    bar.finish();
    let report = result.map_err(|error| {
        if error.is_usage() { Usage(error.to_string()).into() } else { anyhow::Error::from(error) }
    })?;
    for name in &report.unlisted {
        eprintln!(
            "manaka: warning: {name}: no step of the {LINEAGE_FILE} beside it wrote this file; it was changed since, or put there"
        );
    }
    match output.format {
        Format::Text => print(&report)?,
        Format::Json => print_json(&report)?,
    }
    Ok(Outcome::findings(report.has_findings()))
}
