//! The conversion: one thread reads, many judge and encode, one writes, in order.

use super::PsvOptions;
use super::error::FromPsvError;
use super::judge::{Counts, Judge};
use super::plan::{Block, Cut, Input, Sequence, part};
use super::report::{Reason, Refused, Report};
use super::sample::{self, Found};
use crate::psv::Layout;
use crate::write::{CorpusWriter, EncodedGroup, FileSummary, GroupEncoder, RowGroup, WriteError};
use crossbeam_channel::{Receiver, Sender, bounded};
use manaka_core::progress::Progress;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::thread;

/// Turns raw PSV into corpus parquet: `part-00000.parquet` and so on in `out`, which is created when it is not there.
///
/// The inputs are one sequence of records, in the order in which they are named. A file appears when it is whole; those
/// finished before an error stay.
///
/// # Errors
/// [`FromPsvError`]. A record that is refused is no error, nor is a file that ends inside one: see
/// [`Report::has_findings`].
pub fn from_psv(
    inputs: &[PathBuf],
    out: &Path,
    options: &PsvOptions,
    progress: &dyn Progress,
) -> Result<Report, FromPsvError> {
    let Found { layout, tally, inputs } = sample::look(inputs, options)?;
    let cut = Cut {
        records: inputs.iter().map(|input| input.records).sum(),
        per_file: options.rows_per_file.get(),
        per_group: PsvOptions::ROWS_PER_GROUP,
    };
    if cut.files() > 100_000 {
        return Err(FromPsvError::TooManyFiles { files: cut.files() });
    }
    std::fs::create_dir_all(out).map_err(|error| FromPsvError::Io { path: out.to_owned(), error })?;
    progress.phase("convert", Some(cut.records), "records");

    let record_len = layout.record_len() as u64;
    let report = Report {
        layout,
        tally,
        records: cut.records,
        rows: 0,
        games: 0,
        unlisted: 0,
        refused: BTreeMap::new(),
        refused_first: Vec::new(),
        torn: inputs.iter().filter_map(|input| input.torn_tail(record_len)).collect(),
        mates_folded: 0,
        scores_clamped: 0,
        files: Vec::new(),
    };
    let collector = Collector { report, last_ply: None, files: Files::create(out)? };
    let encoders = (0..options.threads.get())
        .map(|_| GroupEncoder::new(GroupEncoder::DEFAULT_ZSTD_LEVEL))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| WriteError::of(out, error))?;
    run(&inputs, cut, options, encoders, collector, progress)
}

/// A row group on its way to the threads.
struct Job {
    number: u64,
    begins_file: bool,
    block: Block,
}

/// A row group on its way to its file.
struct Done {
    begins_file: bool,
    records: u64,
    /// Memory that held its records.
    bytes: Vec<u8>,
    result: Result<Judged, FromPsvError>,
}

/// Row groups that may be between reading and writing, for each thread.
const AHEAD: usize = 3;

fn run(
    inputs: &[Input],
    cut: Cut,
    options: &PsvOptions,
    encoders: Vec<GroupEncoder>,
    mut collector: Collector,
    progress: &dyn Progress,
) -> Result<Report, FromPsvError> {
    let layout = collector.report.layout;
    let threads = options.threads.get();
    // Reading takes memory for records and writing gives it back, so nobody runs far ahead whoever is slow.
    let (permits, permit) = bounded(AHEAD * threads);
    for _ in 0..AHEAD * threads {
        let _ = permits.send(Vec::new());
    }
    let (jobs, job) = bounded::<Job>(AHEAD * threads);
    let (results, result) = bounded::<(u64, Done)>(AHEAD * threads);
    // All ends of all channels are moved in: each that is dropped ends the threads behind it.
    thread::scope(move |scope| {
        let reading = results.clone();
        scope.spawn(move || read(inputs, cut, layout, &permit, &jobs, &reading));
        for encoder in encoders {
            let (job, results) = (job.clone(), results.clone());
            let worker = Worker {
                inputs,
                encoder,
                layout,
                judge: Judge::new(layout, options.mates),
                rows: RowGroup::default(),
            };
            scope.spawn(move || worker.run(&job, &results));
        }
        drop((job, results));

        let (mut next, mut at) = (0, 0);
        let mut waiting = BTreeMap::new();
        for (number, done) in result {
            waiting.insert(number, done);
            while let Some(done) = waiting.remove(&next) {
                if progress.cancelled() {
                    return Err(FromPsvError::Cancelled);
                }
                next += 1;
                at += done.records;
                collector.take(done.result?, done.begins_file)?;
                progress.advance(done.records);
                let _ = permits.send(done.bytes);
            }
        }
        if at == cut.records { collector.finish() } else { Err(FromPsvError::Worker) }
    })
}

/// Reads the inputs in order.
fn read(
    inputs: &[Input],
    cut: Cut,
    layout: Layout,
    permit: &Receiver<Vec<u8>>,
    jobs: &Sender<Job>,
    results: &Sender<(u64, Done)>,
) {
    let mut sequence = Sequence::new(inputs, layout.record_len() as u64);
    let (mut number, mut at) = (0, 0);
    while let Some((range, begins_file)) = cut.group(at) {
        let Ok(bytes) = permit.recv() else { return };
        let records = range.end - range.start;
        let sent = match sequence.next_block(records, bytes) {
            Ok(block) => jobs.send(Job { number, begins_file, block }).is_ok(),
            Err(error) => {
                // In its turn, behind everything that was read before.
                let (bytes, result) = (Vec::new(), Err(error));
                let _ = results.send((number, Done { begins_file, records, bytes, result }));
                false
            }
        };
        if !sent {
            return;
        }
        (number, at) = (number + 1, range.end);
    }
}

/// What became of a block of records.
struct Judged {
    group: EncodedGroup,
    /// Games that begin behind the first row.
    games: u64,
    /// The plies of the first row and of the last.
    plies: Option<(u16, u16)>,
    counts: Counts,
    refused: BTreeMap<Reason, u64>,
    refused_first: Vec<Refused>,
}

/// One thread's tools.
struct Worker<'a> {
    inputs: &'a [Input],
    encoder: GroupEncoder,
    layout: Layout,
    judge: Judge,
    rows: RowGroup,
}

impl Worker<'_> {
    fn run(mut self, jobs: &Receiver<Job>, results: &Sender<(u64, Done)>) {
        for Job { number, begins_file, block } in jobs {
            let records = block.spans.iter().map(|span| span.records).sum();
            // A panic must not leave the others waiting for this block; nothing of it is used again.
            let result = catch_unwind(AssertUnwindSafe(|| self.judge(&block)));
            let result = result.unwrap_or(Err(FromPsvError::Worker));
            let done = Done { begins_file, records, bytes: block.bytes, result };
            if results.send((number, done)).is_err() {
                return;
            }
        }
    }

    fn judge(&mut self, block: &Block) -> Result<Judged, FromPsvError> {
        self.rows.clear();
        let record_len = self.layout.record_len();
        let (mut games, mut plies, mut counts) = (0, None, Counts::default());
        let (mut refused, mut refused_first) = (BTreeMap::new(), Vec::new());
        let mut records = block.bytes.chunks_exact(record_len);
        for span in &block.spans {
            for (record, bytes) in (span.record..span.record + span.records).zip(&mut records) {
                match self.judge.judge(bytes, &mut self.rows, &mut counts) {
                    Ok(ply) => {
                        let (first, last) = plies.unwrap_or((ply, ply));
                        games += u64::from(plies.is_some() && ply <= last);
                        plies = Some((first, ply));
                    }
                    Err(refusal) => {
                        *refused.entry(refusal.reason()).or_insert(0) += 1;
                        if refused_first.len() < Report::REFUSED_SHOWN {
                            refused_first.push(Refused {
                                path: self.inputs[span.input].path.clone(),
                                record,
                                offset: record * record_len as u64,
                                reason: refusal.reason(),
                                detail: refusal.to_string(),
                            });
                        }
                    }
                }
            }
        }
        let group = self.encoder.encode(&self.rows).map_err(|error| {
            let path = block.spans.first().map(|span| self.inputs[span.input].path.clone());
            WriteError::of(&path.unwrap_or_default(), error)
        })?;
        Ok(Judged { group, games, plies, counts, refused, refused_first })
    }
}

/// Takes row groups in order: writes them and adds up what is to be told.
struct Collector {
    report: Report,
    last_ply: Option<u16>,
    files: Files,
}

impl Collector {
    fn take(&mut self, judged: Judged, begins_file: bool) -> Result<(), FromPsvError> {
        let Judged { group, games, plies, counts, refused, refused_first } = judged;
        let report = &mut self.report;
        report.rows += group.rows();
        report.games += games;
        if let Some((first, last)) = plies {
            report.games += u64::from(self.last_ply.is_none_or(|before| first <= before));
            self.last_ply = Some(last);
        }
        report.unlisted += counts.unlisted;
        report.mates_folded += counts.mates_folded;
        report.scores_clamped += counts.scores_clamped;
        for (reason, count) in refused {
            *report.refused.entry(reason).or_insert(0) += count;
        }
        let room = Report::REFUSED_SHOWN - report.refused_first.len();
        report.refused_first.extend(refused_first.into_iter().take(room));
        self.files.append(group, begins_file)
    }

    fn finish(mut self) -> Result<Report, FromPsvError> {
        self.report.files = self.files.finish()?;
        Ok(self.report)
    }
}

/// The files being written.
struct Files {
    out: PathBuf,
    current: CorpusWriter,
    done: Vec<FileSummary>,
}

impl Files {
    /// Opens the first file at once: a directory that cannot be written is known early, and a run without rows leaves
    /// one file that says so.
    fn create(out: &Path) -> Result<Self, FromPsvError> {
        Ok(Self { out: out.to_owned(), current: CorpusWriter::create(&part(out, 0))?, done: Vec::new() })
    }

    /// A file begins where its records do, unless all of those before it were refused.
    fn append(&mut self, group: EncodedGroup, begins_file: bool) -> Result<(), FromPsvError> {
        if begins_file && self.current.rows() > 0 {
            let path = part(&self.out, self.done.len() as u64 + 1);
            let full = std::mem::replace(&mut self.current, CorpusWriter::create(&path)?);
            self.done.push(full.finish()?);
        }
        Ok(self.current.append(group)?)
    }

    fn finish(mut self) -> Result<Vec<FileSummary>, FromPsvError> {
        if self.current.rows() > 0 || self.done.is_empty() {
            self.done.push(self.current.finish()?);
        }
        Ok(self.done)
    }
}
