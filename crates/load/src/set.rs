//! Sets of shards that belong together, and what makes two sets the same (loading.md §2).

use crate::error::{Error, Result};
use manaka_core::conventions::Conflict;
use manaka_core::inputs::{PARQUET_SUFFIXES, resolve};
use manaka_core::{Conventions, PolicySource};
use manaka_pack::shard::{Footer, ShardReader};
use std::num::NonZeroU32;
use std::path::PathBuf;
use xxhash_rust::xxh3::Xxh3;

/// Shards that were folded under the same conventions, in order, each held open (one file handle a shard).
pub struct ShardSet {
    shards: Vec<ShardReader>,
    groups: Vec<GroupPlace>,
    rows: u64,
}

/// A row group of a set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupPlace {
    pub shard: usize,
    /// Its number in the shard.
    pub index: usize,
    /// The number of its first row in the shard.
    pub first_row: u64,
    pub rows: u64,
}

impl ShardSet {
    /// Opens the shards that `paths` name: files, directories and globs, as everywhere (`manaka_core::inputs`).
    ///
    /// A shard without rows is part of a set like any other; a set without rows opens, and only a loader refuses it.
    ///
    /// # Errors
    /// [`Error::Inputs`]; [`Error::Shard`] naming the file that is damaged or no shard; [`Error::Conflict`] naming both
    /// files, the key and both values (`writer` may differ); [`Error::RowCount`].
    pub fn open(paths: &[PathBuf]) -> Result<Self> {
        let mut set = Self { shards: Vec::new(), groups: Vec::new(), rows: 0 };
        for path in &resolve(paths, PARQUET_SUFFIXES)?.files {
            let shard = ShardReader::open(path)?;
            if let Some(first) = set.shards.first()
                && let Some(conflict) = conflict(first.footer(), shard.footer())
            {
                let (first, second) = (first.path().to_owned(), path.clone());
                return Err(Error::Conflict { first, second, conflict });
            }
            let mut first_row = 0u64;
            for (index, group) in shard.metadata().row_groups().iter().enumerate() {
                let rows = u64::try_from(group.num_rows()).unwrap_or(0);
                if rows > 0 {
                    set.groups.push(GroupPlace { shard: set.shards.len(), index, first_row, rows });
                }
                first_row = first_row.saturating_add(rows);
            }
            if first_row != shard.rows() {
                return Err(Error::RowCount { path: path.clone(), found: first_row, stated: shard.rows() });
            }
            set.rows = set.rows.saturating_add(first_row);
            set.shards.push(shard);
        }
        Ok(set)
    }

    /// The shards in order; at least one.
    #[must_use]
    pub fn shards(&self) -> &[ShardReader] {
        &self.shards
    }

    /// Rows of all shards, as their footers state.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// The conventions all shards share.
    #[must_use]
    pub fn conventions(&self) -> &Conventions {
        // `inputs::resolve` gives a file or an error, so there is a first shard; were there none, nothing applies.
        self.shards.first().map_or(&Conventions::VISITS, |shard| &shard.footer().conventions)
    }

    /// Whether rows have an outcome: where the policy source is visits (shards.md §2).
    #[must_use]
    pub fn has_outcomes(&self) -> bool {
        self.conventions().policy_source == PolicySource::Visits
    }

    pub(crate) fn groups(&self) -> &[GroupPlace] {
        &self.groups
    }

    /// Enters what tells sets apart: footers, row counts, the place and size of every column chunk; no file name.
    pub(crate) fn enter(&self, hash: &mut Xxh3) {
        for shard in &self.shards {
            for (key, value) in shard.footer().pairs() {
                hash.update(key.as_bytes());
                hash.update(value.as_bytes());
            }
            for group in shard.metadata().row_groups() {
                hash.update(&group.num_rows().to_le_bytes());
                for column in group.columns() {
                    hash.update(&column.data_page_offset().to_le_bytes());
                    hash.update(&column.compressed_size().to_le_bytes());
                }
            }
            hash.update(b"/");
        }
    }
}

/// The first key but `writer` in which two footers differ.
pub(crate) fn conflict(first: &Footer, second: &Footer) -> Option<Conflict> {
    first.conventions.conflict(&second.conventions).or_else(|| {
        (first.softmax_temp_cp != second.softmax_temp_cp).then(|| Conflict {
            key: "softmax_temp_cp",
            first: first.softmax_temp_cp.to_string(),
            second: second.softmax_temp_cp.to_string(),
        })
    })
}

/// A set and its share of the rows a loader delivers.
pub struct Source {
    /// The shards.
    pub set: ShardSet,
    /// Rows of this set in every run of as many rows as all shares together; at most 65,535.
    pub share: NonZeroU32,
}

impl From<ShardSet> for Source {
    fn from(set: ShardSet) -> Self {
        Self { set, share: NonZeroU32::MIN }
    }
}
