//! The row order is one uniform permutation (shards.md §6), and a test that a shuffle within buckets does not pass.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "figures"
)]

use super::tests::{Cuts, packed, position, write};
use crate::shard::{Rows, ShardReader};
use crate::{hash, key};
use manaka_core::stream::{Candidate, Compression, Record};
use manaka_core::{Conventions, Move16};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::fs;

const ROWS: u16 = 60_000;

/// Rows in their order in the shard, each as its slot in the hash space: a number that depends on the position and
/// nothing else, so whatever the partition of the fold leaves standing in the order shows in it.
fn slots_in_row_order() -> Vec<f64> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("in.mpk");
    let records: Vec<Record> = (0..ROWS)
        .map(|number| Record {
            packed: position(number, false),
            candidates: vec![Candidate { mv: Move16::from_bits(5), visits: 0, cp: 1 }],
            ..Record::default()
        })
        .collect();
    write(&path, Conventions::TEACHER, Compression::None, &records);
    let cuts = Cuts { buckets: 32, spools: 8, stretch: 3, chunk: 4096, ..Cuts::SIMPLE };
    let (_, shards) = packed(vec![path], 2, cuts, 1_000_000, &[]);
    let shard = dir.path().join("out.parquet");
    fs::write(&shard, &shards[0]).unwrap();
    let reader = ShardReader::open(&shard).unwrap();
    let (mut rows, mut slots) = (Rows::default(), Vec::new());
    for group in 0..reader.row_groups() {
        reader.read_row_group(group, &mut rows).unwrap();
        slots.extend(rows.packed.iter().map(|packed| f64::from(key::slot(hash(packed)))));
    }
    assert_eq!(slots.len(), usize::from(ROWS));
    slots
}

/// The wrong shuffle, kept as the negative control: buckets one after another, each shuffled within itself.
fn shuffled_within_buckets(mut slots: Vec<f64>) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    slots.sort_by_cached_key(|&slot| (key::bucket(slot as u32, 32), rng.next_u64()));
    slots
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64
}

/// How far each figure of an order is from what a uniform permutation gives, in standard deviations.
#[derive(Debug)]
struct Figures {
    /// Marked rows (the lowest sixteenth of the hash space) over 100 stretches of the order.
    chi_square: f64,
    lag_1: f64,
    blocks: [f64; 2],
}

impl Figures {
    fn of(slots: &[f64]) -> Self {
        let n = slots.len();
        let marked: Vec<f64> = slots
            .chunks(n / 100)
            .map(|stretch| stretch.iter().filter(|&&slot| slot < 256.0).count() as f64)
            .collect();
        let expected = mean(&marked);
        // Drawn without replacement, one stretch in 100 at a time, the counts vary a little less than by chance alone.
        let chi: f64 = marked.iter().map(|count| (count - expected).powi(2) / expected).sum();
        let degrees = (marked.len() - 1) as f64;
        let centre = mean(slots);
        let lag: f64 = slots.windows(2).map(|pair| (pair[0] - centre) * (pair[1] - centre)).sum();
        let lag = lag / (n as f64 * variance(slots));
        let block = |blocks: usize| {
            let means: Vec<f64> = slots.chunks_exact(n / blocks).map(mean).collect();
            let ratio = (variance(&means) / (variance(slots) / (n / blocks) as f64)).sqrt();
            (ratio - 1.0) * (2.0 * (blocks as f64 - 1.0)).sqrt()
        };
        Self {
            chi_square: (chi - degrees) / (2.0 * degrees).sqrt(),
            lag_1: lag * (n as f64).sqrt(),
            blocks: [block(24), block(250)],
        }
    }

    fn worst(&self) -> f64 {
        [self.chi_square, self.lag_1, self.blocks[0], self.blocks[1]].iter().fold(0.0, |a, b| a.max(b.abs()))
    }
}

#[test]
fn the_order_of_rows_shows_nothing_of_the_buckets_and_a_shuffle_within_buckets_does() {
    let slots = slots_in_row_order();
    let right = Figures::of(&slots);
    assert!(right.worst() < 4.0, "{right:?}");
    let wrong = Figures::of(&shuffled_within_buckets(slots));
    // Each figure by itself would find it.
    for figure in [wrong.chi_square, wrong.lag_1, wrong.blocks[0], wrong.blocks[1]] {
        assert!(figure > 20.0, "{wrong:?}");
    }
}
