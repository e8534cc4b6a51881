//! How fast self-play is on one thread: rows, evaluations and the evaluator's share of the time, for PUCT with 800
//! playouts and Gumbel with 64 simulations.
#![allow(clippy::print_stdout, reason = "a tool of the benchmarks")]

use anyhow::{Context, Result};
use clap::Parser;
use manaka_search::{Gumbel, Options as Search, Puct};
use manaka_selfplay::{
    Evaluator, EvaluatorError, Evaluators, Identity, Kp256, Options, Replies, Request, Uniform, run,
};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Time self-play.
#[derive(Parser)]
struct Args {
    /// Games of PUCT; Gumbel plays ten times as many.
    #[arg(long, default_value_t = 10)]
    games: u64,
    /// A net of kp256, instead of the one in the binary.
    #[arg(long)]
    net: Option<PathBuf>,
    /// With the evaluator that knows nothing, which leaves the search by itself.
    #[arg(long)]
    uniform: bool,
    /// Games at the same time.
    #[arg(long)]
    batch: Option<NonZeroUsize>,
    /// Only the case whose name begins so.
    #[arg(long, default_value = "")]
    only: String,
}

/// An evaluator that is timed.
struct Timed<'e> {
    inner: &'e dyn Evaluators,
    nanoseconds: AtomicU64,
}

struct TimedWorker<'t> {
    inner: Box<dyn Evaluator + 't>,
    nanoseconds: &'t AtomicU64,
}

impl Evaluators for Timed<'_> {
    fn identity(&self) -> Identity {
        self.inner.identity()
    }

    fn evaluator(&self) -> Result<Box<dyn Evaluator + '_>, EvaluatorError> {
        Ok(Box::new(TimedWorker { inner: self.inner.evaluator()?, nanoseconds: &self.nanoseconds }))
    }
}

impl Evaluator for TimedWorker<'_> {
    fn batch_hint(&self) -> usize {
        self.inner.batch_hint()
    }

    fn evaluate(&mut self, batch: &[Request<'_>], replies: &mut Replies) -> Result<(), EvaluatorError> {
        let began = Instant::now();
        let evaluated = self.inner.evaluate(batch, replies);
        let spent = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.fetch_add(spent, Ordering::Relaxed);
        evaluated
    }
}

/// Seconds of processor time of all threads so far: `utime` and `stime` of proc(5), at 100 ticks a second.
fn processor_seconds() -> Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
    let ticks = |at: usize| -> Result<f64> { Ok(fields.get(at).context("/proc/self/stat")?.parse()?) };
    Ok((ticks(11)? + ticks(12)?) / 100.0)
}

fn main() -> Result<()> {
    let args = Args::parse();
    let kp256;
    let inner: &dyn Evaluators = match (&args.net, args.uniform) {
        (_, true) => &Uniform { batch: None },
        (Some(net), false) => {
            kp256 = Kp256::open(net)?;
            &kp256
        }
        (None, false) => {
            kp256 = Kp256::embedded();
            &kp256
        }
    };
    println!(
        "| case | rows | rows per CPU-second | leaves per CPU-second | plies a game | outside the evaluator |"
    );
    println!("|---|---|---|---|---|---|");
    for (name, search, games) in [
        ("puct-800", Search::new(800, Puct::default()), args.games),
        ("gumbel-64", Search::new(64, Gumbel::default()), 10 * args.games),
    ] {
        if !name.starts_with(&args.only) {
            continue;
        }
        let out = std::env::temp_dir().join(format!("selfplay-speed-{}-{name}", std::process::id()));
        let timed = Timed { inner, nanoseconds: AtomicU64::new(0) };
        let options = Options { batch: args.batch, ..Options::new(search, games) };
        let before = processor_seconds()?;
        let began = Instant::now();
        let report = run(&options, &timed, &out, &());
        let (seconds, passed) = (processor_seconds()? - before, began.elapsed().as_secs_f64());
        let _ = std::fs::remove_dir_all(&out);
        let totals = report?.totals;
        // The evaluator is timed by the clock; another program that takes the processor takes it from both.
        #[expect(clippy::cast_precision_loss, reason = "figures for reading")]
        let (rows, leaves, inside) =
            (totals.positions as f64, totals.evaluations as f64, timed.nanoseconds.into_inner() as f64 / 1e9);
        println!(
            "| {name} | {rows} | {:.0} | {:.0} | {:.0} | {:.0} % |",
            rows / seconds,
            leaves / seconds,
            totals.mean_plies().unwrap_or(0.0),
            100.0 * (1.0 - inside / passed),
        );
    }
    Ok(())
}
