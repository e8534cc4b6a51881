//! Reading shards, one row group at a time.

use super::chunk::{self, Chunk};
use super::footer::Footer;
use super::schema::{CP, MV, Outcomes, PROB, columns, schema};
use crate::error::{Error, Result};
use manaka_core::packed::PACKED_LEN;
use manaka_core::{Packed, PolicySource, guard};
use parquet::column::reader::{ColumnReaderImpl, get_column_reader};
use parquet::data_type::{DataType, FixedLenByteArrayType, FloatType, Int32Type};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData};
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::Type;
use std::cmp::Ordering;
use std::fs::File;
use std::mem::take;
use std::path::{Path, PathBuf};

/// Which columns of a row group are read; the others are not touched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "one a column")]
pub struct Projection {
    /// `packed`.
    pub packed: bool,
    /// `ply`.
    pub ply: bool,
    /// `value_z`, where the shard has it.
    pub value_z: bool,
    /// `value_q`.
    pub value_q: bool,
    /// `weight`.
    pub weight: bool,
    /// `mv` and `prob` of the candidates.
    pub policy: bool,
    /// `cp` of the candidates, where they have it.
    pub cp: bool,
}

impl Projection {
    /// No column.
    pub const NONE: Self = Self {
        packed: false,
        ply: false,
        value_z: false,
        value_q: false,
        weight: false,
        policy: false,
        cp: false,
    };
    /// Every column.
    pub const ALL: Self =
        Self { packed: true, ply: true, value_z: true, value_q: true, weight: true, policy: true, cp: true };
}

/// Rows of a shard, column by column; reuse one for reading in a loop. A column that was not asked for is empty.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Rows {
    rows: usize,
    /// The positions.
    pub packed: Vec<[u8; PACKED_LEN]>,
    /// The least move number a position was met at.
    pub ply: Vec<u16>,
    /// The mean outcome, in [-1, 1], `None` where no record of the row has one; empty in score shards.
    pub value_z: Vec<Option<f32>>,
    /// The mean root value, in [-1, 1].
    pub value_q: Vec<f32>,
    /// Records folded.
    pub weight: Vec<u32>,
    /// Where each row's candidates begin in the three columns below; one more than there are rows.
    pub offsets: Vec<usize>,
    /// move16 bits.
    pub mv: Vec<u16>,
    /// The policy.
    pub prob: Vec<f32>,
    /// The scores; empty in visits shards.
    pub cp: Vec<i16>,
}

impl Rows {
    /// How many rows there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.rows
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The position of a row.
    #[must_use]
    pub fn position(&self, row: usize) -> Packed {
        Packed::from_bytes(self.packed[row])
    }

    /// Where a row's candidates lie in `mv`, `prob` and `cp`.
    #[must_use]
    pub fn candidates(&self, row: usize) -> std::ops::Range<usize> {
        self.offsets[row]..self.offsets[row + 1]
    }

    fn clear(&mut self) {
        self.rows = 0;
        self.packed.clear();
        self.ply.clear();
        self.value_z.clear();
        self.value_q.clear();
        self.weight.clear();
        self.offsets.clear();
        self.mv.clear();
        self.prob.clear();
        self.cp.clear();
    }
}

/// An open shard whose schema and footer are those of shards.md §2 and §3. Threads may read row groups at once.
pub struct ShardReader {
    path: PathBuf,
    file: File,
    metadata: ParquetMetaData,
    footer: Footer,
    outcomes: Outcomes,
}

impl ShardReader {
    /// Opens a shard.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Parquet`] when it is no Parquet file; [`Error::NotAShard`] naming the first thing that
    /// differs from the specification.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(Error::io(path))?;
        let metadata =
            guarded(|| ParquetMetaDataReader::new().parse_and_finish(&file)).map_err(Error::parquet(path))?;
        let not_a_shard = |what| Error::NotAShard { path: path.to_owned(), what };
        let about = metadata.file_metadata();
        let none = Vec::new();
        let pairs = about.key_value_metadata().unwrap_or(&none);
        let pairs = pairs.iter().filter_map(|pair| Some((pair.key.as_str(), pair.value.as_deref()?)));
        let footer = Footer::parse(pairs).map_err(not_a_shard)?;
        let found = about.schema_descr().root_schema();
        let differs = |outcomes| {
            let expected =
                schema(footer.conventions.policy_source, outcomes).map_err(Error::parquet(path))?;
            Ok::<_, Error>(difference(&expected, found))
        };
        let outcomes = match differs(Outcomes::Stated)? {
            None => Outcomes::Stated,
            Some(_) if differs(Outcomes::SomeAbsent)?.is_none() => Outcomes::SomeAbsent,
            Some(difference) => return Err(not_a_shard(difference)),
        };
        Ok(Self { path: path.to_owned(), file, metadata, footer, outcomes })
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The footer.
    #[must_use]
    pub const fn footer(&self) -> &Footer {
        &self.footer
    }

    /// Whether every row has an outcome, by the schema; without a meaning in score shards.
    #[must_use]
    pub const fn outcomes(&self) -> Outcomes {
        self.outcomes
    }

    /// Everything Parquet says about the file: row groups, encodings, sizes.
    #[must_use]
    pub const fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
    }

    /// Rows in the shard.
    #[must_use]
    pub fn rows(&self) -> u64 {
        u64::try_from(self.metadata.file_metadata().num_rows()).unwrap_or(0)
    }

    /// Row groups in the shard.
    #[must_use]
    pub fn row_groups(&self) -> usize {
        self.metadata.num_row_groups()
    }

    /// Reads a row group into `out`, reusing its allocations.
    ///
    /// # Errors
    /// [`Error::Parquet`] when the data is damaged or shorter than the footer says; never a short read.
    pub fn read_row_group(&self, index: usize, out: &mut Rows) -> Result<()> {
        self.read_columns(index, Projection::ALL, out)
    }

    /// Reads some columns of a row group into `out`, reusing its allocations.
    ///
    /// # Errors
    /// As [`ShardReader::read_row_group`].
    pub fn read_columns(&self, index: usize, wanted: Projection, out: &mut Rows) -> Result<()> {
        out.clear();
        guarded(|| self.read(index, wanted, out)).map_err(Error::parquet(&self.path))
    }

    /// Reads only the positions of a row group into `out`.
    ///
    /// # Errors
    /// As [`ShardReader::read_row_group`].
    pub fn read_packed(&self, index: usize, out: &mut Vec<[u8; PACKED_LEN]>) -> Result<()> {
        out.clear();
        guarded(|| self.group(index)?.packed(out)).map_err(Error::parquet(&self.path))
    }

    fn group(&self, index: usize) -> ParquetResult<Group<'_>> {
        if index >= self.row_groups() {
            return Err(ParquetError::General(format!("there is no row group {index}")));
        }
        let metadata = self.metadata.row_group(index);
        Ok(Group { file: &self.file, metadata, rows: row_count(metadata.num_rows())? })
    }

    fn read(&self, index: usize, wanted: Projection, out: &mut Rows) -> ParquetResult<()> {
        let source = self.footer.conventions.policy_source;
        let visits = source == PolicySource::Visits;
        let group = self.group(index)?;
        out.rows = group.rows;
        let at = |name| {
            let missing = || ParquetError::General(format!("there is no column {name}"));
            columns(source).position(|column| column == name).ok_or_else(missing)
        };
        if wanted.packed {
            group.packed(&mut out.packed)?;
        }
        if wanted.ply {
            out.ply = convert(group.flat::<Int32Type>(at("ply")?, Vec::new())?, "ply")?;
        }
        if wanted.value_z && visits {
            let column = at("value_z")?;
            match self.outcomes {
                Outcomes::Stated => {
                    out.value_z.extend(group.flat::<FloatType>(column, Vec::new())?.into_iter().map(Some));
                }
                Outcomes::SomeAbsent => group.optional::<FloatType>(column, &mut out.value_z)?,
            }
        }
        if wanted.value_q {
            out.value_q = group.flat::<FloatType>(at("value_q")?, take(&mut out.value_q))?;
        }
        if wanted.weight {
            let weight = group.flat::<Int32Type>(at("weight")?, Vec::new())?;
            out.weight.extend(weight.into_iter().map(i32::cast_unsigned));
        }
        if !wanted.policy && !wanted.cp {
            return Ok(());
        }
        let mv = group.list::<Int32Type>(at(MV)?)?;
        if wanted.policy {
            let prob = group.list::<FloatType>(at(PROB)?)?;
            if prob.starts != mv.starts {
                return Err(unequal());
            }
            if mv.absent + prob.absent > 0 {
                return Err(ParquetError::General("a null or empty list of candidates".to_owned()));
            }
            out.prob = prob.values;
        }
        if wanted.cp {
            let cp = group.list::<Int32Type>(at(CP)?)?;
            if cp.starts != mv.starts {
                return Err(unequal());
            }
            let expected = if visits { 0 } else { mv.values.len() };
            if cp.values.len() != expected {
                let (with, of) = (cp.values.len(), mv.values.len());
                let source = source.id();
                return Err(ParquetError::General(format!(
                    "{with} of {of} candidates have a cp in a {source} shard"
                )));
            }
            out.cp = convert(cp.values, "cp")?;
        }
        out.offsets = mv.starts;
        out.mv = convert(mv.values, "mv")?;
        Ok(())
    }
}

/// A row group, whose columns are read one by one.
struct Group<'a> {
    file: &'a File,
    metadata: &'a RowGroupMetaData,
    rows: usize,
}

impl Group<'_> {
    fn pages(&self, column: usize) -> ParquetResult<SerializedPageReader<Chunk>> {
        let column = self.metadata.column(column);
        Chunk::read(self.file, column)?.pages(column, self.rows)
    }

    fn typed<T: DataType>(&self, column: usize) -> ParquetResult<ColumnReaderImpl<T>> {
        let descriptor = self.metadata.column(column).column_descr_ptr();
        let reader = get_column_reader(descriptor, Box::new(self.pages(column)?));
        T::get_column_reader(reader).ok_or_else(|| self.short(column))
    }

    fn short(&self, column: usize) -> ParquetError {
        let name = self.metadata.column(column).column_path().string();
        ParquetError::General(format!("column {name} is shorter than the footer says or of another type"))
    }

    fn long(&self, column: usize) -> ParquetError {
        let name = self.metadata.column(column).column_path().string();
        ParquetError::General(format!("column {name} is longer than the footer says"))
    }

    fn packed(&self, out: &mut Vec<[u8; PACKED_LEN]>) -> ParquetResult<()> {
        const PACKED: usize = 0;
        if !chunk::plain(&mut self.pages(PACKED)?, out)? {
            out.clear();
            for value in self.flat::<FixedLenByteArrayType>(PACKED, Vec::new())? {
                out.push(value.data().try_into().map_err(|_| self.short(PACKED))?);
            }
        }
        match out.len().cmp(&self.rows) {
            Ordering::Less => Err(self.short(PACKED)),
            Ordering::Equal => Ok(()),
            Ordering::Greater => Err(self.long(PACKED)),
        }
    }

    /// All values of a required column, appended to `values`.
    fn flat<T: DataType>(&self, column: usize, mut values: Vec<T::T>) -> ParquetResult<Vec<T::T>> {
        let mut reader = self.typed::<T>(column)?;
        values.reserve(self.rows);
        while values.len() < self.rows {
            let (records, ..) = reader.read_records(self.rows - values.len(), None, None, &mut values)?;
            if records == 0 {
                return Err(self.short(column));
            }
        }
        if reader.read_records(1, None, None, &mut values)?.0 > 0 {
            return Err(self.long(column));
        }
        Ok(values)
    }

    /// All values of an optional column, appended to `out`.
    fn optional<T: DataType>(&self, column: usize, out: &mut Vec<Option<T::T>>) -> ParquetResult<()> {
        let mut reader = self.typed::<T>(column)?;
        let (mut values, mut definition) = (Vec::new(), Vec::new());
        while definition.len() < self.rows {
            let wanted = self.rows - definition.len();
            let (records, ..) = reader.read_records(wanted, Some(&mut definition), None, &mut values)?;
            if records == 0 {
                return Err(self.short(column));
            }
        }
        if reader.read_records(1, Some(&mut definition), None, &mut values)?.0 > 0 {
            return Err(self.long(column));
        }
        let present = definition.iter().filter(|&&level| level > 0).count();
        if definition.len() != self.rows || values.len() != present {
            return Err(self.short(column));
        }
        let mut values = values.into_iter();
        out.extend(definition.into_iter().map(|level| if level > 0 { values.next() } else { None }));
        Ok(())
    }

    fn list<T: DataType>(&self, column: usize) -> ParquetResult<List<T::T>> {
        let mut reader = self.typed::<T>(column)?;
        let (mut values, mut definition, mut repetition) = (Vec::new(), Vec::new(), Vec::new());
        let mut read = 0;
        while read < self.rows {
            let (records, ..) = reader.read_records(
                self.rows - read,
                Some(&mut definition),
                Some(&mut repetition),
                &mut values,
            )?;
            if records == 0 {
                return Err(self.short(column));
            }
            read += records;
        }
        let (more, ..) = reader.read_records(1, Some(&mut definition), Some(&mut repetition), &mut values)?;
        if more > 0 {
            return Err(self.long(column));
        }
        let mut starts = Vec::with_capacity(self.rows + 1);
        starts.extend(repetition.iter().enumerate().filter(|&(_, &level)| level == 0).map(|(at, _)| at));
        if starts.len() != self.rows {
            return Err(self.short(column));
        }
        starts.push(repetition.len());
        let absent = definition.iter().filter(|&&level| level == 0).count();
        Ok(List { values, starts, absent })
    }
}

/// Runs a part of the decoder, whose panics are errors of the file.
fn guarded<T>(decode: impl FnOnce() -> ParquetResult<T>) -> ParquetResult<T> {
    guard::foreign(decode).unwrap_or_else(|text| Err(ParquetError::General(text)))
}

/// Rows of a group, from its metadata. Nobody's row groups are larger, and room is made for what is believed here.
fn row_count(rows: i64) -> ParquetResult<usize> {
    const MOST: usize = 1 << 24;
    usize::try_from(rows)
        .ok()
        .filter(|&rows| rows <= MOST)
        .ok_or_else(|| ParquetError::General(format!("a row group of {rows} rows")))
}

fn unequal() -> ParquetError {
    ParquetError::General("the columns of candidates have different lengths".to_owned())
}

/// A column of candidates.
struct List<V> {
    values: Vec<V>,
    /// Where each row begins, counting present and null elements; one more than there are rows.
    starts: Vec<usize>,
    /// Rows with a null or empty list.
    absent: usize,
}

fn convert<T: TryFrom<i32>>(values: Vec<i32>, column: &str) -> ParquetResult<Vec<T>> {
    values
        .into_iter()
        .map(|value| {
            T::try_from(value).map_err(|_| ParquetError::General(format!("{column} {value} is out of range")))
        })
        .collect()
}

/// The first difference between the expected schema and the one found, in words.
fn difference(expected: &Type, found: &Type) -> Option<String> {
    let names = |t: &Type| t.get_fields().iter().map(|f| f.name().to_owned()).collect::<Vec<_>>().join(", ");
    if names(expected) != names(found) {
        return Some(format!("its columns are ({}), not ({})", names(found), names(expected)));
    }
    for (expected, found) in expected.get_fields().iter().zip(found.get_fields()) {
        if expected != found {
            let print = |t: &Type| {
                let mut text = Vec::new();
                parquet::schema::printer::print_schema(&mut text, t);
                String::from_utf8_lossy(&text).split_whitespace().collect::<Vec<_>>().join(" ")
            };
            return Some(format!("column {} is {}, not {}", found.name(), print(found), print(expected)));
        }
    }
    None
}
