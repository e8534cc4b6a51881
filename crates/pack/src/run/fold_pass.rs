//! Pass 2: fold each bucket, give every row its place, scatter rows by draw.

use super::on_threads;
use crate::entry::Entry;
use crate::error::Result;
use crate::fold::{Folder, Row, RowCandidate};
use crate::key;
use crate::place::{Draws, Place};
use crate::policy::Policy;
use crate::spool::{Spool, SpoolWriter, Spools};
use manaka_core::PolicySource;
use manaka_core::packed::PACKED_LEN;
use manaka_core::progress::Progress;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Folds all buckets into the spools. Returns the largest weight.
pub fn run(
    buckets: &Spools,
    spools: &Spools,
    policy: &Policy,
    threads: NonZeroUsize,
    progress: &dyn Progress,
) -> Result<u32> {
    progress.phase("fold", Some(buckets.counts().iter().sum()), "records");
    let next = AtomicUsize::new(0);
    let largest = on_threads(threads, || {
        let mut folder = Folder::new(policy);
        let mut out = spools.writer();
        let mut index = Vec::new();
        let mut largest = 0;
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= buckets.len() {
                return Ok(largest);
            }
            let bucket = buckets.take(at);
            largest = largest.max(fold_bucket(&bucket, &mut index, &mut folder, policy, &mut out)?);
            progress.advance(bucket.items);
        }
    })?;
    Ok(largest.into_iter().max().unwrap_or(0))
}

/// Where an entry of a bucket lies.
struct Located {
    hash: u128,
    chunk: u32,
    offset: u32,
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "chunks are short, and a bucket has far fewer than 2^32 of them"
)]
fn fold_bucket(
    bucket: &Spool,
    index: &mut Vec<Located>,
    folder: &mut Folder<'_>,
    policy: &Policy,
    out: &mut SpoolWriter<'_>,
) -> Result<u32> {
    let source = policy.conventions().policy_source;
    let entry = |at: &Located| Entry::read(&bucket.chunks[at.chunk as usize][at.offset as usize..], source);
    let packed = |at: &Located| entry(at).map(|entry| entry.packed());
    index.clear();
    for (chunk, bytes) in bucket.chunks.iter().enumerate() {
        let mut offset = 0;
        while let Some(entry) = Entry::read(&bytes[offset..], source) {
            let hash = key::hash(entry.packed());
            index.push(Located { hash, chunk: chunk as u32, offset: offset as u32 });
            offset += entry.len();
        }
    }
    index.sort_unstable_by(|a, b| a.hash.cmp(&b.hash).then_with(|| packed(a).cmp(&packed(b))));

    let mut largest = 0;
    let mut slot = None;
    let (mut draws, mut rank) = (Draws::of_slot(0), 0);
    for group in index.chunk_by(|a, b| a.hash == b.hash && packed(a) == packed(b)) {
        let Some(packed) = packed(&group[0]) else { continue };
        let row = folder.fold(packed, group.iter().filter_map(entry))?;
        largest = largest.max(row.weight);
        let this = key::slot(group[0].hash);
        if slot != Some(this) {
            (slot, draws, rank) = (Some(this), Draws::of_slot(this), 0);
        }
        let place = Place { draw: draws.next(), slot: this, rank };
        rank += 1;
        out.push(place.spool(out.len()), |bytes| write_row(place, packed, row, source, bytes));
    }
    Ok(largest)
}

/// A placed row in a spool.
///
/// ```text
/// draw u64 | slot u32 | rank u32 | packed 96 | ply u16 | weight u32 | value_z f32 | value_q f32 | n u16
///   | n × (mv u16, cp i16)     policy from cp
///   | n × (mv u16, prob f32)   policy from visits
/// ```
fn write_row(place: Place, packed: &[u8; PACKED_LEN], row: &Row, source: PolicySource, out: &mut Vec<u8>) {
    out.extend_from_slice(&place.draw.to_le_bytes());
    out.extend_from_slice(&place.slot.to_le_bytes());
    out.extend_from_slice(&place.rank.to_le_bytes());
    out.extend_from_slice(packed);
    out.extend_from_slice(&row.ply.to_le_bytes());
    out.extend_from_slice(&row.weight.to_le_bytes());
    out.extend_from_slice(&row.value_z.to_le_bytes());
    out.extend_from_slice(&row.value_q.to_le_bytes());
    // Well-formed moves are far fewer than 65536.
    let n = u16::try_from(row.candidates.len()).unwrap_or(u16::MAX);
    out.extend_from_slice(&n.to_le_bytes());
    for candidate in &row.candidates {
        out.extend_from_slice(&candidate.mv.to_le_bytes());
        match source {
            PolicySource::Visits => out.extend_from_slice(&candidate.prob.to_le_bytes()),
            PolicySource::SoftmaxCp => out.extend_from_slice(&candidate.cp.to_le_bytes()),
        }
    }
}

const ROW_HEAD: usize = 8 + 4 + 4 + PACKED_LEN + 2 + 4 + 4 + 4 + 2;

/// A placed row where it lies.
#[derive(Clone, Copy)]
pub struct PlacedRow<'a> {
    head: &'a [u8; ROW_HEAD],
    candidates: &'a [u8],
}

impl<'a> PlacedRow<'a> {
    /// The row at the start of `bytes`; `None` when they hold none.
    pub fn read(bytes: &'a [u8], source: PolicySource) -> Option<Self> {
        let (head, rest) = bytes.split_first_chunk::<ROW_HEAD>()?;
        let n = u16::from_le_bytes([head[ROW_HEAD - 2], head[ROW_HEAD - 1]]);
        let candidate = match source {
            PolicySource::Visits => 6,
            PolicySource::SoftmaxCp => 4,
        };
        Some(Self { head, candidates: rest.get(..usize::from(n) * candidate)? })
    }

    pub const fn len(&self) -> usize {
        ROW_HEAD + self.candidates.len()
    }

    fn u32_at(&self, at: usize) -> u32 {
        u32::from_le_bytes([self.head[at], self.head[at + 1], self.head[at + 2], self.head[at + 3]])
    }

    pub fn place(&self) -> Place {
        let draw = u64::from(self.u32_at(0)) | u64::from(self.u32_at(4)) << 32;
        Place { draw, slot: self.u32_at(8), rank: self.u32_at(12) }
    }

    pub fn packed(&self) -> &'a [u8; PACKED_LEN] {
        self.head[16..].first_chunk().unwrap_or(&[0; PACKED_LEN])
    }

    pub fn ply(&self) -> u16 {
        u16::from_le_bytes([self.head[16 + PACKED_LEN], self.head[17 + PACKED_LEN]])
    }

    pub fn weight(&self) -> u32 {
        self.u32_at(18 + PACKED_LEN)
    }

    pub fn value_z(&self) -> f32 {
        f32::from_bits(self.u32_at(22 + PACKED_LEN))
    }

    pub fn value_q(&self) -> f32 {
        f32::from_bits(self.u32_at(26 + PACKED_LEN))
    }

    pub fn candidates(&self, source: PolicySource) -> impl Iterator<Item = RowCandidate> + use<'a> {
        let width = match source {
            PolicySource::Visits => 6,
            PolicySource::SoftmaxCp => 4,
        };
        self.candidates.chunks_exact(width).map(move |c| {
            let mv = u16::from_le_bytes([c[0], c[1]]);
            match source {
                PolicySource::Visits => {
                    RowCandidate { mv, cp: 0, prob: f32::from_le_bytes([c[2], c[3], c[4], c[5]]) }
                }
                PolicySource::SoftmaxCp => {
                    RowCandidate { mv, cp: i16::from_le_bytes([c[2], c[3]]), prob: 0.0 }
                }
            }
        })
    }
}
