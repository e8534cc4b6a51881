//! From folded integers to `prob`: the only division of a policy (shards.md §5, conventions.md §5).

use crate::error::{Error, Result};
use manaka_core::conventions::{Softmax, one_hot};
use manaka_core::{Color, Conventions, PolicySource};

/// How `prob` follows from a row's candidates under the conventions of its shard.
#[derive(Clone, Debug)]
pub struct Policy {
    conventions: Conventions,
    softmax: Softmax,
}

impl Policy {
    /// The policy of these conventions at a softmax temperature in cp, which only `softmax_cp` rows use.
    ///
    /// # Errors
    /// [`Error::Option`] unless the temperature is finite and positive.
    pub fn new(conventions: Conventions, temperature: f64) -> Result<Self> {
        let softmax = Softmax::new(temperature)
            .ok_or(Error::Option("the softmax temperature must be finite and positive"))?;
        Ok(Self { conventions, softmax })
    }

    /// The conventions.
    #[must_use]
    pub const fn conventions(&self) -> &Conventions {
        &self.conventions
    }

    /// The softmax temperature as footers state it: 0 where there is no softmax.
    #[must_use]
    pub const fn stated_temperature(&self) -> f64 {
        match self.conventions.policy_source {
            PolicySource::Visits => 0.0,
            PolicySource::SoftmaxCp => self.softmax.temperature(),
        }
    }

    /// A score in the mover's view.
    #[must_use]
    pub const fn for_mover(&self, cp: i16, mover: Color) -> i16 {
        if self.conventions.pov.negates_for(mover) { cp.saturating_neg() } else { cp }
    }

    /// Writes the `prob` of a score row's candidates, given their folded cp in the row's order: best for the mover
    /// first, as shards.md §5 orders them. One-hot when any of them is a mate.
    pub fn probs_of_cp(&self, cp: &[i16], mover: Color, scratch: &mut Vec<i16>, out: &mut Vec<f32>) {
        if cp.iter().any(|&cp| self.conventions.is_mate(cp)) {
            one_hot(cp.len(), out);
        } else if self.conventions.pov.negates_for(mover) {
            scratch.clear();
            scratch.extend(cp.iter().map(|&cp| cp.saturating_neg()));
            self.softmax.probs(scratch, out);
        } else {
            self.softmax.probs(cp, out);
        }
    }
}

/// The `prob` of a candidate with `visits` of `total` visits.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "the specified division in f64"
)]
pub fn prob_of_visits(visits: u64, total: u64) -> f32 {
    (visits as f64 / total as f64) as f32
}
