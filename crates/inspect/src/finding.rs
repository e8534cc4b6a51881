//! What a check can find: the one table of ids, and a finding with its place.

use serde::{Serialize, Serializer};
use std::fmt;
use std::path::{Path, PathBuf};

/// How bad a finding is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The data breaks a rule.
    Error,
    /// The data keeps the rules and is probably not what was meant.
    Warning,
    /// Worth knowing. Not a finding that makes data unhealthy.
    Note,
}

impl Severity {
    /// The name in reports.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// What a check looks at.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// A stream file or its records.
    Stream,
    /// A shard or its rows.
    Shard,
    /// Either.
    Both,
}

/// One thing a check can find.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Check {
    /// The stable name.
    pub id: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What it is found in.
    pub subject: Subject,
    /// What it means.
    pub sentence: &'static str,
}

macro_rules! checks {
    ($($variant:ident $id:literal $severity:ident $subject:ident $sentence:literal;)*) => {
        /// A row of [`CHECKS`], by name.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub(crate) enum Id { $($variant),* }

        impl Id {
            const ALL: &[Self] = &[$(Self::$variant),*];
        }

        /// Everything a check can find. Findings at one place are listed in this order.
        pub const CHECKS: &[Check] = &[$(Check {
            id: $id,
            severity: Severity::$severity,
            subject: Subject::$subject,
            sentence: $sentence,
        }),*];
    };
}

checks! {
    // stream.md §6.1, the header.
    Empty "empty" Error Stream "the file holds not a single byte";
    Magic "magic" Error Stream "the file is neither an MPK1 stream nor Parquet";
    Version "version" Error Stream "the header states a version that is not known";
    PackedLen "packed_len" Error Stream "the header states positions of another width than 96 bytes";
    Pov "pov" Error Stream "the header states an unknown point of view";
    PolicySource "policy_source" Error Stream "the header states an unknown policy source";
    Reserved "reserved" Error Stream "the reserved field of a version 1 header is not zero";
    Flags "flags" Error Stream "the header has flag bits that are not known";
    InconsistentHeader "inconsistent_header" Error Stream "fields of the header contradict one another";
    Conflict "conflict" Error Stream "the stream states another convention than the first one: they must not be folded together";
    // shards.md §2, §3 and §7.
    NotAShard "not_a_shard" Error Shard "the Parquet file has not the schema or the footer of a shard";
    InconsistentFooter "inconsistent_footer" Error Shard "values of the footer contradict one another";
    FooterConflict "footer_conflict" Error Shard "the footer states another convention than that of the first shard";
    RowGroupSize "row_group_size" Error Shard "a row group but the last has not 8192 rows, or their sum is not what the footer says";
    FooterKeys "footer_keys" Warning Shard "the footer has not exactly the keys this program writes; nothing vouches for the values of others";
    UnusedScale "unused_scale" Warning Both "visits carry no centipawns, and a centipawn scale is stated for them";
    HeaderVersion "header_version" Note Stream "the header has version 1, which cannot state a mate slack";
    MixedWriters "mixed_writers" Note Shard "the shards were not all written by one program version";
    NoRecords "no_records" Note Stream "the stream is a header without records";
    NoRows "no_rows" Note Shard "the shard has no rows";
    // stream.md §6.2 and §6.4.
    SecondHeader "second_header" Error Stream "a header stands where a record should begin: streams were concatenated";
    Truncated "truncated" Error Stream "the stream ends inside its header or a record";
    Compression "compression" Error Stream "the zstd data is damaged";
    Unreadable "unreadable" Error Both "a part of the file cannot be decoded; what is in it was not checked";
    // stream.md §6.3; the value rules hold for rows too.
    NoCandidates "no_candidates" Error Stream "a record lists no move";
    ValueZ "value_z" Error Both "value_z is no outcome: not -1, 0 or 1 in a record, not in [-1, 1] in a row";
    ValueQ "value_q" Error Both "value_q is not in [-1, 1]";
    Move16 "move16" Error Both "a candidate's bits are no move";
    SomeVisits "some_visits" Error Stream "some candidates have visits and some have none";
    SomeCp "some_cp" Error Stream "some candidates have a cp and some have none";
    MissingHalf "missing_half" Error Stream "the half of the candidates that the policy source names is absent";
    ForeignHalf "foreign_half" Error Stream "the half of the candidates that the policy source does not name is present";
    // What needs the position.
    UnsoundPosition "unsound_position" Error Both "the 96 bytes are no position of shogi";
    UnplayablePosition "unplayable_position" Error Both "no game reaches the position: the king could be captured";
    IllegalCandidate "illegal_candidate" Error Both "a candidate is no legal move on the board";
    DuplicateMove "duplicate_move" Error Both "a move stands twice among the candidates";
    // shards.md §4 and §5.
    Weight "weight" Error Shard "the weight is 0: a row folds at least one record";
    ValueZMean "value_z_mean" Error Shard "value_z is no mean of at most as many outcomes as the weight counts";
    CpAbsent "cp_absent" Error Shard "a cp is -32768, the marker for none";
    CpAboveMateScale "cp_above_mate_scale" Warning Both "a score lies above the mate scale: the scale that is stated is not the one that was used";
    CandidateOrder "candidate_order" Error Shard "the candidates are not in the order in which they are written";
    ProbRange "prob_range" Error Shard "a prob is out of range: above 1, below 0, no number, or 0 for a move that was visited";
    ProbSum "prob_sum" Error Shard "the probs of a row do not sum to 1";
    ProbMismatch "prob_mismatch" Error Shard "a prob is not what the row's own cp give at the footer's temperature";
    OneHot "one_hot" Error Shard "a row with a mate is not one-hot on its best candidate";
    RepeatedPosition "repeated_position" Error Shard "a position stands in two rows of the set";
    ShuffleAutocorrelation "shuffle_autocorrelation" Error Shard "neighbouring rows have related plies: the rows are not shuffled";
    ShuffleTrend "shuffle_trend" Error Shard "ply goes with the row index: the rows are not shuffled";
    ShuffleBlocks "shuffle_blocks" Error Shard "the mean ply of blocks of rows does not vary as it would in a uniform shuffle";
    ShuffleNotJudged "shuffle_not_judged" Note Shard "the shuffle, or a part of it, could not be judged";
}

impl Id {
    /// How many there are.
    pub(crate) const COUNT: usize = CHECKS.len();

    pub(crate) const fn check(self) -> &'static Check {
        &CHECKS[self as usize]
    }

    /// All of them, in table order.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied()
    }

    /// The check of a stream error, by its stable name. A kind that is newer than this table is at least unreadable.
    pub(crate) fn of_stream(kind: &manaka_core::stream::Kind) -> Self {
        Self::all().find(|id| id.check().id == kind.id()).unwrap_or(Self::Unreadable)
    }
}

/// Something found, with its place.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Finding {
    /// The id of the check in [`CHECKS`].
    pub id: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// The file; absent when it is about all shards together.
    #[serde(serialize_with = "lossy_option")]
    pub path: Option<PathBuf>,
    /// The record of a stream, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<u64>,
    /// The row of a shard, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<u64>,
    /// The byte offset in the decompressed stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// What was found.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(f, "{}: ", path.display())?,
            None => f.write_str("all shards: ")?,
        }
        if let Some(record) = self.record {
            write!(f, "record {record}")?;
            match self.offset {
                Some(offset) => write!(f, " at byte {offset}: ")?,
                None => f.write_str(": ")?,
            }
        }
        if let Some(row) = self.row {
            write!(f, "row {row}: ")?;
        }
        write!(f, "{}: {}", self.id, self.message)
    }
}

/// Where something was found, within a file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// In what the file states about itself.
    Head,
    /// In a record, with its byte offset.
    Record(u64, u64),
    /// In a row.
    Row(u64),
    /// In all rows of a file together.
    Whole,
}

impl Place {
    /// Orders the places of a file.
    pub(crate) const fn rank(self) -> u64 {
        match self {
            Self::Head => 0,
            Self::Record(number, _) | Self::Row(number) => number.saturating_add(1),
            Self::Whole => u64::MAX,
        }
    }

    /// A finding at this place.
    pub(crate) fn finding(self, id: Id, path: Option<&Path>, message: String) -> Finding {
        let Check { id, severity, .. } = *id.check();
        let path = path.map(Path::to_owned);
        let (record, row, offset) = match self {
            Self::Head | Self::Whole => (None, None, None),
            Self::Record(number, offset) => (Some(number), None, Some(offset)),
            Self::Row(number) => (None, Some(number), None),
        };
        Finding { id, severity, path, record, row, offset, message }
    }
}

/// A path as JSON can hold it: names that are no UTF-8 lose the bytes that are none.
pub(crate) fn lossy<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

pub(crate) fn lossy_option<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    match path {
        Some(path) => lossy(path, serializer),
        None => serializer.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_distinct_snake_case_names_and_each_has_a_sentence() {
        for (at, check) in CHECKS.iter().enumerate() {
            assert!(check.id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'));
            assert!(CHECKS[..at].iter().all(|other| other.id != check.id), "{} twice", check.id);
            assert!(check.sentence.len() > 10 && !check.sentence.ends_with('.'), "{}", check.id);
            assert_eq!(Id::ALL[at].check(), check);
        }
    }
}
