//! Pass 3: sort each spool by draw, cut the one order into row groups and shards, encode in parallel, write in order.
//!
//! A spool is sorted and encoded by one thread. Row groups that lie within it are encoded there; the rows before its
//! first group border and behind its last are handed on as they are, and the thread that writes joins them to those of
//! the neighbouring spools.

use super::fold_pass::PlacedRow;
use super::{PackOptions, on_threads};
use crate::error::{Error, Result};
use crate::place::Place;
use crate::policy::Policy;
use crate::shard::{
    EncodedGroup, Footer, GroupBuilder, GroupEncoder, ROWS_PER_GROUP, ShardSummary, ShardWriter,
};
use crate::spool::{Spool, Spools};
use manaka_core::packed::SIDE;
use manaka_core::progress::Progress;
use manaka_core::{Color, PolicySource};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};

pub fn run(
    spools: &Spools,
    out: &Path,
    policy: &Policy,
    footer: &Footer,
    options: &PackOptions,
    progress: &dyn Progress,
) -> Result<Vec<ShardSummary>> {
    let counts = spools.counts();
    let total: u64 = counts.iter().sum();
    progress.phase("write", Some(total), "rows");
    let cut = Cut { rows_per_shard: options.rows_per_shard.get(), total };
    let encoder = GroupEncoder::new(policy.conventions().policy_source).map_err(Error::parquet(out))?;
    let mut starts = Vec::with_capacity(counts.len());
    let mut start = 0;
    for count in counts {
        starts.push(start);
        start += count;
    }

    let line = Line::new(spools.len(), options.threads.get());
    let shards = Mutex::new(Some(Shards::create(out, &options.prefix, footer, cut, &encoder)?));
    let encoder = &encoder;
    // Threads take spools in order. Whoever finishes the one that is due writes it, and every later one that waits.
    on_threads(options.threads, || {
        let mut sorter = Sorter::new(policy);
        while let Some(index) = line.take() {
            let result =
                sorter.pieces(&spools.take(index), starts[index], cut, encoder).map_err(Error::parquet(out));
            let mut due = match result {
                Ok(pieces) => line.deliver(index, pieces),
                Err(error) => {
                    line.fail();
                    return Err(error);
                }
            };
            while let Some(pieces) = due {
                let rows = pieces.iter().map(Piece::rows).sum();
                let written = match &mut *shards.lock().unwrap_or_else(PoisonError::into_inner) {
                    Some(shards) => shards.write(pieces),
                    None => Err(Error::Worker),
                };
                if let Err(error) = written {
                    line.fail();
                    return Err(error);
                }
                progress.advance(rows);
                due = line.written();
            }
        }
        Ok(())
    })?;
    let shards = shards.lock().unwrap_or_else(PoisonError::into_inner).take();
    shards.ok_or(Error::Worker)?.finish()
}

/// Where the one order of rows is cut into shards and row groups.
#[derive(Clone, Copy)]
struct Cut {
    rows_per_shard: u64,
    total: u64,
}

impl Cut {
    /// The end of the row group that holds row `at`.
    fn group_end(self, at: u64) -> u64 {
        let in_shard = at % self.rows_per_shard;
        let shard_end = at - in_shard + self.rows_per_shard;
        let group_end = at - in_shard % ROWS_PER_GROUP as u64 + ROWS_PER_GROUP as u64;
        group_end.min(shard_end).min(self.total)
    }

    /// Whether a row group begins at row `at`.
    const fn begins_group(self, at: u64) -> bool {
        (at % self.rows_per_shard).is_multiple_of(ROWS_PER_GROUP as u64)
    }
}

/// A run of rows in the final order.
enum Piece {
    /// A whole row group.
    Group(EncodedGroup),
    /// Part of a row group; the rest is in neighbouring spools.
    Rows(GroupBuilder),
}

impl Piece {
    const fn rows(&self) -> u64 {
        match self {
            Self::Group(group) => group.rows(),
            Self::Rows(rows) => rows.rows() as u64,
        }
    }
}

/// Sorts spools and encodes their rows; one a thread.
struct Sorter<'a> {
    policy: &'a Policy,
    order: Vec<(Place, u32, u32)>,
    cp: Vec<i16>,
    scratch: Vec<i16>,
    prob: Vec<f32>,
}

impl<'a> Sorter<'a> {
    const fn new(policy: &'a Policy) -> Self {
        Self { policy, order: Vec::new(), cp: Vec::new(), scratch: Vec::new(), prob: Vec::new() }
    }

    /// The rows of a spool that begins at row `at` of the final order, as pieces.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "chunks are short, and a spool has far fewer than 2^32 of them"
    )]
    fn pieces(
        &mut self,
        spool: &Spool,
        mut at: u64,
        cut: Cut,
        encoder: &GroupEncoder,
    ) -> parquet::errors::Result<Vec<Piece>> {
        let source = self.policy.conventions().policy_source;
        self.order.clear();
        for (chunk, bytes) in spool.chunks.iter().enumerate() {
            let mut offset = 0;
            while let Some(row) = PlacedRow::read(&bytes[offset..], source) {
                self.order.push((row.place(), chunk as u32, offset as u32));
                offset += row.len();
            }
        }
        self.order.sort_unstable();

        let order = std::mem::take(&mut self.order);
        let mut pieces = Vec::new();
        let mut group = GroupBuilder::default();
        let mut rest = order.as_slice();
        while !rest.is_empty() {
            let end = cut.group_end(at);
            let wanted = usize::try_from(end - at).unwrap_or(usize::MAX).min(rest.len());
            let (rows, behind) = rest.split_at(wanted);
            for &(_, chunk, offset) in rows {
                if let Some(row) = PlacedRow::read(&spool.chunks[chunk as usize][offset as usize..], source) {
                    self.push(row, source, &mut group);
                }
            }
            let whole = cut.begins_group(at) && at + wanted as u64 == end;
            at += wanted as u64;
            rest = behind;
            if whole {
                pieces.push(Piece::Group(encoder.encode(&group)?));
                group.clear();
            } else {
                pieces.push(Piece::Rows(std::mem::take(&mut group)));
            }
        }
        self.order = order;
        Ok(pieces)
    }

    /// Appends a row to a group; this is where a score row gets its prob.
    fn push(&mut self, row: PlacedRow<'_>, source: PolicySource, group: &mut GroupBuilder) {
        group.push_row(row.packed(), row.ply(), row.weight(), row.value_z(), row.value_q());
        match source {
            PolicySource::Visits => {
                for (at, candidate) in row.candidates(source).enumerate() {
                    group.push_candidate(at == 0, candidate, None);
                }
            }
            PolicySource::SoftmaxCp => {
                self.cp.clear();
                self.cp.extend(row.candidates(source).map(|candidate| candidate.cp));
                let mover = if row.packed()[SIDE] == 0 { Color::Black } else { Color::White };
                self.policy.probs_of_cp(&self.cp, mover, &mut self.scratch, &mut self.prob);
                for (at, (mut candidate, &prob)) in row.candidates(source).zip(&self.prob).enumerate() {
                    candidate.prob = prob;
                    group.push_candidate(at == 0, candidate, Some(candidate.cp));
                }
            }
        }
    }
}

/// Keeps spools in line: they are taken in order, encoded by anyone and written in order, and nobody runs far ahead of
/// the writing.
struct Line {
    state: Mutex<LineState>,
    moved: Condvar,
    spools: usize,
    ahead: usize,
}

struct LineState {
    next: usize,
    /// The spool whose pieces are to be written next; while someone writes it, it is theirs.
    due: usize,
    waiting: BTreeMap<usize, Vec<Piece>>,
    failed: bool,
}

impl Line {
    const fn new(spools: usize, threads: usize) -> Self {
        let state = LineState { next: 0, due: 0, waiting: BTreeMap::new(), failed: false };
        Self { state: Mutex::new(state), moved: Condvar::new(), spools, ahead: 2 * threads }
    }

    /// The next spool to encode; `None` when there is none or the run failed.
    fn take(&self) -> Option<usize> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while !state.failed && state.next < self.spools && state.next >= state.due + self.ahead {
            state = self.moved.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.failed || state.next >= self.spools {
            return None;
        }
        state.next += 1;
        Some(state.next - 1)
    }

    /// Delivers a spool's pieces; gives them back when they are due, and the caller must write them.
    fn deliver(&self, index: usize, pieces: Vec<Piece>) -> Option<Vec<Piece>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.due == index {
            return Some(pieces);
        }
        state.waiting.insert(index, pieces);
        None
    }

    /// Notes that what was due is written; gives the next pieces if they wait already.
    fn written(&self) -> Option<Vec<Piece>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.due += 1;
        self.moved.notify_all();
        let due = state.due;
        state.waiting.remove(&due)
    }

    fn fail(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).failed = true;
        self.moved.notify_all();
    }
}

/// The shards being written.
struct Shards<'a> {
    out: PathBuf,
    prefix: String,
    footer: &'a Footer,
    cut: Cut,
    encoder: GroupEncoder,
    /// Rows that do not yet make a whole group.
    pending: GroupBuilder,
    /// Rows written or pending.
    at: u64,
    current: ShardWriter,
    done: Vec<ShardSummary>,
}

impl<'a> Shards<'a> {
    /// Opens the first shard at once: a directory that cannot be written is known early, and a fold without rows
    /// leaves one shard that states its conventions.
    fn create(
        out: &Path,
        prefix: &str,
        footer: &'a Footer,
        cut: Cut,
        encoder: &GroupEncoder,
    ) -> Result<Self> {
        Ok(Self {
            out: out.to_owned(),
            prefix: prefix.to_owned(),
            footer,
            cut,
            encoder: encoder.clone(),
            pending: GroupBuilder::default(),
            at: 0,
            current: ShardWriter::create(&shard_path(out, prefix, 0), footer)?,
            done: Vec::new(),
        })
    }

    fn write(&mut self, pieces: Vec<Piece>) -> Result<()> {
        for piece in pieces {
            self.at += piece.rows();
            let group = match piece {
                Piece::Group(group) => group,
                Piece::Rows(rows) => {
                    self.pending.append(&rows);
                    let whole = self.at == self.cut.total || self.cut.begins_group(self.at);
                    if !whole {
                        continue;
                    }
                    let group = self.encoder.encode(&self.pending).map_err(Error::parquet(&self.out))?;
                    self.pending.clear();
                    group
                }
            };
            if self.current.rows() == self.cut.rows_per_shard {
                let path = shard_path(&self.out, &self.prefix, self.done.len() + 1);
                let full = std::mem::replace(&mut self.current, ShardWriter::create(&path, self.footer)?);
                self.done.push(full.finish()?);
            }
            self.current.append(group)?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<ShardSummary>> {
        self.done.push(self.current.finish()?);
        Ok(self.done)
    }
}

fn shard_path(out: &Path, prefix: &str, number: usize) -> PathBuf {
    out.join(format!("{prefix}-{number:05}.parquet"))
}
