//! What a loader delivers: the twin's rows, in the stated order, whatever threads, batches, ranks and stops.

mod naive;
mod shards;

use manaka_load::{
    Batch, Cursor, CursorError, Error, FeatureSet, LastBatch, Loader, Mirror, Options, Order, OutcomeAbsent,
    PolicyTarget, RawColumns, SetEnd, ShardSet, Source, WeightMode,
};
use naive::{Out, expected, outs};
use shards::{Row, directory, rows, shard};
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};

fn n(number: usize) -> NonZeroUsize {
    NonZeroUsize::new(number).unwrap()
}

fn options(batch: usize, threads: usize) -> Options {
    Options {
        batch_size: n(batch),
        threads: n(threads),
        columns: RawColumns { packed: true, ply: false },
        ..Options::default()
    }
}

fn source(dir: &Path) -> Source {
    ShardSet::open(&[dir.to_owned()]).unwrap().into()
}

fn shared(dir: &Path, share: u32) -> Source {
    Source { share: NonZeroU32::new(share).unwrap(), ..source(dir) }
}

/// The rest of an epoch; the sizes of batches are looked at.
fn rest(loader: &mut Loader) -> Vec<Out> {
    let size = loader.options().batch_size.get();
    let (mut batch, mut all, mut last) = (Batch::default(), Vec::new(), size);
    while loader.next_into(&mut batch).unwrap() {
        assert_eq!(last, size, "only the last batch is smaller");
        last = batch.rows;
        all.extend(outs(&batch));
    }
    assert_eq!(batch.rows, 0);
    assert!(!loader.next_into(&mut batch).unwrap(), "the end stays the end");
    all
}

fn epoch(dirs: &[&Path], options: Options) -> Vec<Out> {
    rest(&mut Loader::new(dirs.iter().map(|dir| source(dir)).collect(), options).unwrap())
}

/// Positions tell rows apart.
fn numbers(rows: &[Row], outs: &[Out]) -> Vec<usize> {
    let number = |out: &Out| rows.iter().position(|row| row.packed[..] == out.packed[..]).unwrap();
    outs.iter().map(number).collect()
}

fn sample(dir: &Path, visits: bool, count: usize) -> (PathBuf, Vec<Row>) {
    let rows = rows(count, 7);
    let sizes = [count / 2, 0, count / 3, count - count / 2 - count / 3];
    (directory(&dir.join("shards"), visits, &rows, &sizes, 37), rows)
}

#[test]
fn every_feature_set_and_policy_equals_the_twin_on_any_threads_and_batches() {
    let temp = tempfile::tempdir().unwrap();
    let (dir, rows) = sample(temp.path(), true, 240);
    let sets = [
        FeatureSet::None,
        FeatureSet::HalfKp,
        FeatureSet::Kp,
        FeatureSet::PlanesBits,
        FeatureSet::PlanesU8,
        FeatureSet::PlanesF32,
    ];
    for features in sets {
        for policy in [PolicyTarget::None, PolicyTarget::Sparse, PolicyTarget::Dense] {
            for mirror in [Mirror::Never, Mirror::Always] {
                let wanted: Vec<Out> = rows
                    .iter()
                    .map(|row| Out {
                        value: 0.25 * row.value_z + 0.75 * row.value_q,
                        weight: row.weight as f32,
                        ..expected(row, mirror == Mirror::Always, features, policy)
                    })
                    .collect();
                for (batch, threads) in [(1, 1), (7, 3), (64, 2), (1000, 4)] {
                    let options =
                        Options { features, policy, mirror, blend: 0.75, ..options(batch, threads) };
                    let found = epoch(&[&dir], options);
                    assert_eq!(found.len(), wanted.len());
                    for (row, (found, wanted)) in found.iter().zip(&wanted).enumerate() {
                        assert_eq!(found, wanted, "row {row}, {features:?}, {policy:?}, {batch}, {threads}");
                    }
                }
            }
        }
    }
}

#[test]
fn parts_of_ranks_are_disjoint_complete_and_even_in_both_orders() {
    let temp = tempfile::tempdir().unwrap();
    let (dir, rows) = sample(temp.path(), false, 241);
    for order in [Order::AsWritten, Order::ShuffledGroups] {
        let one = Options { order, mirror: Mirror::Half, features: FeatureSet::Kp, ..options(16, 1) };
        let whole = epoch(&[&dir], one.clone());
        let mut seen = numbers(&rows, &whole);
        if order == Order::AsWritten {
            assert!(seen.is_sorted());
        } else {
            assert!(!seen.is_sorted());
            seen.sort_unstable();
        }
        assert_eq!(seen, (0..241).collect::<Vec<_>>());
        for world_size in [1, 2, 3, 5, 300] {
            let mut parts = Vec::new();
            let mut sizes = Vec::new();
            for rank in 0..world_size {
                let options = Options { rank, world_size, threads: n(1 + rank as usize % 3), ..one.clone() };
                let part = epoch(&[&dir], options);
                sizes.push(part.len());
                parts.extend(part);
            }
            assert_eq!(parts, whole, "{world_size} parts");
            assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1, "{sizes:?}");

            let mut batches = Vec::new();
            for rank in 0..world_size {
                let options = Options { rank, world_size, last_batch: LastBatch::Drop, ..one.clone() };
                let loader = Loader::new(vec![source(&dir)], options).unwrap();
                batches.push((loader.batches(), loader.rows()));
            }
            let expected = 241 / u64::from(world_size) / 16;
            assert!(batches.iter().all(|&found| found == (expected, expected * 16)), "{batches:?}");
        }
    }
}

#[test]
fn row_groups_stay_whole_and_their_order_is_the_seeds_and_the_epochs() {
    let temp = tempfile::tempdir().unwrap();
    let (dir, rows) = sample(temp.path(), false, 240);
    let shuffled = Options { order: Order::ShuffledGroups, ..options(50, 2) };
    let of = |seed, number| {
        let mut loader = Loader::new(vec![source(&dir)], Options { seed, ..shuffled.clone() }).unwrap();
        loader.begin_epoch(number).unwrap();
        numbers(&rows, &rest(&mut loader))
    };
    let one = of(1, 0);
    // Groups of 37 rows of shards of 120, 0, 80 and 40 rows.
    let groups = [0..37, 37..74, 74..111, 111..120, 120..157, 157..194, 194..200, 200..237, 237..240];
    let mut at = 0;
    let mut met = 0;
    while at < one.len() {
        let group = groups.iter().find(|group| group.start == one[at]).expect("the first row of a group");
        assert_eq!(one[at..at + group.len()], group.clone().collect::<Vec<_>>());
        at += group.len();
        met += 1;
    }
    assert_eq!(met, groups.len());
    assert_eq!(of(1, 0), one);
    assert!(of(2, 0) != one && of(1, 1) != one && of(1, 2) != of(1, 1));
}

#[test]
fn half_of_the_rows_are_mirrored_and_nobody_sees_by_whom() {
    let temp = tempfile::tempdir().unwrap();
    let (dir, rows) = sample(temp.path(), false, 400);
    let policy = PolicyTarget::Sparse;
    let half = |seed, batch, threads| {
        let options = Options {
            mirror: Mirror::Half,
            features: FeatureSet::HalfKp,
            policy,
            seed,
            ..options(batch, threads)
        };
        epoch(&[&dir], options)
    };
    let one = half(5, 64, 1);
    let mut turned = 0;
    for (row, found) in rows.iter().zip(&one) {
        let [plain, mirrored] = [false, true].map(|mirrored| Out {
            value: found.value,
            weight: found.weight,
            ..expected(row, mirrored, FeatureSet::HalfKp, policy)
        });
        assert!(*found == plain || *found == mirrored);
        turned += usize::from(*found != plain);
    }
    assert!((140..260).contains(&turned), "{turned} of 400");
    assert_eq!(half(5, 7, 3), one);
    assert_ne!(half(6, 64, 1), one);

    // Epoch 2, groups 0 and 1 of 37 rows: the bits are the oracle's (tests/oracle/oracle/loading.py).
    let options =
        Options { mirror: Mirror::Half, features: FeatureSet::HalfKp, policy, seed: 5, ..options(64, 2) };
    let mut loader = Loader::new(vec![source(&dir)], options).unwrap();
    loader.begin_epoch(2).unwrap();
    let found = rest(&mut loader);
    for (start, bits) in [(0, 0x02_0DEA), (37, 0x04_F7A4)] {
        for row in 0..24 {
            let (row, turned) = (start + row, bits >> row & 1 != 0);
            let wanted = expected(&rows[row], turned, FeatureSet::HalfKp, policy);
            assert_eq!((&found[row].own, &found[row].policy), (&wanted.own, &wanted.policy), "row {row}");
        }
    }
}

#[test]
fn a_loader_goes_on_at_its_cursor_with_exactly_the_rest() {
    let temp = tempfile::tempdir().unwrap();
    let (dir, _) = sample(temp.path(), false, 150);
    let other = directory(&temp.path().join("other"), false, &rows(60, 8), &[60], 11);
    for set_end in [SetEnd::Stop, SetEnd::Repeat] {
        for last_batch in [LastBatch::Deliver, LastBatch::Drop] {
            let options = Options {
                order: Order::ShuffledGroups,
                mirror: Mirror::Half,
                features: FeatureSet::HalfKp,
                policy: PolicyTarget::Sparse,
                seed: 3,
                set_end,
                last_batch,
                rank: 1,
                world_size: 2,
                ..options(9, 2)
            };
            let open = || vec![shared(&dir, 3), shared(&other, 2)];
            let mut whole = Loader::new(open(), options.clone()).unwrap();
            whole.begin_epoch(4).unwrap();
            let all = rest(&mut whole);
            assert_eq!(all.len() as u64, whole.rows());
            for stop in 0..=whole.batches() {
                let mut first = Loader::new(open(), options.clone()).unwrap();
                first.begin_epoch(4).unwrap();
                let mut batch = Batch::default();
                for _ in 0..stop {
                    assert!(first.next_into(&mut batch).unwrap());
                }
                let text = first.cursor().to_string();
                drop(first);
                let cursor: Cursor = text.parse().unwrap();
                let options = Options { threads: n(1 + stop as usize % 4), ..options.clone() };
                let mut second = Loader::resume(open(), options, &cursor).unwrap();
                assert_eq!(second.epoch(), 4);
                let row = usize::try_from(cursor.row()).unwrap();
                assert_eq!(rest(&mut second), all[row..], "behind {stop} batches");
                second.begin_epoch(4).unwrap();
                assert_eq!(rest(&mut second), all);
            }
        }
    }
}

#[test]
fn a_cursor_of_other_shards_or_options_is_refused_by_name() {
    let temp = tempfile::tempdir().unwrap();
    let (dir, _) = sample(temp.path(), false, 100);
    let other = directory(&temp.path().join("other"), false, &rows(100, 9), &[100], 37);
    let cursor = Loader::new(vec![source(&dir)], options(8, 1)).unwrap().cursor();
    let key = |sources: Vec<Source>, options: Options| match Loader::resume(sources, options, &cursor) {
        Err(Error::Cursor(CursorError::Other { key, .. })) => key,
        other => panic!("{:?}", other.err()),
    };
    assert_eq!(key(vec![source(&other)], options(8, 1)), "shards_0");
    assert_eq!(key(vec![source(&dir)], options(9, 1)), "batch_size");
    assert_eq!(key(vec![source(&dir)], Options { seed: 1, ..options(8, 1) }), "seed");
    assert_eq!(key(vec![source(&dir)], Options { world_size: 2, ..options(8, 1) }), "world_size");
    assert!(Loader::resume(vec![source(&dir)], options(8, 3), &cursor).is_ok(), "threads may differ");

    let text = cursor.to_string();
    let beyond: Cursor = text.replace("row 0", "row 101").parse().unwrap();
    let found = Loader::resume(vec![source(&dir)], options(8, 1), &beyond);
    assert!(matches!(found, Err(Error::Cursor(CursorError::Beyond { row: 101, rows: 100 }))));
    for broken in ["", "manaka-cursor 2", "manaka-cursor 1\nepoch 0", &text.replace("row 0", "row x")] {
        assert!(matches!(broken.parse::<Cursor>(), Err(CursorError::Text { .. })), "{broken:?}");
    }
}

#[test]
fn sets_take_turns_by_their_shares_and_end_as_asked() {
    let temp = tempfile::tempdir().unwrap();
    let many = rows(100, 1);
    let few = rows(10, 2);
    let big = directory(&temp.path().join("big"), false, &many, &[60, 40], 16);
    let small = directory(&temp.path().join("small"), false, &few, &[10], 16);
    let mixed = |set_end, batch, threads| {
        let options = Options { set_end, ..options(batch, threads) };
        let outs = rest(&mut Loader::new(vec![shared(&big, 3), shared(&small, 1)], options).unwrap());
        let all: Vec<Row> = many.iter().chain(&few).cloned().collect();
        numbers(&all, &outs)
    };
    let stop = mixed(SetEnd::Stop, 8, 1);
    assert_eq!(stop[..8], [0, 1, 100, 2, 3, 4, 101, 5]);
    // The small set is asked for an eleventh row at 10 · 4 + 2.
    assert_eq!(stop.len(), 42);
    let repeat = mixed(SetEnd::Repeat, 8, 1);
    // The hundredth row of the big set is the first of the 34th round.
    assert_eq!(repeat.len(), 133);
    let of_small: Vec<usize> = repeat.iter().filter(|&&row| row >= 100).map(|row| row - 100).collect();
    assert_eq!(of_small, (0..33).map(|row| row % 10).collect::<Vec<_>>());
    assert_eq!(repeat.iter().filter(|&&row| row < 100).count(), 100);
    for (batch, threads) in [(1, 2), (5, 3), (500, 1)] {
        assert_eq!(mixed(SetEnd::Stop, batch, threads), stop);
        assert_eq!(mixed(SetEnd::Repeat, batch, threads), repeat);
    }
}

#[test]
fn an_epoch_may_be_left_and_another_begun_at_any_time() {
    let temp = tempfile::tempdir().unwrap();
    let (dir, _) = sample(temp.path(), false, 150);
    let options = Options { order: Order::ShuffledGroups, ..options(4, 3) };
    let mut loader = Loader::new(vec![source(&dir)], options).unwrap();
    let zero = rest(&mut loader);
    loader.begin_epoch(1).unwrap();
    let one = rest(&mut loader);
    let mut batch = Batch::default();
    for taken in 0..10 {
        loader.begin_epoch(7).unwrap();
        for _ in 0..taken {
            loader.next_into(&mut batch).unwrap();
        }
        loader.begin_epoch(taken % 2).unwrap();
        assert_eq!(rest(&mut loader), if taken % 2 == 0 { zero.clone() } else { one.clone() });
    }
}

#[test]
fn values_are_the_movers_whatever_the_shard_says_and_weights_are_as_asked() {
    let temp = tempfile::tempdir().unwrap();
    let rows = rows(80, 3);
    let shard = shard(true, rows.clone(), 30).with("pov", "black");
    let path = shard.write(temp.path().join("black.parquet"));
    for (blend, weight) in [
        (0.0, WeightMode::Stored),
        (0.5, WeightMode::Sqrt),
        (1.0, WeightMode::Log),
        (1.0, WeightMode::Capped(8.0)),
    ] {
        let options = Options { blend, weight, ..options(16, 2) };
        let set = ShardSet::open(std::slice::from_ref(&path)).unwrap();
        let outs = rest(&mut Loader::new(vec![set.into()], options).unwrap());
        for (row, out) in rows.iter().zip(outs) {
            let value = (1.0 - blend) * row.value_z + blend * row.value_q;
            assert_eq!(out.value, if row.packed[95] == 1 { -value } else { value });
            let records = f64::from(row.weight);
            let wanted = match weight {
                WeightMode::Stored => records,
                WeightMode::Sqrt => records.sqrt(),
                WeightMode::Log => (1.0 + records).log2(),
                WeightMode::Capped(most) => records.min(f64::from(most)),
            };
            assert!((f64::from(out.weight) - wanted).abs() < 1e-6);
        }
    }
}

#[test]
fn an_outcome_that_is_not_there_is_blended_only_by_name() {
    let temp = tempfile::tempdir().unwrap();
    let (dir, rows) = sample(temp.path(), false, 40);
    let wants = Options { blend: 0.5, ..options(16, 1) };
    let refused = Loader::new(vec![source(&dir)], wants.clone()).err().unwrap().to_string();
    assert!(refused.contains("blend is 0.5") && refused.contains("s-00000.parquet"), "{refused}");
    let outs = epoch(&[&dir], Options { outcome_absent: OutcomeAbsent::UseSearch, ..wants });
    assert!(rows.iter().zip(outs).all(|(row, out)| row.value_q == out.value));
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let temp = tempfile::tempdir().unwrap();
    let (dir, _) = sample(temp.path(), true, 40);
    let refused =
        |options: Options| matches!(Loader::new(vec![source(&dir)], options), Err(Error::Option(_)));
    for blend in [-0.1, 1.1, f32::NAN] {
        assert!(refused(Options { blend, ..options(8, 1) }));
    }
    assert!(refused(Options { rank: 2, world_size: 2, ..options(8, 1) }));
    assert!(refused(Options { world_size: 0, ..options(8, 1) }));
    assert!(refused(Options { weight: WeightMode::Capped(0.5), ..options(8, 1) }));
    assert!(refused(Options { world_size: 41, set_end: SetEnd::Repeat, ..options(8, 1) }));
    assert!(matches!(Loader::new(vec![], options(8, 1)), Err(Error::Option(_))));
}
