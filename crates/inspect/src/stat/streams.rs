//! Streams: files on as many threads as there are, each in batches that other threads may take part in.
//!
//! A batch is read, decompressed and cut into records by whoever holds the file; it is judged and looked at afterwards, while
//! the next one is read. So one large file keeps every thread busy as well as many do.

use super::collect::{Collector, Run, Worker};
use crate::error::{Error, Result};
use manaka_core::stream::{Header, RecordFault, RecordRef, StreamReader};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// A file that is being read.
enum Open {
    Not,
    Reading(Box<StreamReader<File>>),
    Done,
}

struct Slot {
    open: Open,
    /// Batches given out.
    given: u64,
}

/// The files, shared between threads.
pub struct Streams<'a> {
    paths: &'a [PathBuf],
    slots: Vec<Mutex<Slot>>,
    next: AtomicUsize,
}

impl<'a> Streams<'a> {
    pub fn new(paths: &'a [PathBuf]) -> Self {
        let slot = || Mutex::new(Slot { open: Open::Not, given: 0 });
        Self { paths, slots: paths.iter().map(|_| slot()).collect(), next: AtomicUsize::new(0) }
    }

    /// The work of one thread: files nobody has begun, then a hand with those that are not finished.
    pub fn work(&self, collector: &Collector<'_>, worker: &mut Worker<'_>) -> Result<()> {
        let mut buffer = Vec::new();
        while self.next.load(Ordering::Relaxed) < self.paths.len() {
            let file = self.next.fetch_add(1, Ordering::Relaxed);
            if file < self.paths.len() {
                self.read(file, &mut buffer, collector, worker)?;
            }
        }
        (0..self.paths.len()).try_for_each(|file| self.read(file, &mut buffer, collector, worker))
    }

    fn read(
        &self,
        file: usize,
        buffer: &mut Vec<u8>,
        collector: &Collector<'_>,
        worker: &mut Worker<'_>,
    ) -> Result<()> {
        while !collector.stopped() {
            let Some((number, header)) = self.take(file, buffer)? else { break };
            let mut run = worker.run(file, number);
            look(buffer, &header, &mut run).map_err(|_| fault(&self.paths[file]))?;
            run.finish();
        }
        Ok(())
    }

    /// Reads the next batch of a file into `buffer`, records that are not judged yet; its number and the file's header.
    /// `None` at its end.
    fn take(&self, file: usize, buffer: &mut Vec<u8>) -> Result<Option<(u64, Header)>> {
        let path = &self.paths[file];
        let of_file = |error| Error::stream(path, error);
        let mut slot = self.slots[file].lock().unwrap_or_else(PoisonError::into_inner);
        let Slot { open, given } = &mut *slot;
        if matches!(open, Open::Not) {
            *open = Open::Reading(Box::new(StreamReader::open(path).map_err(of_file)?));
        }
        let Open::Reading(reader) = open else { return Ok(None) };
        if !reader.next_batch(buffer).map_err(of_file)? {
            *open = Open::Done;
            return Ok(None);
        }
        let taken = (*given, *reader.header());
        *given += 1;
        Ok(Some(taken))
    }
}

/// Judges the records of a batch and takes them in.
fn look(batch: &[u8], header: &Header, run: &mut Run<'_, '_>) -> Result<(), RecordFault> {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2")
        && std::arch::is_x86_feature_detected!("bmi1")
        && std::arch::is_x86_feature_detected!("bmi2")
    {
        // SAFETY: the processor has what the function is compiled for, and nothing else about it is unsafe. The tests of
        // `stat` take this way or the other, whichever the processor has.
        return unsafe { look_avx2(batch, header, run) };
    }
    each(batch, header, run)
}

/// The same, compiled for newer processors: three hundredths faster.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn look_avx2(batch: &[u8], header: &Header, run: &mut Run<'_, '_>) -> Result<(), RecordFault> {
    each(batch, header, run)
}

#[inline(always)]
fn each(batch: &[u8], header: &Header, run: &mut Run<'_, '_>) -> Result<(), RecordFault> {
    for record in RecordRef::each(batch) {
        record.validate(header)?;
        run.add(&record);
    }
    Ok(())
}

/// What is wrong with a file: found by reading it from its beginning, once, so that it is named as ever.
fn fault(path: &Path) -> Error {
    let read = || -> manaka_core::stream::Result<()> {
        let mut records = StreamReader::open(path)?;
        while records.next_ref()?.is_some() {}
        Ok(())
    };
    match read() {
        Ok(()) => Error::Worker,
        Err(error) => Error::stream(path, error),
    }
}
