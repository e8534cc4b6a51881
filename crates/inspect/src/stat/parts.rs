//! The means of each part, to be compared with those of the others.

use super::games::{Edge, UNKNOWN};
use manaka_core::stream::opens_game;

/// Sums of a figure and of its squares.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Moments {
    pub count: u64,
    sum: i128,
    squares: u128,
}

impl Moments {
    fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.squares += other.squares;
    }

    fn without(&self, other: &Self) -> Self {
        Self {
            count: self.count - other.count,
            sum: self.sum - other.sum,
            squares: self.squares - other.squares,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a figure of a report")]
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    #[expect(clippy::cast_precision_loss, reason = "a figure of a report")]
    pub fn deviation(&self) -> Option<f64> {
        let mean = self.mean()?;
        Some((self.squares as f64 / self.count as f64 - mean * mean).max(0.0).sqrt())
    }
}

/// The figures of a part that are compared.
pub const FIGURES: [&str; 4] = ["ply", "candidates", "|value|", "outcome for Black"];
/// What each is counted in.
pub const UNITS: [f64; 4] = [1.0, 1.0, 65_536.0, 1.0];

/// Sums over a part. Narrow ones of a batch are made into these.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Part {
    pub records: u64,
    /// Games that begin behind another one's record.
    pub breaks: u64,
    pub moments: [Moments; FIGURES.len()],
}

impl Part {
    pub fn merge(&mut self, other: &Self) {
        self.records += other.records;
        self.breaks += other.breaks;
        for (sum, more) in self.moments.iter_mut().zip(&other.moments) {
            sum.merge(more);
        }
    }

    pub fn without(&self, other: &Self) -> Self {
        let mut rest =
            Self { records: self.records - other.records, breaks: self.breaks - other.breaks, ..*self };
        for (sum, less) in rest.moments.iter_mut().zip(&other.moments) {
            *sum = sum.without(less);
        }
        rest
    }
}

/// Sums over a batch of fewer than 2^24 records.
#[derive(Clone, Copy, Default)]
pub struct Batch {
    records: u64,
    breaks: u64,
    last_ply: Option<u16>,
    sums: [u64; 3],
    squares: [u64; 3],
    /// Outcomes of one game, and those that are no draw.
    stated: u64,
    decided: u64,
    black: i64,
}

impl Batch {
    #[inline]
    pub fn add(&mut self, edge: &Edge, candidates: usize, fixed_value: i32) {
        self.records += 1;
        self.breaks += u64::from(self.last_ply.is_some_and(|last| opens_game(last, edge.ply)));
        self.last_ply = Some(edge.ply);
        let figures = [u64::from(edge.ply), candidates as u64, (fixed_value.unsigned_abs() >> 8).into()];
        for ((sum, square), figure) in self.sums.iter_mut().zip(&mut self.squares).zip(figures) {
            *sum += figure;
            *square += figure * figure;
        }
        if edge.outcome != UNKNOWN {
            self.stated += 1;
            self.decided += u64::from(edge.outcome != 0);
            self.black += i64::from(edge.outcome);
        }
    }

    pub fn part(&self) -> Part {
        let wide = |at: usize| Moments {
            count: self.records,
            sum: self.sums[at].into(),
            squares: self.squares[at].into(),
        };
        let outcomes = Moments { count: self.stated, sum: self.black.into(), squares: self.decided.into() };
        Part { records: self.records, breaks: self.breaks, moments: [wide(0), wide(1), wide(2), outcomes] }
    }
}
