//! Corpus rows to MPK1 streams (corpus.md).
//!
//! [`convert`] reads corpora and writes parts. Every row becomes one record or is refused for exactly one [`Reason`];
//! the [`Report`] counts both, and a rejects file names each refused row. The bytes written depend on the rows and the
//! [`Options`], never on the number of threads.
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::cast_possible_truncation)]

mod convert;
mod error;
mod json;
mod judge;
mod options;
mod refusal;
mod rejects;
mod report;
mod source;

pub use convert::convert;
pub use error::{Error, Result};
pub use options::{OffSearch, Options, Strictness};
pub use refusal::{Reason, USI_WORDS};
pub use rejects::REJECTS_HEADER;
pub use report::{Counts, Report};
