//! Bytes that several threads scatter and one thread reads back: the buckets of entries, the ranges of rows.
//!
//! A spool holds chunks of whole items. It lies in memory or in a file, by the run's plan; nothing else differs. In a file
//! every chunk names the unit of work it came from and the attempt at it, so that a resumed run can tell the chunks of
//! finished units from those a kill left behind.

use crate::error::{Error, Result};
use crate::order::prefetch_to_write;
use manaka_core::whole_file::begin_write_back;
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use xxhash_rust::xxh3::xxh3_64;

/// Which unit of work wrote a chunk, and at which attempt.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Tag {
    pub unit: u32,
    pub attempt: u32,
}

/// The attempt that finished each unit; chunks of others are passed over.
pub type Done = HashMap<u32, u32>;

/// Where spools lie.
pub enum Store {
    Memory,
    /// Files `<name>-NNNN` in a directory, which exists.
    Files {
        dir: PathBuf,
        name: &'static str,
        sending: Sending,
    },
}

/// When files begin to be sent to disk as they grow, so that a checkpoint finds little left to do. What is removed before
/// need not go to disk at all.
#[derive(Clone, Copy)]
pub struct Sending {
    began: Instant,
    after: Duration,
}

impl Sending {
    /// Halfway to the first checkpoint of a run that begins now.
    pub fn halfway(checkpoint: Duration) -> Self {
        Self { began: Instant::now(), after: checkpoint / 2 }
    }

    fn has_begun(self) -> bool {
        self.began.elapsed() >= self.after
    }
}

/// What one spool holds.
#[derive(Default)]
struct Spool {
    /// In memory: the chunks. In files: nothing.
    chunks: Vec<Vec<u8>>,
    items: u64,
    bytes: u64,
    /// Written to since the last sync.
    dirty: bool,
    /// In files: bytes that were sent to disk, from the start.
    sent: u64,
}

/// Buffers of chunks that were used up, to be filled again: their memory is there already. The rows of a fold in memory
/// take the place of the entries they came from; out of core each bucket or spool is loaded into the buffers of the one
/// before, so there are never more than are in use at once.
#[derive(Default)]
pub struct Pool(Mutex<Vec<Vec<u8>>>);

impl Pool {
    fn take(&self, capacity: usize) -> Vec<u8> {
        let free = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        free.unwrap_or_else(|| Vec::with_capacity(capacity))
    }

    /// Gives buffers back.
    pub fn give(&self, mut buffers: Vec<Vec<u8>>) {
        buffers.iter_mut().for_each(Vec::clear);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).append(&mut buffers);
    }
}

/// Room in a buffer behind the length at which it is handed over, for the item that reaches it.
const ITEM: usize = 4 << 10;

/// Bytes of a spool file that are sent to disk at a time, so that little is left when a pass ends. The system places each such
/// piece on its own: small ones would be spread over the disk, and take long to remove.
const SEND: u64 = 1 << 20;

/// Bytes behind the last item that the next one is likely to take.
const NEXT: usize = 129;

/// A fixed number of spools.
pub struct Spools<'p> {
    store: Store,
    pool: &'p Pool,
    /// A chunk is handed over when it is about this long.
    chunk: usize,
    spools: Vec<Mutex<Spool>>,
}

impl<'p> Spools<'p> {
    /// `count` empty spools; what an earlier run left in their files stays in front.
    pub fn new(count: usize, store: Store, chunk: usize, pool: &'p Pool) -> Self {
        Self { store, pool, chunk, spools: (0..count).map(|_| Mutex::default()).collect() }
    }

    pub const fn len(&self) -> usize {
        self.spools.len()
    }

    fn lock(&self, index: usize) -> MutexGuard<'_, Spool> {
        self.spools[index].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A writer for one thread.
    pub fn writer(&self) -> SpoolWriter<'_, 'p> {
        let open = (0..self.spools.len()).map(|_| Open::default()).collect();
        SpoolWriter { spools: self, tag: Tag::default(), filled: 0, open }
    }

    /// Items of each spool.
    pub fn counts(&self) -> Vec<u64> {
        (0..self.len()).map(|index| self.lock(index).items).collect()
    }

    /// Items of one spool.
    pub fn items(&self, index: usize) -> u64 {
        self.lock(index).items
    }

    /// Bytes of a spool once loaded.
    pub fn bytes(&self, index: usize) -> u64 {
        self.lock(index).bytes
    }

    fn path(&self, index: usize) -> Option<PathBuf> {
        match &self.store {
            Store::Memory => None,
            Store::Files { dir, name, .. } => Some(dir.join(format!("{name}-{index:04}"))),
        }
    }

    /// Adopts what an earlier run left: counts the chunks of finished units and cuts a torn chunk off each file's end.
    pub fn adopt(&self, done: &Done) -> Result<()> {
        for index in 0..self.len() {
            let Some(path) = self.path(index) else { continue };
            let mut chunks = match Chunks::open(&path) {
                Ok(chunks) => chunks,
                Err(Error::Io { error, .. }) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            let mut spool = self.lock(index);
            while let Some(head) = chunks.next_head()? {
                if head.counts(done) {
                    spool.items += u64::from(head.items);
                    spool.bytes += u64::from(head.len);
                }
                chunks.skip(head)?;
            }
            // The run that wrote it may not have brought it to disk.
            spool.dirty = true;
            let whole = chunks.whole;
            OpenOptions::new()
                .write(true)
                .open(&path)
                .and_then(|file| file.set_len(whole))
                .map_err(Error::io(&path))?;
        }
        Ok(())
    }

    /// Whether the items that were adopted are those the journal tells of: all of them together.
    ///
    /// # Errors
    /// [`Error::Leftover`] when they are not, so files are gone or were changed.
    pub fn expect(&self, items: u64) -> Result<()> {
        let found = self.counts().iter().sum();
        if items == found {
            return Ok(());
        }
        Err(self.changed(&format!("all of the kind hold {found} items, the journal tells of {items}")))
    }

    /// The error of spools that are not as the journal says.
    pub fn changed(&self, what: &str) -> Error {
        let path = match &self.store {
            Store::Memory => PathBuf::new(),
            Store::Files { dir, name, .. } => dir.join(format!("{name}-*")),
        };
        Error::Leftover { path, what: format!("{what}: remove them to start again") }
    }

    /// Whether a chunk was not brought to disk yet.
    #[cfg(test)]
    pub fn waits_for_the_disk(&self) -> bool {
        (0..self.len()).any(|index| self.lock(index).dirty)
    }

    /// Brings every chunk written so far to disk.
    pub fn sync(&self) -> Result<()> {
        for index in 0..self.len() {
            let Some(path) = self.path(index) else { continue };
            // The lock is not held while the disk works.
            if mem::take(&mut self.lock(index).dirty) {
                File::open(&path).and_then(|file| file.sync_data()).map_err(Error::io(&path))?;
            }
        }
        Ok(())
    }

    /// All chunks of finished units of a spool, to be given back to the pool. In memory they are moved out.
    pub fn load(&self, index: usize, done: &Done) -> Result<Vec<Vec<u8>>> {
        let mut loaded = Vec::new();
        self.each_chunk(index, done, |chunk| {
            loaded.push(chunk);
            Ok(())
        })?;
        Ok(loaded)
    }

    /// Hands every chunk of finished units of a spool to `take`, one at a time.
    pub fn each_chunk(
        &self,
        index: usize,
        done: &Done,
        mut take: impl FnMut(Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        let Some(path) = self.path(index) else {
            let chunks = mem::take(&mut self.lock(index).chunks);
            return chunks.into_iter().try_for_each(take);
        };
        let mut chunks = match Chunks::open(&path) {
            Ok(chunks) => chunks,
            // Nothing was scattered into it.
            Err(Error::Io { error, .. }) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        while let Some(head) = chunks.next_head()? {
            if head.counts(done) {
                take(chunks.read(head, self.pool.take(self.chunk + ITEM))?)?;
            } else {
                chunks.skip(head)?;
            }
        }
        if self.sends() {
            // It is read once: the system's memory is for what comes next.
            begin_write_back(&chunks.file, 0, chunks.len);
        }
        Ok(())
    }

    fn sends(&self) -> bool {
        matches!(self.store, Store::Files { sending, .. } if sending.has_begun())
    }

    /// Bytes at which a spool that is begun later sends for the first time: spools fill evenly, and must not send all at once.
    fn first_send(&self, index: usize) -> u64 {
        SEND * (index as u64 + 1) / self.len() as u64
    }

    /// Removes a spool that is not needed any more.
    pub fn remove(&self, index: usize) -> Result<()> {
        match self.path(index) {
            None => self.lock(index).chunks = Vec::new(),
            Some(path) => {
                self.lock(index).dirty = false;
                match fs::remove_file(&path) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => {
                        return Err(Error::io(&path)(error));
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Takes a chunk over; `bytes` is empty afterwards.
    fn hand_over(&self, index: usize, tag: Tag, bytes: &mut Vec<u8>, items: u32) -> Result<()> {
        let raw_len = bytes.len() as u64;
        let mut spool = match self.path(index) {
            None => {
                let chunk = mem::take(bytes);
                let mut spool = self.lock(index);
                spool.chunks.push(chunk);
                spool
            }
            Some(path) => {
                let head = Head::of(tag, items, bytes)?.bytes();
                let mut spool = self.lock(index);
                // Opened anew for each chunk: thousands of spools would be too many open files.
                OpenOptions::new()
                    .append(true)
                    .create(true)
                    .open(&path)
                    .and_then(|mut file| {
                        file.write_all(&head)?;
                        file.write_all(bytes)?;
                        let end = file.stream_position()?;
                        // Pieces of about SEND, at another time in each spool.
                        let due = spool.sent + if spool.sent == 0 { self.first_send(index) } else { SEND };
                        if end >= due && self.sends() {
                            begin_write_back(&file, spool.sent, end - spool.sent);
                            spool.sent = end;
                        }
                        Ok(())
                    })
                    .map_err(Error::io(&path))?;
                bytes.clear();
                spool.dirty = true;
                spool
            }
        };
        spool.items += u64::from(items);
        spool.bytes += raw_len;
        Ok(())
    }
}

/// One spool's chunk being filled.
#[derive(Default)]
struct Open {
    bytes: Vec<u8>,
    items: u32,
}

/// One thread's side of the scatter.
pub struct SpoolWriter<'a, 'p> {
    spools: &'a Spools<'p>,
    tag: Tag,
    /// Chunks of the unit that were full when they were handed over.
    filled: usize,
    open: Vec<Open>,
}

impl SpoolWriter<'_, '_> {
    /// How many spools there are.
    pub const fn len(&self) -> usize {
        self.spools.len()
    }

    /// What follows belongs to this unit.
    pub const fn begin(&mut self, tag: Tag) {
        (self.tag, self.filled) = (tag, 0);
    }

    /// Whether the unit may end without leaving many small chunks: it has filled as many as there are spools. In memory it
    /// leaves none.
    pub fn may_end(&self) -> bool {
        matches!(self.spools.store, Store::Memory) || self.filled >= self.len()
    }

    /// Appends one item, written by `write`.
    pub fn push(&mut self, index: usize, write: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        let open = &mut self.open[index];
        if open.bytes.capacity() == 0 {
            open.bytes = self.spools.pool.take(self.spools.chunk + ITEM);
        }
        write(&mut open.bytes);
        open.items += 1;
        // The next item comes when hundreds of other spools had theirs; until then the memory can be fetched.
        let room = open.bytes.spare_capacity_mut();
        prefetch_to_write(&room[room.len().min(64)..room.len().min(64 + NEXT)]);
        if open.bytes.len() < self.spools.chunk {
            return Ok(());
        }
        self.filled += 1;
        self.hand_over(index)
    }

    /// Ends the unit. In files, what is still open is handed over: no chunk holds items of two units.
    pub fn end(&mut self) -> Result<()> {
        match self.spools.store {
            Store::Memory => Ok(()),
            Store::Files { .. } => self.finish(),
        }
    }

    /// Hands over everything that is still open.
    pub fn finish(&mut self) -> Result<()> {
        (0..self.open.len()).try_for_each(|index| self.hand_over(index))
    }

    fn hand_over(&mut self, index: usize) -> Result<()> {
        let open = &mut self.open[index];
        match mem::take(&mut open.items) {
            0 => Ok(()),
            items => self.spools.hand_over(index, self.tag, &mut open.bytes, items),
        }
    }
}

/// The head of a chunk in a file: magic, unit, attempt, items, length (u32 each), hash (u64).
///
/// Chunks are stored as they are: compressing them cost more time than it saved.
#[derive(Clone, Copy)]
struct Head {
    tag: Tag,
    items: u32,
    len: u32,
    hash: u64,
}

const HEAD_LEN: usize = 5 * 4 + 8;
const MAGIC: u32 = u32::from_le_bytes(*b"MSPL");

impl Head {
    fn of(tag: Tag, items: u32, chunk: &[u8]) -> Result<Self> {
        let len = u32::try_from(chunk.len()).map_err(|_| Error::Spool("a chunk of more than 4 GiB"))?;
        Ok(Self { tag, items, len, hash: xxh3_64(chunk) })
    }

    fn bytes(self) -> [u8; HEAD_LEN] {
        let mut bytes = [0; HEAD_LEN];
        let words = [MAGIC, self.tag.unit, self.tag.attempt, self.items, self.len];
        for (place, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
            *place = word.to_le_bytes();
        }
        bytes[HEAD_LEN - 8..].copy_from_slice(&self.hash.to_le_bytes());
        bytes
    }

    /// `None` when the bytes are no head.
    fn read(bytes: &[u8; HEAD_LEN]) -> Option<Self> {
        let (words, _) = bytes.as_chunks();
        let [magic, unit, attempt, items, len, low, high] = *words else { return None };
        let word = u32::from_le_bytes;
        if word(magic) != MAGIC {
            return None;
        }
        let tag = Tag { unit: word(unit), attempt: word(attempt) };
        let hash = u64::from(word(low)) | u64::from(word(high)) << 32;
        Some(Self { tag, items: word(items), len: word(len), hash })
    }

    fn counts(&self, done: &Done) -> bool {
        done.get(&self.tag.unit) == Some(&self.tag.attempt)
    }
}

/// Walks the chunks of a spool file.
struct Chunks {
    file: File,
    path: PathBuf,
    len: u64,
    /// Bytes of the whole chunks passed so far.
    whole: u64,
}

impl Chunks {
    fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(Error::io(path))?;
        let len = file.metadata().map_err(Error::io(path))?.len();
        Ok(Self { file, path: path.to_owned(), len, whole: 0 })
    }

    /// The head of the next whole chunk; `None` at the end or before a torn one.
    fn next_head(&mut self) -> Result<Option<Head>> {
        if self.len - self.whole < HEAD_LEN as u64 {
            return Ok(None);
        }
        let mut bytes = [0; HEAD_LEN];
        self.file.read_exact(&mut bytes).map_err(Error::io(&self.path))?;
        let Some(head) = Head::read(&bytes) else {
            return Err(Error::Damaged { path: self.path.clone(), offset: self.whole });
        };
        let whole = self.len - self.whole - HEAD_LEN as u64 >= u64::from(head.len);
        Ok(whole.then_some(head))
    }

    const fn pass(&mut self, head: Head) {
        self.whole += HEAD_LEN as u64 + head.len as u64;
    }

    fn skip(&mut self, head: Head) -> Result<()> {
        self.file.seek(SeekFrom::Current(i64::from(head.len))).map_err(Error::io(&self.path))?;
        self.pass(head);
        Ok(())
    }

    /// Reads a chunk into `buffer`.
    fn read(&mut self, head: Head, mut buffer: Vec<u8>) -> Result<Vec<u8>> {
        buffer.clear();
        buffer.reserve(head.len as usize);
        let mut whole = (&self.file).take(u64::from(head.len));
        if whole.read_to_end(&mut buffer).map_err(Error::io(&self.path))? < head.len as usize {
            return Err(Error::io(&self.path)(io::ErrorKind::UnexpectedEof.into()));
        }
        if xxh3_64(&buffer) != head.hash {
            return Err(Error::Damaged { path: self.path.clone(), offset: self.whole });
        }
        self.pass(head);
        Ok(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_earlier_run_left_is_counted_and_still_to_be_brought_to_disk() {
        let dir = tempfile::tempdir().unwrap();
        let pool = Pool::default();
        let sending = Sending::halfway(Duration::from_secs(3600));
        let spools =
            || Spools::new(1, Store::Files { dir: dir.path().to_owned(), name: "rows", sending }, 100, &pool);
        let write = |tag| {
            let spools = spools();
            let mut writer = spools.writer();
            writer.begin(tag);
            writer.push(0, |bytes| bytes.extend([1, 2, 3])).unwrap();
            writer.end().unwrap();
        };
        write(Tag { unit: 4, attempt: 0 });
        write(Tag { unit: 5, attempt: 0 });
        let done = Done::from([(4, 0), (5, 1)]);
        let again = spools();
        assert!(!again.waits_for_the_disk());
        again.adopt(&done).unwrap();
        assert!(again.waits_for_the_disk());
        assert_eq!(again.counts(), [1]);
        assert_eq!(again.load(0, &done).unwrap(), [[1, 2, 3]]);
        again.sync().unwrap();
        assert!(!again.waits_for_the_disk());
    }

    #[test]
    fn files_are_sent_to_disk_from_halfway_to_the_first_checkpoint_on() {
        assert!(Sending::halfway(Duration::ZERO).has_begun());
        let mut sending = Sending::halfway(Duration::from_secs(60));
        assert!(!sending.has_begun());
        sending.began -= Duration::from_secs(30);
        assert!(sending.has_begun());
    }
}
