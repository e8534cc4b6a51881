//! The formats of Manaka, without arrow, threads or rules of the game.
//!
//! * [`packed`]: a position in 96 bytes, and what can be structurally wrong with one; [`sfen`] reads and writes its text.
//! * [`move16`]: a move in 16 bits.
//! * [`conventions`]: what the numbers of a stream mean, and the arithmetic that follows from it.
//! * [`stream`]: MPK1, the raw record stream: header, records, decoder, readers, writers.
//! * [`select`]: conditions on records and rows, of streams and of everything else.
//! * [`inputs`], [`out_dir`] and [`whole_file`]: which files a run reads, directories it may write to, and files that
//!   appear only when they are whole; [`progress`]: how long runs report; [`guard`]: a fence around decoders that panic.
//!
//! The law these modules follow stands in `docs/spec/`; code cites it by page and section.
// A panic or a wrapped number here would be wrong training data, or a tool that dies on a bad file.
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::cast_possible_truncation)]

pub mod conventions;
pub mod guard;
pub mod inputs;
pub mod move16;
pub mod out_dir;
pub mod packed;
pub mod piece;
pub mod progress;
pub mod run_lock;
pub mod select;
pub mod sfen;
pub mod stream;
pub mod whole_file;

pub use conventions::{Conventions, PolicySource, Pov};
pub use move16::Move16;
pub use packed::{Fault, Faults, Packed};
pub use piece::{Color, HandKind, PieceKind, Square};
