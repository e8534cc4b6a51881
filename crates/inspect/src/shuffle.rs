//! Whether rows are in the order of a uniform shuffle, measured on ply: neighbouring positions of a game have
//! neighbouring plies, so an order that remembers games, files or phases shows in it.
//!
//! Every sum is an exact integer, so it does not matter in which order row groups come in.

use crate::report::{BlockFigure, ShuffleFigures};
use std::collections::BTreeMap;
use std::path::Path;

/// How many blocks the rows are cut into: coarse blocks show whole buckets or inputs written one after another, fine
/// ones show runs of a game.
const BLOCKS: [u64; 3] = [24, 250, 2500];

/// Fewer rows than this say nothing about a correlation: 5 standard deviations would be 0.16 and more.
pub const MIN_ROWS: u64 = 1000;

/// Shorter blocks than this are not judged: their means are not yet normally distributed, whatever ply is.
pub const MIN_BLOCK: u64 = 30;

/// The sums over a run of rows that is cut into blocks.
pub struct Plies {
    rows: u64,
    counted: u64,
    sum: u128,
    squares: u128,
    /// Products of neighbours within pieces.
    products: u128,
    /// Index times ply.
    weighted: u128,
    /// First and last ply of each piece, by its first row.
    edges: BTreeMap<u64, (u64, u16, u16)>,
    blocks: [Vec<u64>; BLOCKS.len()],
}

/// The sums over a piece of a run.
pub struct Piece {
    start: u64,
    rows: u64,
    sum: u64,
    squares: u64,
    products: u64,
    /// Index within the piece times ply.
    weighted: u64,
    edges: (u16, u16),
    /// First block touched, and the sum in each from there on.
    blocks: [(usize, Vec<u64>); BLOCKS.len()],
}

impl Piece {
    /// The sums over rows `start..` of a run of `total` rows; `None` of no rows. A piece is a row group: sums of fewer
    /// than 2^16 rows cannot overflow, longer ones are cut by [`Plies::add`].
    fn of(start: u64, plies: &[u16], total: u64) -> Option<Self> {
        let (&first, &last) = (plies.first()?, plies.last()?);
        let wide = |&ply: &u16| u64::from(ply);
        let blocks = BLOCKS.map(|count| {
            let from = block_of(start, count, total);
            let mut sums = Vec::new();
            let mut rest = plies;
            let mut at = start;
            while !rest.is_empty() {
                let block = from + sums.len() as u64;
                let end = start_of(block + 1, count, total);
                let take = usize::try_from(end - u128::from(at)).unwrap_or(usize::MAX);
                let (inside, behind) = rest.split_at(take.min(rest.len()));
                sums.push(inside.iter().map(wide).sum());
                at += inside.len() as u64;
                rest = behind;
            }
            (usize::try_from(from).unwrap_or(usize::MAX), sums)
        });
        Some(Self {
            start,
            rows: plies.len() as u64,
            sum: plies.iter().map(wide).sum(),
            squares: plies.iter().map(|ply| wide(ply).pow(2)).sum(),
            products: plies.windows(2).map(|pair| wide(&pair[0]) * wide(&pair[1])).sum(),
            weighted: plies.iter().zip(0u64..).map(|(ply, at)| at * wide(ply)).sum(),
            edges: (first, last),
            blocks,
        })
    }
}

/// The block of a row when `total` rows are cut into `count` blocks as evenly as can be.
fn block_of(row: u64, count: u64, total: u64) -> u64 {
    u64::try_from(u128::from(row) * u128::from(count) / u128::from(total.max(1))).unwrap_or(u64::MAX)
}

/// The first row of a block: the least whose [`block_of`] it is.
fn start_of(block: u64, count: u64, total: u64) -> u128 {
    (u128::from(block) * u128::from(total)).div_ceil(u128::from(count))
}

impl Plies {
    /// Sums over a run of `rows` rows.
    pub fn new(rows: u64) -> Self {
        Self {
            rows,
            counted: 0,
            sum: 0,
            squares: 0,
            products: 0,
            weighted: 0,
            edges: BTreeMap::new(),
            blocks: BLOCKS.map(|count| vec![0; usize::try_from(count).unwrap_or(0)]),
        }
    }

    /// The sums over rows `start..`, to be [merged](Self::merge) under whatever lock there is.
    pub fn pieces(start: u64, plies: &[u16], total: u64) -> Vec<Piece> {
        let starts = (start..).step_by(1 << 15);
        plies
            .chunks(1 << 15)
            .zip(starts)
            .filter_map(|(chunk, start)| Piece::of(start, chunk, total))
            .collect()
    }

    /// Adds pieces, in any order; each row once.
    pub fn merge(&mut self, pieces: &[Piece]) {
        for piece in pieces {
            self.counted += piece.rows;
            self.sum += u128::from(piece.sum);
            self.squares += u128::from(piece.squares);
            self.products += u128::from(piece.products);
            self.weighted += u128::from(piece.weighted) + u128::from(piece.start) * u128::from(piece.sum);
            self.edges.insert(piece.start, (piece.rows, piece.edges.0, piece.edges.1));
            for (blocks, (from, sums)) in self.blocks.iter_mut().zip(&piece.blocks) {
                for (block, sum) in blocks.iter_mut().skip(*from).zip(sums) {
                    *block += sum;
                }
            }
        }
    }

    /// The figures; `None` of no rows, or when not all of them were counted.
    pub fn measured(&self, path: Option<&Path>) -> Option<ShuffleFigures> {
        (self.rows > 0 && self.counted == self.rows).then(|| self.figures(path))
    }

    /// Rows of the run, and those that were not counted.
    pub const fn rows(&self) -> (u64, u64) {
        (self.rows, self.rows - self.counted)
    }

    #[expect(clippy::cast_precision_loss, reason = "figures of a report")]
    fn figures(&self, path: Option<&Path>) -> ShuffleFigures {
        let n = self.rows as f64;
        // Sums about a whole number near the mean are exact and small; what remains is done in f64.
        let center = self.sum / u128::from(self.rows);
        let rows = u128::from(self.rows);
        let rest = self.sum.abs_diff(center * rows) as f64;
        let mean = center as f64 + rest / n;
        let deviations =
            (self.squares + rows * center * center).abs_diff(2 * center * self.sum) as f64 - rest * rest / n;
        let sd = (deviations.max(0.0) / (n - 1.0).max(1.0)).sqrt();
        let judged = self.rows >= MIN_ROWS && sd > 0.0;
        ShuffleFigures {
            path: path.map(Path::to_owned),
            rows: self.rows,
            mean_ply: mean,
            sd_ply: sd,
            lag1: judged.then(|| self.lagged(center, rest / n) / deviations),
            trend: judged.then(|| self.trend(deviations)),
            noise: 1.0 / n.sqrt(),
            blocks: BLOCKS
                .into_iter()
                .zip(&self.blocks)
                .map(|(count, sums)| self.block_figure(count, sums, mean, sd))
                .collect(),
        }
    }

    /// The sum over neighbours of the products of their deviations from the mean, which is `center + rest`.
    #[expect(clippy::cast_precision_loss, reason = "figures of a report")]
    fn lagged(&self, center: u128, rest: f64) -> f64 {
        let mut products = self.products;
        let mut last: Option<u16> = None;
        for &(_, first, piece_last) in self.edges.values() {
            if let Some(last) = last {
                products += u128::from(last) * u128::from(first);
            }
            last = Some(piece_last);
        }
        let first = self.edges.values().next().map_or(0, |&(_, first, _)| u128::from(first));
        let last = last.map_or(0, u128::from);
        let pairs = u128::from(self.rows) - 1;
        // Both members of all pairs, summed: every row twice but the first and the last.
        let members = 2 * self.sum - first - last;
        let centered = signed(products + pairs * center * center) - signed(center * members);
        let members = (signed(members) - signed(2 * pairs * center)) as f64;
        centered as f64 - rest * members + pairs as f64 * rest * rest
    }

    /// The correlation of ply with the row index.
    #[expect(clippy::cast_precision_loss, reason = "figures of a report")]
    fn trend(&self, deviations: f64) -> f64 {
        let n = u128::from(self.rows);
        // Σ(i − mean i)·ply, doubled to stay whole.
        let covariance = (signed(2 * self.weighted) - signed((n - 1) * self.sum)) as f64 / 2.0;
        let n = n as f64;
        let index_deviations = n * (n * n - 1.0) / 12.0;
        covariance / (deviations * index_deviations).sqrt()
    }

    #[expect(clippy::cast_precision_loss, reason = "figures of a report")]
    fn block_figure(&self, count: u64, sums: &[u64], mean: f64, sd: f64) -> BlockFigure {
        let rows_per_block = self.rows / count;
        let noise = 1.0 / (2.0 * (count as f64 - 1.0)).sqrt();
        let mut figure =
            BlockFigure { blocks: count, rows_per_block, measured: None, random: None, ratio: None, noise };
        if rows_per_block < MIN_BLOCK || sd == 0.0 {
            return figure;
        }
        let mean_rows = self.rows as f64 / count as f64;
        // Blocks differ by a row at most; weighting them by it makes the expected ratio exactly 1.
        let spread: f64 = (0..count)
            .zip(sums)
            .map(|(block, &sum)| {
                let rows = (start_of(block + 1, count, self.rows) - start_of(block, count, self.rows)) as f64;
                rows / mean_rows * (sum as f64 / rows - mean).powi(2)
            })
            .sum();
        let measured = (spread / (count as f64 - 1.0)).sqrt();
        let random = sd / mean_rows.sqrt();
        (figure.measured, figure.random, figure.ratio) =
            (Some(measured), Some(random), Some(measured / random));
        figure
    }
}

/// Sums of fewer than 2^64 rows of u16 stay far below 2^127.
fn signed(value: u128) -> i128 {
    i128::try_from(value).unwrap_or(i128::MAX)
}

#[cfg(test)]
#[expect(clippy::cast_precision_loss, reason = "a naive oracle")]
mod tests {
    use super::*;

    /// The figures of a run of plies whose row groups come in another order than they stand.
    fn figures(plies: &[u16], group: usize) -> ShuffleFigures {
        let total = plies.len() as u64;
        let mut sums = Plies::new(total);
        let mut groups: Vec<(usize, &[u16])> = plies.chunks(group).enumerate().collect();
        groups.reverse();
        groups.sort_by_key(|(at, _)| at % 3);
        for (at, chunk) in groups {
            sums.merge(&Plies::pieces((at * group) as u64, chunk, total));
        }
        sums.measured(None).unwrap()
    }

    /// Correlation of pairs about the mean and deviation of all plies, by the book.
    fn naive(plies: &[u16]) -> (f64, f64, f64, f64) {
        let n = plies.len() as f64;
        let x: Vec<f64> = plies.iter().map(|&ply| f64::from(ply)).collect();
        let mean = x.iter().sum::<f64>() / n;
        let squares: f64 = x.iter().map(|x| (x - mean).powi(2)).sum();
        let lag: f64 = x.windows(2).map(|w| (w[0] - mean) * (w[1] - mean)).sum();
        let index_mean = (n - 1.0) / 2.0;
        let index_squares: f64 = (0..plies.len()).map(|i| (i as f64 - index_mean).powi(2)).sum();
        let trend: f64 = x.iter().enumerate().map(|(i, x)| (i as f64 - index_mean) * (x - mean)).sum();
        (mean, (squares / (n - 1.0)).sqrt(), lag / squares, trend / (squares * index_squares).sqrt())
    }

    /// The block ratio of equal blocks as the card of a data set states it: deviation of block means over that of
    /// independent samples.
    fn naive_ratio(plies: &[u16], blocks: usize) -> f64 {
        let (mean, sd, ..) = naive(plies);
        let size = plies.len() / blocks;
        let spread: f64 = plies.chunks(size).map(|block| (naive(block).0 - mean).powi(2)).sum();
        (spread / (blocks as f64 - 1.0)).sqrt() / (sd / (size as f64).sqrt())
    }

    fn draws(n: usize, mut seed: u64, most: u64) -> Vec<u16> {
        (0..n)
            .map(|_| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                u16::try_from((seed >> 33) % most).unwrap()
            })
            .collect()
    }

    #[test]
    fn figures_equal_those_by_the_book_whatever_the_row_groups() {
        let smooth: Vec<u16> = (0..75_000u32).map(|i| 300 + u16::try_from(i / 7 % 90).unwrap()).collect();
        for plies in [draws(75_000, 1, 150), draws(75_000, 2, 65_536), smooth] {
            let (mean, sd, lag1, trend) = naive(&plies);
            let ratios = [24, 250, 2500].map(|blocks| naive_ratio(&plies, blocks));
            for group in [75_000, 8192, 1000, 7] {
                let figures = figures(&plies, group);
                let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs().max(1.0);
                assert!(close(figures.mean_ply, mean) && close(figures.sd_ply, sd), "{figures:?}");
                assert!(close(figures.lag1.unwrap(), lag1), "{figures:?} {lag1}");
                assert!(close(figures.trend.unwrap(), trend), "{figures:?} {trend}");
                for (figure, ratio) in figures.blocks.iter().zip(ratios) {
                    assert!(close(figure.ratio.unwrap(), ratio), "{figure:?} {ratio}");
                }
            }
        }
    }

    #[test]
    fn blocks_that_differ_by_a_row_cover_every_row_once() {
        for total in [1u64, 23, 24, 25, 1000, 60_001, 75_013] {
            let plies = vec![1u16; usize::try_from(total).unwrap()];
            let mut sums = Plies::new(total);
            sums.merge(&Plies::pieces(0, &plies, total));
            for (count, sums) in BLOCKS.into_iter().zip(&sums.blocks) {
                for (block, &sum) in (0..count).zip(sums) {
                    let rows = start_of(block + 1, count, total) - start_of(block, count, total);
                    assert_eq!(u128::from(sum), rows, "block {block} of {count}, {total} rows");
                    assert!(rows.abs_diff(u128::from(total / count)) <= 1);
                }
            }
        }
    }

    #[test]
    fn independent_plies_are_within_the_bounds_and_the_spread_of_the_ratio_is_the_stated_one() {
        let runs: Vec<ShuffleFigures> =
            (0..200).map(|seed| figures(&draws(7500, seed + 7, 90), 8192)).collect();
        let spread = |of: &dyn Fn(&ShuffleFigures) -> f64, about: f64| {
            (runs.iter().map(|run| (of(run) - about).powi(2)).sum::<f64>() / runs.len() as f64).sqrt()
        };
        let expected = |measured: f64, noise: f64| {
            assert!((0.8..1.2).contains(&(measured / noise)), "{measured} {noise}")
        };
        expected(spread(&|run| run.lag1.unwrap(), 0.0), runs[0].noise);
        expected(spread(&|run| run.trend.unwrap(), 0.0), runs[0].noise);
        expected(spread(&|run| run.blocks[0].ratio.unwrap(), 1.0), runs[0].blocks[0].noise);
        expected(spread(&|run| run.blocks[1].ratio.unwrap(), 1.0), runs[0].blocks[1].noise);
    }

    #[test]
    fn what_cannot_be_judged_has_no_figure() {
        assert!(figures(&draws(999, 1, 90), 100).lag1.is_none());
        let constant = figures(&[40; 5000], 8192);
        assert_eq!((constant.lag1, constant.blocks[0].ratio, constant.sd_ply), (None, None, 0.0));
        let short = figures(&draws(24 * 30 * 2, 1, 90), 8192);
        assert!(short.blocks[0].ratio.is_some() && short.blocks[1].ratio.is_none());
    }
}
