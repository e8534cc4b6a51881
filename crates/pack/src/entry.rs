//! A record as the fold keeps it: the 96 bytes and what adds, nothing else.
//!
//! ```text
//! packed 96 | value_q f32 | ply u16 | value_z i8 | n u16 | n × (mv u16, cp i16)      policy from cp
//!                                                        | n × (mv u16, visits u32)  policy from visits
//! ```
//!
//! `value_z` is 2 where a record has no outcome, as in the stream: entries are no wider for it.

use manaka_core::PolicySource;
use manaka_core::packed::PACKED_LEN;
use manaka_core::stream::RecordRef;

const HEAD: usize = PACKED_LEN + 4 + 2 + 1 + 2;

/// The `value_z` of an entry without an outcome.
const ABSENT: i8 = 2;

/// Bytes of a candidate in an entry.
const fn candidate_len(source: PolicySource) -> usize {
    match source {
        PolicySource::Visits => 2 + 4,
        PolicySource::SoftmaxCp => 2 + 2,
    }
}

/// Appends the entry of a valid record.
pub fn push(record: &RecordRef<'_>, source: PolicySource, out: &mut Vec<u8>) {
    let mut head = [0; HEAD];
    head[..PACKED_LEN].copy_from_slice(record.packed_bytes());
    head[PACKED_LEN..PACKED_LEN + 4].copy_from_slice(&record.value_q().to_le_bytes());
    head[PACKED_LEN + 4..PACKED_LEN + 6].copy_from_slice(&record.ply().to_le_bytes());
    // Valid records hold -1, 0 (of either sign) and 1 only.
    let value_z: i8 = match record.outcome() {
        None => ABSENT,
        Some(z) if z > 0.0 => 1,
        Some(z) if z < 0.0 => -1,
        Some(_) => 0,
    };
    head[PACKED_LEN + 6..PACKED_LEN + 7].copy_from_slice(&value_z.to_le_bytes());
    let n = u16::try_from(record.n_cand()).unwrap_or(u16::MAX);
    head[PACKED_LEN + 7..].copy_from_slice(&n.to_le_bytes());
    out.extend_from_slice(&head);
    // A candidate of a record is mv, visits, cp (stream.md §3.2).
    let candidates = record.candidate_bytes().iter();
    match source {
        PolicySource::Visits => out.extend(candidates.flat_map(|&[a, b, c, d, e, f, ..]| [a, b, c, d, e, f])),
        PolicySource::SoftmaxCp => out.extend(candidates.flat_map(|&[a, b, .., c, d]| [a, b, c, d])),
    }
}

/// Appends the entry that leaves a position out of the fold: one without candidates, which no record has.
pub fn push_excluded(packed: &[u8; PACKED_LEN], out: &mut Vec<u8>) {
    out.extend_from_slice(packed);
    out.extend_from_slice(&[0; HEAD - PACKED_LEN]);
}

/// An entry where it lies.
#[derive(Clone, Copy)]
pub struct Entry<'a> {
    head: &'a [u8; HEAD],
    candidates: &'a [u8],
}

impl<'a> Entry<'a> {
    /// The entry at the start of `bytes`; `None` when they hold none.
    pub fn read(bytes: &'a [u8], source: PolicySource) -> Option<Self> {
        let (head, rest) = bytes.split_first_chunk::<HEAD>()?;
        let entry = Self { head, candidates: rest };
        let candidates = rest.get(..usize::from(entry.n_cand()) * candidate_len(source))?;
        Some(Self { head, candidates })
    }

    /// How many candidates there are.
    pub const fn n_cand(&self) -> u16 {
        u16::from_le_bytes([self.head[HEAD - 2], self.head[HEAD - 1]])
    }

    /// Whether this is no record but the mark that leaves its position out.
    pub const fn is_exclusion(&self) -> bool {
        self.candidates.is_empty()
    }

    pub fn packed(&self) -> &'a [u8; PACKED_LEN] {
        self.head.first_chunk().unwrap_or(&[0; PACKED_LEN])
    }

    pub fn value_q(&self) -> f32 {
        let b = &self.head[PACKED_LEN..];
        f32::from_le_bytes([b[0], b[1], b[2], b[3]])
    }

    pub fn ply(&self) -> u16 {
        u16::from_le_bytes([self.head[PACKED_LEN + 4], self.head[PACKED_LEN + 5]])
    }

    /// The outcome, −1, 0 or 1; `None` where the record has none.
    pub fn outcome(&self) -> Option<i8> {
        let value_z = i8::from_le_bytes([self.head[PACKED_LEN + 6]]);
        (value_z != ABSENT).then_some(value_z)
    }

    /// The bytes of all candidates. Those of a score entry are laid out as in a placed row.
    pub const fn candidate_bytes(&self) -> &'a [u8] {
        self.candidates
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
