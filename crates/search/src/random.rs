//! The draws of one search (search.md §7).

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The draws of one search: a function of seed, game and ply, so that neither threads nor batches nor an interruption
/// change what is drawn.
///
/// The bits are ChaCha8's. The functions that turn them into numbers come from `libm`, so the numbers are the same on
/// every machine.
#[derive(Clone, Debug)]
pub struct Random(ChaCha8Rng);

impl Random {
    /// The draws of the search at ply `ply` of game `game`.
    #[must_use]
    pub fn new(seed: u64, game: u64, ply: u32) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(&game.to_le_bytes());
        key[16..20].copy_from_slice(&ply.to_le_bytes());
        key[20..].copy_from_slice(b"search v1   ");
        Self(ChaCha8Rng::from_seed(key))
    }

    /// Uniform in the open interval (0, 1): the middles of 2⁵² equal parts.
    #[expect(clippy::cast_precision_loss, reason = "53 bits, which is what an f64 holds")]
    pub fn unit(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) | 1) as f64 / (1u64 << 53) as f64
    }

    /// Gumbel(0, 1).
    pub fn gumbel(&mut self) -> f64 {
        -libm::log(-libm::log(self.unit()))
    }

    /// Normal(0, 1), by Marsaglia's polar method; the second number of each pair is thrown away.
    fn normal(&mut self) -> f64 {
        loop {
            let (x, y) = (2.0 * self.unit() - 1.0, 2.0 * self.unit() - 1.0);
            let square = x * x + y * y;
            if square < 1.0 && square > 0.0 {
                return x * (-2.0 * libm::log(square) / square).sqrt();
            }
        }
    }

    /// Gamma(shape, 1), by Marsaglia and Tsang; a shape below 1 is drawn as Gamma(shape + 1) · U^(1/shape).
    pub fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            let boost = libm::pow(self.unit(), 1.0 / shape);
            return self.gamma(shape + 1.0) * boost;
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let root = 1.0 + c * x;
            if root <= 0.0 {
                continue;
            }
            let v = root * root * root;
            if libm::log(self.unit()) < 0.5 * x * x + d - d * v + d * libm::log(v) {
                return d * v;
            }
        }
    }

    /// Fills `shares` with a symmetric Dirichlet draw: none below 0, and they sum to 1.
    pub fn dirichlet(&mut self, alpha: f64, shares: &mut [f64]) {
        let mut sum = 0.0;
        for share in &mut *shares {
            *share = self.gamma(alpha);
            sum += *share;
        }
        let count = u32::try_from(shares.len()).unwrap_or(u32::MAX);
        for share in &mut *shares {
            // With a tiny alpha every draw may underflow.
            *share = if sum > 0.0 { *share / sum } else { 1.0 / f64::from(count) };
        }
    }
}

#[cfg(test)]
#[path = "random_tests.rs"]
mod tests;
