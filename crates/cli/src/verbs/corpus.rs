//! `manaka corpus`: raw PackedSfenValue records to corpus parquet.

use super::Threads;
use crate::exit::{Outcome, Usage};
use crate::inputs;
use crate::output::{Format, print, print_json, refused_at};
use crate::progress::Bar;
use anyhow::Result;
use manaka_core::inputs::PSV_SUFFIXES;
use manaka_core::out_dir;
use manaka_corpus::psv::{LayoutText, MoveLayout};
use manaka_corpus::{MateFold, PsvOptions, Report, from_psv};
use std::fmt::Write;
use std::num::NonZeroU64;
use std::path::PathBuf;

/// Convert raw PSV records (40 bytes, or the MultiPV form) into corpus parquet.
///
/// The length of a record and the layout of its moves are found out in a sample, by what decodes and what is legal;
/// what is ambiguous or mixed is refused with the counts. Scores stay as they are unless --mate-scale is given.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Raw files (.psv, .bin): files, directories or globs.
    #[arg(required = true, value_name = "RAW")]
    raw: Vec<PathBuf>,

    /// Directory for the corpus; created, or empty.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,

    /// How moves lie in their 16 bits: yaneuraou, apery or manaka; found out unless given.
    #[arg(long, value_name = "LAYOUT")]
    move16: Option<MoveLayout>,

    /// Slots for candidates in a record, 0 for the plain 40 bytes; found out unless given.
    #[arg(long, value_name = "N")]
    candidates: Option<u16>,

    /// How candidates are laid out: move-score, score-move, moves-scores or scores-moves; with ",implied" behind it the
    /// first candidate has no slot of its own.
    #[arg(long, value_name = "LAYOUT", default_value_t)]
    layout: LayoutText,

    /// Fold the engine's mates to this scale and clamp ordinary scores under it; scores are untouched unless given.
    #[arg(long, value_name = "CP", num_args = 0..=1, default_missing_value = "30000", help_heading = "Mate scale")]
    mate_scale: Option<u16>,

    /// The slack of the new scale; 0 means 320.
    #[arg(
        long,
        value_name = "CP",
        default_value_t = 0,
        requires = "mate_scale",
        help_heading = "Mate scale"
    )]
    mate_slack: u16,

    /// The scale that the engine kept its mates on.
    #[arg(
        long, value_name = "CP", default_value_t = MateFold::DEFAULT_ENGINE_SCALE, requires = "mate_scale",
        help_heading = "Mate scale"
    )]
    engine_mate_scale: u16,

    /// How far below it the engine's mates reach.
    #[arg(
        long, value_name = "CP", default_value_t = MateFold::DEFAULT_ENGINE_SLACK, requires = "mate_scale",
        help_heading = "Mate scale"
    )]
    engine_mate_slack: u16,

    /// Raw records that make one file.
    #[arg(long, value_name = "N", default_value_t = PsvOptions::DEFAULT_ROWS_PER_FILE)]
    rows_per_file: NonZeroU64,

    #[command(flatten)]
    threads: Threads,

    /// How to print the report.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Runs the verb.
pub fn run(args: Args) -> Result<Outcome> {
    let fold = |scale| {
        MateFold::new((args.engine_mate_scale, args.engine_mate_slack), (scale, args.mate_slack))
            .map_err(|error| Usage(error.to_string()))
    };
    let options = PsvOptions {
        moves: args.move16,
        candidates: args.candidates,
        layout: args.layout,
        mates: args.mate_scale.map(fold).transpose()?,
        rows_per_file: args.rows_per_file,
        threads: args.threads.get(),
    };
    let files = inputs::files(&args.raw, PSV_SUFFIXES)?;
    out_dir::create_empty(&args.out)?;
    let bar = Bar::new("corpus");
    let result = from_psv(&files, &args.out, &options, &bar);
    bar.finish();
    let report = result?;
    match args.format {
        Format::Text => print(text(&report).trim_end())?,
        Format::Json => print_json(&report)?,
    }
    Ok(Outcome::findings(report.has_findings()))
}

fn text(report: &Report) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "{} records read, {} rows written, {} refused",
        report.records,
        report.rows,
        report.refused_total()
    );
    let _ = writeln!(
        out,
        "  {} games; records of {} bytes, {} candidates, moves in the {} layout",
        report.games,
        report.layout.record_len(),
        report.layout.candidates,
        report.layout.moves
    );
    let _ = writeln!(out, "  sample: {}", report.tally);
    if report.unlisted > 0 {
        let _ = writeln!(out, "  {} rows whose played move is not among their candidates", report.unlisted);
    }
    if report.mates_folded + report.scores_clamped > 0 {
        let (mates, clamped) = (report.mates_folded, report.scores_clamped);
        let _ = writeln!(out, "  {mates} mate scores folded, {clamped} ordinary scores clamped");
    }
    for file in &report.files {
        let _ = writeln!(out, "  {}: {} rows, {} bytes", file.path.display(), file.rows, file.bytes);
    }
    for refused in &report.refused_first {
        let place = refused_at(&refused.path, refused.record, refused.offset);
        let _ = writeln!(out, "  {place}: {}: {}", refused.reason.id(), refused.detail);
    }
    for torn in &report.torn {
        let _ = writeln!(
            out,
            "{}: truncated: {} bytes behind the last whole record, at byte {}",
            torn.path.display(),
            torn.bytes,
            torn.offset
        );
    }
    if report.refused_total() > 0 {
        let counts: Vec<String> =
            report.refused.iter().map(|(reason, n)| format!("{}={n}", reason.id())).collect();
        let _ = writeln!(out, "{} records refused: {}", report.refused_total(), counts.join("  "));
    }
    out
}
