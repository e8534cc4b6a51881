//! `manaka teacher`: corpus parquet to MPK1 streams.

use super::Threads;
use crate::exit::{Outcome, Usage};
use crate::inputs;
use crate::output::{Format, print, print_json};
use crate::progress::Bar;
use anyhow::Result;
use manaka_core::Conventions;
use manaka_core::conventions::{DEFAULT_EVAL_COEF, DEFAULT_MATE_SCALE};
use manaka_core::inputs::PARQUET_SUFFIXES;
use manaka_core::out_dir;
use manaka_core::stream::{Compression, PartsOptions};
use manaka_teacher::{OffSearch, Options, Report, Strictness, convert};
use std::num::NonZeroU64;
use std::path::PathBuf;

/// Convert a corpus of searched positions (parquet) into MPK1 streams.
///
/// The conventions below cannot be read off the data and are not guessed: state what the generator did. They are written
/// into every header and travel from there into every shard.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Corpus files (.parquet): files, directories or globs.
    #[arg(required = true, value_name = "CORPUS")]
    corpus: Vec<PathBuf>,

    /// Directory for the parts; created, or empty.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,

    /// The centipawn value that mates are folded to; 0 when the scores hold no mates.
    #[arg(long, value_name = "CP", default_value_t = DEFAULT_MATE_SCALE, help_heading = "Conventions")]
    mate_scale: u16,

    /// How far below the mate scale mates reach; 0 leaves it unstated, and readers use 320.
    #[arg(long, value_name = "CP", default_value_t = 0, help_heading = "Conventions")]
    mate_slack: u16,

    /// The FV_SCALE the generating engine's evaluation was read at; 0 when nobody can say.
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Conventions")]
    fv_scale: u16,

    /// The centipawn scale of the tanh that makes value_q from the root score.
    #[arg(long, value_name = "CP", default_value_t = DEFAULT_EVAL_COEF, help_heading = "Conventions")]
    eval_coef: f32,

    /// Prove every candidate legal on the rebuilt board (the default).
    #[arg(long, overrides_with = "no_strict")]
    strict: bool,

    /// Check structure and syntax only; no board.
    #[arg(long)]
    no_strict: bool,

    /// Keep a row whose played move is not among the candidates, without an outcome, instead of refusing it; parts that
    /// hold one are MPK1 version 3.
    #[arg(long)]
    keep_off_search: bool,

    /// Records in every part but the last.
    #[arg(long, value_name = "N", default_value_t = PartsOptions::DEFAULT_RECORDS_PER_PART)]
    records_per_part: NonZeroU64,

    /// How parts are compressed.
    #[arg(long, value_enum, num_args = 0..=1, default_value = "zstd", default_missing_value = "zstd")]
    compress: Compress,

    /// The zstd level of compressed parts.
    #[arg(long, value_name = "N", default_value_t = Options::DEFAULT_ZSTD_LEVEL, value_parser = clap::value_parser!(i32).range(1..=19))]
    level: i32,

    /// List every refused row in this file (tab-separated: file, row, reason, detail).
    #[arg(long, value_name = "FILE")]
    rejects: Option<PathBuf>,

    #[command(flatten)]
    threads: Threads,

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

/// Runs the verb.
pub fn run(args: Args) -> Result<Outcome> {
    let conventions = Conventions {
        mate_scale: args.mate_scale,
        mate_slack: args.mate_slack,
        fv_scale: args.fv_scale,
        eval_coef: args.eval_coef,
        ..Conventions::TEACHER
    };
    if let Some(inconsistency) = conventions.inconsistency() {
        return Err(Usage(inconsistency.to_string()).into());
    }
    if conventions.eval_coef == 0.0 {
        return Err(Usage("--eval-coef 0: value_q needs a positive scale".to_owned()).into());
    }
    let options = Options {
        parts: PartsOptions {
            conventions,
            records_per_part: args.records_per_part,
            compression: match args.compress {
                Compress::Zstd => Compression::Zstd { level: args.level },
                Compress::None => Compression::None,
            },
        },
        strictness: if args.no_strict { Strictness::Lenient } else { Strictness::Strict },
        off_search: if args.keep_off_search { OffSearch::Keep } else { OffSearch::Refuse },
        threads: args.threads.get(),
        rejects: args.rejects,
    };
    let files = inputs::files(&args.corpus, PARQUET_SUFFIXES)?;
    out_dir::create_empty(&args.out)?;
    let bar = Bar::new("teacher");
    let result = convert(&files, &args.out, &options, &bar);
    bar.finish();
    let report = result?;
    match args.format {
        Format::Text => print(text(&report, &conventions))?,
        Format::Json => print_json(&report.stating(&conventions))?,
    }
    if report.beyond_mate_scale > 0 {
        // A judgement of the data is `check`'s; here it is only said, while the flags are still at hand.
        eprintln!(
            "manaka: warning: {} records hold a |cp| above the mate scale of {}: is --mate-scale what the generator used?",
            report.beyond_mate_scale, conventions.mate_scale
        );
    }
    Ok(Outcome::findings(report.rejected.total() > 0))
}

fn text(report: &Report, c: &Conventions) -> String {
    let mut text = report.to_string();
    text.push_str(&format!(
        "\n  stated: pov {}, policy_source {}, mate_scale {}, mate_slack {}, fv_scale {}, eval_coef {}",
        c.pov.id(),
        c.policy_source.id(),
        c.mate_scale,
        c.mate_slack,
        c.fv_scale,
        c.eval_coef
    ));
    if let Some(threshold) = c.mate_threshold() {
        text.push_str(&format!("\n  mates (|cp| >= {threshold}): {} records", report.mates));
    }
    for path in &report.parts.paths {
        text.push_str(&format!("\n  {}", path.display()));
    }
    if report.rejected.total() > 0 {
        text.push_str(&format!(
            "\n{} rows refused, for the reasons counted above; --rejects FILE lists them",
            report.rejected.total()
        ));
    }
    text
}
