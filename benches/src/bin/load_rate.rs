//! How fast shards become batches, beside only decoding the same columns: positions a second of time passed, and a
//! second of processor time, which other programs on the machine disturb less.
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

/// Positions a second that passed, and a second of all threads' processor time.
#[derive(Clone, Copy, Default)]
struct Rates {
    wall: f64,
    core: f64,
}

impl Rates {
    #[expect(clippy::cast_precision_loss, reason = "figures to be read")]
    fn of(run: impl FnOnce() -> Result<u64>) -> Result<Self> {
        let (began, before) = (Instant::now(), processor_time()?);
        let rows = run()? as f64;
        let (wall, core) = (began.elapsed().as_secs_f64(), (processor_time()? - before) as f64 / 1e9);
        Ok(Self { wall: rows / wall, core: rows / core })
    }

    fn best(self, other: Self) -> Self {
        Self { wall: self.wall.max(other.wall), core: self.core.max(other.core) }
    }
}

/// Nanoseconds that the threads of this process have run; those of the loader are alive as long as it is.
fn processor_time() -> Result<u64> {
    let mut sum = 0;
    for task in std::fs::read_dir("/proc/self/task")? {
        let text = std::fs::read_to_string(task?.path().join("schedstat"))?;
        sum += text.split(' ').next().unwrap_or_default().parse::<u64>()?;
    }
    Ok(sum)
}

/// Only decodes columns.
fn decode(set: &ShardSet, wanted: Projection) -> Result<u64> {
    let mut rows = Rows::default();
    let mut count = 0;
    for shard in set.shards() {
        for group in 0..shard.row_groups() {
            shard.read_columns(group, wanted, &mut rows)?;
            count += rows.len() as u64;
        }
    }
    ensure!(count == set.rows());
    Ok(count)
}

/// Loads one epoch.
fn epoch(loader: &mut Loader, batch: &mut Batch) -> Result<u64> {
    loader.begin_epoch(0)?;
    let mut count = 0;
    while loader.next_into(batch)? {
        count += batch.rows as u64;
    }
    ensure!(count == loader.rows());
    Ok(count)
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
    println!("{:18} {:>13} {:>15} {:>15} {:>6}", "case", "rows/s", "rows/core-s", "only decoding", "ratio");
    let mut batch = Batch::default();
    for case in CASES.iter().filter(|case| case.name.starts_with(&args.only)) {
        let mut loader = Loader::new(vec![ShardSet::open(&args.shards)?.into()], case.options(&args))?;
        let (mut decoded, mut loaded) = (Rates::default(), Rates::default());
        for _ in 0..args.repeat {
            decoded = decoded.best(Rates::of(|| decode(&set, case.projection()))?);
            loaded = loaded.best(Rates::of(|| epoch(&mut loader, &mut batch))?);
        }
        let ratio = decoded.core / loaded.core;
        println!(
            "{:18} {:13.0} {:15.0} {:15.0} {ratio:5.2}x",
            case.name, loaded.wall, loaded.core, decoded.core
        );
    }
    Ok(())
}
