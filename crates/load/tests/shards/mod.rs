//! Shards put together row by row, by the general Parquet writer, with whatever is wrong with them.
#![allow(dead_code, reason = "every test file uses some of it")]

#[path = "../../../core/tests/draws/mod.rs"]
mod draws;
mod written;

use draws::Draw;
use std::path::{Path, PathBuf};
pub use written::{Row, Shard};

/// A multiple of 1/64 in [-1, 1]: sums of them are exact.
fn value(draws: &mut Draw) -> f32 {
    draws.below(129) as f32 / 64.0 - 1.0
}

/// A full set, or most of it, thrown on the board and into the hands.
pub fn position(draws: &mut Draw) -> [u8; 96] {
    let mut packed = [0xFF; 96];
    packed[81..].fill(0);
    packed[95] = draws.below(2) as u8;
    for king in [0x00, 0x10] {
        let free: Vec<usize> = (0..81).filter(|&s| packed[s] == 0xFF).collect();
        packed[free[draws.below(free.len())]] = king;
    }
    let in_hand = draws.below(100);
    // By hand index P L N S G B R: how many, on the board, promoted (none for gold).
    let kinds = [(18, 7, 13), (4, 6, 12), (4, 5, 11), (4, 4, 10), (4, 3, 3), (2, 2, 9), (2, 1, 8)];
    for (hand, (count, plain, promoted)) in kinds.into_iter().enumerate() {
        for _ in 0..count {
            let white = draws.below(2);
            if draws.below(20) == 0 {
                continue;
            }
            if draws.below(100) < in_hand {
                packed[81 + 7 * white + hand] += 1;
                continue;
            }
            let free: Vec<usize> = (0..81).filter(|&s| packed[s] == 0xFF).collect();
            let kind = if draws.below(3) == 0 { promoted } else { plain };
            packed[free[draws.below(free.len())]] = kind | (white as u8) << 4;
        }
    }
    packed
}

/// A move some piece could make: a drop, or along a line, or a knight's.
fn some_move(draws: &mut Draw) -> u16 {
    loop {
        let (from, to) = (draws.below(81) as i32, draws.below(81) as i32);
        if draws.below(4) == 0 {
            return (to + 128 * (81 + draws.below(7) as i32)) as u16;
        }
        let (files, ranks) = ((from / 9 - to / 9).abs(), (from % 9 - to % 9).abs());
        if from != to && (files == 0 || ranks == 0 || files == ranks) {
            return (to + 128 * from + (draws.below(2) as i32) * 16384) as u16;
        }
    }
}

pub fn rows(count: usize, seed: u64) -> Vec<Row> {
    let mut draws = Draw(seed);
    (0..count)
        .map(|_| {
            let probs: &[f32] = [&[1.0][..], &[0.5, 0.25, 0.25], &[0.75, 0.25]][draws.below(3)];
            Row {
                packed: position(&mut draws),
                ply: draws.below(300) as u16,
                value_z: value(&mut draws),
                value_q: value(&mut draws),
                weight: 1 + draws.below(40) as u32,
                candidates: probs.iter().map(|&prob| (some_move(&mut draws), prob, None)).collect(),
            }
        })
        .collect()
}

impl Shard {
    pub fn write(&self, path: PathBuf) -> PathBuf {
        self.write_as(path, |schema| schema)
    }
}

/// Visits, or scores that are all 0.
pub fn shard(visits: bool, mut rows: Vec<Row>, group: usize) -> Shard {
    rows.iter_mut().flat_map(|row| &mut row.candidates).for_each(|c| c.2 = (!visits).then_some(0));
    Shard::new(visits, rows, group)
}

/// The rows, cut into shards of the given sizes and groups of `group`, in a directory.
pub fn directory(dir: &Path, visits: bool, rows: &[Row], sizes: &[usize], group: usize) -> PathBuf {
    std::fs::create_dir_all(dir).unwrap();
    let mut rest = rows;
    for (number, &size) in sizes.iter().enumerate() {
        let (part, behind) = rest.split_at(size);
        shard(visits, part.to_vec(), group).write(dir.join(format!("s-{number:05}.parquet")));
        rest = behind;
    }
    assert!(rest.is_empty());
    dir.to_owned()
}
