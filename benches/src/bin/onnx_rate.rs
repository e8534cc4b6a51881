//! How many positions a network in ONNX evaluates in a second of processor time, as self-play asks for them: planes
//! made, the network run on one thread, the logits of the legal moves picked.
#![allow(clippy::print_stdout, reason = "a tool of the benchmarks")]

use anyhow::{Context, Result, ensure};
use clap::Parser;
use manaka_core::{Move16, Packed};
use manaka_onnx::{Onnx, Provider, Runtime};
use manaka_selfplay::{Evaluators, Replies, Request};
use manaka_shogi::Board;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Instant;

/// Time a network; prints evaluations a second of processor time.
#[derive(Parser)]
struct Args {
    /// The network.
    net: PathBuf,
    /// Positions of 96 bytes, one behind the other.
    positions: PathBuf,
    /// The library of ONNX Runtime.
    #[arg(long)]
    onnxruntime: Option<PathBuf>,
    /// Positions in a batch.
    #[arg(long, default_value = "16")]
    batch: NonZeroUsize,
    /// Seconds at least.
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
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
    let bytes = std::fs::read(&args.positions)?;
    let (positions, rest) = bytes.as_chunks();
    ensure!(rest.is_empty() && positions.len() >= args.batch.get(), "no whole positions, or too few");
    let asked = positions.iter().map(|&position| -> Result<(Packed, Vec<Move16>)> {
        let (position, mut moves) = (Packed::from_bytes(position), Vec::new());
        Board::from_packed(&position, 1)?.legal_moves(&mut moves);
        Ok((position, moves))
    });
    let asked = asked.collect::<Result<Vec<_>>>()?;
    let runtime = Runtime::open(args.onnxruntime.as_deref())?;
    let onnx = Onnx::open(&args.net, &runtime, Provider::Cpu, Some(args.batch))?;
    let mut evaluator = onnx.evaluator()?;
    let mut replies = Replies::new();
    let batches: Vec<Vec<_>> = asked
        .chunks_exact(args.batch.get())
        .map(|some| some.iter().map(|(position, moves)| Request { position, moves }).collect())
        .collect();
    let (mut done, mut began, mut before) = (0, Instant::now(), processor_seconds()?);
    for (at, batch) in batches.iter().cycle().enumerate() {
        if at == 10 {
            (done, began, before) = (0, Instant::now(), processor_seconds()?);
        }
        if at > 10 && began.elapsed().as_secs_f64() > args.seconds {
            break;
        }
        replies.fit(batch);
        evaluator.evaluate(batch, &mut replies)?;
        done += batch.len();
    }
    #[expect(clippy::cast_precision_loss, reason = "a figure for reading")]
    let rate = done as f64 / (processor_seconds()? - before);
    println!("{rate:.0}");
    Ok(())
}
