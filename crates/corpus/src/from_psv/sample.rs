//! A look at the inputs before the long work: how long are their records, and how do moves lie in them?

use super::PsvOptions;
use super::error::FromPsvError;
use super::plan::Input;
use crate::psv::detect::{MAX_CANDIDATES, MoveTally, Positions, SAMPLE_RECORDS};
use crate::psv::{CANDIDATE_LEN, Layout, MoveLayout, PSV_LEN, SFEN_LEN};
use manaka_shogi::Trail;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Where a file is looked at to see whether it has records of some length, and how many records one behind the other
/// are looked at there. Were they single ones, every second record might be seen and half the length taken for it.
const LENGTH_PLACES: u64 = 16;
const LENGTH_RUN: u64 = 4;
/// A length at which none of so many records begins with a position is not looked at any further.
const LOST: usize = 8;
/// Records whose moves are looked at in each file, however many files there are.
const FEWEST_OF_A_FILE: usize = 64;

/// What the sample gives.
pub(super) struct Found {
    pub layout: Layout,
    pub tally: MoveTally,
    pub inputs: Vec<Input>,
}

/// An opened file, for looks here and there.
struct Source<'a> {
    path: &'a Path,
    file: File,
    len: u64,
}

impl<'a> Source<'a> {
    fn open(path: &'a Path) -> Result<Self, FromPsvError> {
        let open = || {
            let file = File::open(path)?;
            let meta = file.metadata()?;
            if !meta.is_file() {
                return Err(io::Error::other("not a regular file"));
            }
            Ok((file, meta.len()))
        };
        let (file, len) = open().map_err(|error| FromPsvError::Io { path: path.to_owned(), error })?;
        Ok(Self { path, file, len })
    }

    fn read(&mut self, at: u64, out: &mut [u8]) -> Result<(), FromPsvError> {
        let result = self.file.seek(SeekFrom::Start(at)).and_then(|_| self.file.read_exact(out));
        result.map_err(|error| FromPsvError::Io { path: self.path.to_owned(), error })
    }

    /// Whether records of this length begin with positions.
    fn positions(&mut self, record_len: u64) -> Result<Positions, FromPsvError> {
        let records = self.len / record_len;
        let mut positions = Positions::default();
        let mut bytes = [0; SFEN_LEN];
        for record in spread(records.div_ceil(LENGTH_RUN), LENGTH_PLACES)
            .flat_map(|run| run * LENGTH_RUN..records.min((run + 1) * LENGTH_RUN))
        {
            self.read(record * record_len, &mut bytes)?;
            positions.look(&bytes);
            if positions.decoded == 0 && positions.records == LOST {
                break;
            }
        }
        Ok(positions)
    }

    /// The least number of candidates with which most records begin with a position; of those with which the file ends
    /// with a record, if there is one: a short file begins with a record of many lengths. With half of the right length
    /// at most half of them do, with a multiple of it as many as with the right one.
    fn candidates(&mut self) -> Result<Option<u16>, FromPsvError> {
        for torn in [false, true] {
            for candidates in 0..=MAX_CANDIDATES {
                let record_len = record_len(candidates);
                if self.len.is_multiple_of(record_len) != torn && self.positions(record_len)?.fits() {
                    return Ok(Some(candidates));
                }
            }
        }
        Ok(None)
    }
}

const fn record_len(candidates: u16) -> u64 {
    (PSV_LEN + candidates as usize * CANDIDATE_LEN) as u64
}

/// At most `wanted` record numbers below `records`, spread over all of them, ascending.
fn spread(records: u64, wanted: u64) -> impl Iterator<Item = u64> {
    let wanted = wanted.min(records);
    (0..wanted).map(move |i| {
        // The product of the two may not fit 64 bits.
        u64::try_from(u128::from(i) * u128::from(records) / u128::from(wanted)).unwrap_or(0)
    })
}

/// Looks at the inputs.
pub(super) fn look(inputs: &[PathBuf], options: &PsvOptions) -> Result<Found, FromPsvError> {
    let mut sources = inputs.iter().map(|path| Source::open(path)).collect::<Result<Vec<_>, _>>()?;
    let candidates = common_candidates(&mut sources, options.candidates)?;
    let record_len = record_len(candidates);
    let of = |source: &Source<'_>| Input {
        path: source.path.to_owned(),
        records: source.len / record_len,
        torn: source.len % record_len,
    };
    let inputs: Vec<Input> = sources.iter().map(of).collect();
    if inputs.iter().all(|input| input.records == 0) {
        return Err(FromPsvError::NoRecords);
    }
    // What is not about moves is known; any layout of moves does to look at them.
    let layout = options.with(options.moves.unwrap_or(MoveLayout::Manaka), candidates);
    let (moves, tally) = common_moves(&mut sources, &layout, options.moves)?;
    Ok(Found { layout: Layout { moves, ..layout }, tally, inputs })
}

/// The candidates that a record of every file has.
fn common_candidates(sources: &mut [Source<'_>], told: Option<u16>) -> Result<u16, FromPsvError> {
    let mut known = told;
    for source in sources {
        // Too short for a single record of any kind: all of it is a torn tail.
        if source.len < record_len(known.unwrap_or(0)) {
            continue;
        }
        let Some(candidates) = known else {
            known = source.candidates()?;
            if known.is_none() {
                return Err(FromPsvError::NotPsv {
                    path: source.path.to_owned(),
                    longest: PSV_LEN + usize::from(MAX_CANDIDATES) * CANDIDATE_LEN,
                });
            }
            continue;
        };
        let positions = source.positions(record_len(candidates))?;
        if positions.fits() {
            continue;
        }
        // Many may be damaged; that none is a position, or that another length fits, is another matter.
        let fitting = source.candidates()?;
        if positions.decoded == 0 || fitting.is_some() {
            let path = source.path.to_owned();
            return Err(FromPsvError::WrongLength { path, candidates, positions, fitting });
        }
    }
    known.ok_or(FromPsvError::NoRecords)
}

/// The layout in which the moves of every file lie.
fn common_moves(
    sources: &mut [Source<'_>],
    layout: &Layout,
    told: Option<MoveLayout>,
) -> Result<(MoveLayout, MoveTally), FromPsvError> {
    let wanted = (SAMPLE_RECORDS / sources.len().max(1)).max(FEWEST_OF_A_FILE) as u64;
    let mut trail = Trail::default();
    let mut bytes = vec![0; layout.record_len()];
    let mut all = MoveTally::default();
    let mut first: Option<(&Path, MoveLayout)> = None;
    for source in sources {
        let mut tally = MoveTally::default();
        for record in spread(source.len / bytes.len() as u64, wanted) {
            source.read(record * bytes.len() as u64, &mut bytes)?;
            tally.look(layout, &bytes, &mut trail);
        }
        all.add(&tally);
        let verdict = tally.verdict();
        if let Some(told) = told {
            if verdict.is_ok_and(|found| found != told) || tally.legal(told) * 2 < tally.explained() {
                return Err(FromPsvError::WrongMoves { path: source.path.to_owned(), told, tally });
            }
            continue;
        }
        let Ok(found) = verdict else { continue };
        match first {
            None => first = Some((source.path, found)),
            Some((path, other)) if other != found => {
                return Err(FromPsvError::MovesDiffer {
                    first: (path.to_owned(), other),
                    second: (source.path.to_owned(), found),
                });
            }
            Some(_) => {}
        }
    }
    match told {
        Some(told) => Ok((told, all)),
        None => Ok((all.verdict()?, all)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_spread_from_the_first_record_over_all() {
        let sample = |records, wanted| spread(records, wanted).collect::<Vec<_>>();
        assert_eq!(sample(0, 64), []);
        assert_eq!(sample(3, 64), [0, 1, 2]);
        assert_eq!(sample(10, 4), [0, 2, 5, 7]);
        assert_eq!(sample(u64::MAX, 2), [0, u64::MAX / 2]);
    }
}
