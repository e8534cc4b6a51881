//! The columns as we write them, and how each is encoded (corpus.md §3).

use crate::schema::{COLUMNS, Column};
use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::errors::Result;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::schema::types::{ColumnPath, Type, TypePtr};
use std::sync::Arc;

/// Where the elements of a list column are, below its name.
const ELEMENT: [&str; 2] = ["list", "element"];

/// The schema: what pyarrow writes for these columns, so that files of both can be read as one data set.
pub(super) fn schema() -> Result<TypePtr> {
    let fields = COLUMNS.into_iter().map(field).collect::<Result<Vec<_>>>()?;
    Type::group_type_builder("schema").with_fields(fields).build().map(Arc::new)
}

fn field(column: Column) -> Result<TypePtr> {
    let text = |name: &str| primitive(name, Physical::BYTE_ARRAY, LogicalType::String);
    let int = |name: &str, bits, signed| primitive(name, Physical::INT32, LogicalType::integer(bits, signed));
    let [middle, element] = ELEMENT;
    match column {
        Column::Sfen | Column::Move => text(column.name()),
        Column::Side | Column::Depth => int(column.name(), 8, false),
        Column::Ply => int(column.name(), 16, false),
        Column::Cp => int(column.name(), 16, true),
        Column::Result => int(column.name(), 8, true),
        Column::CandMove | Column::CandCp => {
            let element = if column == Column::CandMove { text(element)? } else { int(element, 16, true)? };
            let list = Type::group_type_builder(middle)
                .with_repetition(Repetition::REPEATED)
                .with_fields(vec![element])
                .build()?;
            Type::group_type_builder(column.name())
                .with_repetition(Repetition::OPTIONAL)
                .with_logical_type(Some(LogicalType::List))
                .with_fields(vec![Arc::new(list)])
                .build()
                .map(Arc::new)
        }
    }
}

fn primitive(name: &str, physical: Physical, logical: LogicalType) -> Result<TypePtr> {
    Type::primitive_type_builder(name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(Some(logical))
        .build()
        .map(Arc::new)
}

/// zstd; a dictionary where values repeat within a group; no statistics, since nobody looks for a score by its range.
pub(super) fn properties(zstd_level: i32) -> Result<WriterProperties> {
    let mut builder = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_1_0)
        .set_created_by(concat!("manaka-corpus version ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(zstd_level)?))
        .set_dictionary_enabled(false)
        .set_encoding(Encoding::PLAIN)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_max_row_group_row_count(None);
    for column in COLUMNS {
        let path = match column {
            Column::CandMove | Column::CandCp => {
                [column.name()].into_iter().chain(ELEMENT).map(str::to_owned).collect()
            }
            _ => vec![column.name().to_owned()],
        };
        let dictionary = !matches!(column, Column::Sfen);
        builder = builder.set_column_dictionary_enabled(ColumnPath::from(path), dictionary);
    }
    Ok(builder.build())
}
