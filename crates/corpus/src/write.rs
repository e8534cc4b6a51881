//! Writing corpus parquet (corpus.md §3).
//!
//! A [`RowGroup`] collects rows; any thread's [`GroupEncoder`] makes an [`EncodedGroup`] of it; a [`CorpusWriter`]
//! strings those together. A file has its name only when it is whole.

mod columns;
mod encode;
mod file;
mod group;
mod text;

pub use encode::GroupEncoder;
pub use file::{CorpusWriter, FileSummary, WriteError};
pub use group::{CorpusRow, RowGroup};
pub use manaka_pages::EncodedGroup;

#[cfg(test)]
mod twin;
