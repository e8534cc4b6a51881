//! A place between two batches that a later run goes on from (loading.md §7).

use crate::options::Options;
use crate::set::Source;
use std::fmt;
use std::str::FromStr;
use xxhash_rust::xxh3::Xxh3;

/// A place in an epoch, and what it is a place of. Its text form is lines of `key value`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cursor {
    epoch: u64,
    row: u64,
    /// What must agree, by name, in a fixed order.
    stated: Vec<(String, String)>,
}

/// The first line of a cursor's text.
const TITLE: &str = "manaka-cursor 1";

/// Why a cursor is of no use.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CursorError {
    /// The text is no cursor.
    #[error("no cursor: line {line}: {text:?}")]
    Text {
        /// From 1.
        line: usize,
        /// What stands there.
        text: String,
    },
    /// It is a cursor of other shards or options.
    #[error("the cursor is of another loader: {key} was {cursor} and is {here}")]
    Other {
        /// The option; `shards` for the shards themselves.
        key: String,
        /// What the cursor states.
        cursor: String,
        /// What the loader has.
        here: String,
    },
    /// The row is none of the epoch.
    #[error("the cursor is at row {row}, and the epoch has {rows}")]
    Beyond {
        /// The cursor's row.
        row: u64,
        /// Rows of the epoch.
        rows: u64,
    },
}

impl Cursor {
    /// A cursor of a loader of these sources and options, before its `row`th row.
    pub(crate) fn new(sources: &[Source], options: &Options, epoch: u64, row: u64) -> Self {
        let mut stated = Vec::new();
        for (number, source) in sources.iter().enumerate() {
            let mut hash = Xxh3::new();
            source.set.enter(&mut hash);
            stated.push((format!("shards_{number}"), format!("{:032x}", hash.digest128())));
            stated.push((format!("share_{number}"), source.share.to_string()));
        }
        stated.extend(options.stated().into_iter().map(|(key, value)| (key.to_owned(), value)));
        Self { epoch, row, stated }
    }

    /// The epoch.
    #[must_use]
    pub const fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Rows of the epoch that were delivered before.
    #[must_use]
    pub const fn row(&self) -> u64 {
        self.row
    }

    pub(crate) const fn at(mut self, epoch: u64, row: u64) -> Self {
        self.epoch = epoch;
        self.row = row;
        self
    }

    /// Refuses a cursor that states something else than `here` does.
    pub(crate) fn check(&self, here: &Self) -> Result<(), CursorError> {
        const NONE: &str = "nothing";
        let pairs = self.stated.len().max(here.stated.len());
        for at in 0..pairs {
            let (cursor, own) = (self.stated.get(at), here.stated.get(at));
            if cursor != own {
                let value = |pair: Option<&(String, String)>| {
                    pair.map_or_else(|| NONE.to_owned(), |(_, value)| value.clone())
                };
                let key = own.or(cursor).map_or(NONE, |(key, _)| key).to_owned();
                return Err(CursorError::Other { key, cursor: value(cursor), here: value(own) });
            }
        }
        Ok(())
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{TITLE}\nepoch {}\nrow {}", self.epoch, self.row)?;
        self.stated.iter().try_for_each(|(key, value)| writeln!(f, "{key} {value}"))
    }
}

impl FromStr for Cursor {
    type Err = CursorError;

    fn from_str(text: &str) -> Result<Self, CursorError> {
        let mut cursor = Self { epoch: 0, row: 0, stated: Vec::new() };
        let mut lines = 0;
        for (at, line) in text.lines().enumerate() {
            lines += 1;
            let fault = || CursorError::Text { line: at + 1, text: line.to_owned() };
            if at == 0 {
                if line != TITLE {
                    return Err(fault());
                }
                continue;
            }
            let (key, value) = line.split_once(' ').ok_or_else(fault)?;
            let number = || value.parse().map_err(|_| fault());
            match (at, key) {
                (1, "epoch") => cursor.epoch = number()?,
                (2, "row") => cursor.row = number()?,
                (1 | 2, _) => return Err(fault()),
                _ => cursor.stated.push((key.to_owned(), value.to_owned())),
            }
        }
        if lines < 3 {
            return Err(CursorError::Text { line: lines + 1, text: String::new() });
        }
        Ok(cursor)
    }
}
