//! Networks in ONNX with dlshogi's names and shapes as evaluators of self-play, run by ONNX Runtime (selfplay.md §3.1).
//!
//! [`Runtime::open`] loads the shared library of ONNX Runtime, 1.22 or later; nothing of it is linked or comes with this
//! crate. [`Onnx::open`] reads a network and proves that it is one of this kind; it makes an evaluator for each thread.
//!
//! This is the only crate that names the library `ort`.
// What comes out is training data.
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::cast_possible_truncation)]
#![forbid(unsafe_code)]

mod error;
mod evaluator;
mod interface;
mod runtime;
mod session;

pub use error::{Error, Result};
pub use evaluator::Onnx;
pub use runtime::Runtime;
pub use session::Provider;
