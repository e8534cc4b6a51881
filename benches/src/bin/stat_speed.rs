//! `stat` against only decoding the same streams: medians of one run, in which they take turns.
//!
//! Decoding is what any reader of the stream has to do: every record read by [`StreamReader`] and validated, files shared
//! between as many threads. Its records are counted and compared with those of `stat`.
//!
//!     make-streams --out zst --records 8000000 --records-per-part 1000000
//!     stat-speed zst --threads 1
//!
//! On two cores of an AMD EPYC with nothing else running: speed of `stat` / decode 0.83 on one thread and on two for compressed
//! parts. Raw parts (`--raw`), whose decoding is little more than memory being read (27 ns a record of 146 bytes): 0.55 and
//! 0.52, 0.58 against a mapped file.
#![allow(clippy::print_stdout, reason = "a tool of the benchmarks")]

use anyhow::{Result, anyhow, ensure};
use clap::Parser;
use manaka_core::inputs;
use manaka_core::stream::{MappedStream, StreamReader};
use manaka_inspect::{StatOptions, stat};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

/// Time decoding and stat.
#[derive(Parser)]
struct Args {
    /// Streams, or directories of them: as many files as a multiple of the threads.
    #[arg(required = true)]
    streams: Vec<PathBuf>,
    /// Threads of both.
    #[arg(long, default_value = "2")]
    threads: NonZeroUsize,
    /// Runs of each.
    #[arg(long, default_value_t = 5)]
    runs: usize,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let streams = inputs::resolve(&args.streams, inputs::STREAM_SUFFIXES)?.files;
    let (mut read, mut mapped, mut measured) = (Vec::new(), Vec::new(), Vec::new());
    let raw = streams.iter().all(|path| MappedStream::open(path).is_ok());
    for _ in 0..args.runs {
        let began = Instant::now();
        let records = each_file(&streams, args.threads, through_reader)?;
        read.push(began.elapsed().as_secs_f64());
        if raw {
            let began = Instant::now();
            ensure!(each_file(&streams, args.threads, in_place)? == records, "two readers count differently");
            mapped.push(began.elapsed().as_secs_f64());
        }
        let began = Instant::now();
        let stat = stat(&streams, &StatOptions::new(args.threads), &())?;
        measured.push(began.elapsed().as_secs_f64());
        ensure!(stat.totals.records == records, "stat counts {} of {records} records", stat.totals.records);
    }
    let decode = median(read);
    println!("decode, by the stream reader  {decode:.3} s");
    let measured = median(measured);
    if raw {
        let mapped = median(mapped);
        println!("decode, in a mapped file      {mapped:.3} s");
        println!("stat                          {measured:.3} s");
        println!(
            "speed of stat / decode {:.2}, / decode in a mapped file {:.2}",
            decode / measured,
            mapped / measured
        );
    } else {
        println!("stat                          {measured:.3} s");
        println!("speed of stat / decode {:.2}", decode / measured);
    }
    Ok(())
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Runs `decode` on every file; gives the records of all.
fn each_file(
    streams: &[PathBuf],
    threads: NonZeroUsize,
    decode: impl Fn(&Path) -> Result<u64> + Sync,
) -> Result<u64> {
    let (next, records) = (AtomicUsize::new(0), AtomicU64::new(0));
    thread::scope(|scope| {
        let work = || -> Result<()> {
            while let Some(path) = streams.get(next.fetch_add(1, Ordering::Relaxed)) {
                records.fetch_add(decode(path)?, Ordering::Relaxed);
            }
            Ok(())
        };
        let workers: Vec<_> = (0..threads.get()).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| anyhow!("a worker panicked"))?)
    })?;
    Ok(records.into_inner())
}

fn through_reader(path: &Path) -> Result<u64> {
    let mut reader = StreamReader::open(path)?;
    while reader.next_ref()?.is_some() {}
    Ok(reader.position())
}

fn in_place(path: &Path) -> Result<u64> {
    let map = MappedStream::open(path)?;
    let mut reader = map.records();
    while reader.next_ref()?.is_some() {}
    Ok(reader.position())
}
