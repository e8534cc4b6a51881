//! Scores of an engine as the 16 bits of a record.

use crate::usi::message::Score;

/// The scale mates are folded to.
///
/// A mate in n plies is ±(scale − n), and never less than scale − [slack](Self::SLACK) from zero: a mate further away,
/// or one of unknown distance and without a line of play to count, has exactly that. Other scores stop one short of it,
/// so what is a mate and what is not can be told by the number alone, with the mate threshold readers use when none is
/// stated (conventions.md §3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MateScale(u16);

impl MateScale {
    /// How far below the scale mates reach.
    pub const SLACK: u16 = manaka_core::conventions::MATE_SLACK_FALLBACK;

    /// A scale; `None` unless it is above the slack and within the 16 bits of a score.
    #[must_use]
    pub const fn new(scale: u16) -> Option<Self> {
        if scale > Self::SLACK && scale <= i16::MAX.cast_unsigned() { Some(Self(scale)) } else { None }
    }

    /// The scale.
    #[must_use]
    pub const fn get(self) -> u16 {
        self.0
    }

    /// The least mate.
    const fn threshold(self) -> u16 {
        self.0 - Self::SLACK
    }

    /// The score of a line of play of `plies` plies.
    #[must_use]
    pub fn fold(self, score: Score, plies: u32) -> i16 {
        let (negative, size) = match score {
            Score::Cp(cp) => {
                let most = u64::from(self.threshold() - 1);
                (cp < 0, u16::try_from(cp.unsigned_abs().min(most)).unwrap_or(u16::MAX))
            }
            Score::Mate { wins, plies: stated } => {
                let unknown = u32::from(Self::SLACK);
                let distance = stated.unwrap_or(if plies == 0 { unknown } else { plies }).min(unknown);
                (!wins, self.0 - u16::try_from(distance).unwrap_or(Self::SLACK))
            }
        };
        // At most the scale, which fits.
        let size = size.cast_signed();
        if negative { -size } else { size }
    }

    /// Whether a folded score is a mate.
    #[must_use]
    pub const fn is_mate(self, score: i16) -> bool {
        score.unsigned_abs() >= self.threshold()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCALE: MateScale = MateScale(30000);

    fn mate(wins: bool, plies: Option<u32>) -> Score {
        Score::Mate { wins, plies }
    }

    #[test]
    fn mates_are_the_scale_less_their_distance() {
        assert_eq!(SCALE.fold(mate(true, Some(1)), 1), 29999);
        assert_eq!(SCALE.fold(mate(false, Some(12)), 12), -29988);
        assert_eq!(SCALE.fold(mate(false, Some(0)), 0), -30000);
        assert_eq!(SCALE.fold(mate(true, Some(320)), 9), 29680);
        assert_eq!(SCALE.fold(mate(true, Some(u32::MAX)), 9), 29680);
        assert_eq!(SCALE.fold(mate(false, Some(9999)), 9), -29680);
    }

    #[test]
    fn mates_of_unknown_distance_are_as_long_as_their_line_of_play() {
        assert_eq!(SCALE.fold(mate(true, None), 7), 29993);
        assert_eq!(SCALE.fold(mate(false, None), 4), -29996);
        assert_eq!(SCALE.fold(mate(true, None), 0), 29680);
        assert_eq!(SCALE.fold(mate(false, None), 0), -29680);
    }

    #[test]
    fn other_scores_stay_under_every_mate() {
        for cp in [29680, 30000, 32768, 1_148_897, i64::MAX] {
            assert_eq!(SCALE.fold(Score::Cp(cp), 3), 29679);
            assert_eq!(SCALE.fold(Score::Cp(-cp), 3), -29679);
        }
        assert_eq!(SCALE.fold(Score::Cp(i64::MIN), 3), -29679);
        for cp in [0, 35, -35, 29679, -29679] {
            assert_eq!(i64::from(SCALE.fold(Score::Cp(cp), 3)), cp);
        }
    }

    #[test]
    fn what_is_a_mate_is_told_by_the_number_as_readers_tell_it() {
        use manaka_core::Conventions;
        let readers = Conventions { mate_scale: 30000, ..Conventions::TEACHER };
        for score in i16::MIN..=i16::MAX {
            assert_eq!(SCALE.is_mate(score), readers.is_mate(score), "{score}");
        }
    }

    #[test]
    fn scales_that_leave_no_room_are_none() {
        assert!(
            MateScale::new(320).is_none() && MateScale::new(0).is_none() && MateScale::new(32768).is_none()
        );
        assert_eq!(MateScale::new(321).unwrap().fold(Score::Cp(500), 1), 0);
        assert_eq!(MateScale::new(32767).unwrap().fold(mate(true, Some(0)), 0), i16::MAX);
    }
}
