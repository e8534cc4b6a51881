//! What raw PSV does not say about itself, for the verbs that look at it.

use manaka_corpus::PsvOptions;
use manaka_corpus::psv::{LayoutText, MoveLayout};

/// The layout of raw records.
#[derive(clap::Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Raw PSV")]
pub struct RawLayout {
    /// How moves of raw PSV lie in their 16 bits: yaneuraou, apery or manaka; found out unless given.
    #[arg(long, value_name = "LAYOUT")]
    move16: Option<MoveLayout>,

    /// Slots for candidates in a raw record, 0 for the plain 40 bytes; found out unless given.
    #[arg(long, value_name = "N")]
    candidates: Option<u16>,

    /// How candidates of raw records are laid out, as in `manaka corpus`.
    #[arg(long, value_name = "LAYOUT", default_value_t)]
    layout: LayoutText,
}

impl RawLayout {
    /// The options that say so.
    pub fn options(self) -> PsvOptions {
        PsvOptions {
            moves: self.move16,
            candidates: self.candidates,
            layout: self.layout,
            ..PsvOptions::default()
        }
    }
}
