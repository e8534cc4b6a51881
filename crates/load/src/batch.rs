//! A batch and its arrays, which are kept from batch to batch.

use crate::features::{BITS1, BITS2, FloatPlanes, HALFKP_WIDTH, KP_WIDTH, LABELS, PAD, PLANES1, PLANES2};
use crate::options::{FeatureSet, Options, PolicyTarget};
use manaka_core::Square;
use manaka_core::packed::PACKED_LEN;

/// Rows of a loader, array by array; row-major, one entry a row where nothing else is said.
///
/// Hand the same one to [`crate::Loader::next_into`] again and its arrays are filled anew without an allocation; take
/// arrays out of it, and the loader makes new ones.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Batch {
    /// How many rows there are.
    pub rows: usize,
    /// The value target in [-1, 1], the mover's view (loading.md §3).
    pub value: Vec<f32>,
    /// The row's weight, positive.
    pub weight: Vec<f32>,
    /// The inputs.
    pub features: Features,
    /// The policy target.
    pub policy: Policy,
    /// 96 bytes a row as they stand in the shard; empty unless asked for.
    pub packed: Vec<u8>,
    /// Move numbers; empty unless asked for.
    pub ply: Vec<u16>,
}

/// Inputs of a network (features.md), the mover's view.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Features {
    /// None were asked for.
    #[default]
    None,
    /// HalfKP or KP: `width` indices a row, the pad −1 behind the last of fewer (features.md §3).
    Indices {
        /// Indices a row: 38 or 40.
        width: usize,
        /// The mover's list, `rows × width`.
        mover: Vec<i32>,
        /// Its opponent's list, `rows × width`.
        opponent: Vec<i32>,
    },
    /// Bits of planes (features.md §6.2).
    Bits {
        /// `rows × 628` bytes.
        first: Vec<u8>,
        /// `rows × 8` bytes.
        second: Vec<u8>,
    },
    /// Planes of bytes 0 and 1 (features.md §6.1).
    Bytes {
        /// `rows × 62 × 9 × 9`.
        first: Vec<u8>,
        /// `rows × 57 × 9 × 9`.
        second: Vec<u8>,
    },
    /// Planes of 0.0 and 1.0 (features.md §6.1).
    Floats(FloatPlanes),
}

/// The policy target (features.md §8).
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Policy {
    /// None was asked for.
    #[default]
    None,
    /// The candidates of each row, in the shard's order: best first.
    Sparse {
        /// Where each row's candidates begin; one more than there are rows.
        offsets: Vec<u32>,
        /// Labels, 0..2187.
        label: Vec<u16>,
        /// The probs, summing to 1 in each row.
        prob: Vec<f32>,
    },
    /// `rows × 2187` probs by label.
    Dense(Vec<f32>),
}

/// Makes an array so long. New ones are zeros from the system, which are not written a second time.
fn resize<T: Clone + Default>(values: &mut Vec<T>, len: usize) {
    if values.capacity() < len {
        *values = vec![T::default(); len];
    } else {
        values.resize(len, T::default());
    }
}

impl Batch {
    /// Makes every array as long as `rows` need it to be, of the kinds that `options` ask for.
    pub(crate) fn prepare(&mut self, options: &Options, rows: usize) {
        self.rows = rows;
        resize(&mut self.value, rows);
        resize(&mut self.weight, rows);
        resize(&mut self.packed, if options.columns.packed { rows * PACKED_LEN } else { 0 });
        resize(&mut self.ply, if options.columns.ply { rows } else { 0 });
        self.features.prepare(options.features, rows);
        self.policy.prepare(options.policy, rows);
    }

    /// No rows; the arrays keep their room.
    pub(crate) fn clear(&mut self) {
        self.prepare(
            &Options { features: FeatureSet::None, policy: PolicyTarget::None, ..Options::default() },
            0,
        );
    }
}

impl Features {
    fn prepare(&mut self, set: FeatureSet, rows: usize) {
        let empty = match set {
            FeatureSet::None => Self::None,
            FeatureSet::HalfKp | FeatureSet::Kp => {
                let width = if set == FeatureSet::Kp { KP_WIDTH } else { HALFKP_WIDTH };
                Self::Indices { width, mover: Vec::new(), opponent: Vec::new() }
            }
            FeatureSet::PlanesBits => Self::Bits { first: Vec::new(), second: Vec::new() },
            FeatureSet::PlanesU8 => Self::Bytes { first: Vec::new(), second: Vec::new() },
            FeatureSet::PlanesF32 => Self::Floats(FloatPlanes::default()),
        };
        if std::mem::discriminant(self) != std::mem::discriminant(&empty) {
            *self = empty;
        }
        const FIRST: usize = PLANES1 * Square::COUNT;
        const SECOND: usize = PLANES2 * Square::COUNT;
        match self {
            Self::None => {}
            Self::Indices { width, mover, opponent } => {
                *width = if set == FeatureSet::Kp { KP_WIDTH } else { HALFKP_WIDTH };
                mover.resize(rows * *width, PAD);
                opponent.resize(rows * *width, PAD);
            }
            Self::Bits { first, second } => {
                resize(first, rows * BITS1);
                resize(second, rows * BITS2);
            }
            Self::Bytes { first, second } => {
                resize(first, rows * FIRST);
                resize(second, rows * SECOND);
            }
            Self::Floats(planes) => planes.prepare(rows),
        }
    }
}

impl Policy {
    fn prepare(&mut self, target: PolicyTarget, rows: usize) {
        match (target, &mut *self) {
            (PolicyTarget::None, _) => *self = Self::None,
            (PolicyTarget::Sparse, Self::Sparse { offsets, label, prob }) => {
                offsets.clear();
                offsets.push(0);
                label.clear();
                prob.clear();
            }
            (PolicyTarget::Sparse, _) => {
                *self = Self::Sparse { offsets: vec![0], label: Vec::new(), prob: Vec::new() };
            }
            (PolicyTarget::Dense, Self::Dense(probs)) => {
                probs.clear();
                probs.resize(rows * LABELS, 0.0);
            }
            (PolicyTarget::Dense, _) => *self = Self::Dense(vec![0.0; rows * LABELS]),
        }
    }
}
