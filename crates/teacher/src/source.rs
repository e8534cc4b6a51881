//! The rows of all inputs in their order, one batch after the other; row groups are decoded in parallel.

use crate::error::{Error, Result};
use crossbeam_channel::{Receiver, Sender, bounded};
use manaka_corpus::{CorpusFile, Rows};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// What a decoder sends of its row group.
enum Decoded {
    Batch(Box<Rows>),
    Failed(manaka_corpus::Error),
    /// The row group is whole. A channel that closes without it belongs to a decoder that died.
    End,
}

/// Batches of a row group that wait while the one before it is being handed out.
const AHEAD: usize = 2;

/// Batches whose memory is kept for others.
const SPARE: usize = 16;

/// A row group, and the channel that its decoder takes to send through.
struct Group {
    file: usize,
    row_group: usize,
    sender: Mutex<Option<Sender<Decoded>>>,
}

/// The row groups of all files, in order.
pub(crate) struct Groups<'f> {
    files: &'f [CorpusFile],
    groups: Vec<Group>,
    next: AtomicUsize,
    /// Memory that held rows.
    spare: (Sender<Box<Rows>>, Receiver<Box<Rows>>),
}

impl<'f> Groups<'f> {
    /// The groups, and the source that hands out their batches.
    pub(crate) fn new(files: &'f [CorpusFile]) -> (Self, Source) {
        let (mut groups, mut receivers) = (Vec::new(), Vec::new());
        for (number, file) in files.iter().enumerate() {
            for row_group in 0..file.row_groups() {
                let (sender, receiver) = bounded(AHEAD);
                groups.push(Group { file: number, row_group, sender: Mutex::new(Some(sender)) });
                receivers.push((number, receiver));
            }
        }
        let source = Source { groups: receivers.into_iter(), current: None, sequence: 0, ended: false };
        (Self { files, groups, next: AtomicUsize::new(0), spare: bounded(SPARE) }, source)
    }

    /// Decodes row groups, the earliest that nobody has taken first, until there are none or the source is gone. Any
    /// number of threads may do it; the group whose batches are due is always one that was taken.
    pub(crate) fn decode(&self) {
        while let Some(group) = self.groups.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            let Some(sender) = group.sender.lock().unwrap_or_else(PoisonError::into_inner).take() else {
                continue;
            };
            if !self.decode_group(&self.files[group.file], group.row_group, &sender) {
                return;
            }
        }
    }

    /// Takes back the memory of a batch.
    pub(crate) fn reuse(&self, rows: Box<Rows>) {
        // Where there is enough of it, it goes.
        let _ = self.spare.0.try_send(rows);
    }

    /// Sends the batches of a row group; `false` when nobody takes them any more.
    fn decode_group(&self, file: &CorpusFile, row_group: usize, out: &Sender<Decoded>) -> bool {
        let mut batches = match file.batches(row_group) {
            Ok(batches) => batches,
            Err(error) => return out.send(Decoded::Failed(error)).is_ok(),
        };
        loop {
            let mut rows = self.spare.1.try_recv().unwrap_or_default();
            let (message, more) = match batches.read(&mut rows) {
                Ok(true) => (Decoded::Batch(rows), true),
                Ok(false) => (Decoded::End, false),
                Err(error) => (Decoded::Failed(error), false),
            };
            if out.send(message).is_err() {
                return false;
            }
            if !more {
                return true;
            }
        }
    }
}

/// Hands out batches in the order of the input; behind a lock, so that a batch and its number belong together.
pub(crate) struct Source {
    groups: std::vec::IntoIter<(usize, Receiver<Decoded>)>,
    current: Option<(usize, Receiver<Decoded>)>,
    sequence: u64,
    ended: bool,
}

/// Which batch was handed out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// Its number among all batches, from 0 without gaps.
    pub sequence: u64,
    /// Index of its file.
    pub file: usize,
}

impl Source {
    /// Hands out nothing more: whoever decodes stops.
    pub(crate) fn close(&mut self) {
        self.ended = true;
        self.current = None;
        self.groups = Vec::new().into_iter();
    }

    /// The next batch; `None` at the end and after an error. An error takes the place of its batch.
    pub(crate) fn next(&mut self) -> Option<(Place, Result<Box<Rows>>)> {
        while !self.ended {
            if self.current.is_none() {
                self.current = self.groups.next();
            }
            let (file, batches) = self.current.as_ref()?;
            let batch = match batches.recv() {
                Ok(Decoded::End) => {
                    self.current = None;
                    continue;
                }
                Ok(Decoded::Batch(rows)) => Ok(rows),
                Ok(Decoded::Failed(error)) => Err(Error::Corpus(error)),
                Err(_) => Err(Error::Worker("a decoder ended inside a row group".to_owned())),
            };
            self.ended = batch.is_err();
            let place = Place { sequence: self.sequence, file: *file };
            self.sequence += 1;
            return Some((place, batch));
        }
        None
    }
}
