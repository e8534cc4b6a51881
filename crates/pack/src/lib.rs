//! MPK1 streams to training shards (shards.md): fold identical positions, divide once, shuffle, write Parquet; and the
//! reader of what was written.
//!
//! * [`pack`] runs the whole of it; its parts follow the order of the work:
//! * `entry`: a record as the fold keeps it; `key`: where a position belongs; `fold`: the sums of one position;
//!   `place`: the order of rows; `policy`: from folded integers to `prob`;
//! * [`shard`]: schema, writer and reader of shards.
//!
//! No rules of shogi are needed here: a record is folded by its bytes.
// A panic, a wrapped count or a shortened number here would be wrong training data.
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::cast_possible_truncation)]

mod entry;
mod error;
mod fold;
mod journal;
mod key;
mod memory;
mod order;
mod place;
mod plan;
mod policy;
mod report;
mod run;
pub mod shard;
mod spool;
mod squeezed;

pub use error::{Error, Result};
pub use key::hash;
pub use memory::{available as available_memory, disk_room};
pub use plan::{Count, Plan};
pub use policy::Policy;
pub use run::{PackOptions, RefusedRecord, Summary, claim, pack, plan, work_path};
