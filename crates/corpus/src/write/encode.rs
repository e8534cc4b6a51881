//! Encoding row groups, which any thread may do.

use super::columns::{properties, schema};
use super::group::RowGroup;
use crate::schema::{COLUMNS, Column};
use bytes::Bytes;
use parquet::column::writer::{ColumnCloseResult, ColumnWriter, get_column_writer};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor};
use std::sync::Arc;

/// A row group that is encoded and compressed, but in no file yet.
#[derive(Debug)]
pub struct EncodedGroup {
    rows: u64,
    columns: Vec<(Bytes, ColumnCloseResult)>,
}

impl EncodedGroup {
    /// Its rows.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    pub(super) fn into_columns(self) -> Vec<(Bytes, ColumnCloseResult)> {
        self.columns
    }
}

/// Encodes row groups.
#[derive(Clone, Debug)]
pub struct GroupEncoder {
    properties: WriterPropertiesPtr,
    columns: Vec<ColumnDescPtr>,
}

impl GroupEncoder {
    /// The zstd level unless told otherwise: the fastest, for a corpus is read once and made again from what is raw.
    pub const DEFAULT_ZSTD_LEVEL: i32 = 1;

    /// An encoder at this zstd level, at most 22.
    ///
    /// # Errors
    /// When there is no such level.
    pub fn new(zstd_level: i32) -> Result<Self> {
        let descriptor = SchemaDescriptor::new(schema()?);
        Ok(Self { properties: Arc::new(properties(zstd_level)?), columns: descriptor.columns().to_vec() })
    }

    /// Encodes the rows. The bytes depend on nothing but the rows and the level.
    ///
    /// # Errors
    /// Whatever the encoder has to say; nothing that rows can hold is known to make it speak.
    pub fn encode(&self, group: &RowGroup) -> Result<EncodedGroup> {
        let present = group.present();
        let columns = COLUMNS
            .into_iter()
            .zip(&self.columns)
            .map(|(column, descriptor)| {
                let mut sink = TrackedWrite::new(Vec::new());
                let pages = Box::new(SerializedPageWriter::new(&mut sink));
                let mut writer = get_column_writer(descriptor.clone(), self.properties.clone(), pages);
                let flat = (Some(present.as_slice()), None);
                let list = (Some(group.def.as_slice()), Some(group.rep.as_slice()));
                match &mut writer {
                    ColumnWriter::ByteArrayColumnWriter(writer) => {
                        let (values, (def, rep)) = match column {
                            Column::Sfen => (group.sfens(), flat),
                            Column::Move => (group.moves(), flat),
                            Column::CandMove => (group.candidates(), list),
                            _ => return Err(unexpected(column)),
                        };
                        writer.write_batch(&values, def, rep)
                    }
                    ColumnWriter::Int32ColumnWriter(writer) => {
                        let (values, (def, rep)) = match column {
                            Column::Side => (&group.side, flat),
                            Column::Ply => (&group.ply, flat),
                            Column::Cp => (&group.cp, flat),
                            Column::Depth => (&group.depth, flat),
                            Column::Result => (&group.result, flat),
                            Column::CandCp => (&group.cand_cp, list),
                            _ => return Err(unexpected(column)),
                        };
                        writer.write_batch(values, def, rep)
                    }
                    _ => return Err(unexpected(column)),
                }?;
                let close = writer.close()?;
                Ok((Bytes::from(sink.into_inner()?), close))
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(EncodedGroup { rows: group.len() as u64, columns })
    }
}

fn unexpected(column: Column) -> ParquetError {
    ParquetError::General(format!("column {column} has an unexpected type"))
}
