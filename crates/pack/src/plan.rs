//! How a run is cut up so that it fits: what there is to fold, what that takes, how many buckets and spools.
//!
//! Nothing of a plan reaches the shards.

use crate::error::{Error, Result};
use crate::shard::ROWS_PER_GROUP;
use manaka_core::stream::{CANDIDATE_LEN, StreamReader};
use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::rc::Rc;

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
    /// Neighbouring spools that one thread sorts and encodes in one go.
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

/// Bytes of an entry without candidates, of a placed row without candidates, and of a candidate in either.
const ENTRY: u64 = 105;
const ROW: u64 = 128;
const CANDIDATE: u64 = 4;
/// Bytes that sorting takes beside an entry.
const INDEX: u64 = 32;
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
    usize::try_from((spools / (8 * threads)).clamp(1, 16)).unwrap_or(1)
}
/// A chunk of a bucket or spool in memory.
const MEMORY_CHUNK: usize = 64 << 10;
/// Records read from the head of each file to extrapolate from.
const SAMPLE: u64 = 4096;

/// What the inputs hold, as far as their heads tell.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    pub count: Count,
    pub candidates: u64,
    /// Positions to leave out.
    pub excluded: u64,
}

impl Load {
    /// Looks at the head of every stream.
    pub fn of(paths: &[PathBuf], excluded: u64) -> Result<Self> {
        let (mut records, mut candidates, mut exact) = (0, 0, true);
        for path in paths {
            let head = Head::of(path)?;
            records += head.records;
            candidates += head.candidates;
            exact &= head.exact;
        }
        Ok(Self { count: Count { records, exact }, candidates, excluded })
    }

    /// Bytes of a row group while it is encoded.
    fn row_group(&self) -> u64 {
        let candidates = self.candidates.div_ceil(self.count.records.max(1));
        ROWS_PER_GROUP as u64 * (ENCODED_ROW + candidates * ENCODED_CANDIDATE)
    }

    const fn entries(&self) -> u64 {
        (self.count.records + self.excluded) * ENTRY + self.candidates * CANDIDATE
    }

    const fn rows(&self) -> u64 {
        self.count.records * ROW + self.candidates * CANDIDATE
    }
}

/// One file, extrapolated.
struct Head {
    records: u64,
    candidates: u64,
    exact: bool,
}

impl Head {
    fn of(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(Error::io(path))?;
        let len = file.metadata().map_err(Error::io(path))?.len();
        let taken = Rc::new(Cell::new(0));
        let mut reader =
            StreamReader::new(Counting { file, taken: taken.clone() }).map_err(|e| e.in_file(path))?;
        let (mut records, mut candidates) = (0, 0);
        // A malformed record ends the look; the run will meet it and say so.
        while records < SAMPLE
            && let Ok(Some(record)) = reader.next_ref()
        {
            records += 1;
            candidates += record.n_cand() as u64;
        }
        let exact = records < SAMPLE;
        if exact || taken.get() == 0 {
            return Ok(Self { records, candidates, exact });
        }
        // The reader is a buffer ahead of the records. In a raw file their length says how far they reach; in a
        // compressed one what was read does, which a second look past the first buffer makes small enough an error.
        let raw = reader.offset();
        let mut more = (records, candidates, raw);
        while more.0 < 16 * SAMPLE
            && let Ok(Some(record)) = reader.next_ref()
        {
            more.0 += 1;
            more.1 += record.n_cand() as u64;
            more.2 = reader.offset();
        }
        if more.0 < 16 * SAMPLE {
            return Ok(Self { records: more.0, candidates: more.1, exact: true });
        }
        let reached = if reader.is_compressed() { taken.get() } else { more.2 };
        let scaled = |n: u64| u64::try_from(u128::from(n) * u128::from(len) / u128::from(reached.max(1)));
        Ok(Self {
            records: scaled(more.0).unwrap_or(u64::MAX),
            candidates: scaled(more.1).unwrap_or(u64::MAX),
            exact: false,
        })
    }
}

struct Counting {
    file: File,
    taken: Rc<Cell<u64>>,
}

impl Read for Counting {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read(buf)?;
        self.taken.set(self.taken.get() + n as u64);
        Ok(n)
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
        // A fifth of the room is for chunks being filled; the rest holds a bucket with its index, or a spool with its
        // order and the encoded rows of stretches that wait to be written, for each thread.
        let piece = room / 5 * 4 / threads;
        let load_limit = piece * ENTRY / (ENTRY + INDEX);
        let want = |bytes: u64, limit: u64| bytes.div_ceil(limit.max(1)).clamp(1, MAX_SPOOLS);
        // In files small buckets and spools are many small writes.
        let near = 4 * SPOOL;
        let buckets =
            buckets.unwrap_or(u32::try_from(want(entries, near.min(load_limit / 2))).unwrap_or(4096));
        let spools = want(rows, near.min(piece / 4));
        let chunk = room / 5 / threads / u64::from(buckets).max(spools) / 2;
        Ok(Self {
            count: load.count,
            in_memory,
            buckets,
            spools: usize::try_from(spools).unwrap_or(1),
            stretch: stretch(spools, threads).min(4),
            memory,
            peak: memory,
            // Buckets go as spools come.
            temp_disk: all + all / 10,
            output_disk,
            chunk: usize::try_from(chunk.clamp(4 << 10, 512 << 10)).unwrap_or(4 << 10),
            load: load_limit,
        })
    }
}

const _: () = assert!(CANDIDATE_LEN as u64 > CANDIDATE);
