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
    spent: Spent,
}

/// Time of calls that no other program got in between, and their number.
#[derive(Default)]
struct Spent {
    nanoseconds: AtomicU64,
    calls: AtomicU64,
}

/// Nothing that takes longer for a position was left alone.
const INTERRUPTED: u64 = 50_000;

struct TimedWorker<'t> {
    inner: Box<dyn Evaluator + 't>,
    spent: &'t Spent,
}

impl Evaluators for Timed<'_> {
    fn identity(&self) -> Identity {
        self.inner.identity()
    }

    fn evaluator(&self) -> Result<Box<dyn Evaluator + '_>, EvaluatorError> {
        Ok(Box::new(TimedWorker { inner: self.inner.evaluator()?, spent: &self.spent }))
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
        if spent < INTERRUPTED * batch.len() as u64 {
            self.spent.nanoseconds.fetch_add(spent, Ordering::Relaxed);
            self.spent.calls.fetch_add(batch.len() as u64, Ordering::Relaxed);
        }
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
        "| case | rows | rows per CPU-second | evaluations per CPU-second | plies a game | ns an evaluation | outside the evaluator |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (name, search, games) in [
        ("puct-800", Search::new(800, Puct::default()), args.games),
        ("gumbel-64", Search::new(64, Gumbel::default()), 10 * args.games),
    ] {
        if !name.starts_with(&args.only) {
            continue;
        }
        let out = std::env::temp_dir().join(format!("selfplay-speed-{}-{name}", std::process::id()));
        let timed = Timed { inner, spent: Spent::default() };
        let options = Options { batch: args.batch, ..Options::new(search, games) };
        let before = processor_seconds()?;
        let report = run(&options, &timed, &out, &());
        let seconds = processor_seconds()? - before;
        let _ = std::fs::remove_dir_all(&out);
        let totals = report?.totals;
        // Calls that were interrupted take as long as the others in the mean.
        let Spent { nanoseconds, calls } = timed.spent;
        #[expect(clippy::cast_precision_loss, reason = "figures for reading")]
        let (rows, evaluations, each) = (
            totals.positions as f64,
            totals.evaluations as f64,
            nanoseconds.into_inner() as f64 / 1e9 / calls.into_inner().max(1) as f64,
        );
        println!(
            "| {name} | {rows} | {:.0} | {:.0} | {:.0} | {:.0} | {:.0} % |",
            rows / seconds,
            evaluations / seconds,
            totals.mean_plies().unwrap_or(0.0),
            each * 1e9,
            100.0 * (1.0 - each * evaluations / seconds),
        );
    }
    Ok(())
}
