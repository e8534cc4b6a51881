//! Rows of which no record states an outcome take value_q whole (loading.md §3), in shards as `pack` writes them.

use manaka_core::conventions::{Conventions, NO_CP, NO_OUTCOME, Pov};
use manaka_core::stream::{Candidate, Compression, Record, StreamWriter};
use manaka_core::{Move16, Packed};
use manaka_load::{Batch, Loader, Options, RawColumns, ShardSet};
use manaka_pack::shard::{Outcomes, Rows, ShardReader};
use manaka_pack::{PackOptions, pack};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// Positions that differ in Black's hand.
fn position(number: u8, white: bool) -> Packed {
    let sfen = "4k4/9/9/9/9/9/9/9/4K4 b - 1";
    let mut packed = Packed::from_sfen(sfen).unwrap().0;
    packed.as_bytes_mut()[81] = number;
    packed.as_bytes_mut()[95] = u8::from(white);
    packed
}

/// Position, whether White moves, outcomes of its records, root value; and what is to be learned of it at r = 0.25 and 0.
type Case = (u8, bool, &'static [f32], f32, [f32; 2]);

const CASES: [Case; 6] = [
    (1, false, &[1.0], 0.5, [0.875, 1.0]),
    (2, false, &[NO_OUTCOME], 0.5, [0.5, 0.5]),
    (3, true, &[NO_OUTCOME, NO_OUTCOME], -0.25, [-0.25, -0.25]),
    (4, true, &[-1.0, NO_OUTCOME], 0.5, [-0.625, -1.0]),
    (5, false, &[1.0, NO_OUTCOME, -1.0, -1.0, -1.0], 1.0, [-0.125, -0.5]),
    (6, true, &[0.0], 1.0, [0.25, 0.0]),
];

fn shards(dir: &Path, name: &str, conventions: Conventions, cases: &[Case]) -> PathBuf {
    let stream = dir.join(format!("{name}.mpk"));
    let mut writer = StreamWriter::create(&stream, conventions, Compression::None).unwrap();
    writer.allow_absent_outcomes();
    for &(number, white, outcomes, value_q, _) in cases {
        for &value_z in outcomes {
            let candidates = vec![Candidate { mv: Move16::from_bits(5), visits: 1, cp: NO_CP }];
            let record = Record { ply: 1, value_z, value_q, packed: position(number, white), candidates };
            writer.write(&record).unwrap();
        }
    }
    writer.finish().unwrap();
    let out = dir.join(name);
    std::fs::create_dir(&out).unwrap();
    pack(vec![stream], &out, &PackOptions::new("t", NonZeroUsize::MIN), &()).unwrap();
    out
}

#[test]
fn a_row_without_an_outcome_takes_the_root_value_whole_whatever_the_blend() {
    for pov in [Pov::SideToMove, Pov::Black] {
        let dir = tempfile::tempdir().unwrap();
        let conventions = Conventions { pov, ..Conventions::VISITS };
        // One pack without a null and one with them, in one set.
        let [some, all] = [("some", &CASES[..4]), ("all", &CASES[4..])]
            .map(|(name, cases)| shards(dir.path(), name, conventions, cases));
        let open = || ShardSet::open(&[some.clone(), all.clone()]).unwrap();
        let schemas: Vec<Outcomes> = open().shards().iter().map(|shard| shard.outcomes()).collect();
        assert_eq!(schemas, [Outcomes::SomeAbsent, Outcomes::Stated]);
        for (blend, column) in [(0.25, 0), (0.0, 1), (1.0, 2)] {
            let options = Options {
                batch_size: NonZeroUsize::new(4).unwrap(),
                blend,
                columns: RawColumns { packed: true, ply: false },
                ..Options::default()
            };
            let mut loader = Loader::new(vec![open().into()], options).unwrap();
            let (mut batch, mut found) = (Batch::default(), BTreeMap::new());
            while loader.next_into(&mut batch).unwrap() {
                for (packed, &value) in batch.packed.chunks_exact(96).zip(&batch.value) {
                    found.insert(packed[81], value);
                }
            }
            let wanted: BTreeMap<u8, f32> = CASES
                .iter()
                .map(|&(number, white, _, value_q, values)| {
                    let value = values.get(column).copied().unwrap_or(value_q);
                    // Stated by Black, and White's is the opposite.
                    (number, if white && pov == Pov::Black { -value } else { value })
                })
                .collect();
            assert_eq!(found, wanted, "{pov:?} {blend}");
        }
    }
}

#[test]
fn a_flipped_bit_in_a_shard_with_nulls_is_an_error_or_other_numbers_and_never_another_count() {
    let dir = tempfile::tempdir().unwrap();
    // Panics of the decoder are told as errors.
    manaka_core::guard::quiet_panics();
    let path = shards(dir.path(), "a", Conventions::VISITS, &CASES).join("t-00000.parquet");
    let bytes = std::fs::read(&path).unwrap();
    for at in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        std::fs::write(&path, &flipped).unwrap();
        let Ok(shard) = ShardReader::open(&path) else { continue };
        let mut rows = Rows::default();
        for group in 0..shard.row_groups() {
            if shard.read_row_group(group, &mut rows).is_ok() {
                assert_eq!(rows.value_z.len(), rows.len(), "byte {at}");
            }
        }
    }
}
