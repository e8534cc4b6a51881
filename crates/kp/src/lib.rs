//! kp256, the network that comes with Manaka: king-piece features, 256 numbers a side, a value and a policy (kpnet.md).
//!
//! * [`Net`] reads and writes its file and evaluates one position with its legal moves; [`Net::embedded`] is in the
//!   binary;
//! * [`Scratch`] is what an evaluation works in, and says by which [`Code`]: both give the same integers;
//! * [`train`] makes a network of shards;
//! * [`format`] has the file's constants and cuts it into tensors.
//!
//! Evaluation is of integers and wraps, so an output is the same number on every machine.
// A panic on bytes of a stranger's file would be a fault; a wrapped count would be a wrong value.
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::cast_possible_truncation)]

#[cfg(target_arch = "x86_64")]
mod avx2;
mod error;
mod evaluate;
pub mod format;
mod net;
mod scalar;
mod tensors;
pub mod train;

pub use error::{Error, Result};
pub use evaluate::{Code, Refused, Scratch};
pub use net::Net;
pub use tensors::{Aligned, Tensors};
