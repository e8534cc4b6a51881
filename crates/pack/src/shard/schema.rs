//! The columns of a shard (shards.md §2).

use manaka_core::PolicySource;
use manaka_core::packed::PACKED_LEN;
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::errors::Result;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::schema::types::{Type, TypePtr};
use std::sync::Arc;

/// Rows in every row group of a shard but its last: a reader's working set (shards.md §7).
pub const ROWS_PER_GROUP: usize = 8192;

/// The leaf columns in file order. `value_z` exists exactly when the policy source is visits.
pub const COLUMNS: [&str; 8] = ["packed", "ply", "value_z", "value_q", "weight", MV, PROB, CP];

pub(super) const MV: &str = "candidates.list.element.mv";
pub(super) const PROB: &str = "candidates.list.element.prob";
pub(super) const CP: &str = "candidates.list.element.cp";

/// Whether the outcomes of a visits shard are all there. Score shards have none, and this says nothing of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcomes {
    /// Every row has one: `value_z` is a required column.
    Stated,
    /// Some row of the fold has none: `value_z` is an optional column, and null there.
    SomeAbsent,
}

/// The leaf columns of shards with this policy source.
pub fn columns(source: PolicySource) -> impl Iterator<Item = &'static str> {
    COLUMNS.into_iter().filter(move |&name| name != "value_z" || source == PolicySource::Visits)
}

/// The schema of shards with this policy source.
pub fn schema(source: PolicySource, outcomes: Outcomes) -> Result<TypePtr> {
    let leaf = |name: &str, physical: Physical, repetition: Repetition, logical: Option<LogicalType>| {
        Type::primitive_type_builder(name, physical)
            .with_repetition(repetition)
            .with_logical_type(logical)
            .build()
            .map(Arc::new)
    };
    let int = |bit_width, is_signed| Some(LogicalType::integer(bit_width, is_signed));
    let group = |name: &str, repetition, logical: Option<LogicalType>, fields| {
        Type::group_type_builder(name)
            .with_repetition(repetition)
            .with_logical_type(logical)
            .with_fields(fields)
            .build()
            .map(Arc::new)
    };
    const OPTIONAL: Repetition = Repetition::OPTIONAL;
    const REPEATED: Repetition = Repetition::REPEATED;
    const REQUIRED: Repetition = Repetition::REQUIRED;
    let packed = Type::primitive_type_builder("packed", Physical::FIXED_LEN_BYTE_ARRAY)
        .with_repetition(REQUIRED)
        .with_length(i32::try_from(PACKED_LEN).unwrap_or(i32::MAX))
        .build()
        .map(Arc::new)?;
    let element = group(
        "element",
        REQUIRED,
        None,
        vec![
            leaf("mv", Physical::INT32, REQUIRED, int(16, false))?,
            leaf("prob", Physical::FLOAT, REQUIRED, None)?,
            leaf("cp", Physical::INT32, OPTIONAL, int(16, true))?,
        ],
    )?;
    let list = group("list", REPEATED, None, vec![element])?;
    let candidates = group("candidates", REQUIRED, Some(LogicalType::List), vec![list])?;
    let mut fields = vec![packed, leaf("ply", Physical::INT32, REQUIRED, int(16, false))?];
    if source == PolicySource::Visits {
        let repetition = match outcomes {
            Outcomes::Stated => REQUIRED,
            Outcomes::SomeAbsent => OPTIONAL,
        };
        fields.push(leaf("value_z", Physical::FLOAT, repetition, None)?);
    }
    fields.push(leaf("value_q", Physical::FLOAT, REQUIRED, None)?);
    fields.push(leaf("weight", Physical::INT32, REQUIRED, int(32, false))?);
    fields.push(candidates);
    Type::group_type_builder("manaka").with_fields(fields).build().map(Arc::new)
}

/// No statistics and no page index: rows are shuffled, so every group spans every value. How columns are encoded is not
/// said here: row groups come to the writer encoded.
pub fn properties(created_by: String, footer: Vec<KeyValue>) -> WriterProperties {
    WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_1_0)
        .set_created_by(created_by)
        .set_key_value_metadata(Some(footer))
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .build()
}
