//! A bucket that does not fit in memory: sorted in pieces, each piece folded into sums, the sums merged.
//!
//! However many records one position has, a piece holds one sum of it.

use super::fold_pass::Located;
use crate::entry::Entry;
use crate::error::{Error, Result};
use crate::fold::{Folder, Sum};
use crate::key;
use manaka_core::PolicySource;
use manaka_core::packed::PACKED_LEN;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::{self, File};
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// The entries of a bucket, or of a piece of one, in the order of (hash, position).
pub struct Sorted<'a> {
    chunks: &'a [Vec<u8>],
    index: &'a [Located],
    source: PolicySource,
}

impl<'a> Sorted<'a> {
    /// Sorts the entries of the chunks; `index` is the table to do it in.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "chunks are short, and a bucket has far fewer than 2^32"
    )]
    pub fn new(chunks: &'a [Vec<u8>], source: PolicySource, index: &'a mut Vec<Located>) -> Self {
        index.clear();
        for (chunk, bytes) in chunks.iter().enumerate() {
            let mut offset = 0;
            while let Some(entry) = Entry::read(&bytes[offset..], source) {
                let hash = key::hash(entry.packed());
                index.push(Located { hash, chunk: chunk as u32, offset: offset as u32 });
                offset += entry.len();
            }
        }
        let packed = |at: &Located| entry(chunks, source, at).map(|entry| entry.packed());
        index.sort_unstable_by(|a, b| a.hash.cmp(&b.hash).then_with(|| packed(a).cmp(&packed(b))));
        Self { chunks, index, source }
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.index.len()
    }

    /// Hands each position, its hash and its entries to `take`, in order.
    pub fn groups(
        &self,
        mut take: impl FnMut(u128, &[u8; PACKED_LEN], &mut dyn Iterator<Item = Entry<'a>>) -> Result<()>,
    ) -> Result<()> {
        let read = |at: &Located| entry(self.chunks, self.source, at);
        let packed = |at: &Located| read(at).map(|entry| entry.packed());
        for group in self.index.chunk_by(|a, b| a.hash == b.hash && packed(a) == packed(b)) {
            let Some(position) = packed(&group[0]) else { continue };
            take(group[0].hash, position, &mut group.iter().filter_map(read))?;
        }
        Ok(())
    }
}

fn entry<'a>(chunks: &'a [Vec<u8>], source: PolicySource, at: &Located) -> Option<Entry<'a>> {
    Entry::read(&chunks[at.chunk as usize][at.offset as usize..], source)
}

/// Writes a sorted piece as sums.
pub fn write_run(path: &Path, sorted: &Sorted<'_>, folder: &mut Folder<'_>) -> Result<()> {
    let mut out = BufWriter::with_capacity(1 << 18, File::create(path).map_err(Error::io(path))?);
    let mut bytes = Vec::new();
    sorted.groups(|_, packed, entries| {
        entries.for_each(|entry| folder.add(&entry));
        bytes.clear();
        folder.finish_sum(packed, &mut bytes);
        out.write_all(&bytes).map_err(Error::io(path))
    })?;
    out.into_inner().map_err(|e| Error::io(path)(e.into_error()))?;
    Ok(())
}

/// Merges runs: hands each position and its hash to `take` once everything of it is in the folder. Removes the runs.
pub fn merge_runs(
    paths: &[PathBuf],
    folder: &mut Folder<'_>,
    mut take: impl FnMut(u128, &[u8; PACKED_LEN], &mut Folder<'_>) -> Result<()>,
) -> Result<()> {
    let mut runs = Vec::with_capacity(paths.len());
    for path in paths {
        runs.push(RunReader::open(path)?);
    }
    let mut heads = BinaryHeap::new();
    for (at, run) in runs.iter_mut().enumerate() {
        if let Some(key) = run.peek()? {
            heads.push(Reverse((key, at)));
        }
    }
    while let Some(Reverse((key, at))) = heads.pop() {
        runs[at].take(folder);
        if let Some(next) = runs[at].peek()? {
            heads.push(Reverse((next, at)));
        }
        let more = heads.peek().is_some_and(|Reverse((next, _))| *next == key);
        if !more {
            take(key.0, &key.1, folder)?;
        }
    }
    for path in paths {
        fs::remove_file(path).map_err(Error::io(path))?;
    }
    Ok(())
}

/// Reads the sums of one run.
struct RunReader {
    file: File,
    path: PathBuf,
    buf: Vec<u8>,
    start: usize,
}

impl RunReader {
    /// Read at a time; a sum is far shorter.
    const CHUNK: usize = 1 << 18;

    fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(Error::io(path))?;
        Ok(Self { file, path: path.to_owned(), buf: Vec::new(), start: 0 })
    }

    /// Hash and position of the next sum.
    fn peek(&mut self) -> Result<Option<(u128, [u8; PACKED_LEN])>> {
        loop {
            if let Some(sum) = Sum::read(&self.buf[self.start..]) {
                return Ok(Some((key::hash(sum.packed()), *sum.packed())));
            }
            self.buf.drain(..self.start);
            self.start = 0;
            let mut more = (&self.file).take(Self::CHUNK as u64);
            if more.read_to_end(&mut self.buf).map_err(Error::io(&self.path))? == 0 {
                return if self.buf.is_empty() {
                    Ok(None)
                } else {
                    Err(Error::Damaged { path: self.path.clone(), offset: 0 })
                };
            }
        }
    }

    /// Adds the sum that was peeked at to the folder and goes on to the next.
    fn take(&mut self, folder: &mut Folder<'_>) {
        if let Some(sum) = Sum::read(&self.buf[self.start..]) {
            folder.add_sum(&sum);
            self.start += sum.len();
        }
    }
}
