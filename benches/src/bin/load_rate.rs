//! How fast shards become batches: positions a second of one worker thread, beside only decoding the same columns.
#![allow(clippy::print_stdout, reason = "a tool of the benchmarks")]

use anyhow::{Result, ensure};
use clap::Parser;
use manaka_load::{Batch, FeatureSet, Loader, Options, PolicyTarget, ShardSet};
use manaka_pack::shard::{Projection, Rows};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Instant;

/// Time the loader.
#[derive(Parser)]
struct Args {
    /// Shards.
    #[arg(required = true)]
    shards: Vec<PathBuf>,
    /// Rows of a batch.
    #[arg(long, default_value = "1024")]
    batch_size: NonZeroUsize,
    /// Worker threads of the loader. Decoding alone is always measured on one.
    #[arg(long, default_value = "1")]
    threads: NonZeroUsize,
    /// Runs of each; the best is shown.
    #[arg(long, default_value_t = 5)]
    repeat: u32,
    /// Only cases whose name begins so.
    #[arg(long, default_value = "")]
    only: String,
}

struct Case {
    name: &'static str,
    features: FeatureSet,
    policy: PolicyTarget,
    packed: bool,
}

const CASES: [Case; 8] = [
    case("values", FeatureSet::None, PolicyTarget::None, false),
    case("packed", FeatureSet::None, PolicyTarget::None, true),
    case("halfkp", FeatureSet::HalfKp, PolicyTarget::None, false),
    case("kp", FeatureSet::Kp, PolicyTarget::None, false),
    case("planes_bits", FeatureSet::PlanesBits, PolicyTarget::None, false),
    case("planes_u8", FeatureSet::PlanesU8, PolicyTarget::None, false),
    case("planes_f32", FeatureSet::PlanesF32, PolicyTarget::None, false),
    case("planes_bits+policy", FeatureSet::PlanesBits, PolicyTarget::Sparse, false),
];

const fn case(name: &'static str, features: FeatureSet, policy: PolicyTarget, packed: bool) -> Case {
    Case { name, features, policy, packed }
}

impl Case {
    fn options(&self, args: &Args) -> Options {
        let mut options = Options {
            batch_size: args.batch_size,
            threads: args.threads,
            features: self.features,
            policy: self.policy,
            ..Options::default()
        };
        options.columns.packed = self.packed;
        options
    }

    fn projection(&self) -> Projection {
        let packed = self.packed || self.features != FeatureSet::None;
        let policy = self.policy != PolicyTarget::None;
        Projection { packed, value_q: true, weight: true, policy, ..Projection::NONE }
    }
}

/// Positions a second of only decoding columns.
fn decode(set: &ShardSet, wanted: Projection) -> Result<f64> {
    let began = Instant::now();
    let mut rows = Rows::default();
    let mut count = 0;
    for shard in set.shards() {
        for group in 0..shard.row_groups() {
            shard.read_columns(group, wanted, &mut rows)?;
            count += rows.len() as u64;
        }
    }
    ensure!(count == set.rows());
    Ok(rate(count, began))
}

/// Positions a second of one epoch.
fn epoch(loader: &mut Loader, batch: &mut Batch) -> Result<f64> {
    loader.begin_epoch(0)?;
    let began = Instant::now();
    let mut count = 0;
    while loader.next_into(batch)? {
        count += batch.rows as u64;
    }
    ensure!(count == loader.rows());
    Ok(rate(count, began))
}

#[expect(clippy::cast_precision_loss, reason = "a figure to be read")]
fn rate(rows: u64, began: Instant) -> f64 {
    rows as f64 / began.elapsed().as_secs_f64()
}

fn main() -> Result<()> {
    let args = Args::parse();
    let set = ShardSet::open(&args.shards)?;
    println!(
        "{} rows, batches of {}, {} threads, best of {}",
        set.rows(),
        args.batch_size,
        args.threads,
        args.repeat
    );
    println!("{:20} {:>16} {:>16} {:>8}", "case", "positions/s", "only decoding", "ratio");
    let mut batch = Batch::default();
    for case in CASES.iter().filter(|case| case.name.starts_with(&args.only)) {
        let mut loader = Loader::new(vec![ShardSet::open(&args.shards)?.into()], case.options(&args))?;
        let (mut decoded, mut loaded) = (0f64, 0f64);
        for _ in 0..args.repeat {
            decoded = decoded.max(decode(&set, case.projection())?);
            loaded = loaded.max(epoch(&mut loader, &mut batch)?);
        }
        println!("{:20} {loaded:16.0} {decoded:16.0} {:7.2}x", case.name, decoded / loaded);
    }
    Ok(())
}
