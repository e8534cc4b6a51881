//! What a file is, told by its content. Where that is nothing known, the name says what it should have been.

use crate::error::{Error, Result};
use manaka_core::inputs::{PARQUET_SUFFIXES, STREAM_SUFFIXES};
use manaka_core::stream::MAGIC;
use manaka_corpus::{self as corpus, CorpusFile};
use manaka_pack::shard::{COLUMNS, ShardReader};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// The first and last four bytes of every Parquet file.
const PARQUET_MAGIC: &[u8] = b"PAR1";

/// What a file is taken for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileKind {
    /// MPK1, raw or zstd; also anything that is no Parquet file.
    Stream,
    /// Parquet.
    Shard,
}

/// The kind and the length of a file.
pub fn sniff(path: &Path) -> Result<(FileKind, u64)> {
    let file = File::open(path).map_err(Error::io(path))?;
    let len = file.metadata().map_err(Error::io(path))?.len();
    let mut first = Vec::new();
    file.take(PARQUET_MAGIC.len() as u64).read_to_end(&mut first).map_err(Error::io(path))?;
    Ok((if first == PARQUET_MAGIC { FileKind::Shard } else { FileKind::Stream }, len))
}

/// What a file holds, where corpora and raw PSV are looked at too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Stream,
    Shard,
    Corpus,
    Psv,
}

impl Kind {
    pub const fn id(self) -> &'static str {
        match self {
            Self::Stream => "stream",
            Self::Shard => "shard",
            Self::Corpus => "corpus",
            Self::Psv => "psv",
        }
    }

    /// What a file is, by its content; and its length in bytes.
    ///
    /// # Errors
    /// [`Error::NotParquet`] for what is called Parquet and is not; [`Error::Io`].
    pub fn of(path: &Path) -> Result<(Self, u64)> {
        let mut file = File::open(path).map_err(Error::io(path))?;
        let len = file.metadata().map_err(Error::io(path))?.len();
        let mut four = |at| {
            let mut bytes = Vec::new();
            file.seek(SeekFrom::Start(at))?;
            (&mut file).take(4).read_to_end(&mut bytes).map(|_| bytes)
        };
        let first = four(0).map_err(Error::io(path))?;
        let kind = match first.as_slice() {
            // stream.md §7: a zstd frame or a skippable one.
            [0x28, 0xB5, 0x2F, 0xFD] | [0x50..=0x5F, 0x2A, 0x4D, 0x18] => Self::Stream,
            first if first == MAGIC => Self::Stream,
            // What is nothing known is taken for what it is called, so that it is said what is wrong.
            _ if named(path, PARQUET_SUFFIXES) => {
                let last = four(len.saturating_sub(4)).map_err(Error::io(path))?;
                if first != PARQUET_MAGIC || last != PARQUET_MAGIC {
                    return Err(Error::NotParquet { path: path.to_owned(), len, first, last });
                }
                Self::of_parquet(path)
            }
            b"PAR1" => Self::of_parquet(path),
            // An empty file is a stream that says so.
            [] => Self::Stream,
            _ if named(path, STREAM_SUFFIXES) => Self::Stream,
            _ => Self::Psv,
        };
        Ok((kind, len))
    }

    /// A shard or a corpus. What is neither is taken for what it resembles, so that its reader says what is wrong.
    fn of_parquet(path: &Path) -> Self {
        if ShardReader::open(path).is_ok() {
            return Self::Shard;
        }
        match CorpusFile::open(path) {
            Err(corpus::Error::MissingColumns { found, .. })
                if found.iter().any(|name| name == COLUMNS[0]) =>
            {
                Self::Shard
            }
            Ok(_)
            | Err(
                corpus::Error::MissingColumns { .. }
                | corpus::Error::ColumnType { .. }
                | corpus::Error::Codec { .. },
            ) => Self::Corpus,
            Err(_) => Self::Shard,
        }
    }
}

fn named(path: &Path, suffixes: &[&str]) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    suffixes.iter().any(|suffix| name.ends_with(suffix))
}

/// What all files of a set are, and their lengths.
///
/// # Errors
/// [`Error::Mixed`] for files of different kinds; [`Error::Io`].
pub fn one_kind(inputs: &[PathBuf]) -> Result<(Kind, Vec<u64>)> {
    let (mut kinds, mut bytes) = (Vec::new(), Vec::new());
    for path in inputs {
        let (kind, len) = Kind::of(path)?;
        kinds.push(kind);
        bytes.push(len);
    }
    let kind = kinds.first().copied().unwrap_or(Kind::Stream);
    if let Some(at) = kinds.iter().position(|&other| other != kind) {
        let what = format!("one is a {}, the other a {}", kind.id(), kinds[at].id());
        return Err(Error::Mixed { first: inputs[0].clone(), second: inputs[at].clone(), what });
    }
    Ok((kind, bytes))
}
