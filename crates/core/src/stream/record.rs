//! One record: a view over its bytes, an owned form, and the rules it must keep (stream.md §3 and §6).

use super::error::Kind;
use super::header::{Header, MAGIC};
use crate::conventions::{NO_CP, NO_OUTCOME, NO_VISITS, PolicySource};
use crate::move16::Move16;
use crate::packed::{PACKED_LEN, Packed};

/// Bytes before the position: ply 2, value_z 4, value_q 4, n_cand 2.
pub const FIXED_LEN: usize = 2 + 4 + 4 + 2;
/// Bytes of a candidate: mv 2, visits 4, cp 2.
pub const CANDIDATE_LEN: usize = 2 + 4 + 2;
/// Bytes of a record without its candidates.
const HEAD_LEN: usize = FIXED_LEN + PACKED_LEN;
const _: () = assert!(HEAD_LEN == 108);

/// A move the search looked at, with the half its producer fills: visits or cp.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Candidate {
    /// The move.
    pub mv: Move16,
    /// Visit count, [`NO_VISITS`] when absent.
    pub visits: u32,
    /// Score in centipawns, [`NO_CP`] when absent.
    pub cp: i16,
}

impl Candidate {
    /// Reads the bytes of a candidate, whatever they are (stream.md §3.2).
    #[must_use]
    #[inline]
    pub const fn from_bytes(c: &[u8; CANDIDATE_LEN]) -> Self {
        Self {
            mv: Move16::from_bits(u16::from_le_bytes([c[0], c[1]])),
            visits: u32::from_le_bytes([c[2], c[3], c[4], c[5]]),
            cp: i16::from_le_bytes([c[6], c[7]]),
        }
    }
}

/// A searched position, owned; reuse one for reading in a loop.
#[derive(Clone, PartialEq, Debug)]
pub struct Record {
    /// Move number.
    pub ply: u16,
    /// The game's outcome: exactly −1, 0 or 1; [`NO_OUTCOME`] when absent, which only version 3 allows. To compute with
    /// it, ask [`Record::outcome`].
    pub value_z: f32,
    /// The root value in [-1, 1].
    pub value_q: f32,
    /// The position.
    pub packed: Packed,
    /// The moves the search looked at, in the producer's order.
    pub candidates: Vec<Candidate>,
}

impl Default for Record {
    fn default() -> Self {
        Self { ply: 0, value_z: 0.0, value_q: 0.0, packed: Packed::empty(), candidates: Vec::new() }
    }
}

impl Record {
    /// The game's outcome, −1, 0 or 1 in the view of the stream's `pov`; `None` when it is absent.
    #[must_use]
    pub fn outcome(&self) -> Option<f32> {
        stated(self.value_z)
    }

    /// Appends the bytes of the record.
    ///
    /// # Errors
    /// [`RecordFault::ManyCandidates`] above 65535, which the format cannot hold.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), RecordFault> {
        let n_cand = u16::try_from(self.candidates.len())
            .map_err(|_| RecordFault::ManyCandidates(self.candidates.len()))?;
        out.reserve(HEAD_LEN + CANDIDATE_LEN * self.candidates.len());
        // stream.md §3.1
        out.extend_from_slice(&self.ply.to_le_bytes());
        out.extend_from_slice(&self.value_z.to_le_bytes());
        out.extend_from_slice(&self.value_q.to_le_bytes());
        out.extend_from_slice(&n_cand.to_le_bytes());
        out.extend_from_slice(self.packed.as_bytes());
        // stream.md §3.2
        for candidate in &self.candidates {
            out.extend_from_slice(&candidate.mv.bits().to_le_bytes());
            out.extend_from_slice(&candidate.visits.to_le_bytes());
            out.extend_from_slice(&candidate.cp.to_le_bytes());
        }
        Ok(())
    }
}

/// A record as it lies in memory: framing is proven, values are read on demand and nothing is copied.
#[derive(Clone, Copy)]
pub struct RecordRef<'a> {
    head: &'a [u8; HEAD_LEN],
    candidates: &'a [[u8; CANDIDATE_LEN]],
    bytes: &'a [u8],
}

impl<'a> RecordRef<'a> {
    /// Frames the record at the start of `input`. `Err` says how many bytes it takes to get further; that bound grows
    /// at most once, to the record's real length. Nothing is judged: see [`RecordRef::validate`].
    ///
    /// # Errors
    /// The least length of `input` with which to try again.
    #[inline]
    pub fn frame(input: &'a [u8]) -> Result<Self, usize> {
        let Some((head, rest)) = input.split_first_chunk::<HEAD_LEN>() else { return Err(HEAD_LEN) };
        let n_cand = usize::from(u16::from_le_bytes([head[10], head[11]]));
        let len = HEAD_LEN + CANDIDATE_LEN * n_cand;
        let Some(rest) = rest.get(..CANDIDATE_LEN * n_cand) else { return Err(len) };
        let (candidates, _) = rest.as_chunks::<CANDIDATE_LEN>();
        Ok(Self { head, candidates, bytes: &input[..len] })
    }

    /// The records that stand one behind the other at the start of `input`, up to the first that is not whole. As with
    /// [`RecordRef::frame`], nothing is judged.
    #[inline]
    pub fn each(mut input: &'a [u8]) -> impl Iterator<Item = Self> {
        std::iter::from_fn(move || {
            let record = Self::frame(input).ok()?;
            input = &input[record.bytes.len()..];
            Some(record)
        })
    }

    /// All bytes of the record.
    #[must_use]
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Move number.
    #[must_use]
    pub const fn ply(&self) -> u16 {
        u16::from_le_bytes([self.head[0], self.head[1]])
    }

    /// The game's outcome as it is stored: [`NO_OUTCOME`] when absent.
    #[must_use]
    pub const fn value_z(&self) -> f32 {
        f32::from_le_bytes([self.head[2], self.head[3], self.head[4], self.head[5]])
    }

    /// The game's outcome, −1, 0 or 1 in the view of the stream's `pov`; `None` when it is absent.
    #[must_use]
    pub fn outcome(&self) -> Option<f32> {
        stated(self.value_z())
    }

    /// The root value.
    #[must_use]
    pub const fn value_q(&self) -> f32 {
        f32::from_le_bytes([self.head[6], self.head[7], self.head[8], self.head[9]])
    }

    /// The 96 bytes of the position.
    #[must_use]
    pub fn packed_bytes(&self) -> &'a [u8; PACKED_LEN] {
        let (_, packed) = self.head.split_last_chunk().unwrap_or((&[], &[0; PACKED_LEN]));
        packed
    }

    /// The position.
    #[must_use]
    pub fn packed(&self) -> Packed {
        Packed::from_bytes(*self.packed_bytes())
    }

    /// The candidates, in the producer's order.
    pub fn candidates(&self) -> impl ExactSizeIterator<Item = Candidate> + Clone + 'a {
        self.candidates.iter().map(Candidate::from_bytes)
    }

    /// The bytes of each candidate.
    #[must_use]
    pub const fn candidate_bytes(&self) -> &'a [[u8; CANDIDATE_LEN]] {
        self.candidates
    }

    /// How many candidates there are.
    #[must_use]
    pub const fn n_cand(&self) -> usize {
        self.candidates.len()
    }

    /// Copies the record into `out`, reusing its allocation.
    pub fn read_into(&self, out: &mut Record) {
        out.ply = self.ply();
        out.value_z = self.value_z();
        out.value_q = self.value_q();
        out.packed = self.packed();
        out.candidates.clear();
        out.candidates.extend(self.candidates());
    }

    /// Judges what was framed as the next record of a stream, in which a second header may stand too (stream.md §6.2).
    ///
    /// # Errors
    /// [`Kind::Record`] or [`Kind::SecondHeader`].
    #[inline]
    pub fn judge(&self, header: &Header) -> Result<(), Kind> {
        // A ply of 0x504d is conceivable, but not beside a value_z that starts with the rest of the magic.
        self.validate(header).map_err(|fault| match self.bytes.starts_with(&MAGIC) {
            true => Kind::SecondHeader,
            false => Kind::Record(fault),
        })
    }

    /// Checks the rules of stream.md §6.3 for a record under this header.
    ///
    /// # Errors
    /// The first rule broken, in the order of that section.
    pub fn validate(&self, header: &Header) -> Result<(), RecordFault> {
        let source = header.conventions.policy_source;
        if self.candidates.is_empty() {
            return Err(RecordFault::NoCandidates);
        }
        // By value: -0.0 is a draw too.
        let value_z = self.value_z();
        let absent = value_z == NO_OUTCOME && header.allows_absent_outcomes();
        if value_z != 0.0 && value_z != 1.0 && value_z != -1.0 && !absent {
            return Err(RecordFault::ValueZ(value_z));
        }
        let value_q = self.value_q();
        if !(-1.0..=1.0).contains(&value_q) {
            return Err(RecordFault::ValueQ(value_q));
        }
        let (mut with_visits, mut with_cp) = (0, 0);
        for (index, candidate) in self.candidates().enumerate() {
            if !candidate.mv.is_well_formed() {
                return Err(RecordFault::Move { index, bits: candidate.mv.bits() });
            }
            with_visits += usize::from(candidate.visits != NO_VISITS);
            with_cp += usize::from(candidate.cp != NO_CP);
        }
        let n_cand = self.n_cand();
        if with_visits != 0 && with_visits != n_cand {
            return Err(RecordFault::SomeVisits { with: with_visits, of: n_cand });
        }
        if with_cp != 0 && with_cp != n_cand {
            return Err(RecordFault::SomeCp { with: with_cp, of: n_cand });
        }
        let (named, other) = match source {
            PolicySource::Visits => (with_visits, with_cp),
            PolicySource::SoftmaxCp => (with_cp, with_visits),
        };
        if named == 0 {
            return Err(RecordFault::MissingHalf(source));
        }
        if other != 0 {
            return Err(RecordFault::ForeignHalf(source));
        }
        Ok(())
    }
}

/// An outcome as it is computed with.
fn stated(value_z: f32) -> Option<f32> {
    (value_z != NO_OUTCOME).then_some(value_z)
}

impl std::fmt::Debug for RecordRef<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut record = Record::default();
        self.read_into(&mut record);
        record.fmt(f)
    }
}

/// A rule of stream.md §6.3 that a record breaks.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordFault {
    /// No candidate: it would contribute no loss and look like a sample.
    #[error("no candidates")]
    NoCandidates,
    /// More candidates than the format can count.
    #[error("{0} candidates; a record holds at most 65535")]
    ManyCandidates(usize),
    /// An outcome other than −1, 0 and 1, or none at all before version 3.
    #[error("value_z is {0}{tail}", tail = if *.0 == NO_OUTCOME {
        ", an absent outcome, which only version 3 allows"
    } else {
        "; one record is one game, so it is -1, 0 or 1"
    })]
    ValueZ(f32),
    /// A root value outside [-1, 1], or no number.
    #[error("value_q is {0}, not in [-1, 1]")]
    ValueQ(f32),
    /// Bits that are no move16; reading at a wrong offset usually ends here.
    #[error("candidate {index}: {bits:#06x} is no move16")]
    Move {
        /// Which candidate.
        index: usize,
        /// Its bits.
        bits: u16,
    },
    /// Visits on some candidates and none on others.
    #[error("{with} of {of} candidates have visits; all or none must")]
    SomeVisits {
        /// Candidates with visits.
        with: usize,
        /// Candidates in all.
        of: usize,
    },
    /// cp on some candidates and none on others.
    #[error("{with} of {of} candidates have a cp; all or none must")]
    SomeCp {
        /// Candidates with a cp.
        with: usize,
        /// Candidates in all.
        of: usize,
    },
    /// The half that carries the policy is absent.
    #[error("the policy source is {}, and no candidate has it", .0.id())]
    MissingHalf(PolicySource),
    /// The half that the other kind of producer fills is present as well.
    #[error("the policy source is {}, and candidates carry the other half too", .0.id())]
    ForeignHalf(PolicySource),
}

impl RecordFault {
    /// The stable name of the rule.
    #[must_use]
    pub const fn id(&self) -> &'static str {
        match self {
            Self::NoCandidates => "no_candidates",
            Self::ManyCandidates(_) => "many_candidates",
            Self::ValueZ(_) => "value_z",
            Self::ValueQ(_) => "value_q",
            Self::Move { .. } => "move16",
            Self::SomeVisits { .. } => "some_visits",
            Self::SomeCp { .. } => "some_cp",
            Self::MissingHalf(_) => "missing_half",
            Self::ForeignHalf(_) => "foreign_half",
        }
    }
}
