//! Pass 2: fold each bucket, give every row its place, scatter rows by draw. A unit is a bucket.

use super::merge::{Group, Sorted, merge_runs, write_run};
use super::{Run, on_threads, read_pass};
use crate::entry;
use crate::error::Result;
use crate::fold::{Folded, Folder, Row};
use crate::journal::PassEnd;
use crate::key;
use crate::order::Sorter;
use crate::place::{self, Draws};
use crate::spool::{Done, SpoolWriter, Spools, Tag};
use crate::squeezed::Position;
use manaka_core::PolicySource;
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
        let keys = key::range(at, buckets.len());
        self.out.begin(tag);
        let mut rows =
            Rows { source, slot: None, draws: Draws::of_slot(0), placed: 0, unit: Fold::default() };
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
        self.unit.largest_weight = self.unit.largest_weight.max(1);
        self.unit.no_outcome += u64::from(entry.outcome().is_none());
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
