//! Networks of the HalfKP 256x2-32-32 kind, as YaneuraOu's family of engines loads them (nnbin.md).
//!
//! * [`Net`] reads and writes `nn.bin`, and evaluates one position from nothing;
//! * [`Evaluator`] follows a game or a search: a stack of positions whose accumulators are updated by the pieces that
//!   moved, with the same integers as from nothing;
//! * [`format`] has the file's constants, hashes and header.
//!
//! All arithmetic is of integers and wraps as the engines' does, so an output is the same number on every machine.
// A panic on bytes of a stranger's file would be a fault; a wrapped count would be a wrong score.
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::cast_possible_truncation)]

mod accumulator;
mod error;
mod evaluator;
pub mod format;
mod layer;
mod net;

pub use accumulator::Accumulator;
pub use error::{Error, Result, Section};
pub use evaluator::Evaluator;
pub use layer::Affine;
pub use net::{DEFAULT_FV_SCALE, Net, centipawns};
