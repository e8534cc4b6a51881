//! A bucket that does not fit in memory: sorted in pieces, each piece folded into sums, the sums merged.
//!
//! However many records one position has, a piece holds one sum of it.

use crate::entry::{Entry, step_entry};
use crate::error::{Error, Result};
use crate::fold::{Folder, Sum};
use crate::key;
use crate::order::{Item, Sorter, prefetch};
use crate::squeezed::{Position, ROOM, squeeze};
use manaka_core::PolicySource;
use manaka_core::packed::PACKED_LEN;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::{self, File};
use std::io::{BufWriter, Read, Write};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// The entries of a bucket, or of a piece of one, in the order of (hash, position).
pub struct Sorted<'a> {
    chunks: &'a [Vec<u8>],
    items: &'a [Item],
    source: PolicySource,
}

/// The entries of one position; there is at least one.
#[derive(Clone, Copy)]
pub struct Group<'a> {
    /// Of its position.
    pub slot: u32,
    pub first: Entry<'a>,
    /// The others.
    rest: &'a [Item],
    chunks: &'a [Vec<u8>],
    source: PolicySource,
}

impl<'a> Group<'a> {
    /// Whether there is one entry.
    pub const fn is_single(&self) -> bool {
        self.rest.is_empty()
    }

    /// Adds all entries to a folder.
    pub fn fold(&self, folder: &mut Folder<'_>) {
        folder.add(&self.first);
        self.rest
            .iter()
            .filter_map(|item| entry(self.chunks, self.source, item))
            .for_each(|e| folder.add(&e));
    }
}

/// Entries are asked for this many ahead of their turn.
const AHEAD: usize = 12;
/// Bytes of an entry that are asked for: three lines, which hold one of 19 candidates wherever it begins.
const LOOK: usize = 129;

impl<'a> Sorted<'a> {
    /// Sorts the entries of the chunks, whose keys are of a range.
    pub fn new(
        chunks: &'a [Vec<u8>],
        keys: &RangeInclusive<u64>,
        source: PolicySource,
        sorter: &'a mut Sorter,
    ) -> Self {
        Self { chunks, items: sorter.sort(chunks, keys, |bytes| step_entry(bytes, source)), source }
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.items.len()
    }

    /// Hands the entries of each position to `take`, in order.
    pub fn groups(&self, mut take: impl FnMut(Group<'_>) -> Result<()>) -> Result<()> {
        self.items.iter().take(AHEAD).for_each(|item| prefetch(*item, LOOK, self.chunks));
        let mut at = 0;
        while at < self.items.len() {
            let key = self.items[at].key;
            let end = at + self.items[at..].iter().take_while(|item| item.key == key).count();
            for ahead in at + AHEAD..end + AHEAD {
                if let Some(item) = self.items.get(ahead) {
                    prefetch(*item, LOOK, self.chunks);
                }
            }
            self.equal_keys(&self.items[at..end], &mut take)?;
            at = end;
        }
        Ok(())
    }

    /// Hands on entries whose keys are equal: mostly of one position.
    fn equal_keys(&self, items: &[Item], take: &mut impl FnMut(Group<'_>) -> Result<()>) -> Result<()> {
        let position = |item: &Item| entry(self.chunks, self.source, item).map(|entry| entry.position());
        let group = |items: &[Item], take: &mut dyn FnMut(Group<'_>) -> Result<()>| {
            let Some((first, rest)) = items.split_first() else { return Ok(()) };
            let Some(entry) = entry(self.chunks, self.source, first) else { return Ok(()) };
            let slot = key::slot_of_key(first.key);
            take(Group { slot, first: entry, rest, chunks: self.chunks, source: self.source })
        };
        let first = position(&items[0]);
        if items[1..].iter().all(|item| position(item) == first) {
            return group(items, take);
        }
        let mut items = items.to_vec();
        items.sort_by_cached_key(|item| position(item).map(|position| key::whole(&position.packed())));
        items.chunk_by(|a, b| position(a) == position(b)).try_for_each(|items| group(items, take))
    }
}

fn entry<'a>(chunks: &'a [Vec<u8>], source: PolicySource, item: &Item) -> Option<Entry<'a>> {
    Entry::read(item.bytes(chunks), source)
}

/// Writes a sorted piece as sums.
pub fn write_run(path: &Path, sorted: &Sorted<'_>, folder: &mut Folder<'_>) -> Result<()> {
    let mut out = BufWriter::with_capacity(1 << 18, File::create(path).map_err(Error::io(path))?);
    let mut bytes = Vec::new();
    sorted.groups(|group| {
        group.fold(folder);
        bytes.clear();
        folder.finish_sum(group.first.position(), &mut bytes);
        out.write_all(&bytes).map_err(Error::io(path))
    })?;
    out.into_inner().map_err(|e| Error::io(path)(e.into_error()))?;
    Ok(())
}

/// Merges runs: hands each position and its slot to `take` once everything of it is in the folder. Removes the runs.
pub fn merge_runs(
    paths: &[PathBuf],
    folder: &mut Folder<'_>,
    mut take: impl FnMut(u32, Position<'_>, &mut Folder<'_>) -> Result<()>,
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
            let mut room = [0; ROOM];
            squeeze(&key.1, &mut room);
            if let Some(position) = Position::read(&room) {
                take(key::slot(key.0), position, folder)?;
            }
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
                return Ok(Some(key::whole(&sum.position().packed())));
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries of one candidate: key, position, ply.
    fn entries(entries: &[(u8, u8, u8)]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for &(key, position, ply) in entries {
            let mut room = [0; ROOM];
            let len = squeeze(&[position; PACKED_LEN], &mut room);
            bytes.extend([key, 0, 0, 0, 0]);
            bytes.extend([&[0, 0, 0, 0, ply, 0, 0, 1, 0][..], &room[..len], &[7, 0, 9, 0]].concat());
        }
        bytes
    }

    #[test]
    fn positions_whose_keys_are_equal_are_told_apart_and_stand_by_their_hashes() {
        let chunks =
            [entries(&[(5, 1, 10), (5, 2, 20), (4, 3, 30)]), entries(&[(5, 1, 11), (6, 3, 31), (5, 4, 40)])];
        let mut sorter = Sorter::default();
        let sorted = Sorted::new(&chunks, &(0..=9), PolicySource::SoftmaxCp, &mut sorter);
        let mut found = Vec::new();
        sorted
            .groups(|group| {
                let rest = group.rest.iter().filter_map(|item| entry(&chunks, PolicySource::SoftmaxCp, item));
                let plies: Vec<u16> =
                    std::iter::once(group.first).chain(rest).map(|entry| entry.ply()).collect();
                found.push((group.first.position().packed()[0], plies));
                Ok(())
            })
            .unwrap();
        let mut tied = vec![(1, vec![10, 11]), (2, vec![20]), (4, vec![40])];
        tied.sort_by_key(|(position, _)| key::hash(&[*position; PACKED_LEN]));
        let expected: Vec<_> = [(3, vec![30])].into_iter().chain(tied).chain([(3, vec![31])]).collect();
        assert_eq!(found, expected);
    }
}
