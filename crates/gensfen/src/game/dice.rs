//! The randomness of one game: a function of the seed and the game's number alone.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// What a stream of draws is for. One purpose never sees the draws of another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// The moves of a game.
    Game,
    /// The order of the opening book.
    Book,
}

/// A stream of draws.
#[derive(Debug)]
pub(crate) struct Dice(ChaCha8Rng);

impl Dice {
    /// The draws of a game: the ChaCha8 stream whose key is the seed, little-endian, and the name of the purpose, and
    /// whose number is the game's.
    pub(crate) fn new(seed: u64, purpose: Purpose, game: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        let name: &[u8; 12] = match purpose {
            Purpose::Game => b"gensfen game",
            Purpose::Book => b"gensfen book",
        };
        key[8..20].copy_from_slice(name);
        let mut rng = ChaCha8Rng::from_seed(key);
        rng.set_stream(game);
        Self(rng)
    }

    /// Uniform in [0, 1).
    #[expect(clippy::cast_precision_loss, reason = "53 bits, which is what an f64 holds")]
    pub(crate) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform below `n`, which must not be 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        let n = n as u64;
        // Of the 2^64 draws the last, incomplete round of n is drawn again.
        let rounds = u64::MAX - u64::MAX % n;
        loop {
            let draw = self.0.next_u64();
            if draw < rounds {
                return usize::try_from(draw % n).unwrap_or(0);
            }
        }
    }

    /// Puts items into a uniform order.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn draws(seed: u64, purpose: Purpose, game: u64) -> [usize; 4] {
        let mut dice = Dice::new(seed, purpose, game);
        [(); 4].map(|()| dice.below(usize::MAX))
    }

    #[test]
    fn a_stream_is_known_by_its_seed_purpose_and_number_and_no_two_are_the_same() {
        let mut seen = HashSet::new();
        for seed in [0, 1, 2, u64::MAX] {
            for game in [0, 1, 2, 1 << 32, u64::MAX] {
                for purpose in [Purpose::Game, Purpose::Book] {
                    assert_eq!(draws(seed, purpose, game), draws(seed, purpose, game));
                    assert!(seen.insert(draws(seed, purpose, game)));
                }
            }
        }
    }

    #[test]
    fn draws_are_even() {
        let mut dice = Dice::new(1, Purpose::Game, 0);
        let mut counts = [0; 6];
        let mut sum = 0.0;
        for _ in 0..60_000 {
            counts[dice.below(6)] += 1;
            let unit = dice.unit();
            assert!((0.0..1.0).contains(&unit));
            sum += unit;
        }
        assert!(counts.iter().all(|&count| (9_500..10_500).contains(&count)), "{counts:?}");
        assert!((sum / 60_000.0 - 0.5).abs() < 0.01);
        assert_eq!(dice.below(1), 0);
    }

    #[test]
    fn every_order_of_three_comes_up() {
        let mut seen = HashSet::new();
        for game in 0..200 {
            let mut items = [0, 1, 2];
            Dice::new(1, Purpose::Book, game).shuffle(&mut items);
            seen.insert(items);
        }
        assert_eq!(seen.len(), 6);
    }
}
