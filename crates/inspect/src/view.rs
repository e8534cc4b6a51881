//! Records and rows as a person reads them: the board drawn, candidates in USI with what was said about them.

mod board;
mod glyphs;
mod kif;
mod picture;
mod png;
mod svg;
mod text;
mod trace;
mod viewer;

use crate::finding::lossy;
use manaka_core::{Move16, Packed};
use serde::Serialize;
use std::path::PathBuf;

pub use board::board_text;
pub use png::{SCALE, board_png};
pub use svg::board_svg;
pub use viewer::{Viewer, view};

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
    /// Rows of a corpus.
    Corpus,
    /// Records of raw PSV.
    Psv,
}

impl Format {
    /// What one of them is called.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Stream | Self::Psv => "record",
            Self::Shard | Self::Corpus => "row",
        }
    }
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
    /// Which half of a candidate is the policy, where the file states it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy_source: Option<&'static str>,
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
    Position(Box<PositionView>),
    /// A record that breaks a rule of the stream, a row of a corpus or a raw record that cannot be read.
    Faulty {
        /// Its number, from 0.
        number: u64,
        /// The byte offset of a record in the decompressed stream.
        #[serde(skip_serializing_if = "Option::is_none")]
        offset: Option<u64>,
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
    /// The move that led to it, where the record or row before it tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_move: Option<String>,
    /// Records folded into a row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<u32>,
    /// The outcome; score shards have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_z: Option<f32>,
    /// The root value; corpora and raw PSV have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_q: Option<f32>,
    /// The score of the root, which corpora and raw PSV state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root_cp: Option<i16>,
    /// The move that was played here, which they name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub played: Option<String>,
    /// Why the position cannot be played on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unplayable: Option<String>,
    /// The candidates, in the order of the file.
    pub candidates: Vec<CandidateView>,
    /// The last move as kifu files write it; empty where it is not known.
    #[serde(skip)]
    last_kif: String,
    #[serde(skip)]
    last: Option<Move16>,
    #[serde(skip)]
    packed: Packed,
}

impl PositionView {
    /// The position.
    #[must_use]
    pub const fn packed(&self) -> &Packed {
        &self.packed
    }

    /// The move that led to it, where it is known.
    #[must_use]
    pub const fn last(&self) -> Option<Move16> {
        self.last
    }
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
    /// The move as kifu files write it; empty where it makes no sense on the board.
    #[serde(skip)]
    kif: String,
}
