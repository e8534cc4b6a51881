//! Raw PSV to corpus parquet (psv.md §7).
//!
//! [`from_psv`] looks at a sample of its inputs first: that they hold records of the length it is told or finds, and
//! that their moves are legal in one layout. Then every record is decoded, proved on the board and written, or refused
//! by name and counted. Rows keep the order of the records, whatever the number of threads.

mod error;
mod json;
mod judge;
mod mates;
mod plan;
mod report;
mod run;
mod sample;

pub use error::FromPsvError;
pub(crate) use json::lossy;
pub use mates::{Folded, MateFold, MateFoldError};
pub use report::{Reason, Refused, Report, TornTail};
pub use run::from_psv;

use crate::psv::{Layout, LayoutText, MoveLayout};
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;

/// How the records of raw files lie, found in a sample as far as `options` do not tell it. Nothing is converted.
///
/// # Errors
/// [`FromPsvError`]: the files cannot be read, hold no records, or their layout cannot be told.
pub fn psv_layout(inputs: &[PathBuf], options: &PsvOptions) -> Result<Layout, FromPsvError> {
    sample::look(inputs, options).map(|found| found.layout)
}

/// What [`from_psv`] is told.
#[derive(Clone, Debug)]
pub struct PsvOptions {
    /// How moves lie in their 16 bits; found in a sample when it is not told.
    pub moves: Option<MoveLayout>,
    /// Slots for candidates behind the 40 bytes of a record; found in a sample when it is not told.
    pub candidates: Option<u16>,
    /// How those slots are laid out.
    pub layout: LayoutText,
    /// Whether scores are folded from the engine's mate scale to another; untouched unless told.
    pub mates: Option<MateFold>,
    /// Raw records that make one file; its rows are those of them that are not refused.
    pub rows_per_file: NonZeroU64,
    /// Threads. The files do not depend on it.
    pub threads: NonZeroUsize,
}

impl PsvOptions {
    /// Records of one file unless told otherwise.
    pub const DEFAULT_ROWS_PER_FILE: NonZeroU64 = NonZeroU64::new(10_000_000).unwrap();
    /// Records of one row group: what a thread works on.
    pub const ROWS_PER_GROUP: u64 = 1 << 15;

    const fn with(&self, moves: MoveLayout, candidates: u16) -> Layout {
        let LayoutText { order, played } = self.layout;
        Layout { moves, candidates, order, played }
    }
}

/// Everything found out, one thread.
impl Default for PsvOptions {
    fn default() -> Self {
        Self {
            moves: None,
            candidates: None,
            layout: LayoutText::default(),
            mates: None,
            rows_per_file: Self::DEFAULT_ROWS_PER_FILE,
            threads: NonZeroUsize::MIN,
        }
    }
}
