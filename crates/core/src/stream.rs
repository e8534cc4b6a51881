//! MPK1, the raw record stream (stream.md).
//!
//! * [`Header`] and [`RecordRef`] are the bytes; [`Decoder`] walks them without I/O.
//! * [`StreamReader`] reads any `Read`, raw or zstd; [`MappedStream`] and [`SliceReader`] read memory without copying;
//!   [`StreamSet`] reads many parts as one logical stream.
//! * [`opens_game`] says where games begin; [`RecordMut`] changes a record in place;
//! * [`StreamWriter`] appends and validates; [`PartsWriter`] cuts a run into numbered parts.
//!
//! Validation happens at the writer and again at every reader (stream.md §6).

mod decoder;
mod error;
mod games;
mod header;
mod mapped;
mod parts;
mod reader;
mod record;
mod record_mut;
mod set;
mod sink;
mod writer;

pub use decoder::{Decoder, Step};
pub use error::{Error, Kind, Result, SetConflict};
pub use games::opens_game;
pub use header::{ABSENT_OUTCOME_VERSION, HEADER_LEN, Header, MAGIC, VERSION};
pub use mapped::{MappedStream, SliceReader};
pub use parts::{MAX_PARTS, PartsOptions, PartsSummary, PartsWriter, part_name};
pub use reader::{Records, StreamReader};
pub use record::{CANDIDATE_LEN, Candidate, FIXED_LEN, Record, RecordFault, RecordRef};
pub use record_mut::RecordMut;
pub use set::{StreamSet, agree};
pub use sink::FileSink;
pub use writer::{Appended, Compression, StreamSummary, StreamWriter};
