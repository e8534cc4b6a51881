//! Writing a stream from Python; every rule is the Rust writer's.

use crate::errors::{Raise, usage};
use crate::header::Header;
use crate::rows::{HEAD_LEN, LENGTHS, n_cand};
use manaka_core::conventions::NO_OUTCOME;
use manaka_core::packed::PACKED_LEN;
use manaka_core::stream::{
    CANDIDATE_LEN, Candidate, Compression, FileSink, Record, RecordRef, StreamSummary, StreamWriter,
};
use manaka_core::{Move16, Packed};
use pyo3::prelude::*;
use std::path::PathBuf;

/// Writes one stream file.
#[pyclass(module = "manaka._manaka")]
pub struct Writer {
    writer: Option<StreamWriter<FileSink>>,
    summary: StreamSummary,
    /// Records that were there when appending began, and bytes that were cut off behind them.
    found: (u64, u64),
    process: u32,
}

impl Writer {
    fn open(&mut self) -> PyResult<&mut StreamWriter<FileSink>> {
        if self.process != std::process::id() {
            return Err(usage("forked", "this writer was opened in another process"));
        }
        self.writer.as_mut().ok_or_else(|| usage("closed", "this writer is closed"))
    }

    /// Notes what was written, whether or not the last of it was.
    fn note(&mut self) {
        if let Some(writer) = &self.writer {
            self.summary = writer.summary();
        }
    }
}

#[pymethods]
impl Writer {
    /// `level` is the zstd level of a new file, None for raw; a file that is appended to is raw.
    #[new]
    fn new(
        path: PathBuf,
        header: &Header,
        append: bool,
        level: Option<i32>,
        absent_outcomes: bool,
    ) -> PyResult<Self> {
        let conventions = *header.conventions();
        let (mut writer, found) = if append {
            let (writer, found) = StreamWriter::append(&path, conventions).map_err(Raise::raise)?;
            (writer, (found.records, found.cut))
        } else {
            let compression = level.map_or(Compression::None, |level| Compression::Zstd { level });
            (StreamWriter::create(&path, conventions, compression).map_err(Raise::raise)?, (0, 0))
        };
        if absent_outcomes {
            writer.allow_absent_outcomes();
        }
        let summary = writer.summary();
        Ok(Self { writer: Some(writer), summary, found, process: std::process::id() })
    }

    /// Records there when appending began, and bytes of a torn record that were cut off behind them.
    #[getter]
    const fn found(&self) -> (u64, u64) {
        self.found
    }

    /// Records written.
    #[getter]
    const fn records(&self) -> u64 {
        self.summary.records
    }

    /// Whether it was finished or aborted.
    #[getter]
    const fn closed(&self) -> bool {
        self.writer.is_none()
    }

    /// Appends a record; `candidates` are their bytes, and no `value_z` is an absent outcome.
    fn write(
        &mut self,
        ply: u16,
        value_z: Option<f32>,
        value_q: f32,
        packed: [u8; PACKED_LEN],
        candidates: &[u8],
    ) -> PyResult<()> {
        let (candidates, _) = candidates.as_chunks::<CANDIDATE_LEN>();
        // stream.md §3.2
        let candidates = candidates.iter().map(|c| Candidate {
            mv: Move16::from_bits(u16::from_le_bytes([c[0], c[1]])),
            visits: u32::from_le_bytes([c[2], c[3], c[4], c[5]]),
            cp: i16::from_le_bytes([c[6], c[7]]),
        });
        let packed = Packed::from_bytes(packed);
        let value_z = value_z.unwrap_or(NO_OUTCOME);
        let record = Record { ply, value_z, value_q, packed, candidates: candidates.collect() };
        let result = self.open()?.write(&record).map_err(Raise::raise);
        self.note();
        result
    }

    /// Appends records from the bytes of their fixed parts and those of all their candidates.
    fn write_rows(&mut self, py: Python<'_>, heads: &[u8], candidates: &[u8]) -> PyResult<()> {
        let writer = self.open()?;
        let result = py.detach(|| write_rows(writer, heads, candidates));
        self.note();
        match result {
            Ok(true) => Ok(()),
            Ok(false) => Err(usage("lengths", LENGTHS)),
            Err(error) => Err(error.raise()),
        }
    }

    /// Brings what was appended to disk.
    fn sync(&mut self, py: Python<'_>) -> PyResult<()> {
        let writer = self.open()?;
        py.detach(|| writer.sync()).map_err(Raise::raise)
    }

    /// Ends the file; returns records, bytes before compression and bytes on disk.
    fn finish(&mut self, py: Python<'_>) -> PyResult<(u64, u64, u64)> {
        self.open()?;
        let Some(writer) = self.writer.take() else { return Err(usage("closed", "this writer is closed")) };
        let (summary, bytes) = py.detach(|| writer.finish()).map_err(Raise::raise)?;
        Ok((summary.records, summary.bytes, bytes))
    }

    /// Drops what was not finished: a new file does not appear.
    fn abort(&mut self) -> PyResult<()> {
        self.open()?;
        self.writer = None;
        Ok(())
    }
}

/// A fork must not remove the unfinished file of the process it came from.
impl Drop for Writer {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            std::mem::forget(self.writer.take());
        }
    }
}

/// Writes record by record; false when candidates and counts do not match, before anything is written.
fn write_rows(
    writer: &mut StreamWriter<FileSink>,
    heads: &[u8],
    mut candidates: &[u8],
) -> manaka_core::stream::Result<bool> {
    let (heads, rest) = heads.as_chunks::<HEAD_LEN>();
    let len = |head| CANDIDATE_LEN * n_cand(head);
    if !rest.is_empty() || heads.iter().map(len).sum::<usize>() != candidates.len() {
        return Ok(false);
    }
    let mut bytes = Vec::new();
    for head in heads {
        let (own, others) = candidates.split_at(len(head));
        candidates = others;
        bytes.clear();
        bytes.extend_from_slice(head);
        bytes.extend_from_slice(own);
        // The bytes are exactly those the head counts.
        if let Ok(record) = RecordRef::frame(&bytes) {
            writer.write_ref(record)?;
        }
    }
    Ok(true)
}
