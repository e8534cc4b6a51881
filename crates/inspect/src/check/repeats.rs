//! No position stands in two rows: found by 128-bit hashes, confirmed by bytes, in bounded memory.
//!
//! The hash space is cut into ranges, so that about as many hashes as are allowed fall into one; the rows are read once
//! for each. Where a hash comes twice, two more readings find out which rows have it.

use super::collector::Collector;
use super::shards::{Group, Shard, for_each_group, reopen};
use crate::error::Result;
use crate::finding::{Id, Place};
use crate::threads::on_threads;
use manaka_core::Packed;
use manaka_core::packed::PACKED_LEN;
use manaka_core::progress::Progress;
use manaka_pack::hash;
use std::collections::{BTreeMap, HashMap};
use std::mem;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Buckets the hashes of a range are kept in, so that several threads can add and sort.
const BUCKETS: usize = 64;

/// The hashes that fall into one range of the hash space.
pub struct Hashes {
    /// By the upper half of the hash; the end of the last range does not fit 64 bits.
    range: Range<u128>,
    buckets: Vec<Mutex<Vec<u128>>>,
}

const SPACE: u128 = 1 << 64;

impl Hashes {
    /// The first range, when there are `rows` rows.
    pub fn first(rows: u64, at_once: u64) -> Self {
        let ranges = u128::from(rows.div_ceil(at_once.max(1)).max(1));
        Self::of(0..SPACE / ranges)
    }

    fn of(range: Range<u128>) -> Self {
        Self { range, buckets: (0..BUCKETS).map(|_| Mutex::default()).collect() }
    }

    fn holds(&self, hash: u128) -> bool {
        self.range.contains(&(hash >> 64))
    }

    /// What a thread gathers in before it [adds](Self::add).
    pub fn buffers(&self) -> Vec<Vec<u128>> {
        vec![Vec::new(); BUCKETS]
    }

    /// Adds the hashes of positions, those in the range.
    pub fn add<'a>(&self, packed: impl Iterator<Item = &'a [u8; PACKED_LEN]>, buffers: &mut [Vec<u128>]) {
        let width = self.range.end - self.range.start;
        for hash in packed.map(hash).filter(|&hash| self.holds(hash)) {
            let bucket = ((hash >> 64) - self.range.start) * BUCKETS as u128 / width;
            buffers[usize::try_from(bucket).unwrap_or(0)].push(hash);
        }
        for (buffer, bucket) in buffers.iter_mut().zip(&self.buckets) {
            bucket.lock().unwrap_or_else(PoisonError::into_inner).append(buffer);
        }
    }

    /// The hashes that came more than once, with how often each came again.
    fn repeated(&self, threads: NonZeroUsize) -> Result<HashMap<u128, u64>> {
        let next = AtomicUsize::new(0);
        let repeated = Mutex::new(HashMap::new());
        on_threads(threads, || {
            while let Some(bucket) = self.buckets.get(next.fetch_add(1, Ordering::Relaxed)) {
                let mut hashes = mem::take(&mut *bucket.lock().unwrap_or_else(PoisonError::into_inner));
                hashes.sort_unstable();
                for same in hashes.chunk_by(|a, b| a == b).filter(|same| same.len() > 1) {
                    let again = same.len() as u64 - 1;
                    repeated.lock().unwrap_or_else(PoisonError::into_inner).insert(same[0], again);
                }
            }
            Ok(())
        })?;
        Ok(repeated.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Reports every row whose position stood in an earlier row. `first` holds the hashes of the first range; `read` rows
/// can be read.
pub fn find_repeats(
    first: Hashes,
    shards: &[Shard<'_>],
    read: u64,
    at_once: u64,
    threads: NonZeroUsize,
    collector: &Collector,
    progress: &dyn Progress,
) -> Result<()> {
    let search = Search { shards, threads, collector, progress, read };
    let done = first.range.end;
    search.range(first)?;
    // Fewer rows than the footers claim may have been readable: what they say costs no reading.
    let rest = SPACE - done;
    let expected = u128::from(read) * (rest >> 32) / (SPACE >> 32);
    let ranges = expected.div_ceil(u128::from(at_once.max(1))).max(u128::from(rest > 0));
    for at in 0..ranges {
        let hashes = Hashes::of(done + rest * at / ranges..done + rest * (at + 1) / ranges);
        search.phase("for repeated positions");
        search.scan(|| hashes.buffers(), |buffers, _, packed| hashes.add(packed.iter(), buffers))?;
        search.range(hashes)?;
    }
    Ok(())
}

struct Search<'a> {
    shards: &'a [Shard<'a>],
    threads: NonZeroUsize,
    collector: &'a Collector,
    progress: &'a dyn Progress,
    read: u64,
}

impl Search<'_> {
    fn phase(&self, name: &str) {
        self.progress.phase(name, Some(self.read), "rows");
    }

    /// Hands over the positions of every row group that can be read; the others were reported before.
    fn scan<W>(
        &self,
        worker: impl Fn() -> W + Sync,
        work: impl Fn(&mut W, Group, &[[u8; PACKED_LEN]]) + Sync,
    ) -> Result<()> {
        let worker = || (Vec::new(), worker());
        for_each_group(self.shards, self.threads, self.progress, worker, |(packed, worker), reader, group| {
            if reader.read_packed(group.group, packed).is_ok() {
                work(worker, group, packed);
                self.progress.advance(packed.len() as u64);
            }
            Ok(())
        })
    }

    /// The number of a row over all shards.
    fn row(&self, Group { shard, group }: Group, row: usize) -> u64 {
        let shard = &self.shards[shard];
        shard.offset + shard.starts[group] + row as u64
    }

    /// Reports the repeats within a range whose hashes are gathered.
    fn range(&self, hashes: Hashes) -> Result<()> {
        let repeated = hashes.repeated(self.threads)?;
        drop(hashes);
        if repeated.is_empty() {
            return Ok(());
        }
        let total: u64 = repeated.values().sum();
        let firsts: HashMap<u128, AtomicU64> =
            repeated.into_keys().map(|hash| (hash, AtomicU64::new(u64::MAX))).collect();
        self.phase("where positions repeat");
        self.scan(
            || (),
            |(), group, packed| {
                for (row, packed) in packed.iter().enumerate() {
                    if let Some(first) = firsts.get(&hash(packed)) {
                        first.fetch_min(self.row(group, row), Ordering::Relaxed);
                    }
                }
            },
        )?;
        // Of the rows that came again, the first ones; as many as can be listed.
        let keep = self.collector.limit().max(1);
        let again: Mutex<BTreeMap<u64, Repeat>> = Mutex::new(BTreeMap::new());
        self.phase("where positions repeat");
        self.scan(
            || (),
            |(), group, packed| {
                for (at, packed) in packed.iter().enumerate() {
                    let Some(first) = firsts.get(&hash(packed)) else { continue };
                    let (row, first) = (self.row(group, at), first.load(Ordering::Relaxed));
                    if row != first {
                        let mut again = again.lock().unwrap_or_else(PoisonError::into_inner);
                        again.insert(row, Repeat { row, first, packed: *packed });
                        if again.len() > keep {
                            again.pop_last();
                        }
                    }
                }
            },
        )?;
        let again = again.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.collector.count(Id::RepeatedPosition, total - again.len() as u64);
        self.report(again.into_values().collect())
    }

    /// Reports repeats whose bytes are equal to those of the row they repeat.
    fn report(&self, mut repeats: Vec<Repeat>) -> Result<()> {
        // In the order of the rows they repeat, so that each of those row groups is read once.
        repeats.sort_unstable_by_key(|repeat| repeat.first);
        let mut packed = Vec::new();
        let mut loaded = None;
        for repeat in &repeats {
            let (shard, row) = self.locate(repeat.first);
            let group = shard.starts.partition_point(|&start| start <= row) - 1;
            if loaded != Some((shard.number, group)) {
                packed.clear();
                if reopen(shard.path)?.read_packed(group, &mut packed).is_err() {
                    continue;
                }
                loaded = Some((shard.number, group));
            }
            let at = usize::try_from(row - shard.starts[group]).unwrap_or(usize::MAX);
            if packed.get(at) != Some(&repeat.packed) {
                continue;
            }
            let (here, here_row) = self.locate(repeat.row);
            let file = self.collector.file(here.number, here.path);
            file.add(Place::Row(here_row), Id::RepeatedPosition, || {
                let sfen = Packed::from_bytes(repeat.packed);
                format!("the position of row {row} in {}: {}", shard.path.display(), sfen.sfen(None))
            });
        }
        Ok(())
    }

    /// The shard of a row that is numbered over all shards, and its number there.
    fn locate(&self, row: u64) -> (&Shard<'_>, u64) {
        let shard = &self.shards[self.shards.partition_point(|shard| shard.offset <= row) - 1];
        (shard, row - shard.offset)
    }
}

/// A row whose position stood in an earlier one.
struct Repeat {
    row: u64,
    first: u64,
    packed: [u8; PACKED_LEN],
}
