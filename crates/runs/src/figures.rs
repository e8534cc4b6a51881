//! What a report says of its run's speed, and the hash that proves a game.

use std::time::Instant;
use xxhash_rust::xxh3::xxh3_64;

/// XXH3-64 in hexadecimal.
#[must_use]
pub fn hash(bytes: &[u8]) -> String {
    format!("{:016x}", xxh3_64(bytes))
}

/// The time of a run, all its parts together.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    started: Instant,
    before: f64,
}

impl Stopwatch {
    /// Goes on from so many seconds.
    #[must_use]
    pub fn from(before: f64) -> Self {
        Self { started: Instant::now(), before }
    }

    /// How long the run has taken.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.before + self.started.elapsed().as_secs_f64()
    }
}

/// So many in a second; 0 where no time has passed.
#[expect(clippy::cast_precision_loss, reason = "a figure for reading")]
#[must_use]
pub fn rate(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
}

/// To a whole number of parts of one: a figure for reading, which comes back from a file as it was.
#[must_use]
pub fn rounded(x: f64, parts: u16) -> f64 {
    let parts = f64::from(parts);
    (x * parts).round() / parts
}
