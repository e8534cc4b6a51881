//! What the numbers of a stream mean, and the arithmetic that follows from it (conventions.md).
//!
//! Mate threshold, tanh and softmax have their only home here.

use crate::piece::Color;
use std::fmt;

/// The cp of a candidate that has none; no score can take it (stream.md §3.2).
pub const NO_CP: i16 = i16::MIN;
/// The visits of a candidate that has none; a move without visits is never stored (stream.md §3.2).
pub const NO_VISITS: u32 = 0;
/// The `value_z` of a record whose outcome is unknown; no game ends so, and only version 3 has it (stream.md §3.1).
pub const NO_OUTCOME: f32 = 2.0;
/// The slack a reader uses when the header states none (conventions.md §3).
pub const MATE_SLACK_FALLBACK: u16 = 320;
/// The mate scale `teacher` states unless told otherwise.
pub const DEFAULT_MATE_SCALE: u16 = 30_000;
/// dlshogi's 756.0865 doubled: its curve is a sigmoid into [0, 1], ours a tanh into [-1, 1] (conventions.md §4).
pub const DEFAULT_EVAL_COEF: f32 = 1512.173;
/// The softmax temperature in cp that `pack` uses unless told otherwise (conventions.md §5).
pub const DEFAULT_SOFTMAX_TEMP_CP: f64 = 100.0;

/// Whose view scores and outcomes are stated from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Pov {
    /// The side to move, header value 0.
    SideToMove = 0,
    /// Black, header value 1.
    Black = 1,
}

impl Pov {
    /// The name in shard footers.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::SideToMove => "side_to_move",
            Self::Black => "black",
        }
    }

    /// Whether a number stated in this view has to be negated to be the mover's.
    #[must_use]
    pub const fn negates_for(self, mover: Color) -> bool {
        matches!((self, mover), (Self::Black, Color::White))
    }
}

/// Which half of a candidate carries the policy.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum PolicySource {
    /// Visit counts of a search, header value 0.
    Visits = 0,
    /// Scores in centipawns, to be softmaxed, header value 1.
    SoftmaxCp = 1,
}

impl PolicySource {
    /// The name in shard footers.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Visits => "visits",
            Self::SoftmaxCp => "softmax_cp",
        }
    }
}

/// The conventions of a stream, as its header states them (stream.md §2).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Conventions {
    /// Whose view.
    pub pov: Pov,
    /// Which half of the candidates is filled.
    pub policy_source: PolicySource,
    /// The cp value mates are folded to; 0 not applicable.
    pub mate_scale: u16,
    /// How far below `mate_scale` mates reach; 0 not stated.
    pub mate_slack: u16,
    /// The `FV_SCALE` the generating engine was read at; 0 not stated. Provenance: nothing divides by it.
    pub fv_scale: u16,
    /// The cp scale `value_q` was squashed against; 0.0 not applicable.
    pub eval_coef: f32,
}

impl Conventions {
    /// What a visits stream declares: nothing on it is measured in centipawns (stream.md §2).
    pub const VISITS: Self = Self {
        pov: Pov::SideToMove,
        policy_source: PolicySource::Visits,
        mate_scale: 0,
        mate_slack: 0,
        fv_scale: 0,
        eval_coef: 0.0,
    };

    /// What `teacher` declares unless told otherwise.
    pub const TEACHER: Self = Self {
        pov: Pov::SideToMove,
        policy_source: PolicySource::SoftmaxCp,
        mate_scale: DEFAULT_MATE_SCALE,
        mate_slack: 0,
        fv_scale: 0,
        eval_coef: DEFAULT_EVAL_COEF,
    };

    /// The slack in force: the stated one, 320 when none is stated, 0 when there is no mate scale (conventions.md §3).
    #[must_use]
    pub const fn effective_mate_slack(&self) -> u16 {
        match (self.mate_scale, self.mate_slack) {
            (0, _) => 0,
            (scale, 0) if scale < MATE_SLACK_FALLBACK => scale,
            (_, 0) => MATE_SLACK_FALLBACK,
            (_, slack) => slack,
        }
    }

    /// The |cp| from which a score is a mate; `None` when the stream has no mate scale.
    #[must_use]
    pub const fn mate_threshold(&self) -> Option<u16> {
        match self.mate_scale {
            0 => None,
            scale => Some(scale.saturating_sub(self.effective_mate_slack())),
        }
    }

    /// Whether a score is a mate.
    #[must_use]
    pub const fn is_mate(&self, cp: i16) -> bool {
        match self.mate_threshold() {
            Some(threshold) => cp.unsigned_abs() >= threshold,
            None => false,
        }
    }

    /// A root score as a value in [-1, 1]: ±1 at mates, else `tanh(cp / eval_coef)` in f64, cast to f32
    /// (conventions.md §4).
    ///
    /// The tanh is a portable one, so that every machine writes the same bytes. `eval_coef` must be positive.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "the specified cast to f32")]
    pub fn value_q(&self, cp: i16) -> f32 {
        if self.is_mate(cp) {
            f32::from(cp.signum())
        } else {
            libm::tanh(f64::from(cp) / f64::from(self.eval_coef)) as f32
        }
    }

    /// The first convention in which two streams differ so that they may not be folded together, with both values
    /// (conventions.md §6).
    #[must_use]
    pub fn conflict(&self, other: &Self) -> Option<Conflict> {
        let differ = |key, first: &dyn fmt::Display, second: &dyn fmt::Display| {
            Some(Conflict { key, first: first.to_string(), second: second.to_string() })
        };
        if self.pov != other.pov {
            differ("pov", &self.pov.id(), &other.pov.id())
        } else if self.policy_source != other.policy_source {
            differ("policy_source", &self.policy_source.id(), &other.policy_source.id())
        } else if self.mate_scale != other.mate_scale {
            differ("mate_scale", &self.mate_scale, &other.mate_scale)
        } else if self.effective_mate_slack() != other.effective_mate_slack() {
            differ("mate_slack", &self.effective_mate_slack(), &other.effective_mate_slack())
        } else if self.fv_scale != other.fv_scale {
            differ("fv_scale", &self.fv_scale, &other.fv_scale)
        } else if self.eval_coef != other.eval_coef {
            differ("eval_coef", &self.eval_coef, &other.eval_coef)
        } else {
            None
        }
    }

    /// What is inconsistent about the declaration itself; `None` when it can be written (stream.md §2).
    #[must_use]
    pub fn inconsistency(&self) -> Option<Inconsistency> {
        if !self.eval_coef.is_finite() || self.eval_coef < 0.0 {
            Some(Inconsistency::EvalCoef)
        } else if (self.mate_scale == 0 && self.mate_slack != 0)
            || (self.mate_scale != 0 && self.effective_mate_slack() >= self.mate_scale)
        {
            Some(Inconsistency::MateSlack)
        } else {
            None
        }
    }

    /// Whether a visits stream declares a centipawn scale it has no values on. Readable, but nobody should write it.
    #[must_use]
    pub fn declares_unused_scale(&self) -> bool {
        self.policy_source == PolicySource::Visits
            && (self.mate_scale != 0 || self.fv_scale != 0 || self.eval_coef != 0.0)
    }
}

/// A header whose fields contradict one another.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Inconsistency {
    /// `eval_coef` is negative, infinite or no number.
    #[error("eval_coef must be finite and not negative")]
    EvalCoef,
    /// `mate_slack`, or the fallback where none is stated, reaches down to a score of zero; or a slack is stated
    /// without a scale.
    #[error("mate_slack ({MATE_SLACK_FALLBACK} when none is stated) must be below mate_scale")]
    MateSlack,
}

/// Two streams that may not be folded together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conflict {
    /// The convention, by its footer key.
    pub key: &'static str,
    /// The value of the first stream.
    pub first: String,
    /// The value of the second stream.
    pub second: String,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {} in one and {} in the other", self.key, self.first, self.second)
    }
}

/// The softmax over cp at one temperature (conventions.md §5), with its exponentials computed once.
#[derive(Clone, Debug)]
pub struct Softmax {
    temperature: f64,
    /// `exp(-d / temperature)` by the distance `d` in cp below the best score; beyond its end the f32 result is 0.
    exp: Vec<f64>,
}

impl Softmax {
    /// `exp(-112)` is below half of the least f32, so scores this many temperatures down have a `prob` of exactly 0.
    const HORIZON: f64 = 112.0;

    /// A softmax at `temperature` cp; `None` unless it is finite and positive.
    #[must_use]
    pub fn new(temperature: f64) -> Option<Self> {
        if !temperature.is_finite() || temperature <= 0.0 {
            return None;
        }
        let exp = (0..=u16::MAX)
            .map(|distance| -f64::from(distance) / temperature)
            .take_while(|&power| power >= -Self::HORIZON)
            .map(libm::exp)
            .collect();
        Some(Self { temperature, exp })
    }

    /// The temperature in cp.
    #[must_use]
    pub const fn temperature(&self) -> f64 {
        self.temperature
    }

    /// Writes one `prob` per score into `out`. Scores are the mover's, **best first**; each prob is
    /// `exp((cp - best) / T)` over the sum taken in that order, in f64, cast to f32.
    #[expect(clippy::cast_possible_truncation, reason = "the specified cast to f32")]
    pub fn probs(&self, best_first: &[i16], out: &mut Vec<f32>) {
        out.clear();
        let Some(&best) = best_first.first() else { return };
        let weight = |cp: i16| self.exp.get(usize::from(best.abs_diff(cp))).copied().unwrap_or(0.0);
        let sum: f64 = best_first.iter().map(|&cp| weight(cp)).sum();
        out.extend(best_first.iter().map(|&cp| (weight(cp) / sum) as f32));
    }
}

/// The policy of a row with a mate on it: everything on the best score (conventions.md §5). `count` is at least 1.
pub fn one_hot(count: usize, out: &mut Vec<f32>) {
    out.clear();
    out.resize(count, 0.0);
    if let Some(first) = out.first_mut() {
        *first = 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(mate_scale: u16, mate_slack: u16) -> Conventions {
        Conventions { mate_scale, mate_slack, ..Conventions::TEACHER }
    }

    #[test]
    fn the_mate_threshold_is_the_scale_less_the_slack_in_force() {
        assert_eq!(scale(30000, 0).mate_threshold(), Some(29680));
        assert_eq!(scale(32000, 100).mate_threshold(), Some(31900));
        assert_eq!(scale(0, 0).mate_threshold(), None);
        assert_eq!(scale(0, 0).effective_mate_slack(), 0);
        assert!(scale(30000, 0).is_mate(-29680) && !scale(30000, 0).is_mate(29679));
        assert!(!scale(0, 0).is_mate(i16::MAX));
    }

    #[test]
    fn value_q_is_a_squashed_score_and_one_at_mates() {
        let conventions = scale(30000, 0);
        assert_eq!(conventions.value_q(0), 0.0);
        assert_eq!(conventions.value_q(29680), 1.0);
        assert_eq!(conventions.value_q(-29999), -1.0);
        // tanh(1) at cp = eval_coef: 0.76159…; 1512/1512.173 is a hair below.
        assert!((conventions.value_q(1512) - 0.761_546).abs() < 1e-5);
        assert_eq!(conventions.value_q(-300), -conventions.value_q(300));
    }

    #[test]
    fn the_softmax_table_equals_the_formula() {
        for temperature in [0.5, 30.0, 100.0, 1e6] {
            let softmax = Softmax::new(temperature).unwrap();
            let scores = [1200i16, 1199, 1100, 900, -3000, -32767];
            let mut probs = Vec::new();
            softmax.probs(&scores, &mut probs);
            let weights = scores.map(|cp| ((f64::from(cp) - 1200.0) / temperature).exp());
            let sum: f64 = weights.iter().sum();
            for (prob, weight) in probs.iter().zip(weights) {
                assert!((f64::from(*prob) - weight / sum).abs() < 1e-7, "{temperature}");
            }
        }
        assert!(Softmax::new(0.0).is_none() && Softmax::new(f64::NAN).is_none());
    }

    #[test]
    fn a_slack_that_makes_every_score_a_mate_is_inconsistent() {
        for (mate_scale, mate_slack) in [(0, 1), (100, 100), (100, 101), (1, 0), (320, 0)] {
            let found = scale(mate_scale, mate_slack).inconsistency();
            assert_eq!(found, Some(Inconsistency::MateSlack), "{mate_scale} {mate_slack}");
        }
        for (mate_scale, mate_slack) in [(0, 0), (100, 99), (321, 0), (32000, 100)] {
            assert_eq!(scale(mate_scale, mate_slack).inconsistency(), None, "{mate_scale} {mate_slack}");
        }
    }

    #[test]
    fn a_zero_eval_coef_is_one_value_whatever_its_sign() {
        let negative = Conventions { eval_coef: -0.0, ..Conventions::VISITS };
        assert_eq!(negative.conflict(&Conventions::VISITS), None);
        assert_eq!(negative.inconsistency(), None);
    }

    #[test]
    fn conflicts_name_the_key_and_both_values_and_compare_the_slack_in_force() {
        let conflict = scale(30000, 0).conflict(&scale(32000, 100)).unwrap();
        assert_eq!(conflict.to_string(), "mate_scale is 30000 in one and 32000 in the other");
        assert_eq!(scale(30000, 0).conflict(&scale(30000, 320)), None);
        assert_eq!(scale(30000, 0).conflict(&scale(30000, 100)).unwrap().key, "mate_slack");
    }
}
