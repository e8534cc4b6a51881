//! Records as Arrow arrays, through the C interface and its PyCapsules: whoever speaks it needs no library of ours.
//!
//! `arrow-array` exports them, so that no pointer is handled here. The columns are those of a shard (shards.md §2)
//! where a stream has them; an absent half is null.

use crate::errors::Raise;
use crate::header::Header;
use crate::rows::{HEAD_LEN, LENGTHS, Rows, Source};
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    Array, ArrayRef, FixedSizeBinaryArray, Float32Array, Int16Array, ListArray, RecordBatch,
    RecordBatchReader, StructArray, UInt16Array, UInt32Array,
};
use arrow_buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, SchemaRef};
use manaka_core::conventions::{NO_CP, NO_OUTCOME, NO_VISITS};
use manaka_core::packed::PACKED_LEN;
use manaka_core::stream::{CANDIDATE_LEN, StreamSet};
use manaka_core::{Conventions, stream};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

const PACKED_WIDTH: i32 = 96;
const _: () = assert!(PACKED_WIDTH as usize == PACKED_LEN);

fn candidate_fields() -> Fields {
    Fields::from(vec![
        Field::new("mv", DataType::UInt16, false),
        Field::new("visits", DataType::UInt32, true),
        Field::new("cp", DataType::Int16, true),
    ])
}

fn candidate_field() -> Arc<Field> {
    Arc::new(Field::new("element", DataType::Struct(candidate_fields()), false))
}

/// The columns of a stream, its conventions as metadata under the keys of shards (there the slack is the one in force).
fn schema_of(conventions: Option<&Conventions>) -> Schema {
    let fields = vec![
        Field::new("packed", DataType::FixedSizeBinary(PACKED_WIDTH), false),
        Field::new("ply", DataType::UInt16, false),
        // Null where the outcome is absent.
        Field::new("value_z", DataType::Float32, true),
        Field::new("value_q", DataType::Float32, false),
        Field::new("candidates", DataType::List(candidate_field()), false),
    ];
    let metadata = conventions.map_or_else(HashMap::new, |c| {
        HashMap::from(
            [
                ("pov", c.pov.id().to_owned()),
                ("policy_source", c.policy_source.id().to_owned()),
                ("mate_scale", c.mate_scale.to_string()),
                ("mate_slack", c.effective_mate_slack().to_string()),
                ("eval_coef", c.eval_coef.to_string()),
                ("fv_scale", c.fv_scale.to_string()),
            ]
            .map(|(key, value)| (key.to_owned(), value)),
        )
    });
    Schema::new_with_metadata(fields, metadata)
}

/// The columns of some records.
fn columns(rows: &Rows) -> Result<Vec<ArrayRef>, ArrowError> {
    // stream.md §3.1
    let (heads, _) = rows.heads.as_chunks::<HEAD_LEN>();
    let float = |head: &[u8; HEAD_LEN], at: usize| {
        f32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]])
    };
    let packed = heads.iter().flat_map(|head| &head[HEAD_LEN - PACKED_LEN..]).copied();
    let packed = ScalarBuffer::from(packed.collect::<Vec<u8>>()).into_inner();
    Ok(vec![
        Arc::new(FixedSizeBinaryArray::try_new(PACKED_WIDTH, packed, None)?),
        Arc::new(UInt16Array::from_iter_values(
            heads.iter().map(|head| u16::from_le_bytes([head[0], head[1]])),
        )),
        Arc::new(Float32Array::from_iter(
            heads.iter().map(|head| Some(float(head, 2)).filter(|&value_z| value_z != NO_OUTCOME)),
        )),
        Arc::new(Float32Array::from_iter_values(heads.iter().map(|head| float(head, 6)))),
        Arc::new(candidates(rows)?),
    ])
}

fn candidates(rows: &Rows) -> Result<ListArray, ArrowError> {
    // stream.md §3.2
    let (all, _) = rows.candidates.as_chunks::<CANDIDATE_LEN>();
    let mv = UInt16Array::from_iter_values(all.iter().map(|c| u16::from_le_bytes([c[0], c[1]])));
    let visits: Vec<u32> = all.iter().map(|c| u32::from_le_bytes([c[2], c[3], c[4], c[5]])).collect();
    let cp: Vec<i16> = all.iter().map(|c| i16::from_le_bytes([c[6], c[7]])).collect();
    let visited = NullBuffer::from_iter(visits.iter().map(|&visits| visits != NO_VISITS));
    let scored = NullBuffer::from_iter(cp.iter().map(|&cp| cp != NO_CP));
    let fields: Vec<ArrayRef> = vec![
        Arc::new(mv),
        Arc::new(UInt32Array::new(visits.into(), Some(visited))),
        Arc::new(Int16Array::new(cp.into(), Some(scored))),
    ];
    let values = StructArray::try_new(candidate_fields(), fields, None)?;
    let offsets = rows
        .offsets
        .iter()
        .map(|&at| i32::try_from(at).map_err(|_| ArrowError::OffsetOverflowError(values.len())))
        .collect::<Result<Vec<i32>, _>>()?;
    ListArray::try_new(candidate_field(), OffsetBuffer::new(offsets.into()), Arc::new(values), None)
}

/// The record batches of a stream set.
struct Batches {
    source: Source,
    rows: usize,
    schema: SchemaRef,
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.source.read(self.rows) {
            Ok(rows) if rows.is_empty() => None,
            Ok(rows) => {
                Some(columns(&rows).and_then(|columns| RecordBatch::try_new(self.schema.clone(), columns)))
            }
            Err(error) => Some(Err(ArrowError::ExternalError(Box::new(error)))),
        }
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

/// One pass over stream files as the capsule of an `ArrowArrayStream`, `rows` records a batch.
#[pyfunction]
pub fn stream_capsule(py: Python<'_>, files: Vec<PathBuf>, rows: usize) -> PyResult<Bound<'_, PyCapsule>> {
    let set = py.detach(|| -> stream::Result<_> { StreamSet::open(files) }).map_err(Raise::raise)?;
    let schema = Arc::new(schema_of(Some(set.conventions())));
    let batches = Batches { source: Source::new(set), rows, schema };
    let stream = FFI_ArrowArrayStream::new(Box::new(batches));
    PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
}

/// The columns of streams as the capsule of an `ArrowSchema`; with a header its conventions are metadata.
#[pyfunction]
#[pyo3(signature = (header=None))]
pub fn schema_capsule<'py>(py: Python<'py>, header: Option<&Header>) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(&schema_of(header.map(Header::conventions))).map_err(failed)?;
    PyCapsule::new_with_value(py, schema, c"arrow_schema")
}

/// Records (bytes of their fixed parts and of all their candidates) as the capsule of an `ArrowArray`.
#[pyfunction]
pub fn array_capsule<'py>(
    py: Python<'py>,
    heads: &[u8],
    candidates: &[u8],
) -> PyResult<Bound<'py, PyCapsule>> {
    let batch = py.detach(|| {
        let rows = Rows::new(heads.to_vec(), candidates.to_vec());
        let columns = columns(&rows.ok_or_else(|| ArrowError::InvalidArgumentError(LENGTHS.to_owned()))?)?;
        RecordBatch::try_new(Arc::new(schema_of(None)), columns)
    });
    let array = FFI_ArrowArray::new(&StructArray::from(batch.map_err(failed)?).to_data());
    PyCapsule::new_with_value(py, array, c"arrow_array")
}

fn failed(error: ArrowError) -> PyErr {
    crate::errors::usage("arrow", error.to_string())
}
