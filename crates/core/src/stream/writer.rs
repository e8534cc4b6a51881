//! Writing a stream: validate, append, finish by a call.

use super::error::{Error, Kind, Result};
use super::header::{HEADER_LEN, Header};
use super::mapped::SliceReader;
use super::record::{Record, RecordRef};
use super::sink::FileSink;
use crate::conventions::Conventions;
use crate::whole_file::{Existing, WholeFile};
use memmap2::Mmap;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Whether and how a part is compressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compression {
    /// Raw records, `.mpk`.
    None,
    /// One zstd frame with a content checksum, `.mpk.zst`.
    Zstd {
        /// The zstd level.
        level: i32,
    },
}

impl Compression {
    /// zstd at its default level.
    pub const DEFAULT: Self = Self::Zstd { level: 3 };

    /// The ending of a part written so.
    #[must_use]
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::None => ".mpk",
            Self::Zstd { .. } => ".mpk.zst",
        }
    }
}

/// What a finished writer wrote.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StreamSummary {
    /// Records, those found in an appended file not counted.
    pub records: u64,
    /// Bytes before compression, the header not counted.
    pub bytes: u64,
}

/// What [`StreamWriter::append`] found in the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Appended {
    /// Whole records already there.
    pub records: u64,
    /// Bytes of a torn record or header that were cut off the end; 0 for a whole file.
    pub cut: u64,
}

/// Writes an MPK1 stream to any `Write`, every record validated.
///
/// A record that breaks a rule is refused and leaves the stream as it was. An I/O error poisons the writer: nothing
/// more is written, and [`StreamWriter::finish`] fails. Dropping a writer finishes nothing.
pub struct StreamWriter<W: Write> {
    out: W,
    path: Option<PathBuf>,
    header: Header,
    scratch: Vec<u8>,
    /// Records and bytes, the header's included, that stood in front of the first record written here.
    base: (u64, u64),
    summary: StreamSummary,
    /// How the header becomes one of version 3, where a record without an outcome may be met.
    raise: Option<Raise<W>>,
    poisoned: bool,
}

/// Replaces the header at the front of what was written.
type Raise<W> = fn(&mut W, &Header) -> io::Result<()>;

impl<W: Write> StreamWriter<W> {
    /// Writes a header of version 2 to `out`: every record must state its outcome.
    ///
    /// # Errors
    /// As [`StreamWriter::with_header`].
    pub fn new(out: W, conventions: Conventions) -> Result<Self> {
        Self::with_header(out, Header::new(conventions))
    }

    /// Writes this header to `out`. What is only a `Write` cannot be gone back in: a header that may have to allow
    /// absent outcomes has to do so from the start.
    ///
    /// # Errors
    /// [`Kind::Inconsistent`] for conventions that no reader would accept, [`Kind::Unsupported`] for a visits stream
    /// that declares a centipawn scale, [`Kind::Io`].
    pub fn with_header(mut out: W, header: Header) -> Result<Self> {
        writable(&header.conventions)?;
        let header = if header.allows_absent_outcomes() {
            Header::new(header.conventions).allowing_absent_outcomes()
        } else {
            Header::new(header.conventions)
        };
        out.write_all(&header.encode()).map_err(|e| Error::new(None, 0, Kind::Io(e)))?;
        Ok(Self::behind(out, header, (0, HEADER_LEN as u64)))
    }

    const fn behind(out: W, header: Header, base: (u64, u64)) -> Self {
        let summary = StreamSummary { records: 0, bytes: 0 };
        Self { out, path: None, header, scratch: Vec::new(), base, summary, raise: None, poisoned: false }
    }

    /// The header in force.
    #[must_use]
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// What was written so far.
    #[must_use]
    pub const fn summary(&self) -> StreamSummary {
        self.summary
    }

    pub(super) const fn is_poisoned(&self) -> bool {
        self.poisoned
    }

    fn error(&self, kind: Kind) -> Error {
        let (records, bytes) = self.base;
        let error = Error::new(Some(records + self.summary.records), bytes + self.summary.bytes, kind);
        match &self.path {
            Some(path) => error.in_file(path),
            None => error,
        }
    }

    /// Appends a record.
    ///
    /// # Errors
    /// [`Kind::Record`] when it breaks a rule of stream.md §6 (the stream is unchanged), [`Kind::Io`],
    /// [`Kind::Poisoned`].
    pub fn write(&mut self, record: &Record) -> Result<()> {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        let result = match record.encode(&mut scratch) {
            Ok(()) => match RecordRef::frame(&scratch) {
                Ok(record) => self.write_ref(record),
                Err(need) => {
                    Err(self.error(Kind::Truncated { have: scratch.len() as u64, need: need as u64 }))
                }
            },
            Err(fault) => Err(self.error(Kind::Record(fault))),
        };
        self.scratch = scratch;
        result
    }

    /// Appends a record from its bytes.
    ///
    /// # Errors
    /// As [`StreamWriter::write`].
    pub fn write_ref(&mut self, record: RecordRef<'_>) -> Result<()> {
        if self.poisoned {
            return Err(self.error(Kind::Poisoned));
        }
        // stream.md §7: the header allows absent outcomes before the first record that has none.
        let raise =
            self.raise.filter(|_| record.outcome().is_none() && !self.header.allows_absent_outcomes());
        let header = if raise.is_some() { self.header.allowing_absent_outcomes() } else { self.header };
        if let Err(fault) = record.validate(&header) {
            return Err(self.error(Kind::Record(fault)));
        }
        if let Some(raise) = raise {
            if let Err(e) = raise(&mut self.out, &header) {
                self.poisoned = true;
                return Err(self.error(Kind::Io(e)));
            }
            self.header = header;
        }
        if let Err(e) = self.out.write_all(record.bytes()) {
            self.poisoned = true;
            return Err(self.error(Kind::Io(e)));
        }
        self.summary.records += 1;
        self.summary.bytes += record.bytes().len() as u64;
        Ok(())
    }

    /// Hands over the underlying writer and what was written; nothing is flushed or named.
    ///
    /// # Errors
    /// [`Kind::Poisoned`].
    pub fn into_inner(self) -> Result<(W, StreamSummary)> {
        if self.poisoned { Err(self.error(Kind::Poisoned)) } else { Ok((self.out, self.summary)) }
    }
}

impl StreamWriter<FileSink> {
    /// Creates a stream file that gets its name when it is finished.
    ///
    /// # Errors
    /// As [`StreamWriter::new`]; [`Kind::Io`] with `AlreadyExists` when there is a file of that name.
    pub fn create(path: &Path, conventions: Conventions, compression: Compression) -> Result<Self> {
        let io = |e| Error::new(None, 0, Kind::Io(e)).in_file(path);
        let file = WholeFile::create(path, Existing::Refuse).map_err(io)?;
        let sink = FileSink::create(file, compression).map_err(io)?;
        let mut writer = Self::new(sink, conventions).map_err(|e| e.in_file(path))?;
        writer.path = Some(path.to_owned());
        Ok(writer)
    }

    /// Opens a raw stream file to append to, creating it when there is none. The file keeps its name throughout; a
    /// record or header torn by an earlier crash is cut off its end (stream.md §7).
    ///
    /// # Errors
    /// [`Kind::Conflict`]-like refusals as `Unsupported` when the header states other conventions or the file is zstd;
    /// any fault of the records already there, other than a torn tail.
    pub fn append(path: &Path, conventions: Conventions) -> Result<(Self, Appended)> {
        let io = |e| Error::new(None, 0, Kind::Io(e)).in_file(path);
        // Before anything is created or cut.
        writable(&conventions).map_err(|e| e.in_file(path))?;
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(io)?;
        let len = file.metadata().map_err(io)?.len();
        let whole =
            if len == 0 { None } else { whole_part(&file, conventions).map_err(|e| e.in_file(path))? };
        let (records, keep) = whole.map_or((0, 0), |whole| (whole.records, whole.bytes));
        file.set_len(keep).map_err(io)?;
        file.seek(SeekFrom::Start(keep)).map_err(io)?;
        let sink = FileSink::append(file);
        let mut writer = match whole {
            None => Self::new(sink, conventions).map_err(|e| e.in_file(path))?,
            Some(whole) => Self::behind(sink, whole.header, (whole.records, whole.bytes)),
        };
        writer.path = Some(path.to_owned());
        writer.sync()?;
        Ok((writer, Appended { records, cut: len - keep }))
    }

    /// From now on a record may leave its outcome out. The header stays one of version 2 until the first that does, and
    /// is made one of version 3 in front of it (stream.md §7): a compressed part is compressed anew then.
    pub fn allow_absent_outcomes(&mut self) {
        self.raise = Some(FileSink::replace_header);
    }

    /// Brings everything appended so far to disk. Only whole records ever reach the file in between.
    ///
    /// # Errors
    /// [`Kind::Io`], which poisons the writer; [`Kind::Unsupported`] for a file that is not appended to.
    pub fn sync(&mut self) -> Result<()> {
        let Some(result) = self.out.sync() else {
            return Err(self.error(Kind::Unsupported("only a file that is appended to can be synced")));
        };
        result.map_err(|e| {
            self.poisoned = true;
            self.error(Kind::Io(e))
        })
    }

    /// Brings the file to disk and, where it was created, gives it its name. Returns the summary and the bytes on disk.
    ///
    /// # Errors
    /// [`Kind::Io`], [`Kind::Poisoned`]; a file that was being created does not appear then.
    pub fn finish(self) -> Result<(StreamSummary, u64)> {
        let path = self.path.clone();
        let place = (Some(self.base.0 + self.summary.records), self.base.1 + self.summary.bytes);
        let (sink, summary) = self.into_inner()?;
        match sink.finish(path.as_deref()) {
            Ok(bytes) => Ok((summary, bytes)),
            Err(e) => {
                let error = Error::new(place.0, place.1, Kind::Io(e));
                Err(match path {
                    Some(path) => error.in_file(&path),
                    None => error,
                })
            }
        }
    }
}

/// Refuses conventions that no header may state, or none that is written (stream.md §2).
fn writable(conventions: &Conventions) -> Result<()> {
    let kind = if let Some(inconsistency) = conventions.inconsistency() {
        Kind::Inconsistent(inconsistency)
    } else if conventions.declares_unused_scale() {
        Kind::Unsupported("a visits stream has no centipawns: mate_scale, fv_scale and eval_coef must be 0")
    } else {
        return Ok(());
    };
    Err(Error::new(None, 0, kind))
}

/// What stands whole in a file: its header, its records and where they end.
#[derive(Clone, Copy)]
struct Whole {
    header: Header,
    records: u64,
    bytes: u64,
}

/// Walks the records a file holds; `None` when not even the header is whole.
fn whole_part(file: &File, conventions: Conventions) -> Result<Option<Whole>> {
    // SAFETY: read-only, bounds-checked, dropped before the file is cut; see `MappedStream::open`.
    let map = unsafe { Mmap::map(file) }.map_err(|e| Error::new(None, 0, Kind::Io(e)))?;
    let mut reader = match SliceReader::new(&map) {
        Ok(reader) => reader,
        Err(Error { kind: Kind::Truncated { .. }, .. })
            if [Header::new(conventions), Header::new(conventions).allowing_absent_outcomes()]
                .iter()
                .any(|header| header.encode().starts_with(&map)) =>
        {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let header = *reader.header();
    if header.conventions != conventions {
        let what = "the file states other conventions in its header; nothing may be appended to it";
        return Err(Error::new(None, 0, Kind::Unsupported(what)));
    }
    loop {
        match reader.next_ref() {
            Ok(Some(_)) => {}
            Ok(None) | Err(Error { kind: Kind::Truncated { .. }, .. }) => {
                return Ok(Some(Whole { header, records: reader.position(), bytes: reader.offset() }));
            }
            Err(error) => return Err(error),
        }
    }
}
