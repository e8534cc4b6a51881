//! Writing shards: row groups are encoded by any thread, and one writer strings them together in order.

use super::footer::Footer;
use super::schema::{Outcomes, columns, properties, schema};
use crate::error::{Error, Result};
use bytes::Bytes;
use manaka_core::PolicySource;
use manaka_core::packed::PACKED_LEN;
use manaka_core::whole_file::{Existing, WholeFile};
use parquet::column::writer::{ColumnCloseResult, ColumnWriter, get_column_writer};
use parquet::data_type::{ByteArray, FixedLenByteArray};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor, TypePtr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The rows of one row group, column by column, as the Parquet writer takes them.
#[derive(Default)]
pub struct GroupBuilder {
    packed: Vec<u8>,
    ply: Vec<i32>,
    value_z: Vec<Option<f32>>,
    value_q: Vec<f32>,
    weight: Vec<i32>,
    mv: Vec<i32>,
    prob: Vec<f32>,
    /// Present cp only.
    cp: Vec<i32>,
    /// 0 at the first candidate of a row, else 1.
    repetition: Vec<i16>,
}

impl GroupBuilder {
    /// Rows so far.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.ply.len()
    }

    /// Forgets the rows and keeps the memory.
    pub fn clear(&mut self) {
        self.packed.clear();
        self.ply.clear();
        self.value_z.clear();
        self.value_q.clear();
        self.weight.clear();
        self.mv.clear();
        self.prob.clear();
        self.cp.clear();
        self.repetition.clear();
    }

    /// Appends a row but for its candidates, of which at least one must follow. `value_z` is `None` in rows without an
    /// outcome.
    pub fn push_row(
        &mut self,
        packed: &[u8; PACKED_LEN],
        ply: u16,
        weight: u32,
        value_z: Option<f32>,
        value_q: f32,
    ) {
        self.packed.extend_from_slice(packed);
        self.ply.push(i32::from(ply));
        self.weight.push(weight.cast_signed());
        self.value_z.push(value_z);
        self.value_q.push(value_q);
    }

    /// Appends the next candidate of the last row. `cp` is `None` in visits rows.
    pub fn push_candidate(&mut self, first: bool, mv: u16, prob: f32, cp: Option<i16>) {
        self.repetition.push(i16::from(!first));
        self.mv.push(i32::from(mv));
        self.prob.push(prob);
        self.cp.extend(cp.map(i32::from));
    }

    /// Appends all rows of another group.
    pub fn append(&mut self, other: &Self) {
        self.packed.extend_from_slice(&other.packed);
        self.ply.extend_from_slice(&other.ply);
        self.value_z.extend_from_slice(&other.value_z);
        self.value_q.extend_from_slice(&other.value_q);
        self.weight.extend_from_slice(&other.weight);
        self.mv.extend_from_slice(&other.mv);
        self.prob.extend_from_slice(&other.prob);
        self.cp.extend_from_slice(&other.cp);
        self.repetition.extend_from_slice(&other.repetition);
    }
}

/// A row group that is encoded and compressed, but in no file yet.
pub struct EncodedGroup {
    rows: u64,
    columns: Vec<(Bytes, ColumnCloseResult)>,
}

/// Encodes row groups; every thread may have one.
#[derive(Clone)]
pub struct GroupEncoder {
    source: PolicySource,
    outcomes: Outcomes,
    properties: WriterPropertiesPtr,
    columns: Vec<ColumnDescPtr>,
}

impl EncodedGroup {
    /// Its rows.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }
}

impl GroupEncoder {
    /// An encoder of rows of this policy source, all of which have an outcome or not.
    ///
    /// # Errors
    /// None is known: the schema is fixed.
    pub fn new(source: PolicySource, outcomes: Outcomes) -> ParquetResult<Self> {
        let descriptor = SchemaDescriptor::new(schema(source, outcomes)?);
        let properties = properties(source, created_by(), None)?;
        let columns = descriptor.columns().to_vec();
        Ok(Self { source, outcomes, properties: Arc::new(properties), columns })
    }

    /// Whether the column of outcomes may have nulls.
    #[must_use]
    pub const fn outcomes(&self) -> Outcomes {
        self.outcomes
    }

    /// Encodes the rows, of which there is at least one. The bytes depend on nothing else.
    ///
    /// # Errors
    /// A row without an outcome where the encoder was told that all have one. Else whatever the Parquet encoder has to
    /// say; nothing that rows can hold is known to make it speak.
    pub fn encode(&self, group: &GroupBuilder) -> ParquetResult<EncodedGroup> {
        let packed = Bytes::copy_from_slice(&group.packed);
        let packed: Vec<FixedLenByteArray> = (0..group.rows())
            .map(|row| ByteArray::from(packed.slice(row * PACKED_LEN..(row + 1) * PACKED_LEN)).into())
            .collect();
        let value_z: Vec<f32> = group.value_z.iter().filter_map(|value_z| *value_z).collect();
        let stated: Vec<i16> = group.value_z.iter().map(|value_z| i16::from(value_z.is_some())).collect();
        let inside = vec![1i16; group.mv.len()];
        let with_cp = vec![if group.cp.is_empty() { 1i16 } else { 2 }; group.mv.len()];
        let columns = columns(self.source)
            .zip(&self.columns)
            .map(|(name, descriptor)| {
                let mut sink = TrackedWrite::new(Vec::new());
                let page_writer = Box::new(SerializedPageWriter::new(&mut sink));
                let mut writer = get_column_writer(descriptor.clone(), self.properties.clone(), page_writer);
                let levels = |definition| (Some(definition), Some(group.repetition.as_slice()));
                let none = (None, None);
                let outcomes = match self.outcomes {
                    Outcomes::Stated => none,
                    Outcomes::SomeAbsent => (Some(stated.as_slice()), None),
                };
                match (&mut writer, name) {
                    (ColumnWriter::FixedLenByteArrayColumnWriter(w), "packed") => {
                        w.write_batch(&packed, None, None)
                    }
                    (ColumnWriter::Int32ColumnWriter(w), name) => {
                        let (values, (definition, repetition)) = match name {
                            "ply" => (&group.ply, none),
                            "weight" => (&group.weight, none),
                            name if name.ends_with(".mv") => (&group.mv, levels(inside.as_slice())),
                            _ => (&group.cp, levels(with_cp.as_slice())),
                        };
                        w.write_batch(values, definition, repetition)
                    }
                    (ColumnWriter::FloatColumnWriter(w), name) => {
                        let (values, (definition, repetition)) = match name {
                            "value_z"
                                if self.outcomes == Outcomes::Stated && value_z.len() < group.rows() =>
                            {
                                return Err(ParquetError::General("a row has no outcome".to_owned()));
                            }
                            "value_z" => (&value_z, outcomes),
                            "value_q" => (&group.value_q, none),
                            _ => (&group.prob, levels(inside.as_slice())),
                        };
                        w.write_batch(values, definition, repetition)
                    }
                    _ => Err(ParquetError::General(format!("column {name} has an unexpected type"))),
                }?;
                let close = writer.close()?;
                Ok((Bytes::from(sink.into_inner()?), close))
            })
            .collect::<ParquetResult<Vec<_>>>()?;
        Ok(EncodedGroup { rows: group.rows() as u64, columns })
    }
}

fn created_by() -> String {
    concat!("manaka-pack version ", env!("CARGO_PKG_VERSION")).to_owned()
}

/// What a finished shard holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShardSummary {
    /// The file.
    pub path: PathBuf,
    /// Its rows.
    pub rows: u64,
    /// Its length in bytes.
    pub bytes: u64,
    /// Compressed bytes of each leaf column, in file order.
    pub column_bytes: Vec<u64>,
}

/// Writes one shard. It gets its name when it is finished.
pub struct ShardWriter {
    path: PathBuf,
    writer: SerializedFileWriter<WholeFile>,
    rows: u64,
    column_bytes: Vec<u64>,
}

impl ShardWriter {
    /// Creates a shard whose footer states `footer`; `outcomes` is that of the encoder of its groups.
    ///
    /// # Errors
    /// [`Error::Io`] when the file exists or cannot be created, [`Error::Parquet`].
    pub fn create(path: &Path, footer: &Footer, outcomes: Outcomes) -> Result<Self> {
        let source = footer.conventions.policy_source;
        let file = WholeFile::create(path, Existing::Refuse).map_err(Error::io(path))?;
        let build = || -> ParquetResult<SerializedFileWriter<WholeFile>> {
            let schema: TypePtr = schema(source, outcomes)?;
            let properties = properties(source, created_by(), Some(footer.key_values()))?;
            SerializedFileWriter::new(file, schema, Arc::new(properties))
        };
        let writer = build().map_err(Error::parquet(path))?;
        Ok(Self { path: path.to_owned(), writer, rows: 0, column_bytes: vec![0; columns(source).count()] })
    }

    /// Rows appended so far.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Appends an encoded row group.
    ///
    /// # Errors
    /// [`Error::Parquet`].
    pub fn append(&mut self, group: EncodedGroup) -> Result<()> {
        let append = || -> ParquetResult<()> {
            let mut writer = self.writer.next_row_group()?;
            for ((bytes, close), total) in group.columns.into_iter().zip(&mut self.column_bytes) {
                *total += close.bytes_written;
                writer.append_column(&bytes, close)?;
            }
            writer.close()?;
            Ok(())
        };
        append().map_err(Error::parquet(&self.path))?;
        self.rows += group.rows;
        Ok(())
    }

    /// Writes the footer and gives the shard its name.
    ///
    /// # Errors
    /// [`Error::Io`] or [`Error::Parquet`]; the shard does not appear then.
    pub fn finish(self) -> Result<ShardSummary> {
        let file = self.writer.into_inner().map_err(Error::parquet(&self.path))?;
        let bytes = file.commit().map_err(Error::io(&self.path))?;
        Ok(ShardSummary { path: self.path, rows: self.rows, bytes, column_bytes: self.column_bytes })
    }
}
