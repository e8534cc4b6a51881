//! Pass 2: fold each bucket, give every row its place, scatter rows by draw. A unit is some buckets.

use super::merge::{Group, Sorted, merge_runs, write_run};
use super::unit::Unit;
use super::{Run, on_threads, read_pass};
use crate::entry;
use crate::error::Result;
use crate::fold::{Folded, Folder, Row};
use crate::journal::PassEnd;
use crate::key;
use crate::order::Sorter;
use crate::place::{self, Draws};
use crate::spool::{Done, SpoolWriter, Spools};
use crate::squeezed::Position;
use manaka_core::PolicySource;
use std::collections::BTreeSet;
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
    let mut folded = BTreeSet::new();
    for words in run.past_of(UNIT) {
        let [attempt, inputs, largest, positions, records, no_outcome, rows] = words[..] else { continue };
        let Some(unit) = Unit::of(attempt, inputs) else { continue };
        noted += rows.parse::<u64>().unwrap_or(0);
        folded.extend(unit.inputs);
        total.add(Fold {
            largest_weight: largest.parse().unwrap_or(0),
            excluded_positions: positions.parse().unwrap_or(0),
            excluded_records: records.parse().unwrap_or(0),
            no_outcome: no_outcome.parse().unwrap_or(0),
            done: Done::from([(unit.tag.unit, unit.tag.attempt)]),
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
    // A kill may have come between a line and the removal of what it had used.
    folded.iter().try_for_each(|&bucket| buckets.remove(bucket))?;
    let left: Vec<usize> = (0..buckets.len()).filter(|bucket| !folded.contains(bucket)).collect();
    run.progress.phase("fold", Some(left.iter().map(|&bucket| buckets.items(bucket)).sum()), "records");
    let next = AtomicUsize::new(0);
    let folds = on_threads(run.options.threads, || {
        let mut worker = Worker {
            run,
            folder: Folder::new(run.policy),
            sorter: Sorter::default(),
            out: spools.writer(),
            unit: Unit::default(),
            found: Fold::default(),
            placed: 0,
            fold: Fold::default(),
        };
        let mut work = || {
            while let Some(&bucket) = left.get(next.fetch_add(1, Ordering::Relaxed)) {
                worker.bucket(buckets, bucket, read)?;
                if worker.out.may_end() {
                    worker.end(buckets, spools)?;
                }
            }
            worker.end(buckets, spools)?;
            worker.out.finish()
        };
        work().inspect_err(|_| next.store(left.len(), Ordering::Relaxed))?;
        Ok(worker.fold)
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
    /// The unit under way, what its buckets held and how many rows it placed.
    unit: Unit,
    found: Fold,
    placed: u64,
    /// What the units that are done held.
    fold: Fold,
}

impl Worker<'_> {
    /// Ends the unit under way, if there is one: its rows are done, and its buckets not needed any more.
    fn end(&mut self, buckets: &Spools<'_>, spools: &Spools<'_>) -> Result<()> {
        let Some(unit) = self.unit.end() else { return Ok(()) };
        self.out.end()?;
        let (mut found, placed) = (mem::take(&mut self.found), mem::take(&mut self.placed));
        let line = format!(
            "{UNIT}\t{}\t{}\t{}\t{}\t{}\t{placed}",
            unit.noted(),
            found.largest_weight,
            found.excluded_positions,
            found.excluded_records,
            found.no_outcome,
        );
        found.done.insert(unit.tag.unit, unit.tag.attempt);
        self.fold.add(found);
        self.run.work.note(line, spools, Some((buckets, unit.inputs)))
    }

    /// Folds a bucket as part of the unit under way.
    fn bucket(&mut self, buckets: &Spools<'_>, at: usize, read: &Done) -> Result<()> {
        self.run.check_cancelled()?;
        if !read_pass::is_whole(self.run, buckets, at) {
            return Err(buckets.changed(&format!("number {at} is not as it was read")));
        }
        self.unit.take(at, self.run, &mut self.out);
        let source = self.run.policy.conventions().policy_source;
        let (records, mut found) = (buckets.items(at), 0);
        let keys = key::range(at, buckets.len());
        let mut rows =
            Rows { source, slot: None, draws: Draws::of_slot(0), placed: 0, found: Fold::default() };
        let (folder, out) = (&mut self.folder, &mut self.out);
        if buckets.bytes(at) <= self.run.plan.load {
            let chunks = buckets.load(at, read)?;
            let sorted = Sorted::new(&chunks, &keys, source, &mut self.sorter);
            found += sorted.len() as u64;
            sorted.groups(|group| rows.group(&group, folder, out))?;
            self.run.pool.give(chunks);
        } else {
            let mut runs = Vec::new();
            let mut piece: Vec<Vec<u8>> = Vec::new();
            let mut write = |piece: &mut Vec<Vec<u8>>, folder: &mut Folder<'_>| {
                let path = self.run.work.path().join(format!("run-{at:04}-{:04}", runs.len()));
                let chunks = mem::take(piece);
                let sorted = Sorted::new(&chunks, &keys, source, &mut self.sorter);
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
        self.placed += rows.placed;
        self.found.add(rows.found);
        self.run.progress.advance(records);
        Ok(())
    }
}

/// Gives the rows of a bucket their places, in the order in which they come.
struct Rows {
    source: PolicySource,
    slot: Option<u32>,
    draws: Draws,
    placed: u64,
    found: Fold,
}

impl Rows {
    /// Places the row of a group.
    fn group(
        &mut self,
        group: &Group<'_>,
        folder: &mut Folder<'_>,
        out: &mut SpoolWriter<'_, '_>,
    ) -> Result<()> {
        let entry = &group.first;
        if !group.is_single() {
            group.fold(folder);
            return self.place(group.slot, entry.position(), folder, out);
        }
        // Nothing is left to leave out where the only entry is an exclusion.
        if entry.is_exclusion() {
            return Ok(());
        }
        self.found.largest_weight = self.found.largest_weight.max(1);
        self.found.no_outcome += u64::from(entry.outcome().is_none());
        let draw = self.draw(group.slot);
        out.push(place::spool(draw, out.len()), |bytes| entry.push_as_row(draw, bytes))
    }

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
                self.found.excluded_positions += 1;
                self.found.excluded_records += records;
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
        self.found.largest_weight = self.found.largest_weight.max(row.weight);
        self.found.no_outcome += u64::from(row.value_z.is_none());
        let (draw, source) = (self.draw(slot), self.source);
        out.push(place::spool(draw, out.len()), |bytes| entry::push_row(row, draw, position, source, bytes))
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
