//! Is this data healthy, and what does it look like: streams and shards, judged and shown.
//!
//! * [`check()`] judges files and gives a [`Report`]; [`CHECKS`] is the table of everything it can find;
//! * [`info()`] gives what a file states about itself;
//! * [`stat()`] measures a set of data in one pass and gives a [`Stat`]; [`ALARMS`] is the table of what it warns of;
//! * [`card()`] writes the card a set of data is published with: [`stat()`]'s figures and what files and reports state;
//! * [`cat()`] prints records and rows as lines, all of them or those that meet conditions;
//! * [`view()`] gives records and rows as a person reads them, board drawn, and [`Viewer`] one by one; [`board_text`],
//!   [`board_svg`] and [`board_png`] draw a position by itself.
//!
//! Each result is one value that prints twice: as text by `Display`, as JSON by serde. Nothing here prints.
// A checker that dies on the file it is to judge has judged nothing.
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::cast_possible_truncation)]

mod card;
mod cat;
mod check;
mod error;
mod finding;
mod info;
mod report;
mod shuffle;
mod sniff;
mod source;
mod stat;
mod threads;
mod view;

pub use card::{Card, CardOptions, MANIFESTS, Replace, card};
pub use cat::{CatOptions, CatSummary, Extent, LineFormat, cat};
pub use check::{CheckOptions, check};
pub use error::{Error, Result};
pub use finding::{CHECKS, Check, Finding, Severity, Subject};
pub use info::{ColumnInfo, CorpusInfo, Info, PsvInfo, ShardInfo, StreamInfo, info};
pub use report::{BlockFigure, KindCount, Report, ShuffleFigures, Totals};
pub use stat::{
    ALARMS, Alarm, AlarmKind, Bar, BoardFigures, CalibrationBin, CandidateFigures, Classes, DuplicateFigures,
    GameFigures, MateBand, OutcomeFigures, PartFigures, PlyBin, ScaleFigures, ScoreFigures, Spread, Stat,
    StatOptions, StatTotals, Stated, ValueCount, ValueFigures, VisitFigures, grouped, stat,
};
pub use view::{
    CandidateView, Entry, Format, Notation, PositionView, SCALE, Selection, View, Viewer, board_png,
    board_svg, board_text, view,
};
