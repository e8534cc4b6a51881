//! Pass 2: fold each bucket, give every row its place, scatter rows by draw. A unit is a stretch of neighbouring buckets,
//! named by its first.

use super::merge::{Group, Sorted, merge_runs, write_run};
use super::{Run, on_threads, read_pass, stretches};
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
use std::ops::Range;
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
        let [unit, end, attempt, largest, positions, records, no_outcome, rows] = words[..] else { continue };
        let (Ok(unit), Ok(end), Ok(attempt)) = (unit.parse::<u32>(), end.parse(), attempt.parse()) else {
            continue;
        };
        noted += rows.parse::<u64>().unwrap_or(0);
        folded.extend(unit as usize..end);
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
    // A kill may have come between a line and the removal of what it had used.
    folded.iter().try_for_each(|&bucket| buckets.remove(bucket))?;
    let left: Vec<usize> = (0..buckets.len()).filter(|bucket| !folded.contains(bucket)).collect();
    run.progress.phase("fold", Some(left.iter().map(|&bucket| buckets.items(bucket)).sum()), "records");
    let units = stretches::of(&left, longest(run, buckets, &left, spools), run.options.threads);
    let next = AtomicUsize::new(0);
    let folds = on_threads(run.options.threads, || {
        let mut worker = Worker {
            run,
            folder: Folder::new(run.policy),
            sorter: Sorter::default(),
            out: spools.writer(),
            fold: Fold::default(),
        };
        while let Some(unit) = units.get(next.fetch_add(1, Ordering::Relaxed)) {
            worker
                .unit(unit.clone(), buckets, read, spools)
                .inspect_err(|_| next.store(units.len(), Ordering::Relaxed))?;
        }
        worker.out.finish()?;
        Ok(worker.fold)
    })?;
    folds.into_iter().for_each(|fold| total.add(fold));
    total.rows = spools.counts();
    let rows: Vec<String> = total.rows.iter().map(u64::to_string).collect();
    total.end = Some(run.work.begin_end_of_pass(format!("{ROWS}\t{}\n{END}", rows.join("\t"))));
    Ok(total)
}

/// How many of the buckets that are left make a unit, at most: in files, where no chunk holds rows of two units, as many as
/// fill a chunk of every spool.
fn longest(run: &Run<'_>, buckets: &Spools<'_>, left: &[usize], spools: &Spools<'_>) -> usize {
    if run.plan.in_memory {
        return 1;
    }
    let bytes: u64 = left.iter().map(|&bucket| buckets.bytes(bucket)).sum();
    let wanted = run.plan.chunk as u64 * spools.len() as u64;
    usize::try_from(u128::from(wanted) * left.len() as u128 / u128::from(bytes.max(1))).unwrap_or(usize::MAX)
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
    /// Folds neighbouring buckets, whose rows are done together.
    fn unit(
        &mut self,
        unit: Range<usize>,
        buckets: &Spools<'_>,
        read: &Done,
        spools: &Spools<'_>,
    ) -> Result<()> {
        let tag = self.run.work.tag(u32::try_from(unit.start).unwrap_or(u32::MAX));
        self.out.begin(tag);
        let mut found = Fold { done: Done::from([(tag.unit, tag.attempt)]), ..Fold::default() };
        let mut rows = 0;
        for bucket in unit.clone() {
            self.run.check_cancelled()?;
            if !read_pass::is_whole(self.run, buckets, bucket) {
                return Err(buckets.changed(&format!("number {bucket} is not as it was read")));
            }
            let placed = self.bucket(buckets, bucket, read)?;
            rows += placed.placed;
            found.add(placed.found);
            self.run.progress.advance(buckets.items(bucket));
        }
        self.out.end()?;
        let line = format!(
            "{UNIT}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{rows}",
            unit.start,
            unit.end,
            tag.attempt,
            found.largest_weight,
            found.excluded_positions,
            found.excluded_records,
            found.no_outcome,
        );
        self.fold.add(found);
        self.run.work.note(line, spools, Some((buckets, unit)))
    }

    fn bucket(&mut self, buckets: &Spools<'_>, at: usize, read: &Done) -> Result<Rows> {
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
        Ok(rows)
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
