//! Pass 1: every record to the bucket of its key.

use super::{RefusedRecord, Summary, on_threads};
use crate::entry;
use crate::error::{Error, Result};
use crate::key;
use crate::policy::Policy;
use crate::spool::{SpoolWriter, Spools};
use manaka_core::PolicySource;
use manaka_core::progress::Progress;
use manaka_core::stream::{self, Kind, MappedStream, RecordRef, StreamReader};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// What the pass found.
#[derive(Default)]
pub struct Read {
    pub records: u64,
    pub refused: BTreeMap<&'static str, u64>,
    pub refused_first: Vec<RefusedRecord>,
}

pub fn run(
    paths: &[PathBuf],
    buckets: &Spools,
    policy: &Policy,
    threads: NonZeroUsize,
    progress: &dyn Progress,
) -> Result<Read> {
    progress.phase("read", None, "records");
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let parts = on_threads(threads, || {
        let mut scatter = Scatter {
            source: policy.conventions().policy_source,
            buckets: buckets.writer(),
            seen: MoveSet::default(),
            read: Read::default(),
        };
        // Each thread reports the error of the earliest file it met one in.
        let mut failed: Option<(usize, Error)> = None;
        while !stop.load(Ordering::Relaxed) {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(path) = paths.get(at) else { break };
            if let Err(error) = scatter.file(path, progress) {
                stop.store(true, Ordering::Relaxed);
                failed = Some((at, error));
                break;
            }
        }
        Ok((scatter.read, failed))
    })?;
    let mut total = Read::default();
    let mut first_error: Option<(usize, Error)> = None;
    for (read, failed) in parts {
        total.records += read.records;
        for (reason, count) in read.refused {
            *total.refused.entry(reason).or_default() += count;
        }
        total.refused_first.extend(read.refused_first);
        if let Some((at, error)) = failed
            && first_error.as_ref().is_none_or(|(first, _)| at < *first)
        {
            first_error = Some((at, error));
        }
    }
    total.refused_first.sort();
    total.refused_first.truncate(Summary::REFUSED_SHOWN);
    match first_error {
        Some((_, error)) => Err(error),
        None => Ok(total),
    }
}

/// One thread's reading.
struct Scatter<'a> {
    source: PolicySource,
    buckets: SpoolWriter<'a>,
    seen: MoveSet,
    read: Read,
}

/// Progress is reported this many records at a time.
const REPORT: u64 = 1 << 14;

impl Scatter<'_> {
    fn file(&mut self, path: &Path, progress: &dyn Progress) -> Result<()> {
        match MappedStream::open(path) {
            Ok(mapped) => {
                let mut records = mapped.records();
                let mut place = (records.position(), records.offset());
                while let Some(record) = records.next_ref()? {
                    self.record(path, place, &record);
                    place = (records.position(), records.offset());
                    report(place.0, progress);
                }
                progress.advance(place.0 % REPORT);
            }
            // Compressed, or not to be mapped (a pipe): read it instead.
            Err(stream::Error { kind: Kind::Unsupported(_) | Kind::Io(_), .. }) => {
                let mut reader = StreamReader::open(path)?;
                let mut place = (reader.position(), reader.offset());
                while let Some(record) = reader.next_ref()? {
                    self.record(path, place, &record);
                    place = (reader.position(), reader.offset());
                    report(place.0, progress);
                }
                progress.advance(place.0 % REPORT);
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    fn record(&mut self, path: &Path, (number, offset): (u64, u64), record: &RecordRef<'_>) {
        self.read.records += 1;
        if let Some(mv) = self.seen.duplicate(record) {
            const REASON: &str = "duplicate_move";
            *self.read.refused.entry(REASON).or_default() += 1;
            if self.read.refused_first.len() < Summary::REFUSED_SHOWN {
                self.read.refused_first.push(RefusedRecord {
                    path: path.to_owned(),
                    record: number,
                    offset,
                    reason: REASON,
                    detail: format!("the move {mv} stands twice among the candidates"),
                });
            }
            return;
        }
        let hash = key::hash(record.packed_bytes());
        #[expect(clippy::cast_possible_truncation, reason = "256 buckets")]
        let bucket = key::bucket(key::slot(hash), self.buckets.len() as u32);
        self.buckets.push(bucket, |out| entry::push(record, self.source, out));
    }
}

fn report(records: u64, progress: &dyn Progress) {
    if records.is_multiple_of(REPORT) {
        progress.advance(REPORT);
    }
}

/// Finds a move that stands twice in a record.
#[derive(Default)]
struct MoveSet(Vec<u16>);

impl MoveSet {
    fn duplicate(&mut self, record: &RecordRef<'_>) -> Option<manaka_core::Move16> {
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
        Some(manaka_core::Move16::from_bits(twice[0]))
    }
}
