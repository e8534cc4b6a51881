//! The flags that choose records and rows, for every verb that takes them.

use crate::exit::Usage;
use anyhow::Result;
use manaka_core::select::{Outcome, Select, SelectError, Within};
use manaka_core::{Color, Move16, Packed};

/// Conditions, all of which have to be met.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "Conditions")]
pub struct Conditions {
    /// Move numbers, both ends included: 16..46, 16.., ..46 or 46.
    #[arg(long, value_name = "A..B")]
    ply: Option<Within<u16>>,

    /// Rows folded from at least so many records; everything else counts as one record.
    #[arg(long, value_name = "N")]
    min_weight: Option<u32>,

    /// Rows folded from at most so many records.
    #[arg(long, value_name = "N")]
    max_weight: Option<u32>,

    /// Only with a candidate that is a mate, by the scale and slack the file states.
    #[arg(long)]
    mate: bool,

    /// This position, whatever its move number; or startpos.
    #[arg(long, value_name = "SFEN", value_parser = Select::parse_sfen)]
    sfen: Option<Packed>,

    /// The side to move: b or w.
    #[arg(long, value_name = "SIDE", value_parser = side)]
    side: Option<Color>,

    /// Root values, both ends included, in the view the file states.
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    value_q: Option<Within<f32>>,

    /// The outcome, in the view the file states: -1, 0, 1 or none.
    #[arg(long, value_name = "Z", allow_hyphen_values = true, value_parser = outcome)]
    value_z: Option<Outcome>,

    /// At least so many candidates.
    #[arg(long, value_name = "N")]
    min_candidates: Option<usize>,

    /// At most so many candidates.
    #[arg(long, value_name = "N")]
    max_candidates: Option<usize>,

    /// With this move among the candidates, in USI.
    #[arg(long = "move", value_name = "USI", value_parser = usi)]
    mv: Option<Move16>,

    /// Scores of the candidate best for the mover, both ends included, in the view the file states.
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    cp: Option<Within<i16>>,

    /// Conditions as one text, with the names of these flags: "ply=16..46 mate sfen='… b -'".
    #[arg(long = "where", value_name = "TEXT")]
    text: Option<Select>,
}

fn side(text: &str) -> Result<Color, String> {
    Select::parse_side(text).map_err(str::to_owned)
}

fn usi(text: &str) -> Result<Move16, String> {
    Select::parse_move(text).map_err(str::to_owned)
}

fn outcome(text: &str) -> Result<Outcome, String> {
    text.parse().map_err(str::to_owned)
}

impl Conditions {
    /// All of them as one value.
    ///
    /// # Errors
    /// [`Usage`] when a flag and the text speak of the same.
    pub fn select(&self) -> Result<Select> {
        let flags = Select {
            ply: self.ply,
            min_weight: self.min_weight,
            max_weight: self.max_weight,
            mate: self.mate,
            sfen: self.sfen,
            side: self.side,
            value_q: self.value_q,
            value_z: self.value_z,
            min_candidates: self.min_candidates,
            max_candidates: self.max_candidates,
            mv: self.mv,
            cp: self.cp,
        };
        let text = self.text.clone().unwrap_or_default();
        flags.and(text).map_err(|error: SelectError| Usage(error.to_string()).into())
    }
}
