//! Streams: files on as many threads as there are, each in batches that other threads may take part in.
//!
//! A raw file is mapped, and a thread only walks over the frames of a batch before it lets the next one in; a compressed
//! one is decompressed by whoever holds it. So one large file keeps every thread busy as well as many do.

use super::collect::{Collector, Worker};
use crate::error::{Error, Result};
use manaka_core::stream::{HEADER_LEN, MappedStream, RecordRef, StreamReader};
use std::fs::File;
use std::hint::black_box;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A batch is full at this many bytes: it stays in the second cache between the walk and the look.
const BATCH: usize = 256 << 10;

/// A file that is being read.
enum Open {
    Not,
    Mapped { map: Arc<MappedStream>, at: usize },
    Read(Box<StreamReader<File>>),
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

/// Records of one file that stand one behind the other.
enum Batch {
    /// Checked when they were read; in the thread's buffer.
    Copied(u64),
    /// Still to be checked.
    Mapped(u64, Arc<MappedStream>, Range<usize>),
}

impl<'a> Streams<'a> {
    pub fn new(paths: &'a [PathBuf]) -> Self {
        let slot = || Mutex::new(Slot { open: Open::Not, given: 0 });
        Self { paths, slots: paths.iter().map(|_| slot()).collect(), next: AtomicUsize::new(0) }
    }

    /// The work of one thread: files nobody has begun, then a hand with those that are not finished.
    pub fn work(&self, collector: &Collector<'_>, worker: &mut Worker<'_>) -> Result<()> {
        let mut buffer = Vec::with_capacity(BATCH + (64 << 10));
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
            let Some(batch) = self.take(file, buffer)? else { break };
            match batch {
                Batch::Copied(number) => {
                    let mut run = worker.run(file, number);
                    let mut rest = buffer.as_slice();
                    while let Ok(record) = RecordRef::frame(rest) {
                        rest = &rest[record.bytes().len()..];
                        run.add(&record);
                    }
                    run.finish();
                }
                Batch::Mapped(number, map, range) => {
                    let mut run = worker.run(file, number);
                    let mut rest = &map.bytes()[range];
                    while let Ok(record) = RecordRef::frame(rest) {
                        rest = &rest[record.bytes().len()..];
                        if record.validate(map.header()).is_err() {
                            return Err(fault(&self.paths[file], &map));
                        }
                        run.add(&record);
                    }
                    run.finish();
                }
            }
        }
        Ok(())
    }

    /// The next batch of a file; `None` at its end.
    fn take(&self, file: usize, buffer: &mut Vec<u8>) -> Result<Option<Batch>> {
        let path = &self.paths[file];
        let mut slot = self.slots[file].lock().unwrap_or_else(PoisonError::into_inner);
        let Slot { open, given } = &mut *slot;
        if matches!(open, Open::Not) {
            *open = match MappedStream::open(path) {
                Ok(map) => Open::Mapped { map: Arc::new(map), at: HEADER_LEN },
                // Compressed, or nothing that can be mapped; or wrong, which the reader says as well.
                Err(_) => Open::Read(Box::new(
                    StreamReader::open(path).map_err(|error| Error::stream(path, error))?,
                )),
            };
        }
        let number = *given;
        let batch = match open {
            Open::Not | Open::Done => return Ok(None),
            Open::Mapped { map, at } => {
                let start = *at;
                let bytes = map.bytes();
                fetch(bytes.get(start..).unwrap_or(&[]));
                while *at < bytes.len() && *at - start < BATCH {
                    let Ok(record) = RecordRef::frame(&bytes[*at..]) else {
                        return Err(fault(path, map));
                    };
                    *at += record.bytes().len();
                }
                (*at > start).then(|| Batch::Mapped(number, map.clone(), start..*at))
            }
            Open::Read(reader) => {
                buffer.clear();
                while buffer.len() < BATCH
                    && let Some(record) = reader.next_ref().map_err(|error| Error::stream(path, error))?
                {
                    buffer.extend_from_slice(record.bytes());
                }
                (!buffer.is_empty()).then_some(Batch::Copied(number))
            }
        };
        match &batch {
            Some(_) => *given += 1,
            None => *open = Open::Done,
        }
        Ok(batch)
    }
}

/// Brings the bytes of a batch into the cache. In order, one of each line, memory is fetched ahead; a walk from record to
/// record would wait for every single one.
fn fetch(bytes: &[u8]) {
    const LINE: usize = 64;
    let batch = bytes.get(..BATCH).unwrap_or(bytes);
    black_box(batch.iter().step_by(LINE).fold(0u8, |sum, &byte| sum ^ byte));
}

/// What is wrong with a mapped file: found by reading it from its beginning, once, so that it is named as ever.
fn fault(path: &Path, map: &MappedStream) -> Error {
    let mut records = map.records();
    loop {
        match records.next_ref() {
            Ok(Some(_)) => {}
            Ok(None) => return Error::Worker,
            Err(error) => return Error::stream(path, error),
        }
    }
}
