//! Corpus rows to MPK1 streams.
