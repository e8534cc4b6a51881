//! Writing corpus parquet (corpus.md §3).
//!
//! A [`RowGroup`] collects rows; any thread's [`GroupEncoder`] makes an [`EncodedGroup`] of it; a [`CorpusWriter`]
//! strings those together. A file has its name only when it is whole.

mod chunk;
mod columns;
mod dictionary;
mod encode;
mod file;
mod group;
mod hybrid;
mod text;

#[cfg(test)]
pub(crate) use hybrid::encode as encode_hybrid;

pub use encode::{EncodedGroup, GroupEncoder};
pub use file::{CorpusWriter, FileSummary, WriteError};
pub use group::{CorpusRow, RowGroup};

#[cfg(test)]
mod twin;
