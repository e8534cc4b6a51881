//! The three passes: scatter records by key, fold and scatter rows by draw, order and write (shards.md §4 to §7).
//!
//! In memory or out of core, it is the same code: the plan says where buckets and spools lie. Every pass is cut into
//! units (a file, a bucket, a shard) that the journal notes as they are done.

mod fold_pass;
mod job;
mod merge;
mod read_pass;
mod unit;
mod write_pass;

use crate::error::{Error, Result};
use crate::journal::{self, PassEnd, Past, WorkDir};
use crate::memory;
use crate::plan::{Load, Plan};
use crate::policy::Policy;
use crate::shard::{Footer, ShardReader, ShardSummary};
use crate::spool::{Pool, Sending, Spools, Store};
use manaka_core::conventions::DEFAULT_SOFTMAX_TEMP_CP;
use manaka_core::out_dir;
use manaka_core::progress::Progress;
use manaka_core::stream::{self, StreamSet};
use serde::Serialize;
use std::collections::BTreeMap;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How to fold. Only `softmax_temp_cp` and `rows_per_shard` reach the bytes of the shards.
#[derive(Clone, PartialEq, Debug)]
pub struct PackOptions {
    /// Shards are called `<prefix>-00000.parquet` and so on.
    pub prefix: String,
    /// Rows in every shard but the last.
    pub rows_per_shard: NonZeroU64,
    /// Temperature of the softmax over cp; visits streams have none.
    pub softmax_temp_cp: f64,
    /// Shards whose positions are left out of the fold.
    pub exclude: Vec<PathBuf>,
    /// Threads that read, fold and encode.
    pub threads: NonZeroUsize,
    /// Bytes of memory the run may use; half of what is available when `None`.
    pub memory: Option<u64>,
    /// Where temporary files go; the output directory when `None`.
    pub temp_dir: Option<PathBuf>,
    /// Buckets of the first scatter; chosen by the plan when `None`.
    pub buckets: Option<u32>,
    /// Time between two checkpoints. A resumed run repeats what was done since the last; one that was killed before the first, what
    /// was not finished, or, after a power cut, all.
    pub checkpoint: Duration,
    /// Whether to go on with a run that was killed.
    pub resume: bool,
    /// Whether to start a run whose plan does not fit the disks.
    pub force: bool,
}

impl PackOptions {
    /// Rows in a shard unless told otherwise.
    pub const DEFAULT_ROWS_PER_SHARD: NonZeroU64 = match NonZeroU64::new(25_000_000) {
        Some(n) => n,
        None => NonZeroU64::MIN,
    };

    /// Time between two checkpoints unless told otherwise.
    pub const DEFAULT_CHECKPOINT: Duration = Duration::from_secs(30);

    /// The defaults, on this many threads.
    #[must_use]
    pub fn new(prefix: impl Into<String>, threads: NonZeroUsize) -> Self {
        Self {
            prefix: prefix.into(),
            rows_per_shard: Self::DEFAULT_ROWS_PER_SHARD,
            softmax_temp_cp: DEFAULT_SOFTMAX_TEMP_CP,
            exclude: Vec::new(),
            threads,
            memory: None,
            temp_dir: None,
            buckets: None,
            checkpoint: Self::DEFAULT_CHECKPOINT,
            resume: false,
            force: false,
        }
    }

    /// Refuses options that make no sense whatever the inputs are.
    ///
    /// # Errors
    /// [`Error::Option`].
    pub fn check(&self) -> Result<()> {
        if self.prefix.is_empty() || self.prefix.contains(['/', '\\']) {
            return Err(Error::Option("the prefix must be a file name"));
        }
        if !(self.softmax_temp_cp.is_finite() && self.softmax_temp_cp > 0.0) {
            return Err(Error::Option("the softmax temperature must be finite and positive"));
        }
        if self.buckets.is_some_and(|buckets| !(1..=4096).contains(&buckets)) {
            return Err(Error::Option("buckets must be between 1 and 4096"));
        }
        Ok(())
    }
}

/// A record that was not folded.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub struct RefusedRecord {
    /// Its file.
    #[serde(serialize_with = "crate::report::lossy")]
    pub path: PathBuf,
    /// Its number in the file, from 0.
    pub record: u64,
    /// Its byte offset in the decompressed file.
    pub offset: u64,
    /// Why, by its stable name.
    pub reason: &'static str,
    /// Why, as a sentence.
    pub detail: String,
}

/// What a fold did.
#[derive(Clone, PartialEq, Debug)]
pub struct Summary {
    /// What the shards state.
    pub footer: Footer,
    /// How the run was cut up.
    pub plan: Plan,
    /// Records read.
    pub records: u64,
    /// Records not folded, by reason.
    pub refused: BTreeMap<&'static str, u64>,
    /// The first of them, at most [`Summary::REFUSED_SHOWN`].
    pub refused_first: Vec<RefusedRecord>,
    /// Positions that were left out because they stand in an excluded shard.
    pub excluded_positions: u64,
    /// Records of those positions.
    pub excluded_records: u64,
    /// Rows written.
    pub rows: u64,
    /// Rows of visits without a mean outcome: none of their records has one.
    pub rows_without_outcome: u64,
    /// The most records that met in one row.
    pub largest_weight: u32,
    /// The shards, in order.
    pub shards: Vec<ShardSummary>,
    /// Wall time of each pass of this process.
    pub passes: Vec<(&'static str, Duration)>,
    /// The most memory this process has had resident, where the system says.
    pub peak_memory: Option<u64>,
}

impl Summary {
    /// How many refused records are listed one by one.
    pub const REFUSED_SHOWN: usize = 10;

    /// Records refused in all.
    #[must_use]
    pub fn refused_total(&self) -> u64 {
        self.refused.values().sum()
    }

    /// Records that were folded into a row another record had opened.
    #[must_use]
    pub fn folded_away(&self) -> u64 {
        self.records - self.refused_total() - self.excluded_records - self.rows
    }

    /// Compressed bytes of each leaf column over all shards, by its name.
    #[must_use]
    pub fn column_bytes(&self) -> Vec<(&'static str, u64)> {
        crate::shard::columns(self.footer.conventions.policy_source)
            .enumerate()
            .map(|(at, name)| (name, self.shards.iter().map(|shard| shard.column_bytes[at]).sum()))
            .collect()
    }
}

/// What a run of these inputs would take.
///
/// # Errors
/// As [`pack`], as far as the heads of the inputs show it.
pub fn plan(inputs: &[PathBuf], options: &PackOptions) -> Result<Plan> {
    StreamSet::open(inputs.to_vec())?;
    let memory = match options.memory {
        Some(bytes) => bytes,
        None => memory::available().map(|bytes| bytes / 2).ok_or(Error::Option(
            "the memory that is available cannot be told here: state it with --memory",
        ))?,
    };
    let mut excluded = 0;
    for path in &options.exclude {
        excluded += ShardReader::open(path)?.rows();
    }
    Plan::new(&Load::of(inputs, excluded, options.threads)?, memory, options.threads, options.buckets)
}

/// Folds streams into shards in `out`, which must exist. `inputs` are read in any order.
///
/// The shards depend on the multiset of records, the positions excluded, the softmax temperature and the rows per shard;
/// not on the order or cut of the inputs, the number of threads, the memory, or on whether the run was killed and resumed.
///
/// # Errors
/// [`Error::Stream`] when a stream is malformed or two may not be folded together, [`Error::Io`], [`Error::Parquet`],
/// [`Error::Weight`], [`Error::Option`], [`Error::DoesNotFit`], [`Error::Leftover`], [`Error::Interrupted`]. Shards
/// that were finished before stay, no unfinished one has a final name, and the temporary files stay for a resumed run.
pub fn pack(
    inputs: Vec<PathBuf>,
    out: &Path,
    options: &PackOptions,
    progress: &dyn Progress,
) -> Result<Summary> {
    options.check()?;
    let plan = plan(&inputs, options)?;
    let temp = work_path(out, options);
    if !options.force && !options.resume {
        fits(&plan, out, options)?;
    }
    pack_as(inputs, out, &temp, options, plan, progress)
}

/// Where the temporary files of a run lie.
#[must_use]
pub fn work_path(out: &Path, options: &PackOptions) -> PathBuf {
    let name = |prefix: &str| format!("{prefix}manaka-pack-{}", options.prefix);
    match &options.temp_dir {
        Some(dir) => dir.join(name("")),
        None => out.join(name(".")),
    }
}

/// Makes the output directory ready: created or empty, or else that of an unfinished run that is to be resumed.
///
/// # Errors
/// [`Error::Leftover`] when an unfinished run left its files and `options` do not say to go on; [`Error::OutDir`].
pub fn claim(out: &Path, options: &PackOptions) -> Result<()> {
    let temp = work_path(out, options);
    match (temp.exists(), options.resume) {
        (true, true) => Ok(()),
        (true, false) => {
            let again = out.display();
            let what = format!(
                "an unfinished run left this: go on with --resume, or remove it and {again} to start again"
            );
            Err(Error::Leftover { path: temp, what })
        }
        // All that a run leaves when it is killed before it has begun.
        (false, _) if journal::holds_only_a_lock(out) => Ok(()),
        (false, _) => Ok(out_dir::create_empty(out)?),
    }
}

/// Whether the disks have room.
fn fits(plan: &Plan, out: &Path, options: &PackOptions) -> Result<()> {
    let temp = options.temp_dir.as_deref().unwrap_or(out);
    let wants = [(temp, plan.temp_disk, "temporary files"), (out, plan.output_disk, "shards")];
    for (dir, bytes, what) in wants {
        if let Some(room) = memory::disk_room(dir)
            && bytes > room
        {
            return Err(Error::DoesNotFit(format!(
                "{}: about {bytes} bytes of {what} do not fit in the {room} bytes that are free (--force starts anyway)",
                dir.display()
            )));
        }
    }
    Ok(())
}

fn pack_as(
    inputs: Vec<PathBuf>,
    out: &Path,
    temp: &Path,
    options: &PackOptions,
    mut plan: Plan,
    progress: &dyn Progress,
) -> Result<Summary> {
    let set = StreamSet::open(inputs)?;
    let policy = Policy::new(*set.conventions(), options.softmax_temp_cp)?;
    let footer = Footer::of(&policy);
    let job = job::describe(&set, options, &footer)?;
    let (work, past) = WorkDir::open(temp, out, &job, options)?;
    job::adopt_plan(&mut plan, &past);
    if !plan.in_memory {
        work.speaks_of_files();
    }
    let pool = Pool::default();
    work.flush(job::plan_line(&plan), &Spools::new(0, Store::Memory, 0, &pool), None)?;

    let run = Run { policy: &policy, options, plan: &plan, work: &work, past: &past, progress, pool: &pool };
    match passes(&run, set.paths(), out, footer) {
        Ok(summary) => {
            work.remove()?;
            Ok(summary)
        }
        Err(error) => {
            let shards = shard_path(out, &options.prefix, 0).exists();
            if !is_resumable(&error) || plan.in_memory && !shards {
                // Nothing is left that a resumed run could use.
                work.remove()?;
            }
            Err(error)
        }
    }
}

/// The file of a shard.
pub(crate) fn shard_path(out: &Path, prefix: &str, number: usize) -> PathBuf {
    out.join(format!("{prefix}-{number:05}.parquet"))
}

/// Whether the same inputs may do better next time.
const fn is_resumable(error: &Error) -> bool {
    match error {
        // A disk that failed may be read another time; what a stream says stays as it is.
        Error::Stream(error) => matches!(error.kind, stream::Kind::Io(_)),
        Error::NotAShard { .. } | Error::Weight(_) | Error::Option(_) => false,
        _ => true,
    }
}

fn passes(run: &Run<'_>, streams: &[PathBuf], out: &Path, footer: Footer) -> Result<Summary> {
    let plan = run.plan;
    let sending = Sending::halfway(run.options.checkpoint);
    let store = |name: &'static str| match plan.in_memory {
        true => Store::Memory,
        false => Store::Files { dir: run.work.path().to_owned(), name, sending },
    };
    let mut passes = Vec::new();
    let mut began = Instant::now();
    let mut lap = |name| {
        passes.push((name, began.elapsed()));
        began = Instant::now();
    };

    let buckets = Spools::new(plan.buckets as usize, store("bucket"), plan.chunk, run.pool);
    let spools = Spools::new(plan.spools, store("rows"), plan.chunk, run.pool);
    let mut read = read_pass::run(run, streams, &buckets)?;
    lap("read");
    let mut fold = while_ending(run, read.end.take(), &buckets, None, || {
        fold_pass::run(run, &read.done, &buckets, &spools)
    })?;
    lap("fold");
    let shards = while_ending(run, fold.end.take(), &spools, Some(&buckets), || {
        write_pass::run(run, &spools, out, &footer, &fold)
    })?;
    lap("write");

    Ok(Summary {
        footer,
        records: read.records,
        refused: read.refused,
        refused_first: read.refused_first,
        excluded_positions: fold.excluded_positions,
        excluded_records: fold.excluded_records,
        rows: shards.iter().map(|shard| shard.rows).sum(),
        rows_without_outcome: fold.without_outcome(run.policy.conventions().policy_source),
        largest_weight: fold.largest_weight,
        shards,
        passes,
        peak_memory: memory::peak(),
        plan: plan.clone(),
    })
}

/// Runs the next pass while the end of the one before is written: its output is on its way to disk, which takes time.
fn while_ending<T>(
    run: &Run<'_>,
    end: Option<PassEnd>,
    output: &Spools<'_>,
    input: Option<&Spools<'_>>,
    next: impl FnOnce() -> Result<T>,
) -> Result<T> {
    std::thread::scope(|scope| {
        let ending = end.map(|end| scope.spawn(|| run.work.end_pass(end, output, input)));
        let done = next();
        let ended = ending.map_or(Ok(()), |ending| ending.join().unwrap_or(Err(Error::Worker)));
        done.and_then(|done| ended.map(|()| done))
    })
}

/// What every pass needs to know.
struct Run<'a> {
    policy: &'a Policy,
    options: &'a PackOptions,
    plan: &'a Plan,
    work: &'a WorkDir,
    past: &'a Past,
    progress: &'a dyn Progress,
    pool: &'a Pool,
}

impl Run<'_> {
    /// The lines of the earlier run that still hold: none of them when its buckets and spools were in memory.
    fn past_of<'p>(&'p self, verb: &'p str) -> impl Iterator<Item = Vec<&'p str>> {
        self.past.of(verb).filter(|_| !self.plan.in_memory)
    }

    /// The error of a run that was asked to stop.
    fn check_cancelled(&self) -> Result<()> {
        if self.progress.cancelled() { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// Runs `work` on several threads and returns what each gave, or the error of the first that failed.
pub(crate) fn on_threads<T: Send>(
    threads: NonZeroUsize,
    work: impl Fn() -> Result<T> + Sync,
) -> Result<Vec<T>> {
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads.get()).map(|_| scope.spawn(&work)).collect();
        let results: Vec<_> =
            handles.into_iter().map(|handle| handle.join().unwrap_or(Err(Error::Worker))).collect();
        results.into_iter().collect()
    })
}

#[cfg(test)]
mod order_tests;
#[cfg(test)]
mod resume_tests;
#[cfg(test)]
pub(crate) mod tests;
