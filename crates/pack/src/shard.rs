//! Training shards: their schema and footer, the writer, the reader (shards.md §2, §3 and §7).

mod chunk;
mod footer;
mod group;
mod reader;
mod schema;
mod writer;

pub use footer::{Footer, PACKED_NOTE};
pub use group::{GroupBuilder, GroupEncoder};
pub use manaka_pages::EncodedGroup;
pub use reader::{Projection, Rows, ShardReader};
pub use schema::{COLUMNS, Outcomes, ROWS_PER_GROUP, columns};
pub use writer::{ShardSummary, ShardWriter};
