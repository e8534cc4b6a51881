//! Gathers what threads find: sums are added, runs joined in their order, parts kept apart.

use super::games::{Games, Seam, Tracker};
use super::item::Item;
use super::parts::{Batch, Part};
use super::sums::{Facts, Sums};
use manaka_core::progress::Progress;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A run of items: the file, and its number within it.
type Place = (usize, u64);

/// What all threads give.
pub struct Collector<'a> {
    pub facts: &'a Facts,
    pub progress: &'a dyn Progress,
    stop: AtomicBool,
    state: Mutex<State>,
}

/// What was gathered.
pub struct State {
    pub sums: Sums,
    /// Runs by their first place, with their last one; neighbours are joined as soon as both are there.
    runs: BTreeMap<Place, (Place, Seam)>,
    pub parts: Vec<Part>,
    /// Items that could not be read, by reason.
    pub refused: BTreeMap<&'static str, u64>,
}

/// Where one file's games go on into the next.
#[derive(Clone, Copy, Default, Debug)]
pub struct Joins {
    /// Borders between two files that have records.
    pub all: u64,
    /// Of these, borders inside a game.
    pub inside: u64,
}

impl<'a> Collector<'a> {
    pub fn new(facts: &'a Facts, files: usize, progress: &'a dyn Progress) -> Self {
        let state = State {
            sums: Sums::new(facts),
            runs: BTreeMap::new(),
            parts: vec![Part::default(); files],
            refused: BTreeMap::new(),
        };
        Self { facts, progress, stop: AtomicBool::new(false), state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The tools of one thread.
    pub fn worker(&self) -> Worker<'_> {
        Worker { collector: self, sums: Sums::new(self.facts) }
    }

    /// Whether there is no use in going on.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.progress.cancelled()
    }

    /// Tells the other threads that one has failed.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Counts an item that cannot be read.
    pub fn refuse(&self, reason: &'static str) {
        *self.state().refused.entry(reason).or_insert(0) += 1;
    }

    /// The sums over everything, games closed.
    pub fn finish(self) -> (State, Joins) {
        let mut state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (mut joins, mut before): (Joins, Option<(usize, Seam)>) = (Joins::default(), None);
        for ((file, _), (_, seam)) in std::mem::take(&mut state.runs) {
            let seam = match before {
                None => seam,
                Some((other, one)) => {
                    // Runs of one file that are two still have one without items between them.
                    joins.all += u64::from(other != file);
                    joins.inside += u64::from(other != file && Games::goes_on(&one, &seam));
                    state.sums.games.join(one, seam)
                }
            };
            before = Some((file, seam));
        }
        state.sums.games.finish(before.map(|(_, seam)| seam));
        (state, joins)
    }
}

impl State {
    /// Adds a run, and joins it to those on both sides of it in its file.
    fn run(&mut self, place: Place, seam: Seam) {
        let (mut first, mut last, mut seam) = (place, place, seam);
        if let Some((&before, &(end, one))) = self.runs.range(..place).next_back()
            && end.0 == place.0
            && end.1 + 1 == place.1
        {
            seam = self.sums.games.join(one, seam);
            first = before;
        }
        let behind = (place.0, place.1 + 1);
        if let Some((end, next)) = self.runs.remove(&behind) {
            seam = self.sums.games.join(seam, next);
            last = end;
        }
        self.runs.insert(first, (last, seam));
    }
}

/// The tools of one thread.
pub struct Worker<'a> {
    collector: &'a Collector<'a>,
    sums: Sums,
}

impl<'a> Worker<'a> {
    /// Begins a run of items: of a file, the `number`th from 0.
    pub fn run(&mut self, file: usize, number: u64) -> Run<'_, 'a> {
        Run { worker: self, place: (file, number), tracker: Tracker::default(), batch: Batch::default() }
    }

    /// Hands over its sums.
    pub fn finish(mut self) {
        self.sums.settle();
        self.collector.state().sums.merge(&self.sums);
    }
}

/// A run of items that is being looked at.
pub struct Run<'w, 'a> {
    worker: &'w mut Worker<'a>,
    place: Place,
    tracker: Tracker,
    batch: Batch,
}

impl Run<'_, '_> {
    /// Takes the next item.
    #[inline(always)]
    pub fn add(&mut self, item: &impl Item) {
        self.worker.sums.add(item, self.worker.collector.facts, &mut self.tracker, &mut self.batch);
    }

    /// Ends the run. It has to be told even when it was empty: the next one follows it.
    pub fn finish(self) {
        let part = self.batch.part();
        let mut state = self.worker.collector.state();
        state.parts[self.place.0].merge(&part);
        if let Some(seam) = self.tracker.finish() {
            state.run(self.place, seam);
        }
        drop(state);
        self.worker.collector.progress.advance(part.records);
    }
}
