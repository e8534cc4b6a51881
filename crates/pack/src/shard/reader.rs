//! Reading shards, one row group at a time.

use super::footer::Footer;
use super::schema::schema;
use crate::error::{Error, Result};
use manaka_core::packed::PACKED_LEN;
use manaka_core::{Packed, PolicySource, guard};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{DataType, FixedLenByteArray};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::Type;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Rows of a shard, column by column; reuse one for reading in a loop.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Rows {
    /// The positions.
    pub packed: Vec<[u8; PACKED_LEN]>,
    /// The least move number a position was met at.
    pub ply: Vec<u16>,
    /// The mean outcome, in [-1, 1]; empty in score shards.
    pub value_z: Vec<f32>,
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
        self.ply.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.ply.is_empty()
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

/// An open shard whose schema and footer are those of shards.md §2 and §3.
pub struct ShardReader {
    path: PathBuf,
    reader: SerializedFileReader<File>,
    footer: Footer,
}

impl ShardReader {
    /// Opens a shard.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Parquet`] when it is no Parquet file; [`Error::NotAShard`] naming the first thing that
    /// differs from the specification.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(Error::io(path))?;
        let reader = guarded(|| SerializedFileReader::new(file)).map_err(Error::parquet(path))?;
        let not_a_shard = |what| Error::NotAShard { path: path.to_owned(), what };
        let metadata = reader.metadata().file_metadata();
        let none = Vec::new();
        let pairs = metadata.key_value_metadata().unwrap_or(&none);
        let pairs = pairs.iter().filter_map(|pair| Some((pair.key.as_str(), pair.value.as_deref()?)));
        let footer = Footer::parse(pairs).map_err(not_a_shard)?;
        let expected = schema(footer.conventions.policy_source).map_err(Error::parquet(path))?;
        let found = metadata.schema_descr().root_schema();
        if let Some(difference) = difference(&expected, found) {
            return Err(not_a_shard(difference));
        }
        Ok(Self { path: path.to_owned(), reader, footer })
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

    /// Everything Parquet says about the file: row groups, encodings, sizes.
    #[must_use]
    pub fn metadata(&self) -> &ParquetMetaData {
        self.reader.metadata()
    }

    /// Rows in the shard.
    #[must_use]
    pub fn rows(&self) -> u64 {
        u64::try_from(self.metadata().file_metadata().num_rows()).unwrap_or(0)
    }

    /// Row groups in the shard.
    #[must_use]
    pub fn row_groups(&self) -> usize {
        self.metadata().num_row_groups()
    }

    /// Reads a row group into `out`, reusing its allocations.
    ///
    /// # Errors
    /// [`Error::Parquet`] when the data is damaged or shorter than the footer says; never a short read.
    pub fn read_row_group(&self, index: usize, out: &mut Rows) -> Result<()> {
        out.clear();
        guarded(|| self.read(index, out)).map_err(Error::parquet(&self.path))
    }

    /// Reads only the positions of a row group into `out`.
    ///
    /// # Errors
    /// As [`ShardReader::read_row_group`].
    pub fn read_packed(&self, index: usize, out: &mut Vec<[u8; PACKED_LEN]>) -> Result<()> {
        out.clear();
        guarded(|| self.packed(index, out)).map_err(Error::parquet(&self.path))
    }

    fn packed(&self, index: usize, out: &mut Vec<[u8; PACKED_LEN]>) -> ParquetResult<()> {
        let group = self.reader.get_row_group(index)?;
        let rows = group.metadata().num_rows();
        let mut column =
            flat::<parquet::data_type::FixedLenByteArrayType>(group.get_column_reader(0)?, rows)?;
        for value in column.drain(..) {
            let value: &FixedLenByteArray = &value;
            out.push(value.data().try_into().map_err(|_| short("packed"))?);
        }
        Ok(())
    }

    fn read(&self, index: usize, out: &mut Rows) -> ParquetResult<()> {
        use parquet::data_type::{FloatType, Int32Type};
        let visits = self.footer.conventions.policy_source == PolicySource::Visits;
        self.packed(index, &mut out.packed)?;
        let group = self.reader.get_row_group(index)?;
        let rows = group.metadata().num_rows();
        let mut next = 1;
        let mut column = || {
            next += 1;
            group.get_column_reader(next - 1)
        };
        out.ply = convert(flat::<Int32Type>(column()?, rows)?, "ply")?;
        if visits {
            out.value_z = flat::<FloatType>(column()?, rows)?;
        }
        out.value_q = flat::<FloatType>(column()?, rows)?;
        out.weight = flat::<Int32Type>(column()?, rows)?.into_iter().map(i32::cast_unsigned).collect();

        let mv = list::<Int32Type>(column()?, rows)?;
        let prob = list::<FloatType>(column()?, rows)?;
        let cp = list::<Int32Type>(column()?, rows)?;
        if prob.starts != mv.starts || cp.starts != mv.starts {
            return Err(ParquetError::General("the columns of candidates have different lengths".to_owned()));
        }
        if mv.absent + prob.absent > 0 {
            return Err(ParquetError::General("a null or empty list of candidates".to_owned()));
        }
        let expected_cp = if visits { 0 } else { mv.values.len() };
        if cp.values.len() != expected_cp {
            let with = cp.values.len();
            let of = mv.values.len();
            return Err(ParquetError::General(format!(
                "{with} of {of} candidates have a cp in a {} shard",
                self.footer.conventions.policy_source.id()
            )));
        }
        out.offsets = mv.starts;
        out.mv = convert(mv.values, "mv")?;
        out.prob = prob.values;
        out.cp = convert(cp.values, "cp")?;
        Ok(())
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

fn short(column: &str) -> ParquetError {
    ParquetError::General(format!("column {column} is shorter than the footer says or of another type"))
}

/// All values of a required column.
fn flat<T: DataType>(reader: ColumnReader, rows: i64) -> ParquetResult<Vec<T::T>>
where
    ColumnReaderImpl<T>: Sized,
{
    let mut reader = typed::<T>(reader)?;
    let rows = row_count(rows)?;
    let mut values = Vec::new();
    while values.len() < rows {
        let (records, ..) = reader.read_records(rows - values.len(), None, None, &mut values)?;
        if records == 0 {
            return Err(short("?"));
        }
    }
    Ok(values)
}

/// A column of candidates.
struct List<V> {
    values: Vec<V>,
    /// Where each row begins, counting present and null elements; one more than there are rows.
    starts: Vec<usize>,
    /// Rows with a null or empty list.
    absent: usize,
}

fn list<T: DataType>(reader: ColumnReader, rows: i64) -> ParquetResult<List<T::T>> {
    let mut reader = typed::<T>(reader)?;
    let rows = row_count(rows)?;
    let (mut values, mut definition, mut repetition) = (Vec::new(), Vec::new(), Vec::new());
    let mut read = 0;
    while read < rows {
        let (records, ..) =
            reader.read_records(rows - read, Some(&mut definition), Some(&mut repetition), &mut values)?;
        if records == 0 {
            return Err(short("candidates"));
        }
        read += records;
    }
    let mut starts = Vec::with_capacity(rows + 1);
    starts.extend(repetition.iter().enumerate().filter(|&(_, &level)| level == 0).map(|(at, _)| at));
    starts.push(repetition.len());
    let absent = definition.iter().filter(|&&level| level == 0).count();
    Ok(List { values, starts, absent })
}

fn typed<T: DataType>(reader: ColumnReader) -> ParquetResult<ColumnReaderImpl<T>> {
    T::get_column_reader(reader).ok_or_else(|| short("?"))
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
