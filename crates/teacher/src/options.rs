//! What a conversion is told.

use crate::error::{Error, Result};
use manaka_core::conventions::{Conventions, PolicySource, Pov};
use manaka_core::stream::{Compression, PartsOptions};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread::available_parallelism;

/// Whether positions and candidates are proved on a board.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Strictness {
    /// The position is set up and every candidate proved legal (corpus.md §4).
    #[default]
    Strict,
    /// No board: structure and syntax only. For corpora whose moves were proved before.
    Lenient,
}

/// What becomes of a row whose played move is not among its candidates (corpus.md §4).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OffSearch {
    /// It is refused as `move_not_candidate`.
    #[default]
    Refuse,
    /// It is kept without an outcome; parts with such a record are of version 3.
    Keep,
}

/// How a conversion is to be done.
#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    /// What the headers state, and how the run is cut into parts.
    pub parts: PartsOptions,
    /// Whether candidates are proved legal.
    pub strictness: Strictness,
    /// Whether rows that the generator played off its search are kept.
    pub off_search: OffSearch,
    /// Threads that judge rows; one more writes.
    pub threads: NonZeroUsize,
    /// Where to list refused rows; an existing file is replaced.
    pub rejects: Option<PathBuf>,
}

impl Default for Options {
    /// The conventions of [`Conventions::TEACHER`], strict, zstd parts of the default size and level, a thread per core.
    fn default() -> Self {
        Self {
            parts: PartsOptions {
                conventions: Conventions::TEACHER,
                records_per_part: PartsOptions::DEFAULT_RECORDS_PER_PART,
                compression: Compression::Zstd { level: Self::DEFAULT_ZSTD_LEVEL },
            },
            strictness: Strictness::default(),
            off_search: OffSearch::default(),
            threads: available_parallelism().unwrap_or(NonZeroUsize::MIN),
            rejects: None,
        }
    }
}

impl Options {
    /// The zstd level unless told otherwise: the fastest, for a stream is most often read once, by `pack`. Level 3 takes a
    /// fifth more time in all and saves 3 to 4 % of the bytes.
    pub const DEFAULT_ZSTD_LEVEL: i32 = 1;

    /// Refuses what no teacher stream can state.
    ///
    /// # Errors
    /// Those of which [`Error::is_usage`] is true.
    pub fn check(&self) -> Result<()> {
        let conventions = &self.parts.conventions;
        if (conventions.pov, conventions.policy_source) != (Pov::SideToMove, PolicySource::SoftmaxCp) {
            return Err(Error::NotTeacher);
        }
        if !(conventions.eval_coef.is_finite() && conventions.eval_coef > 0.0) {
            return Err(Error::EvalCoef(conventions.eval_coef));
        }
        match conventions.inconsistency() {
            Some(inconsistency) => Err(inconsistency.into()),
            None => Ok(()),
        }
    }
}
