//! Pass 1: every record to the bucket of its key. A unit is some files.

use super::unit::Unit;
use super::{RefusedRecord, Run, Summary, on_threads};
use crate::entry;
use crate::error::{Error, Result};
use crate::journal::PassEnd;
use crate::key;
use crate::shard::ShardReader;
use crate::spool::{Done, SpoolWriter, Spools, Tag};
use manaka_core::stream::{self, RecordRef, StreamReader};
use manaka_core::{Move16, PolicySource};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// What the pass found.
#[derive(Default)]
pub struct Read {
    pub records: u64,
    pub refused: BTreeMap<&'static str, u64>,
    pub refused_first: Vec<RefusedRecord>,
    /// The attempt that finished each unit.
    pub done: Done,
    /// What is still to be written in the journal.
    pub end: Option<PassEnd>,
}

/// The one reason for which a fold refuses a record.
const DUPLICATE_MOVE: &str = "duplicate_move";
const UNIT: &str = "read";
const REFUSED: &str = "refused";
/// With the items of each bucket.
const END: &str = "read-end";

pub fn run(run: &Run<'_>, streams: &[PathBuf], buckets: &Spools<'_>) -> Result<Read> {
    let (mut total, files, items) = earlier(run, streams);
    buckets.adopt(&total.done)?;
    if !run.plan.in_memory && run.past.has(END) {
        total.show_the_first();
        return Ok(total);
    }
    buckets.expect(items)?;
    run.progress.phase("read", Some(run.plan.count.records), "records");
    run.progress.advance(total.records);
    let inputs = streams.len() + run.options.exclude.len();
    let left: Vec<usize> = (0..inputs).filter(|input| !files.contains(input)).collect();
    let next = AtomicUsize::new(0);
    let failed: Mutex<Option<(usize, Error)>> = Mutex::new(None);
    let reads = on_threads(run.options.threads, || {
        let mut scatter = Scatter {
            run,
            streams,
            source: run.policy.conventions().policy_source,
            buckets: buckets.writer(),
            seen: MoveSet::default(),
            unit: Unit::default(),
            found: Found::default(),
            read: Read::default(),
        };
        let mut last = 0;
        let mut work = || {
            while let Some(&input) = left.get(next.fetch_add(1, Ordering::Relaxed)) {
                last = input;
                match streams.get(input) {
                    Some(path) => scatter.stream(input, path)?,
                    None => scatter.excluded(input, &run.options.exclude[input - streams.len()])?,
                }
                if scatter.buckets.may_end() {
                    scatter.end(buckets)?;
                }
            }
            scatter.end(buckets)?;
            scatter.buckets.finish()
        };
        if let Err(error) = work() {
            // The error of the earliest file is the one to report.
            next.store(left.len(), Ordering::Relaxed);
            let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
            if failed.as_ref().is_none_or(|(first, _)| last < *first) {
                *failed = Some((last, error));
            }
        }
        Ok(scatter.read)
    })?;
    if let Some((_, error)) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    reads.into_iter().for_each(|read| total.add(read));
    total.show_the_first();
    let counts: Vec<String> = buckets.counts().iter().map(u64::to_string).collect();
    total.end = Some(run.work.begin_end_of_pass(format!("{END}\t{}", counts.join("\t"))));
    Ok(total)
}

/// Whether a bucket is as an earlier run noted it when it had read everything; `true` for a bucket of this run.
pub fn is_whole(run: &Run<'_>, buckets: &Spools<'_>, index: usize) -> bool {
    let noted = run.past_of(END).next().and_then(|counts| counts.get(index)?.parse::<u64>().ok());
    noted.is_none_or(|items| items == buckets.items(index))
}

impl Read {
    /// Counts records that were refused.
    fn refuse(&mut self, records: u64) {
        if records > 0 {
            *self.refused.entry(DUPLICATE_MOVE).or_default() += records;
        }
    }

    /// Leaves the refused records that are listed one by one.
    fn show_the_first(&mut self) {
        self.refused_first.sort();
        self.refused_first.truncate(Summary::REFUSED_SHOWN);
    }

    fn add(&mut self, other: Self) {
        self.records += other.records;
        for (reason, count) in other.refused {
            *self.refused.entry(reason).or_default() += count;
        }
        self.refused_first.extend(other.refused_first);
        self.done.extend(other.done);
    }
}

/// What an earlier run read, which inputs that was, and how many items it scattered.
fn earlier(run: &Run<'_>, streams: &[PathBuf]) -> (Read, BTreeSet<usize>, u64) {
    let (mut total, mut files, mut scattered) = (Read::default(), BTreeSet::new(), 0);
    for words in run.past_of(UNIT) {
        let [attempt, inputs, records, refused, items] = words[..] else { continue };
        let (Some(unit), Ok(records), Ok(refused), Ok(items)) =
            (Unit::of(attempt, inputs), records.parse::<u64>(), refused.parse(), items.parse::<u64>())
        else {
            continue;
        };
        scattered += items;
        total.done.insert(unit.tag.unit, unit.tag.attempt);
        files.extend(unit.inputs);
        total.records += records;
        total.refuse(refused);
    }
    for words in run.past_of(REFUSED) {
        let [unit, attempt, input, record, offset, mv] = words[..] else { continue };
        let (Ok(unit), Ok(attempt)) = (unit.parse::<u32>(), attempt.parse::<u32>()) else { continue };
        let (Ok(input), Ok(record), Ok(offset), Ok(mv)) =
            (input.parse::<usize>(), record.parse(), offset.parse(), mv.parse().map(Move16::from_bits))
        else {
            continue;
        };
        if let Some(path) = streams.get(input).filter(|_| total.done.get(&unit) == Some(&attempt)) {
            total.refused_first.push(Refused { input, record, offset, mv }.shown(path));
        }
    }
    (total, files, scattered)
}

/// A record in which a move stands twice.
struct Refused {
    /// Its file, by number.
    input: usize,
    record: u64,
    offset: u64,
    mv: Move16,
}

impl Refused {
    fn shown(&self, path: &Path) -> RefusedRecord {
        let (record, offset) = (self.record, self.offset);
        let detail = format!("the move {} stands twice among the candidates", self.mv);
        RefusedRecord { path: path.to_owned(), record, offset, reason: DUPLICATE_MOVE, detail }
    }
}

/// What the files of a unit held.
#[derive(Default)]
struct Found {
    records: u64,
    refused: u64,
    /// The first of them of each file.
    refused_first: Vec<Refused>,
    /// Items scattered.
    items: u64,
}

/// One thread's reading.
struct Scatter<'a> {
    run: &'a Run<'a>,
    streams: &'a [PathBuf],
    source: PolicySource,
    buckets: SpoolWriter<'a, 'a>,
    seen: MoveSet,
    /// The unit under way.
    unit: Unit,
    found: Found,
    /// What the units that are done held.
    read: Read,
}

/// Progress is reported, and a wish to stop is heard, about this many records apart.
const REPORT: u64 = 1 << 14;

impl Scatter<'_> {
    /// Ends the unit under way, if there is one.
    fn end(&mut self, buckets: &Spools<'_>) -> Result<()> {
        let Some(unit) = self.unit.end() else { return Ok(()) };
        self.buckets.end()?;
        let found = mem::take(&mut self.found);
        let mut lines = String::new();
        for refused @ Refused { input, record, offset, mv } in &found.refused_first {
            let (Tag { unit, attempt }, bits) = (unit.tag, mv.bits());
            // Writing to a String cannot fail.
            let _ = writeln!(lines, "{REFUSED}\t{unit}\t{attempt}\t{input}\t{record}\t{offset}\t{bits}");
            self.read.refused_first.extend(self.streams.get(*input).map(|path| refused.shown(path)));
        }
        let (noted, Found { records, refused, items, .. }) = (unit.noted(), found);
        self.read.done.insert(unit.tag.unit, unit.tag.attempt);
        self.read.records += records;
        self.read.refuse(refused);
        self.run.work.note(format!("{lines}{UNIT}\t{noted}\t{records}\t{refused}\t{items}"), buckets, None)
    }

    /// Scatters the records of a stream as part of the unit under way.
    fn stream(&mut self, input: usize, path: &Path) -> Result<()> {
        self.unit.take(input, self.run, &mut self.buckets);
        let mut shown = 0;
        let mut reader = StreamReader::open(path)?;
        let header = *reader.header();
        let (source, mut batch) = (self.source, Vec::new());
        let mut unreported = 0;
        loop {
            let (mut number, mut offset) = (reader.position(), reader.offset());
            if !reader.next_batch(&mut batch)? {
                break;
            }
            for record in RecordRef::each(&batch) {
                record
                    .judge(&header)
                    .map_err(|kind| stream::Error::at_record(number, offset, kind).in_file(path))?;
                if let Some(mv) = self.seen.duplicate(&record) {
                    self.found.refused += 1;
                    if shown < Summary::REFUSED_SHOWN {
                        shown += 1;
                        self.found.refused_first.push(Refused { input, record: number, offset, mv });
                    }
                } else {
                    let hash = key::hash(record.packed_bytes());
                    self.buckets.push(bucket(hash, self.buckets.len()), |out| {
                        entry::push(&record, hash, source, out);
                    })?;
                    self.found.items += 1;
                }
                number += 1;
                unreported += 1;
                offset += record.bytes().len() as u64;
            }
            if unreported >= REPORT {
                self.report(&mut unreported)?;
            }
        }
        self.report(&mut unreported)
    }

    /// Reports records that were read.
    fn report(&mut self, records: &mut u64) -> Result<()> {
        self.found.records += *records;
        self.run.progress.advance(mem::take(records));
        self.run.check_cancelled()
    }

    /// Scatters the positions of a shard as part of the unit under way.
    fn excluded(&mut self, input: usize, path: &Path) -> Result<()> {
        self.unit.take(input, self.run, &mut self.buckets);
        let shard = ShardReader::open(path)?;
        let mut positions = Vec::new();
        for group in 0..shard.row_groups() {
            shard.read_packed(group, &mut positions)?;
            for packed in &positions {
                let hash = key::hash(packed);
                self.buckets.push(bucket(hash, self.buckets.len()), |out| {
                    entry::push_excluded(packed, hash, out);
                })?;
            }
            self.found.items += positions.len() as u64;
            self.run.check_cancelled()?;
        }
        Ok(())
    }
}

fn bucket(hash: u128, buckets: usize) -> usize {
    // There are at most as many buckets as slots.
    key::bucket(key::slot(hash), u32::try_from(buckets).unwrap_or(key::SLOTS))
}

/// Finds a move that stands twice in a record.
#[derive(Default)]
struct MoveSet(Vec<u16>);

impl MoveSet {
    fn duplicate(&mut self, record: &RecordRef<'_>) -> Option<Move16> {
        // Where no two moves share a bit out of 64, none stands twice.
        let (mut bits, mut shared) = (0u64, 0);
        for candidate in record.candidates() {
            let bit = 1 << (candidate.mv.bits().wrapping_mul(0x9E37) >> 10);
            shared |= bits & bit;
            bits |= bit;
        }
        if shared == 0 {
            return None;
        }
        self.0.clear();
        // A MultiPV list is short: comparing all pairs is cheapest. Long lists are sorted first.
        const SHORT: usize = 12;
        if record.n_cand() <= SHORT {
            for candidate in record.candidates() {
                let bits = candidate.mv.bits();
                if self.0.contains(&bits) {
                    return Some(candidate.mv);
                }
                self.0.push(bits);
            }
            return None;
        }
        self.0.extend(record.candidates().map(|candidate| candidate.mv.bits()));
        self.0.sort_unstable();
        let twice = self.0.windows(2).find(|pair| pair[0] == pair[1])?;
        Some(Move16::from_bits(twice[0]))
    }
}
