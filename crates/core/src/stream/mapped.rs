//! Reading a raw stream in memory without copying: from any slice, or from a mapped file.

use super::decoder::{Decoder, Step};
use super::error::{Error, Kind, Result};
use super::header::{HEADER_LEN, Header};
use super::reader::is_zstd;
use super::record::RecordRef;
use memmap2::Mmap;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Reads the records of a raw stream that lies in memory; they borrow from it.
pub struct SliceReader<'a> {
    bytes: &'a [u8],
    path: Option<&'a Path>,
    decoder: Decoder,
    header: Header,
    failed: bool,
}

impl<'a> SliceReader<'a> {
    /// Starts reading at the header.
    ///
    /// # Errors
    /// The header kinds of [`Kind`]; `Unsupported` for zstd data, which has to go through a
    /// [`StreamReader`](super::StreamReader).
    pub fn new(bytes: &'a [u8]) -> Result<Self> {
        if is_zstd(bytes) {
            return Err(Error::new(
                None,
                0,
                Kind::Unsupported("zstd data cannot be read in place; decompress it or use a stream reader"),
            ));
        }
        let mut decoder = Decoder::new();
        match decoder.step(bytes)? {
            Step::Header(header) => Ok(Self { bytes, path: None, decoder, header, failed: false }),
            Step::Record(_) | Step::NeedMore(_) => {
                decoder.finish(bytes)?;
                Err(Error::new(None, 0, Kind::Empty))
            }
        }
    }

    /// The header.
    #[must_use]
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// Byte offset of the next record.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.decoder.offset()
    }

    /// Number of the next record, from 0.
    #[must_use]
    pub const fn position(&self) -> u64 {
        self.decoder.records()
    }

    /// The next record; `None` at the end of a whole stream.
    ///
    /// # Errors
    /// As [`StreamReader::next_ref`](super::StreamReader::next_ref), with the same going on after a record fault.
    pub fn next_ref(&mut self) -> Result<Option<RecordRef<'a>>> {
        if self.failed {
            return Ok(None);
        }
        // The offset never passes the end of the slice.
        let rest =
            usize::try_from(self.decoder.offset()).ok().and_then(|at| self.bytes.get(at..)).unwrap_or(&[]);
        let result = match self.decoder.step(rest) {
            Ok(Step::Record(record)) => return Ok(Some(record)),
            Ok(_) => self.decoder.finish(rest).map(|()| None),
            Err(error) => Err(error),
        };
        self.failed = !matches!(result, Err(Error { kind: Kind::Record(_), .. }));
        result.map_err(|error| match self.path {
            Some(path) => error.in_file(path),
            None => error,
        })
    }
}

/// A raw stream file mapped into memory.
#[derive(Debug)]
pub struct MappedStream {
    map: Mmap,
    path: PathBuf,
    header: Header,
}

impl MappedStream {
    /// Maps a file and reads its header.
    ///
    /// # Errors
    /// As [`SliceReader::new`], with the path; [`Kind::Io`] when it cannot be opened or mapped.
    pub fn open(path: &Path) -> Result<Self> {
        let io = |e| Error::new(None, 0, Kind::Io(e)).in_file(path);
        let file = File::open(path).map_err(io)?;
        if file.metadata().map_err(io)?.len() == 0 {
            return Err(Error::new(None, 0, Kind::Empty).in_file(path));
        }
        // SAFETY: the map is only ever read, through bounds-checked slices, and every value read from it is copied out
        // before it is used. If another process changes the file meanwhile, wrong data is read or the process gets a
        // SIGBUS; both are the contract of a memory-mapped reader, and streams are only appended to, never rewritten.
        // The fuzz target `stream` reads the same bytes through a map and through a slice.
        let map = unsafe { Mmap::map(&file) }.map_err(io)?;
        let header = *SliceReader::new(&map).map_err(|error| error.in_file(path))?.header();
        Ok(Self { map, path: path.to_owned(), header })
    }

    /// The header.
    #[must_use]
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// All bytes of the file.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// A reader at the first record.
    #[must_use]
    pub fn records(&self) -> SliceReader<'_> {
        let mut decoder = Decoder::new();
        // The header was decoded when the file was opened; the slice still starts with it.
        let failed = decoder.step(self.map.get(..HEADER_LEN).unwrap_or(&[])).is_err();
        SliceReader { bytes: &self.map, path: Some(&self.path), decoder, header: self.header, failed }
    }
}
