//! The check of streams: one thread at a time reads, any judges what was read.
//!
//! Decoding a record takes a fraction of judging it, so one reader feeds many judges; files are read in order, and one
//! large file keeps as many threads busy as many small ones.

use super::Input;
use super::collector::{Collector, InFile};
use super::position::Judge;
use crate::error::{Error, Result};
use crate::finding::{Id, Place};
use crate::threads::on_threads;
use manaka_core::Conventions;
use manaka_core::progress::Progress;
use manaka_core::stream::{self, Kind, RecordRef, StreamReader};
use std::fs::File;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// A batch is full at this many bytes: some thousand records of a MultiPV stream.
const BATCH: usize = 256 << 10;

/// Checks streams and returns how many records they hold.
pub fn run(
    inputs: &[Input<'_>],
    threads: NonZeroUsize,
    collector: &Collector,
    progress: &dyn Progress,
) -> Result<u64> {
    progress.phase("streams", None, "records");
    let source = Source { inputs, collector, next: 0, open: None, first: None, records: 0, failed: false };
    let source = Mutex::new(source);
    on_threads(threads, || {
        let mut judge = Judge::new();
        let mut batch = Batch::default();
        while !progress.cancelled()
            && source.lock().unwrap_or_else(PoisonError::into_inner).fill(&mut batch)?
        {
            let input = &inputs[batch.input];
            let out = collector.file(input.number, input.path);
            let mut rest = batch.bytes.as_slice();
            for &(number, offset) in &batch.places {
                let Ok(record) = RecordRef::frame(rest) else { break };
                rest = &rest[record.bytes().len()..];
                check_record(&record, &batch.conventions, &mut judge, &out, Place::Record(number, offset));
            }
            progress.advance(batch.places.len() as u64);
        }
        if progress.cancelled() { Err(Error::Interrupted) } else { Ok(()) }
    })?;
    Ok(source.into_inner().unwrap_or_else(PoisonError::into_inner).records)
}

/// What the reader leaves to be said about a record that keeps the rules of stream.md §6.
fn check_record(
    record: &RecordRef<'_>,
    conventions: &Conventions,
    judge: &mut Judge,
    out: &InFile<'_>,
    place: Place,
) {
    let scale = conventions.mate_scale;
    if scale != 0
        && conventions.policy_source == manaka_core::PolicySource::SoftmaxCp
        && let Some(above) = record.candidates().find(|c| c.cp.unsigned_abs() > scale)
    {
        out.add(place, Id::CpAboveMateScale, || above_scale(above.mv, above.cp, scale));
    }
    judge.position(&record.packed(), record.ply(), record.candidates().map(|c| c.mv), out, place);
}

/// The message of a score above the scale.
pub fn above_scale(mv: manaka_core::Move16, cp: i16, scale: u16) -> String {
    format!("{mv} has a cp of {cp}, and the mate scale is {scale}")
}

/// Records of one file, copied together.
struct Batch {
    input: usize,
    conventions: Conventions,
    bytes: Vec<u8>,
    /// Number and offset of each.
    places: Vec<(u64, u64)>,
}

impl Default for Batch {
    fn default() -> Self {
        Self { input: 0, conventions: Conventions::VISITS, bytes: Vec::new(), places: Vec::new() }
    }
}

/// The records of all files, in order.
struct Source<'a> {
    inputs: &'a [Input<'a>],
    collector: &'a Collector,
    next: usize,
    open: Option<Open<'a>>,
    /// The first stream with a header, which the others have to agree with.
    first: Option<(Conventions, &'a Path)>,
    records: u64,
    failed: bool,
}

struct Open<'a> {
    input: usize,
    reader: StreamReader<File>,
    out: InFile<'a>,
    path: &'a Path,
    clean: bool,
}

impl<'a> Source<'a> {
    /// Fills a batch; false when there are no more records.
    fn fill(&mut self, batch: &mut Batch) -> Result<bool> {
        let result = if self.failed { Ok(false) } else { self.read(batch) };
        self.failed |= result.is_err();
        result
    }

    fn read(&mut self, batch: &mut Batch) -> Result<bool> {
        batch.bytes.clear();
        batch.places.clear();
        loop {
            let open = match &mut self.open {
                Some(open) => open,
                None => match self.open_next()? {
                    Some(open) => self.open.insert(open),
                    None => return Ok(false),
                },
            };
            batch.input = open.input;
            batch.conventions = open.reader.header().conventions;
            let mut ended = false;
            while !ended && batch.bytes.len() < BATCH {
                ended = !open.read(batch)?;
            }
            if ended {
                self.records += open.reader.position();
                if open.reader.position() == 0 && open.clean {
                    open.out.add(Place::Head, Id::NoRecords, || "there is no record".to_owned());
                }
                self.open = None;
            }
            if !batch.places.is_empty() {
                return Ok(true);
            }
        }
    }

    /// Opens the next file that has a header; `None` when there is none.
    fn open_next(&mut self) -> Result<Option<Open<'a>>> {
        while let Some(input) = self.inputs.get(self.next) {
            self.next += 1;
            let out = self.collector.file(input.number, input.path);
            match StreamReader::open(input.path) {
                Ok(reader) => {
                    self.header(&reader, &out, input.path);
                    let input_number = self.next - 1;
                    return Ok(Some(Open {
                        input: input_number,
                        reader,
                        out,
                        path: input.path,
                        clean: true,
                    }));
                }
                Err(error) => fault(error, &out, input.path)?,
            }
        }
        Ok(None)
    }

    /// Judges what a header states.
    fn header(&mut self, reader: &StreamReader<File>, out: &InFile<'_>, path: &'a Path) {
        let header = reader.header();
        let conventions = &header.conventions;
        if header.version == 1 {
            out.add(Place::Head, Id::HeaderVersion, || match conventions.effective_mate_slack() {
                0 => "version 1; no mate scale is stated, so no slack is needed".to_owned(),
                slack => format!("version 1; the mate slack in force is {slack}"),
            });
        }
        unused_scale(conventions, out);
        match &self.first {
            None => self.first = Some((*conventions, path)),
            Some((first, first_path)) => {
                if let Some(conflict) = conventions.conflict(first) {
                    out.add(Place::Head, Id::Conflict, || {
                        let (key, here, there) = (conflict.key, conflict.first, conflict.second);
                        format!("{key} is {here} here and {there} in {}", first_path.display())
                    });
                }
            }
        }
    }
}

impl Open<'_> {
    /// Appends the next record to the batch, or reports what is wrong with it; false when there is no next one.
    fn read(&mut self, batch: &mut Batch) -> Result<bool> {
        let place = (self.reader.position(), self.reader.offset());
        match self.reader.next_ref() {
            Ok(Some(record)) => {
                batch.bytes.extend_from_slice(record.bytes());
                batch.places.push(place);
            }
            Ok(None) => return Ok(false),
            Err(error) => {
                self.clean = false;
                fault(error, &self.out, self.path)?;
            }
        }
        Ok(true)
    }
}

/// Reports what is wrong with a stream.
fn fault(error: stream::Error, out: &InFile<'_>, path: &Path) -> Result<()> {
    let place = match error.record {
        Some(record) => Place::Record(record, error.offset),
        None => Place::Head,
    };
    match error.kind {
        Kind::Io(error) => return Err(Error::Io { path: path.to_owned(), error }),
        Kind::Magic { found } => out.add(place, Id::Magic, || {
            format!("neither an MPK1 stream nor a Parquet file: it begins with {found:02x?}")
        }),
        kind => out.add(place, Id::of_stream(&kind), || kind.to_string()),
    }
    Ok(())
}

/// Reports a centipawn scale stated for visits.
pub fn unused_scale(conventions: &Conventions, out: &InFile<'_>) {
    if conventions.declares_unused_scale() {
        let Conventions { mate_scale, fv_scale, eval_coef, .. } = conventions;
        out.add(Place::Head, Id::UnusedScale, || {
            format!(
                "mate_scale {mate_scale}, fv_scale {fv_scale}, eval_coef {eval_coef} are stated for visits"
            )
        });
    }
}
