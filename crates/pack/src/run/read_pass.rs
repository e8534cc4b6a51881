//! Pass 1: every record to the bucket of its key. A unit is a file.

use super::{RefusedRecord, Run, Summary, on_threads};
use crate::entry;
use crate::error::{Error, Result};
use crate::journal::PassEnd;
use crate::key;
use crate::shard::ShardReader;
use crate::spool::{Done, SpoolWriter, Spools};
use manaka_core::stream::{self, RecordRef, StreamReader};
use manaka_core::{Move16, PolicySource};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

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
    let (mut total, items) = earlier(run, streams);
    buckets.adopt(&total.done)?;
    if !run.plan.in_memory && run.past.has(END) {
        return Ok(total);
    }
    buckets.expect(items)?;
    run.progress.phase("read", Some(run.plan.count.records), "records");
    run.progress.advance(total.records);
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let finished = Mutex::new(Vec::new());
    let failed: Mutex<Option<(usize, Error)>> = Mutex::new(None);
    let earlier = &total.done;
    on_threads(run.options.threads, || {
        let mut scatter = Scatter {
            run,
            source: run.policy.conventions().policy_source,
            buckets: buckets.writer(),
            seen: MoveSet::default(),
        };
        while !stop.load(Ordering::Relaxed) {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let (path, is_stream) = match streams.get(at) {
                Some(path) => (path, true),
                None => match run.options.exclude.get(at - streams.len()) {
                    Some(path) => (path, false),
                    None => break,
                },
            };
            let unit = u32::try_from(at).map_err(|_| Error::Option("too many inputs"))?;
            if earlier.contains_key(&unit) {
                continue;
            }
            match scatter.unit(unit, path, is_stream, buckets) {
                Ok(read) => finished.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(read),
                Err(error) => {
                    // The error of the earliest file is the one to report.
                    stop.store(true, Ordering::Relaxed);
                    let mut failed = failed.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    if failed.as_ref().is_none_or(|(first, _)| at < *first) {
                        *failed = Some((at, error));
                    }
                }
            }
        }
        scatter.buckets.finish()
    })?;
    if let Some((_, error)) = failed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
        return Err(error);
    }
    for read in finished.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
        total.add(read);
    }
    total.refused_first.sort();
    total.refused_first.truncate(Summary::REFUSED_SHOWN);
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
    fn add(&mut self, other: Self) {
        self.records += other.records;
        for (reason, count) in other.refused {
            *self.refused.entry(reason).or_default() += count;
        }
        self.refused_first.extend(other.refused_first);
        self.done.extend(other.done);
    }
}

/// What an earlier run read, and how many items it scattered.
fn earlier(run: &Run<'_>, streams: &[PathBuf]) -> (Read, u64) {
    let (mut total, mut scattered) = (Read::default(), 0);
    for words in run.past_of(UNIT) {
        let [unit, attempt, records, refused, items] = words[..] else { continue };
        let (Ok(unit), Ok(attempt), Ok(records), Ok(items)) =
            (unit.parse(), attempt.parse(), records.parse::<u64>(), items.parse::<u64>())
        else {
            continue;
        };
        scattered += items;
        total.done.insert(unit, attempt);
        total.records += records;
        if let Ok(refused @ 1..) = refused.parse::<u64>() {
            *total.refused.entry(DUPLICATE_MOVE).or_default() += refused;
        }
    }
    for words in run.past_of(REFUSED) {
        let [unit, attempt, record, offset, mv] = words[..] else { continue };
        let (Ok(unit), Ok(attempt)) = (unit.parse::<u32>(), attempt.parse::<u32>()) else { continue };
        let path = streams.get(unit as usize).filter(|_| total.done.get(&unit) == Some(&attempt));
        let mv = mv.parse().map(Move16::from_bits);
        if let (Some(path), Ok(record), Ok(offset), Ok(mv)) = (path, record.parse(), offset.parse(), mv) {
            total.refused_first.push(refused(path, (record, offset), mv));
        }
    }
    total.refused_first.sort();
    total.refused_first.truncate(Summary::REFUSED_SHOWN);
    (total, scattered)
}

fn refused(path: &Path, (record, offset): (u64, u64), mv: Move16) -> RefusedRecord {
    let detail = format!("the move {mv} stands twice among the candidates");
    RefusedRecord { path: path.to_owned(), record, offset, reason: DUPLICATE_MOVE, detail }
}

/// One thread's reading.
struct Scatter<'a> {
    run: &'a Run<'a>,
    source: PolicySource,
    buckets: SpoolWriter<'a, 'a>,
    seen: MoveSet,
}

/// Progress is reported, and a wish to stop is heard, about this many records apart.
const REPORT: u64 = 1 << 14;

impl Scatter<'_> {
    fn unit(&mut self, unit: u32, path: &Path, is_stream: bool, buckets: &Spools<'_>) -> Result<Read> {
        let tag = self.run.work.tag(unit);
        self.buckets.begin(tag);
        let mut read = Read::default();
        let mut notes = Vec::new();
        let items = if is_stream {
            self.stream(path, &mut read, &mut notes)?;
            read.records - read.refused.values().sum::<u64>()
        } else {
            self.excluded(path)?
        };
        self.buckets.end()?;
        read.done.insert(tag.unit, tag.attempt);
        for (place, mv) in notes {
            let (record, offset): (u64, u64) = place;
            let bits = mv.bits();
            let line = format!("{REFUSED}\t{unit}\t{}\t{record}\t{offset}\t{bits}", tag.attempt);
            self.run.work.note(line, buckets, None)?;
            read.refused_first.push(refused(path, place, mv));
        }
        let refused: u64 = read.refused.values().sum();
        let line = format!("{UNIT}\t{unit}\t{}\t{}\t{refused}\t{items}", tag.attempt, read.records);
        self.run.work.note(line, buckets, None)?;
        Ok(read)
    }

    fn stream(&mut self, path: &Path, read: &mut Read, notes: &mut Vec<((u64, u64), Move16)>) -> Result<()> {
        let mut reader = StreamReader::open(path)?;
        let header = *reader.header();
        let (source, mut batch) = (self.source, Vec::new());
        let mut reported = 0;
        loop {
            let (mut number, mut offset) = (reader.position(), reader.offset());
            if !reader.next_batch(&mut batch)? {
                break;
            }
            for record in RecordRef::each(&batch) {
                record
                    .judge(&header)
                    .map_err(|kind| stream::Error::at_record(number, offset, kind).in_file(path))?;
                read.records += 1;
                if let Some(mv) = self.seen.duplicate(&record) {
                    *read.refused.entry(DUPLICATE_MOVE).or_default() += 1;
                    if notes.len() < Summary::REFUSED_SHOWN {
                        notes.push(((number, offset), mv));
                    }
                } else {
                    let hash = key::hash(record.packed_bytes());
                    self.buckets.push(bucket(hash, self.buckets.len()), |out| {
                        entry::push(&record, hash, source, out);
                    })?;
                }
                number += 1;
                offset += record.bytes().len() as u64;
            }
            if read.records - reported >= REPORT {
                self.run.progress.advance(read.records - reported);
                reported = read.records;
                self.run.check_cancelled()?;
            }
        }
        self.run.progress.advance(read.records - reported);
        Ok(())
    }

    /// Scatters the positions of a shard; says how many they are.
    fn excluded(&mut self, path: &Path) -> Result<u64> {
        let shard = ShardReader::open(path)?;
        let mut positions = Vec::new();
        let mut items = 0;
        for group in 0..shard.row_groups() {
            shard.read_packed(group, &mut positions)?;
            items += positions.len() as u64;
            for packed in &positions {
                let hash = key::hash(packed);
                self.buckets.push(bucket(hash, self.buckets.len()), |out| {
                    entry::push_excluded(packed, hash, out);
                })?;
            }
            self.run.check_cancelled()?;
        }
        Ok(items)
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
