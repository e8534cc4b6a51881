//! A corpus file and the walk through its row groups.

use crate::column::{IntColumn, TextColumn};
use crate::error::{Cause, Error, Result};
use crate::pages::{self, Kind};
use crate::rows::Rows;
use crate::schema::{Column, Leaf, Leaves};
use manaka_core::guard;
use parquet::basic::Compression;
use parquet::column::page::PageReader;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData};
use parquet::file::serialized_reader::SerializedPageReader;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows of a batch; fewer only at the end of a row group or when their lists are long.
pub const BATCH_ROWS: usize = 4096;
/// Candidates from which on a batch takes no more rows.
pub const BATCH_ELEMENTS: usize = 64 * BATCH_ROWS;
/// Rows decoded between two looks at how long the lists are.
pub(crate) const STEP_ROWS: usize = 512;
/// Elements that so many rows may have, an empty list counted as one. No position has as many as 600 moves; what pages
/// state, a run of a few bytes, may be billions.
pub(crate) const STEP_LEVELS: u32 = 1 << 20;

/// A corpus file whose schema is proven. Holds its footer, not the file: row groups are opened one by one.
#[derive(Debug)]
pub struct CorpusFile {
    path: PathBuf,
    len: u64,
    metadata: ParquetMetaData,
    leaves: Leaves,
    /// Rows before each row group, and in all.
    starts: Vec<u64>,
}

impl CorpusFile {
    /// Reads the footer and finds the columns of corpus.md §3.
    ///
    /// # Errors
    /// [`Error`]: the file cannot be read, is no parquet file, or lacks a column.
    pub fn open(path: &Path) -> Result<Self> {
        let io = |error| Error::Io { path: path.to_owned(), error };
        let file = File::open(path).map_err(io)?;
        let len = file.metadata().map_err(io)?.len();
        let metadata = guarded(|| Ok(ParquetMetaDataReader::new().parse_and_finish(&file)?))
            .map_err(|cause| in_place(path, None, None, cause))?;
        let leaves = Leaves::find(path, metadata.file_metadata().schema_descr())?;
        let damaged = |reason: &str| in_place(path, None, None, Cause::damaged(reason));
        let mut starts = vec![0];
        let mut total = 0u64;
        for group in metadata.row_groups() {
            let rows = u64::try_from(group.num_rows()).ok();
            total = rows
                .and_then(|rows| total.checked_add(rows))
                .ok_or_else(|| damaged("a row group has an impossible number of rows"))?;
            starts.push(total);
        }
        if u64::try_from(metadata.file_metadata().num_rows()) != Ok(total) {
            return Err(damaged("the footer states another number of rows than its row groups"));
        }
        let file = Self { path: path.to_owned(), len, metadata, leaves, starts };
        for group in 0..file.row_groups() {
            file.check_codecs(group)?;
        }
        Ok(file)
    }

    fn check_codecs(&self, row_group: usize) -> Result<()> {
        for leaf in self.leaves.all() {
            let codec = match self.metadata.row_group(row_group).column(leaf.index).compression() {
                Compression::UNCOMPRESSED
                | Compression::SNAPPY
                | Compression::GZIP(_)
                | Compression::LZ4
                | Compression::LZ4_RAW
                | Compression::ZSTD(_) => continue,
                Compression::BROTLI(_) => "brotli",
                Compression::LZO => "lzo",
            };
            return Err(Error::Codec { path: self.path.clone(), row_group, column: leaf.column, codec });
        }
        Ok(())
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Everything Parquet says about the file.
    #[must_use]
    pub const fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
    }

    /// Rows in all.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Row groups.
    #[must_use]
    pub fn row_groups(&self) -> usize {
        self.metadata.num_row_groups()
    }

    /// Rows of a row group; 0 from [`CorpusFile::row_groups`] on.
    #[must_use]
    pub fn rows_of(&self, row_group: usize) -> u64 {
        match self.starts.get(row_group..) {
            Some([start, end, ..]) => end - start,
            _ => 0,
        }
    }

    /// Starts reading a row group, `row_group < row_groups()`.
    ///
    /// # Errors
    /// [`Error::Damaged`] when its pages are not where and what the footer says, [`Error::Io`].
    pub fn batches(&self, row_group: usize) -> Result<Batches> {
        let error = |column, cause| in_place(&self.path, Some(row_group), column, cause);
        if row_group >= self.row_groups() {
            return Err(error(None, Cause::damaged("there is no such row group")));
        }
        let file = File::open(&self.path).map_err(|e| error(None, Cause::Io(e)))?;
        if file.metadata().map_err(|e| error(None, Cause::Io(e)))?.len() != self.len {
            return Err(error(None, Cause::damaged("the file changed since it was opened")));
        }
        let source = Source { file: Arc::new(file), group: self.metadata.row_group(row_group) };
        let text = |leaf: &Leaf| {
            source
                .pages(leaf)
                .map(|(pages, kind)| TextColumn::new(leaf, pages, kind))
                .map_err(|e| error(Some(leaf.column), e))
        };
        let int = |leaf: &Leaf| {
            source
                .pages(leaf)
                .map(|(pages, kind)| IntColumn::new(leaf, pages, kind))
                .map_err(|e| error(Some(leaf.column), e))
        };
        let leaves = &self.leaves;
        let columns = Columns {
            sfen: text(&leaves.sfen)?,
            side: int(&leaves.side)?,
            ply: int(&leaves.ply)?,
            cp: int(&leaves.cp)?,
            cand_move: text(&leaves.cand_move)?,
            cand_cp: int(&leaves.cand_cp)?,
            mv: text(&leaves.mv)?,
            result: int(&leaves.result)?,
        };
        let (next, end) = (self.starts[row_group], self.starts[row_group + 1]);
        Ok(Batches { path: self.path.clone(), row_group, columns, next, end, failed: false })
    }
}

/// A row group whose columns are about to be read.
struct Source<'a> {
    file: Arc<File>,
    group: &'a RowGroupMetaData,
}

impl Source<'_> {
    fn pages(&self, leaf: &Leaf) -> Result<(Box<dyn PageReader>, Kind), Cause> {
        let chunk = self.group.column(leaf.index);
        let rows = self.group.num_rows();
        let kind = pages::check(&self.file, chunk, (leaf.descr.max_rep_level() == 0).then_some(rows))?;
        let rows = usize::try_from(rows).map_err(|_| Cause::damaged("too many rows"))?;
        Ok((Box::new(SerializedPageReader::new(self.file.clone(), chunk, rows, None)?), kind))
    }
}

struct Columns {
    sfen: TextColumn,
    side: IntColumn,
    ply: IntColumn,
    cp: IntColumn,
    cand_move: TextColumn,
    cand_cp: IntColumn,
    mv: TextColumn,
    result: IntColumn,
}

/// Reads a row group in file order, a bounded number of rows at a time; made by [`CorpusFile::batches`].
pub struct Batches {
    path: PathBuf,
    row_group: usize,
    columns: Columns,
    next: u64,
    end: u64,
    failed: bool,
}

impl Batches {
    /// Fills `out` with the next rows, reusing its memory; `false` at the end, and after an error.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::Io`]. Rows decoded in front of the damage are lost with it.
    pub fn read(&mut self, out: &mut Rows) -> Result<bool> {
        out.clear(self.next);
        if self.failed || self.next == self.end {
            return Ok(false);
        }
        let mut column = None;
        let result = guarded(|| self.fill(out, &mut column));
        match result {
            Ok(()) => Ok(true),
            Err(cause) => {
                self.failed = true;
                out.clear(self.next);
                Err(in_place(&self.path, Some(self.row_group), column, cause))
            }
        }
    }

    /// `column` is the one being read, for the error.
    fn fill(&mut self, out: &mut Rows, column: &mut Option<Column>) -> Result<(), Cause> {
        let Columns { sfen, side, ply, cp, cand_move, cand_cp, mv, result } = &mut self.columns;
        while self.next < self.end && out.len < BATCH_ROWS && out.elements() < BATCH_ELEMENTS {
            let left = usize::try_from(self.end - self.next).unwrap_or(usize::MAX);
            let rows = left.min(STEP_ROWS).min(BATCH_ROWS - out.len);
            let mut at = |name| *column = Some(name);
            at(Column::Sfen);
            sfen.flat(rows, &mut out.sfen)?;
            at(Column::Side);
            side.flat(rows, &mut out.side)?;
            at(Column::Ply);
            ply.flat(rows, &mut out.ply)?;
            at(Column::Cp);
            cp.flat(rows, &mut out.cp)?;
            at(Column::CandMove);
            cand_move.lists(rows, &mut out.cand_move)?;
            at(Column::CandCp);
            cand_cp.lists(rows, &mut out.cand_cp)?;
            at(Column::Move);
            mv.flat(rows, &mut out.mv)?;
            at(Column::Result);
            result.flat(rows, &mut out.result)?;
            out.len += rows;
            self.next += rows as u64;
        }
        *column = None;
        if self.next == self.end {
            for text in [sfen, cand_move, mv] {
                text.at_end()?;
            }
            for int in [side, ply, cp, cand_cp, result] {
                int.at_end()?;
            }
        }
        Ok(())
    }
}

/// Runs a part of the decoder, whose panics are errors of the file.
fn guarded<T>(decode: impl FnOnce() -> Result<T, Cause>) -> Result<T, Cause> {
    guard::foreign(decode).unwrap_or_else(|text| Err(Cause::damaged(&text)))
}

fn in_place(path: &Path, row_group: Option<usize>, column: Option<Column>, cause: Cause) -> Error {
    let path = path.to_owned();
    match cause {
        Cause::Io(error) => Error::Io { path, error },
        Cause::Damaged(reason) => Error::Damaged { path, row_group, column, reason },
    }
}
