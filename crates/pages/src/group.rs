//! The column chunks of a row group, one behind the other.

use crate::chunk::{ChunkWriter, Zstd};
use bytes::Bytes;
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::Result;
use parquet::file::writer::{SerializedFileWriter, TrackedWrite};
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor, TypePtr};
use std::fmt;
use std::io::Write;

/// A row group that is encoded and compressed, but in no file yet.
#[derive(Debug)]
pub struct EncodedGroup {
    rows: u64,
    /// Every column chunk, one behind the other; offsets of the columns are offsets in it.
    bytes: Bytes,
    columns: Vec<ColumnCloseResult>,
}

impl EncodedGroup {
    /// Its rows.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Its column chunks, one behind the other.
    #[must_use]
    pub const fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// What the footer says of each chunk; offsets are offsets in [`bytes`](Self::bytes).
    #[must_use]
    pub fn columns(&self) -> &[ColumnCloseResult] {
        &self.columns
    }

    /// Appends the row group to a file of the same schema. Returns the memory it was in, for
    /// [`GroupWriter::give_back`].
    ///
    /// # Errors
    /// Those of the file.
    pub fn append_to<W: Write + Send>(self, file: &mut SerializedFileWriter<W>) -> Result<Vec<u8>> {
        let mut writer = file.next_row_group()?;
        for close in self.columns {
            writer.append_column(&self.bytes, close)?;
        }
        writer.close()?;
        // The file is done with it, so this is the only handle and nothing is copied.
        Ok(self.bytes.into())
    }
}

/// Makes row groups of one schema, with memory of its own: one for each thread.
pub struct GroupWriter {
    columns: Vec<ColumnDescPtr>,
    zstd: Zstd,
    /// Bytes of the last row group; the next takes about as many.
    last: usize,
    /// Memory of row groups that are in their file.
    spare: Vec<Vec<u8>>,
}

impl GroupWriter {
    /// Bytes of memory that are kept for row groups to come.
    const SPARE: usize = 12 << 20;

    /// Row groups of this schema, compressed at this level of zstd, 1 to 22.
    ///
    /// # Errors
    /// When there is no such level.
    pub fn new(schema: TypePtr, zstd_level: i32) -> Result<Self> {
        let columns = SchemaDescriptor::new(schema).columns().to_vec();
        Ok(Self { columns, zstd: Zstd::new(zstd_level)?, last: 0, spare: Vec::new() })
    }

    /// Makes a row group of `rows` rows. `write` is asked for the pages of each leaf column, by its number in the schema.
    ///
    /// # Errors
    /// Those of `write`.
    pub fn group(
        &mut self,
        rows: usize,
        mut write: impl FnMut(usize, &mut ChunkWriter<'_>) -> Result<()>,
    ) -> Result<EncodedGroup> {
        let rows = rows as u64;
        let mut memory = self.spare.pop().unwrap_or_default();
        memory.clear();
        memory.reserve(self.last + self.last / 16);
        let mut sink = TrackedWrite::new(memory);
        let mut columns = Vec::with_capacity(self.columns.len());
        for (at, column) in self.columns.iter().enumerate() {
            let mut chunk = ChunkWriter::new(column.clone(), &mut self.zstd, &mut sink);
            write(at, &mut chunk)?;
            columns.push(chunk.close(rows)?);
        }
        let bytes = sink.into_inner()?;
        self.last = bytes.len();
        Ok(EncodedGroup { rows, bytes: bytes.into(), columns })
    }

    /// Takes the memory of a row group that is in its file: the next one need not ask the system for new pages.
    pub fn give_back(&mut self, memory: Vec<u8>) {
        let kept: usize = self.spare.iter().map(Vec::capacity).sum();
        if kept + memory.capacity() <= Self::SPARE {
            self.spare.push(memory);
        }
    }
}

impl fmt::Debug for GroupWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GroupWriter").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dictionary16;
    use crate::levels::equal;
    use parquet::basic::{Encoding, PageType};
    use parquet::column::page::{Page, PageReader};
    use parquet::file::serialized_reader::SerializedPageReader;
    use parquet::schema::parser::parse_message_type;
    use std::sync::Arc;

    #[test]
    fn what_was_held_stands_behind_its_dictionary_and_the_books_are_right() {
        let schema = Arc::new(
            parse_message_type("message m { required int32 a; optional int32 b; required int32 c; }")
                .unwrap(),
        );
        let mut writer = GroupWriter::new(schema, 1).unwrap();
        let plain = [9, 0, 0, 0, 8, 0, 0, 0, 9, 0, 0, 0];
        let mut uncompressed = Vec::new();
        // The second group is made by the same writer, in memory that something else was in.
        let groups = [3, 3].map(|rows| {
            let encode = |at: usize, chunk: &mut ChunkWriter<'_>| match at {
                0 => chunk.data(&plain, 3, Encoding::PLAIN),
                1 => {
                    let mut dictionary = Dictionary16::new();
                    let pages = [&[4, 4][..], &[5]].map(|values| {
                        let mut page = Vec::new();
                        equal(1, values.len(), &mut page);
                        let indices: Vec<u16> = values.iter().map(|&value| dictionary.index(value)).collect();
                        dictionary.cut(&indices, &mut page);
                        (page, values.len())
                    });
                    for (page, count) in &pages {
                        chunk.hold(page, *count, Encoding::RLE_DICTIONARY)?;
                    }
                    uncompressed = pages.map(|(page, _)| page).to_vec();
                    chunk.dictionary(&[4, 0, 0, 0, 5, 0, 0, 0], 2)
                }
                _ => Ok(()),
            };
            let group = writer.group(rows, encode).unwrap();
            writer.give_back(vec![7; 1000]);
            group
        });
        assert_eq!(groups[0].bytes(), groups[1].bytes());

        let group = &groups[1];
        let [a, b, c] = group.columns() else { unreachable!() };
        let of = |close: &ColumnCloseResult| {
            let stats = close.metadata.page_encoding_stats().unwrap();
            let stats: Vec<_> =
                stats.iter().map(|page| (page.page_type, page.encoding, page.count)).collect();
            (close.metadata.num_values(), close.metadata.encodings().collect::<Vec<_>>(), stats)
        };
        let (plain_pages, dictionary_pages) = (PageType::DATA_PAGE, PageType::DICTIONARY_PAGE);
        assert_eq!(of(a), (3, vec![Encoding::PLAIN, Encoding::RLE], vec![(plain_pages, Encoding::PLAIN, 1)]));
        let stats = vec![(dictionary_pages, Encoding::PLAIN, 1), (plain_pages, Encoding::RLE_DICTIONARY, 2)];
        assert_eq!(of(b), (3, vec![Encoding::PLAIN, Encoding::RLE, Encoding::RLE_DICTIONARY], stats));
        assert_eq!(of(c), (0, vec![Encoding::RLE], vec![]));
        let lengths = [a, b, c].map(|close| {
            assert_eq!(
                (close.rows_written, close.metadata.compressed_size()),
                (3, close.bytes_written as i64)
            );
            close.bytes_written
        });
        assert_eq!((lengths[2], lengths.iter().sum::<u64>()), (0, group.bytes().len() as u64));
        assert_eq!((a.metadata.dictionary_page_offset(), a.metadata.data_page_offset()), (None, 0));
        assert_eq!(b.metadata.dictionary_page_offset(), Some(lengths[0] as i64));

        let mut reader =
            SerializedPageReader::new(Arc::new(group.bytes().clone()), &b.metadata, 3, None).unwrap();
        let (mut pages, mut bytes) = (Vec::new(), 0);
        while let Some(page) = reader.get_next_page().unwrap() {
            assert_eq!(page.is_dictionary_page(), pages.is_empty());
            bytes += page.buffer().len();
            pages.push(page);
        }
        let held: Vec<_> = pages[1..].iter().map(Page::buffer).collect();
        assert_eq!(held, uncompressed.iter().collect::<Vec<_>>());
        // Two levels of one run, then the width 0 or 1 and one run of two or of one index.
        assert_eq!(uncompressed, [&[2, 0, 0, 0, 4, 1, 0, 4][..], &[2, 0, 0, 0, 2, 1, 1, 2, 1]]);
        // Headers count in both sizes.
        let headers = b.metadata.uncompressed_size() - bytes as i64;
        assert!((3 * 8..3 * 64).contains(&headers), "{headers}");
    }

    #[test]
    fn there_are_only_the_levels_of_zstd() {
        let schema = || Arc::new(parse_message_type("message m { required int32 a; }").unwrap());
        assert!(GroupWriter::new(schema(), 22).is_ok() && GroupWriter::new(schema(), 23).is_err());
    }

    #[test]
    fn the_memory_of_a_group_comes_back_from_its_file_and_takes_the_next_up_to_a_limit() {
        let schema = Arc::new(parse_message_type("message m { required int32 a; }").unwrap());
        let mut file = SerializedFileWriter::new(Vec::new(), Arc::clone(&schema), Arc::default()).unwrap();
        let mut writer = GroupWriter::new(schema, 1).unwrap();
        let group = |writer: &mut GroupWriter| {
            writer.group(1, |_, chunk| chunk.data(&[1, 2, 3, 4], 1, Encoding::PLAIN)).unwrap()
        };
        let memory = Vec::with_capacity(1000);
        let place = memory.as_ptr();
        writer.give_back(memory);
        for _ in 0..3 {
            let group = group(&mut writer);
            assert_eq!(group.bytes().as_ptr(), place);
            writer.give_back(group.append_to(&mut file).unwrap());
        }

        writer.spare.clear();
        (0..5).for_each(|_| writer.give_back(Vec::with_capacity(GroupWriter::SPARE / 3)));
        assert_eq!(writer.spare.len(), 3);
    }
}
