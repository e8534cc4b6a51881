//! A record as the fold keeps it: the position and what adds, nothing else.
//!
//! ```text
//! value_q f32 | ply u16 | value_z i8 | n u16 | position | n × (mv u16, cp i16)      policy from cp
//!                                                       | n × (mv u16, visits u32)  policy from visits
//! ```
//!
//! `value_z` is 2 where a record has no outcome, as in the stream: entries are no wider for it.

use crate::squeezed::{Position, ROOM, squeeze};
use manaka_core::PolicySource;
use manaka_core::packed::PACKED_LEN;
use manaka_core::stream::RecordRef;

const HEAD: usize = 4 + 2 + 1 + 2;

/// The `value_z` of an entry without an outcome.
const ABSENT: i8 = 2;

/// Bytes of a candidate in an entry.
pub const fn candidate_len(source: PolicySource) -> usize {
    match source {
        PolicySource::Visits => 2 + 4,
        PolicySource::SoftmaxCp => 2 + 2,
    }
}

/// Appends the entry of a valid record.
pub fn push(record: &RecordRef<'_>, source: PolicySource, out: &mut Vec<u8>) {
    let mut head = [0; HEAD];
    head[..4].copy_from_slice(&record.value_q().to_le_bytes());
    head[4..6].copy_from_slice(&record.ply().to_le_bytes());
    // Valid records hold -1, 0 (of either sign) and 1 only.
    let value_z: i8 = match record.outcome() {
        None => ABSENT,
        Some(z) if z > 0.0 => 1,
        Some(z) if z < 0.0 => -1,
        Some(_) => 0,
    };
    head[6..7].copy_from_slice(&value_z.to_le_bytes());
    let n = u16::try_from(record.n_cand()).unwrap_or(u16::MAX);
    head[7..].copy_from_slice(&n.to_le_bytes());
    push_head(head, record.packed_bytes(), out);
    // A candidate of a record is mv, visits, cp (stream.md §3.2).
    let candidates = record.candidate_bytes().iter();
    match source {
        PolicySource::Visits => out.extend(candidates.flat_map(|&[a, b, c, d, e, f, ..]| [a, b, c, d, e, f])),
        PolicySource::SoftmaxCp => out.extend(candidates.flat_map(|&[a, b, .., c, d]| [a, b, c, d])),
    }
}

/// Appends the entry that leaves a position out of the fold: one without candidates, which no record has.
pub fn push_excluded(packed: &[u8; PACKED_LEN], out: &mut Vec<u8>) {
    push_head([0; HEAD], packed, out);
}

/// Appends what stands before the candidates. It is written where it is to lie: to copy bytes that were only just written
/// takes longer than to write them.
fn push_head(head: [u8; HEAD], packed: &[u8; PACKED_LEN], out: &mut Vec<u8>) {
    out.extend_from_slice(&head);
    let start = out.len();
    out.resize(start + ROOM, 0);
    let len = out.last_chunk_mut().map_or(0, |room| squeeze(packed, room));
    out.truncate(start + len);
}

/// An entry where it lies.
#[derive(Clone, Copy)]
pub struct Entry<'a> {
    head: &'a [u8; HEAD],
    position: Position<'a>,
    candidates: &'a [u8],
}

impl<'a> Entry<'a> {
    /// The entry at the start of `bytes`; `None` when they hold none.
    pub fn read(bytes: &'a [u8], source: PolicySource) -> Option<Self> {
        let (head, rest) = bytes.split_first_chunk::<HEAD>()?;
        let position = Position::read(rest)?;
        let n = usize::from(u16::from_le_bytes([head[HEAD - 2], head[HEAD - 1]]));
        Some(Self { head, position, candidates: position.rest().get(..n * candidate_len(source))? })
    }

    /// How many candidates there are.
    pub const fn n_cand(&self) -> u16 {
        u16::from_le_bytes([self.head[HEAD - 2], self.head[HEAD - 1]])
    }

    /// Whether this is no record but the mark that leaves its position out.
    pub const fn is_exclusion(&self) -> bool {
        self.candidates.is_empty()
    }

    pub const fn position(&self) -> Position<'a> {
        self.position
    }

    pub fn value_q(&self) -> f32 {
        f32::from_le_bytes([self.head[0], self.head[1], self.head[2], self.head[3]])
    }

    pub fn ply(&self) -> u16 {
        u16::from_le_bytes([self.head[4], self.head[5]])
    }

    /// The outcome, −1, 0 or 1; `None` where the record has none.
    pub fn outcome(&self) -> Option<i8> {
        let value_z = i8::from_le_bytes([self.head[6]]);
        (value_z != ABSENT).then_some(value_z)
    }

    /// Appends the position and all candidates behind it. Those of a score entry are laid out as in a placed row.
    pub fn append_position_and_candidates(&self, out: &mut Vec<u8>) {
        self.position.append(self.candidates.len(), out);
    }

    /// `(mv, cp)` of a score entry.
    pub fn scores(&self) -> impl Iterator<Item = (u16, i16)> + use<'a> {
        self.candidates
            .as_chunks::<4>()
            .0
            .iter()
            .map(|c| (u16::from_le_bytes([c[0], c[1]]), i16::from_le_bytes([c[2], c[3]])))
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
