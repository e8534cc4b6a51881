//! A report as JSON. Names that are no UTF-8 lose the bytes that are none.

use super::report::{Refused, Report, TornTail};
use crate::write::FileSummary;
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct Json<'a> {
    records: u64,
    rows: u64,
    games: u64,
    unlisted: u64,
    refused: BTreeMap<&'static str, u64>,
    refused_first: Vec<RefusedJson<'a>>,
    truncated: Vec<Truncated<'a>>,
    move16: String,
    candidates: u16,
    record_len: usize,
    mates_folded: u64,
    scores_clamped: u64,
    files: Vec<FileJson<'a>>,
}

#[derive(Serialize)]
struct RefusedJson<'a> {
    path: Cow<'a, str>,
    record: u64,
    offset: u64,
    reason: &'static str,
    detail: &'a str,
}

#[derive(Serialize)]
struct Truncated<'a> {
    path: Cow<'a, str>,
    record: u64,
    offset: u64,
    bytes: u64,
}

#[derive(Serialize)]
struct FileJson<'a> {
    path: Cow<'a, str>,
    rows: u64,
    bytes: u64,
}

impl<'a> From<&'a Refused> for RefusedJson<'a> {
    fn from(refused: &'a Refused) -> Self {
        let Refused { path, record, offset, reason, detail } = refused;
        Self { path: path.to_string_lossy(), record: *record, offset: *offset, reason: reason.id(), detail }
    }
}

impl<'a> From<&'a TornTail> for Truncated<'a> {
    fn from(torn: &'a TornTail) -> Self {
        let TornTail { path, record, offset, bytes } = torn;
        Self { path: path.to_string_lossy(), record: *record, offset: *offset, bytes: *bytes }
    }
}

impl<'a> From<&'a FileSummary> for FileJson<'a> {
    fn from(file: &'a FileSummary) -> Self {
        Self { path: file.path.to_string_lossy(), rows: file.rows, bytes: file.bytes }
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
            refused_first: self.refused_first.iter().map(RefusedJson::from).collect(),
            truncated: self.torn.iter().map(Truncated::from).collect(),
            move16: self.layout.moves.to_string(),
            candidates: self.layout.candidates,
            record_len: self.layout.record_len(),
            mates_folded: self.mates_folded,
            scores_clamped: self.scores_clamped,
            files: self.files.iter().map(FileJson::from).collect(),
        }
        .serialize(serializer)
    }
}
