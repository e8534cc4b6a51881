//! From one mate scale to another (psv.md §7.3).

use manaka_core::Conventions;

/// Folds scores from the scale an engine keeps its mates on to another one.
///
/// A mate keeps its distance: `scale − distance` becomes `other scale − distance`. Every other score is clamped to just
/// below where the other scale's mates begin.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MateFold {
    from: Conventions,
    to: Conventions,
}

/// A score on the new scale.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Folded {
    /// A mate, at its distance from the new scale.
    Mate(i16),
    /// An ordinary score, as it was.
    Kept(i16),
    /// An ordinary score that was above or below every ordinary one of the new scale.
    Clamped(i16),
}

impl Folded {
    /// The score.
    #[must_use]
    pub const fn cp(self) -> i16 {
        let (Self::Mate(cp) | Self::Kept(cp) | Self::Clamped(cp)) = self;
        cp
    }
}

/// Two scales between which nothing can be folded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MateFoldError {
    /// A scale is 0 or above the largest score.
    #[error("a mate scale of {0}: must be between 1 and 32767")]
    Scale(u16),
    /// A slack reaches down to a score of zero.
    #[error("a mate slack of {slack} on a scale of {scale}: must be below it")]
    Slack {
        /// The slack in force.
        slack: u16,
        /// The scale.
        scale: u16,
    },
    /// A mate of the engine would be no mate on the new scale.
    #[error("mates reach {from} below the engine's scale, and only {to} below the new one")]
    Narrower {
        /// The engine's slack in force.
        from: u16,
        /// The new scale's.
        to: u16,
    },
}

impl MateFold {
    /// The scale of engines that keep mates as 32000 − distance.
    pub const DEFAULT_ENGINE_SCALE: u16 = 32_000;
    /// How far below it their mates reach: their ordinary scores come up to 31753.
    pub const DEFAULT_ENGINE_SLACK: u16 = 100;

    /// A fold from an engine's `(scale, slack)` to another. A slack of 0 means the one of conventions.md §3.
    ///
    /// # Errors
    /// [`MateFoldError`].
    pub fn new(engine: (u16, u16), other: (u16, u16)) -> Result<Self, MateFoldError> {
        let scale = |(mate_scale, mate_slack)| {
            if mate_scale == 0 || mate_scale > i16::MAX.unsigned_abs() {
                return Err(MateFoldError::Scale(mate_scale));
            }
            let conventions = Conventions { mate_scale, mate_slack, ..Conventions::TEACHER };
            let slack = conventions.effective_mate_slack();
            if slack >= mate_scale {
                return Err(MateFoldError::Slack { slack, scale: mate_scale });
            }
            Ok(conventions)
        };
        let (from, to) = (scale(engine)?, scale(other)?);
        let (reach, room) = (from.effective_mate_slack(), to.effective_mate_slack());
        if reach > room {
            return Err(MateFoldError::Narrower { from: reach, to: room });
        }
        Ok(Self { from, to })
    }

    /// Folds a score; `None` when it lies beyond the engine's scale, where no score of it can be.
    #[must_use]
    pub fn fold(&self, cp: i16) -> Option<Folded> {
        // Every sum below stays within the new scale, so nothing saturates.
        let signed = |magnitude: u16| i16::try_from(magnitude).unwrap_or(i16::MAX) * cp.signum();
        let distance = self.from.mate_scale.checked_sub(cp.unsigned_abs())?;
        if self.from.is_mate(cp) {
            return Some(Folded::Mate(signed(self.to.mate_scale - distance)));
        }
        let highest = self.to.mate_threshold().unwrap_or(u16::MAX) - 1;
        if cp.unsigned_abs() > highest {
            return Some(Folded::Clamped(signed(highest)));
        }
        Some(Folded::Kept(cp))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seeds() -> MateFold {
        MateFold::new((32_000, MateFold::DEFAULT_ENGINE_SLACK), (30_000, 0)).unwrap()
    }

    #[test]
    fn mates_keep_their_distance_and_ordinary_scores_stay_below_them() {
        use Folded::*;
        for (cp, folded) in [
            (0, Some(Kept(0))),
            (-137, Some(Kept(-137))),
            (29_679, Some(Kept(29_679))),
            (-29_679, Some(Kept(-29_679))),
            (29_680, Some(Clamped(29_679))),
            (29_999, Some(Clamped(29_679))),
            (-31_753, Some(Clamped(-29_679))),
            (31_899, Some(Clamped(29_679))),
            (31_900, Some(Mate(29_900))),
            (31_999, Some(Mate(29_999))),
            (-31_998, Some(Mate(-29_998))),
            (32_000, Some(Mate(30_000))),
            (-32_000, Some(Mate(-30_000))),
            (32_001, None),
            (i16::MAX, None),
            (i16::MIN, None),
        ] {
            assert_eq!(seeds().fold(cp), folded, "{cp}");
        }
    }

    #[test]
    fn every_score_is_a_mate_afterwards_exactly_when_it_was_one() {
        for (engine, other) in [((32_000, 100), (30_000, 0)), ((30_000, 0), (32_000, 320)), ((1, 1), (2, 1))]
        {
            let Ok(fold) = MateFold::new(engine, other) else {
                assert_eq!(engine, (1, 1));
                continue;
            };
            let mut last = None;
            for cp in i16::MIN..=i16::MAX {
                let Some(folded) = fold.fold(cp) else { continue };
                assert_eq!(fold.to.is_mate(folded.cp()), fold.from.is_mate(cp), "{cp}");
                assert_eq!(folded.cp().signum(), cp.signum(), "{cp}");
                assert!(last <= Some(folded.cp()), "the order of scores stays: {cp}");
                last = Some(folded.cp());
            }
        }
    }

    #[test]
    fn scales_that_cannot_be_folded_are_refused() {
        let refused = |engine, other| MateFold::new(engine, other).unwrap_err();
        assert_eq!(refused((0, 0), (30_000, 0)), MateFoldError::Scale(0));
        assert_eq!(refused((32_000, 100), (32_768, 0)), MateFoldError::Scale(32_768));
        assert_eq!(
            refused((32_000, 32_000), (30_000, 0)),
            MateFoldError::Slack { slack: 32_000, scale: 32_000 }
        );
        assert_eq!(refused((32_000, 321), (30_000, 0)), MateFoldError::Narrower { from: 321, to: 320 });
    }
}
