//! An improved policy as whole numbers (search.md §6).

/// The quanta that a probability of 1 is written as.
pub const QUANTA: u32 = 1 << 16;

/// A probability in quanta, rounded to the nearest; below half a quantum 0, which is to say that it is not written.
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast of floats saturates")]
pub fn quanta(probability: f64) -> u32 {
    (probability.clamp(0.0, 1.0) * f64::from(QUANTA)).round() as u32
}
