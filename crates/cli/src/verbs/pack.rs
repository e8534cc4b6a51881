//! `manaka pack`: streams to shards.

use super::Threads;
use crate::exit::{Outcome, Usage};
use crate::inputs;
use crate::output::{Format, grouped, parse_bytes, print, print_json, refused_at};
use crate::progress::Bar;
use anyhow::{Result, bail};
use manaka_core::inputs::{PARQUET_SUFFIXES, STREAM_SUFFIXES};
use manaka_pack::{PackOptions, Summary, claim, pack, plan, work_path};
use serde_json::json;
use std::fmt::Write;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Fold MPK1 streams into shuffled Parquet shards.
///
/// Records of the same position become one row: counts and scores are added, then divided once. Give it every stream
/// that belongs to a corpus, old and new generations alike: shards cannot be folded again. The shards depend on the
/// records and on the two options below that are stated in them, not on file order or threads.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Streams (.mpk, .mpk.zst): files, directories or globs.
    #[arg(required = true, value_name = "STREAMS")]
    streams: Vec<PathBuf>,

    /// Directory for the shards; created, or empty.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,

    /// Shards are called PREFIX-00000.parquet and so on.
    #[arg(long, default_value = "teacher")]
    prefix: String,

    /// Rows in every shard but the last.
    #[arg(long, value_name = "N", default_value_t = PackOptions::DEFAULT_ROWS_PER_SHARD)]
    rows_per_shard: NonZeroU64,

    /// Temperature in centipawns of the softmax over cp; streams of visits have none.
    #[arg(long, value_name = "CP", default_value_t = manaka_core::conventions::DEFAULT_SOFTMAX_TEMP_CP)]
    softmax_temp_cp: f64,

    /// Shards whose positions are left out: keeps a validation directory disjoint.
    #[arg(long, value_name = "SHARDS", num_args = 1..)]
    exclude: Vec<PathBuf>,

    #[command(flatten)]
    threads: Threads,

    /// Memory to use, for example 8G; half of what is available unless given. What does not fit goes to disk.
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    memory: Option<u64>,

    /// Directory for temporary files; the output directory unless given.
    #[arg(long, value_name = "DIR")]
    tmp_dir: Option<PathBuf>,

    /// Buckets of the first scatter; chosen to fit unless given. The shards do not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    buckets: Option<u32>,

    /// Seconds between checkpoints of a run that goes to disk: what a resumed run may have to repeat.
    #[arg(long, value_name = "SECONDS", default_value_t = PackOptions::DEFAULT_CHECKPOINT.as_secs())]
    checkpoint: u64,

    /// Print what the run would take, and do nothing.
    #[arg(long)]
    dry_run: bool,

    /// Go on with a run that was killed; begin where there is none.
    #[arg(long)]
    resume: bool,

    /// Start even though the plan does not fit the disks.
    #[arg(long)]
    force: bool,

    /// How to print the report.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Runs the verb.
pub fn run(args: Args) -> Result<Outcome> {
    let files = inputs::files(&args.streams, STREAM_SUFFIXES)?;
    let exclude = match args.exclude.is_empty() {
        true => Vec::new(),
        false => inputs::files(&args.exclude, PARQUET_SUFFIXES)?,
    };
    let options = PackOptions {
        prefix: args.prefix,
        rows_per_shard: args.rows_per_shard,
        softmax_temp_cp: args.softmax_temp_cp,
        exclude,
        threads: args.threads.get(),
        memory: args.memory,
        temp_dir: args.tmp_dir,
        buckets: args.buckets,
        checkpoint: Duration::from_secs(args.checkpoint),
        resume: args.resume,
        force: args.force,
    };
    options.check().map_err(|error| Usage(error.to_string()))?;
    if args.dry_run {
        return dry_run(&files, &args.out, &options, args.format);
    }
    claim(&args.out, &options)?;
    let temp = work_path(&args.out, &options);
    let bar = Bar::new("pack");
    let result = pack(files, &args.out, &options, &bar);
    bar.finish();
    let summary = result.inspect_err(|error| {
        // Leftovers of another run are for their own command.
        if temp.exists() && !matches!(error, manaka_pack::Error::Leftover { .. }) {
            eprintln!(
                "manaka: temporary files are kept in {}: the same command with --resume goes on from there",
                temp.display()
            );
        }
    })?;
    match args.format {
        Format::Text => print(text(&summary).trim_end())?,
        Format::Json => print_json(&summary)?,
    }
    Ok(Outcome::findings(summary.refused_total() > 0))
}

/// Prints what a run would take; fails when it does not fit.
fn dry_run(files: &[PathBuf], out: &Path, options: &PackOptions, format: Format) -> Result<Outcome> {
    let plan = plan(files, options)?;
    let how = if plan.count.exact { "counted" } else { "estimated from the head of each file" };
    let temp = options.temp_dir.as_deref().unwrap_or(out);
    let room = |dir: &Path| dir.ancestors().find(|dir| dir.exists()).and_then(manaka_pack::disk_room);
    let (temp_room, out_room) = (room(temp), room(out));
    match format {
        Format::Text => {
            let of = |room: Option<u64>| room.map_or("unknown".to_owned(), grouped);
            print(format!(
                "{} records ({how}) in {} files\n  {}, {} buckets, {} spools, {} threads\n  \
                 memory: {} bytes at the peak of {} allowed\n  \
                 temporary files: {} bytes in {}, where {} are free\n  \
                 shards: {} bytes in {}, where {} are free",
                grouped(plan.count.records),
                files.len(),
                if plan.in_memory { "in memory" } else { "out of core" },
                plan.buckets,
                plan.spools,
                options.threads,
                grouped(plan.peak),
                grouped(plan.memory),
                grouped(plan.temp_disk),
                temp.display(),
                of(temp_room),
                grouped(plan.output_disk),
                out.display(),
                of(out_room),
            ))?;
        }
        Format::Json => print_json(&json!({
            "records": plan.count.records,
            "records_exact": plan.count.exact,
            "in_memory": plan.in_memory,
            "buckets": plan.buckets,
            "spools": plan.spools,
            "memory": plan.memory,
            "peak_memory": plan.peak,
            "temp_disk": plan.temp_disk,
            "temp_disk_free": temp_room,
            "output_disk": plan.output_disk,
            "output_disk_free": out_room,
        }))?,
    }
    let short = |need: u64, room: Option<u64>| room.is_some_and(|room| need > room);
    if short(plan.temp_disk, temp_room) || short(plan.output_disk, out_room) {
        bail!("the run does not fit");
    }
    Ok(Outcome::Done)
}

#[expect(clippy::cast_precision_loss, reason = "figures for reading")]
fn per(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn text(summary: &Summary) -> String {
    let mut out = String::new();
    let folded = summary.folded_away();
    let refused = summary.refused_total();
    let bytes: u64 = summary.shards.iter().map(|shard| shard.bytes).sum();
    // Writing to a String cannot fail.
    let _ =
        writeln!(out, "{} records read, {} rows written, {} refused", summary.records, summary.rows, refused);
    let share = 100.0 * per(folded, summary.records - refused - summary.excluded_records);
    let _ = writeln!(
        out,
        "  {} records ({share:.2}%) folded into a row that another had opened; largest weight {}",
        grouped(folded),
        grouped(summary.largest_weight.into())
    );
    if summary.rows_without_outcome > 0 {
        let _ = writeln!(
            out,
            "  {} rows have no value_z: no record of theirs states an outcome",
            grouped(summary.rows_without_outcome)
        );
    }
    if summary.excluded_positions > 0 {
        let _ = writeln!(
            out,
            "  {} positions with {} records left out: they stand in excluded shards",
            grouped(summary.excluded_positions),
            grouped(summary.excluded_records)
        );
    }
    let passes: Vec<String> =
        summary.passes.iter().map(|(name, time)| format!("{name} {:.1} s", time.as_secs_f64())).collect();
    let peak =
        summary.peak_memory.map_or(String::new(), |bytes| format!("; peak memory {} MiB", bytes >> 20));
    let how = if summary.plan.in_memory { "in memory" } else { "out of core" };
    let _ = writeln!(out, "  {how}: {}{peak}", passes.join(", "));
    let _ = writeln!(out, "  {} bytes, {:.2} per row, of which", grouped(bytes), per(bytes, summary.rows));
    for (name, bytes) in summary.column_bytes() {
        let _ = writeln!(out, "    {:8.2}  {name}", per(bytes, summary.rows));
    }
    for shard in &summary.shards {
        let _ = writeln!(
            out,
            "  {}: {} rows, {} bytes",
            shard.path.display(),
            grouped(shard.rows),
            grouped(shard.bytes)
        );
    }
    if refused > 0 {
        for record in &summary.refused_first {
            let place = refused_at(&record.path, record.record, record.offset);
            let _ = writeln!(out, "  {place}: {}: {}", record.reason, record.detail);
        }
        let counts: Vec<String> = summary.refused.iter().map(|(reason, n)| format!("{reason}={n}")).collect();
        let _ = writeln!(out, "{refused} records refused: {}", counts.join("  "));
    }
    out
}
