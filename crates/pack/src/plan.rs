//! How a run is cut up so that it fits: what there is to fold, what that takes, how many buckets and spools.
//!
//! Nothing of a plan reaches the shards.

use crate::entry;
use crate::error::{Error, Result};
use crate::run::on_threads;
use crate::shard::ROWS_PER_GROUP;
use crate::squeezed::{ROOM, squeeze};
use manaka_core::stream::StreamReader;
use std::fs::File;
use std::io::Read;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many records there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Count {
    /// The number.
    pub records: u64,
    /// Whether every record was counted; otherwise the number is extrapolated from the head of each file.
    pub exact: bool,
}

/// What a run would take, and how it would be cut up.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// The records to fold.
    pub count: Count,
    /// Whether buckets and spools stay in memory.
    pub in_memory: bool,
    /// Buckets of the first scatter: runs of hash slots, at most 4096.
    pub buckets: u32,
    /// Spools of the second scatter: ranges of draws.
    pub spools: usize,
    /// Neighbouring spools that one thread sorts and encodes in one go, at most.
    pub(crate) stretch: usize,
    /// Bytes of memory the run may use.
    pub memory: u64,
    /// Bytes of memory it is expected to use at its peak.
    pub peak: u64,
    /// Bytes of temporary files at their peak; 0 in memory.
    pub temp_disk: u64,
    /// Bytes of shards.
    pub output_disk: u64,
    /// A chunk of a bucket or spool.
    pub(crate) chunk: usize,
    /// Bytes of entries a thread may load at once; a larger bucket is sorted in pieces and merged.
    pub(crate) load: u64,
}

/// Bytes of an entry and of a placed row without position and candidates, either with its key. Rows of several records take
/// 4 or 8 more, and are half as many at most.
const ENTRY: u64 = 9 + 5;
const ROW: u64 = 9 + 8;
/// Bytes of a position of forty pieces.
const POSITION: u64 = 42;
/// Bytes that sorting takes beside an entry.
const INDEX: u64 = 40;
/// What a run needs whatever its size: code, tables, readers; and what each thread needs beside a row group.
const BASE: u64 = 48 << 20;
const PER_THREAD: u64 = 16 << 20;
/// What a row group takes while it is encoded, for each row and for each candidate.
const ENCODED_ROW: u64 = 400;
const ENCODED_CANDIDATE: u64 = 48;
/// Shards take about this many bytes a row beside those of the candidates, and this many a candidate.
const SHARD_ROW: u64 = 34;
const SHARD_CANDIDATE: u64 = 7;
/// A spool of about these bytes is gathered from a core's own cache; there are as many at most.
const SPOOL: u64 = 2 << 20;
const MAX_SPOOLS: u64 = 4096;
/// Spools in a stretch: several row groups, but enough stretches for all threads.
fn stretch(spools: u64, threads: u64) -> usize {
    usize::try_from((spools / (8 * threads)).clamp(1, 4)).unwrap_or(1)
}
/// A chunk of a bucket or spool in memory.
const MEMORY_CHUNK: usize = 64 << 10;
/// Bytes read from the head of each file to extrapolate from.
const SAMPLE: u64 = 256 << 10;
/// Records that are enough, however small a part of these bytes they take.
const ENOUGH: u64 = 1 << 20;

/// What the inputs hold, as far as their heads tell.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    pub count: Count,
    pub candidates: u64,
    /// Bytes of all positions as they are held.
    pub positions: u64,
    /// Bytes of a candidate as it is held.
    pub candidate: u64,
    /// Positions to leave out.
    pub excluded: u64,
}

impl Load {
    /// Looks at the head of every stream, on several threads.
    pub fn of(paths: &[PathBuf], excluded: u64, threads: NonZeroUsize) -> Result<Self> {
        let next = AtomicUsize::new(0);
        let heads = on_threads(threads, || {
            let mut heads = Vec::new();
            while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
                heads.push(Head::of(path)?);
            }
            Ok(heads)
        })?;
        let count = Count { records: 0, exact: true };
        let mut load = Self { count, candidates: 0, positions: 0, candidate: 0, excluded };
        for head in heads.iter().flatten() {
            load.count.records = load.count.records.saturating_add(head.records);
            load.count.exact &= head.exact;
            load.candidates = load.candidates.saturating_add(head.candidates);
            load.positions = load.positions.saturating_add(head.positions);
            load.candidate = load.candidate.max(head.candidate);
        }
        Ok(load)
    }

    /// Bytes of a row group while it is encoded.
    fn row_group(&self) -> u64 {
        let candidates = self.candidates.div_ceil(self.count.records.max(1));
        ROWS_PER_GROUP as u64 * (ENCODED_ROW + candidates * ENCODED_CANDIDATE)
    }

    const fn entries(&self) -> u64 {
        self.count.records * ENTRY + self.excluded * (ENTRY + POSITION) + self.held()
    }

    const fn rows(&self) -> u64 {
        self.count.records * ROW + self.held()
    }

    /// Positions and candidates, which are the same in an entry and in a row.
    const fn held(&self) -> u64 {
        self.positions + self.candidates * self.candidate
    }
}

/// One file, extrapolated.
struct Head {
    records: u64,
    candidates: u64,
    positions: u64,
    candidate: u64,
    exact: bool,
}

impl Head {
    fn of(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(Error::io(path))?;
        let len = file.metadata().map_err(Error::io(path))?.len();
        let mut reader = StreamReader::new(file.take(SAMPLE)).map_err(|e| e.in_file(path))?;
        let candidate = entry::candidate_len(reader.header().conventions.policy_source) as u64;
        let (mut records, mut candidates, mut positions) = (0u64, 0u64, 0u64);
        let mut room = [0; ROOM];
        // What cuts the head short ends the look, and so does a malformed record: the run will meet it and say so.
        while records < ENOUGH
            && let Ok(Some(record)) = reader.next_ref()
        {
            records += 1;
            candidates += record.n_cand() as u64;
            positions += squeeze(record.packed_bytes(), &mut room) as u64;
        }
        if len <= SAMPLE && records < ENOUGH {
            return Ok(Self { records, candidates, positions, candidate, exact: true });
        }
        // In a raw file the length of the records says how far they reach. In a compressed one what was read does: zstd
        // gives whole blocks, each a small part of the head.
        let (compressed, raw) = (reader.is_compressed(), reader.offset());
        let taken = SAMPLE - reader.into_inner().limit();
        let reached = if compressed { taken } else { raw };
        let scaled = |n: u64| u64::try_from(u128::from(n) * u128::from(len) / u128::from(reached.max(1)));
        Ok(Self {
            records: scaled(records).unwrap_or(u64::MAX),
            candidates: scaled(candidates).unwrap_or(u64::MAX),
            positions: scaled(positions).unwrap_or(u64::MAX),
            candidate,
            exact: false,
        })
    }
}

impl Plan {
    /// The plan for a load under a memory limit.
    ///
    /// # Errors
    /// [`Error::DoesNotFit`] when the limit is below what any run needs.
    pub fn new(load: &Load, memory: u64, threads: NonZeroUsize, buckets: Option<u32>) -> Result<Self> {
        let threads = threads.get() as u64;
        let floor = BASE + threads * (PER_THREAD + load.row_group());
        let room = memory.saturating_sub(floor);
        const LEAST: u64 = 32 << 20;
        if room < LEAST {
            return Err(Error::DoesNotFit(format!(
                "--memory {} is too little: {threads} threads need at least {} bytes",
                memory,
                floor + LEAST
            )));
        }
        let (entries, rows) = (load.entries(), load.rows());
        // An estimate from the heads of files may be off; so may an allocator.
        let slack = if load.count.exact { 10 } else { 4 };
        let all = entries.max(rows);
        // Many small pieces keep all threads busy to the end.
        let pieces = (entries >> 20).clamp(1, 256);
        let ranges = (rows / SPOOL).clamp(threads, MAX_SPOOLS);
        // Chunks that are being filled, and the sixteenth that full ones leave unused.
        let open = threads * (pieces + ranges) * MEMORY_CHUNK as u64;
        let held = all + all / slack + all / 16 + open;
        let in_memory = held <= room;
        let output_disk = load.count.records * SHARD_ROW + load.candidates * SHARD_CANDIDATE;
        if in_memory {
            return Ok(Self {
                count: load.count,
                in_memory,
                buckets: buckets.unwrap_or(u32::try_from(pieces).unwrap_or(256)),
                spools: usize::try_from(ranges).unwrap_or(1),
                stretch: stretch(ranges, threads),
                memory,
                peak: floor + held,
                temp_disk: 0,
                output_disk,
                chunk: MEMORY_CHUNK,
                load: u64::MAX,
            });
        }
        // Two fifths of the room are for chunks being filled, since few large writes cost less than many small ones; the rest holds a bucket with its index, or a spool with its
        // order and the encoded rows of stretches that wait to be written, for each thread.
        let piece = room / 5 * 3 / threads;
        let entry = ENTRY + POSITION;
        let load_limit = piece * entry / (entry + INDEX);
        let want = |bytes: u64, limit: u64| bytes.div_ceil(limit.max(1)).clamp(1, MAX_SPOOLS);
        // In files small buckets and spools are many small writes.
        let near = 4 * SPOOL;
        let buckets =
            buckets.unwrap_or(u32::try_from(want(entries, near.min(load_limit / 2))).unwrap_or(4096));
        let spools = want(rows, near.min(piece / 4));
        let chunk = room / 5 * 2 / threads / u64::from(buckets).max(spools) / 2;
        Ok(Self {
            count: load.count,
            in_memory,
            buckets,
            spools: usize::try_from(spools).unwrap_or(1),
            stretch: stretch(spools, threads),
            memory,
            peak: memory,
            // Buckets go as spools come, but those of the units that are being folded are there still: as much as their chunks hold.
            temp_disk: all + all / 10 + room / 5,
            output_disk,
            chunk: usize::try_from(chunk.clamp(4 << 10, 512 << 10)).unwrap_or(4 << 10),
            load: load_limit,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::tests::{position, write};
    use manaka_core::conventions::{NO_CP, NO_VISITS};
    use manaka_core::stream::{Candidate, Compression, Record};
    use manaka_core::{Conventions, Move16};

    /// A stream of records whose bytes zstd cannot do much with.
    fn stream(path: &Path, records: u32, compression: Compression) {
        let records: Vec<Record> = (0..records)
            .map(|number| {
                let mut packed = position(0, false);
                for (at, bytes) in packed.as_bytes_mut()[..80].as_chunks_mut::<4>().0.iter_mut().enumerate() {
                    let at = u32::try_from(at).unwrap();
                    *bytes = (number * 20 + at).wrapping_mul(0x9E37_79B1).to_le_bytes();
                }
                let candidate = Candidate { mv: Move16::from_bits(5), visits: NO_VISITS, cp: 1 };
                Record { packed, candidates: vec![candidate; 3], ..Record::default() }
            })
            .collect();
        write(path, Conventions::TEACHER, compression, &records);
    }

    #[test]
    fn short_streams_are_counted_and_long_ones_estimated_from_their_heads() {
        let dir = tempfile::tempdir().unwrap();
        for (name, compression) in
            [("a.mpk", Compression::None), ("b.mpk.zst", Compression::Zstd { level: 1 })]
        {
            let path = dir.path().join(name);
            stream(&path, 1000, compression);
            let load = Load::of(std::slice::from_ref(&path), 0, NonZeroUsize::MIN).unwrap();
            assert_eq!((load.count, load.candidates), (Count { records: 1000, exact: true }, 3000), "{name}");
            // Bytes that no position has stand as they are.
            assert_eq!((load.positions, load.candidate), (97 * 1000, 4), "{name}");
            std::fs::remove_file(&path).unwrap();
            stream(&path, 60_000, compression);
            assert!(std::fs::metadata(&path).unwrap().len() > 3 * SAMPLE);
            let load = Load::of(&[path], 0, NonZeroUsize::MIN).unwrap();
            assert!(!load.count.exact && (54_000..66_000).contains(&load.count.records), "{name}: {load:?}");
            assert_eq!(load.candidates / load.count.records, 3);
        }
    }
    #[test]
    fn what_is_held_is_planned_for_by_what_the_streams_hold() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.mpk");
        let (packed, _) = manaka_core::Packed::from_sfen("4k4/9/9/9/9/9/9/9/4K4 b - 1").unwrap();
        let candidate = Candidate { mv: Move16::from_bits(5), visits: 3, cp: NO_CP };
        let record = Record { packed, candidates: vec![candidate; 80], ..Record::default() };
        write(&path, Conventions::VISITS, Compression::None, &vec![record; 10]);
        let load = Load::of(&[path], 7, NonZeroUsize::MIN).unwrap();
        // Two kings are two bytes behind seventeen; a move of visits takes six bytes.
        assert_eq!(load.entries(), 10 * (9 + 5 + 19 + 80 * 6) + 7 * (9 + 5 + 42));
        assert_eq!(load.rows(), 10 * (9 + 8 + 19 + 80 * 6));
    }
}
