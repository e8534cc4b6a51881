//! Pass 3: sort each spool by draw, cut the one order into row groups and shards, encode in parallel, write in order.
//! A unit is a shard.
//!
//! Spools are small, so that their rows are gathered from near memory. A stretch of neighbouring spools is sorted and
//! encoded by one thread. Row groups that lie within it are encoded there; the rows before its first group border and
//! behind its last are handed on as they are, and the thread that writes joins them to those of the neighbours.

use super::fold_pass::Fold;
use super::{Run, on_threads, shard_path};
use crate::entry::{PlacedRow, step_row};
use crate::error::{Error, Result};
use crate::fold::{self, Row, as_it_is};
use crate::key;
use crate::order::{Item, Sorter, prefetch};
use crate::place;
use crate::policy::Policy;
use crate::shard::{
    EncodedGroup, Footer, GroupBuilder, GroupEncoder, Outcomes, ROWS_PER_GROUP, ShardSummary, ShardWriter,
    columns,
};
use crate::spool::Spools;
use manaka_core::whole_file::TEMP_SUFFIX;
use manaka_core::{Color, PolicySource};
use std::collections::BTreeMap;
use std::mem;
use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};

const UNIT: &str = "shard";

pub fn run(
    run: &Run<'_>,
    spools: &Spools<'_>,
    out: &Path,
    footer: &Footer,
    fold: &Fold,
) -> Result<Vec<ShardSummary>> {
    let counts = &fold.rows;
    let total: u64 = counts.iter().sum();
    let cut = Cut { rows_per_shard: run.options.rows_per_shard.get(), total };
    let done = earlier(run, out, footer)?;
    let from = done.len() as u64 * cut.rows_per_shard;
    run.progress.phase("write", Some(total), "rows");
    run.progress.advance(from.min(total));
    if from >= total && !done.is_empty() {
        return Ok(done);
    }
    let mut starts = Vec::with_capacity(counts.len() + 1);
    starts.push(0);
    for count in counts {
        starts.push(starts[starts.len() - 1] + count);
    }
    // The first spool with a row that is not in a finished shard.
    let first = starts.partition_point(|&start| start <= from) - 1;

    let source = run.policy.conventions().policy_source;
    // Of the whole fold, so that the shards of one pack have one schema.
    let outcomes = if fold.without_outcome(source) > 0 { Outcomes::SomeAbsent } else { Outcomes::Stated };
    let encoder = || GroupEncoder::new(source, outcomes).map_err(Error::parquet(out));
    let stretches = stretches(first..spools.len(), run.plan.stretch, run.options.threads.get());
    let line = Line::new(stretches.len(), run.options.threads.get());
    let shards = Shards::create(run, spools, &starts, out, footer, cut, encoder()?, done)?;
    let shards = Mutex::new(Some(shards));
    let starts = &starts;
    // Threads take stretches in order. Whoever finishes the one that is due writes it, and every later one that waits.
    on_threads(run.options.threads, || {
        let mut gather = Gather::new(run.policy);
        let mut encoder = encoder()?;
        while let Some(index) = line.take() {
            let stretch = stretches[index].clone();
            let mut rows = Stretch::new(cut, &mut encoder, starts[stretch.start], from);
            let pieces = stretch
                .into_iter()
                .try_for_each(|spool| {
                    run.check_cancelled()?;
                    let chunks = spools.load(spool, &fold.done)?;
                    let draws = place::range(spool, spools.len());
                    let found = gather.spool(&chunks, &draws, &mut rows).map_err(Error::parquet(out))?;
                    if found as u64 != counts[spool] {
                        let what = format!("number {spool} holds {found} rows, {} were noted", counts[spool]);
                        return Err(spools.changed(&what));
                    }
                    // In memory nothing takes them again.
                    if !run.plan.in_memory {
                        run.pool.give(chunks);
                    }
                    Ok(())
                })
                .and_then(|()| rows.finish().map_err(Error::parquet(out)))
                .inspect_err(|_| line.fail())?;
            let mut due = line.deliver(index, pieces);
            while let Some(pieces) = due {
                let rows = pieces.iter().map(Piece::rows).sum();
                let written = match &mut *shards.lock().unwrap_or_else(PoisonError::into_inner) {
                    Some(shards) => shards.write(pieces, &mut encoder),
                    None => Err(Error::Worker),
                };
                written.inspect_err(|_| line.fail())?;
                run.progress.advance(rows);
                due = line.written();
            }
        }
        Ok(())
    })?;
    let shards = shards.lock().unwrap_or_else(PoisonError::into_inner).take();
    shards.ok_or(Error::Worker)?.finish()
}

/// Spools cut into stretches of at most `longest`, shorter towards the end, so that no thread is left with a long one when the
/// others have none.
fn stretches(spools: Range<usize>, longest: usize, threads: usize) -> Vec<Range<usize>> {
    let mut stretches = Vec::new();
    let mut begin = spools.start;
    while begin < spools.end {
        let end = begin + ((spools.end - begin) / (4 * threads)).clamp(1, longest.max(1));
        stretches.push(begin..end);
        begin = end;
    }
    stretches
}

/// The shards that an earlier run finished, in order and without a gap. Unfinished ones are removed.
fn earlier(run: &Run<'_>, out: &Path, footer: &Footer) -> Result<Vec<ShardSummary>> {
    let columns = columns(footer.conventions.policy_source).count();
    let mut done = Vec::new();
    // Shards hold even when the spools they came from were in memory.
    for words in run.past.of(UNIT) {
        let [number, rows, bytes, column_bytes] = words[..] else { continue };
        let (Ok(number), Ok(rows), Ok(bytes)) = (number.parse::<usize>(), rows.parse(), bytes.parse::<u64>())
        else {
            continue;
        };
        let column_bytes: Vec<u64> = column_bytes.split(',').filter_map(|n| n.parse().ok()).collect();
        let path = shard_path(out, &run.options.prefix, number);
        let found = std::fs::metadata(&path).map_err(Error::io(&path))?.len();
        if number != done.len() || column_bytes.len() != columns || found != bytes {
            let what = format!("the journal says shard {number} has {bytes} bytes, it has {found}");
            return Err(Error::Leftover { path, what });
        }
        done.push(ShardSummary { path, rows, bytes, column_bytes });
    }
    if run.options.resume {
        // The shard that was being written, or was named but not yet noted.
        let path = shard_path(out, &run.options.prefix, done.len());
        for path in [PathBuf::from(format!("{}{TEMP_SUFFIX}", path.display())), path] {
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Error::io(&path)(error));
                }
                _ => {}
            }
        }
    }
    Ok(done)
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
    /// Part of a row group; the rest is in the neighbouring stretches.
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

/// The rows of neighbouring spools as they come, cut into pieces.
struct Stretch<'a> {
    cut: Cut,
    encoder: &'a mut GroupEncoder,
    /// Where the next row stands in the final order.
    at: u64,
    /// Rows before this one are in a finished shard.
    from: u64,
    /// The rows since the last cut, of which the first stands at `start`.
    group: GroupBuilder,
    start: u64,
    pieces: Vec<Piece>,
}

impl<'a> Stretch<'a> {
    fn new(cut: Cut, encoder: &'a mut GroupEncoder, at: u64, from: u64) -> Self {
        let start = at.max(from);
        Self { cut, encoder, at, from, group: GroupBuilder::default(), start, pieces: Vec::new() }
    }

    /// The row in the group was the last of it that comes.
    fn cut(&mut self) -> parquet::errors::Result<()> {
        let whole = self.cut.begins_group(self.start) && self.cut.group_end(self.start) == self.at;
        self.start = self.at;
        self.pieces.push(if whole {
            let group = self.encoder.encode(&self.group)?;
            self.group.clear();
            Piece::Group(group)
        } else {
            Piece::Rows(mem::take(&mut self.group))
        });
        Ok(())
    }

    fn finish(mut self) -> parquet::errors::Result<Vec<Piece>> {
        if self.group.rows() > 0 {
            self.cut()?;
        }
        Ok(self.pieces)
    }
}

/// Sorts spools; one a thread.
struct Gather<'a> {
    policy: &'a Policy,
    sorter: Sorter,
    row: Row,
    cp: Vec<i16>,
    scratch: Vec<i16>,
    prob: Vec<f32>,
}

/// Rows are asked for this many ahead of their turn.
const AHEAD: usize = 12;
/// Bytes of a row that are asked for: three lines, which hold one of 18 candidates wherever it begins.
const LOOK: usize = 129;

impl<'a> Gather<'a> {
    fn new(policy: &'a Policy) -> Self {
        Self {
            policy,
            sorter: Sorter::default(),
            row: Row::default(),
            cp: Vec::new(),
            scratch: Vec::new(),
            prob: Vec::new(),
        }
    }

    /// Appends the rows of the next spool to a stretch; says how many they are.
    fn spool(
        &mut self,
        chunks: &[Vec<u8>],
        draws: &RangeInclusive<u64>,
        stretch: &mut Stretch<'_>,
    ) -> parquet::errors::Result<usize> {
        let mut sorter = mem::take(&mut self.sorter);
        let source = self.policy.conventions().policy_source;
        let items = sorter.sort(chunks, draws, |bytes| step_row(bytes, source));
        items.iter().take(AHEAD).for_each(|item| prefetch(*item, LOOK, chunks));
        let mut at = 0;
        while at < items.len() {
            let key = items[at].key;
            let end = at + items[at..].iter().take_while(|item| item.key == key).count();
            for ahead in at + AHEAD..end + AHEAD {
                if let Some(item) = items.get(ahead) {
                    prefetch(*item, LOOK, chunks);
                }
            }
            self.equal_draws(&items[at..end], chunks, stretch)?;
            at = end;
        }
        let rows = items.len();
        self.sorter = sorter;
        Ok(rows)
    }

    /// Appends rows whose draws are equal, which hardly ever are two.
    fn equal_draws(
        &mut self,
        items: &[Item],
        chunks: &[Vec<u8>],
        stretch: &mut Stretch<'_>,
    ) -> parquet::errors::Result<()> {
        let source = self.policy.conventions().policy_source;
        let row = |item: &Item| PlacedRow::read(item.bytes(chunks), source);
        let tied;
        let items = match items {
            [_] => items,
            _ => {
                let mut items = items.to_vec();
                items.sort_by_cached_key(|item| row(item).map(|row| key::whole(&row.position().packed())));
                tied = items;
                &tied
            }
        };
        for item in items {
            let wanted = stretch.at >= stretch.from;
            if let Some(row) = row(item)
                && wanted
            {
                self.push(row, source, &mut stretch.group);
            }
            stretch.at += 1;
            if wanted && stretch.at == stretch.cut.group_end(stretch.start) {
                stretch.cut()?;
            }
        }
        Ok(())
    }

    /// Appends a row to a group; this is where a score row gets its prob.
    fn push(&mut self, row: PlacedRow<'_>, source: PolicySource, group: &mut GroupBuilder) {
        let position = row.position();
        let mover = position.mover();
        match row {
            PlacedRow::Several(row) => {
                group.push_row(&position.packed(), row.ply(), row.weight(), row.value_z(), row.value_q());
                match source {
                    PolicySource::Visits => push_shares(row.shares(), group),
                    PolicySource::SoftmaxCp => self.push_scores(mover, row.scores(), group),
                }
            }
            PlacedRow::One(entry) => {
                if let Some(value_q) = as_it_is(&entry, self.policy) {
                    group.push_row(&position.packed(), entry.ply(), 1, None, value_q);
                    return self.push_scores(mover, entry.scores(), group);
                }
                let mut row = mem::take(&mut self.row);
                fold::of_one(&entry, self.policy, &mut row);
                group.push_row(&position.packed(), row.ply, row.weight, row.value_z, row.value_q);
                let candidates = row.candidates.iter();
                match source {
                    PolicySource::Visits => push_shares(candidates.map(|c| (c.mv, c.prob)), group),
                    PolicySource::SoftmaxCp => {
                        self.push_scores(mover, candidates.map(|c| (c.mv, c.cp)), group)
                    }
                }
                self.row = row;
            }
        }
    }

    /// Appends the candidates of a score row.
    fn push_scores(
        &mut self,
        mover: Color,
        scores: impl Iterator<Item = (u16, i16)> + Clone,
        group: &mut GroupBuilder,
    ) {
        self.cp.clear();
        self.cp.extend(scores.clone().map(|(_, cp)| cp));
        self.policy.probs_of_cp(&self.cp, mover, &mut self.scratch, &mut self.prob);
        group.push_scores(scores, &self.prob);
    }
}

/// Appends the candidates of a visits row.
fn push_shares(shares: impl Iterator<Item = (u16, f32)>, group: &mut GroupBuilder) {
    for (at, (mv, prob)) in shares.enumerate() {
        group.push_candidate(at == 0, mv, prob, None);
    }
}

/// Keeps stretches in line: they are taken in order, encoded by anyone and written in order, and nobody runs far ahead
/// of the writing.
struct Line {
    state: Mutex<LineState>,
    moved: Condvar,
    stretches: usize,
    ahead: usize,
}

struct LineState {
    next: usize,
    /// The stretch whose pieces are to be written next; while someone writes it, it is theirs.
    due: usize,
    waiting: BTreeMap<usize, Vec<Piece>>,
    failed: bool,
}

impl Line {
    const fn new(stretches: usize, threads: usize) -> Self {
        let state = LineState { next: 0, due: 0, waiting: BTreeMap::new(), failed: false };
        Self { state: Mutex::new(state), moved: Condvar::new(), stretches, ahead: 2 * threads }
    }

    /// The next stretch to encode; `None` when there is none or the run failed.
    fn take(&self) -> Option<usize> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while !state.failed && state.next < self.stretches && state.next >= state.due + self.ahead {
            state = self.moved.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.failed || state.next >= self.stretches {
            return None;
        }
        state.next += 1;
        Some(state.next - 1)
    }

    /// Delivers a stretch's pieces; gives them back when they are due, and the caller must write them.
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
    run: &'a Run<'a>,
    spools: &'a Spools<'a>,
    /// Where each spool begins in the final order, and the end.
    starts: &'a [u64],
    /// Spools removed so far.
    removed: usize,
    out: PathBuf,
    footer: &'a Footer,
    cut: Cut,
    encoder: GroupEncoder,
    /// Rows that do not yet make a whole group.
    pending: GroupBuilder,
    /// Rows written or pending.
    at: u64,
    current: Option<ShardWriter>,
    done: Vec<ShardSummary>,
}

impl<'a> Shards<'a> {
    /// Opens the next shard at once: a directory that cannot be written is known early, and a fold without rows
    /// leaves one shard that states its conventions.
    #[expect(clippy::too_many_arguments, reason = "what the last pass brings together")]
    fn create(
        run: &'a Run<'a>,
        spools: &'a Spools<'a>,
        starts: &'a [u64],
        out: &Path,
        footer: &'a Footer,
        cut: Cut,
        encoder: GroupEncoder,
        done: Vec<ShardSummary>,
    ) -> Result<Self> {
        let mut shards = Self {
            run,
            spools,
            starts,
            removed: 0,
            out: out.to_owned(),
            footer,
            cut,
            encoder,
            pending: GroupBuilder::default(),
            at: done.len() as u64 * cut.rows_per_shard,
            current: None,
            done,
        };
        shards.open()?;
        Ok(shards)
    }

    /// Writes pieces, whose memory `encoder` gets.
    fn write(&mut self, pieces: Vec<Piece>, encoder: &mut GroupEncoder) -> Result<()> {
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
            if self.current.as_ref().is_some_and(|shard| shard.rows() == self.cut.rows_per_shard) {
                self.close()?;
                let written = self.done.len() as u64 * self.cut.rows_per_shard;
                while self.starts.get(self.removed + 1).is_some_and(|&end| end <= written) {
                    self.spools.remove(self.removed)?;
                    self.removed += 1;
                }
            }
            encoder.give_back(self.open()?.append(group)?);
        }
        Ok(())
    }

    /// The shard being written. There is never more than one unfinished shard, so that a resumed run knows which it is.
    fn open(&mut self) -> Result<&mut ShardWriter> {
        if self.current.is_none() {
            let path = shard_path(&self.out, &self.run.options.prefix, self.done.len());
            self.current = Some(ShardWriter::create(&path, self.footer, self.encoder.outcomes())?);
        }
        self.current.as_mut().ok_or(Error::Worker)
    }

    fn close(&mut self) -> Result<()> {
        if let Some(shard) = self.current.take() {
            let shard = shard.finish()?;
            note(self.run, self.spools, self.done.len(), &shard)?;
            self.done.push(shard);
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<ShardSummary>> {
        self.close()?;
        Ok(self.done)
    }
}

/// Notes a finished shard at once: it cannot be told from an unfinished one otherwise.
fn note(run: &Run<'_>, spools: &Spools<'_>, number: usize, shard: &ShardSummary) -> Result<()> {
    let columns: Vec<String> = shard.column_bytes.iter().map(u64::to_string).collect();
    let line = format!("{UNIT}\t{number}\t{}\t{}\t{}", shard.rows, shard.bytes, columns.join(","));
    run.work.flush(line, spools, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_are_neighbours_that_grow_short_towards_the_end() {
        for (first, end, longest, threads) in
            [(0, 430, 16, 2), (7, 430, 16, 2), (0, 1, 16, 8), (3, 3, 4, 1), (0, 50, 0, 1)]
        {
            let stretches = stretches(first..end, longest, threads);
            let spools: Vec<usize> = stretches.iter().cloned().flatten().collect();
            assert_eq!(spools, (first..end).collect::<Vec<_>>());
            let lengths: Vec<usize> = stretches.iter().map(ExactSizeIterator::len).collect();
            assert!(
                lengths.is_sorted_by(|a, b| a >= b) && lengths.iter().all(|len| *len <= longest.max(1)),
                "{lengths:?}"
            );
            // When a thread takes one of the last, every thread has one left to take.
            assert!(
                lengths.iter().rev().take(threads.min(lengths.len())).all(|len| *len == 1),
                "{lengths:?}"
            );
        }
        assert_eq!(stretches(0..430, 16, 2)[0], 0..16);
    }
}
