//! Conditions on records and rows: which of them `cat`, `view` and the editors take (docs/guide/look.md).
//!
//! A [`Select`] is what was asked for, whatever the file. [`Select::on`] holds it to one kind of data under its
//! conventions and refuses what that data cannot answer; the [`Matcher`] it gives looks at one [`Item`] after the other.

mod parse;

pub use parse::{RangeError, SelectError};

use crate::conventions::{Conventions, NO_CP, NO_VISITS, PolicySource};
use crate::move16::Move16;
use crate::packed::{PACKED_LEN, Packed, SIDE};
use crate::piece::Color;
use crate::stream::{CANDIDATE_LEN, Candidate, Record, RecordRef};
use std::fmt;

/// Conditions, of which a record or row has to meet all; the default asks for nothing and takes everything.
///
/// As text, `ply=16..46 mate side=b sfen='4k4/9/9/9/9/9/9/9/4K4 b -'`: terms between spaces, a value with spaces in
/// quotes, each name once.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Select {
    /// The move number.
    pub ply: Option<Within<u16>>,
    /// The least number of records a row was folded from. What is no row of a shard counts as one record.
    pub min_weight: Option<u32>,
    /// The greatest.
    pub max_weight: Option<u32>,
    /// Whether some candidate has to be a mate by the conventions (conventions.md §3).
    pub mate: bool,
    /// The position, compared in all its 96 bytes; no move number is part of it.
    pub sfen: Option<Packed>,
    /// The side to move.
    pub side: Option<Color>,
    /// The root value, in the view the file states.
    pub value_q: Option<Within<f32>>,
    /// The outcome, in the view the file states.
    pub value_z: Option<Outcome>,
    /// The least number of candidates.
    pub min_candidates: Option<usize>,
    /// The greatest.
    pub max_candidates: Option<usize>,
    /// A move among the candidates.
    pub mv: Option<Move16>,
    /// The score of the candidate that is best for the mover, in the view the file states; where the data states a score
    /// of the root, that one.
    pub cp: Option<Within<i16>>,
}

/// A range of numbers; **both ends belong to it**. As text `16..46`, `16..`, `..46`, or `46` for `46..46`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Within<T> {
    min: T,
    max: T,
}

/// As text that is read back to the same range.
impl<T: fmt::Display> fmt::Display for Within<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.min, self.max)
    }
}

impl<T: PartialOrd + Copy> Within<T> {
    /// The numbers from `min` to `max`; `None` when there are none.
    #[must_use]
    pub fn new(min: T, max: T) -> Option<Self> {
        (min <= max).then_some(Self { min, max })
    }

    /// Whether a number belongs to it.
    #[must_use]
    pub fn contains(&self, number: T) -> bool {
        self.min <= number && number <= self.max
    }
}

/// An outcome asked for: `-1`, `0`, `1` or `none`. In a folded row, whose outcome is a mean, it is the mean that has to
/// be exactly that.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Lost, in the view the file states.
    Lost,
    /// Drawn.
    Drawn,
    /// Won.
    Won,
    /// There is none.
    Unstated,
}

impl Outcome {
    /// The text it is asked for by.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Lost => "-1",
            Self::Drawn => "0",
            Self::Won => "1",
            Self::Unstated => "none",
        }
    }

    /// Whether it is this outcome. A draw is one whatever the sign of its zero.
    #[must_use]
    pub fn is(self, value_z: Option<f32>) -> bool {
        match self {
            Self::Lost => value_z == Some(-1.0),
            Self::Drawn => value_z == Some(0.0),
            Self::Won => value_z == Some(1.0),
            Self::Unstated => value_z.is_none(),
        }
    }
}

/// What is being looked at, so that conditions are refused which it cannot answer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Data<'a> {
    /// Records of a stream with these conventions.
    Stream(&'a Conventions),
    /// Rows of a shard with these conventions.
    Shard(&'a Conventions),
    /// Rows of a corpus, which states no conventions: scores are the mover's, outcomes too once they were turned.
    Corpus,
    /// Raw PSV, likewise.
    Psv,
}

impl Data<'_> {
    const fn name(&self) -> &'static str {
        match self {
            Self::Stream(_) => "stream",
            Self::Shard(_) => "shard",
            Self::Corpus => "corpus",
            Self::Psv => "raw PSV file",
        }
    }

    const fn conventions(&self) -> Option<&Conventions> {
        match *self {
            Self::Stream(conventions) | Self::Shard(conventions) => Some(conventions),
            Self::Corpus | Self::Psv => None,
        }
    }
}

/// One record or row, borrowed, as conditions see it.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    /// Move number.
    pub ply: u16,
    /// The position.
    pub packed: &'a [u8; PACKED_LEN],
    /// The outcome; `None` where the data has none.
    pub value_z: Option<f32>,
    /// The root value; `None` where the data has none.
    pub value_q: Option<f32>,
    /// The score of the root, where the data states one beside those of the candidates.
    pub root: Option<i16>,
    /// Records that were folded into it, at least 1.
    pub weight: u32,
    /// The candidates.
    pub candidates: Candidates<'a>,
}

/// The candidates of an [`Item`], wherever they lie.
#[derive(Clone, Copy, Debug)]
pub enum Candidates<'a> {
    /// Bytes of a stream (stream.md §3.2).
    Bytes(&'a [[u8; CANDIDATE_LEN]]),
    /// Values.
    Values(&'a [Candidate]),
    /// Columns of a shard: move16 bits, and scores or nothing.
    Columns {
        /// The moves.
        mv: &'a [u16],
        /// Their scores; empty where there are none.
        cp: &'a [i16],
    },
}

impl<'a> Candidates<'a> {
    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Values(values) => values.len(),
            Self::Columns { mv, .. } => mv.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One of them; absent halves have their markers.
    #[must_use]
    pub fn get(&self, at: usize) -> Option<Candidate> {
        match *self {
            Self::Bytes(bytes) => bytes.get(at).map(Candidate::from_bytes),
            Self::Values(values) => values.get(at).copied(),
            Self::Columns { mv, cp } => mv.get(at).map(|&bits| Candidate {
                mv: Move16::from_bits(bits),
                visits: NO_VISITS,
                cp: cp.get(at).copied().unwrap_or(NO_CP),
            }),
        }
    }

    /// All of them, in their order.
    pub fn iter(&self) -> impl Iterator<Item = Candidate> + use<'a> {
        let candidates = *self;
        (0..candidates.len()).filter_map(move |at| candidates.get(at))
    }
}

impl<'a> From<RecordRef<'a>> for Item<'a> {
    fn from(record: RecordRef<'a>) -> Self {
        Self {
            ply: record.ply(),
            packed: record.packed_bytes(),
            value_z: record.outcome(),
            value_q: Some(record.value_q()),
            root: None,
            weight: 1,
            candidates: Candidates::Bytes(record.candidate_bytes()),
        }
    }
}

impl<'a> From<&'a Record> for Item<'a> {
    fn from(record: &'a Record) -> Self {
        Self {
            ply: record.ply,
            packed: record.packed.as_bytes(),
            value_z: record.outcome(),
            value_q: Some(record.value_q),
            root: None,
            weight: 1,
            candidates: Candidates::Values(&record.candidates),
        }
    }
}

impl Select {
    /// Whether it takes everything.
    #[must_use]
    pub fn is_all(&self) -> bool {
        *self == Self::default()
    }

    /// These conditions for one kind of data.
    ///
    /// # Errors
    /// [`SelectError::Unanswerable`] with the first condition that this data has nothing to be held to: mates where no
    /// mate scale is stated, scores where policies are visits, values where there are none. A weight is always there,
    /// and `value_z=none` is met by all that has no outcomes.
    pub fn on(&self, data: Data<'_>) -> Result<Matcher, SelectError> {
        let refuse = |name, why| Err(SelectError::Unanswerable { name, data: data.name(), why });
        let conventions = data.conventions();
        let visits = conventions.is_some_and(|c| c.policy_source == PolicySource::Visits);
        let scores_only = matches!(data, Data::Shard(_)) && !visits;
        if self.mate && conventions.is_none_or(|c| visits || c.mate_scale == 0) {
            return refuse("mate", "it states no scale that mates are on");
        }
        if self.cp.is_some() && visits {
            return refuse("cp", "its candidates have visits and no scores");
        }
        if self.value_q.is_some() && conventions.is_none() {
            return refuse("value-q", "it has scores and no values");
        }
        if self.value_z.is_some_and(|z| z != Outcome::Unstated) && scores_only {
            return refuse("value-z", "rows of scores have no outcomes");
        }
        Ok(Matcher { select: self.clone(), all: self.is_all(), conventions: conventions.copied() })
    }

    /// What meets these conditions and those of `other`.
    ///
    /// # Errors
    /// [`SelectError::Twice`] where both speak of the same thing.
    pub fn and(self, other: Self) -> Result<Self, SelectError> {
        fn one<T>(name: &'static str, a: Option<T>, b: Option<T>) -> Result<Option<T>, SelectError> {
            if a.is_some() && b.is_some() { Err(SelectError::Twice { name }) } else { Ok(a.or(b)) }
        }
        Ok(Self {
            ply: one("ply", self.ply, other.ply)?,
            min_weight: one("min-weight", self.min_weight, other.min_weight)?,
            max_weight: one("max-weight", self.max_weight, other.max_weight)?,
            mate: self.mate || other.mate,
            sfen: one("sfen", self.sfen, other.sfen)?,
            side: one("side", self.side, other.side)?,
            value_q: one("value-q", self.value_q, other.value_q)?,
            value_z: one("value-z", self.value_z, other.value_z)?,
            min_candidates: one("min-candidates", self.min_candidates, other.min_candidates)?,
            max_candidates: one("max-candidates", self.max_candidates, other.max_candidates)?,
            mv: one("move", self.mv, other.mv)?,
            cp: one("cp", self.cp, other.cp)?,
        })
    }
}

/// Conditions that the data can answer; made by [`Select::on`].
#[derive(Clone, Debug)]
pub struct Matcher {
    select: Select,
    /// Nothing is asked.
    all: bool,
    /// What the data states, where it states anything.
    conventions: Option<Conventions>,
}

impl Matcher {
    /// Whether a record or row meets all conditions.
    #[must_use]
    #[inline]
    pub fn matches(&self, item: &Item<'_>) -> bool {
        self.all || self.meets(item)
    }

    fn meets(&self, item: &Item<'_>) -> bool {
        let Select {
            ply,
            min_weight,
            max_weight,
            mate,
            sfen,
            side,
            value_q,
            value_z,
            min_candidates,
            max_candidates,
            mv,
            cp,
        } = &self.select;
        // What takes a walk over the candidates comes last.
        ply.is_none_or(|plies| plies.contains(item.ply))
            && side.is_none_or(|side| side == mover(item))
            && min_weight.is_none_or(|least| item.weight >= least)
            && max_weight.is_none_or(|most| item.weight <= most)
            && value_q.is_none_or(|values| item.value_q.is_some_and(|value| values.contains(value)))
            && value_z.is_none_or(|outcome| outcome.is(item.value_z))
            && min_candidates.is_none_or(|least| item.candidates.len() >= least)
            && max_candidates.is_none_or(|most| item.candidates.len() <= most)
            && sfen.as_ref().is_none_or(|packed| packed.as_bytes() == item.packed)
            && (!mate || item.candidates.iter().any(|c| self.is_mate(c.cp)))
            && mv.is_none_or(|mv| item.candidates.iter().any(|c| c.mv == mv))
            && cp.is_none_or(|scores| self.score(item).is_some_and(|cp| scores.contains(cp)))
    }

    fn is_mate(&self, cp: i16) -> bool {
        cp != NO_CP && self.conventions.is_some_and(|conventions| conventions.is_mate(cp))
    }

    /// The score of the root, else that of the candidate best for the mover.
    fn score(&self, item: &Item<'_>) -> Option<i16> {
        let scores = || item.candidates.iter().map(|c| c.cp).filter(|&cp| cp != NO_CP);
        item.root.or_else(|| {
            let negated = self.conventions.is_some_and(|c| c.pov.negates_for(mover(item)));
            if negated { scores().min() } else { scores().max() }
        })
    }
}

/// The side to move, as [`Packed::side`] reads it.
const fn mover(item: &Item<'_>) -> Color {
    if item.packed[SIDE] == 0 { Color::Black } else { Color::White }
}
