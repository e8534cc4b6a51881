//! An outcome that is not known is no draw and no fault: `stat`, `check` and `view` of streams of version 3 and of their shards.

use manaka_core::conventions::{NO_CP, NO_OUTCOME};
use manaka_core::stream::{Candidate, Compression, Record, StreamWriter};
use manaka_core::{Conventions, Move16, Packed};
use manaka_inspect::{CheckOptions, Classes, StatOptions, check, stat};
use manaka_pack::PackOptions;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

const BLACK: &str = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1";
const WHITE: &str = "lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2";

fn record(ply: u16, sfen: &str, mv: &str, value_z: f32, value_q: f32) -> Record {
    let candidates = vec![Candidate { mv: Move16::from_usi(mv).unwrap(), visits: 9, cp: NO_CP }];
    Record { ply, value_z, value_q, packed: Packed::from_sfen(sfen).unwrap().0, candidates }
}

/// Four games of two plies; in the second the outcome is known at one ply only, in the third nowhere.
fn games() -> Vec<Record> {
    let game = |black: f32, white: f32| {
        [record(1, BLACK, "7g7f", black, 0.05), record(2, WHITE, "3c3d", white, -0.05)]
    };
    [game(1.0, -1.0), game(1.0, NO_OUTCOME), game(NO_OUTCOME, NO_OUTCOME), game(-1.0, 1.0)].concat()
}

fn stream(dir: &Path, records: &[Record]) -> PathBuf {
    let path = dir.join("a.mpk");
    let mut writer = StreamWriter::create(&path, Conventions::VISITS, Compression::None).unwrap();
    writer.allow_absent_outcomes();
    records.iter().for_each(|record| writer.write(record).unwrap());
    writer.finish().unwrap();
    path
}

fn shards(dir: &Path, stream: PathBuf) -> PathBuf {
    let out = dir.join("shards");
    std::fs::create_dir(&out).unwrap();
    let options = PackOptions::new("t", NonZeroUsize::MIN);
    manaka_pack::pack(vec![stream], &out, &options, &()).unwrap().shards[0].path.clone()
}

#[test]
fn stat_counts_an_unknown_outcome_apart_and_not_as_a_draw() {
    let dir = tempfile::tempdir().unwrap();
    let path = stream(dir.path(), &games());
    let measured = stat(std::slice::from_ref(&path), &StatOptions::new(NonZeroUsize::MIN), &()).unwrap();
    let classes = |lost, won, unknown| Classes { lost, won, unknown, ..Classes::default() };
    let outcomes = measured.outcomes.as_ref().unwrap();
    assert_eq!((outcomes.mover, outcomes.black), (classes(2, 3, 3), classes(2, 3, 3)));
    assert_eq!((outcomes.black_to_move, outcomes.white_to_move), (classes(1, 2, 1), classes(1, 1, 2)));
    // By the last record of each game.
    assert_eq!(measured.games.as_ref().unwrap().outcomes, classes(1, 1, 2));
    let plies: Vec<Classes> = measured.plies.iter().map(|bin| bin.black).collect();
    assert_eq!(plies, [classes(1, 2, 1), classes(1, 1, 2)]);
    assert_eq!(measured.values.calibration.iter().map(|bin| bin.records).sum::<u64>(), 5);
    let text = measured.to_string();
    assert!(text.contains("outcome not known") && text.contains("37.5"), "{text}");

    // Position by position: +1, +1, -1 and one unknown; -1, +1 and two unknown.
    let shard = shards(dir.path(), path);
    let rows = stat(&[shard], &StatOptions::new(NonZeroUsize::MIN), &()).unwrap();
    let mover = rows.outcomes.unwrap().mover;
    assert_eq!((mover.mixed, mover.drawn, mover.unknown), (1, 1, 0));
}

#[test]
fn stat_counts_rows_whose_records_state_no_outcome() {
    let dir = tempfile::tempdir().unwrap();
    let records = [
        record(1, BLACK, "7g7f", NO_OUTCOME, 0.0),
        record(1, BLACK, "2g2f", NO_OUTCOME, 0.0),
        record(2, WHITE, "3c3d", 1.0, 0.0),
    ];
    let path = stream(dir.path(), &records);
    let shard = shards(dir.path(), path);
    let rows = stat(&[shard], &StatOptions::new(NonZeroUsize::MIN), &()).unwrap();
    let mover = rows.outcomes.unwrap().mover;
    assert_eq!(mover, Classes { won: 1, unknown: 1, ..Classes::default() });
}

#[test]
fn check_has_nothing_against_outcomes_that_are_not_known() {
    let dir = tempfile::tempdir().unwrap();
    // Of one position: three outcomes of four records, so that the mean is no multiple of a quarter; none of two.
    let records = [
        record(1, BLACK, "7g7f", 1.0, 0.0),
        record(1, BLACK, "7g7f", NO_OUTCOME, 0.0),
        record(1, BLACK, "7g7f", -1.0, 0.0),
        record(1, BLACK, "7g7f", 1.0, 0.0),
        record(2, WHITE, "3c3d", NO_OUTCOME, 0.0),
        record(2, WHITE, "3c3d", NO_OUTCOME, 0.0),
    ];
    let path = stream(dir.path(), &records);
    let shard = shards(dir.path(), path.clone());
    for path in [path, shard] {
        let report = check(&[path], &CheckOptions::new(NonZeroUsize::MIN), &()).unwrap();
        let said = serde_json::to_string(&report).unwrap();
        assert!(!said.contains("value_z"), "{said}");
    }
}
