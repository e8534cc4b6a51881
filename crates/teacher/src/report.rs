//! What a conversion did, as numbers.

use crate::refusal::Reason;
use manaka_core::stream::PartsSummary;
use std::fmt;

/// Refused rows by reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts([u64; Reason::ALL.len()]);

impl Counts {
    /// Rows refused for a reason.
    #[must_use]
    pub const fn get(&self, reason: Reason) -> u64 {
        self.0[reason as usize]
    }

    /// Rows refused in all.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Every reason with its count, zeros included, in the order of precedence.
    pub fn iter(&self) -> impl Iterator<Item = (Reason, u64)> {
        Reason::ALL.into_iter().zip(self.0)
    }

    pub(crate) const fn count(&mut self, reason: Reason) {
        self.0[reason as usize] += 1;
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (sum, more) in self.0.iter_mut().zip(other.0) {
            *sum += more;
        }
    }
}

/// What a conversion did.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// Rows read.
    pub rows: u64,
    /// Rows that became a record.
    pub written: u64,
    /// Of these, records without an outcome: rows whose played move is not among the candidates, kept on request.
    pub off_search: u64,
    /// Rows that did not.
    pub rejected: Counts,
    /// Records with a mate among their scores, root or candidate, under the conventions stated.
    pub mates: u64,
    /// Records with a score, root or candidate, beyond the mate scale stated: no corpus on that scale has one, so the
    /// scale is wrong. Always 0 when no scale is stated.
    pub beyond_mate_scale: u64,
    /// The parts written.
    pub parts: PartsSummary,
}

/// The summary as it is printed: how many rows, and all reasons, the commonest kinds first.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rejected = self.rejected.total();
        write!(f, "{} rows read, {} written, {rejected} rejected", self.rows, self.written)?;
        for line in [
            &[Reason::MoveNotCandidate, Reason::MalformedRecord][..],
            &[Reason::BadSfen, Reason::SideMismatch, Reason::IllegalCandidate],
            &[Reason::UnlabelledMove, Reason::NoLegalMoves],
        ] {
            f.write_str("\n")?;
            for &reason in line {
                write!(f, "  {}={}", reason.id(), self.rejected.get(reason))?;
            }
        }
        if self.off_search > 0 {
            write!(f, "\n  kept off the search, without an outcome: {}", self.off_search)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_has_the_shape_that_cards_print() {
        let mut report = Report { rows: 19522, written: 19100, ..Report::default() };
        for _ in 0..420 {
            report.rejected.count(Reason::MoveNotCandidate);
        }
        for _ in 0..2 {
            report.rejected.count(Reason::MalformedRecord);
        }
        assert_eq!(
            report.to_string(),
            "19522 rows read, 19100 written, 422 rejected\n  move_not_candidate=420  malformed_record=2\n  \
             bad_sfen=0  side_mismatch=0  illegal_candidate=0\n  unlabelled_move=0  no_legal_moves=0"
        );
        let kept = Report { off_search: 420, ..Report::default() }.to_string();
        assert!(kept.ends_with("no_legal_moves=0\n  kept off the search, without an outcome: 420"), "{kept}");
    }
}
