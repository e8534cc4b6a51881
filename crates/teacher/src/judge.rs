//! One row: refuse it (corpus.md §4) or derive its record (corpus.md §5).

use crate::options::{OffSearch, Options, Strictness};
use crate::refusal::{Refusal, USI_WORDS};
use manaka_core::conventions::{Conventions, NO_OUTCOME, NO_VISITS};
use manaka_core::sfen::{Sfen, SfenError, SfenWriter};
use manaka_core::stream::{Candidate, Record};
use manaka_core::{Color, Faults, Move16, Packed};
use manaka_corpus::{Column, IntList, MAX_SFEN_TEXT, Row, TextList};
use manaka_shogi::Trail;
use std::ops::RangeInclusive;
use std::str;

/// `value_q` of every cp, so that no row pays for a tanh.
pub(crate) struct ValueTable(Vec<f32>);

impl ValueTable {
    pub(crate) fn new(conventions: &Conventions) -> Self {
        // In the order of the bits: 0..=32767, then -32768..=-1.
        Self((0..=u16::MAX).map(|bits| conventions.value_q(bits.cast_signed())).collect())
    }

    fn of(&self, cp: i16) -> f32 {
        self.0[usize::from(cp.cast_unsigned())]
    }
}

/// A move text as 16 bits: a move16, or with bit 15, which no move has, the number of a USI word.
type Code = u16;
const WORD: Code = 1 << 15;

/// The scores a row may have: what an i16 holds but for the value that says there is none.
const CP_RANGE: RangeInclusive<i64> = -32767..=32767;
const PLY_RANGE: RangeInclusive<i64> = 0..=65535;

/// Judges rows one by one with memory of its own; one per thread.
pub(crate) struct Judge<'t> {
    values: &'t ValueTable,
    off_search: OffSearch,
    trail: Option<Trail>,
    writer: SfenWriter,
    text: Vec<u8>,
    codes: Vec<Code>,
    /// One bit per code, clear between rows.
    seen: Vec<u64>,
    record: Record,
}

/// The columns of a row that is not malformed.
struct Sound<'a> {
    sfen: &'a [u8],
    /// The position that follows from the row before, if that is what the text says: cheaper than to read it.
    following: Option<Packed>,
    side: Color,
    ply: u16,
    cp: i16,
    result: i8,
    played: (Code, &'a [u8]),
}

/// A row that became a record.
pub(crate) struct Written<'j> {
    pub record: &'j Record,
    /// The greatest |cp| of root and candidates.
    pub peak: u16,
    /// Whether the move played is none of the candidates.
    pub off_search: bool,
}

impl<'t> Judge<'t> {
    pub(crate) fn new(options: &Options, values: &'t ValueTable) -> Self {
        let trail = match options.strictness {
            Strictness::Strict => Some(Trail::default()),
            Strictness::Lenient => None,
        };
        let record = Record::default();
        let (writer, text, codes) = (SfenWriter::default(), Vec::new(), Vec::new());
        let off_search = options.off_search;
        Self { values, off_search, trail, writer, text, codes, seen: vec![0; (1 << 16) / 64], record }
    }

    /// The record of a row, valid until the next call, or the first refusal in the order of corpus.md §4.
    pub(crate) fn judge<'r>(&mut self, row: Row<'r>) -> Result<Written<'_>, Refusal<'r>> {
        let sound = self.sound(row)?;
        let packed = self.position(sound.sfen, sound.following)?;
        if packed.side() != sound.side {
            return Err(Refusal::Side { column: sound.side, sfen: packed.side() });
        }
        if let Some(index) = self.codes.iter().position(|code| code & WORD != 0) {
            let word = USI_WORDS[usize::from(self.codes[index] & !WORD)];
            return Err(Refusal::Word { index, word });
        }
        let (played, text) = sound.played;
        let off_search = !self.codes.contains(&played);
        if off_search && self.off_search == OffSearch::Refuse {
            return Err(Refusal::NotCandidate { text, of: self.codes.len() });
        }
        self.legality()?;
        if let Some(trail) = &mut self.trail {
            trail.played(Move16::from_bits(played));
        }

        let mut peak = sound.cp.unsigned_abs();
        for (candidate, &code) in self.record.candidates.iter_mut().zip(&self.codes) {
            candidate.mv = Move16::from_bits(code);
            peak = peak.max(candidate.cp.unsigned_abs());
        }
        // corpus.md §5. Negated as an integer, so that a draw is never -0.0.
        self.record.value_z = match sound.side {
            // The game went on as no candidate has it, and its end says nothing of what the search saw.
            _ if off_search => NO_OUTCOME,
            Color::Black => f32::from(sound.result),
            Color::White => f32::from(-sound.result),
        };
        self.record.value_q = self.values.of(sound.cp);
        self.record.ply = sound.ply;
        self.record.packed = packed;
        Ok(Written { record: &self.record, peak, off_search })
    }

    /// malformed_record. Leaves the candidates' codes in `codes` and their scores in the record.
    fn sound<'r>(&mut self, row: Row<'r>) -> Result<Sound<'r>, Refusal<'r>> {
        let there = |value: Option<i64>, column| value.ok_or(Refusal::Null(column));
        let sfen = row.sfen().ok_or(Refusal::Null(Column::Sfen))?;
        let side = there(row.side(), Column::Side)?;
        let ply = there(row.ply(), Column::Ply)?;
        let cp = there(row.cp(), Column::Cp)?;
        let moves = row.cand_move().ok_or(Refusal::Null(Column::CandMove))?;
        let scores = row.cand_cp().ok_or(Refusal::Null(Column::CandCp))?;
        let mv = row.mv().ok_or(Refusal::Null(Column::Move))?;
        let result = there(row.result(), Column::Result)?;

        if moves.len() != scores.len() {
            return Err(Refusal::ListLengths { moves: moves.len(), scores: scores.len() });
        }
        if moves.is_empty() {
            return Err(Refusal::NoCandidates);
        }
        if moves.len() > usize::from(u16::MAX) {
            return Err(Refusal::ManyCandidates(moves.len()));
        }
        let side = match side {
            0 => Color::Black,
            1 => Color::White,
            value => return Err(Refusal::NotOneOf { column: Column::Side, value, allowed: "0 or 1" }),
        };
        let result = match i8::try_from(result) {
            Ok(result @ -1..=1) => result,
            _ => {
                let allowed = "-1, 0 or 1";
                return Err(Refusal::NotOneOf { column: Column::Result, value: result, allowed });
            }
        };
        let ply = u16::try_from(ply).map_err(|_| Refusal::OutOfRange {
            column: Column::Ply,
            index: None,
            value: ply,
            range: PLY_RANGE,
        })?;
        let cp = score(Column::Cp, None, cp)?;
        self.scores(scores)?;
        // A text that is kept cut is no SFEN whatever it holds, and its cut end is not judged.
        let following = self.following(sfen);
        if following.is_none() && sfen.len() <= MAX_SFEN_TEXT && str::from_utf8(sfen).is_err() {
            return Err(Refusal::NotUtf8);
        }
        self.moves(moves)?;
        let played = code(mv).ok_or(Refusal::NoMove { index: None, text: mv })?;
        self.distinct(moves)?;
        Ok(Sound { sfen, following, side, ply, cp, result, played: (played, mv) })
    }

    fn scores<'r>(&mut self, scores: IntList<'r>) -> Result<(), Refusal<'r>> {
        let candidates = &mut self.record.candidates;
        candidates.clear();
        for (index, cp) in scores.iter().enumerate() {
            let cp = cp.ok_or(Refusal::NullElement { column: Column::CandCp, index })?;
            let cp = score(Column::CandCp, Some(index), cp)?;
            candidates.push(Candidate { mv: Move16::from_bits(0), visits: NO_VISITS, cp });
        }
        Ok(())
    }

    fn moves<'r>(&mut self, moves: TextList<'r>) -> Result<(), Refusal<'r>> {
        self.codes.clear();
        for (index, text) in moves.iter().enumerate() {
            let text = text.ok_or(Refusal::NullElement { column: Column::CandMove, index })?;
            self.codes.push(code(text).ok_or(Refusal::NoMove { index: Some(index), text })?);
        }
        Ok(())
    }

    /// No candidate twice. Two texts are the same move exactly when they are the same text.
    fn distinct<'r>(&mut self, moves: TextList<'r>) -> Result<(), Refusal<'r>> {
        let bit = |code: Code| (usize::from(code / 64), 1u64 << (code % 64));
        let mut twice = None;
        let mut marked = 0;
        for (index, &code) in self.codes.iter().enumerate() {
            let (word, bit) = bit(code);
            if self.seen[word] & bit != 0 {
                twice = Some(index);
                break;
            }
            self.seen[word] |= bit;
            marked = index + 1;
        }
        for &code in &self.codes[..marked] {
            self.seen[bit(code).0] = 0;
        }
        match twice {
            Some(index) => {
                let text = moves.iter().nth(index).flatten().unwrap_or_default();
                Err(Refusal::Twice { index, text })
            }
            None => Ok(()),
        }
    }

    /// bad_sfen. In strict mode the trail is at the position afterwards.
    fn position<'r>(&mut self, sfen: &[u8], following: Option<Packed>) -> Result<Packed, Refusal<'r>> {
        if sfen.len() > MAX_SFEN_TEXT {
            return Err(Refusal::LongSfen);
        }
        let packed = match following {
            Some(packed) => packed,
            // The text's own move number, if it has one, means nothing: the column is the move number.
            None => {
                let text = str::from_utf8(sfen).map_err(|_| Refusal::NotUtf8)?;
                Sfen::parse(text).map_err(Refusal::Sfen)?.packed
            }
        };
        match &mut self.trail {
            Some(trail) => trail.step(&packed).map_err(Refusal::Unplayable)?,
            None => match packed.faults() {
                Faults::NONE => {}
                faults => return Err(Refusal::Sfen(SfenError::Faults(faults))),
            },
        }
        Ok(packed)
    }

    /// [`Sound::following`].
    fn following(&mut self, sfen: &[u8]) -> Option<Packed> {
        let next = self.trail.as_ref()?.next()?;
        self.text.clear();
        self.writer.write(next, &mut self.text);
        spells(sfen, &self.text).then_some(*next)
    }

    /// no_legal_moves and illegal_candidate. A legal candidate disproves the first, so it is asked only after one failed.
    fn legality<'r>(&mut self) -> Result<(), Refusal<'r>> {
        let Some(trail) = &mut self.trail else { return Ok(()) };
        for (index, &code) in self.codes.iter().enumerate() {
            let mv = Move16::from_bits(code);
            if !trail.is_legal(mv) {
                return Err(if trail.has_legal_move() {
                    Refusal::Illegal { index, mv }
                } else {
                    Refusal::NoLegalMoves
                });
            }
        }
        Ok(())
    }
}

/// Whether `sfen` is the text of a position, with or without a move number.
fn spells(sfen: &[u8], position: &[u8]) -> bool {
    match sfen.strip_prefix(position) {
        Some([]) => true,
        Some([b' ', ply @ ..]) => (1..=9).contains(&ply.len()) && ply.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

fn score<'r>(column: Column, index: Option<usize>, value: i64) -> Result<i16, Refusal<'r>> {
    match i16::try_from(value) {
        Ok(cp) if cp != i16::MIN => Ok(cp),
        _ => Err(Refusal::OutOfRange { column, index, value, range: CP_RANGE }),
    }
}

/// The code of a move text; `None` when it is neither a move nor a USI word.
fn code(text: &[u8]) -> Option<Code> {
    if let Some(mv) = Move16::from_usi_bytes(text) {
        return Some(mv.bits());
    }
    (WORD..).zip(USI_WORDS).find(|(_, word)| word.as_bytes() == text).map(|(code, _)| code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_table_is_the_formula() {
        for conventions in
            [Conventions::TEACHER, Conventions { mate_scale: 32000, mate_slack: 100, ..Conventions::TEACHER }]
        {
            let table = ValueTable::new(&conventions);
            for cp in i16::MIN..=i16::MAX {
                assert_eq!(table.of(cp).to_bits(), conventions.value_q(cp).to_bits(), "{cp}");
            }
        }
    }

    #[test]
    fn a_position_is_spelt_with_or_without_a_move_number() {
        let position = b"4k4/9/9/9/9/9/9/9/4K4 b P";
        for tail in ["", " 1", " 0", " 999999999"] {
            assert!(spells(&[&position[..], tail.as_bytes()].concat(), position), "{tail:?}");
        }
        for tail in ["2p", " ", " 1 ", " x", " -1", "1", " 4294967295"] {
            assert!(!spells(&[&position[..], tail.as_bytes()].concat(), position), "{tail:?}");
        }
        assert!(!spells(b"4k4/9/9/9/9/9/9/9/4K4 b", position));
    }

    #[test]
    fn move_texts_and_usi_words_have_codes_of_their_own() {
        assert_eq!(code(b"7g7f"), Some(24 << 7 | 23));
        let words: Vec<_> = USI_WORDS.iter().map(|word| code(word.as_bytes())).collect();
        assert_eq!(words, [0, 1, 2, 3, 4].map(|i| Some(WORD | i)));
        for text in [&b""[..], b"RESIGN", b"resign ", b"\xFF\xFE", b"7g7f+x", b"nul\0l"] {
            assert_eq!(code(text), None);
        }
    }
}
