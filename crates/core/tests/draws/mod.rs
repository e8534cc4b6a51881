//! Numbers that are the same on every machine. Shared by the tests of several crates.
#![allow(dead_code, reason = "each test binary uses its own part")]
#![allow(clippy::missing_panics_doc, reason = "a test tool")]

/// splitmix64.
pub struct Draw(pub u64);

impl Draw {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    /// Below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap()
    }

    /// From `-bound` to `bound`.
    pub fn around(&mut self, bound: i64) -> i64 {
        i64::try_from(self.next() % (2 * bound as u64 + 1)).unwrap() - bound
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at + 1));
        }
    }
}
