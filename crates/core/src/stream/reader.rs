//! Reading a stream from any `Read`, raw or zstd.

use super::decoder::{Decoder, Step};
use super::error::{Error, Kind, Result};
use super::header::{HEADER_LEN, Header};
use super::record::{Record, RecordRef};
use std::fs::File;
use std::io::{self, BufReader, Chain, Cursor, Read};
use std::path::{Path, PathBuf};

/// Remembers whether the reader below failed, because zstd passes its errors on among its own.
struct Watched<R> {
    inner: R,
    failed: bool,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let result = self.inner.read(buf);
        self.failed = matches!(&result, Err(e) if e.kind() != io::ErrorKind::Interrupted);
        result
    }
}

/// The peeked bytes, then the rest.
type Peeked<R> = Chain<Cursor<Vec<u8>>, Watched<R>>;

enum Source<R: Read> {
    Raw(Peeked<R>),
    Zstd(Box<zstd::stream::read::Decoder<'static, BufReader<Peeked<R>>>>),
}

impl<R: Read> Read for Source<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Raw(raw) => raw.read(buf),
            Self::Zstd(zstd) => zstd.read(buf),
        }
    }
}

/// Whether a file with these first bytes is zstd: a frame, or a skippable frame before one (stream.md §7).
pub(super) fn is_zstd(first: &[u8]) -> bool {
    matches!(first, [0x28, 0xB5, 0x2F, 0xFD, ..] | [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..])
}

/// Bytes asked of the source at a time: few enough to be in a core's near cache still when their records are read.
const CHUNK: usize = 64 << 10;

/// Reads an MPK1 stream from any `Read`; raw and zstd data (one frame or many) are told apart by content.
///
/// Memory is bounded by one chunk and the longest record the format allows. A stream that is cut yields every whole
/// record first and then an error of kind `Truncated`.
pub struct StreamReader<R: Read> {
    source: Source<R>,
    path: Option<PathBuf>,
    decoder: Decoder,
    header: Header,
    buf: Vec<u8>,
    start: usize,
    /// Why nothing more comes from the source: its end, or an error that waits until the buffer is used up.
    ended: Option<Option<Kind>>,
    failed: bool,
}

impl StreamReader<File> {
    /// Opens a file and reads its header.
    ///
    /// # Errors
    /// As [`StreamReader::new`], with the path; [`Kind::Io`] when it cannot be opened.
    pub fn open(path: &Path) -> Result<Self> {
        let in_file = |error: Error| error.in_file(path);
        let file = File::open(path).map_err(|e| in_file(Error::new(None, 0, Kind::Io(e))))?;
        let mut reader = Self::new(file).map_err(in_file)?;
        reader.path = Some(path.to_owned());
        Ok(reader)
    }
}

impl<R: Read> StreamReader<R> {
    /// Starts reading at the header.
    ///
    /// # Errors
    /// The header kinds of [`Kind`], `Empty`, `Truncated`, `Io`, `Compression`.
    pub fn new(mut inner: R) -> Result<Self> {
        let mut first = vec![0; 4];
        let have = read_full(&mut inner, &mut first).map_err(|e| Error::new(None, 0, Kind::Io(e)))?;
        first.truncate(have);
        let zstd = is_zstd(&first);
        let peeked = Cursor::new(first).chain(Watched { inner, failed: false });
        let source = if zstd {
            let decoder =
                zstd::stream::read::Decoder::with_buffer(BufReader::with_capacity(128 << 10, peeked))
                    .map_err(|e| Error::new(None, 0, Kind::Compression(e)))?;
            Source::Zstd(Box::new(decoder))
        } else {
            Source::Raw(peeked)
        };
        let mut reader = Self {
            source,
            path: None,
            decoder: Decoder::new(),
            header: Header::new(crate::Conventions::VISITS),
            buf: Vec::with_capacity(CHUNK),
            start: 0,
            ended: None,
            failed: false,
        };
        while reader.ended.is_none() && reader.buf.len() < HEADER_LEN {
            reader.fill();
        }
        match reader.decoder.step(&reader.buf)? {
            Step::Header(header) => {
                reader.header = header;
                reader.start = HEADER_LEN;
                Ok(reader)
            }
            Step::Record(_) | Step::NeedMore(_) => Err(reader.end().err().unwrap_or_else(|| {
                Error::new(None, 0, Kind::Empty) // unreachable: without a header `end` is an error
            })),
        }
    }

    /// The header.
    #[must_use]
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// Whether the source is zstd.
    #[must_use]
    pub const fn is_compressed(&self) -> bool {
        matches!(self.source, Source::Zstd(_))
    }

    /// Byte offset of the next record in the decompressed stream.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.decoder.offset()
    }

    /// Number of the next record, from 0.
    #[must_use]
    pub const fn position(&self) -> u64 {
        self.decoder.records()
    }

    /// The reader below. Bytes already buffered are lost.
    pub fn into_inner(self) -> R {
        match self.source {
            Source::Raw(raw) => raw.into_inner().1.inner,
            Source::Zstd(zstd) => zstd.finish().into_inner().into_inner().1.inner,
        }
    }

    /// The next record, borrowed until the next call; `None` at the end of a whole stream.
    ///
    /// After an error of a record rule ([`Kind::Record`]) the next call goes on behind that record; after any other
    /// error the reader yields `None`.
    ///
    /// # Errors
    /// Every kind of stream.md §6, with file, record number and byte offset.
    pub fn next_ref(&mut self) -> Result<Option<RecordRef<'_>>> {
        if !self.has_next()? {
            return Ok(None);
        }
        let before = self.decoder.offset();
        let input = &self.buf[self.start..];
        let step = self.decoder.step(input);
        self.start += usize::try_from(self.decoder.offset() - before).unwrap_or(usize::MAX);
        match step {
            Ok(Step::Record(record)) => Ok(Some(record)),
            Ok(_) => Ok(None),
            Err(error) => {
                self.failed = !matches!(error.kind, Kind::Record(_));
                Err(match &self.path {
                    Some(path) => error.in_file(path),
                    None => error,
                })
            }
        }
    }

    /// Whether another record is there, whole; reads on where that has to be found out. The record is not judged yet.
    ///
    /// # Errors
    /// Those of the end of the stream: `Truncated`, `Io`, `Compression`.
    pub fn has_next(&mut self) -> Result<bool> {
        while !self.failed {
            match RecordRef::frame(&self.buf[self.start..]) {
                Ok(_) => return Ok(true),
                Err(_) if self.ended.is_some() => {
                    self.failed = true;
                    return self.end().map(|()| false);
                }
                Err(_) => self.fill(),
            }
        }
        Ok(false)
    }

    /// Takes all records that are buffered, at least one, without copying them: `batch` gets their bytes, one record behind
    /// the other, and its allocation is used again. They are framed and **not judged**; `false` at the end, with nothing
    /// in `batch`.
    ///
    /// For work that many threads share: they take batches in turns, and each judges its own, [`RecordRef::each`] with
    /// [`RecordRef::judge`].
    ///
    /// # Errors
    /// As [`StreamReader::has_next`].
    pub fn next_batch(&mut self, batch: &mut Vec<u8>) -> Result<bool> {
        batch.clear();
        if !self.has_next()? {
            return Ok(false);
        }
        let (mut end, mut records) = (self.start, 0);
        for record in RecordRef::each(&self.buf[self.start..]) {
            end += record.bytes().len();
            records += 1;
        }
        self.decoder.pass((end - self.start) as u64, records);
        batch.extend_from_slice(&self.buf[end..]);
        std::mem::swap(batch, &mut self.buf);
        batch.truncate(end);
        batch.drain(..std::mem::take(&mut self.start));
        Ok(true)
    }

    /// Reads the next record into `out`, reusing its allocation; `false` at the end.
    ///
    /// # Errors
    /// As [`StreamReader::next_ref`].
    pub fn read_record(&mut self, out: &mut Record) -> Result<bool> {
        match self.next_ref()? {
            Some(record) => {
                record.read_into(out);
                Ok(true)
            }
            None => Ok(false),
        }
    }

    /// The records as an iterator of owned values.
    pub const fn records(self) -> Records<R> {
        Records { reader: self }
    }

    /// Asks the source for more bytes, or notes why there are none.
    fn fill(&mut self) {
        if self.start > 0 {
            self.buf.drain(..self.start);
            self.start = 0;
        }
        let old = self.buf.len();
        self.buf.resize(old + CHUNK, 0);
        let mut filled = old;
        // Once whole records may wait in the buffer, an error must not hide them: it is kept for later.
        while filled < self.buf.len() {
            match self.source.read(&mut self.buf[filled..]) {
                Ok(0) => {
                    self.ended = Some(None);
                    break;
                }
                Ok(n) => filled += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => {
                    self.ended = Some(Some(self.kind_of(e)));
                    break;
                }
            }
        }
        self.buf.truncate(filled);
    }

    /// Whose fault a read error is: the system's, the cut's or the compressed data's.
    fn kind_of(&self, error: io::Error) -> Kind {
        match &self.source {
            Source::Raw(_) => Kind::Io(error),
            Source::Zstd(zstd) if zstd.get_ref().get_ref().get_ref().1.failed => Kind::Io(error),
            Source::Zstd(_) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Kind::Truncated { have: 0, need: 1 }
            }
            Source::Zstd(_) => Kind::Compression(error),
        }
    }

    /// What the end of the source means, given what is left in the buffer.
    fn end(&mut self) -> Result<()> {
        let rest = &self.buf[self.start..];
        let result = match self.ended.take().flatten() {
            // The compressed data is cut: judged as the same cut in raw data would be, except that no place in it
            // is an end. Behind a whole record at least one byte is missing, if only of the frame.
            Some(Kind::Truncated { .. }) => match self.decoder.finish(rest) {
                Ok(()) => Err(self.decoder.error(Kind::Truncated { have: 0, need: 1 })),
                Err(Error { kind: Kind::Empty, .. }) => {
                    Err(self.decoder.error(Kind::Truncated { have: 0, need: HEADER_LEN as u64 }))
                }
                Err(error) => Err(error),
            },
            Some(kind) => Err(self.decoder.error(kind)),
            None => self.decoder.finish(rest),
        };
        self.ended = Some(None);
        result.map_err(|error| match &self.path {
            Some(path) => error.in_file(path),
            None => error,
        })
    }
}

/// Fills `buf` as far as the reader goes and says how far.
fn read_full(reader: &mut impl Read, buf: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buf.len() {
        match reader.read(&mut buf[filled..]) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(filled)
}

/// Iterates over owned records; made by [`StreamReader::records`].
pub struct Records<R: Read> {
    reader: StreamReader<R>,
}

impl<R: Read> Iterator for Records<R> {
    type Item = Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut record = Record::default();
        match self.reader.read_record(&mut record) {
            Ok(true) => Some(Ok(record)),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        }
    }
}
