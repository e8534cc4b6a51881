//! The walk over a stream's bytes, without I/O.

use super::error::{Error, Kind, Result};
use super::header::{HEADER_LEN, Header, MAGIC};
use super::record::RecordRef;

/// What one step over the bytes found.
#[derive(Debug)]
pub enum Step<'a> {
    /// The header; it took [`HEADER_LEN`] bytes.
    Header(Header),
    /// A valid record; it took `record.bytes().len()` bytes.
    Record(RecordRef<'a>),
    /// The input ends before the next header or record does: call again with the same bytes and more behind them, at
    /// least this many in all, or call [`Decoder::finish`] when there are no more.
    NeedMore(usize),
}

/// Decodes a stream from slices of it, whatever their borders.
///
/// The caller hands the bytes from [`Decoder::offset`] on and drops what a step took. After a [`Kind::Record`] error
/// the decoder stands behind the faulty record, so a checker can go on; any other error is final.
#[derive(Debug, Default)]
pub struct Decoder {
    header: Option<Header>,
    offset: u64,
    records: u64,
}

impl Decoder {
    /// A decoder at the start of a stream.
    #[must_use]
    pub const fn new() -> Self {
        Self { header: None, offset: 0, records: 0 }
    }

    /// The header, once it was read.
    #[must_use]
    pub const fn header(&self) -> Option<&Header> {
        self.header.as_ref()
    }

    /// Bytes taken so far: the offset of the next header or record.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// Records passed so far, faulty ones included: the number of the next record.
    #[must_use]
    pub const fn records(&self) -> u64 {
        self.records
    }

    pub(super) const fn error(&self, kind: Kind) -> Error {
        let record = if self.header.is_some() { Some(self.records) } else { None };
        Error::new(record, self.offset, kind)
    }

    /// Passes whole records that somebody else judges.
    pub(super) const fn pass(&mut self, bytes: u64, records: u64) {
        self.offset += bytes;
        self.records += records;
    }

    /// Decodes what stands at the start of `input`.
    ///
    /// # Errors
    /// Header kinds while the header is read; afterwards [`Kind::Record`] or [`Kind::SecondHeader`].
    pub fn step<'a>(&mut self, input: &'a [u8]) -> Result<Step<'a>> {
        let Some(header) = &self.header else {
            let Some(bytes) = input.first_chunk::<HEADER_LEN>() else {
                return Ok(Step::NeedMore(HEADER_LEN));
            };
            let header = Header::decode(bytes).map_err(|kind| self.error(kind))?;
            self.header = Some(header);
            self.offset = HEADER_LEN as u64;
            return Ok(Step::Header(header));
        };
        let record = match RecordRef::frame(input) {
            Ok(record) => record,
            Err(need) => return Ok(Step::NeedMore(need)),
        };
        let verdict = record.judge(header).map_err(|kind| self.error(kind));
        // Behind a second header nothing can be told.
        if !matches!(verdict, Err(Error { kind: Kind::SecondHeader, .. })) {
            self.offset += record.bytes().len() as u64;
            self.records += 1;
        }
        verdict.map(|()| Step::Record(record))
    }

    /// Says whether the stream may end here, with `rest` being the bytes that no step took.
    ///
    /// # Errors
    /// [`Kind::Empty`], [`Kind::Truncated`], or what the first bytes of a cut header already show.
    pub fn finish(&self, rest: &[u8]) -> Result<()> {
        if rest.is_empty() && self.header.is_some() {
            return Ok(());
        }
        if rest.is_empty() {
            return Err(self.error(Kind::Empty));
        }
        if self.header.is_none()
            && let Some(&found) = rest.first_chunk::<4>()
            && found != MAGIC
        {
            return Err(self.error(Kind::Magic { found }));
        }
        let need = match &self.header {
            None => HEADER_LEN,
            Some(_) if rest.starts_with(&MAGIC) => return Err(self.error(Kind::SecondHeader)),
            Some(_) => RecordRef::frame(rest).err().unwrap_or(rest.len()),
        };
        Err(self.error(Kind::Truncated { have: rest.len() as u64, need: need as u64 }))
    }
}
