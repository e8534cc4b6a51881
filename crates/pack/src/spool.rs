//! Bytes that several threads scatter and one thread reads back: the buckets of entries, the ranges of rows.

use std::mem;
use std::sync::{Mutex, PoisonError};

/// A chunk is handed over when it is about this long. It holds whole items only.
const CHUNK: usize = 64 << 10;

/// What was scattered into one spool.
#[derive(Default)]
pub struct Spool {
    /// Byte runs of whole items, in no particular order.
    pub chunks: Vec<Vec<u8>>,
    /// Items in all of them.
    pub items: u64,
}

/// A fixed number of spools.
pub struct Spools(Vec<Mutex<Spool>>);

impl Spools {
    pub fn new(count: usize) -> Self {
        Self((0..count).map(|_| Mutex::default()).collect())
    }

    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// A writer for one thread.
    pub fn writer(&self) -> SpoolWriter<'_> {
        SpoolWriter { spools: self, open: (0..self.0.len()).map(|_| Spool::default()).collect() }
    }

    /// Items of each spool.
    pub fn counts(&self) -> Vec<u64> {
        self.0.iter().map(|spool| spool.lock().unwrap_or_else(PoisonError::into_inner).items).collect()
    }

    /// Takes a spool's content out; its memory goes with it.
    pub fn take(&self, index: usize) -> Spool {
        mem::take(&mut *self.0[index].lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn hand_over(&self, index: usize, chunk: Vec<u8>, items: u64) {
        let mut spool = self.0[index].lock().unwrap_or_else(PoisonError::into_inner);
        spool.chunks.push(chunk);
        spool.items += items;
    }
}

/// One thread's side of the scatter. Dropping it hands over what is open.
pub struct SpoolWriter<'a> {
    spools: &'a Spools,
    /// At most one chunk each.
    open: Vec<Spool>,
}

impl SpoolWriter<'_> {
    /// How many spools there are.
    pub const fn len(&self) -> usize {
        self.spools.len()
    }

    /// Appends one item, written by `write`.
    pub fn push(&mut self, index: usize, write: impl FnOnce(&mut Vec<u8>)) {
        let open = &mut self.open[index];
        if open.chunks.is_empty() {
            open.chunks.push(Vec::with_capacity(CHUNK + CHUNK / 8));
        }
        let chunk = &mut open.chunks[0];
        write(chunk);
        open.items += 1;
        if chunk.len() >= CHUNK {
            let full = mem::take(open);
            for chunk in full.chunks {
                self.spools.hand_over(index, chunk, full.items);
            }
        }
    }
}

impl Drop for SpoolWriter<'_> {
    fn drop(&mut self) {
        for (index, open) in self.open.iter_mut().enumerate() {
            let Spool { chunks, items } = mem::take(open);
            for mut chunk in chunks {
                chunk.shrink_to_fit();
                self.spools.hand_over(index, chunk, items);
            }
        }
    }
}
