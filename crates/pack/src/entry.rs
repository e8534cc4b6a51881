//! What buckets and spools hold: records as the fold keeps them, and rows, each under its key.
//!
//! ```text
//! key  5 | value_q f32 | ply u16 | kind i8 | n u16 | position | n × (mv u16, cp i16)      an entry, policy from cp
//!                                                  | position | n × (mv u16, visits u32)            policy from visits
//! draw 8 | value_q f32 | ply u16 |    3    | n u16 | weight u32 | position | n × (mv u16, cp i16)              a row
//!                                                  | weight u32 | value_z f32 | position | n × (mv u16, prob f32)
//! draw 8 | as in the entry                                                                a row of one record
//! ```
//!
//! The kind of a record is its outcome, −1, 0 or 1, and 2 where it has none. The `value_z` of a row is 2 where no record of it
//! has an outcome; score rows have none in their shards. A row of one record is made into what a shard holds where it is
//! written. Slot and rank of a row are not there: they follow the order of (hash, position), which it has.

use crate::fold::Row;
use crate::key;
use crate::squeezed::{Position, ROOM, squeeze};
use manaka_core::PolicySource;
use manaka_core::conventions::NO_OUTCOME;
use manaka_core::packed::PACKED_LEN;
use manaka_core::stream::RecordRef;

/// Bytes of the key of an entry and of the draw of a row.
const KEY: usize = 5;
const DRAW: usize = 8;
/// Bytes between these and what follows.
const HEAD: usize = 4 + 2 + 1 + 2;

/// The kind of a record without an outcome.
const ABSENT: i8 = 2;
/// The kind of a row of several records.
const ROW: i8 = 3;

/// Bytes of a candidate.
pub const fn candidate_len(source: PolicySource) -> usize {
    match source {
        PolicySource::Visits => 2 + 4,
        PolicySource::SoftmaxCp => 2 + 2,
    }
}

/// Appends the entry of a valid record whose position has this hash.
pub fn push(record: &RecordRef<'_>, hash: u128, source: PolicySource, out: &mut Vec<u8>) {
    // Valid records hold -1, 0 (of either sign) and 1 only.
    let kind: i8 = match record.outcome() {
        None => ABSENT,
        Some(z) if z > 0.0 => 1,
        Some(z) if z < 0.0 => -1,
        Some(_) => 0,
    };
    push_position(
        hash,
        head(record.value_q(), record.ply(), kind, record.n_cand()),
        record.packed_bytes(),
        out,
    );
    // A candidate of a record is mv, visits, cp (stream.md §3.2).
    let candidates = record.candidate_bytes().iter();
    match source {
        PolicySource::Visits => out.extend(candidates.flat_map(|&[a, b, c, d, e, f, ..]| [a, b, c, d, e, f])),
        PolicySource::SoftmaxCp => out.extend(candidates.flat_map(|&[a, b, .., c, d]| [a, b, c, d])),
    }
}

/// Appends the entry that leaves a position out of the fold: one without candidates, which no record has.
pub fn push_excluded(packed: &[u8; PACKED_LEN], hash: u128, out: &mut Vec<u8>) {
    push_position(hash, [0; HEAD], packed, out);
}

/// Appends what stands before the candidates of an entry. It is written where it is to lie: to copy bytes that were only just
/// written takes longer than to write them.
fn push_position(hash: u128, head: [u8; HEAD], packed: &[u8; PACKED_LEN], out: &mut Vec<u8>) {
    let [a, b, c, d, e, ..] = key::sort_key(hash).to_le_bytes();
    out.extend_from_slice(&[a, b, c, d, e]);
    out.extend_from_slice(&head);
    let start = out.len();
    out.resize(start + ROOM, 0);
    let len = out.last_chunk_mut().map_or(0, |room| squeeze(packed, room));
    out.truncate(start + len);
}

/// Appends a row.
pub fn push_row(row: &Row, draw: u64, position: Position<'_>, source: PolicySource, out: &mut Vec<u8>) {
    out.extend_from_slice(&draw.to_le_bytes());
    out.extend_from_slice(&head(row.value_q, row.ply, ROW, row.candidates.len()));
    out.extend_from_slice(&row.weight.to_le_bytes());
    if source == PolicySource::Visits {
        out.extend_from_slice(&row.value_z.unwrap_or(NO_OUTCOME).to_le_bytes());
    }
    out.extend_from_slice(position.bytes());
    match source {
        PolicySource::Visits => out.extend(row.candidates.iter().flat_map(|candidate| {
            let ([a, b], [c, d, e, f]) = (candidate.mv.to_le_bytes(), candidate.prob.to_le_bytes());
            [a, b, c, d, e, f]
        })),
        PolicySource::SoftmaxCp => out.extend(row.candidates.iter().flat_map(|candidate| {
            let ([a, b], [c, d]) = (candidate.mv.to_le_bytes(), candidate.cp.to_le_bytes());
            [a, b, c, d]
        })),
    }
}

fn head(value_q: f32, ply: u16, kind: i8, n: usize) -> [u8; HEAD] {
    let ([a, b, c, d], [e, f], [g]) = (value_q.to_le_bytes(), ply.to_le_bytes(), kind.to_le_bytes());
    // Well-formed moves are far fewer than 65536.
    let [h, i] = u16::try_from(n).unwrap_or(u16::MAX).to_le_bytes();
    [a, b, c, d, e, f, g, h, i]
}

/// The key and the length of the entry at the start of `bytes`; `None` when they hold none.
pub fn step_entry(bytes: &[u8], source: PolicySource) -> Option<(u64, usize)> {
    let (&[a, b, c, d, e], rest) = bytes.split_first_chunk::<KEY>()?;
    Some((u64::from_le_bytes([a, b, c, d, e, 0, 0, 0]), KEY + step(rest, source)?))
}

/// The draw and the length of the row at the start of `bytes`; `None` when they hold none.
pub fn step_row(bytes: &[u8], source: PolicySource) -> Option<(u64, usize)> {
    let (draw, rest) = bytes.split_first_chunk::<DRAW>()?;
    Some((u64::from_le_bytes(*draw), DRAW + step(rest, source)?))
}

/// The length of what lies behind a key.
fn step(bytes: &[u8], source: PolicySource) -> Option<usize> {
    let head = bytes.first_chunk()?;
    let before = HEAD + len_before_position(head, source);
    Some(before + usize::from(*bytes.get(before)?) + n_of(head) * candidate_len(source))
}

/// Bytes between head and position: weight and outcome of a folded row.
const fn len_before_position(head: &[u8; HEAD], source: PolicySource) -> usize {
    match (kind_of(head), source) {
        (ROW, PolicySource::Visits) => 4 + 4,
        (ROW, PolicySource::SoftmaxCp) => 4,
        _ => 0,
    }
}

fn n_of(head: &[u8; HEAD]) -> usize {
    usize::from(u16::from_le_bytes([head[7], head[8]]))
}

const fn kind_of(head: &[u8; HEAD]) -> i8 {
    i8::from_le_bytes([head[6]])
}

const fn value_q_of(head: &[u8; HEAD]) -> f32 {
    f32::from_le_bytes([head[0], head[1], head[2], head[3]])
}

const fn ply_of(head: &[u8; HEAD]) -> u16 {
    u16::from_le_bytes([head[4], head[5]])
}

fn scores(candidates: &[u8]) -> impl Iterator<Item = (u16, i16)> + Clone + use<'_> {
    let score = |&[a, b, c, d]: &[u8; 4]| (u16::from_le_bytes([a, b]), i16::from_le_bytes([c, d]));
    candidates.as_chunks().0.iter().map(score)
}

/// An entry where it lies.
#[derive(Clone, Copy)]
pub struct Entry<'a> {
    /// From the head on, with whatever is behind it.
    from: &'a [u8],
    head: &'a [u8; HEAD],
    position: Position<'a>,
    candidates: &'a [u8],
}

impl<'a> Entry<'a> {
    /// The entry at the start of `bytes`; `None` when they hold none.
    pub fn read(bytes: &'a [u8], source: PolicySource) -> Option<Self> {
        Self::behind_key(bytes.get(KEY..)?, source)
    }

    fn behind_key(from: &'a [u8], source: PolicySource) -> Option<Self> {
        let (head, rest) = from.split_first_chunk()?;
        let position = Position::read(rest)?;
        let candidates = position.rest().get(..n_of(head) * candidate_len(source))?;
        Some(Self { from, head, position, candidates })
    }

    /// Whether this is no record but the mark that leaves its position out.
    pub const fn is_exclusion(&self) -> bool {
        self.candidates.is_empty()
    }

    pub const fn position(&self) -> Position<'a> {
        self.position
    }

    pub const fn value_q(&self) -> f32 {
        value_q_of(self.head)
    }

    pub const fn ply(&self) -> u16 {
        ply_of(self.head)
    }

    /// The outcome, −1, 0 or 1; `None` where the record has none.
    pub fn outcome(&self) -> Option<i8> {
        let kind = kind_of(self.head);
        (kind != ABSENT).then_some(kind)
    }

    /// Appends the row of this record alone. A copy of a length that is known beforehand takes half the time, so where there is
    /// enough, more is copied and cut off.
    pub fn push_as_row(&self, draw: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(&draw.to_le_bytes());
        let len = HEAD + self.position.bytes().len() + self.candidates.len();
        match self.from.first_chunk::<128>() {
            Some(bytes) if len <= bytes.len() => {
                let end = out.len() + len;
                out.extend_from_slice(bytes);
                out.truncate(end);
            }
            _ => out.extend_from_slice(&self.from[..len]),
        }
    }

    /// `(mv, cp)` of a score entry.
    pub fn scores(&self) -> impl Iterator<Item = (u16, i16)> + Clone + use<'a> {
        scores(self.candidates)
    }

    /// `(mv, visits)` of a visits entry.
    pub fn visits(&self) -> impl Iterator<Item = (u16, u32)> + use<'a> {
        self.candidates
            .as_chunks::<6>()
            .0
            .iter()
            .map(|c| (u16::from_le_bytes([c[0], c[1]]), u32::from_le_bytes([c[2], c[3], c[4], c[5]])))
    }
}

/// A row where it lies.
#[derive(Clone, Copy)]
pub enum PlacedRow<'a> {
    /// Of one record.
    One(Entry<'a>),
    /// Of several.
    Several(FoldedRow<'a>),
}

impl<'a> PlacedRow<'a> {
    /// The row at the start of `bytes`; `None` when they hold none.
    pub fn read(bytes: &'a [u8], source: PolicySource) -> Option<Self> {
        let from = bytes.get(DRAW..)?;
        let (head, rest) = from.split_first_chunk()?;
        if kind_of(head) != ROW {
            return Entry::behind_key(from, source).map(Self::One);
        }
        let (weight, rest) = rest.split_first_chunk()?;
        let (value_z, rest) = match source {
            PolicySource::Visits => {
                rest.split_first_chunk().map(|(z, rest)| (f32::from_le_bytes(*z), rest))?
            }
            PolicySource::SoftmaxCp => (NO_OUTCOME, rest),
        };
        let position = Position::read(rest)?;
        let candidates = position.rest().get(..n_of(head) * candidate_len(source))?;
        let weight = u32::from_le_bytes(*weight);
        Some(Self::Several(FoldedRow { head, weight, value_z, position, candidates }))
    }

    pub const fn position(&self) -> Position<'a> {
        match self {
            Self::One(entry) => entry.position,
            Self::Several(row) => row.position,
        }
    }
}

/// A row of several records where it lies.
#[derive(Clone, Copy)]
pub struct FoldedRow<'a> {
    head: &'a [u8; HEAD],
    weight: u32,
    value_z: f32,
    position: Position<'a>,
    candidates: &'a [u8],
}

impl<'a> FoldedRow<'a> {
    pub const fn ply(&self) -> u16 {
        ply_of(self.head)
    }

    pub const fn weight(&self) -> u32 {
        self.weight
    }

    pub fn value_z(&self) -> Option<f32> {
        (self.value_z != NO_OUTCOME).then_some(self.value_z)
    }

    pub const fn value_q(&self) -> f32 {
        value_q_of(self.head)
    }

    /// `(mv, cp)` of a score row.
    pub fn scores(&self) -> impl Iterator<Item = (u16, i16)> + Clone + use<'a> {
        scores(self.candidates)
    }

    /// `(mv, prob)` of a visits row.
    pub fn shares(&self) -> impl Iterator<Item = (u16, f32)> + use<'a> {
        self.candidates
            .as_chunks()
            .0
            .iter()
            .map(|&[a, b, c, d, e, f]| (u16::from_le_bytes([a, b]), f32::from_le_bytes([c, d, e, f])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fold::RowCandidate;
    use manaka_core::conventions::{NO_CP, NO_VISITS};
    use manaka_core::stream::{Candidate, Record};
    use manaka_core::{Move16, Packed};

    const HASH: u128 = 0x0123_4567_89AB_CDEF << 64;
    /// Two kings; Black to move.
    fn kings() -> (Packed, Vec<u8>) {
        let (packed, _) = Packed::from_sfen("4k4/9/9/9/9/9/9/9/4K4 b - 1").unwrap();
        let mut room = [0; ROOM];
        let len = squeeze(packed.as_bytes(), &mut room);
        (packed, room[..len].to_vec())
    }

    #[test]
    fn entries_and_rows_take_the_bytes_of_the_layout() {
        let (packed, position) = kings();
        for source in [PolicySource::SoftmaxCp, PolicySource::Visits] {
            let scores = source == PolicySource::SoftmaxCp;
            let candidate = |mv, visits, cp| match scores {
                true => Candidate { mv: Move16::from_bits(mv), visits: NO_VISITS, cp },
                false => Candidate { mv: Move16::from_bits(mv), visits, cp: NO_CP },
            };
            let candidates = vec![candidate(0x0102, 0x0A0B_0C0D, -2), candidate(0x0304, 9, 3)];
            let record = Record { ply: 0x0506, value_z: -1.0, value_q: 0.5, packed, candidates };
            let mut bytes = Vec::new();
            record.encode(&mut bytes).unwrap();
            let (mut out, mut item) = (vec![0xEE], Vec::new());
            push(&RecordRef::frame(&bytes).unwrap(), HASH, source, &mut out);
            // The top 40 bits of the hash, little-endian; 0.5; ply; a loss; two candidates.
            let key = [0x89, 0x67, 0x45, 0x23, 0x01];
            let head = [0, 0, 0, 0x3F, 6, 5, 0xFF, 2, 0];
            let moves: &[u8] = match scores {
                true => &[2, 1, 0xFE, 0xFF, 4, 3, 3, 0],
                false => &[2, 1, 0x0D, 0x0C, 0x0B, 0x0A, 4, 3, 9, 0, 0, 0],
            };
            let expected = [&[0xEE], &key[..], &head, &position, moves].concat();
            assert_eq!(out, expected);
            let len = expected.len() - 1;
            assert_eq!(step_entry(&out[1..], source), Some((0x01_2345_6789, len)));
            // A row of one is the same under a draw, whether there is much behind it or nothing.
            for behind in [0, 200] {
                out.truncate(1 + len);
                out.resize(1 + len + behind, 0xDD);
                item.clear();
                Entry::read(&out[1..], source).unwrap().push_as_row(7, &mut item);
                assert_eq!(item, [&[7, 0, 0, 0, 0, 0, 0, 0], &head[..], &position, moves].concat());
                assert_eq!(step_row(&item, source), Some((7, item.len())));
                assert!(
                    matches!(PlacedRow::read(&item, source), Some(PlacedRow::One(one)) if one.ply() == 0x0506)
                );
            }
            // Cut anywhere, it is none.
            assert!((0..len).all(|cut| Entry::read(&out[1..1 + cut], source).is_none()));
            assert!((0..item.len()).all(|cut| PlacedRow::read(&item[..cut], source).is_none()));
        }
    }

    #[test]
    fn rows_of_several_records_take_the_bytes_of_the_layout() {
        let (packed, position) = kings();
        let mut room = [0; ROOM];
        squeeze(packed.as_bytes(), &mut room);
        let candidates = vec![RowCandidate { mv: 0x0102, cp: -2, prob: 1.0 }];
        let row = Row { ply: 3, weight: 0x0102_0304, value_z: Some(-0.5), value_q: 0.5, candidates };
        let start =
            [[8, 0, 0, 0, 0, 0, 0, 0].as_slice(), &[0, 0, 0, 0x3F, 3, 0, 3, 1, 0, 4, 3, 2, 1]].concat();
        for (source, rest) in [
            (PolicySource::SoftmaxCp, [&position[..], &[2, 1, 0xFE, 0xFF]].concat()),
            (PolicySource::Visits, [&[0, 0, 0, 0xBF], &position[..], &[2, 1, 0, 0, 0x80, 0x3F]].concat()),
        ] {
            let mut bytes = Vec::new();
            push_row(&row, 8, Position::read(&room).unwrap(), source, &mut bytes);
            assert_eq!(bytes, [&start[..], &rest].concat());
            assert_eq!(step_row(&bytes, source), Some((8, bytes.len())));
            let Some(PlacedRow::Several(read)) = PlacedRow::read(&bytes, source) else { unreachable!() };
            assert_eq!((read.ply(), read.weight(), read.value_q()), (3, 0x0102_0304, 0.5));
            match source {
                PolicySource::SoftmaxCp => {
                    assert_eq!(
                        (read.value_z(), read.scores().collect::<Vec<_>>()),
                        (None, vec![(0x0102, -2)])
                    );
                }
                PolicySource::Visits => assert_eq!(
                    (read.value_z(), read.shares().collect::<Vec<_>>()),
                    (Some(-0.5), vec![(0x0102, 1.0)])
                ),
            }
            assert!((0..bytes.len()).all(|cut| PlacedRow::read(&bytes[..cut], source).is_none()));
        }
    }

    #[test]
    fn an_exclusion_has_no_candidates() {
        let (packed, position) = kings();
        let mut bytes = Vec::new();
        push_excluded(packed.as_bytes(), HASH, &mut bytes);
        assert_eq!(bytes, [&[0x89, 0x67, 0x45, 0x23, 0x01], &[0; HEAD][..], &position].concat());
        assert!(Entry::read(&bytes, PolicySource::Visits).unwrap().is_exclusion());
    }
}
