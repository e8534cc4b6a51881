//! Which rows the next batch is made of: walks the sets of an epoch, one batch at a time (loading.md §4 to §6).

use crate::error::{Error, Result};
use crate::fill::{Span, Task};
use crate::mix::Mix;
use crate::options::{LastBatch, SetEnd};
use crate::order::{Pass, Use, generator, part};
use crate::slot::{Context, Slot};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// The rows of an epoch that are still to come.
pub struct Plan {
    context: Arc<Context>,
    mix: Arc<Mix>,
    streams: Vec<Stream>,
    /// The next row, and rows in all.
    row: u64,
    rows: u64,
}

/// The rows of one set, pass after pass.
struct Stream {
    source: usize,
    epoch: u64,
    pass: u64,
    groups: Pass,
    /// The rows of every pass that are this rank's.
    part: Range<u64>,
    /// The next row of the pass.
    row: u64,
    /// Groups from the one of `row` on that were handed to workers; one place in the order after the other.
    ahead: VecDeque<Arc<Slot>>,
    /// The place in the order of the first of them.
    place: usize,
}

/// Rows that this rank delivers in every epoch.
pub fn epoch_rows(context: &Context, mix: &Mix) -> Result<u64> {
    let options = &context.options;
    let mut parts = Vec::new();
    for source in &context.sources {
        let set = &source.set;
        if set.rows() == 0 {
            let first = set.shards().first().map(|shard| shard.path().to_owned()).unwrap_or_default();
            return Err(Error::NoRows { shards: set.shards().len(), first });
        }
        let part = part(set.rows(), options);
        if part.is_empty() && options.set_end == SetEnd::Repeat {
            return Err(Error::Option(format!(
                "a set of {} rows cannot be repeated in {} parts",
                set.rows(),
                options.world_size
            )));
        }
        parts.push(part.end - part.start);
    }
    let rows = if parts.len() == 1 { parts[0] } else { mix.rows(&parts, options.set_end) };
    Ok(match options.last_batch {
        LastBatch::Deliver => rows,
        LastBatch::Drop => rows - rows % options.batch_size.get() as u64,
    })
}

impl Plan {
    /// The rows of an epoch from `row` on, which is at most `rows`.
    pub fn new(context: &Arc<Context>, mix: &Arc<Mix>, epoch: u64, row: u64, rows: u64) -> Self {
        let streams = (0..context.sources.len())
            .map(|source| Stream::new(context, source, epoch, mix.taken(source, row)))
            .collect();
        Self { context: Arc::clone(context), mix: Arc::clone(mix), streams, row, rows }
    }

    /// Whether there is nothing left.
    pub const fn is_done(&self) -> bool {
        self.row >= self.rows
    }

    /// Fills in the rows of the next batch, and calls `announce` with the groups that will be needed soon.
    pub fn next(&mut self, task: &mut Task, mut announce: impl FnMut(&Arc<Slot>)) {
        task.slots.clear();
        task.spans.clear();
        let single = self.streams.len() == 1;
        let mut left = (self.context.options.batch_size.get() as u64).min(self.rows - self.row);
        while left > 0 {
            let set = if single { 0 } else { self.mix.set(self.row) };
            let wanted = if single { left } else { 1 };
            let (slot, start, rows) = self.streams[set].take(&self.context, wanted, &mut announce);
            left -= rows;
            self.row += rows;
            let start = usize::try_from(start).unwrap_or(usize::MAX);
            let rows = usize::try_from(rows).unwrap_or(usize::MAX);
            let known = task.slots.iter().rposition(|known| Arc::ptr_eq(known, slot));
            let slot = known.unwrap_or_else(|| {
                task.slots.push(Arc::clone(slot));
                task.slots.len() - 1
            });
            match task.spans.last_mut() {
                Some(last) if last.slot == slot && last.start + last.rows == start => last.rows += rows,
                _ => task.spans.push(Span { slot, start, rows }),
            }
        }
    }
}

impl Stream {
    /// The rows of a set in an epoch behind the first `taken`.
    fn new(context: &Context, source: usize, epoch: u64, taken: u64) -> Self {
        let part = part(context.sources[source].set.rows(), &context.options);
        let length = (part.end - part.start).max(1);
        let (pass, row) = (taken / length, part.start + taken % length);
        let groups = Self::pass(context, source, epoch, pass);
        let place = groups.group_of(row);
        Self { source, epoch, pass, groups, part, row, ahead: VecDeque::new(), place }
    }

    fn pass(context: &Context, source: usize, epoch: u64, pass: u64) -> Pass {
        let options = &context.options;
        let set = u32::try_from(source).unwrap_or(u32::MAX);
        Pass::new(context.sources[source].set.groups(), options.order, || {
            generator(options.seed, epoch, pass, set, Use::Order)
        })
    }

    /// The next rows, at most `wanted` and all of one group: the group, the first row in it, how many.
    fn take(
        &mut self,
        context: &Arc<Context>,
        wanted: u64,
        announce: &mut impl FnMut(&Arc<Slot>),
    ) -> (&Arc<Slot>, u64, u64) {
        if self.row >= self.part.end {
            self.pass += 1;
            self.groups = Self::pass(context, self.source, self.epoch, self.pass);
            self.row = self.part.start;
            self.place = self.groups.group_of(self.row);
            self.ahead.clear();
        }
        while !self.ahead.is_empty() && self.row >= self.groups.starts[self.place + 1] {
            self.ahead.pop_front();
            self.place += 1;
        }
        self.look_ahead(context, announce);
        let start = self.row - self.groups.starts[self.place];
        let end = self.groups.starts[self.place + 1].min(self.part.end);
        let rows = wanted.min(end - self.row);
        self.row += rows;
        (&self.ahead[0], start, rows)
    }

    /// Announces groups until there is one for every worker: while batches of the first are filled, the others are
    /// decoded.
    fn look_ahead(&mut self, context: &Arc<Context>, announce: &mut impl FnMut(&Arc<Slot>)) {
        let enough = if context.sources.len() == 1 { context.options.threads.get() } else { 1 };
        while self.ahead.len() < enough {
            let next = self.place + self.ahead.len();
            let within = self.groups.starts[next.min(self.groups.order.len())] < self.part.end;
            if next >= self.groups.order.len() || !within {
                break;
            }
            let number = self.groups.order[next];
            let slot = Slot::new(Arc::clone(context), self.source, number, self.epoch, self.pass);
            let slot = Arc::new(slot);
            announce(&slot);
            self.ahead.push_back(slot);
        }
    }
}
