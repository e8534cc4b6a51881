//! Records and rows as a person reads them: the board drawn, candidates in USI with what was said about them.

mod board;
mod read;
mod svg;
mod text;

use crate::finding::lossy;
use manaka_core::Packed;
use serde::Serialize;
use std::path::PathBuf;

pub use board::board_text;
pub use read::view;
pub use svg::board_svg;

/// Which records or rows to show, counted from 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Selection {
    /// The first.
    pub start: u64,
    /// How many; fewer are shown where the file ends before.
    pub count: u64,
}

/// How boards are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Notation {
    /// With kanji, which are two cells wide, as kifu files draw them; a shogi program can read such a board.
    #[default]
    Kanji,
    /// With the letters of SFEN.
    Ascii,
}

/// What a file is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Records of a stream.
    Stream,
    /// Rows of a shard.
    Shard,
}

/// Some records or rows of a file; text by `Display`, JSON by serde.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct View {
    /// The file.
    #[serde(serialize_with = "lossy")]
    pub path: PathBuf,
    /// What it is.
    pub format: Format,
    /// Whose view scores and values are in.
    pub pov: &'static str,
    /// Which half of a candidate is the policy.
    pub policy_source: &'static str,
    /// What was asked for.
    pub entries: Vec<Entry>,
    #[serde(skip)]
    notation: Notation,
}

/// A record or a row.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum Entry {
    /// One that can be shown.
    Position(PositionView),
    /// A record that breaks a rule of the stream.
    Faulty {
        /// Its number, from 0.
        number: u64,
        /// Its byte offset in the decompressed stream.
        offset: u64,
        /// The stable name of the rule.
        id: &'static str,
        /// What is wrong.
        message: String,
    },
}

/// A position and what is said about it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PositionView {
    /// The number of the record or row, from 0.
    pub number: u64,
    /// The byte offset of a record in the decompressed stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// The position.
    pub sfen: String,
    /// `black` or `white`.
    pub side: &'static str,
    /// The move number.
    pub ply: u16,
    /// Records folded into a row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<u32>,
    /// The outcome; score shards have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_z: Option<f32>,
    /// The root value.
    pub value_q: f32,
    /// Why the position cannot be played on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unplayable: Option<String>,
    /// The candidates, in the order of the file.
    pub candidates: Vec<CandidateView>,
    #[serde(skip)]
    packed: Packed,
}

/// A candidate and what is said about it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CandidateView {
    /// The move in USI.
    pub usi: String,
    /// Its score, in the view the file names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cp: Option<i16>,
    /// Whether the score is a mate.
    pub mate: bool,
    /// How often it was visited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visits: Option<u32>,
    /// The policy: what a row states, or a record's share of the visits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prob: Option<f32>,
    /// Whether the rules allow it; absent when the position cannot be played on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub legal: Option<bool>,
}
