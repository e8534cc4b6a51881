//! Records on their way to numpy: the fixed parts one behind the other, and all candidates one behind the other.

use manaka_core::packed::PACKED_LEN;
use manaka_core::stream::{self, CANDIDATE_LEN, FIXED_LEN, StreamSet};

/// Bytes of a record without its candidates.
pub const HEAD_LEN: usize = FIXED_LEN + PACKED_LEN;
const _: () = assert!(HEAD_LEN == 108 && CANDIDATE_LEN == 8, "python/manaka/records.py has the same dtypes");

/// What is wrong with fixed parts and candidates that do not belong together.
pub const LENGTHS: &str = "n_cand does not sum up to the number of candidates";

/// How many candidates belong to a fixed part (stream.md §3.1).
pub fn n_cand(head: &[u8; HEAD_LEN]) -> usize {
    usize::from(u16::from_le_bytes([head[10], head[11]]))
}

/// Some records, in the bytes of stream.md §3, fixed parts and candidates apart.
#[derive(Default)]
pub struct Rows {
    /// `HEAD_LEN` bytes a record.
    pub heads: Vec<u8>,
    /// `CANDIDATE_LEN` bytes a candidate.
    pub candidates: Vec<u8>,
    /// Where the candidates of each record begin, in candidates, and where those of the last end.
    pub offsets: Vec<i64>,
}

impl Rows {
    /// Records from their parts; `None` when those do not belong together.
    pub fn new(heads: Vec<u8>, candidates: Vec<u8>) -> Option<Self> {
        let mut offsets = vec![0];
        let mut end = 0;
        let (chunks, rest) = heads.as_chunks();
        for head in chunks {
            end += n_cand(head);
            offsets.push(i64::try_from(end).ok()?);
        }
        (rest.is_empty() && end * CANDIDATE_LEN == candidates.len()).then_some(Self {
            heads,
            candidates,
            offsets,
        })
    }

    /// Records held.
    pub const fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A stream set, and the error that ends what was read of it so far.
pub struct Source {
    set: StreamSet,
    /// What stopped the last read behind records that had to be delivered first.
    pending: Option<stream::Error>,
}

impl Source {
    pub const fn new(set: StreamSet) -> Self {
        Self { set, pending: None }
    }

    /// The next records, at most `count`; none at the end. Every record in front of an error is delivered first.
    ///
    /// # Errors
    /// As [`StreamSet::next_ref`], with the same going on at the next call.
    pub fn read(&mut self, count: usize) -> stream::Result<Rows> {
        if let Some(error) = self.pending.take() {
            return Err(error);
        }
        let mut rows = Rows { offsets: vec![0], ..Rows::default() };
        let mut candidates = 0;
        while rows.len() < count {
            match self.set.next_ref() {
                Ok(Some(record)) => {
                    let (head, tail) = record.bytes().split_at(HEAD_LEN);
                    rows.heads.extend_from_slice(head);
                    rows.candidates.extend_from_slice(tail);
                    candidates += i64::from(u16::try_from(record.n_cand()).unwrap_or(u16::MAX));
                    rows.offsets.push(candidates);
                }
                Ok(None) => break,
                Err(error) if rows.is_empty() => return Err(error),
                Err(error) => {
                    self.pending = Some(error);
                    break;
                }
            }
        }
        Ok(rows)
    }
}
