//! An open file, of which records and rows are shown by number and found by conditions.

use super::trace::{Kept, Trace};
use super::{CandidateView, Entry, Format, Notation, PositionView, Selection, View};
use crate::error::{Error, Result};
use crate::sniff::Kind;
use crate::source::{Found, Line, Source, layout_of};
use manaka_core::conventions::{NO_CP, NO_VISITS};
use manaka_core::packed::PACKED_LEN;
use manaka_core::progress::Progress;
use manaka_core::select::{Data, Select};
use manaka_core::stream::RecordRef;
use manaka_core::{Color, Conventions, Move16, Packed};
use manaka_corpus::PsvOptions;
use manaka_shogi::Board;
use std::path::Path;

/// Shows records or rows of a file, reading no more than it takes: of a shard or corpus the row groups that hold them, of
/// raw PSV the records; a stream is walked up to them. With conditions, those that meet them from the first number on.
///
/// # Errors
/// [`Error::Range`] when the file ends before the first, [`Error::NoMatch`] when nothing meets the conditions,
/// [`Error::Select`] when the file cannot answer them; the error of a file that is damaged on the way. A record that breaks a
/// rule is no error but [`Entry::Faulty`].
pub fn view(
    path: &Path,
    selection: Selection,
    select: &Select,
    notation: Notation,
    psv: &PsvOptions,
) -> Result<View> {
    let mut viewer = Viewer::open(path, psv)?;
    let mut entries = Vec::new();
    let mut next = selection.start;
    let mut ended = false;
    while !ended && u64::try_from(entries.len()).is_ok_and(|shown| shown < selection.count) {
        let mut step = || {
            if !select.is_all() {
                match viewer.find(select, next, &())? {
                    Some(number) => next = number,
                    None => return Ok(None),
                }
            }
            viewer.show(next)
        };
        match step() {
            Ok(Some(entry)) => entries.push(entry),
            Ok(None) => ended = true,
            // What stands whole before the damage was asked for and is shown.
            Err(_) if !entries.is_empty() => ended = true,
            Err(error) => return Err(error),
        }
        next = next.saturating_add(1);
    }
    if entries.is_empty() && selection.count > 0 {
        let (path, unit, start) = (path.to_owned(), viewer.format().unit(), selection.start);
        return Err(match viewer.count()? {
            have if start >= have => Error::Range { path, unit, start, have },
            _ => Error::NoMatch { path, unit, start },
        });
    }
    Ok(viewer.view(entries, notation))
}

/// An open file. Memory does not grow with its length.
pub struct Viewer {
    source: Source,
    kind: Kind,
    /// Of a stream: where it is being read.
    trace: Option<Trace>,
    board: Board,
}

impl Viewer {
    /// Opens a file of any kind.
    ///
    /// # Errors
    /// What is wrong with its header or footer; [`Error::Psv`] for raw records whose layout cannot be told.
    pub fn open(path: &Path, psv: &PsvOptions) -> Result<Self> {
        let kind = Kind::of(path)?.0;
        let source = Source::open(path, kind, layout_of(&[path.to_owned()], kind, psv)?)?;
        let trace = (kind == Kind::Stream).then(|| Trace::new(path));
        Ok(Self { source, kind, trace, board: Board::start() })
    }

    /// What the file is.
    #[must_use]
    pub const fn format(&self) -> Format {
        match self.kind {
            Kind::Stream => Format::Stream,
            Kind::Shard => Format::Shard,
            Kind::Corpus => Format::Corpus,
            Kind::Psv => Format::Psv,
        }
    }

    /// How many records or rows there are, where that takes no walk through the file.
    #[must_use]
    pub fn known_count(&self) -> Option<u64> {
        self.source.known_count()
    }

    /// How many records or rows there are. A stream is walked to its end, or to where it is damaged.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn count(&mut self) -> Result<u64> {
        match &mut self.trace {
            Some(trace) => trace.count(),
            None => Ok(self.source.known_count().unwrap_or(0)),
        }
    }

    /// Entries as a value that prints.
    #[must_use]
    pub fn view(&self, entries: Vec<Entry>, notation: Notation) -> View {
        let conventions = self.source.conventions();
        View {
            path: self.source.path().to_owned(),
            format: self.format(),
            pov: conventions.map_or(manaka_core::Pov::SideToMove, |c| c.pov).id(),
            policy_source: conventions.map(|c| c.policy_source.id()),
            entries,
            notation,
        }
    }

    /// A record or row; `None` behind the last one. In a stream the way back is short only among the last thousands of
    /// records that were passed; else it is walked through from its beginning.
    ///
    /// # Errors
    /// The error of a file that is damaged before that.
    pub fn show(&mut self, number: u64) -> Result<Option<Entry>> {
        let Self { source, trace, board, .. } = self;
        let conventions = source.conventions().copied();
        let before = number.checked_sub(1);
        if let Some(trace) = trace {
            let before = match before {
                Some(before) => trace.fetch(before)?.and_then(Step::of_record),
                None => None,
            };
            return Ok(trace.fetch(number)?.map(|kept| {
                match (kept.fault(), RecordRef::frame(kept.bytes())) {
                    (Some((id, message)), _) => faulty(kept, id, message.clone()),
                    (None, Ok(record)) => {
                        let (number, offset) = (kept.number(), Some(kept.offset()));
                        let line = Line { number, offset, item: record.into(), prob: &[], played: None };
                        let last = before.and_then(|step| step.to(line.item.ply, line.item.packed));
                        Entry::Position(Box::new(position(&line, last, conventions.as_ref(), board)))
                    }
                    // Whole records alone are kept.
                    (None, Err(_)) => faulty(kept, "truncated", String::new()),
                }
            }));
        }
        let mut shown = None;
        let mut step = None;
        let named = matches!(source.data(), Data::Corpus | Data::Psv);
        source.each(if named { before.unwrap_or(0) } else { number }, &mut |found| {
            match found {
                Found::Line(line) if line.number < number => step = Step::of_line(line),
                Found::Line(line) => {
                    let last = step.take().and_then(|step| step.to(line.item.ply, line.item.packed));
                    shown =
                        Some(Entry::Position(Box::new(position(line, last, conventions.as_ref(), board))));
                }
                Found::Refused { number: refused, .. } if refused < number => {}
                Found::Refused { number, reason } => {
                    let message = "this cannot be read".to_owned();
                    shown = Some(Entry::Faulty { number, offset: None, id: reason, message });
                }
                Found::Fault(_) => {}
            }
            Ok(shown.is_none())
        })?;
        Ok(shown)
    }

    /// The first record or row from number `from` on that meets the conditions.
    ///
    /// # Errors
    /// [`Error::Select`]; the error of a file that is damaged before one is found; [`Error::Interrupted`].
    pub fn find(&mut self, select: &Select, from: u64, progress: &dyn Progress) -> Result<Option<u64>> {
        let mut found = None;
        self.search(select, from, u64::MAX, progress, &mut |number| {
            found = Some(number);
            false
        })?;
        Ok(found)
    }

    /// The last record or row before number `before` that meets the conditions. The file is looked through from its
    /// beginning.
    ///
    /// # Errors
    /// As [`Viewer::find`].
    pub fn find_before(
        &mut self,
        select: &Select,
        before: u64,
        progress: &dyn Progress,
    ) -> Result<Option<u64>> {
        let mut found = None;
        self.search(select, 0, before, progress, &mut |number| {
            found = Some(number);
            true
        })?;
        Ok(found)
    }

    /// Hands over the numbers in a range that meet the conditions, until it is told to stop.
    fn search(
        &self,
        select: &Select,
        from: u64,
        before: u64,
        progress: &dyn Progress,
        hand: &mut dyn FnMut(u64) -> bool,
    ) -> Result<()> {
        let path = self.source.path().to_owned();
        let matcher = select.on(self.source.data()).map_err(|error| Error::Select { path, error })?;
        let mut looked = 0u32;
        self.source.each(from, &mut |found| {
            looked = looked.wrapping_add(1);
            if looked.is_multiple_of(1 << 12) && progress.cancelled() {
                return Err(Error::Interrupted);
            }
            Ok(match found {
                Found::Line(line) if line.number >= before => false,
                Found::Line(line) if matcher.matches(&line.item) => hand(line.number),
                // What cannot be read meets no condition; it is shown where one comes by.
                Found::Line(_) | Found::Refused { .. } | Found::Fault(_) => true,
            })
        })
    }
}

fn faulty(kept: &Kept, id: &'static str, message: String) -> Entry {
    Entry::Faulty { number: kept.number(), offset: Some(kept.offset()), id, message }
}

/// What is known of the record or row before one, so that the move between them can be told.
struct Step {
    ply: u16,
    packed: Packed,
    /// Moves that may have been played.
    moves: Vec<Move16>,
}

impl Step {
    fn of_record(kept: &Kept) -> Option<Self> {
        let record = RecordRef::frame(kept.bytes()).ok().filter(|_| kept.fault().is_none())?;
        let moves = record.candidates().map(|c| c.mv).collect();
        Some(Self { ply: record.ply(), packed: record.packed(), moves })
    }

    fn of_line(line: &Line<'_>) -> Option<Self> {
        let packed = Packed::from_bytes(*line.item.packed);
        line.played.map(|mv| Self { ply: line.item.ply, packed, moves: vec![mv] })
    }

    /// The move that led to a position, when it is the next one of the game.
    fn to(&self, ply: u16, packed: &[u8; PACKED_LEN]) -> Option<Last> {
        let leads = |mv: &Move16| self.packed.after(*mv).is_some_and(|next| next.as_bytes() == packed);
        let next = self.ply.checked_add(1) == Some(ply);
        self.moves.iter().copied().find(|mv| next && leads(mv)).map(|mv| Last { mv, from: self.packed })
    }
}

/// A move that was played, and the position it was played in.
struct Last {
    mv: Move16,
    from: Packed,
}

fn position(
    line: &Line<'_>,
    last: Option<Last>,
    conventions: Option<&Conventions>,
    board: &mut Board,
) -> PositionView {
    let item = &line.item;
    let packed = Packed::from_bytes(*item.packed);
    let ply = u32::from(item.ply);
    let unplayable = board.set(&packed, ply).err().map(|error| error.to_string());
    let visits: u64 = item.candidates.iter().map(|c| u64::from(c.visits)).sum();
    let kif = |packed: &Packed, mv| super::kif::kif(packed, mv).unwrap_or_default();
    let candidates = (item.candidates.iter().enumerate())
        .map(|(at, candidate)| {
            let cp = (candidate.cp != NO_CP).then_some(candidate.cp);
            let visited = (candidate.visits != NO_VISITS).then_some(candidate.visits);
            CandidateView {
                usi: candidate.mv.to_string(),
                cp,
                mate: cp.is_some_and(|cp| conventions.is_some_and(|c| c.is_mate(cp))),
                visits: visited,
                prob: line.prob.get(at).copied().or(visited.map(|visited| share(visited, visits))),
                legal: unplayable.is_none().then(|| board.is_legal(candidate.mv)),
                kif: kif(&packed, candidate.mv),
            }
        })
        .collect();
    PositionView {
        number: line.number,
        offset: line.offset,
        sfen: packed.sfen(Some(ply)).to_string(),
        side: match packed.side() {
            Color::Black => "black",
            Color::White => "white",
        },
        ply: item.ply,
        last_move: last.as_ref().map(|last| last.mv.to_string()),
        // Only a row of a shard stands for records, and only it has no place and no score of its root.
        weight: (line.offset.is_none() && item.root.is_none()).then_some(item.weight),
        value_z: item.value_z,
        value_q: item.value_q,
        root_cp: item.root,
        played: line.played.map(|mv| mv.to_string()),
        unplayable,
        candidates,
        last_kif: last.as_ref().map(|last| kif(&last.from, last.mv)).unwrap_or_default(),
        last: last.map(|last| last.mv),
        packed,
    }
}

#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "a figure to be read")]
fn share(visits: u32, total: u64) -> f32 {
    (f64::from(visits) / total as f64) as f32
}
