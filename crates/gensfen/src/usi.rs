//! The USI client: an engine in a process of its own, taken as it is.
//!
//! * [`Engine`]: handshake, options, games, searches, each with a time limit; a killed engine is reaped. Searches end in
//!   an [`Answer`], everything else in a [`Refusal`] or [`Halt`](crate::Halt).
//! * [`Message`]: one line of an engine, read for what it says.
//! * [`Lines`] and [`Block`]: the lines of one search, levelled to one depth.
//! * [`MateScale`]: a [`Score`] in the 16 bits of a record.

mod block;
mod declared;
mod engine;
mod message;
mod process;
mod scale;

pub use block::{Block, Lines, Ranked};
pub use declared::{Declared, Kind, Misfit, Setting};
pub use engine::{Answer, Engine, Identity, Refusal, Reply};
pub use message::{Info, Message, Pv, Score};
pub use scale::MateScale;
