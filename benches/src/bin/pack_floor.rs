//! The floor under `manaka pack`: what it takes to decode score streams and to write rows, with no fold and no shuffle.
//!
//! With `--rows SHARDS`, the rows are those of the shards that `pack` made of the streams, in their order: the same rows. They
//! lie in memory, one behind the other, before the clock starts. Without it, a row is written for each record as it is
//! decoded: more rows than a fold leaves, but in game order, which zstd makes less of. The seconds are printed.
#![allow(clippy::print_stdout, reason = "a tool of the benchmarks")]

use anyhow::{Context, Result, anyhow};
use clap::Parser;
use manaka_core::packed::PACKED_LEN;
use manaka_core::stream::{RecordRef, StreamReader};
use manaka_core::{Color, inputs};
use manaka_pack::Policy;
use manaka_pack::shard::{
    EncodedGroup, Footer, GroupBuilder, GroupEncoder, Outcomes, ROWS_PER_GROUP, Rows as ShardRows,
    ShardReader, ShardWriter,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

/// Decode streams and write rows.
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
    /// Shards whose rows are written; a row for each record unless they are given.
    #[arg(long)]
    rows: Vec<PathBuf>,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let streams = inputs::resolve(&args.streams, inputs::STREAM_SUFFIXES)?.files;
    let first = streams.first().context("there is no stream")?;
    let policy = Policy::new(StreamReader::open(first)?.header().conventions, 100.0)?;
    let groups = match args.rows[..] {
        [] => None,
        _ => Some(groups_of(&inputs::resolve(&args.rows, inputs::PARQUET_SUFFIXES)?.files)?),
    };
    let began = Instant::now();
    let shard = ShardWriter::create(&args.out, &Footer::of(&policy), Outcomes::Stated)?;
    let line = Line { state: Mutex::new((0, BTreeMap::new(), shard)) };
    let (next, next_group) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        let workers: Vec<_> = (0..args.threads)
            .map(|_| {
                scope.spawn(|| -> Result<()> {
                    let mut rows = Rows::new(&policy, &line)?;
                    while let Some(path) = streams.get(next.fetch_add(1, Ordering::Relaxed)) {
                        rows.stream(path, groups.is_none())?;
                    }
                    for at in groups.iter().flat_map(|groups| {
                        std::iter::from_fn(|| Some(next_group.fetch_add(1, Ordering::Relaxed)))
                            .take_while(|&at| at < groups.len())
                    }) {
                        let group =
                            groups.as_ref().and_then(|groups| groups.get(at)).map_or(&[][..], Vec::as_slice);
                        rows.group(group);
                        rows.flush(Some(at))?;
                    }
                    rows.flush(None)
                })
            })
            .collect();
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| anyhow!("a worker panicked"))?)
    })?;
    let (_, _, shard) = line.state.into_inner().map_err(|_| anyhow!("a worker panicked"))?;
    let shard = shard.finish()?;
    println!("{:.2} s, {} rows, {} bytes", began.elapsed().as_secs_f64(), shard.rows, shard.bytes);
    Ok(())
}

/// Bytes of a row without its candidates: position, ply, weight, value_q, candidates.
const HEAD: usize = PACKED_LEN + 2 + 4 + 4 + 2;

/// The rows of shards, as the bytes of each row group.
fn groups_of(shards: &[PathBuf]) -> Result<Vec<Vec<u8>>> {
    let mut groups = Vec::new();
    let mut rows = ShardRows::default();
    for path in shards {
        let shard = ShardReader::open(path)?;
        for group in 0..shard.row_groups() {
            shard.read_row_group(group, &mut rows)?;
            let mut bytes = Vec::new();
            for row in 0..rows.len() {
                bytes.extend_from_slice(&rows.packed[row]);
                bytes.extend_from_slice(&rows.ply[row].to_le_bytes());
                bytes.extend_from_slice(&rows.weight[row].to_le_bytes());
                bytes.extend_from_slice(&rows.value_q[row].to_le_bytes());
                bytes.extend_from_slice(&u16::try_from(rows.candidates(row).len())?.to_le_bytes());
                for at in rows.candidates(row) {
                    bytes.extend_from_slice(&rows.mv[at].to_le_bytes());
                    bytes.extend_from_slice(&rows.cp[at].to_le_bytes());
                }
            }
            groups.push(bytes);
        }
    }
    Ok(groups)
}

/// Brings row groups into their order.
struct Line {
    /// The group that is due, those that wait, the shard.
    state: Mutex<(usize, BTreeMap<usize, EncodedGroup>, ShardWriter)>,
}

impl Line {
    /// Writes a group in its turn, or at once where it has none.
    fn write(&self, at: Option<usize>, group: EncodedGroup) -> Result<()> {
        let mut state = self.state.lock().map_err(|_| anyhow!("a worker panicked"))?;
        let (due, waiting, shard) = &mut *state;
        waiting.insert(at.unwrap_or(*due), group);
        while let Some(group) = waiting.remove(due) {
            shard.append(group)?;
            *due += 1;
        }
        Ok(())
    }
}

/// One thread's rows.
struct Rows<'a> {
    policy: &'a Policy,
    line: &'a Line,
    encoder: GroupEncoder,
    group: GroupBuilder,
    cp: Vec<i16>,
    scratch: Vec<i16>,
    prob: Vec<f32>,
}

impl<'a> Rows<'a> {
    fn new(policy: &'a Policy, line: &'a Line) -> Result<Self> {
        let encoder = GroupEncoder::new(policy.conventions().policy_source, Outcomes::Stated)?;
        let (group, cp, scratch, prob) = (GroupBuilder::default(), Vec::new(), Vec::new(), Vec::new());
        Ok(Self { policy, line, encoder, group, cp, scratch, prob })
    }

    /// Decodes a stream and, if they are wanted, writes its records as rows.
    fn stream(&mut self, path: &Path, wanted: bool) -> Result<()> {
        let mut reader = StreamReader::open(path)?;
        let (header, mut batch) = (*reader.header(), Vec::new());
        while reader.next_batch(&mut batch)? {
            for record in RecordRef::each(&batch) {
                record.validate(&header)?;
                if !wanted {
                    continue;
                }
                let candidates = record.candidates().map(|candidate| (candidate.mv.bits(), candidate.cp));
                self.push(record.packed_bytes(), record.ply(), 1, record.value_q(), candidates);
                if self.group.rows() == ROWS_PER_GROUP {
                    self.flush(None)?;
                }
            }
        }
        Ok(())
    }

    /// Takes the rows of a row group.
    fn group(&mut self, mut bytes: &[u8]) {
        while let Some((head, rest)) = bytes.split_first_chunk::<HEAD>() {
            let Some((packed, &[a, b, w, x, y, z, e, f, g, h, n, m])) =
                head.split_first_chunk::<PACKED_LEN>()
            else {
                return;
            };
            let (candidates, rest) = rest.split_at(4 * usize::from(u16::from_le_bytes([n, m])));
            let candidates = candidates.as_chunks().0.iter();
            let candidates =
                candidates.map(|&[a, b, c, d]| (u16::from_le_bytes([a, b]), i16::from_le_bytes([c, d])));
            let (ply, weight) = (u16::from_le_bytes([a, b]), u32::from_le_bytes([w, x, y, z]));
            self.push(packed, ply, weight, f32::from_le_bytes([e, f, g, h]), candidates);
            bytes = rest;
        }
    }

    fn push(
        &mut self,
        packed: &[u8; PACKED_LEN],
        ply: u16,
        weight: u32,
        value_q: f32,
        candidates: impl Iterator<Item = (u16, i16)> + Clone,
    ) {
        self.group.push_row(packed, ply, weight, None, value_q);
        self.cp.clear();
        self.cp.extend(candidates.clone().map(|(_, cp)| cp));
        let mover = if packed[PACKED_LEN - 1] == 0 { Color::Black } else { Color::White };
        self.policy.probs_of_cp(&self.cp, mover, &mut self.scratch, &mut self.prob);
        self.group.push_scores(candidates, &self.prob);
    }

    fn flush(&mut self, at: Option<usize>) -> Result<()> {
        if self.group.rows() > 0 {
            let encoded = self.encoder.encode(&self.group)?;
            self.group.clear();
            self.line.write(at, encoded)?;
        }
        Ok(())
    }
}
