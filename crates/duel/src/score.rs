//! What results say about strength: Elo, error bars, the sequential test.
//!
//! The unit is the pair: its two games share an opening, so their results are not independent, and error bars that take
//! them for it are wrong. A pair brings the first player 0 to 4 half points.

use crate::options::Sprt;
use serde::{Deserialize, Serialize};

/// Results as the first player sees them.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Score {
    /// Games it won.
    pub wins: u64,
    /// Games nobody won.
    pub draws: u64,
    /// Games it lost.
    pub losses: u64,
    /// Pairs by the half points it took from them, 0 to 4.
    pub pairs: [u64; 5],
}

/// What a game brought a player: 1, 0 or −1.
pub type Points = i8;

impl Score {
    /// Adds both games of a pair.
    pub fn add(&mut self, games: [Points; 2]) {
        for points in games {
            match points {
                1.. => self.wins += 1,
                0 => self.draws += 1,
                _ => self.losses += 1,
            }
        }
        let halves: i8 = games.iter().map(|points| points.signum() + 1).sum();
        self.pairs[usize::try_from(halves).unwrap_or(0).min(4)] += 1;
    }

    /// Games.
    #[must_use]
    pub fn games(&self) -> u64 {
        self.wins + self.draws + self.losses
    }

    /// The share of all points, 0 to 1; none before a game.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        (self.games() > 0).then(|| self.moments(0.0).mean)
    }

    /// Elo difference of that share; none where no game has ended, infinite where one side has taken every point.
    #[must_use]
    pub fn elo(&self) -> Option<f64> {
        self.share().map(elo_of)
    }

    /// The 95 % interval of the Elo difference, by the variance between pairs; none with fewer than two pairs or where all pairs came out the same.
    #[must_use]
    pub fn interval(&self) -> Option<[f64; 2]> {
        let Moments { pairs, mean, variance } = self.moments(0.0);
        if pairs < 2.0 || variance == 0.0 {
            return None;
        }
        // The variance of a sample's mean.
        let error = 1.959_964 * (variance / (pairs - 1.0)).sqrt();
        Some([elo_of((mean - error).max(0.0)), elo_of((mean + error).min(1.0))])
    }

    /// How likely it is that games between equals come out at least as uneven as these, draws left out: the two-sided sign
    /// test. 1 without a decisive game.
    #[must_use]
    pub fn sign_test(&self) -> f64 {
        let (decisive, fewer) = (self.wins + self.losses, self.wins.min(self.losses));
        let ln_choose = |k: f64| {
            #[expect(clippy::cast_precision_loss, reason = "counts of games")]
            let n = decisive as f64;
            libm::lgamma(n + 1.0)
                - libm::lgamma(k + 1.0)
                - libm::lgamma(n - k + 1.0)
                - n * std::f64::consts::LN_2
        };
        #[expect(clippy::cast_precision_loss, reason = "counts of games")]
        let tail: f64 = (0..=fewer).map(|k| libm::exp(ln_choose(k as f64))).sum();
        (2.0 * tail).min(1.0)
    }

    /// The logarithm of how much likelier `elo1` makes these results than `elo0`: the generalised likelihood ratio of a
    /// normal mean. 0 before a pair.
    ///
    /// The variance is that of the pairs with half a pair of each kind added. Without that, the first few pairs, which
    /// often come out the same, would have next to none, and would decide the test.
    #[must_use]
    pub fn llr(&self, sprt: &Sprt) -> f64 {
        let Moments { pairs, mean, .. } = self.moments(0.0);
        if pairs == 0.0 {
            return 0.0;
        }
        let variance = self.moments(0.5).variance;
        let (low, high) = (share_of(sprt.elo0), share_of(sprt.elo1));
        pairs * (high - low) * (2.0 * mean - low - high) / (2.0 * variance)
    }

    /// With `prior` pairs of each kind added. The variance is about the mean without them.
    fn moments(&self, prior: f64) -> Moments {
        #[expect(clippy::cast_precision_loss, reason = "counts of games")]
        let counts = self.pairs.map(|count| count as f64);
        let pairs: f64 = counts.iter().sum();
        let mean = counts.iter().zip(SHARES).map(|(count, share)| count * share).sum::<f64>() / pairs;
        let squares =
            counts.iter().zip(SHARES).map(|(count, share)| (count + prior) * (share - mean) * (share - mean));
        Moments { pairs, mean, variance: squares.sum::<f64>() / (pairs + 5.0 * prior) }
    }
}

/// What a pair brings, by its half points.
const SHARES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// Pairs as shares of their points.
struct Moments {
    pairs: f64,
    mean: f64,
    variance: f64,
}

/// The Elo difference at which a share of the points is expected; infinite for none and for all of them.
#[must_use]
pub fn elo_of(share: f64) -> f64 {
    400.0 * libm::log10(share / (1.0 - share))
}

/// The share of the points that is expected at an Elo difference.
#[must_use]
pub fn share_of(elo: f64) -> f64 {
    1.0 / (1.0 + libm::pow(10.0, -elo / 400.0))
}

impl Sprt {
    /// The ratios at which the test ends: at or below the first `elo0` is taken, at or above the second `elo1`.
    #[must_use]
    pub fn bounds(&self) -> [f64; 2] {
        [libm::log(self.beta / (1.0 - self.alpha)), libm::log((1.0 - self.beta) / self.alpha)]
    }
}
