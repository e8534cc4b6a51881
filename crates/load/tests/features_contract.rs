//! The examples of features.md and loading.md, by hand; and shards as `pack` writes them.

mod naive;
mod shards;

use manaka_core::stream::{Candidate, Compression, PartsOptions, PartsWriter, Record};
use manaka_core::{Conventions, Move16, Packed};
use manaka_load::features::{
    BITS1, BITS2, Board, HALFKP_WIDTH, KP_WIDTH, PAD, PLANES1, PLANES2, Planes, View, halfkp, kp, label,
};
use manaka_load::{Batch, FeatureSet, Loader, Mirror, Options, PolicyTarget, RawColumns, ShardSet};
use manaka_pack::shard::{Projection, Rows};
use manaka_pack::{PackOptions, pack};
use std::num::{NonZeroU64, NonZeroUsize};

fn packed(sfen: &str) -> Packed {
    Packed::from_sfen(sfen).unwrap().0
}

type Lists = ([i32; HALFKP_WIDTH], [i32; HALFKP_WIDTH], [i32; KP_WIDTH], [i32; KP_WIDTH]);

fn lists(sfen: &str, mirrored: bool) -> Lists {
    let packed = packed(sfen);
    let board = Board::new(packed.as_bytes()).unwrap();
    let view = View::of(board.mover()).mirrored(mirrored);
    let mut lists = ([0; HALFKP_WIDTH], [0; HALFKP_WIDTH], [0; KP_WIDTH], [0; KP_WIDTH]);
    halfkp(&board, view, &mut lists.0, &mut lists.1);
    kp(&board, view, &mut lists.2, &mut lists.3);
    lists
}

/// The position of the page: kings at home, a pawn on 7g, a lance in Black's hand.
const EXAMPLE: &str = "4k4/9/9/9/9/9/2P6/9/4K4 b L 1";

#[test]
fn the_worked_example_of_halfkp_and_kp() {
    let (own, other, kp_own, kp_other) = lists(EXAMPLE, false);
    // King on 5i, 44: 44 · 1548 = 68112. The pawn 90 + 60, the lance 39.
    assert_eq!(own[..3], [68_262, 68_151, PAD]);
    // White's king turned is 80 − 36 = 44 too. The pawn 171 + 20, the lance 44.
    assert_eq!(other[..3], [68_303, 68_156, PAD]);
    assert_eq!(kp_own[..5], [150, 39, 1548 + 44, 1629 + 36, PAD]);
    assert_eq!(kp_other[..5], [191, 44, 1548 + 44, 1629 + 36, PAD]);
    assert!(own[2..].iter().chain(&kp_own[4..]).all(|&index| index == PAD));
    // White to move: the lists change places.
    let white = lists(&EXAMPLE.replace(" b ", " w "), false);
    assert_eq!(white, (other, own, kp_other, kp_own));
    // Mirrored, the pawn is on 3g: 24.
    let mirrored = lists(EXAMPLE, true);
    assert_eq!(mirrored.0[..3], [68_112 + 90 + 24, 68_151, PAD]);
    assert_eq!(mirrored.1[..3], [68_112 + 171 + 56, 68_156, PAD]);
}

#[test]
fn a_whole_set_has_38_and_40_indices() {
    let (own, other, kp_own, kp_other) =
        lists("lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1", false);
    for list in [&own[..], &other, &kp_own, &kp_other] {
        assert!(!list.contains(&PAD));
        let mut sorted = list.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), list.len());
    }
}

#[test]
fn the_worked_example_of_planes() {
    let packed = packed(EXAMPLE);
    let board = Board::new(packed.as_bytes()).unwrap();
    let mut planes = Planes::EMPTY;
    planes.set(&board, View::of(board.mover()));
    let (mut first, mut second) = ([0u8; PLANES1 * 81], [0u8; PLANES2 * 81]);
    planes.unfold(&mut first, &mut second);
    let set = |plane: usize| -> Vec<usize> { (0..81).filter(|at| first[plane * 81 + at] == 1).collect() };
    assert_eq!((set(0), set(14)), (vec![60], vec![59]));
    assert_eq!((set(7), set(21)), (vec![44], vec![34, 35, 43, 52, 53]));
    assert_eq!(set(28), [34, 35, 43, 52, 53, 59]);
    assert_eq!((set(31 + 7), set(31 + 21)), (vec![36], vec![27, 28, 37, 45, 46]));
    let whole: Vec<usize> = (0..57).filter(|plane| second[plane * 81] == 1).collect();
    assert_eq!(whole, [8]);
    let (mut bits, mut word) = ([0; BITS1], [0; BITS2]);
    planes.bits(&mut bits, &mut word);
    // Plane 0, square 60: bit 60, byte 7. Plane 7, square 44: bit 611, byte 76.
    assert_eq!((bits[7], bits[76]), (0x10, 0x08));
    assert_eq!(word, [0, 1, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn the_worked_examples_of_labels() {
    let of = |usi: &str, white: bool, mirrored: bool| {
        let mover = if white { manaka_core::Color::White } else { manaka_core::Color::Black };
        label(Move16::from_usi(usi).unwrap(), View::of(mover).mirrored(mirrored))
    };
    // As cshogi has them.
    for (usi, white, expected) in [
        ("7g7f", false, 59),
        ("2h7h", false, 304),
        ("2h1h", false, 331),
        ("3i4h", false, 115),
        ("5e4c", false, 758),
        ("5e4c+", false, 1568),
        ("5e6c+", false, 1505),
        ("P*5d", false, 1659),
        ("G*5d", false, 2145),
        ("B*5d", false, 1983),
        ("R*5d", false, 2064),
        ("5e4g", true, 695),
        ("5e6g+", true, 1568),
        ("P*5d", true, 1661),
    ] {
        assert_eq!(of(usi, white, false), Some(expected), "{usi}");
        assert!(expected < 2187);
    }
    // Mirrored, 3i4h is 7i6h: up and to the right, to 52.
    assert_eq!(of("3i4h", false, true), Some(2 * 81 + 52));
    assert_eq!(of("3i4h", false, true), of("7i6h", false, false));
    // A knight goes forward only, and nothing goes three up and one aside.
    assert_eq!((of("5e4g", false, false), of("5e4b", false, false)), (None, None));
    assert_eq!(label(Move16::from_bits(0x8000), View::of(manaka_core::Color::Black)), None);
}

#[test]
fn shards_as_pack_writes_them_are_loaded_row_by_row() {
    let dir = tempfile::tempdir().unwrap();
    let conventions = Conventions::TEACHER;
    let parts = PartsOptions {
        conventions,
        records_per_part: PartsOptions::DEFAULT_RECORDS_PER_PART,
        compression: Compression::None,
    };
    std::fs::create_dir(dir.path().join("streams")).unwrap();
    let mut writer = PartsWriter::create(&dir.path().join("streams"), parts).unwrap();
    for row in shards::rows(20_000, 11) {
        let mut moves: Vec<u16> = row.candidates.iter().map(|candidate| candidate.0).collect();
        moves.sort_unstable();
        moves.dedup();
        let candidates = moves.iter().zip(0i16..);
        let candidates =
            candidates.map(|(&mv, n)| Candidate { mv: Move16::from_bits(mv), visits: 0, cp: 50 * n });
        let record = Record {
            ply: row.ply,
            value_z: 0.0,
            value_q: row.value_q,
            packed: Packed::from_bytes(row.packed),
            candidates: candidates.collect(),
        };
        writer.write(&record).unwrap();
    }
    writer.finish().unwrap();
    let mut options = PackOptions::new("t", NonZeroUsize::MIN);
    options.rows_per_shard = NonZeroU64::new(12_000).unwrap();
    std::fs::create_dir(dir.path().join("out")).unwrap();
    pack(vec![dir.path().join("streams/part-00000.mpk")], &dir.path().join("out"), &options, &()).unwrap();

    let open = || ShardSet::open(&[dir.path().join("out")]).unwrap();
    let set = open();
    assert_eq!((set.rows(), set.shards().len(), set.shards()[0].row_groups()), (20_000, 2, 2));
    let mut wanted = Vec::new();
    let mut rows = Rows::default();
    for shard in set.shards() {
        for group in 0..shard.row_groups() {
            shard.read_row_group(group, &mut rows).unwrap();
            // A part of the columns is the same columns.
            let mut some = Rows::default();
            let projection = Projection { packed: true, weight: true, ..Projection::NONE };
            shard.read_columns(group, projection, &mut some).unwrap();
            assert_eq!((&some.packed, &some.weight, some.len()), (&rows.packed, &rows.weight, rows.len()));
            assert!(some.mv.is_empty() && some.value_q.is_empty() && some.ply.is_empty());
            for row in 0..rows.len() {
                let part = rows.candidates(row);
                let row = shards::Row {
                    packed: rows.packed[row],
                    ply: rows.ply[row],
                    value_z: 0.0,
                    value_q: rows.value_q[row],
                    weight: rows.weight[row],
                    candidates: part.map(|at| (rows.mv[at], rows.prob[at], None)).collect(),
                };
                let out = naive::expected(&row, false, FeatureSet::PlanesBits, PolicyTarget::Sparse);
                wanted.push(naive::Out { value: row.value_q, weight: row.weight as f32, ..out });
            }
        }
    }
    for (batch_size, threads) in [(1024, 1), (999, 3)] {
        let options = Options {
            batch_size: NonZeroUsize::new(batch_size).unwrap(),
            threads: NonZeroUsize::new(threads).unwrap(),
            features: FeatureSet::PlanesBits,
            policy: PolicyTarget::Sparse,
            mirror: Mirror::Never,
            columns: RawColumns { packed: true, ply: false },
            ..Options::default()
        };
        let mut loader = Loader::new(vec![open().into()], options).unwrap();
        let (mut batch, mut at) = (Batch::default(), 0);
        while loader.next_into(&mut batch).unwrap() {
            for out in naive::outs(&batch) {
                assert_eq!(out, wanted[at]);
                at += 1;
            }
        }
        assert_eq!(at, 20_000);
    }
}
