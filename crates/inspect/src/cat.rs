//! Records and rows as lines of JSON or tab-separated text: all of them, the first, a sample, those that meet conditions.

mod line;
mod sample;

use crate::error::{Error, Result};
use crate::sniff::one_kind;
use crate::source::{Found, Line, Source, layout_of};
use line::Printer;
use manaka_core::progress::Progress;
use manaka_core::select::{Matcher, Select};
use manaka_corpus::PsvOptions;
use sample::Sample;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How lines are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LineFormat {
    /// One JSON object a line, which has no key for what the data does not state.
    #[default]
    Jsonl,
    /// Tab-separated, always the same columns, with a header line; what the data does not state is empty.
    Tsv,
}

/// Which of the records and rows that meet the conditions are printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// All but the first `skip`, at most `head` of them.
    Run {
        /// Passed over.
        skip: u64,
        /// Printed.
        head: u64,
    },
    /// `count` of them, each as likely as any other, in their order; all of them when there are fewer.
    Sample {
        /// How many.
        count: usize,
        /// The same seed and the same data give the same lines.
        seed: u64,
    },
}

impl Extent {
    /// Everything.
    pub const ALL: Self = Self::Run { skip: 0, head: u64::MAX };
}

/// What to print, and how.
#[derive(Clone, Debug)]
pub struct CatOptions {
    /// The conditions.
    pub select: Select,
    /// Which of those that meet them.
    pub extent: Extent,
    /// How.
    pub format: LineFormat,
    /// Whether each line names its file.
    pub paths: bool,
    /// Whether each line is handed over by itself, for somebody who waits for it, instead of many at once.
    pub unbuffered: bool,
    /// What raw PSV does not say about itself, as far as it is known.
    pub psv: PsvOptions,
}

impl Default for CatOptions {
    fn default() -> Self {
        Self {
            select: Select::default(),
            extent: Extent::ALL,
            format: LineFormat::default(),
            paths: false,
            unbuffered: false,
            psv: PsvOptions::default(),
        }
    }
}

/// What was printed, and what could not be.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CatSummary {
    /// Lines, without the header.
    pub lines: u64,
    /// Rows of corpora and raw records that cannot be read, by the names of corpus.md §4 and psv.md §7.
    pub refused: BTreeMap<&'static str, u64>,
    /// The first of them: its file and its number there.
    pub first_refused: Option<(PathBuf, u64)>,
}

/// Bytes of lines that are handed over at once.
const BLOCK: usize = 64 << 10;
/// Nobody waits longer for a line.
const WAIT: Duration = Duration::from_millis(200);
/// Records and rows between two looks at the clock and the signals.
const STRETCH: u32 = 1 << 12;

/// Prints records or rows of streams, shards, corpora or raw PSV to `out`, one a line, in the order of the files. They are
/// one set: of one kind, and of conventions that agree. Memory does not grow with the data, but with what a sample asks
/// for.
///
/// # Errors
/// [`Error::Mixed`] for files that are no set; [`Error::Select`] for conditions that these cannot answer; the first fault
/// of a file. What stands before that was printed, except by a sample: one of half a file is none of the file.
/// [`Error::Output`] when `out` fails. [`Error::Interrupted`] when `progress` asks for it.
pub fn cat(
    inputs: &[PathBuf],
    options: &CatOptions,
    out: &mut dyn Write,
    progress: &dyn Progress,
) -> Result<CatSummary> {
    let (kind, _) = one_kind(inputs)?;
    let layout = layout_of(inputs, kind, &options.psv)?;
    let mut sources: Vec<(Source, Matcher)> = Vec::new();
    for path in inputs {
        let source = Source::open(path, kind, layout)?;
        let matcher =
            options.select.on(source.data()).map_err(|error| Error::Select { path: path.clone(), error })?;
        if let Some((first, _)) = sources.first()
            && let (Some(one), Some(other)) = (first.conventions(), source.conventions())
            && let Some(conflict) = one.conflict(other)
        {
            let (first, second, what) = (inputs[0].clone(), path.clone(), conflict.to_string());
            return Err(Error::Mixed { first, second, what });
        }
        sources.push((source, matcher));
    }
    let mut run = Run {
        out,
        options,
        progress,
        printer: Printer::new(options.format),
        block: Vec::with_capacity(BLOCK + (4 << 10)),
        sample: match options.extent {
            Extent::Sample { count, seed } => Some(Sample::new(count, seed)),
            Extent::Run { .. } => None,
        },
        met: 0,
        looked: 0,
        handed: Instant::now(),
        summary: CatSummary::default(),
    };
    run.printer.header(options.paths, &mut run.block);
    let result = run.all(&sources);
    if result.is_ok() {
        run.print_sample()?;
    }
    // What stands before a fault is handed over first.
    run.hand_over()?;
    result.map(|()| run.summary)
}

struct Run<'a> {
    out: &'a mut dyn Write,
    options: &'a CatOptions,
    progress: &'a dyn Progress,
    printer: Printer,
    /// Lines that wait to be handed over.
    block: Vec<u8>,
    sample: Option<Sample>,
    /// Records and rows so far that met the conditions.
    met: u64,
    /// Since the clock was looked at.
    looked: u32,
    handed: Instant,
    summary: CatSummary,
}

impl Run<'_> {
    fn all(&mut self, sources: &[(Source, Matcher)]) -> Result<()> {
        if self.options.extent == (Extent::Run { skip: 0, head: 0 }) {
            return Ok(());
        }
        for (source, matcher) in sources {
            let mut more = true;
            self.printer.file(self.options.paths.then(|| source.path()));
            source.each(0, &mut |found| {
                more = match found {
                    Found::Line(line) => self.line(line, matcher)?,
                    Found::Refused { number, reason } => {
                        *self.summary.refused.entry(reason).or_insert(0) += 1;
                        self.summary.first_refused.get_or_insert_with(|| (source.path().to_owned(), number));
                        true
                    }
                    Found::Fault(error) => return Err(Error::stream(source.path(), error)),
                };
                self.pause()?;
                Ok(more)
            })?;
            if !more {
                break;
            }
        }
        Ok(())
    }

    /// Takes a record or row; whether there is use in another.
    #[inline]
    fn line(&mut self, line: &Line<'_>, matcher: &Matcher) -> Result<bool> {
        if !matcher.matches(&line.item) {
            return Ok(true);
        }
        let number = self.met;
        self.met += 1;
        match (&mut self.sample, self.options.extent) {
            (Some(sample), _) => {
                sample.offer(number, |room| self.printer.line(line, room));
                Ok(true)
            }
            (None, Extent::Run { skip, head }) => {
                if number < skip {
                    return Ok(true);
                }
                if number - skip >= head {
                    return Ok(false);
                }
                self.printer.line(line, &mut self.block);
                self.summary.lines += 1;
                if self.block.len() >= BLOCK || self.options.unbuffered {
                    self.hand_over()?;
                }
                Ok(number - skip + 1 < head)
            }
            (None, Extent::Sample { .. }) => Ok(false),
        }
    }

    /// Now and then: whether to stop, and whether lines have waited too long.
    #[inline]
    fn pause(&mut self) -> Result<()> {
        self.looked += 1;
        if self.looked < STRETCH {
            return Ok(());
        }
        self.looked = 0;
        if self.progress.cancelled() {
            return Err(Error::Interrupted);
        }
        if !self.block.is_empty() && self.handed.elapsed() >= WAIT {
            self.hand_over()?;
        }
        Ok(())
    }

    fn print_sample(&mut self) -> Result<()> {
        let Some(sample) = self.sample.take() else { return Ok(()) };
        for line in sample.in_order() {
            self.block.extend_from_slice(&line);
            self.summary.lines += 1;
            if self.block.len() >= BLOCK {
                self.hand_over()?;
            }
        }
        Ok(())
    }

    fn hand_over(&mut self) -> Result<()> {
        let result = self.out.write_all(&self.block).and_then(|()| self.out.flush());
        self.block.clear();
        self.handed = Instant::now();
        result.map_err(Error::Output)
    }
}
