//! The parts of a set read in order, record by record, with what the lineage has to say of each file.

use crate::error::{Error, Result};
use crate::lineage::FileFacts;
use manaka_core::progress::Progress;
use manaka_core::stream::{Header, Kind, RecordRef, StreamReader, StreamSet, agree};
use manaka_core::{Conventions, stream};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use xxhash_rust::xxh3::Xxh3;

/// A reader that hashes what passes.
pub struct Hashed<R> {
    inner: R,
    hash: Xxh3,
    /// Shared with whoever reports progress.
    bytes: Arc<AtomicU64>,
}

impl<R: Read> Hashed<R> {
    fn new(inner: R) -> Self {
        Self { inner, hash: Xxh3::new(), bytes: Arc::default() }
    }

    /// Reads what is left and gives the length and the hash of everything.
    fn finish(mut self) -> io::Result<(u64, String)> {
        io::copy(&mut self, &mut io::sink())?;
        Ok((self.bytes.load(Ordering::Relaxed), format!("{:032x}", self.hash.digest128())))
    }
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buf)?;
        self.hash.update(&buf[..read]);
        self.bytes.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// The length and hash of a file.
pub fn hash_of(path: &Path) -> Result<(u64, String)> {
    File::open(path)
        .and_then(|file| Hashed::new(file).finish())
        .map_err(|error| Error::Io { path: path.to_owned(), error })
}

/// The name of a file without its directories.
pub fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A record's place in the set.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Which file, from 0.
    pub part: usize,
    /// Which record of that file, from 0.
    pub record: u64,
}

/// A set of stream files, whose headers agree, read once from front to back.
pub struct Source<'a> {
    paths: &'a [PathBuf],
    conventions: Conventions,
    header: Header,
    compressed: bool,
    next: usize,
    reader: Option<StreamReader<Hashed<File>>>,
    facts: Vec<FileFacts>,
    /// A file's torn tail is no error but its end.
    torn: bool,
    tears: Vec<Tear>,
    progress: &'a dyn Progress,
    /// Records until the next look at progress, and file bytes reported of this file.
    pause: u32,
    told: u64,
    read: Arc<AtomicU64>,
}

/// Where and how a file was torn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tear {
    /// Which file, from 0.
    pub part: usize,
    /// Whole records in front of it.
    pub records: u64,
    /// Where they end, in the decompressed stream.
    pub offset: u64,
    /// Bytes of the decompressed stream behind that.
    pub lost: u64,
}

const PAUSE: u32 = 4096;

impl<'a> Source<'a> {
    /// Reads every header and refuses conventions that may not be mixed; `phase` names the run's progress.
    pub fn open(paths: &'a [PathBuf], phase: &str, progress: &'a dyn Progress) -> Result<Self> {
        let set = StreamSet::open(paths.to_vec())?;
        let conventions = *set.conventions();
        let mut header = Header::new(conventions);
        let mut compressed = false;
        let mut total = 0;
        for (at, path) in paths.iter().enumerate() {
            let reader = StreamReader::open(path)?;
            header.version = header.version.max(reader.header().version);
            compressed |= at == 0 && reader.is_compressed();
            let len = std::fs::metadata(path).map_err(|error| Error::Io { path: path.clone(), error })?.len();
            total += len;
        }
        progress.phase(phase, Some(total), "bytes");
        Ok(Self {
            paths,
            conventions,
            header,
            compressed,
            next: 0,
            reader: None,
            facts: Vec::with_capacity(paths.len()),
            torn: false,
            tears: Vec::new(),
            progress,
            pause: PAUSE,
            told: 0,
            read: Arc::default(),
        })
    }

    /// Takes the torn tail of a file as its end.
    pub fn up_to_tears(mut self) -> Self {
        self.torn = true;
        self
    }

    /// The header of the set: the conventions of its first file, in the latest version that one of them has.
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// Whether the first file is compressed.
    pub const fn is_compressed(&self) -> bool {
        self.compressed
    }

    /// The files.
    pub const fn paths(&self) -> &'a [PathBuf] {
        self.paths
    }

    /// The torn tails met so far.
    pub fn tears(&self) -> &[Tear] {
        &self.tears
    }

    /// What is known of the files that were read to their end.
    pub fn into_facts(self) -> Vec<FileFacts> {
        self.facts
    }

    /// The next record and where it stands; `None` behind the last file.
    pub fn next(&mut self) -> Result<Option<(Place, RecordRef<'_>)>> {
        while !self.has_next()? {
            if self.next == self.paths.len() {
                return Ok(None);
            }
            self.begin()?;
        }
        self.pause -= 1;
        if self.pause == 0 {
            self.pause = PAUSE;
            self.report()?;
        }
        let (path, part) = (&self.paths[self.next - 1], self.next - 1);
        let Some(reader) = &mut self.reader else { return Ok(None) };
        let place = Place { part, record: reader.position() };
        let record = reader.next_ref().map_err(|error| error.in_file(path))?;
        Ok(record.map(|record| (place, record)))
    }

    /// Whether the open file has another record; closes it when not.
    fn has_next(&mut self) -> Result<bool> {
        let Some(reader) = &mut self.reader else { return Ok(false) };
        match reader.has_next() {
            Ok(true) => return Ok(true),
            Ok(false) => {}
            Err(stream::Error { kind: Kind::Truncated { have, .. }, offset, .. }) if self.torn => {
                let records = reader.position();
                self.tears.push(Tear { part: self.next - 1, records, offset, lost: have });
            }
            Err(error) => return Err(error.in_file(&self.paths[self.next - 1]).into()),
        }
        self.close()?;
        Ok(false)
    }

    fn begin(&mut self) -> Result<()> {
        let path = &self.paths[self.next];
        self.next += 1;
        let file = File::open(path).map_err(|error| Error::Io { path: path.clone(), error })?;
        let file = Hashed::new(file);
        self.read = file.bytes.clone();
        let reader = StreamReader::new(file).map_err(|error| error.in_file(path))?;
        // Headers were compared before; a file that was replaced since is compared again.
        agree(path, reader.header(), &self.paths[0], &self.conventions)?;
        self.reader = Some(reader);
        self.told = 0;
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        let Some(reader) = self.reader.take() else { return Ok(()) };
        let path = &self.paths[self.next - 1];
        let records = reader.position();
        let (bytes, xxh3_128) =
            reader.into_inner().finish().map_err(|error| Error::Io { path: path.clone(), error })?;
        self.tell();
        self.facts.push(FileFacts { name: name_of(path), bytes, records, xxh3_128 });
        Ok(())
    }

    fn report(&mut self) -> Result<()> {
        if self.progress.cancelled() {
            return Err(Error::Interrupted);
        }
        self.tell();
        Ok(())
    }

    /// Reports how far the open file was read.
    fn tell(&mut self) {
        let read = self.read.load(Ordering::Relaxed);
        self.progress.advance(read - self.told);
        self.told = read;
    }
}
