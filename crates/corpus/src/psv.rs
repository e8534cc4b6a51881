//! PackedSfenValue: the 40-byte records of YaneuraOu, and their MultiPV form of 40 + 4·N bytes (psv.md).
//!
//! * [`encode_position`], [`decode_position`]: a position in 32 bytes.
//! * [`MoveLayout`]: the three ways in which a move lies in 16 bits; [`Layout`] adds what the bytes behind the 40 mean.
//! * [`Record`], read by [`Reader`] and written by [`Writer`].
//! * [`detect`]: what a file does not say about itself, found in a sample of it.
//!
//! ```
//! use manaka_corpus::psv::{Layout, MoveLayout, Reader, Record, Writer};
//! use manaka_core::{Move16, Packed, sfen::STARTPOS};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let layout = Layout::multipv(MoveLayout::YaneuraOu, 5);
//! let played = Move16::from_usi("7g7f").ok_or("a move")?;
//! let record = Record {
//!     packed: Packed::from_sfen(STARTPOS)?.0,
//!     score: 35,
//!     mv: Some(played),
//!     ply: 1,
//!     result: -1,
//!     candidates: vec![(played, 35)],
//!     ..Record::default()
//! };
//! let mut writer = Writer::new(Vec::new(), layout);
//! writer.write_record(&record)?;
//! let bytes = writer.into_inner();
//! assert_eq!(bytes.len(), 60);
//!
//! let mut reader = Reader::new(bytes.as_slice(), layout);
//! let mut read = Record::default();
//! assert!(reader.read_record(&mut read)?);
//! assert_eq!(read, record);
//! assert!(!reader.read_record(&mut read)?);
//! # Ok(())
//! # }
//! ```

pub mod detect;
mod error;
mod huffman;
mod layout;
mod moves;
mod position;
mod reader;
mod writer;

pub use error::{Error, Kind, Result};
pub use layout::{CandidateOrder, EncodeError, Layout, LayoutText, PlayedMove, Record, RecordFault};
pub use moves::{MoveLayout, UnknownMoveLayout};
pub use position::{DecodeFault, EncodeFault, decode_position, encode_position};
pub use reader::{Reader, Records};
pub use writer::{Appended, Writer};

/// Bytes of a position (psv.md §3).
pub const SFEN_LEN: usize = 32;
/// Bytes of a record without candidates (psv.md §2).
pub const PSV_LEN: usize = SFEN_LEN + 2 + 2 + 2 + 1 + 1;
const _: () = assert!(PSV_LEN == 40);
/// Bytes of a candidate (psv.md §5).
pub const CANDIDATE_LEN: usize = 2 + 2;

pub use manaka_core::inputs::PSV_SUFFIXES as SUFFIXES;
