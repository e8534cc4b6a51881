//! Streams in, streams out: the editors, each a recorded step.
//!
//! Nothing is edited in place. Every editor reads a set of parts as one logical stream, writes new parts into a
//! directory of its own, and leaves beside them a [`lineage`] of what was done, with the counts to prove it.
//!
//! * [`cut()`] ends games at a ply and takes out those that were never finished;
//! * [`split()`], [`merge()`] and [`filter()`] choose where records go and which do;
//! * [`rotate()`] gives the other colour's twin of every record;
//! * [`set_header()`] states what headers left unsaid, and [`repair()`] keeps what is whole of torn files.
//!
//! Each gives a [`Report`], which prints as text and as JSON. Editors stop at the first fault of a stream: what to do
//! with faulty data is not for them to say.
// A panic or a wrapped number here would be wrong training data, or a tool that dies on a bad file.
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::cast_possible_truncation)]

mod cut;
mod error;
mod filter;
mod games;
pub mod lineage;
mod merge;
mod output;
mod repair;
mod report;
mod rotate;
mod run;
mod set_header;
mod source;
mod split;

pub use cut::{CutFigures, CutOptions, Relabel, TerminalPly, Unfinished, cut};
pub use error::{Error, Result};
pub use filter::{FilterFigures, FilterOptions, Take, filter};
pub use games::DEFAULT_GAME_BYTES;
pub use merge::{MergeFigures, merge};
pub use output::OutputOptions;
pub use repair::{TornFile, repair};
pub use report::{Figures, Report};
pub use rotate::rotate;
pub use run::Job;
pub use set_header::{SetField, SetHeaderOptions, set_header};
pub use split::{SplitBy, SplitOptions, SplitSet, split};
