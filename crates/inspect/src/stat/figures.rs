//! The report of `stat`: one value, printed as text, as JSON and as a page.

use super::alarm::Alarm;
use crate::finding::lossy;
use crate::info::ColumnInfo;
use crate::report::ShuffleFigures;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The figures of a set of data.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Stat {
    /// Whether no alarm went off.
    pub ok: bool,
    /// What the files are: `stream`, `shard`, `corpus` or `psv`.
    pub kind: &'static str,
    /// The conventions that headers or footers state; absent where the data states none.
    pub stated: Option<Stated>,
    /// What was looked at.
    pub totals: StatTotals,
    /// Every file, in order.
    pub parts: Vec<PartFigures>,
    /// Rows of a corpus and raw records that could not be read, by reason. Nothing else counts them.
    pub refused: BTreeMap<String, u64>,
    /// Games; absent for shards, whose rows are shuffled.
    pub games: Option<GameFigures>,
    /// Plies of records.
    pub ply: Spread,
    /// Every ply that came, ascending, with the outcomes at it from Black.
    pub plies: Vec<PlyBin>,
    /// Outcomes; absent where there are none, as in shards of scores.
    pub outcomes: Option<OutcomeFigures>,
    /// Candidates per record; absent for raw records that list none.
    pub candidates: Option<CandidateFigures>,
    /// Visits; absent where there are only scores.
    pub visits: Option<VisitFigures>,
    /// Scores of candidates from the mover; absent where there are only visits.
    pub scores: Option<ScoreFigures>,
    /// Root values, and how outcomes go with them.
    pub values: ValueFigures,
    /// Kings and pawns.
    pub board: BoardFigures,
    /// Positions that come again.
    pub duplicates: DuplicateFigures,
    /// Records folded into a row; absent where nothing is folded.
    pub weights: Option<Spread>,
    /// Columns of shards, over all of them.
    pub columns: Vec<ColumnInfo>,
    /// The row order of shards, as `check` measures it.
    pub shuffle: Vec<ShuffleFigures>,
    /// What is probably wrong, in the order of [`ALARMS`](super::ALARMS).
    pub alarms: Vec<Alarm>,
}

/// The conventions of the data (conventions.md §2).
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Stated {
    /// Whose view scores and outcomes are in.
    pub pov: &'static str,
    /// Which half of a candidate is the policy.
    pub policy_source: &'static str,
    /// The cp mates are folded to; 0 not applicable.
    pub mate_scale: u16,
    /// The slack in force.
    pub mate_slack: u16,
    /// The |cp| from which a score is a mate.
    pub mate_threshold: Option<u16>,
    /// The cp scale of the tanh behind values; 0 not applicable.
    pub eval_coef: f32,
    /// The `FV_SCALE` of the engine; 0 not stated.
    pub fv_scale: u16,
}

/// What was looked at.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct StatTotals {
    /// Files.
    pub files: u64,
    /// Records or rows.
    pub records: u64,
    /// Their candidates.
    pub candidates: u64,
    /// Bytes of all files on disk.
    pub bytes: u64,
    /// Bytes on disk for each record; absent for no records.
    pub bytes_per_record: Option<f64>,
}

/// One file.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PartFigures {
    /// The file.
    #[serde(serialize_with = "lossy")]
    pub path: PathBuf,
    /// Its length on disk.
    pub bytes: u64,
    /// Records or rows.
    pub records: u64,
    /// Mean ply; absent for no records, like the means below.
    pub ply: Option<f64>,
    /// Mean number of candidates.
    pub candidates: Option<f64>,
    /// Mean |value| of the roots, in [0, 1].
    pub value: Option<f64>,
    /// Mean outcome for Black, in [-1, 1].
    pub outcome: Option<f64>,
}

/// How a number is spread. Percentiles from 1024 on are rounded down by less than 0.8 percent.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Spread {
    /// How many there are.
    pub count: u64,
    /// The least.
    pub least: u64,
    /// Percentiles: the least number that so many percent are not above.
    pub p1: u64,
    /// 5 percent.
    pub p5: u64,
    /// 25 percent.
    pub p25: u64,
    /// The median.
    pub p50: u64,
    /// 75 percent.
    pub p75: u64,
    /// 95 percent.
    pub p95: u64,
    /// 99 percent.
    pub p99: u64,
    /// The greatest.
    pub greatest: u64,
    /// The mean.
    pub mean: f64,
}

/// A value, and how often it came.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ValueCount {
    /// The value.
    pub value: u64,
    /// How often it came.
    pub count: u64,
}

/// Outcomes by class, in records.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct Classes {
    /// Lost.
    pub lost: u64,
    /// Drawn.
    pub drawn: u64,
    /// Won.
    pub won: u64,
    /// The mean of several games, which is none of these.
    pub mixed: u64,
    /// Not known: the record, or every record of the row, leaves its outcome out. No draw.
    pub unknown: u64,
}

/// Games: a record whose ply is not above that of the record before opens one.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct GameFigures {
    /// Games.
    pub games: u64,
    /// Borders between two files that have records.
    pub joins: u64,
    /// Of these, borders inside a game, which is counted once.
    pub joins_inside: u64,
    /// The plies at which games open, most frequent first.
    pub opens: Vec<ValueCount>,
    /// The ply of their last records.
    pub last_ply: Spread,
    /// Records of each.
    pub records: Spread,
    /// Games by number of records, ascending.
    pub lengths: Vec<ValueCount>,
    /// Records that follow one of their game.
    pub followers: u64,
    /// Of these, records more than one ply behind it.
    pub gaps: u64,
    /// The widest such step.
    pub widest_gap: u64,
    /// Games by the outcome of their last record, from Black.
    pub outcomes: Classes,
    /// Games of at least 10 records.
    pub compared: u64,
    /// The share of these that repeat another one position for position; estimated from one in `repeats_one_in`.
    pub repeated: f64,
    /// How often the most frequent game seen was played.
    pub most_repeated: u64,
    /// 1 when every game was compared.
    pub repeats_one_in: u64,
}

/// Records at one ply.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PlyBin {
    /// The ply.
    pub ply: u64,
    /// Records at it.
    pub records: u64,
    /// Their outcomes from Black; all 0 where the data has none.
    pub black: Classes,
}

/// Outcomes of records.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct OutcomeFigures {
    /// From the side to move.
    pub mover: Classes,
    /// From the side to move where that is Black.
    pub black_to_move: Classes,
    /// From the side to move where that is White.
    pub white_to_move: Classes,
    /// From Black.
    pub black: Classes,
    /// Draws stored as −0.0.
    pub negative_zeros: u64,
}

/// Candidates per record.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CandidateFigures {
    /// How many a record has.
    pub spread: Spread,
    /// Records with a single one.
    pub single: u64,
    /// Records that a fixed width of 5 would cut.
    pub wider_than_5: u64,
    /// Records that a fixed width of 64 would cut.
    pub wider_than_64: u64,
    /// Records by number of candidates, ascending.
    pub counts: Vec<ValueCount>,
}

/// Visits.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct VisitFigures {
    /// Over all candidates of a record.
    pub per_record: Spread,
    /// Of a candidate.
    pub per_candidate: Spread,
    /// Candidates visited exactly once.
    pub once: u64,
}

/// Scores between two bounds.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Bar {
    /// The least score counted, in cp from the mover.
    pub from: i32,
    /// The first score that is not.
    pub to: i32,
    /// Scores counted.
    pub count: u64,
}

/// A band of mates set apart by a gap, in |cp|.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct MateBand {
    /// The highest |cp|.
    pub top: u16,
    /// The lowest |cp| of the band.
    pub bottom: u16,
    /// Scores in it.
    pub scores: u64,
    /// The highest |cp| below the gap.
    pub below: u16,
    /// From there to the band.
    pub gap: u16,
    /// The scale the slack is counted from: the stated one, or the next 1000 above the band.
    pub scale: u16,
    /// The least slack under which every score of the band is a mate.
    pub slack: u16,
}

/// Scores of candidates from the mover.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ScoreFigures {
    /// How many there are.
    pub count: u64,
    /// The least cp.
    pub least: i16,
    /// The greatest cp.
    pub greatest: i16,
    /// Mates under the stated conventions.
    pub mates: u64,
    /// Scores beyond the stated scale.
    pub beyond_scale: u64,
    /// The band of mates, when a gap sets one apart.
    pub mate_band: Option<MateBand>,
    /// Scores in steps of 100 cp up to 3000 and of 1000 cp beyond; all there are, ascending.
    pub bars: Vec<Bar>,
    /// Records whose first candidate could carry the root's score; 0 in shards, which sort.
    pub slot_0_compared: u64,
    /// Of these, records where it does: the root's value is the tanh of its score.
    pub slot_0_root: u64,
}

/// Values between two bounds, and how their games ended.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CalibrationBin {
    /// The least value, in [-1, 1] from the mover.
    pub from: f64,
    /// The first value that is not counted; 1 is, in the last.
    pub to: f64,
    /// Records.
    pub records: u64,
    /// Their mean value; absent for no records.
    pub value: Option<f64>,
    /// Their mean outcome.
    pub outcome: Option<f64>,
}

/// Which scale values and outcomes speak of.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ScaleFigures {
    /// The coefficient that values were made by: the stated one, or the usual one where none is stated; absent for
    /// values that come from no score.
    pub eval_coef: Option<f32>,
    /// The `r` of `P(win) = sigmoid(2 · r · atanh(value))` that makes the outcomes likeliest; absent without a best.
    pub slope: Option<f64>,
    /// `eval_coef` over `slope`: the coefficient that outcomes speak of.
    pub fitted: Option<f64>,
    /// The coefficient that the values beside their scores speak of; absent where it cannot be told.
    pub implied: Option<f64>,
}

/// Root values from the mover, and outcomes.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ValueFigures {
    /// Whether values are stored, or made of root scores by the usual coefficient.
    pub stored: bool,
    /// Twenty bins of [-1, 1]; empty where there are no outcomes.
    pub calibration: Vec<CalibrationBin>,
    /// Of records with a value beyond ±0.2, the share won by the side it favours, a draw being half; where Black moves
    /// and where White does.
    pub favoured: [Option<f64>; 2],
    /// Records these are of.
    pub favoured_of: [u64; 2],
    /// The scale.
    pub scale: ScaleFigures,
    /// Neighbours of a game with different movers, both beyond ±0.2 for a side.
    pub neighbours: u64,
    /// The share of these that favour the same side.
    pub steady: Option<f64>,
    /// Neighbours of a game with different movers, neither drawn.
    pub decided: u64,
    /// The share of these with one winner.
    pub steady_outcome: Option<f64>,
}

/// Where kings and pawns stand.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct BoardFigures {
    /// Records with Black to move.
    pub black_to_move: u64,
    /// Black's kings by rank, 1 first; as shares of all.
    pub black_king_ranks: [f64; 9],
    /// White's kings by rank.
    pub white_king_ranks: [f64; 9],
    /// Black's unpromoted pawns by rank.
    pub black_pawn_ranks: [f64; 9],
    /// White's unpromoted pawns by rank.
    pub white_pawn_ranks: [f64; 9],
    /// Black's kings on ranks 8 and 9, as a share.
    pub black_king_home: f64,
    /// White's kings on ranks 1 and 2, as a share.
    pub white_king_home: f64,
    /// Black's pawns on rank 1 and White's on rank 9: there can be none.
    pub dead_pawns: u64,
    /// Black's kings by square index (stream.md §4.1).
    pub black_king_squares: Vec<u64>,
    /// White's kings by square index.
    pub white_king_squares: Vec<u64>,
}

/// Positions that come again.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct DuplicateFigures {
    /// Whether every record was compared; else a fixed range of the hash space was, completely.
    pub exact: bool,
    /// The range is one in so many hashes.
    pub one_in: u64,
    /// Records in the range.
    pub records: u64,
    /// Different positions in the range.
    pub positions: u64,
    /// The share of records that a fold would take away: 1 − positions / records.
    pub share: f64,
    /// The standard error of the share as one of all records; 0 when it is exact.
    pub error: f64,
    /// How often the most frequent position of the range came.
    pub most: u64,
}
