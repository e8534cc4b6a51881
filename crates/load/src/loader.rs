//! Batches in their order, whoever made them.

use crate::batch::Batch;
use crate::cursor::{Cursor, CursorError};
use crate::error::{Error, Result};
use crate::fill::Task;
use crate::mix::Mix;
use crate::options::{Options, OutcomeAbsent};
use crate::plan::{Plan, epoch_rows};
use crate::set::Source;
use crate::slot::Context;
use crate::workers::Workers;
use std::collections::HashMap;
use std::sync::Arc;

/// Rows that are handed from thread to thread at a time, where batches are smaller. A thread that is woken costs some
/// microseconds on either side: as much as filling a hundred rows of HalfKP.
const LOT_ROWS: usize = 8192;
/// And bytes of their arrays.
const LOT_BYTES: usize = 4 << 20;

/// Delivers the rows of one or several sets, epoch by epoch, as batches that worker threads fill.
///
/// What is delivered depends on the sets, the options and the epoch alone (loading.md §1).
pub struct Loader {
    context: Arc<Context>,
    mix: Arc<Mix>,
    workers: Workers,
    plan: Plan,
    epoch: u64,
    /// Rows of every epoch.
    rows: u64,
    /// Rows of this epoch that were delivered, by this loader or in front of its cursor.
    delivered: u64,
    /// The number of the next batch to hand out, and of the next to be made.
    next: u64,
    made: u64,
    /// Batches that came before their turn.
    early: HashMap<u64, (Task, Result<()>)>,
    spare: Vec<Task>,
    /// Batches that are handed over together.
    lot: usize,
    /// What a cursor states, with no place in it yet.
    cursor: Cursor,
    failed: bool,
}

impl Loader {
    /// Starts at the first row of epoch 0.
    ///
    /// # Errors
    /// [`Error::Option`] for options that make no sense or do not suit the sets; [`Error::NoRows`] for a set without
    /// rows; [`Error::Worker`].
    pub fn new(sources: Vec<Source>, options: Options) -> Result<Self> {
        Self::start(sources, options, None)
    }

    /// Starts where a loader of the same sets and options was when it gave the cursor away. Threads may differ.
    ///
    /// # Errors
    /// As [`Loader::new`]; [`Error::Cursor`] for a cursor of other shards, other options or no row of the epoch.
    pub fn resume(sources: Vec<Source>, options: Options, cursor: &Cursor) -> Result<Self> {
        Self::start(sources, options, Some(cursor))
    }

    fn start(sources: Vec<Source>, options: Options, from: Option<&Cursor>) -> Result<Self> {
        options.check()?;
        for source in &sources {
            if options.blend < 1.0
                && !source.set.has_outcomes()
                && options.outcome_absent == OutcomeAbsent::Refuse
            {
                let first = source.set.shards().first();
                return Err(Error::Option(format!(
                    "blend is {}, and {} has no value_z",
                    options.blend,
                    first.map(|shard| shard.path().display().to_string()).unwrap_or_default()
                )));
            }
        }
        let shares: Vec<u32> = sources.iter().map(|source| source.share.get()).collect();
        // A single set needs no turns.
        let mix = Arc::new(Mix::new(if shares.len() == 1 { &[1] } else { &shares })?);
        let here = Cursor::new(&sources, &options, 0, 0);
        let lot = (LOT_ROWS.min(LOT_BYTES / options.row_bytes()) / options.batch_size).max(1);
        let context = Arc::new(Context::new(sources, options));
        let rows = epoch_rows(&context, &mix)?;
        let (epoch, row) = match from {
            Some(cursor) => {
                cursor.check(&here)?;
                (cursor.epoch(), cursor.row())
            }
            None => (0, 0),
        };
        if row > rows {
            return Err(CursorError::Beyond { row, rows }.into());
        }
        let workers = Workers::start(&context)?;
        let plan = Plan::new(&context, &mix, epoch, row, rows);
        Ok(Self {
            context,
            mix,
            workers,
            plan,
            epoch,
            rows,
            delivered: row,
            next: 0,
            made: 0,
            early: HashMap::new(),
            spare: Vec::new(),
            lot,
            cursor: here,
            failed: false,
        })
    }

    /// The options.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.context.options
    }

    /// The sets.
    #[must_use]
    pub fn sources(&self) -> &[Source] {
        &self.context.sources
    }

    /// Rows that this rank delivers in every epoch.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Batches that this rank delivers in every epoch.
    #[must_use]
    pub fn batches(&self) -> u64 {
        self.rows.div_ceil(self.context.options.batch_size.get() as u64)
    }

    /// The epoch.
    #[must_use]
    pub const fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The place behind the last batch that was handed out.
    #[must_use]
    pub fn cursor(&self) -> Cursor {
        self.cursor.clone().at(self.epoch, self.delivered)
    }

    /// Goes to the first row of an epoch, wherever the loader is.
    ///
    /// # Errors
    /// [`Error::Poisoned`] after any error.
    pub fn begin_epoch(&mut self, epoch: u64) -> Result<()> {
        if self.failed {
            return Err(Error::Poisoned);
        }
        // Batches on their way are of the old epoch.
        self.spare.extend(self.early.drain().map(|(_, (task, _))| task));
        self.next = self.made;
        self.epoch = epoch;
        self.delivered = 0;
        self.plan = Plan::new(&self.context, &self.mix, epoch, 0, self.rows);
        Ok(())
    }

    /// Fills `batch` with the next rows; `false`, and no rows in it, at the end of the epoch. Pass the same batch
    /// again to have its arrays used again.
    ///
    /// # Errors
    /// [`Error::Shard`] and [`Error::Row`] name the damaged file; [`Error::ShortRead`]; [`Error::Worker`];
    /// [`Error::Poisoned`] after any error. Every row in front of the error's batch was delivered.
    pub fn next_into(&mut self, batch: &mut Batch) -> Result<bool> {
        if self.failed {
            return Err(Error::Poisoned);
        }
        let result = self.deliver(batch);
        self.failed = result.is_err();
        result
    }

    fn deliver(&mut self, batch: &mut Batch) -> Result<bool> {
        self.keep_busy();
        if self.next == self.made {
            batch.clear();
            if self.delivered != self.rows {
                return Err(Error::ShortRead { delivered: self.delivered, planned: self.rows });
            }
            return Ok(false);
        }
        let (mut task, result) = loop {
            if let Some(done) = self.early.remove(&self.next) {
                break done;
            }
            for (task, result) in self.workers.wait()? {
                if task.number < self.next {
                    self.spare.push(task);
                } else {
                    self.early.insert(task.number, (task, result));
                }
            }
        };
        self.next += 1;
        result?;
        std::mem::swap(batch, &mut task.batch);
        self.delivered += batch.rows as u64;
        // The groups of the batch may be used again, and so may its arrays.
        task.slots.clear();
        self.spare.push(task);
        self.keep_busy();
        Ok(true)
    }

    /// Hands out work: two lots a thread, so that none waits while the last one is looked at.
    fn keep_busy(&mut self) {
        let lot = self.lot as u64;
        let enough = 2 * self.context.options.threads.get() as u64 * lot;
        while self.made - self.next + lot <= enough && !self.plan.is_done() {
            let mut tasks = Vec::with_capacity(self.lot);
            while tasks.len() < self.lot && !self.plan.is_done() {
                let mut task = self.spare.pop().unwrap_or_default();
                task.number = self.made;
                let workers = &self.workers;
                self.plan.next(&mut task, |slot| workers.decode(Arc::clone(slot)));
                tasks.push(task);
                self.made += 1;
            }
            self.workers.fill(tasks);
        }
    }
}
