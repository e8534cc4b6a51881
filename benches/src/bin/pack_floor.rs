//! The floor under `manaka pack`: decodes score streams and writes a row for each record, with no fold and no shuffle.
#![allow(clippy::print_stdout, reason = "a tool of the benchmarks")]

use anyhow::{Context, Result, anyhow};
use clap::Parser;
use manaka_core::stream::{RecordRef, StreamReader};
use manaka_core::{Color, inputs};
use manaka_pack::Policy;
use manaka_pack::shard::{Footer, GroupBuilder, GroupEncoder, Outcomes, ROWS_PER_GROUP, ShardWriter};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Decode streams and write their records as rows.
#[derive(Parser)]
struct Args {
    /// Streams, or directories of them.
    #[arg(required = true)]
    streams: Vec<PathBuf>,
    /// The shard to write; must not exist.
    #[arg(long)]
    out: PathBuf,
    /// Worker threads.
    #[arg(long, default_value_t = 2)]
    threads: usize,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let streams = inputs::resolve(&args.streams, inputs::STREAM_SUFFIXES)?.files;
    let first = streams.first().context("there is no stream")?;
    let policy = Policy::new(StreamReader::open(first)?.header().conventions, 100.0)?;
    let shard = Mutex::new(ShardWriter::create(&args.out, &Footer::of(&policy), Outcomes::Stated)?);
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..args.threads)
            .map(|_| {
                scope.spawn(|| -> Result<()> {
                    let mut rows = Rows::new(&policy, &shard)?;
                    while let Some(path) = streams.get(next.fetch_add(1, Ordering::Relaxed)) {
                        rows.stream(path)?;
                    }
                    rows.flush()
                })
            })
            .collect();
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| anyhow!("a worker panicked"))?)
    })?;
    let shard = shard.into_inner().map_err(|_| anyhow!("a worker panicked"))?.finish()?;
    println!("{} rows, {} bytes", shard.rows, shard.bytes);
    Ok(())
}

/// One thread's rows.
struct Rows<'a> {
    policy: &'a Policy,
    shard: &'a Mutex<ShardWriter>,
    encoder: GroupEncoder,
    group: GroupBuilder,
    cp: Vec<i16>,
    scratch: Vec<i16>,
    prob: Vec<f32>,
}

impl<'a> Rows<'a> {
    fn new(policy: &'a Policy, shard: &'a Mutex<ShardWriter>) -> Result<Self> {
        let encoder = GroupEncoder::new(policy.conventions().policy_source, Outcomes::Stated)?;
        let (group, cp, scratch, prob) = (GroupBuilder::default(), Vec::new(), Vec::new(), Vec::new());
        Ok(Self { policy, shard, encoder, group, cp, scratch, prob })
    }

    fn stream(&mut self, path: &Path) -> Result<()> {
        let mut reader = StreamReader::open(path)?;
        while let Some(record) = reader.next_ref()? {
            self.push(&record);
            if self.group.rows() == ROWS_PER_GROUP {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn push(&mut self, record: &RecordRef<'_>) {
        let packed = record.packed_bytes();
        self.group.push_row(packed, record.ply(), 1, record.outcome(), record.value_q());
        self.cp.clear();
        self.cp.extend(record.candidates().map(|candidate| candidate.cp));
        let mover = if packed[packed.len() - 1] == 0 { Color::Black } else { Color::White };
        self.policy.probs_of_cp(&self.cp, mover, &mut self.scratch, &mut self.prob);
        for (at, (candidate, &prob)) in record.candidates().zip(&self.prob).enumerate() {
            self.group.push_candidate(at == 0, candidate.mv.bits(), prob, Some(candidate.cp));
        }
    }

    fn flush(&mut self) -> Result<()> {
        if self.group.rows() > 0 {
            let encoded = self.encoder.encode(&self.group)?;
            self.group.clear();
            self.shard.lock().map_err(|_| anyhow!("a worker panicked"))?.append(encoded)?;
        }
        Ok(())
    }
}
