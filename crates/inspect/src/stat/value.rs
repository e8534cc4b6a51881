//! Root values against outcomes: the calibration, the logistic scale that fits best, and the scale that values were
//! squashed by.

/// Bins of [-1, 1]; a calibration table joins them.
pub const BINS: usize = 500;

/// What fixed-point sums of values count in.
pub const UNIT: f64 = ONE as f64;
/// 1 in units.
pub const ONE: i64 = 1 << 24;

/// A value in [-1, 1] as a whole number, so that sums do not depend on their order; cut towards 0, so that both sides are
/// alike.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "within [-2^24, 2^24]")]
pub fn fixed(value: f32) -> i32 {
    // Exact: a power of two.
    (value * UNIT as f32) as i32
}

/// Values of one bin.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Bin {
    /// Values with an outcome.
    pub count: u64,
    /// Their sum.
    pub value: i64,
    /// The sum of their outcomes.
    pub outcome: i64,
}

impl Bin {
    pub const fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.value += other.value;
        self.outcome += other.outcome;
    }

    #[expect(clippy::cast_precision_loss, reason = "a figure of a report")]
    pub fn mean_value(&self) -> f64 {
        self.value as f64 / UNIT / self.count as f64
    }

    #[expect(clippy::cast_precision_loss, reason = "a figure of a report")]
    pub fn mean_outcome(&self) -> f64 {
        self.outcome as f64 / UNIT / self.count as f64
    }

    /// Games won and lost, a draw being half of each.
    #[expect(clippy::cast_precision_loss, reason = "a figure of a report")]
    fn halves(&self) -> (f64, f64) {
        let (count, outcome) = (self.count as f64, self.outcome as f64 / UNIT);
        (f64::midpoint(count, outcome), f64::midpoint(count, -outcome))
    }
}

/// The bin of a value in [-1, 1]; the edges are the multiples of 2/500, and 1 is in the last.
#[inline]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within 0..=500")]
pub fn bin_of(value: f32) -> usize {
    const HALF: f32 = (BINS / 2) as f32;
    // By way of i32, for which processors have an instruction.
    ((value * HALF + HALF) as i32 as usize).min(BINS - 1)
}

/// Values by bin, of one mover.
pub type Bins = [Bin; BINS];

/// Values beyond this are left out of the fit: there a tanh is flat, and mates are not on the scale at all.
const FIT_UP_TO: f64 = 0.98;

/// How much steeper outcomes are than values say: the `r` of `P(win) = sigmoid(2 · r · atanh(value))` that makes the
/// outcomes likeliest. With values of a tanh at `eval_coef`, outcomes follow a tanh at `eval_coef / r`. `None` when
/// there is no finite best: no outcomes, or ones that values do not go with.
pub fn fit(bins: &Bins) -> Option<f64> {
    let points: Vec<(f64, f64, f64)> = bins
        .iter()
        .filter(|bin| bin.count > 0 && bin.mean_value().abs() <= FIT_UP_TO)
        .map(|bin| {
            let (won, lost) = bin.halves();
            (2.0 * libm::atanh(bin.mean_value()), won, lost)
        })
        .collect();
    // The derivative of the log-likelihood falls in r: halve until its zero is found.
    let slope = |r: f64| -> f64 {
        points.iter().map(|&(x, won, lost)| x * (won - (won + lost) / (1.0 + libm::exp(-r * x)))).sum()
    };
    const LEAST: f64 = 1.0 / 64.0;
    const MOST: f64 = 64.0;
    if slope(LEAST) <= 0.0 || slope(MOST) >= 0.0 {
        return None;
    }
    let (mut low, mut high) = (LEAST, MOST);
    for _ in 0..60 {
        let middle = (low * high).sqrt();
        if slope(middle) > 0.0 { low = middle } else { high = middle }
    }
    Some((low * high).sqrt())
}

/// Ratios of implied to stated scale are counted in steps of an octave.
const STEPS: f64 = 64.0;
/// Steps looked at on each side of 1: four octaves.
const REACH: i32 = 256;

/// What the tanh behind values was, told from values beside their scores.
#[derive(Clone)]
pub struct Scales {
    counts: Vec<u64>,
}

impl Default for Scales {
    fn default() -> Self {
        Self { counts: vec![0; usize::try_from(2 * REACH + 1).unwrap_or(0)] }
    }
}

impl Scales {
    /// Looks at a value and the score of the first candidate, under the stated coefficient. Only values and scores
    /// that can tell a scale count.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the reach")]
    pub fn add(&mut self, value: f32, cp: i16, coefficient: f32) {
        let value = f64::from(value);
        if !(0.02..0.95).contains(&value.abs()) || cp == 0 || coefficient <= 0.0 {
            return;
        }
        let ratio = f64::from(cp) / libm::atanh(value) / f64::from(coefficient);
        if ratio <= 0.0 {
            return;
        }
        let step = (libm::log2(ratio) * STEPS).round().clamp(-f64::from(REACH), f64::from(REACH)) as i32;
        self.counts[(step + REACH) as usize] += 1;
    }

    pub fn merge(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
    }

    /// The median ratio of the implied coefficient to the stated one, and how many values it is of.
    pub fn median(&self) -> Option<(f64, u64)> {
        let total: u64 = self.counts.iter().sum();
        let mut seen = 0;
        let at = self.counts.iter().position(|&count| {
            seen += count;
            seen * 2 >= total && total > 0
        })?;
        let step = i32::try_from(at).unwrap_or(0) - REACH;
        Some((libm::exp2(f64::from(step) / STEPS), total))
    }
}

#[cfg(test)]
#[expect(clippy::cast_possible_truncation, reason = "small numbers")]
mod tests {
    use super::*;

    #[test]
    fn bins_cover_the_whole_range() {
        assert_eq!([-1.0, -0.9999, 0.0, 0.5, 0.9999, 1.0].map(bin_of), [0, 0, 250, 375, 499, 499]);
    }

    #[test]
    fn the_fit_finds_the_scale_that_outcomes_were_drawn_by() {
        for r in [0.4, 1.0, 1.75] {
            let mut bins = [Bin::default(); BINS];
            for (at, bin) in bins.iter_mut().enumerate().take(BINS - 10).skip(10) {
                let value = (at as f64 + 0.5) / 250.0 - 1.0;
                // 100,000 games of which as many are won as the scale says.
                let mean = libm::tanh(r * libm::atanh(value));
                let count = 100_000;
                let sum = |mean: f64| (mean * count as f64 * UNIT) as i64;
                *bin = Bin { count, value: sum(value), outcome: sum(mean) };
            }
            let found = fit(&bins).unwrap();
            assert!((found / r - 1.0).abs() < 0.001, "{found} for {r}");
        }
        assert_eq!(fit(&[Bin::default(); BINS]), None);
    }

    #[test]
    fn the_scale_behind_values_is_their_median() {
        let mut scales = Scales::default();
        for cp in (-900..900).step_by(7) {
            let value = libm::tanh(f64::from(cp) / 864.0) as f32;
            scales.add(value, cp, 1512.173);
        }
        let (ratio, of) = scales.median().unwrap();
        assert!(of > 200 && (ratio * 1512.173 / 864.0 - 1.0).abs() < 0.01, "{ratio} of {of}");
        assert_eq!(Scales::default().median(), None);
    }
}
