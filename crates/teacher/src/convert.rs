//! The conversion: batches are judged by many threads and written by one, in input order.

use crate::error::{Error, Result};
use crate::judge::{Judge, ValueTable};
use crate::options::{OffSearch, Options};
use crate::rejects::{self, Rejects};
use crate::report::{Counts, Report};
use crate::source::{Groups, Place, Source};
use crossbeam_channel::{Receiver, Sender, bounded};
use manaka_core::progress::Progress;
use manaka_core::stream::{PartsWriter, RecordRef};
use manaka_corpus::{CorpusFile, Rows};
use std::any::Any;
use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Converts the rows of `inputs`, in their order, into parts in `out_dir`, which is created where it is not there.
/// Rows are refused by corpus.md §4; without a single row the run writes one part that holds only its header.
///
/// All inputs are opened before anything is written. After an error the parts that were whole by then stay, and no
/// unfinished file has its name.
///
/// # Errors
/// [`Error`]; usage errors come first. [`Error::Cancelled`] when `progress` asks for it.
pub fn convert(
    inputs: &[PathBuf],
    out_dir: &Path,
    options: &Options,
    progress: &dyn Progress,
) -> Result<Report> {
    options.check()?;
    let files = inputs.iter().map(|path| CorpusFile::open(path)).collect::<Result<Vec<_>, _>>()?;
    fs::create_dir_all(out_dir).map_err(|error| Error::OutDir { path: out_dir.to_owned(), error })?;
    let rejects = options.rejects.as_deref().map(Rejects::create).transpose().map_err(Error::Rejects)?;
    let mut parts = PartsWriter::create(out_dir, options.parts)?;
    if options.off_search == OffSearch::Keep {
        parts.allow_absent_outcomes();
    }
    progress.phase("teacher", Some(files.iter().map(CorpusFile::rows).sum()), "rows");
    Run { files: &files, options, progress }.run(parts, rejects)
}

struct Run<'a> {
    files: &'a [CorpusFile],
    options: &'a Options,
    progress: &'a dyn Progress,
}

/// A batch on its way from a worker to the writer; reused.
#[derive(Default)]
struct Output {
    rows: u64,
    written: u64,
    off_search: u64,
    rejected: Counts,
    mates: u64,
    beyond_mate_scale: u64,
    /// The records, one behind the other.
    records: Vec<u8>,
    /// The lines for the rejects file; empty when there is none.
    rejects: String,
}

enum Message {
    Batch(u64, Result<Output>),
    /// A worker panicked and its batch is lost.
    Lost(String),
}

impl Run<'_> {
    fn run(&self, parts: PartsWriter, rejects: Option<Rejects>) -> Result<Report> {
        let threads = self.options.threads.get();
        // As many batches as are ever under way: what a slow one holds up waits for a free output, so memory is bounded
        // and the queue to the writer never full.
        let outputs = 2 * threads + 2;
        let (free_in, free) = bounded(outputs);
        let (done_in, done) = bounded(outputs + threads);
        for _ in 0..outputs {
            // The channel has room for all of them.
            let _ = free_in.send(Output::default());
        }
        let (groups, source) = Groups::new(self.files);
        let source = Mutex::new(source);
        let values = ValueTable::new(&self.options.parts.conventions);
        let names: Vec<_> = self.files.iter().map(|file| rejects::file_cell(file.path())).collect();
        let (groups, source) = (&groups, &source);
        let worker = Worker { run: self, groups, source, values: &values, names: &names };
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(move || groups.decode());
                let (free, done) = (free.clone(), done_in.clone());
                scope.spawn(move || {
                    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| worker.work(&free, &done))) {
                        let _ = done.send(Message::Lost(panic_text(&*panic)));
                    }
                });
            }
            drop((free, done_in));
            // The writer owns its ends: when it returns early, they close and the workers stop.
            let report = self.write(done, free_in, parts, rejects);
            // Decoders wait for somebody to take their batches; after an early return nobody does.
            source.lock().unwrap_or_else(PoisonError::into_inner).close();
            report
        })
    }

    /// Writes batches in input order until the workers are done.
    #[expect(clippy::needless_pass_by_value, reason = "the channels close when this returns")]
    fn write(
        &self,
        done: Receiver<Message>,
        free: Sender<Output>,
        mut parts: PartsWriter,
        mut rejects: Option<Rejects>,
    ) -> Result<Report> {
        let mut report = Report::default();
        let mut waiting = BTreeMap::new();
        let mut next = 0;
        for message in &done {
            if self.progress.cancelled() {
                return Err(Error::Cancelled);
            }
            match message {
                Message::Batch(sequence, batch) => drop(waiting.insert(sequence, batch)),
                Message::Lost(text) => return Err(Error::Worker(text)),
            }
            while let Some(batch) = waiting.remove(&next) {
                let output = batch?;
                next += 1;
                write_records(&mut parts, &output.records)?;
                if let Some(rejects) = &mut rejects {
                    rejects.append(&output.rejects).map_err(Error::Rejects)?;
                }
                report.rows += output.rows;
                report.written += output.written;
                report.off_search += output.off_search;
                report.rejected.add(&output.rejected);
                report.mates += output.mates;
                report.beyond_mate_scale += output.beyond_mate_scale;
                self.progress.advance(output.rows);
                // At the end of the input there is nobody left to take it.
                let _ = free.send(output);
            }
        }
        report.parts = parts.finish()?;
        if let Some(rejects) = rejects {
            rejects.finish().map_err(Error::Rejects)?;
        }
        Ok(report)
    }
}

fn write_records(parts: &mut PartsWriter, mut records: &[u8]) -> Result<()> {
    while !records.is_empty() {
        let record = RecordRef::frame(records)
            .map_err(|need| Error::Worker(format!("a record of {need} bytes came as {}", records.len())))?;
        parts.write_ref(record)?;
        records = &records[record.bytes().len()..];
    }
    Ok(())
}

/// What the workers share.
#[derive(Clone, Copy)]
struct Worker<'a> {
    run: &'a Run<'a>,
    groups: &'a Groups<'a>,
    source: &'a Mutex<Source>,
    values: &'a ValueTable,
    names: &'a [String],
}

impl Worker<'_> {
    /// Judges batches until there are no more or the writer is gone.
    fn work(&self, free: &Receiver<Output>, done: &Sender<Message>) {
        let mut judge = Judge::new(self.run.options, self.values);
        for mut output in free {
            // A poisoned lock means a lost batch, which the writer hears of from the thread that lost it.
            let next = self.source.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((place, rows)) = next else { return };
            let batch = rows.and_then(|rows| {
                let judged = self.judge(&mut judge, &rows, place, &mut output);
                self.groups.reuse(rows);
                judged.map(|()| output)
            });
            if done.send(Message::Batch(place.sequence, batch)).is_err() {
                return;
            }
        }
    }

    fn judge(&self, judge: &mut Judge<'_>, rows: &Rows, place: Place, out: &mut Output) -> Result<()> {
        let conventions = &self.run.options.parts.conventions;
        let mate = conventions.mate_threshold().unwrap_or(u16::MAX);
        let scale = match conventions.mate_scale {
            0 => u16::MAX,
            scale => scale,
        };
        let list = self.run.options.rejects.is_some();
        let Output { records, rejects, .. } = out;
        records.clear();
        rejects.clear();
        let mut sums = Output { rows: rows.len() as u64, ..Output::default() };
        for row in rows.iter() {
            match judge.judge(row) {
                Ok(written) => {
                    written.record.encode(records).map_err(|fault| {
                        // Not reached: the number of candidates was judged.
                        Error::Worker(format!("row {}: {fault}", row.number()))
                    })?;
                    sums.written += 1;
                    sums.off_search += u64::from(written.off_search);
                    sums.mates += u64::from(written.peak >= mate);
                    sums.beyond_mate_scale += u64::from(written.peak > scale);
                }
                Err(refusal) => {
                    sums.rejected.count(refusal.reason());
                    if list {
                        rejects::line(rejects, &self.names[place.file], row.number(), &refusal);
                    }
                }
            }
        }
        *out = Output { records: std::mem::take(records), rejects: std::mem::take(rejects), ..sums };
        Ok(())
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message").to_owned()
}
