//! Training of a network on shards: samples in memory, Adam, early stopping, export in integers.
//!
//! The same shards, options and seed make the same network, bit by bit, on any number of threads and any machine: every
//! sum has its order, exponentials come from `libm`, and no fused operations are used.

mod adam;
mod error;
mod export;
mod learn;
mod measure;
mod options;
mod params;
mod pass;
mod report;
mod run;
mod samples;
mod tables;
mod wide;

pub use error::{Error, Result, SampleFault};
pub use measure::Measures;
pub use options::Options;
pub use report::{Agreement, Epoch, Report, Stopped};
pub use run::train;
pub use samples::Samples;
