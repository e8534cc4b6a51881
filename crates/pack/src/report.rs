//! A summary as JSON.

use crate::run::{RefusedRecord, Summary};
use crate::shard::ShardSummary;
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::collections::BTreeMap;

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
    refused_first: Vec<Refused<'a>>,
    footer: BTreeMap<&'static str, String>,
    column_bytes: BTreeMap<&'static str, u64>,
    shards: Vec<Shard<'a>>,
}

/// Names that are no UTF-8 lose the bytes that are none.
#[derive(Serialize)]
struct Refused<'a> {
    path: Cow<'a, str>,
    record: u64,
    offset: u64,
    reason: &'static str,
    detail: &'a str,
}

#[derive(Serialize)]
struct Shard<'a> {
    path: Cow<'a, str>,
    rows: u64,
    bytes: u64,
}

impl<'a> From<&'a RefusedRecord> for Refused<'a> {
    fn from(refused: &'a RefusedRecord) -> Self {
        let RefusedRecord { path, record, offset, reason, detail } = refused;
        Self { path: path.to_string_lossy(), record: *record, offset: *offset, reason, detail }
    }
}

impl<'a> From<&'a ShardSummary> for Shard<'a> {
    fn from(shard: &'a ShardSummary) -> Self {
        Self { path: shard.path.to_string_lossy(), rows: shard.rows, bytes: shard.bytes }
    }
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
            refused_first: self.refused_first.iter().map(Refused::from).collect(),
            footer: self.footer.pairs().into_iter().collect(),
            column_bytes: self.column_bytes().into_iter().collect(),
            shards: self.shards.iter().map(Shard::from).collect(),
        }
        .serialize(serializer)
    }
}
