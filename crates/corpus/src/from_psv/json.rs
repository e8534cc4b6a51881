//! A report as JSON.

use super::report::{Reason, Refused, Report, TornTail};
use crate::write::FileSummary;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::path::Path;

#[derive(Serialize)]
struct Json<'a> {
    records: u64,
    rows: u64,
    games: u64,
    unlisted: u64,
    refused: BTreeMap<&'static str, u64>,
    refused_first: &'a [Refused],
    truncated: &'a [TornTail],
    move16: String,
    candidates: u16,
    record_len: usize,
    mates_folded: u64,
    scores_clamped: u64,
    files: &'a [FileSummary],
}

/// A path as JSON can hold it: names that are no UTF-8 lose the bytes that are none.
pub(crate) fn lossy<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Json {
            records: self.records,
            rows: self.rows,
            games: self.games,
            unlisted: self.unlisted,
            refused: self.refused.iter().map(|(reason, n)| (reason.id(), *n)).collect(),
            refused_first: &self.refused_first,
            truncated: &self.torn,
            move16: self.layout.moves.to_string(),
            candidates: self.layout.candidates,
            record_len: self.layout.record_len(),
            mates_folded: self.mates_folded,
            scores_clamped: self.scores_clamped,
            files: &self.files,
        }
        .serialize(serializer)
    }
}
