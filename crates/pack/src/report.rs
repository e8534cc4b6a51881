//! A summary as JSON.

use crate::run::{RefusedRecord, Summary};
use crate::shard::ShardSummary;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::path::Path;

#[derive(Serialize)]
struct Json<'a> {
    records: u64,
    rows: u64,
    folded_away: u64,
    largest_weight: u32,
    rows_without_outcome: u64,
    excluded_positions: u64,
    excluded_records: u64,
    in_memory: bool,
    seconds: BTreeMap<&'static str, f64>,
    peak_memory: Option<u64>,
    refused: &'a BTreeMap<&'static str, u64>,
    refused_first: &'a [RefusedRecord],
    footer: BTreeMap<&'static str, String>,
    column_bytes: BTreeMap<&'static str, u64>,
    shards: &'a [ShardSummary],
}

/// A path as JSON can hold it: names that are no UTF-8 lose the bytes that are none.
pub(crate) fn lossy<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

impl Serialize for Summary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Json {
            records: self.records,
            rows: self.rows,
            folded_away: self.folded_away(),
            largest_weight: self.largest_weight,
            rows_without_outcome: self.rows_without_outcome,
            excluded_positions: self.excluded_positions,
            excluded_records: self.excluded_records,
            in_memory: self.plan.in_memory,
            seconds: self.passes.iter().map(|(name, time)| (*name, time.as_secs_f64())).collect(),
            peak_memory: self.peak_memory,
            refused: &self.refused,
            refused_first: &self.refused_first,
            footer: self.footer.pairs().into_iter().collect(),
            column_bytes: self.column_bytes().into_iter().collect(),
            shards: &self.shards,
        }
        .serialize(serializer)
    }
}
