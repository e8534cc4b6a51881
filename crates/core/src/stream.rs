//! MPK1, the raw record stream (stream.md).
//!
//! * [`Header`] and [`RecordRef`] are the bytes; [`Decoder`] walks them without I/O.
//! * [`StreamReader`] reads any `Read`, raw or zstd; [`MappedStream`] and [`SliceReader`] read memory without copying;
//!   [`StreamSet`] reads many parts as one logical stream.
//! * [`StreamWriter`] appends and validates; [`PartsWriter`] cuts a run into numbered parts.
//!
//! Validation happens at the writer and again at every reader (stream.md §6).

mod decoder;
mod error;
mod header;
mod mapped;
mod parts;
mod reader;
mod record;
mod set;
mod sink;
mod writer;

pub use decoder::{Decoder, Step};
pub use error::{Error, Kind, Result, SetConflict};
pub use header::{ABSENT_OUTCOME_VERSION, HEADER_LEN, Header, MAGIC, VERSION};
pub use mapped::{MappedStream, SliceReader};
pub use parts::{PartsOptions, PartsSummary, PartsWriter};
pub use reader::{Records, StreamReader};
pub use record::{CANDIDATE_LEN, Candidate, FIXED_LEN, Record, RecordFault, RecordRef};
pub use set::StreamSet;
pub use sink::FileSink;
pub use writer::{Appended, Compression, StreamSummary, StreamWriter};
