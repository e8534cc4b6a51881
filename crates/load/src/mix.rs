//! Which set the next row comes from (loading.md §6): the one furthest behind its share.

use crate::error::{Error, Result};
use crate::options::SetEnd;

/// The turns of sets, which come round after as many rows as all shares together.
pub struct Mix {
    /// The set of each row of a round.
    round: Vec<usize>,
    /// For each set, its places in a round.
    places: Vec<Vec<u64>>,
}

/// Most rows of a round.
const MOST: u64 = 65_535;

impl Mix {
    pub fn new(shares: &[u32]) -> Result<Self> {
        let total: u64 = shares.iter().map(|&share| u64::from(share)).sum();
        if total > MOST || shares.is_empty() {
            return Err(Error::Option(format!(
                "the shares of {} sets sum to {total}, not to 1..={MOST}",
                shares.len()
            )));
        }
        let mut behind = vec![0i64; shares.len()];
        let mut mix = Self { round: Vec::new(), places: vec![Vec::new(); shares.len()] };
        for row in 0..total {
            let mut next = 0;
            for (set, &share) in shares.iter().enumerate() {
                behind[set] += i64::from(share);
                if behind[set] > behind[next] {
                    next = set;
                }
            }
            behind[next] -= i64::try_from(total).unwrap_or(i64::MAX);
            mix.round.push(next);
            mix.places[next].push(row);
        }
        Ok(mix)
    }

    /// The set of a row.
    pub fn set(&self, row: u64) -> usize {
        self.round[usize::try_from(row % self.round.len() as u64).unwrap_or(0)]
    }

    /// How many of the rows in front of `row` are of `set`.
    pub fn taken(&self, set: usize, row: u64) -> u64 {
        let places = &self.places[set];
        let (rounds, rest) = (row / self.round.len() as u64, row % self.round.len() as u64);
        rounds * places.len() as u64 + places.partition_point(|&place| place < rest) as u64
    }

    /// The row at which `set` is asked for its `number`th row, from 0.
    fn asked(&self, set: usize, number: u64) -> u64 {
        let places = &self.places[set];
        let (rounds, rest) = (number / places.len() as u64, number % places.len() as u64);
        rounds * self.round.len() as u64 + places[usize::try_from(rest).unwrap_or(0)]
    }

    /// Rows of an epoch of sets that have so many.
    pub fn rows(&self, sets: &[u64], end: SetEnd) -> u64 {
        let asked = sets.iter().enumerate();
        match end {
            SetEnd::Stop => asked.map(|(set, &rows)| self.asked(set, rows)).min(),
            SetEnd::Repeat => asked
                .map(|(set, &rows)| rows.checked_sub(1).map_or(0, |last| self.asked(set, last) + 1))
                .max(),
        }
        .unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_set_furthest_behind_its_share_is_next() {
        let mix = Mix::new(&[3, 1]).unwrap();
        let sets: Vec<usize> = (0..8).map(|row| mix.set(row)).collect();
        assert_eq!(sets, [0, 0, 1, 0, 0, 0, 1, 0]);
        for row in 0..20 {
            for set in 0..2 {
                let naive = (0..row).filter(|&row| mix.set(row) == set).count() as u64;
                assert_eq!(mix.taken(set, row), naive);
            }
        }
        assert_eq!((mix.asked(0, 3), mix.asked(1, 0), mix.asked(1, 1)), (4, 2, 6));
    }

    #[test]
    fn an_epoch_ends_with_the_first_set_or_with_the_last() {
        let mix = Mix::new(&[3, 1]).unwrap();
        // Set 1 has 2 rows, at 2 and 6, and is asked for a third at 10; set 0 has 100 and is asked for the 100th at 132.
        assert_eq!(mix.rows(&[100, 2], SetEnd::Stop), 10);
        assert_eq!(mix.rows(&[100, 2], SetEnd::Repeat), 133);
        assert_eq!(mix.rows(&[4, 2], SetEnd::Stop), 5);
        assert!(Mix::new(&[]).is_err() && Mix::new(&[65_535, 1]).is_err());
        let one = Mix::new(&[1]).unwrap();
        assert_eq!((one.rows(&[7], SetEnd::Stop), one.rows(&[7], SetEnd::Repeat)), (7, 7));
    }
}
