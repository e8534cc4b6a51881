//! One record: decoded, proved on the board, turned into a row, or refused.

use super::mates::{Folded, MateFold};
use super::report::Reason;
use crate::psv::{Layout, Record, RecordFault};
use crate::write::{CorpusRow, RowGroup};
use manaka_core::conventions::NO_CP;
use manaka_core::{Color, Move16};
use manaka_shogi::{Trail, Unplayable};

/// Judges records; every thread has one. What it says about a record depends on nothing but the record.
pub(super) struct Judge {
    layout: Layout,
    mates: Option<MateFold>,
    record: Record,
    trail: Trail,
}

/// What became of scores, and what else is worth a word.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub unlisted: u64,
    pub mates_folded: u64,
    pub scores_clamped: u64,
}

/// Why a record is refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(super) enum Refusal {
    #[error(transparent)]
    Record(#[from] RecordFault),
    #[error(transparent)]
    Unplayable(#[from] Unplayable),
    #[error("no move was played")]
    NoMove,
    #[error("{0} is not legal")]
    IllegalMove(Move16),
    #[error("every candidate is absent")]
    NoCandidates,
    #[error("candidate {at}: {mv} is not legal")]
    IllegalCandidate { at: usize, mv: Move16 },
    #[error("candidate {at}: {mv} is there twice")]
    DuplicateCandidate { at: usize, mv: Move16 },
    #[error("{0} is no score")]
    NoScore(i16),
    #[error("the score {0} is beyond the engine's mate scale")]
    BeyondScale(i16),
}

impl Refusal {
    pub(super) const fn reason(&self) -> Reason {
        match self {
            Self::Record(fault) => Reason::of(fault),
            Self::Unplayable(_) => Reason::Unplayable,
            Self::NoMove => Reason::NoMove,
            Self::IllegalMove(_) => Reason::IllegalMove,
            Self::NoCandidates => Reason::NoCandidates,
            Self::IllegalCandidate { .. } => Reason::IllegalCandidate,
            Self::DuplicateCandidate { .. } => Reason::DuplicateCandidate,
            Self::NoScore(_) | Self::BeyondScale(_) => Reason::BadScore,
        }
    }
}

impl Judge {
    pub(super) fn new(layout: Layout, mates: Option<MateFold>) -> Self {
        Self { layout, mates, record: Record::default(), trail: Trail::default() }
    }

    /// Appends the row of a record to `rows`, and gives its ply.
    pub(super) fn judge(
        &mut self,
        bytes: &[u8],
        rows: &mut RowGroup,
        counts: &mut Counts,
    ) -> Result<u16, Refusal> {
        self.layout.decode(bytes, &mut self.record)?;
        self.trail.step(&self.record.packed)?;
        let mv = self.moves()?;
        let cp = self.scores(counts)?;
        counts.unlisted += u64::from(!self.record.candidates.iter().any(|&(listed, _)| listed == mv));
        let record = &self.record;
        rows.push(&CorpusRow {
            packed: &record.packed,
            ply: record.ply,
            cp,
            // Raw records know of no depth.
            depth: 0,
            candidates: &record.candidates,
            mv,
            result: match record.packed.side() {
                Color::Black => record.result,
                Color::White => -record.result,
            },
        });
        Ok(record.ply)
    }

    /// Proves the moves; gives the one that was played.
    fn moves(&mut self) -> Result<Move16, Refusal> {
        let Self { trail, record, .. } = self;
        let mv = record.mv.ok_or(Refusal::NoMove)?;
        trail.played(mv);
        if !trail.is_legal(mv) {
            return Err(Refusal::IllegalMove(mv));
        }
        if record.candidates.is_empty() {
            if self.layout.candidates > 0 {
                return Err(Refusal::NoCandidates);
            }
            // The plain form lists nothing: the move that was played is all that is known.
            record.candidates.push((mv, record.score));
        }
        for (at, &(listed, _)) in record.candidates.iter().enumerate() {
            if listed != mv && !trail.is_legal(listed) {
                return Err(Refusal::IllegalCandidate { at, mv: listed });
            }
            if record.candidates[..at].iter().any(|&(earlier, _)| earlier == listed) {
                return Err(Refusal::DuplicateCandidate { at, mv: listed });
            }
        }
        Ok(mv)
    }

    /// Folds the scores, if that is asked for; gives the root's.
    fn scores(&mut self, counts: &mut Counts) -> Result<i16, Refusal> {
        let mates = self.mates;
        let (mut folded, mut clamped) = (0, 0);
        let mut score = |cp: i16| {
            if cp == NO_CP {
                return Err(Refusal::NoScore(cp));
            }
            let Some(mates) = mates else { return Ok(cp) };
            let result = mates.fold(cp).ok_or(Refusal::BeyondScale(cp))?;
            folded += u64::from(matches!(result, Folded::Mate(_)));
            clamped += u64::from(matches!(result, Folded::Clamped(_)));
            Ok(result.cp())
        };
        let root = score(self.record.score)?;
        for (_, cp) in &mut self.record.candidates {
            *cp = score(*cp)?;
        }
        counts.mates_folded += folded;
        counts.scores_clamped += clamped;
        Ok(root)
    }
}
