//! Why a conversion did not happen.

use crate::psv::MoveLayout;
use crate::psv::detect::{MoveTally, Positions, Undecided};
use crate::write::WriteError;
use std::io;
use std::path::PathBuf;

/// Why a conversion did not happen, or stopped. What is wrong with a single record is no error of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FromPsvError {
    /// An input cannot be read.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        error: io::Error,
    },
    /// The inputs hold not a single whole record.
    #[error("there is no whole record in any input")]
    NoRecords,
    /// A file's bytes are no records, of whatever length.
    #[error(
        "{}: not raw PSV: at no record length from 40 to {longest} bytes do its records begin with positions",
        path.display()
    )]
    NotPsv {
        /// The file.
        path: PathBuf,
        /// The longest record length tried.
        longest: usize,
    },
    /// A file does not hold records of the length that is told, or that another file has.
    #[error(
        "{}: with {candidates} candidates a record, {} of {} records looked at begin with a position{}",
        path.display(), positions.decoded, positions.records, found(*fitting)
    )]
    WrongLength {
        /// The file.
        path: PathBuf,
        /// The candidates a record was taken to have.
        candidates: u16,
        /// What the sample showed.
        positions: Positions,
        /// The candidates with which its records do begin with positions.
        fitting: Option<u16>,
    },
    /// The layout of moves is not told, and the sample does not tell it.
    #[error("the layout of moves (--move16) cannot be found out: {0}")]
    Moves(#[from] Undecided),
    /// Two files have moves in different layouts.
    #[error(
        "moves are in the {} layout in {} and in the {} layout in {}",
        first.1, first.0.display(), second.1, second.0.display()
    )]
    MovesDiffer {
        /// A file and its layout.
        first: (PathBuf, MoveLayout),
        /// Another one.
        second: (PathBuf, MoveLayout),
    },
    /// The sample of a file tells another layout than the one that is told, or makes most moves illegal in it that are legal in
    /// some layout.
    #[error("{}: moves are not in the {told} layout: {tally}", path.display())]
    WrongMoves {
        /// The file.
        path: PathBuf,
        /// The layout.
        told: MoveLayout,
        /// What the sample showed.
        tally: MoveTally,
    },
    /// More files than five digits can number.
    #[error("{files} files would be written, and at most 100000 can be numbered; put more rows into each")]
    TooManyFiles {
        /// How many.
        files: u64,
    },
    /// An output cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The run was told to stop. Files that were whole by then stay.
    #[error("stopped before the end")]
    Cancelled,
    /// A thread ended without a word.
    #[error("a worker thread died")]
    Worker,
}

fn found(fitting: Option<u16>) -> String {
    match fitting {
        Some(candidates) => format!("; with {candidates} they do"),
        None => String::new(),
    }
}
