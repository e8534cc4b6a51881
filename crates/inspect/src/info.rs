//! What a file states about itself: the header of a stream, the footer and the columns of a shard or corpus, the layout of
//! raw records.

use crate::error::{Error, Result};
use crate::finding::lossy;
use crate::sniff::Kind;
use manaka_core::Conventions;
use manaka_core::stream::{MAGIC, StreamReader};
use manaka_corpus::{CorpusFile, PsvOptions, psv_layout};
use manaka_pack::shard::ShardReader;
use parquet::file::metadata::ParquetMetaData;
use serde::Serialize;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// What a file states about itself.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Info {
    /// An MPK1 stream.
    Stream(StreamInfo),
    /// A shard.
    Shard(ShardInfo),
    /// A corpus.
    Corpus(CorpusInfo),
    /// Raw PSV.
    Psv(PsvInfo),
}

/// The header of a stream. Its records are not counted: that takes reading all of them.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct StreamInfo {
    /// The file.
    #[serde(serialize_with = "lossy")]
    pub path: PathBuf,
    /// Its length on disk.
    pub bytes: u64,
    /// Whether it is compressed.
    pub zstd: bool,
    /// The version of the header.
    pub version: u16,
    /// Whose view scores and outcomes are in.
    pub pov: &'static str,
    /// Which half of a candidate is the policy.
    pub policy_source: &'static str,
    /// The cp mates are folded to; 0 not applicable.
    pub mate_scale: u16,
    /// The slack as stated; 0 not stated.
    pub mate_slack: u16,
    /// The slack in force.
    pub effective_mate_slack: u16,
    /// The |cp| from which a score is a mate.
    pub mate_threshold: Option<u16>,
    /// The cp scale of the tanh behind `value_q`; 0 not applicable.
    pub eval_coef: f32,
    /// The `FV_SCALE` of the engine; 0 not stated.
    pub fv_scale: u16,
}

/// What a shard holds and states.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ShardInfo {
    /// The file.
    #[serde(serialize_with = "lossy")]
    pub path: PathBuf,
    /// Its length.
    pub bytes: u64,
    /// Its rows.
    pub rows: u64,
    /// Its row groups.
    pub row_groups: usize,
    /// Every key and value of the footer, in order; those of other programs too.
    pub footer: Vec<(String, String)>,
    /// Its leaf columns, in order.
    pub columns: Vec<ColumnInfo>,
}

/// What a corpus holds. It states no conventions.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CorpusInfo {
    /// The file.
    #[serde(serialize_with = "lossy")]
    pub path: PathBuf,
    /// Its length.
    pub bytes: u64,
    /// Its rows.
    pub rows: u64,
    /// Its row groups.
    pub row_groups: usize,
    /// Every key and value of the footer, in order.
    pub footer: Vec<(String, String)>,
    /// Its leaf columns, in order; those that nothing reads too.
    pub columns: Vec<ColumnInfo>,
}

/// What raw records show of themselves; they state nothing.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PsvInfo {
    /// The file.
    #[serde(serialize_with = "lossy")]
    pub path: PathBuf,
    /// Its length.
    pub bytes: u64,
    /// Whole records.
    pub records: u64,
    /// Bytes of a record.
    pub record_bytes: usize,
    /// Bytes behind the last whole record.
    pub torn_bytes: u64,
    /// Slots for candidates in a record; 0 in plain PSV.
    pub candidates: u16,
    /// How moves lie in their 16 bits, as found in a sample.
    pub move16: String,
}

/// One leaf column of a shard or corpus, over all row groups.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ColumnInfo {
    /// Its path, for example `candidates.list.element.mv`.
    pub name: String,
    /// Its length in the file.
    pub compressed_bytes: u64,
    /// The same for each row of the shard.
    pub bytes_per_row: f64,
    /// Its length before compression.
    pub encoded_bytes: u64,
    /// Encodings of its pages, those of list levels included.
    pub encodings: Vec<String>,
    /// How it is compressed.
    pub compression: String,
}

/// Reads what a file states about itself, and no record or row of it.
///
/// # Errors
/// [`Error::Io`]; [`Error::Stream`], [`Error::Shard`], [`Error::Corpus`] and [`Error::Psv`] when it is damaged or nothing
/// known. The layout of raw records is found in a sample of them.
pub fn info(path: &Path) -> Result<Info> {
    let (kind, bytes) = Kind::of(path)?;
    match kind {
        Kind::Stream => stream_info(path, bytes).map(Info::Stream),
        Kind::Shard => shard_info(path, bytes).map(Info::Shard),
        Kind::Corpus => corpus_info(path, bytes).map(Info::Corpus),
        Kind::Psv => psv_info(path, bytes).map(Info::Psv),
    }
}

fn corpus_info(path: &Path, bytes: u64) -> Result<CorpusInfo> {
    let file = CorpusFile::open(path).map_err(Error::corpus)?;
    let (rows, row_groups) = (file.rows(), file.row_groups());
    let (footer, columns) = (pairs(file.metadata()), columns(file.metadata(), rows));
    Ok(CorpusInfo { path: path.to_owned(), bytes, rows, row_groups, footer, columns })
}

fn psv_info(path: &Path, bytes: u64) -> Result<PsvInfo> {
    let layout = psv_layout(&[path.to_owned()], &PsvOptions::default()).map_err(Error::psv)?;
    let record_bytes = layout.record_len();
    Ok(PsvInfo {
        path: path.to_owned(),
        bytes,
        records: bytes / record_bytes as u64,
        record_bytes,
        torn_bytes: bytes % record_bytes as u64,
        candidates: layout.candidates,
        move16: layout.moves.to_string(),
    })
}

fn stream_info(path: &Path, bytes: u64) -> Result<StreamInfo> {
    let reader = StreamReader::open(path).map_err(|error| Error::stream(path, error))?;
    let mut first = Vec::new();
    let file = File::open(path).map_err(Error::io(path))?;
    file.take(MAGIC.len() as u64).read_to_end(&mut first).map_err(Error::io(path))?;
    let conventions = &reader.header().conventions;
    let &Conventions { pov, policy_source, mate_scale, mate_slack, fv_scale, eval_coef } = conventions;
    Ok(StreamInfo {
        path: path.to_owned(),
        bytes,
        zstd: first != MAGIC,
        version: reader.header().version,
        pov: pov.id(),
        policy_source: policy_source.id(),
        mate_scale,
        mate_slack,
        effective_mate_slack: conventions.effective_mate_slack(),
        mate_threshold: conventions.mate_threshold(),
        eval_coef,
        fv_scale,
    })
}

fn shard_info(path: &Path, bytes: u64) -> Result<ShardInfo> {
    let reader = ShardReader::open(path).map_err(|error| Error::shard(path, error))?;
    let metadata = reader.metadata();
    let (rows, row_groups) = (reader.rows(), reader.row_groups());
    let (footer, columns) = (pairs(metadata), columns(metadata, rows));
    Ok(ShardInfo { path: path.to_owned(), bytes, rows, row_groups, footer, columns })
}

/// Keys and values of a footer.
fn pairs(metadata: &ParquetMetaData) -> Vec<(String, String)> {
    let pairs = metadata.file_metadata().key_value_metadata().into_iter().flatten();
    pairs.map(|pair| (pair.key.clone(), pair.value.clone().unwrap_or_default())).collect()
}

/// The leaf columns of a file, over all row groups.
fn columns(metadata: &ParquetMetaData, rows: u64) -> Vec<ColumnInfo> {
    let mut columns: Vec<ColumnInfo> = Vec::new();
    for group in metadata.row_groups() {
        for (at, chunk) in group.columns().iter().enumerate() {
            if at == columns.len() {
                columns.push(ColumnInfo {
                    name: chunk.column_path().string(),
                    compressed_bytes: 0,
                    bytes_per_row: 0.0,
                    encoded_bytes: 0,
                    encodings: Vec::new(),
                    compression: codec(&chunk.compression().to_string()),
                });
            }
            let column = &mut columns[at];
            let bytes = |size: i64| u64::try_from(size).unwrap_or(0);
            column.compressed_bytes = column.compressed_bytes.saturating_add(bytes(chunk.compressed_size()));
            column.encoded_bytes = column.encoded_bytes.saturating_add(bytes(chunk.uncompressed_size()));
            for encoding in chunk.encodings() {
                let name = encoding.to_string();
                if !column.encodings.contains(&name) {
                    column.encodings.push(name);
                }
            }
        }
    }
    for column in &mut columns {
        column.encodings.sort();
        column.bytes_per_row = per_row(column.compressed_bytes, rows);
    }
    columns
}

/// The name of a codec. The level that the library prints behind it stands in no file.
fn codec(compression: &str) -> String {
    compression.split('(').next().unwrap_or_default().to_lowercase()
}

#[expect(clippy::cast_precision_loss, reason = "a figure to be read")]
fn per_row(bytes: u64, rows: u64) -> f64 {
    bytes as f64 / rows.max(1) as f64
}

impl fmt::Display for Info {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stream(info) => info.fmt(f),
            Self::Shard(info) => info.fmt(f),
            Self::Corpus(info) => info.fmt(f),
            Self::Psv(info) => info.fmt(f),
        }
    }
}

impl fmt::Display for StreamInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.path.display())?;
        let packed = if self.zstd { "zstd" } else { "raw" };
        writeln!(f, "MPK1 stream, version {}, {packed}, {} bytes", self.version, self.bytes)?;
        writeln!(f)?;
        let slack = match (self.mate_scale, self.mate_slack) {
            (0, _) => "0".to_owned(),
            (_, 0) => format!("0 (not stated: {} in force)", self.effective_mate_slack),
            (_, slack) => slack.to_string(),
        };
        let threshold = match self.mate_threshold {
            Some(threshold) => format!("|cp| >= {threshold}"),
            None => "no score is a mate".to_owned(),
        };
        let none =
            |value: String, zero: bool, what: &str| if zero { format!("{value} ({what})") } else { value };
        for (key, value) in [
            ("pov", self.pov.to_owned()),
            ("policy_source", self.policy_source.to_owned()),
            ("mate_scale", none(self.mate_scale.to_string(), self.mate_scale == 0, "not applicable")),
            ("mate_slack", slack),
            ("mates", threshold),
            ("eval_coef", none(self.eval_coef.to_string(), self.eval_coef == 0.0, "not applicable")),
        ] {
            writeln!(f, "{key:<16} {value}")?;
        }
        write!(f, "{:<16} {}", "fv_scale", none(self.fv_scale.to_string(), self.fv_scale == 0, "not stated"))
    }
}

impl fmt::Display for ShardInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, bytes, rows, row_groups, footer, columns } = self;
        parquet_text(f, path, ("shard", *bytes, *rows, *row_groups), footer, columns)
    }
}

impl fmt::Display for CorpusInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, bytes, rows, row_groups, footer, columns } = self;
        parquet_text(f, path, ("corpus", *bytes, *rows, *row_groups), footer, columns)
    }
}

impl fmt::Display for PsvInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.path.display())?;
        writeln!(
            f,
            "raw PSV, {} records of {} bytes, {} bytes",
            self.records, self.record_bytes, self.bytes
        )?;
        writeln!(f)?;
        writeln!(f, "{:<16} {} (found in a sample)", "move16", self.move16)?;
        write!(f, "{:<16} {}", "candidates", self.candidates)?;
        if self.candidates == 0 {
            f.write_str(" (plain PSV)")?;
        }
        if self.torn_bytes > 0 {
            write!(f, "\n{:<16} {} bytes behind the last whole record", "torn", self.torn_bytes)?;
        }
        Ok(())
    }
}

fn parquet_text(
    f: &mut fmt::Formatter<'_>,
    path: &Path,
    (kind, bytes, rows, row_groups): (&str, u64, u64, usize),
    footer: &[(String, String)],
    columns: &[ColumnInfo],
) -> fmt::Result {
    writeln!(f, "{}", path.display())?;
    writeln!(
        f,
        "{kind}, {rows} rows in {row_groups} row groups, {bytes} bytes, {:.2} a row",
        per_row(bytes, rows)
    )?;
    writeln!(f)?;
    let width = footer.iter().map(|(key, _)| key.chars().count()).max().unwrap_or(0);
    for (key, value) in footer {
        writeln!(f, "{key:<width$} {}", shortened(value))?;
    }
    if !footer.is_empty() {
        writeln!(f)?;
    }
    let width = columns.iter().map(|column| column.name.len()).max().unwrap_or(0).max(6);
    write!(
        f,
        "{:<width$} {:>14} {:>9} {:>14}  encodings, compression",
        "column", "bytes", "a row", "uncompressed"
    )?;
    for column in columns {
        writeln!(f)?;
        let ColumnInfo { name, compressed_bytes, bytes_per_row, encoded_bytes, encodings, compression } =
            column;
        let encodings = encodings.join(" ");
        write!(
            f,
            "{name:<width$} {compressed_bytes:>14} {bytes_per_row:>9.3} {encoded_bytes:>14}  {encodings}, {compression}"
        )?;
    }
    Ok(())
}

/// A footer value on one line; other programs keep whole schemas there.
fn shortened(value: &str) -> String {
    const SHOWN: usize = 100;
    let line: String = value.chars().take(SHOWN).map(|c| if c.is_control() { ' ' } else { c }).collect();
    match value.chars().count() {
        all if all > SHOWN => format!("{line}… ({all} characters)"),
        _ => line,
    }
}
