//! What the outside world hands over: corpus parquet (corpus.md), raw PSV (psv.md), opening books.
//!
//! [`book`] reads opening books. [`psv`] reads and writes raw records, [`from_psv()`] turns them into a corpus, [`write`](mod@write) writes one.
//!
//! [`CorpusFile`] opens a file and proves its columns; [`Batches`] walks a row group in bounded [`Rows`]; a [`Row`] is
//! a view of one of them. Nothing here judges a row: values come as they are stored, nulls included.
//!
//! ```no_run
//! # fn main() -> manaka_corpus::Result<()> {
//! let file = manaka_corpus::CorpusFile::open("corpus.parquet".as_ref())?;
//! let mut rows = manaka_corpus::Rows::default();
//! for group in 0..file.row_groups() {
//!     let mut batches = file.batches(group)?;
//!     while batches.read(&mut rows)? {
//!         for row in rows.iter() {
//!             let _ = (row.number(), row.sfen(), row.cp());
//!         }
//!     }
//! }
//! # Ok(())
//! # }
//! ```
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::cast_possible_truncation)]

pub mod book;
mod column;
mod error;
mod file;
mod from_psv;
mod pages;
pub mod psv;
mod rows;
mod schema;
pub mod write;

pub use error::{Error, Result};
pub use file::{BATCH_ELEMENTS, BATCH_ROWS, Batches, CorpusFile};
pub use from_psv::{
    Folded, FromPsvError, MateFold, MateFoldError, PsvOptions, Reason, Refused, Report, TornTail, from_psv,
    psv_layout,
};
pub use rows::{IntList, MAX_MOVE_TEXT, MAX_SFEN_TEXT, Row, Rows, TextList};
pub use schema::{COLUMNS, Column};
