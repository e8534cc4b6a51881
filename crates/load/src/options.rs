//! What a loader is asked for; each default is stated at [`Options::default`].

use crate::error::{Error, Result};
use crate::features::{BITS1, BITS2, HALFKP_WIDTH, KP_WIDTH, LABELS, PLANES1, PLANES2};
use manaka_core::Square;
use manaka_core::packed::PACKED_LEN;
use std::num::NonZeroUsize;

/// The inputs to make of each position (features.md).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FeatureSet {
    /// None.
    None,
    /// HalfKP, two lists of 38 indices (features.md §4).
    HalfKp,
    /// KP, two lists of 40 indices (features.md §5).
    Kp,
    /// dlshogi's planes, a bit a square or plane (features.md §6.2).
    PlanesBits,
    /// dlshogi's planes, a byte a square (features.md §6.1).
    PlanesU8,
    /// dlshogi's planes, an f32 a square (features.md §6.1).
    PlanesF32,
}

/// What to do about `value_z` in shards that have none, where `blend` asks for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OutcomeAbsent {
    /// Refuse to load them.
    Refuse,
    /// Take `value_q` whole.
    UseSearch,
}

/// A row's weight in training, from the number of records that were folded into it (loading.md §3).
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum WeightMode {
    /// The number itself.
    Stored,
    /// Its square root.
    Sqrt,
    /// `log2(1 + w)`: 1 for a single record.
    Log,
    /// The number, but at most this; at least 1.
    Capped(f32),
}

/// The policy target (features.md §8).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PolicyTarget {
    /// None: the columns of candidates are not read.
    None,
    /// Labels and probs of the candidates, and where each row's begin.
    Sparse,
    /// A prob for each of the 2187 labels.
    Dense,
}

/// The order of rows in an epoch (loading.md §4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// Shards in order, rows as they stand. They are shuffled already.
    AsWritten,
    /// Row groups in an order drawn from the seed and the epoch; rows as they stand in them.
    ShuffledGroups,
}

/// Left-right mirroring as augmentation (features.md §7).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mirror {
    /// No row.
    Never,
    /// Each row with a chance of one half, drawn from the seed, the epoch and the row's number.
    Half,
    /// Every row.
    Always,
}

/// What becomes of the rows behind the last full batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LastBatch {
    /// They are a smaller batch.
    Deliver,
    /// They are left out, and every rank delivers the same number of batches (loading.md §5).
    Drop,
}

/// What happens when one of several sets has no more rows (loading.md §6).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SetEnd {
    /// The epoch ends.
    Stop,
    /// The set begins again; the epoch ends when each set has been delivered whole.
    Repeat,
}

/// Columns that are delivered as they stand in the shard, beside inputs and targets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RawColumns {
    /// The 96 bytes of each position, never mirrored.
    pub packed: bool,
    /// The move number.
    pub ply: bool,
}

/// What a loader is asked for.
#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    /// Rows of a batch.
    pub batch_size: NonZeroUsize,
    /// Worker threads. They cannot be seen in what is delivered.
    pub threads: NonZeroUsize,
    /// Inputs.
    pub features: FeatureSet,
    /// `r` of the value target `(1 − r)·value_z + r·value_q`, in [0, 1] (loading.md §3).
    pub blend: f32,
    /// Shards without outcomes.
    pub outcome_absent: OutcomeAbsent,
    /// Row weights.
    pub weight: WeightMode,
    /// Policy target.
    pub policy: PolicyTarget,
    /// Columns as they stand.
    pub columns: RawColumns,
    /// Row order.
    pub order: Order,
    /// Seed of the order and of mirroring.
    pub seed: u64,
    /// Augmentation.
    pub mirror: Mirror,
    /// Which of `world_size` parts this loader delivers, from 0 (loading.md §5).
    pub rank: u32,
    /// Parts that rows are cut into; at least 1.
    pub world_size: u32,
    /// The last batch.
    pub last_batch: LastBatch,
    /// The end of one of several sets.
    pub set_end: SetEnd,
}

impl Default for Options {
    /// Batches of 1024, one thread, no features and no policy, the search's value, weights as stored, rows as written,
    /// everything delivered.
    fn default() -> Self {
        const BATCH: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1023);
        Self {
            batch_size: BATCH,
            threads: NonZeroUsize::MIN,
            features: FeatureSet::None,
            blend: 1.0,
            outcome_absent: OutcomeAbsent::Refuse,
            weight: WeightMode::Stored,
            policy: PolicyTarget::None,
            columns: RawColumns::default(),
            order: Order::AsWritten,
            seed: 0,
            mirror: Mirror::Never,
            rank: 0,
            world_size: 1,
            last_batch: LastBatch::Deliver,
            set_end: SetEnd::Stop,
        }
    }
}

impl Options {
    /// Refuses options that make no sense by themselves, as [`crate::Loader::new`] does.
    ///
    /// # Errors
    /// [`Error::Option`].
    pub fn check(&self) -> Result<()> {
        let refuse = |text: String| Err(Error::Option(text));
        if !(0.0..=1.0).contains(&self.blend) {
            return refuse(format!("blend is {}, not in 0..=1", self.blend));
        }
        if let WeightMode::Capped(most) = self.weight
            && !(most.is_finite() && most >= 1.0)
        {
            return refuse(format!("weights are capped at {most}, not at a number from 1 on"));
        }
        if self.rank >= self.world_size {
            return refuse(format!("rank {} is not below world_size {}", self.rank, self.world_size));
        }
        Ok(())
    }

    /// Bytes of a row in a batch, but for a sparse policy's.
    pub(crate) fn row_bytes(&self) -> usize {
        const PLANES: usize = (PLANES1 + PLANES2) * Square::COUNT;
        let inputs = match self.features {
            FeatureSet::None => 0,
            FeatureSet::HalfKp => 2 * 4 * HALFKP_WIDTH,
            FeatureSet::Kp => 2 * 4 * KP_WIDTH,
            FeatureSet::PlanesBits => BITS1 + BITS2,
            FeatureSet::PlanesU8 => PLANES,
            FeatureSet::PlanesF32 => 4 * PLANES,
        };
        let policy = if self.policy == PolicyTarget::Dense { 4 * LABELS } else { 0 };
        let packed = if self.columns.packed { PACKED_LEN } else { 0 };
        // value and weight
        8 + inputs + policy + packed
    }

    /// Everything that shows in what is delivered, by name: what a cursor must agree on. Threads do not.
    pub(crate) fn stated(&self) -> Vec<(&'static str, String)> {
        let debug = |value: &dyn std::fmt::Debug| format!("{value:?}");
        vec![
            ("batch_size", self.batch_size.to_string()),
            ("features", debug(&self.features)),
            ("blend", self.blend.to_string()),
            ("outcome_absent", debug(&self.outcome_absent)),
            ("weight", debug(&self.weight)),
            ("policy", debug(&self.policy)),
            ("packed", self.columns.packed.to_string()),
            ("ply", self.columns.ply.to_string()),
            ("order", debug(&self.order)),
            ("seed", self.seed.to_string()),
            ("mirror", debug(&self.mirror)),
            ("rank", self.rank.to_string()),
            ("world_size", self.world_size.to_string()),
            ("last_batch", debug(&self.last_batch)),
            ("set_end", debug(&self.set_end)),
        ]
    }
}
