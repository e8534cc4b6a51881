//! Walks the page headers of a column chunk before anything is decoded.
//!
//! The decoder reserves memory for the sizes and counts that page headers state. They are compared here with the
//! chunk, the footer and a bound first, so that a damaged header is an error and not an allocation.

use crate::error::Cause;
use parquet::basic::Type as Physical;
use parquet::file::metadata::ColumnChunkMetaData;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

/// Bytes a page may have once it is decompressed. Writers make pages of about a megabyte.
const MAX_PAGE_BYTES: i32 = 256 << 20;

/// Parquet's numbers for what a page is.
const DATA_PAGE: i32 = 0;
const INDEX_PAGE: i32 = 1;
const DICTIONARY_PAGE: i32 = 2;
const DATA_PAGE_V2: i32 = 3;
/// Parquet's numbers for the encodings that need a dictionary, and for those that levels may have.
const DICTIONARY_ENCODINGS: [i32; 2] = [2, 8];
const LEVEL_ENCODINGS: [i32; 2] = [RUNS, 4];
const PLAIN: i32 = 0;
const RUNS: i32 = 3;

/// The fields of a page header that decide what its reader reserves. Absent ones keep −1.
struct PageHeader {
    kind: i32,
    uncompressed: i32,
    compressed: i32,
    /// Of a data page, either version.
    num_values: i32,
    /// Of a dictionary.
    dictionary_values: i32,
    /// Of its values, or of a dictionary's.
    encoding: i32,
    level_encodings: [i32; 2],
    level_bytes: [i32; 2],
}

/// What reads the pages of a chunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// All are of version 1, with levels in runs and values that are plain or of a dictionary.
    Direct,
    /// Whatever the parquet crate reads.
    Any,
}

/// Checks every page header of a chunk against the chunk. `rows` is the row count of a flat column.
pub(crate) fn check(file: &File, chunk: &ColumnChunkMetaData, rows: Option<i64>) -> Result<Kind, Cause> {
    let start = chunk.dictionary_page_offset().unwrap_or_else(|| chunk.data_page_offset());
    let (Ok(start), Ok(len)) = (u64::try_from(start), u64::try_from(chunk.compressed_size())) else {
        return Err(Cause::damaged("the footer states a negative offset or size"));
    };
    if start.checked_add(len).is_none_or(|end| end > file_len(file)) {
        return Err(Cause::damaged("the footer puts its pages beyond the end of the file"));
    }
    if rows.is_some_and(|rows| rows != chunk.num_values()) {
        return Err(Cause::damaged("the footer states another number of values than of rows"));
    }

    let mut handle = file;
    handle.seek(SeekFrom::Start(start))?;
    let mut input = BufReader::new(handle);
    let (mut left, mut values, mut dictionary, mut kind) = (len, 0i64, false, Kind::Direct);
    while left > 0 {
        let mut header = Compact { input: (&mut input).take(left) };
        let page = header.page_header()?;
        left = header.input.limit();
        page.check(&mut dictionary)?;
        // A text has four bytes of length.
        let least = if chunk.column_type() == Physical::INT64 { 8 } else { 4 };
        if i64::from(page.dictionary_values) * least > i64::from(page.uncompressed) {
            return Err(Cause::damaged("a dictionary states more values than its bytes can hold"));
        }
        if !page.is_direct() {
            kind = Kind::Any;
        }
        values += i64::from(page.num_values.max(0));
        match u64::try_from(page.compressed) {
            Ok(size) if size <= left => left -= size,
            _ => return Err(Cause::damaged("a page reaches beyond its column")),
        }
        input.seek_relative(i64::from(page.compressed))?;
    }
    if values != chunk.num_values() {
        return Err(Cause::damaged("the pages hold another number of values than the footer states"));
    }
    Ok(kind)
}

fn file_len(file: &File) -> u64 {
    file.metadata().map_or(0, |meta| meta.len())
}

impl PageHeader {
    /// Whether it is a page that is read without the parquet crate's decoders.
    fn is_direct(&self) -> bool {
        match self.kind {
            DATA_PAGE => {
                self.level_encodings == [RUNS; 2]
                    && (self.encoding == PLAIN || DICTIONARY_ENCODINGS.contains(&self.encoding))
            }
            DICTIONARY_PAGE => self.encoding == PLAIN || self.encoding == DICTIONARY_ENCODINGS[0],
            kind => kind == INDEX_PAGE,
        }
    }

    fn check(&self, dictionary: &mut bool) -> Result<(), Cause> {
        if !(0..=MAX_PAGE_BYTES).contains(&self.uncompressed) {
            return Err(Cause::damaged(format!(
                "a page states a size of {} bytes; at most {MAX_PAGE_BYTES} are read",
                self.uncompressed
            )));
        }
        match self.kind {
            DATA_PAGE if !self.level_encodings.iter().all(|e| LEVEL_ENCODINGS.contains(e)) => {
                return Err(Cause::damaged("a page has levels of an unknown encoding"));
            }
            DATA_PAGE_V2
                if self.level_bytes.iter().any(|&bytes| bytes < 0)
                    || self.level_bytes.iter().map(|&bytes| i64::from(bytes)).sum::<i64>()
                        > i64::from(self.uncompressed.min(self.compressed)) =>
            {
                return Err(Cause::damaged("a page states more bytes of levels than it has"));
            }
            DATA_PAGE | DATA_PAGE_V2 => {}
            DICTIONARY_PAGE => {
                *dictionary = true;
                return Ok(());
            }
            INDEX_PAGE => return Ok(()),
            kind => return Err(Cause::damaged(format!("a page of the unknown kind {kind}"))),
        }
        if self.num_values < 0 {
            return Err(Cause::damaged("a page states no number of values"));
        }
        if DICTIONARY_ENCODINGS.contains(&self.encoding) && !*dictionary {
            return Err(Cause::damaged("a page refers to a dictionary that is not there"));
        }
        Ok(())
    }
}

/// Thrift's compact protocol, as much of it as page headers use.
struct Compact<R> {
    input: R,
}

/// Thrift's numbers for the types of fields.
mod wire {
    pub(super) const TRUE: u8 = 1;
    pub(super) const FALSE: u8 = 2;
    pub(super) const BYTE: u8 = 3;
    pub(super) const I16: u8 = 4;
    pub(super) const I32: u8 = 5;
    pub(super) const I64: u8 = 6;
    pub(super) const DOUBLE: u8 = 7;
    pub(super) const BINARY: u8 = 8;
    pub(super) const LIST: u8 = 9;
    pub(super) const SET: u8 = 10;
    pub(super) const STRUCT: u8 = 12;
}

impl<R: Read> Compact<R> {
    fn page_header(&mut self) -> Result<PageHeader, Cause> {
        let mut page = PageHeader {
            kind: -1,
            uncompressed: -1,
            compressed: -1,
            num_values: -1,
            dictionary_values: -1,
            encoding: -1,
            level_encodings: [-1; 2],
            level_bytes: [-1; 2],
        };
        self.fields(|this, id, kind| {
            match (id, kind) {
                (1, wire::I32) => page.kind = this.i32()?,
                (2, wire::I32) => page.uncompressed = this.i32()?,
                (3, wire::I32) => page.compressed = this.i32()?,
                (5, wire::STRUCT) => this.fields(|this, id, kind| {
                    match (id, kind) {
                        (1, wire::I32) => page.num_values = this.i32()?,
                        (2, wire::I32) => page.encoding = this.i32()?,
                        (3, wire::I32) => page.level_encodings[0] = this.i32()?,
                        (4, wire::I32) => page.level_encodings[1] = this.i32()?,
                        _ => this.skip(kind, MAX_DEPTH)?,
                    }
                    Ok(())
                })?,
                (7, wire::STRUCT) => this.fields(|this, id, kind| {
                    match (id, kind) {
                        (1, wire::I32) => page.dictionary_values = this.i32()?,
                        (2, wire::I32) => page.encoding = this.i32()?,
                        _ => this.skip(kind, MAX_DEPTH)?,
                    }
                    Ok(())
                })?,
                (8, wire::STRUCT) => this.fields(|this, id, kind| {
                    match (id, kind) {
                        (1, wire::I32) => page.num_values = this.i32()?,
                        (4, wire::I32) => page.encoding = this.i32()?,
                        (5, wire::I32) => page.level_bytes[0] = this.i32()?,
                        (6, wire::I32) => page.level_bytes[1] = this.i32()?,
                        _ => this.skip(kind, MAX_DEPTH)?,
                    }
                    Ok(())
                })?,
                _ => this.skip(kind, MAX_DEPTH)?,
            }
            Ok(())
        })?;
        Ok(page)
    }

    /// Hands every field of a struct, by id and wire type, to `field`, which must consume it.
    fn fields(
        &mut self,
        mut field: impl FnMut(&mut Self, i64, u8) -> Result<(), Cause>,
    ) -> Result<(), Cause> {
        let mut id = 0i64;
        loop {
            let byte = self.byte()?;
            if byte == 0 {
                return Ok(());
            }
            // The id is a step from the last one, or written out when the step does not fit.
            id = match i64::from(byte >> 4) {
                0 => self.zigzag()?,
                step => id + step,
            };
            field(self, id, byte & 0x0F)?;
        }
    }

    fn skip(&mut self, kind: u8, depth: u8) -> Result<(), Cause> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(Cause::damaged("a page header is nested too deeply"));
        };
        match kind {
            wire::TRUE | wire::FALSE => Ok(()),
            wire::BYTE => self.bytes(1),
            wire::I16 | wire::I32 | wire::I64 => self.varint().map(drop),
            wire::DOUBLE => self.bytes(8),
            wire::BINARY => {
                let len = self.varint()?;
                self.bytes(len)
            }
            wire::LIST | wire::SET => {
                let byte = self.byte()?;
                let count = if byte >> 4 == 15 { self.varint()? } else { u64::from(byte >> 4) };
                for _ in 0..count {
                    // A boolean in a list takes a byte, unlike one in a struct.
                    match byte & 0x0F {
                        wire::TRUE | wire::FALSE => self.bytes(1)?,
                        kind => self.skip(kind, depth)?,
                    }
                }
                Ok(())
            }
            wire::STRUCT => self.fields(|this, _, kind| this.skip(kind, depth)),
            kind => Err(Cause::damaged(format!("a page header holds a field of the unknown type {kind}"))),
        }
    }

    fn bytes(&mut self, count: u64) -> Result<(), Cause> {
        let skipped = io::copy(&mut self.input.by_ref().take(count), &mut io::sink())?;
        if skipped == count { Ok(()) } else { Err(Cause::damaged("a page header is cut")) }
    }

    fn byte(&mut self) -> Result<u8, Cause> {
        let mut byte = [0];
        self.input.read_exact(&mut byte).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => Cause::damaged("a page header is cut"),
            _ => error.into(),
        })?;
        Ok(byte[0])
    }

    fn varint(&mut self) -> Result<u64, Cause> {
        let mut value = 0u64;
        for shift in (0..70).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7F).checked_shl(shift).unwrap_or(0);
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Cause::damaged("a page header holds a number without an end"))
    }

    fn zigzag(&mut self) -> Result<i64, Cause> {
        let value = self.varint()?;
        Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    fn i32(&mut self) -> Result<i32, Cause> {
        i32::try_from(self.zigzag()?).map_err(|_| Cause::damaged("a page header holds a number out of range"))
    }
}

/// Structs and lists in one another; page statistics need two.
const MAX_DEPTH: u8 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn header(bytes: &[u8]) -> Result<PageHeader, Cause> {
        Compact { input: bytes }.page_header()
    }

    #[test]
    fn a_page_header_is_read_past_fields_nobody_asked_for() {
        // 1: kind 0; 2: 300; 3: 200; 4: crc −1; 5: {1: 7, 2: 8, 3: 3, 4: 3, 5: statistics {5: "ab", 6: true}}.
        let bytes = [
            0x15, 0x00, 0x15, 0xD8, 0x04, 0x15, 0x90, 0x03, 0x15, 0x01, 0x1C, 0x15, 0x0E, 0x15, 0x10, 0x15,
            0x06, 0x15, 0x06, 0x1C, 0x58, 0x02, b'a', b'b', 0x11, 0x00, 0x00, 0x00,
        ];
        let page = header(&bytes).unwrap();
        assert_eq!((page.kind, page.uncompressed, page.compressed), (0, 300, 200));
        assert_eq!((page.num_values, page.encoding, page.level_encodings), (7, 8, [3, 3]));
        for cut in 0..bytes.len() {
            assert!(header(&bytes[..cut]).is_err(), "{cut}");
        }
        let mut dictionary = false;
        assert!(page.check(&mut dictionary).is_err());
        dictionary = true;
        assert!(page.check(&mut dictionary).is_ok());
    }

    /// What would be misread elsewhere goes to the parquet crate.
    #[test]
    fn only_plain_pages_of_version_1_are_read_where_they_lie() {
        // {1: kind, 2: 9, 3: 9, 5: {1: 7, 2: encoding, 3: levels, 4: levels}}, all zigzag.
        let data = |encoding: u8, def: u8, rep: u8| {
            header(&[
                0x15,
                0,
                0x15,
                18,
                0x15,
                18,
                0x2C,
                0x15,
                14,
                0x15,
                2 * encoding,
                0x15,
                2 * def,
                0x15,
                2 * rep,
                0,
                0,
            ])
            .unwrap()
        };
        for encoding in 0..10 {
            assert_eq!(data(encoding, 3, 3).is_direct(), [0, 2, 8].contains(&encoding), "{encoding}");
        }
        assert!(!data(0, 4, 3).is_direct() && !data(0, 3, 4).is_direct());
        // {1: 2, 2: 9, 3: 9, 7: {1: 1, 2: encoding}}: a dictionary's values do not count as values of the column.
        let dictionary = |encoding: u8| {
            header(&[0x15, 4, 0x15, 18, 0x15, 18, 0x4C, 0x15, 2, 0x15, 2 * encoding, 0, 0]).unwrap()
        };
        for encoding in 0..10 {
            assert_eq!(dictionary(encoding).is_direct(), [0, 2].contains(&encoding), "{encoding}");
        }
        assert_eq!(dictionary(0).num_values, -1);
        // {1: 3, 2: 9, 3: 9, 8: {1: 7, 4: 0}}: version 2.
        let second = header(&[0x15, 6, 0x15, 18, 0x15, 18, 0x5C, 0x15, 14, 0x35, 0, 0, 0]).unwrap();
        assert_eq!((second.kind, second.num_values, second.encoding), (DATA_PAGE_V2, 7, 0));
        assert!(!second.is_direct());
    }

    #[test]
    fn nested_and_endless_headers_end() {
        assert!(header(&[0x1C; 5000]).is_err());
        assert!(header(&[0x19; 5000]).is_err());
        assert!(header(&[0x15; 1].iter().chain(&[0xFF; 20]).copied().collect::<Vec<_>>()).is_err());
        // A list of 2^32 booleans that are not there.
        assert!(header(&[0x99, 0xF1, 0x80, 0x80, 0x80, 0x80, 0x10]).is_err());
    }
}
