//! The rules of shogi for Manaka: legality, moves, declaration, repetition; the fence around the rules library.
//!
//! * [`Board`]: a position that can be played on. It takes and gives the formats of `manaka-core`: 96-byte positions
//!   and 16-bit moves.
//! * [`Trail`]: proves the moves of positions that come in the order of their games.
//! * [`Repetition`]: the positions of one game, and what their fourth occurrence means.
//!
//! ```
//! use manaka_core::{Move16, Packed, sfen::STARTPOS};
//! use manaka_shogi::{Board, Repetition, Verdict};
//!
//! let (packed, ply) = Packed::from_sfen(STARTPOS)?;
//! let mut board = Board::from_packed(&packed, ply.unwrap_or(0))?;
//! let mut history = Repetition::new();
//! history.push(&board.to_packed(), board.in_check());
//! for usi in ["7g7f", "3c3d", "8h2b+"] {
//!     board.play(Move16::from_usi(usi).ok_or(usi)?)?;
//!     let reached = history.push(&board.to_packed(), board.in_check());
//!     assert_eq!((reached.count, reached.verdict), (1, Verdict::None));
//! }
//! assert_eq!((board.ply(), board.legal_count()), (4, 33));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A position enters through a gate ([`Unplayable`] says what it stops); behind it nothing here panics, whatever
//! moves are asked about. No other crate of the project names the rules library, so it can be replaced here alone.
// These types are fed from files: a panic would be a tool that dies on one bad record among a billion.
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::cast_possible_truncation)]

mod board;
mod convert;
mod lines;
mod prover;
mod repetition;
mod trail;

pub use board::{Board, IllegalMove, MAX_LINE, Unplayable};
pub use repetition::{Occurrence, Repetition, Verdict};
pub use trail::Trail;
