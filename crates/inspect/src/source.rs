//! The records and rows of one file of any kind, one after the other, as conditions see them.

use crate::error::{Error, Result};
use crate::sniff::Kind;
use crate::stat::corpus_row;
use manaka_core::conventions::NO_VISITS;
use manaka_core::select::{Candidates, Data, Item};
use manaka_core::stream::{self, Candidate, StreamReader};
use manaka_core::{Conventions, Move16};
use manaka_corpus::psv::{self, Layout};
use manaka_corpus::{CorpusFile, PsvOptions, Rows as CorpusRows, psv_layout};
use manaka_pack::shard::{Rows, ShardReader};
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// One record or row.
#[derive(Clone, Copy)]
pub struct Line<'a> {
    /// Its number within the file, from 0.
    pub number: u64,
    /// The byte at which it begins: of the decompressed stream, or of the raw file.
    pub offset: Option<u64>,
    /// What is said of it.
    pub item: Item<'a>,
    /// The policy of a shard's row, as long as its candidates; else empty.
    pub prob: &'a [f32],
    /// The move that was played, where the data names one.
    pub played: Option<Move16>,
}

/// What can be met on the way.
pub enum Found<'a> {
    /// A record or row.
    Line(&'a Line<'a>),
    /// A row of a corpus or a raw record that cannot be read, by the names of corpus.md §4 and psv.md.
    Refused { number: u64, reason: &'static str },
    /// A record of a stream that breaks a rule; whoever cannot go on without it makes it an error.
    Fault(stream::Error),
}

/// A file that can be walked through; its header or footer is read.
pub struct Source {
    path: PathBuf,
    opened: Opened,
}

enum Opened {
    Stream(Conventions),
    Shard(Box<ShardReader>),
    Corpus(Box<CorpusFile>),
    Psv(Layout),
}

/// The layout of raw files, when it is raw files.
///
/// # Errors
/// What keeps it from being found out.
pub fn layout_of(inputs: &[PathBuf], kind: Kind, options: &PsvOptions) -> Result<Option<Layout>> {
    (kind == Kind::Psv).then(|| psv_layout(inputs, options).map_err(Error::psv)).transpose()
}

impl Source {
    /// Opens a file of this kind; `layout` is that of raw PSV.
    ///
    /// # Errors
    /// What is wrong with its header or footer.
    pub fn open(path: &Path, kind: Kind, layout: Option<Layout>) -> Result<Self> {
        let opened = match (kind, layout) {
            (Kind::Shard, _) => {
                Opened::Shard(Box::new(ShardReader::open(path).map_err(|e| Error::shard(path, e))?))
            }
            (Kind::Corpus, _) => Opened::Corpus(Box::new(CorpusFile::open(path).map_err(Error::corpus)?)),
            (Kind::Psv, Some(layout)) => Opened::Psv(layout),
            // Raw records always come with a layout.
            (Kind::Stream | Kind::Psv, _) => {
                let reader = StreamReader::open(path).map_err(|e| Error::stream(path, e))?;
                Opened::Stream(reader.header().conventions)
            }
        };
        Ok(Self { path: path.to_owned(), opened })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it is and states.
    pub fn data(&self) -> Data<'_> {
        match &self.opened {
            Opened::Stream(conventions) => Data::Stream(conventions),
            Opened::Shard(reader) => Data::Shard(&reader.footer().conventions),
            Opened::Corpus(_) => Data::Corpus,
            Opened::Psv(_) => Data::Psv,
        }
    }

    /// How many records or rows there are; of a stream that is known only behind them.
    pub fn known_count(&self) -> Option<u64> {
        match &self.opened {
            Opened::Stream(_) => None,
            Opened::Shard(reader) => Some(reader.rows()),
            Opened::Corpus(file) => Some(file.rows()),
            Opened::Psv(layout) => {
                Some(std::fs::metadata(&self.path).ok()?.len() / layout.record_len() as u64)
            }
        }
    }

    /// What it states, if anything.
    pub fn conventions(&self) -> Option<&Conventions> {
        match self.data() {
            Data::Stream(conventions) | Data::Shard(conventions) => Some(conventions),
            Data::Corpus | Data::Psv => None,
        }
    }

    /// Shows `look` what stands from number `from` on, until it says `false`. Row groups before it are not read, and raw
    /// records are jumped over; a stream is walked through.
    ///
    /// # Errors
    /// What ends the walk before the end of the file; what stands before it was shown. And whatever `look` fails with.
    pub fn each(&self, from: u64, look: &mut dyn FnMut(Found<'_>) -> Result<bool>) -> Result<()> {
        match &self.opened {
            Opened::Stream(_) => self.stream(from, look),
            Opened::Shard(reader) => self.shard(reader, from, look),
            Opened::Corpus(file) => corpus(file, from, look),
            Opened::Psv(layout) => self.raw(*layout, from, look),
        }
    }

    fn stream(&self, from: u64, look: &mut dyn FnMut(Found<'_>) -> Result<bool>) -> Result<()> {
        let failed = |error| Error::stream(&self.path, error);
        let mut reader = StreamReader::open(&self.path).map_err(failed)?;
        loop {
            let (number, offset) = (reader.position(), reader.offset());
            let more = match reader.next_ref() {
                Ok(None) => return Ok(()),
                Ok(Some(_)) if number < from => true,
                Ok(Some(record)) => look(Found::Line(&Line {
                    number,
                    offset: Some(offset),
                    item: record.into(),
                    prob: &[],
                    played: None,
                }))?,
                Err(error) => match error.kind {
                    stream::Kind::Record(_) if number < from => true,
                    stream::Kind::Record(_) => look(Found::Fault(error))?,
                    _ => return Err(failed(error)),
                },
            };
            if !more {
                return Ok(());
            }
        }
    }

    fn shard(
        &self,
        reader: &ShardReader,
        from: u64,
        look: &mut dyn FnMut(Found<'_>) -> Result<bool>,
    ) -> Result<()> {
        let mut rows = Rows::default();
        let mut start = 0u64;
        for group in 0..reader.row_groups() {
            let len = u64::try_from(reader.metadata().row_group(group).num_rows()).unwrap_or(0);
            let end = start.saturating_add(len);
            if from < end {
                reader.read_row_group(group, &mut rows).map_err(|e| Error::shard(&self.path, e))?;
                for number in from.max(start)..end {
                    let row = usize::try_from(number - start).unwrap_or(usize::MAX);
                    if !look(Found::Line(&shard_line(&rows, row, number)))? {
                        return Ok(());
                    }
                }
            }
            start = end;
        }
        Ok(())
    }

    fn raw(&self, layout: Layout, from: u64, look: &mut dyn FnMut(Found<'_>) -> Result<bool>) -> Result<()> {
        let io = || Error::io(&self.path);
        let len = layout.record_len() as u64;
        let mut file = File::open(&self.path).map_err(io())?;
        let whole = file.metadata().map_err(io())?.len() / len;
        // Behind the last whole record there may be a torn one, which has to be told.
        let from = from.min(whole);
        file.seek(SeekFrom::Start(from.saturating_mul(len))).map_err(io())?;
        let mut reader = psv::Reader::new(file, layout);
        let mut record = psv::Record::default();
        let mut candidates = Vec::new();
        loop {
            let number = from + reader.position();
            let found = match reader.read_record(&mut record) {
                Ok(true) => None,
                Ok(false) => return Ok(()),
                Err(error) => match error.kind {
                    psv::Kind::Io(error) => return Err(Error::Io { path: self.path.clone(), error }),
                    psv::Kind::Record(_) => Some(error.kind.id()),
                    kind => {
                        let error = psv::Error {
                            path: Some(self.path.clone()),
                            record: number,
                            offset: number * len,
                            kind,
                        };
                        return Err(Error::Raw(error));
                    }
                },
            };
            let more = match found {
                Some(reason) => look(Found::Refused { number, reason })?,
                None => {
                    candidates.clear();
                    let scored = |&(mv, cp)| Candidate { mv, visits: NO_VISITS, cp };
                    candidates.extend(record.candidates.iter().map(scored));
                    look(Found::Line(&Line {
                        number,
                        offset: Some(number * len),
                        item: Item {
                            ply: record.ply,
                            packed: record.packed.as_bytes(),
                            value_z: Some(f32::from(record.result)),
                            value_q: None,
                            root: Some(record.score),
                            weight: 1,
                            candidates: Candidates::Values(&candidates),
                        },
                        prob: &[],
                        played: record.mv,
                    }))?
                }
            };
            if !more {
                return Ok(());
            }
        }
    }
}

/// A row of a shard.
fn shard_line(rows: &Rows, row: usize, number: u64) -> Line<'_> {
    let range = rows.candidates(row);
    Line {
        number,
        offset: None,
        item: Item {
            ply: rows.ply[row],
            packed: &rows.packed[row],
            value_z: rows.value_z.get(row).copied().flatten(),
            value_q: Some(rows.value_q[row]),
            root: None,
            weight: rows.weight[row],
            candidates: Candidates::Columns {
                mv: rows.mv.get(range.clone()).unwrap_or(&[]),
                cp: rows.cp.get(range.clone()).unwrap_or(&[]),
            },
        },
        prob: rows.prob.get(range).unwrap_or(&[]),
        played: None,
    }
}

fn corpus(file: &CorpusFile, from: u64, look: &mut dyn FnMut(Found<'_>) -> Result<bool>) -> Result<()> {
    let (mut rows, mut cp, mut candidates) = (CorpusRows::default(), Vec::new(), Vec::new());
    let mut start = 0u64;
    for group in 0..file.row_groups() {
        let end = start.saturating_add(file.rows_of(group));
        if from >= end {
            start = end;
            continue;
        }
        start = end;
        let mut batches = file.batches(group).map_err(Error::corpus)?;
        while batches.read(&mut rows).map_err(Error::corpus)? {
            for row in rows.iter().filter(|row| row.number() >= from) {
                let number = row.number();
                let read = corpus_row(row, &mut cp)
                    .and_then(|values| listed(row, &cp, &mut candidates).map(|()| values));
                let more = match &read {
                    Err(reason) => look(Found::Refused { number, reason })?,
                    Ok((packed, ply, root, outcome)) => look(Found::Line(&Line {
                        number,
                        offset: None,
                        item: Item {
                            ply: *ply,
                            packed: packed.as_bytes(),
                            value_z: Some(*outcome),
                            value_q: None,
                            root: Some(*root),
                            weight: 1,
                            candidates: Candidates::Values(&candidates),
                        },
                        prob: &[],
                        played: row.mv().and_then(Move16::from_usi_bytes),
                    }))?,
                };
                if !more {
                    return Ok(());
                }
            }
        }
    }
    Ok(())
}

/// The candidates of a corpus row with the scores read before; or why they cannot be told (corpus.md §4).
fn listed(
    row: manaka_corpus::Row<'_>,
    cp: &[i16],
    out: &mut Vec<Candidate>,
) -> std::result::Result<(), &'static str> {
    const MALFORMED: &str = "malformed_record";
    out.clear();
    let moves = row.cand_move().ok_or(MALFORMED)?;
    if moves.iter().len() != cp.len() {
        return Err(MALFORMED);
    }
    for (text, &cp) in moves.iter().zip(cp) {
        let mv = Move16::from_usi_bytes(text.ok_or(MALFORMED)?).ok_or("unlabelled_move")?;
        out.push(Candidate { mv, visits: NO_VISITS, cp });
    }
    Ok(())
}
