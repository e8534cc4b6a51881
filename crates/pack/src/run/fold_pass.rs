//! Pass 2: fold each bucket, give every row its place, scatter rows by draw. A unit is a bucket.

use super::merge::{Sorted, merge_runs, write_run};
use super::{Run, on_threads, read_pass};
use crate::entry::Entry;
use crate::error::Result;
use crate::fold::{Folded, Folder, Row, as_it_is};
use crate::journal::PassEnd;
use crate::order::Sorter;
use crate::place::{self, Draws};
use crate::spool::{Chunk, Done, SpoolWriter, Spools, Tag};
use crate::squeezed::Position;
use manaka_core::PolicySource;
use manaka_core::conventions::NO_OUTCOME;
use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What the pass found.
#[derive(Default)]
pub struct Fold {
    pub largest_weight: u32,
    pub excluded_positions: u64,
    pub excluded_records: u64,
    /// Rows none of whose records has an outcome.
    pub no_outcome: u64,
    /// The attempt that finished each unit.
    pub done: Done,
    /// Rows of each spool.
    pub rows: Vec<u64>,
    /// What is still to be written in the journal.
    pub end: Option<PassEnd>,
}

impl Fold {
    /// Rows whose outcome a shard has to leave out; score shards have no outcomes to leave out.
    pub const fn without_outcome(&self, source: PolicySource) -> u64 {
        match source {
            PolicySource::Visits => self.no_outcome,
            PolicySource::SoftmaxCp => 0,
        }
    }

    fn add(&mut self, other: Self) {
        self.largest_weight = self.largest_weight.max(other.largest_weight);
        self.excluded_positions += other.excluded_positions;
        self.excluded_records += other.excluded_records;
        self.no_outcome += other.no_outcome;
        self.done.extend(other.done);
    }
}

const UNIT: &str = "fold";
const END: &str = "fold-end";
const ROWS: &str = "rows";

/// Folds all buckets into the spools.
pub fn run(run: &Run<'_>, read: &Done, buckets: &Spools<'_>, spools: &Spools<'_>) -> Result<Fold> {
    let (mut total, mut noted) = (Fold::default(), 0);
    for words in run.past_of(UNIT) {
        let [unit, attempt, largest, positions, records, no_outcome, rows] = words[..] else { continue };
        noted += rows.parse::<u64>().unwrap_or(0);
        let (Ok(unit), Ok(attempt)) = (unit.parse(), attempt.parse()) else { continue };
        total.add(Fold {
            largest_weight: largest.parse().unwrap_or(0),
            excluded_positions: positions.parse().unwrap_or(0),
            excluded_records: records.parse().unwrap_or(0),
            no_outcome: no_outcome.parse().unwrap_or(0),
            done: Done::from([(unit, attempt)]),
            rows: Vec::new(),
            end: None,
        });
    }
    // Once rows are written, spools go: their counts stand in the journal.
    if !run.plan.in_memory && run.past.has(END) {
        for words in run.past_of(ROWS) {
            total.rows = words.iter().filter_map(|rows| rows.parse().ok()).collect();
        }
        return Ok(total);
    }
    spools.adopt(&total.done)?;
    spools.expect(noted)?;
    run.progress.phase("fold", Some(buckets.counts().iter().sum()), "records");
    let next = AtomicUsize::new(0);
    let earlier = &total.done;
    let folds = on_threads(run.options.threads, || {
        let mut worker = Worker {
            run,
            folder: Folder::new(run.policy),
            sorter: Sorter::default(),
            out: spools.writer(),
            fold: Fold::default(),
        };
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= buckets.len() {
                worker.out.finish()?;
                return Ok(worker.fold);
            }
            let unit = u32::try_from(at).unwrap_or(u32::MAX);
            if earlier.contains_key(&unit) {
                // A kill may have come between its line and its removal.
                buckets.remove(at)?;
                continue;
            }
            run.check_cancelled()
                .and_then(|()| match read_pass::is_whole(run, buckets, at) {
                    true => Ok(()),
                    false => Err(buckets.changed(&format!("number {at} is not as it was read"))),
                })
                .inspect_err(|_| next.store(buckets.len(), Ordering::Relaxed))?;
            worker
                .bucket(buckets, at, read, run.work.tag(unit), spools)
                .inspect_err(|_| next.store(buckets.len(), Ordering::Relaxed))?;
        }
    })?;
    folds.into_iter().for_each(|fold| total.add(fold));
    total.rows = spools.counts();
    let rows: Vec<String> = total.rows.iter().map(u64::to_string).collect();
    total.end = Some(run.work.begin_end_of_pass(format!("{ROWS}\t{}\n{END}", rows.join("\t"))));
    Ok(total)
}

/// One thread's folding.
struct Worker<'a> {
    run: &'a Run<'a>,
    folder: Folder<'a>,
    sorter: Sorter,
    out: SpoolWriter<'a, 'a>,
    fold: Fold,
}

impl Worker<'_> {
    fn bucket(
        &mut self,
        buckets: &Spools<'_>,
        at: usize,
        read: &Done,
        tag: Tag,
        spools: &Spools<'_>,
    ) -> Result<()> {
        let source = self.run.policy.conventions().policy_source;
        let (records, mut found) = (buckets.items(at), 0);
        self.out.begin(tag);
        let mut rows =
            Rows { source, slot: None, draws: Draws::of_slot(0), placed: 0, unit: Fold::default() };
        let (folder, out) = (&mut self.folder, &mut self.out);
        if buckets.bytes(at) <= self.run.plan.load {
            let chunks = buckets.load(at, read)?;
            let sorted = Sorted::new(&chunks, source, &mut self.sorter);
            found += sorted.len() as u64;
            sorted.groups(|group| {
                if group.is_single()
                    && let Some(value_q) = as_it_is(&group.first, self.run.policy)
                {
                    return rows.push_single(group.slot, &group.first, value_q, out);
                }
                group.fold(folder);
                rows.place(group.slot, group.first.position(), folder, out)
            })?;
            self.run.pool.give(chunks);
        } else {
            let mut runs = Vec::new();
            let mut piece: Vec<Chunk> = Vec::new();
            let mut write = |piece: &mut Vec<Chunk>, folder: &mut Folder<'_>| {
                let path = self.run.work.path().join(format!("run-{at:04}-{:04}", runs.len()));
                let chunks = mem::take(piece);
                let sorted = Sorted::new(&chunks, source, &mut self.sorter);
                found += sorted.len() as u64;
                write_run(&path, &sorted, folder)?;
                self.run.pool.give(chunks);
                runs.push(path);
                self.run.check_cancelled()
            };
            let mut held = 0;
            buckets.each_chunk(at, read, |chunk| {
                held += chunk.len() as u64;
                piece.push(chunk);
                if held < self.run.plan.load {
                    return Ok(());
                }
                held = 0;
                write(&mut piece, folder)
            })?;
            write(&mut piece, folder)?;
            merge_runs(&runs, folder, |slot, position, folder| rows.place(slot, position, folder, out))?;
        }
        if found != records {
            return Err(
                buckets.changed(&format!("number {at} holds {found} entries, {records} were scattered"))
            );
        }
        self.out.end()?;
        let (mut unit, placed) = (rows.unit, rows.placed);
        unit.done.insert(tag.unit, tag.attempt);
        let line = format!(
            "{UNIT}\t{}\t{}\t{}\t{}\t{}\t{}\t{}",
            tag.unit,
            tag.attempt,
            unit.largest_weight,
            unit.excluded_positions,
            unit.excluded_records,
            unit.no_outcome,
            placed
        );
        self.fold.add(unit);
        self.run.progress.advance(records);
        self.run.work.note(line, spools, Some((buckets, at)))
    }
}

/// Gives the rows of a bucket their places, in the order in which they come.
struct Rows {
    source: PolicySource,
    slot: Option<u32>,
    draws: Draws,
    placed: u64,
    unit: Fold,
}

impl Rows {
    /// Ends the position that is in the folder.
    fn place(
        &mut self,
        slot: u32,
        position: Position<'_>,
        folder: &mut Folder<'_>,
        out: &mut SpoolWriter<'_, '_>,
    ) -> Result<()> {
        match folder.finish(position)? {
            Folded::Row(row) => self.push(slot, position, row, out),
            Folded::Excluded(0) => Ok(()),
            Folded::Excluded(records) => {
                self.unit.excluded_positions += 1;
                self.unit.excluded_records += records;
                Ok(())
            }
        }
    }

    /// Gives a row its place.
    fn push(
        &mut self,
        slot: u32,
        position: Position<'_>,
        row: &Row,
        out: &mut SpoolWriter<'_, '_>,
    ) -> Result<()> {
        self.unit.largest_weight = self.unit.largest_weight.max(row.weight);
        self.unit.no_outcome += u64::from(row.value_z.is_none());
        let (draw, source) = (self.draw(slot), self.source);
        // Well-formed moves are far fewer than 65536.
        let n = u16::try_from(row.candidates.len()).unwrap_or(u16::MAX);
        let head = row_head(row.ply, row.weight, row.value_q, n);
        out.push(place::spool(draw, out.len()), draw, |bytes| {
            bytes.extend_from_slice(&head);
            push_outcome(source, row.value_z, bytes);
            bytes.extend_from_slice(position.bytes());
            match source {
                PolicySource::Visits => bytes.extend(row.candidates.iter().flat_map(|candidate| {
                    let ([a, b], [c, d, e, f]) = (candidate.mv.to_le_bytes(), candidate.prob.to_le_bytes());
                    [a, b, c, d, e, f]
                })),
                PolicySource::SoftmaxCp => bytes.extend(row.candidates.iter().flat_map(|candidate| {
                    let ([a, b], [c, d]) = (candidate.mv.to_le_bytes(), candidate.cp.to_le_bytes());
                    [a, b, c, d]
                })),
            }
        })
    }

    /// Gives the row that is an entry as it is its place.
    fn push_single(
        &mut self,
        slot: u32,
        entry: &Entry<'_>,
        value_q: f32,
        out: &mut SpoolWriter<'_, '_>,
    ) -> Result<()> {
        let value_z = entry.outcome().map(f32::from);
        self.unit.largest_weight = self.unit.largest_weight.max(1);
        self.unit.no_outcome += u64::from(value_z.is_none());
        let (draw, source) = (self.draw(slot), self.source);
        let head = row_head(entry.ply(), 1, value_q, entry.n_cand());
        out.push(place::spool(draw, out.len()), draw, |bytes| {
            bytes.extend_from_slice(&head);
            push_outcome(source, value_z, bytes);
            entry.append_position_and_candidates(bytes);
        })
    }

    /// The draw of the next rank of a slot.
    fn draw(&mut self, slot: u32) -> u64 {
        if self.slot != Some(slot) {
            (self.slot, self.draws) = (Some(slot), Draws::of_slot(slot));
        }
        self.placed += 1;
        self.draws.next()
    }
}

/// A placed row in a spool, under its draw.
///
/// ```text
/// ply u16 | weight u32 | value_q f32 | n u16               | position | n × (mv u16, cp i16)     policy from cp
/// ply u16 | weight u32 | value_q f32 | n u16 | value_z f32 | position | n × (mv u16, prob f32)   policy from visits
/// ```
///
/// `value_z` is 2 where no record of the row has an outcome; score rows have none in their shards. Slot and rank are not
/// there: they follow the order of (hash, position), which the row has.
fn row_head(ply: u16, weight: u32, value_q: f32, n: u16) -> [u8; ROW_HEAD] {
    let ([a, b], [c, d, e, f]) = (ply.to_le_bytes(), weight.to_le_bytes());
    let ([g, h, i, j], [k, l]) = (value_q.to_le_bytes(), n.to_le_bytes());
    [a, b, c, d, e, f, g, h, i, j, k, l]
}

fn push_outcome(source: PolicySource, value_z: Option<f32>, bytes: &mut Vec<u8>) {
    if source == PolicySource::Visits {
        bytes.extend_from_slice(&value_z.unwrap_or(NO_OUTCOME).to_le_bytes());
    }
}

const ROW_HEAD: usize = 2 + 4 + 4 + 2;

/// A placed row where it lies.
#[derive(Clone, Copy)]
pub struct PlacedRow<'a> {
    head: &'a [u8; ROW_HEAD],
    value_z: f32,
    position: Position<'a>,
    candidates: &'a [u8],
}

impl<'a> PlacedRow<'a> {
    /// The row at the start of `bytes`; `None` when they hold none.
    pub fn read(bytes: &'a [u8], source: PolicySource) -> Option<Self> {
        let (head, rest) = bytes.split_first_chunk::<ROW_HEAD>()?;
        let (value_z, rest, candidate) = match source {
            PolicySource::Visits => {
                let (value_z, rest) = rest.split_first_chunk()?;
                (f32::from_le_bytes(*value_z), rest, 2 + 4)
            }
            PolicySource::SoftmaxCp => (NO_OUTCOME, rest, 2 + 2),
        };
        let n = u16::from_le_bytes([head[ROW_HEAD - 2], head[ROW_HEAD - 1]]);
        let position = Position::read(rest)?;
        Some(Self { head, value_z, position, candidates: position.rest().get(..usize::from(n) * candidate)? })
    }

    fn u32_at(&self, at: usize) -> u32 {
        u32::from_le_bytes([self.head[at], self.head[at + 1], self.head[at + 2], self.head[at + 3]])
    }

    pub const fn position(&self) -> Position<'a> {
        self.position
    }

    pub fn ply(&self) -> u16 {
        u16::from_le_bytes([self.head[0], self.head[1]])
    }

    pub fn weight(&self) -> u32 {
        self.u32_at(2)
    }

    pub fn value_z(&self) -> Option<f32> {
        (self.value_z != NO_OUTCOME).then_some(self.value_z)
    }

    pub fn value_q(&self) -> f32 {
        f32::from_bits(self.u32_at(6))
    }

    /// `(mv, cp)` of a score row.
    pub fn scores(&self) -> impl Iterator<Item = (u16, i16)> + use<'a> {
        self.candidates
            .as_chunks()
            .0
            .iter()
            .map(|&[a, b, c, d]| (u16::from_le_bytes([a, b]), i16::from_le_bytes([c, d])))
    }

    /// `(mv, prob)` of a visits row.
    pub fn shares(&self) -> impl Iterator<Item = (u16, f32)> + use<'a> {
        self.candidates
            .as_chunks()
            .0
            .iter()
            .map(|&[a, b, c, d, e, f]| (u16::from_le_bytes([a, b]), f32::from_le_bytes([c, d, e, f])))
    }
}
