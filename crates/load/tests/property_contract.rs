//! Any shards, any options that may not show: the rows are those of the twin.

mod naive;
mod shards;

use manaka_load::{
    Batch, FeatureSet, Loader, Mirror, Options, Order, PolicyTarget, RawColumns, ShardSet, WeightMode,
};
use naive::{Out, expected, outs};
use proptest::prelude::*;
use shards::{Row, directory, rows};
use std::num::NonZeroUsize;
use std::path::Path;

fn load(dir: &Path, options: Options, epoch: u64) -> Vec<Out> {
    let set = ShardSet::open(&[dir.to_owned()]).unwrap();
    let mut loader = Loader::new(vec![set.into()], options).unwrap();
    loader.begin_epoch(epoch).unwrap();
    let (mut batch, mut all) = (Batch::default(), Vec::new());
    while loader.next_into(&mut batch).unwrap() {
        all.extend(outs(&batch));
    }
    all
}

/// The twin's row, mirrored or not, whichever was delivered where that is drawn.
fn twin(row: &Row, options: &Options, blend: f32, found: &Out) -> Out {
    let of = |mirrored| Out {
        value: (1.0 - blend) * row.value_z + blend * row.value_q,
        weight: row.weight as f32,
        ..expected(row, mirrored, options.features, options.policy)
    };
    match options.mirror {
        Mirror::Never => of(false),
        Mirror::Always => of(true),
        Mirror::Half => {
            let plain = of(false);
            if plain == *found { plain } else { of(true) }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn rows_are_the_twins_whatever_the_cut_of_the_data_and_of_the_work(
        seed in 0u64..1000,
        sizes in prop::collection::vec(0usize..60, 1..5),
        group in 1usize..40,
        batch_size in 1usize..70,
        threads in 1usize..5,
        world_size in 1u32..5,
        features in prop::sample::select(vec![
            FeatureSet::None, FeatureSet::HalfKp, FeatureSet::Kp,
            FeatureSet::PlanesBits, FeatureSet::PlanesU8, FeatureSet::PlanesF32,
        ]),
        policy in prop::sample::select(vec![PolicyTarget::None, PolicyTarget::Sparse, PolicyTarget::Dense]),
        mirror in prop::sample::select(vec![Mirror::Never, Mirror::Half, Mirror::Always]),
        shuffled in any::<bool>(),
        quarters in 0u8..=4,
    ) {
        let count: usize = sizes.iter().sum();
        prop_assume!(count > 0);
        let temp = tempfile::tempdir().unwrap();
        let rows = rows(count, seed);
        let dir = directory(&temp.path().join("shards"), true, &rows, &sizes, group);
        let blend = f32::from(quarters) / 4.0;
        let options = Options {
            batch_size: NonZeroUsize::new(batch_size).unwrap(),
            threads: NonZeroUsize::new(threads).unwrap(),
            features, policy, mirror, blend, seed, world_size,
            order: if shuffled { Order::ShuffledGroups } else { Order::AsWritten },
            weight: WeightMode::Stored,
            columns: RawColumns { packed: true, ply: false },
            ..Options::default()
        };
        let mut found = Vec::new();
        for rank in 0..world_size {
            found.extend(load(&dir, Options { rank, ..options.clone() }, seed % 3));
        }
        prop_assert_eq!(found.len(), count);
        let mut met = vec![false; count];
        for out in &found {
            let at = rows.iter().position(|row| row.packed[..] == out.packed[..]).unwrap();
            prop_assert!(!std::mem::replace(&mut met[at], true), "row {} twice", at);
            prop_assert_eq!(out, &twin(&rows[at], &options, blend, out));
        }
        // One rank, one thread, one row a batch: the same rows in the same order.
        let one = NonZeroUsize::MIN;
        let alone = Options { world_size: 1, threads: one, batch_size: one, ..options };
        prop_assert_eq!(load(&dir, alone, seed % 3), found);
    }
}
