//! A row group on its way through the loader: decoded once, by whoever needs it first, and shared by its batches.

use crate::error::Result;
use crate::options::{Mirror, Options};
use crate::order::{Use, generator};
use crate::set::{GroupPlace, ShardSet, Source};
use manaka_pack::shard::{Outcomes, Projection, Rows};
use rand_chacha::rand_core::Rng;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// What workers share.
pub struct Context {
    pub sources: Vec<Source>,
    pub options: Options,
    /// Rows that were used up, whose room is used again.
    spare: Mutex<Vec<Group>>,
}

/// A decoded row group.
#[derive(Default)]
pub struct Group {
    pub rows: Rows,
    /// A bit a row: whether it is mirrored. Empty when none is.
    mirrored: Vec<u64>,
}

/// A row group that is or will be decoded.
pub struct Slot {
    context: Arc<Context>,
    pub source: usize,
    /// Its number in the set.
    number: usize,
    epoch: u64,
    pass: u64,
    decoded: OnceLock<Result<Group>>,
}

impl Context {
    pub const fn new(sources: Vec<Source>, options: Options) -> Self {
        Self { sources, options, spare: Mutex::new(Vec::new()) }
    }

    /// The columns of a set that the options need.
    fn projection(&self, set: &ShardSet) -> Projection {
        use crate::options::{FeatureSet, PolicyTarget};
        let options = &self.options;
        let policy = options.policy != PolicyTarget::None;
        let mover = set.conventions().pov == manaka_core::Pov::Black;
        let outcome = set.has_outcomes() && options.blend < 1.0;
        Projection {
            packed: options.features != FeatureSet::None || options.columns.packed || policy || mover,
            ply: options.columns.ply,
            value_z: outcome,
            value_q: !outcome || options.blend > 0.0,
            weight: true,
            policy,
            cp: false,
        }
    }
}

impl Group {
    /// Whether a row is mirrored.
    pub fn mirrored(&self, row: usize) -> bool {
        self.mirrored.get(row / 64).is_some_and(|word| word >> (row % 64) & 1 != 0)
    }
}

impl Slot {
    pub const fn new(context: Arc<Context>, source: usize, number: usize, epoch: u64, pass: u64) -> Self {
        Self { context, source, number, epoch, pass, decoded: OnceLock::new() }
    }

    /// Where the group lies in its set.
    pub fn place(&self) -> GroupPlace {
        self.set().groups()[self.number]
    }

    pub fn set(&self) -> &ShardSet {
        &self.context.sources[self.source].set
    }

    /// The rows; decodes them unless that was done, and waits while another thread does it.
    pub fn group(&self) -> Result<&Group> {
        self.decoded.get_or_init(|| self.decode()).as_ref().map_err(Clone::clone)
    }

    fn decode(&self) -> Result<Group> {
        let spare = self.context.spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut group = spare.unwrap_or_default();
        let place = self.place();
        let shard = &self.set().shards()[place.shard];
        let mut wanted = self.context.projection(self.set());
        // loading.md §3: rows without an outcome take value_q.
        wanted.value_q |= wanted.value_z && shard.outcomes() == Outcomes::SomeAbsent;
        shard.read_columns(place.index, wanted, &mut group.rows)?;
        self.mirror(&mut group);
        Ok(group)
    }

    /// Draws which rows are mirrored: bit `row` of the stream that the group's number names (features.md §7).
    fn mirror(&self, group: &mut Group) {
        let options = &self.context.options;
        let words = group.rows.len().div_ceil(64);
        group.mirrored.clear();
        match options.mirror {
            Mirror::Never => {}
            Mirror::Always => group.mirrored.resize(words, u64::MAX),
            Mirror::Half => {
                let set = u32::try_from(self.source).unwrap_or(u32::MAX);
                let mut draws = generator(options.seed, self.epoch, self.pass, set, Use::Mirror);
                draws.set_stream(self.number as u64);
                group.mirrored.extend((0..words).map(|_| draws.next_u64()));
            }
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if let Some(Ok(group)) = self.decoded.take() {
            self.context.spare.lock().unwrap_or_else(PoisonError::into_inner).push(group);
        }
    }
}
