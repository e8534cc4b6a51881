//! What a conversion did.

use crate::psv::detect::MoveTally;
use crate::psv::{Layout, RecordFault};
use crate::write::FileSummary;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// Why a record is not among the rows; the first of this list that applies (psv.md §7.1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "psv.md §7.1 says what each one means")]
pub enum Reason {
    BadPosition,
    BadResult,
    BadMove,
    BadCandidate,
    Unplayable,
    NoMove,
    IllegalMove,
    NoCandidates,
    IllegalCandidate,
    DuplicateCandidate,
    BadScore,
}

impl Reason {
    /// All of them, in the order in which a record is looked at.
    pub const ALL: [Self; 11] = [
        Self::BadPosition,
        Self::BadResult,
        Self::BadMove,
        Self::BadCandidate,
        Self::Unplayable,
        Self::NoMove,
        Self::IllegalMove,
        Self::NoCandidates,
        Self::IllegalCandidate,
        Self::DuplicateCandidate,
        Self::BadScore,
    ];

    /// Its stable name.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::BadPosition => "bad_position",
            Self::BadResult => "bad_result",
            Self::BadMove => "bad_move",
            Self::BadCandidate => "bad_candidate",
            Self::Unplayable => "unplayable",
            Self::NoMove => "no_move",
            Self::IllegalMove => "illegal_move",
            Self::NoCandidates => "no_candidates",
            Self::IllegalCandidate => "illegal_candidate",
            Self::DuplicateCandidate => "duplicate_candidate",
            Self::BadScore => "bad_score",
        }
    }

    pub(super) const fn of(fault: &RecordFault) -> Self {
        match fault {
            // A record of another length is not handed over.
            RecordFault::Position(_) | RecordFault::Length { .. } => Self::BadPosition,
            RecordFault::Result(_) => Self::BadResult,
            RecordFault::Move { .. } => Self::BadMove,
            RecordFault::Candidate { .. } => Self::BadCandidate,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// A record that was refused.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Refused {
    /// Its file.
    #[serde(serialize_with = "super::json::lossy")]
    pub path: PathBuf,
    /// Its number there, from 0.
    pub record: u64,
    /// The byte at which it begins.
    pub offset: u64,
    /// Why.
    pub reason: Reason,
    /// In words.
    pub detail: String,
}

/// A file that ends inside a record: it was truncated, or its writer died. Every whole record was taken.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct TornTail {
    /// The file.
    #[serde(serialize_with = "super::json::lossy")]
    pub path: PathBuf,
    /// Whole records in front of it.
    pub record: u64,
    /// The byte at which it begins.
    pub offset: u64,
    /// Its bytes.
    pub bytes: u64,
}

impl fmt::Display for TornTail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, record, offset, bytes } = self;
        write!(f, "{}: truncated: record {record} at byte {offset} has only {bytes} bytes", path.display())
    }
}

/// What a conversion did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// How the records were read.
    pub layout: Layout,
    /// What the sample said about their moves.
    pub tally: MoveTally,
    /// Whole records read.
    pub records: u64,
    /// Rows written.
    pub rows: u64,
    /// Games among the rows: one begins at every row whose ply is not above that of the row before.
    pub games: u64,
    /// Rows whose played move is not among their candidates; they were written.
    pub unlisted: u64,
    /// Records refused, by reason; reasons that did not come up are left out.
    pub refused: BTreeMap<Reason, u64>,
    /// The first of them, in the order of the inputs; at most [`Report::REFUSED_SHOWN`].
    pub refused_first: Vec<Refused>,
    /// Files that end inside a record.
    pub torn: Vec<TornTail>,
    /// Scores of mates that were moved to the new scale; 0 unless scores are folded.
    pub mates_folded: u64,
    /// Ordinary scores that were clamped below the new scale's mates; 0 unless scores are folded.
    pub scores_clamped: u64,
    /// The files written.
    pub files: Vec<FileSummary>,
}

impl Report {
    /// Refused records that are kept to be shown.
    pub const REFUSED_SHOWN: usize = 10;

    /// Records refused.
    #[must_use]
    pub fn refused_total(&self) -> u64 {
        self.refused.values().sum()
    }

    /// Whether there is something to tell: refused records or a torn tail.
    #[must_use]
    pub fn has_findings(&self) -> bool {
        self.refused_total() > 0 || !self.torn.is_empty()
    }
}
