//! `manaka train-kp`: train a network of kp256.

use super::Threads;
use crate::exit::{Outcome, Usage};
use crate::inputs;
use crate::output::{Format, parse_bytes, print, print_json};
use crate::progress::Bar;
use anyhow::{Result, bail};
use manaka_core::inputs::PARQUET_SUFFIXES;
use manaka_core::whole_file::{Existing, WholeFile};
use manaka_kp::train::{Options, Samples, train};
use manaka_load::{ShardSet, WeightMode};
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// Train a kp256 network, the one self-play uses, on shards.
///
/// Learns the value and the policy over all legal moves, measures itself on validation shards after each epoch, and
/// writes the network of the least validation loss. Validation shards must come from other games; `pack --exclude`
/// keeps their positions out of the others. The network depends on the shards, the options and the seed alone.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Shards to learn from: files, directories or globs.
    #[arg(required = true, value_name = "SHARDS")]
    shards: Vec<PathBuf>,

    /// Shards of other games to measure by.
    #[arg(long, required = true, value_name = "SHARDS", num_args = 1..)]
    validation: Vec<PathBuf>,

    /// File for the network; one that is there is replaced when the new one is whole.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,

    /// `r` of the value to learn, (1 - r) * outcome + r * search's value. Shards without outcomes give the search's.
    #[arg(long, value_name = "R", default_value_t = 0.7)]
    blend: f32,

    /// How much a row counts that stands for several records.
    #[arg(long, value_enum, default_value_t)]
    weight: Weight,

    /// Passes over the rows at most; the rate falls to nothing over so many.
    #[arg(long, value_name = "N", default_value_t = Options::default().epochs)]
    epochs: u32,

    /// Epochs in a row that may be no better than the best before training ends.
    #[arg(long, value_name = "N", default_value_t = Options::default().patience)]
    patience: u32,

    /// Rows of a step.
    #[arg(long, value_name = "N", default_value_t = Options::default().batch_size)]
    batch_size: NonZeroUsize,

    /// Adam's highest rate.
    #[arg(long, value_name = "RATE", default_value_t = Options::default().rate)]
    rate: f32,

    /// Seed of the first weights, the order and the mirroring.
    #[arg(long, value_name = "N", default_value_t = Options::default().seed)]
    seed: u64,

    #[command(flatten)]
    threads: Threads,

    /// Memory that rows may take, for example 8G: about 270 bytes each. More is an error.
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes, default_value = "4G")]
    memory: u64,

    /// How to print the report.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// How much a row counts that stands for several records (loading.md §3).
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Weight {
    /// As often as there were records.
    #[default]
    Stored,
    /// The square root of that.
    Sqrt,
    /// log2(1 + records).
    Log,
    /// Once.
    One,
}

impl Weight {
    const fn mode(self) -> WeightMode {
        match self {
            Self::Stored => WeightMode::Stored,
            Self::Sqrt => WeightMode::Sqrt,
            Self::Log => WeightMode::Log,
            Self::One => WeightMode::Capped(1.0),
        }
    }
}

/// Runs the verb.
pub fn run(args: Args) -> Result<Outcome> {
    let options = Options {
        epochs: args.epochs,
        batch_size: args.batch_size,
        rate: args.rate,
        patience: args.patience,
        seed: args.seed,
        threads: args.threads.get(),
    };
    options.check().map_err(|error| Usage(error.to_string()))?;
    if !(0.0..=1.0).contains(&args.blend) {
        bail!(Usage(format!("--blend is {}, not in 0..=1", args.blend)));
    }
    let shards = inputs::files(&args.shards, PARQUET_SUFFIXES)?;
    let validation = inputs::files(&args.validation, PARQUET_SUFFIXES)?;
    if let Some(both) = both(&shards, &validation) {
        bail!(Usage(format!("{} is to be learned and to be measured by", both.display())));
    }
    // Before the long work: a file that cannot be written is known at once.
    let mut out = WholeFile::create(&args.out, Existing::Replace)?;
    let bar = Bar::new("train-kp");
    let load = |paths: &[PathBuf], limit| {
        let set = ShardSet::open(paths)?;
        Samples::load(set, args.blend, args.weight.mode(), limit, options.threads, &bar)
    };
    let result = load(&validation, args.memory).and_then(|validation| {
        let left = args.memory.saturating_sub(validation.bytes() as u64);
        train(&load(&shards, left)?, &validation, &options, &bar)
    });
    bar.finish();
    let (net, report) = result?;
    out.write_all(&net.to_bytes())?;
    out.commit()?;
    match args.format {
        Format::Text => print(&report)?,
        Format::Json => print_json(&report)?,
    }
    Ok(Outcome::Done)
}

/// A file that is among both.
fn both<'a>(shards: &'a [PathBuf], validation: &[PathBuf]) -> Option<&'a Path> {
    let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
    let validation: Vec<_> = validation.iter().map(real).collect();
    shards.iter().find(|path| validation.contains(&real(path))).map(PathBuf::as_path)
}
