//! Getting at the records and rows to be shown, reading no more than it takes.

use super::{CandidateView, Entry, Format, Notation, PositionView, Selection, View};
use crate::error::{Error, Result};
use crate::sniff::{FileKind, sniff};
use manaka_core::conventions::{NO_CP, NO_VISITS};
use manaka_core::stream::{Candidate, Kind, RecordRef, StreamReader};
use manaka_core::{Color, Conventions, Move16, Packed};
use manaka_pack::shard::{Rows, ShardReader};
use manaka_shogi::Board;
use std::path::Path;

/// Shows records of a stream or rows of a shard. Of a shard only the row groups are read that hold them; a stream is
/// walked up to them.
///
/// # Errors
/// [`Error::Range`] when the file ends before the first; [`Error::Io`]; [`Error::Stream`] and [`Error::Shard`] when the
/// file is damaged on the way. A record that breaks a rule is no error but [`Entry::Faulty`].
pub fn view(path: &Path, selection: Selection, notation: Notation) -> Result<View> {
    match sniff(path)?.0 {
        FileKind::Stream => stream(path, selection, notation),
        FileKind::Shard => shard(path, selection, notation),
    }
}

fn stream(path: &Path, selection: Selection, notation: Notation) -> Result<View> {
    let mut reader = StreamReader::open(path).map_err(|error| Error::stream(path, error))?;
    let conventions = reader.header().conventions;
    let mut board = Board::start();
    let mut entries = Vec::new();
    let end = selection.start.saturating_add(selection.count);
    while reader.position() < end {
        let (number, offset) = (reader.position(), reader.offset());
        let wanted = number >= selection.start;
        match reader.next_ref() {
            Ok(Some(record)) if wanted => {
                entries.push(Entry::Position(record_view(&record, number, offset, &conventions, &mut board)));
            }
            Ok(Some(_)) => {}
            Ok(None) => break,
            Err(error) => match error.kind {
                Kind::Record(fault) if wanted => {
                    let message = fault.to_string();
                    entries.push(Entry::Faulty { number, offset, id: fault.id(), message });
                }
                Kind::Record(_) => {}
                // What stands whole before the damage was asked for and is shown.
                _ if !entries.is_empty() => break,
                _ => return Err(Error::stream(path, error)),
            },
        }
    }
    if selection.start >= reader.position() && selection.count > 0 {
        let have = reader.position();
        return Err(Error::Range { path: path.to_owned(), unit: "record", start: selection.start, have });
    }
    Ok(build(path, Format::Stream, &conventions, entries, notation))
}

fn shard(path: &Path, selection: Selection, notation: Notation) -> Result<View> {
    let failed = |error| Error::shard(path, error);
    let reader = ShardReader::open(path).map_err(failed)?;
    let conventions = reader.footer().conventions;
    let mut board = Board::start();
    let mut entries = Vec::new();
    let mut rows = Rows::default();
    let end = selection.start.saturating_add(selection.count);
    let mut group_start = 0u64;
    for group in 0..reader.row_groups() {
        let len = u64::try_from(reader.metadata().row_group(group).num_rows()).unwrap_or(0);
        let group_end = group_start.saturating_add(len);
        let wanted = selection.start.max(group_start)..end.min(group_end);
        if !wanted.is_empty() {
            reader.read_row_group(group, &mut rows).map_err(failed)?;
            for number in wanted {
                let row = usize::try_from(number - group_start).unwrap_or(usize::MAX);
                entries.push(Entry::Position(row_view(&rows, row, number, &conventions, &mut board)));
            }
        }
        group_start = group_end;
    }
    if selection.start >= group_start && selection.count > 0 {
        let path = path.to_owned();
        return Err(Error::Range { path, unit: "row", start: selection.start, have: group_start });
    }
    Ok(build(path, Format::Shard, &conventions, entries, notation))
}

fn build(
    path: &Path,
    format: Format,
    conventions: &Conventions,
    entries: Vec<Entry>,
    notation: Notation,
) -> View {
    let (pov, policy_source) = (conventions.pov.id(), conventions.policy_source.id());
    View { path: path.to_owned(), format, pov, policy_source, entries, notation }
}

fn record_view(
    record: &RecordRef<'_>,
    number: u64,
    offset: u64,
    conventions: &Conventions,
    board: &mut Board,
) -> PositionView {
    let packed = record.packed();
    let mut view = position(packed, record.ply(), number, board);
    view.offset = Some(offset);
    (view.value_z, view.value_q) = (record.outcome(), record.value_q());
    let total: u64 = record.candidates().map(|c| u64::from(c.visits)).sum();
    view.candidates = record
        .candidates()
        .map(|Candidate { mv, visits, cp }| {
            let cp = (cp != NO_CP).then_some(cp);
            let mut candidate = candidate(mv, cp, conventions);
            candidate.visits = (visits != NO_VISITS).then_some(visits);
            candidate.prob = candidate.visits.map(|visits| share(visits, total));
            candidate
        })
        .collect();
    legality(&mut view, record.candidates().map(|c| c.mv), board);
    view
}

fn row_view(
    rows: &Rows,
    row: usize,
    number: u64,
    conventions: &Conventions,
    board: &mut Board,
) -> PositionView {
    let mut view = position(rows.position(row), rows.ply[row], number, board);
    view.weight = Some(rows.weight[row]);
    (view.value_z, view.value_q) = (rows.value_z.get(row).copied().flatten(), rows.value_q[row]);
    let range = rows.candidates(row);
    view.candidates = range
        .clone()
        .map(|at| {
            let mut candidate =
                candidate(Move16::from_bits(rows.mv[at]), rows.cp.get(at).copied(), conventions);
            candidate.prob = Some(rows.prob[at]);
            candidate
        })
        .collect();
    legality(&mut view, rows.mv[range].iter().map(|&bits| Move16::from_bits(bits)), board);
    view
}

/// A view without values and candidates; sets the board.
fn position(packed: Packed, ply: u16, number: u64, board: &mut Board) -> PositionView {
    PositionView {
        number,
        offset: None,
        sfen: packed.sfen(Some(u32::from(ply))).to_string(),
        side: match packed.side() {
            Color::Black => "black",
            Color::White => "white",
        },
        ply,
        weight: None,
        value_z: None,
        value_q: 0.0,
        unplayable: board.set(&packed, u32::from(ply)).err().map(|error| error.to_string()),
        candidates: Vec::new(),
        packed,
    }
}

fn candidate(mv: Move16, cp: Option<i16>, conventions: &Conventions) -> CandidateView {
    let mate = cp.is_some_and(|cp| conventions.is_mate(cp));
    CandidateView { usi: mv.to_string(), cp, mate, visits: None, prob: None, legal: None }
}

fn legality(view: &mut PositionView, moves: impl Iterator<Item = Move16>, board: &Board) {
    if view.unplayable.is_none() {
        for (candidate, mv) in view.candidates.iter_mut().zip(moves) {
            candidate.legal = Some(board.is_legal(mv));
        }
    }
}

#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "a figure to be read")]
fn share(visits: u32, total: u64) -> f32 {
    (f64::from(visits) / total as f64) as f32
}
