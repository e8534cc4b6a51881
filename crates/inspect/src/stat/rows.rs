//! Everything that is cut into pieces of known place: row groups of shards and corpora, records of raw PSV.

use super::collect::{Collector, Worker};
use super::item::Row;
use crate::error::{Error, Result};
use crate::shuffle::Plies;
use manaka_core::Packed;
use manaka_core::conventions::NO_CP;
use manaka_corpus::psv::{self, Layout};
use manaka_corpus::{CorpusFile, Rows as CorpusRows};
use manaka_pack::shard::{Rows, ShardReader};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// A piece of a file: the file, and the piece's number within it.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    pub file: usize,
    pub number: u64,
}

/// The pieces of all files, handed out to threads.
pub struct Pieces {
    pieces: Vec<Piece>,
    next: AtomicUsize,
}

impl Pieces {
    /// Files of so many pieces each.
    pub fn new(counts: impl IntoIterator<Item = u64>) -> Self {
        let pieces = (counts.into_iter().enumerate())
            .flat_map(|(file, count)| (0..count).map(move |number| Piece { file, number }))
            .collect();
        Self { pieces, next: AtomicUsize::new(0) }
    }

    /// Does `work` with pieces as long as there are any.
    pub fn each(&self, collector: &Collector<'_>, mut work: impl FnMut(Piece) -> Result<()>) -> Result<()> {
        while !collector.stopped()
            && let Some(&piece) = self.pieces.get(self.next.fetch_add(1, Ordering::Relaxed))
        {
            work(piece)?;
        }
        Ok(())
    }
}

/// Shards, and the sums that tell a shuffle.
pub struct Shards<'a> {
    paths: &'a [PathBuf],
    pieces: Pieces,
    /// The first row of each row group of each shard, and the end of the last.
    starts: Vec<Vec<u64>>,
    plies: Vec<Mutex<Plies>>,
    all: Mutex<Plies>,
}

impl<'a> Shards<'a> {
    /// `starts`: the first row of each row group of each shard, and the end of the last.
    pub fn new(paths: &'a [PathBuf], starts: Vec<Vec<u64>>) -> Self {
        let rows = |starts: &Vec<u64>| starts.last().copied().unwrap_or(0);
        let plies = starts.iter().map(|starts| Mutex::new(Plies::new(rows(starts)))).collect();
        let all = Mutex::new(Plies::new(starts.iter().map(rows).sum()));
        let pieces = Pieces::new(starts.iter().map(|starts| starts.len() as u64 - 1));
        Self { paths, pieces, starts, plies, all }
    }

    pub fn work(&self, collector: &Collector<'_>, worker: &mut Worker<'_>) -> Result<()> {
        let mut rows = Rows::default();
        let mut open: Option<(usize, ShardReader)> = None;
        let total: u64 = self.starts.iter().filter_map(|starts| starts.last()).sum();
        self.pieces.each(collector, |Piece { file, number }| {
            let path = &self.paths[file];
            let reader = match &open {
                Some((at, reader)) if *at == file => reader,
                _ => {
                    let reader = ShardReader::open(path).map_err(|error| Error::shard(path, error))?;
                    &open.insert((file, reader)).1
                }
            };
            let group = usize::try_from(number).unwrap_or(usize::MAX);
            reader.read_row_group(group, &mut rows).map_err(|error| Error::shard(path, error))?;
            let mut run = worker.run(file, number);
            for row in 0..rows.len() {
                let candidates = rows.candidates(row);
                run.add(&Row {
                    ply: rows.ply[row],
                    packed: &rows.packed[row],
                    outcome: rows.value_z.get(row).copied().flatten(),
                    value: rows.value_q[row].clamp(-1.0, 1.0),
                    root: None,
                    candidates: candidates.len(),
                    cp: rows.cp.get(candidates).unwrap_or(&[]),
                    weight: rows.weight[row],
                });
            }
            run.finish();
            let start = self.starts[file][group];
            let offset: u64 = self.starts[..file].iter().filter_map(|starts| starts.last()).sum();
            let merge = |plies: &Mutex<Plies>, start, total| {
                let pieces = Plies::pieces(start, &rows.ply, total);
                plies.lock().unwrap_or_else(PoisonError::into_inner).merge(&pieces);
            };
            merge(&self.plies[file], start, self.starts[file].last().copied().unwrap_or(0));
            merge(&self.all, offset + start, total);
            Ok(())
        })
    }

    /// The shuffle's figures: of every shard with rows, then of all together when there are several.
    pub fn shuffle(self) -> Vec<crate::report::ShuffleFigures> {
        let inner = |plies: Mutex<Plies>| plies.into_inner().unwrap_or_else(PoisonError::into_inner);
        let several = self.plies.len() > 1;
        let mut figures: Vec<_> = (self.plies.into_iter().zip(self.paths))
            .filter_map(|(plies, path)| inner(plies).measured(Some(path)))
            .collect();
        if several {
            figures.extend(inner(self.all).measured(None));
        }
        figures
    }
}

/// Corpus parquet.
pub struct Corpora<'a> {
    files: &'a [CorpusFile],
    pieces: Pieces,
}

impl<'a> Corpora<'a> {
    pub fn new(files: &'a [CorpusFile]) -> Self {
        Self { files, pieces: Pieces::new(files.iter().map(|file| file.row_groups() as u64)) }
    }

    pub fn work(&self, collector: &Collector<'_>, worker: &mut Worker<'_>) -> Result<()> {
        let mut rows = CorpusRows::default();
        let mut cp = Vec::new();
        self.pieces.each(collector, |Piece { file, number }| {
            let group = usize::try_from(number).unwrap_or(usize::MAX);
            let mut batches = self.files[file].batches(group).map_err(Error::corpus)?;
            let mut run = worker.run(file, number);
            while batches.read(&mut rows).map_err(Error::corpus)? {
                for row in rows.iter() {
                    match corpus_row(row, &mut cp) {
                        Ok((packed, ply, root, outcome)) => run.add(&Row {
                            ply,
                            packed: packed.as_bytes(),
                            outcome: Some(outcome),
                            value: collector.facts.value(root).unwrap_or(0.0),
                            root: Some(root),
                            cp: &cp,
                            candidates: cp.len(),
                            weight: 1,
                        }),
                        Err(reason) => collector.refuse(reason),
                    }
                }
            }
            run.finish();
            Ok(())
        })
    }
}

/// Position, ply, root score and outcome from the mover; or why the row has them not, by the names of corpus.md §4.
pub(crate) fn corpus_row(
    row: manaka_corpus::Row<'_>,
    cp: &mut Vec<i16>,
) -> std::result::Result<(Packed, u16, i16, f32), &'static str> {
    const MALFORMED: &str = "malformed_record";
    let score = |value: i64| i16::try_from(value).ok().filter(|&cp| cp != NO_CP);
    let text = row.sfen().and_then(|sfen| str::from_utf8(sfen).ok()).ok_or(MALFORMED)?;
    let ply = row.ply().and_then(|ply| u16::try_from(ply).ok()).ok_or(MALFORMED)?;
    let root = row.cp().and_then(score).ok_or(MALFORMED)?;
    let result = match row.result().ok_or(MALFORMED)? {
        -1 => -1.0,
        0 => 0.0,
        1 => 1.0,
        _ => return Err(MALFORMED),
    };
    cp.clear();
    for value in row.cand_cp().ok_or(MALFORMED)?.iter() {
        cp.push(value.and_then(score).ok_or(MALFORMED)?);
    }
    let (packed, _) = Packed::from_sfen(text).map_err(|_| "bad_sfen")?;
    // Black's view there, the mover's here; a draw is never -0.0.
    let white = packed.side() == manaka_core::Color::White;
    Ok((packed, ply, root, if white && result != 0.0 { -result } else { result }))
}

/// Raw PSV.
pub struct Raw<'a> {
    paths: &'a [PathBuf],
    layout: Layout,
    pieces: Pieces,
}

impl<'a> Raw<'a> {
    /// Records of a piece.
    const RECORDS: u64 = 1 << 14;

    /// Files of this layout, whose lengths are known.
    pub fn new(paths: &'a [PathBuf], layout: Layout, bytes: &[u64]) -> Self {
        let records = |bytes: &u64| bytes.div_ceil(layout.record_len() as u64);
        let pieces = Pieces::new(bytes.iter().map(|bytes| records(bytes).div_ceil(Self::RECORDS)));
        Self { paths, layout, pieces }
    }

    pub fn work(&self, collector: &Collector<'_>, worker: &mut Worker<'_>) -> Result<()> {
        let mut record = psv::Record::default();
        let mut cp = Vec::new();
        self.pieces.each(collector, |Piece { file, number }| {
            let path = &self.paths[file];
            let len = self.layout.record_len() as u64;
            let mut source = File::open(path).map_err(Error::io(path))?;
            source.seek(SeekFrom::Start(number * Self::RECORDS * len)).map_err(Error::io(path))?;
            let mut reader = psv::Reader::new(source.take(Self::RECORDS * len), self.layout);
            let mut run = worker.run(file, number);
            loop {
                match reader.read_record(&mut record) {
                    Ok(true) => {}
                    Ok(false) => break,
                    Err(error) => {
                        if let psv::Kind::Io(error) = error.kind {
                            return Err(Error::Io { path: path.clone(), error });
                        }
                        collector.refuse(error.kind.id());
                        continue;
                    }
                }
                cp.clear();
                cp.extend(record.candidates.iter().map(|&(_, cp)| cp));
                run.add(&Row {
                    ply: record.ply,
                    packed: record.packed.as_bytes(),
                    outcome: Some(f32::from(record.result)),
                    value: collector.facts.value(record.score).unwrap_or(0.0),
                    root: Some(record.score),
                    cp: &cp,
                    candidates: cp.len(),
                    weight: 1,
                });
            }
            run.finish();
            Ok(())
        })
    }
}
