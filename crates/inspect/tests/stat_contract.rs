//! What `stat` promises: figures that were worked out by hand, the same whatever the threads and the cut into parts, and
//! alarms that go off for what they are named after and for nothing else.

mod fixtures;

use fixtures::games::games;
use fixtures::{Shard, file, score_rows, stream_bytes, visits_rows, written};
use manaka_core::conventions::NO_CP;
use manaka_core::sfen::STARTPOS;
use manaka_core::stream::{Candidate, Record};
use manaka_core::{Color, Conventions, Move16, Packed, Pov};
use manaka_corpus::psv::{Layout, MoveLayout, Record as Raw, Writer};
use manaka_inspect::{ALARMS, Classes, Error, Stat, StatOptions, ValueCount, stat};
use manaka_shogi::Board;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

fn on(threads: usize) -> StatOptions {
    StatOptions::new(NonZeroUsize::new(threads).unwrap())
}

fn measured(paths: &[PathBuf]) -> Stat {
    stat(paths, &on(2), &()).unwrap()
}

static GAMES: LazyLock<Vec<Vec<Record>>> = LazyLock::new(|| games(600, 7));

fn records() -> Vec<Record> {
    GAMES.concat()
}

fn ids(stat: &Stat) -> Vec<&'static str> {
    let mut ids: Vec<_> = stat.alarms.iter().map(|alarm| alarm.id).collect();
    ids.dedup();
    ids
}

/// The alarms of a stream of parts.
fn alarms_of(conventions: Conventions, parts: &[Vec<Record>]) -> Vec<&'static str> {
    let dir = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = (parts.iter().enumerate())
        .map(|(at, records)| file(dir.path(), &format!("{at:03}.mpk"), &stream_bytes(conventions, records)))
        .collect();
    ids(&measured(&paths))
}

fn alarms(conventions: Conventions, change: impl Fn(usize, &mut Record)) -> Vec<&'static str> {
    let mut records = records();
    records.iter_mut().enumerate().for_each(|(at, record)| change(at, record));
    alarms_of(conventions, &[records])
}

const TEACHER: Conventions = Conventions::TEACHER;

#[test]
fn sound_games_set_off_no_alarm_however_they_are_cut() {
    let nothing: [&str; 0] = [];
    assert_eq!(alarms(TEACHER, |_, _| {}), nothing);
    let records = records();
    let parts: Vec<Vec<Record>> = records.chunks(3001).map(<[Record]>::to_vec).collect();
    assert!(parts.len() > 5);
    assert_eq!(alarms_of(TEACHER, &parts), nothing);
}

#[test]
fn outcomes_of_the_wrong_side_are_told() {
    assert_eq!(alarms(TEACHER, |_, record| record.value_z = -record.value_z), ["outcome_sign"]);
    // Outcomes from Black beside values from the mover.
    let mixed = alarms(TEACHER, |_, record| {
        if record.packed.side() == Color::White {
            record.value_z = -record.value_z;
        }
    });
    assert_eq!(mixed, ["outcome_sign", "wrong_pov"]);
}

/// Turns a record from the mover's view to Black's.
fn from_black(record: &mut Record) {
    if record.packed.side() == Color::White {
        (record.value_z, record.value_q) = (-record.value_z, -record.value_q);
        record.candidates.iter_mut().for_each(|candidate| candidate.cp = -candidate.cp);
    }
}

#[test]
fn a_view_that_is_not_the_stated_one_is_told_though_scores_and_outcomes_agree() {
    let black = Conventions { pov: Pov::Black, ..TEACHER };
    assert_eq!(alarms(TEACHER, |_, record| from_black(record)), ["wrong_pov"]);
    assert_eq!(alarms(black, |_, _| {}), ["wrong_pov"]);
    assert!(alarms(black, |_, record| from_black(record)).is_empty());
}

#[test]
fn another_coefficient_and_another_scale_are_told_and_printed_beside_the_stated_one() {
    let other = Conventions { eval_coef: 1200.0, ..TEACHER };
    let squashed = |_, record: &mut Record| record.value_q = other.value_q(record.candidates[0].cp);
    assert_eq!(alarms(TEACHER, squashed), ["eval_coef"]);
    assert!(alarms(other, squashed).is_empty());
    let scaled = |_: usize, record: &mut Record| {
        record.candidates.iter_mut().for_each(|candidate| candidate.cp = candidate.cp * 9 / 5);
        record.value_q = TEACHER.value_q(record.candidates[0].cp);
    };
    assert_eq!(alarms(TEACHER, scaled), ["score_scale"]);

    let dir = tempfile::tempdir().unwrap();
    let mut records = records();
    let plain = measured(&[file(dir.path(), "a.mpk", &stream_bytes(TEACHER, &records))]).values.scale;
    assert!((plain.fitted.unwrap() / 1512.173 - 1.0).abs() < 0.15, "{plain:?}");
    assert!((plain.implied.unwrap() - 1512.173).abs() < 0.01, "{plain:?}");
    records.iter_mut().for_each(|record| squashed(0, record));
    let other = measured(&[file(dir.path(), "b.mpk", &stream_bytes(TEACHER, &records))]).values.scale;
    assert!((other.implied.unwrap() / 1200.0 - 1.0).abs() < 0.02, "{other:?}");
}

/// Gives the first records these scores, one each.
fn with_scores(conventions: Conventions, scores: impl IntoIterator<Item = i16>) -> Vec<&'static str> {
    let mut records = records();
    for (record, score) in records.iter_mut().filter(|record| record.candidates.len() > 1).zip(scores) {
        record.candidates[1].cp = score;
    }
    alarms_of(conventions, &[records])
}

#[test]
fn mates_beyond_the_slack_and_scores_within_it_are_told() {
    let slack = |mate_scale, mate_slack| Conventions { mate_scale, mate_slack, ..TEACHER };
    let nothing: [&str; 0] = [];
    let mates = || (29_700..30_000).step_by(10);
    assert_eq!(with_scores(slack(30_000, 0), mates()), nothing);
    assert_eq!(with_scores(slack(30_000, 100), mates()), ["mates_beyond_slack"]);
    assert_eq!(with_scores(slack(30_000, 300), mates()), nothing);
    assert_eq!(with_scores(slack(30_000, 299), mates()), ["mates_beyond_slack"]);
    // Ordinary scores to 31753, mates from 31971: a published corpus, under the slack it states and under none.
    let corpus = || (31_971..32_000).chain([31_753, 31_700, 30_000]);
    assert_eq!(with_scores(slack(32_000, 100), corpus()), nothing);
    assert_eq!(with_scores(slack(32_000, 0), corpus()), ["scores_within_slack"]);
    assert_eq!(with_scores(slack(30_000, 0), [30_000]), nothing);
    assert_eq!(with_scores(slack(30_000, 0), [30_001]), ["beyond_mate_scale"]);
}

#[test]
fn a_game_that_is_played_again_and_again_is_told() {
    let repeated = |times: usize| {
        let mut games = GAMES.clone();
        (0..times).for_each(|at| games.insert(at * 9, GAMES[3].clone()));
        alarms_of(TEACHER, &[games.concat()])
    };
    assert!(repeated(5).is_empty());
    assert_eq!(repeated(8), ["repeated_game"]);
}

#[test]
fn a_part_of_another_producer_is_told() {
    let cut = |change: &dyn Fn(&mut Record)| {
        let mut parts: Vec<Vec<Record>> = GAMES.chunks(150).map(<[Vec<Record>]>::concat).collect();
        parts[2].iter_mut().for_each(change);
        alarms_of(TEACHER, &parts)
    };
    assert!(cut(&|_| {}).is_empty());
    assert_eq!(cut(&|record| record.ply += 9), ["part_drift"]);
    assert_eq!(cut(&|record| record.candidates.truncate(3)), ["part_drift"]);
    assert_eq!(
        cut(&|record| {
            record.candidates.iter_mut().for_each(|candidate| candidate.cp /= 2);
            record.value_q = TEACHER.value_q(record.candidates[0].cp);
        }),
        ["part_drift"]
    );
}

#[test]
fn single_candidates_empty_parts_and_turned_boards_are_told() {
    let single = |percent: usize| {
        alarms(TEACHER, move |at, record| {
            if at % 100 < percent {
                record.candidates.truncate(1);
            }
        })
    };
    assert!(single(15).is_empty());
    assert_eq!(single(25), ["single_candidate"]);
    assert_eq!(alarms_of(TEACHER, &[records(), Vec::new()]), ["zero_rows"]);

    let upside_down = |_: usize, record: &mut Record| record.packed.as_bytes_mut()[..81].reverse();
    assert!(alarms(TEACHER, upside_down).contains(&"king_ranks"));
    let dead = |at: usize, record: &mut Record| {
        if at == 77 {
            // A Black pawn on 5a's neighbour 4a: square (9 - 4)·9.
            record.packed.as_bytes_mut()[45] = 7;
        }
    };
    assert_eq!(alarms(TEACHER, dead), ["dead_pawns"]);
    // Only positions with Black to move: plies skip, and nothing else is wrong.
    let mut records = records();
    records.retain(|record| record.packed.side() == Color::Black);
    assert_eq!(alarms_of(TEACHER, &[records]), ["one_mover"]);
}

fn raw_file(dir: &Path, damage: bool) -> PathBuf {
    let mut writer = Writer::new(Vec::new(), Layout::multipv(MoveLayout::YaneuraOu, 4));
    for record in records() {
        let candidates: Vec<(Move16, i16)> = record.candidates.iter().map(|c| (c.mv, c.cp)).collect();
        let raw = Raw {
            packed: record.packed,
            score: candidates[0].1,
            mv: Some(candidates[0].0),
            ply: record.ply,
            result: record.value_z as i8,
            pad: 0,
            candidates,
        };
        writer.write_record(&raw).unwrap();
    }
    let mut bytes = writer.into_inner();
    if damage {
        // The result of record 100.
        bytes[100 * 56 + 38] = 9;
        bytes.truncate(bytes.len() - 5);
    }
    file(dir, if damage { "damaged.psv" } else { "raw.psv" }, &bytes)
}

#[test]
fn raw_records_give_the_figures_of_the_stream_made_of_them_and_refused_ones_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let raw = measured(&[raw_file(dir.path(), false)]);
    let stream = measured(&[file(dir.path(), "a.mpk", &stream_bytes(TEACHER, &records()))]);
    assert_eq!((raw.kind, raw.ok, raw.stated.is_none()), ("psv", true, true));
    assert_eq!(raw.games, stream.games);
    assert_eq!(raw.plies, stream.plies);
    assert_eq!(raw.outcomes, stream.outcomes);
    assert_eq!(raw.candidates, stream.candidates);
    assert_eq!(raw.values.calibration, stream.values.calibration);
    assert_eq!((raw.board, raw.duplicates), (stream.board, stream.duplicates));
    let damaged = measured(&[raw_file(dir.path(), true)]);
    assert_eq!(ids(&damaged), ["refused_rows"]);
    let refused: Vec<(&str, u64)> = damaged.refused.iter().map(|(id, &n)| (id.as_str(), n)).collect();
    assert_eq!(refused, [("bad_result", 1), ("truncated", 1)]);
    assert_eq!(damaged.totals.records, records().len() as u64 - 2);
}

#[test]
fn every_alarm_was_set_off_here() {
    let here = include_str!("stat_contract.rs");
    for alarm in ALARMS {
        assert!(here.contains(&format!("\"{}\"", alarm.id)), "{}", alarm.id);
    }
}

#[test]
fn the_examples_set_off_no_alarm() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for name in ["corpus.parquet", "fairy-corpus.parquet"] {
        let stat = measured(&[examples.join(name)]);
        assert!(stat.ok, "{name}: {:?}", stat.alarms);
        assert!(stat.games.unwrap().games >= 200);
    }
}

fn moves(n: usize) -> Vec<Move16> {
    let (mut legal, board) = (Vec::new(), Board::start());
    board.legal_moves(&mut legal);
    legal.truncate(n);
    legal
}

/// Seven records of three games, two files; every figure below follows from this table.
fn tiny(dir: &Path) -> Vec<PathBuf> {
    let start = Packed::from_sfen(STARTPOS).unwrap().0;
    let (turned, _) = Packed::from_sfen(&STARTPOS.replace(" b ", " w ")).unwrap();
    let record = |ply, packed: Packed, value_z, root: i16, scores: &[i16]| Record {
        ply,
        value_z,
        value_q: TEACHER.value_q(root),
        packed,
        candidates: (moves(scores.len()).into_iter().zip(scores))
            .map(|(mv, &cp)| Candidate { mv, visits: 0, cp })
            .collect(),
    };
    let one = [
        record(1, start, 1.0, 100, &[100, 50, -7]),
        record(2, turned, -1.0, -100, &[-100]),
        record(5, start, 1.0, 300, &[200, 0, 0, 0, 0, 0]),
        record(1, start, -0.0, 0, &[0, -1]),
    ];
    let two = [
        record(2, turned, 0.0, 0, &[0]),
        record(2, turned, 1.0, 29_990, &[29_990, -29_999]),
        record(4, turned, 1.0, 29_992, &[29_992, 12]),
    ];
    vec![file(dir, "1.mpk", &stream_bytes(TEACHER, &one)), file(dir, "2.mpk", &stream_bytes(TEACHER, &two))]
}

#[test]
fn a_tiny_stream_has_the_figures_that_were_worked_out_by_hand() {
    let dir = tempfile::tempdir().unwrap();
    let stat = measured(&tiny(dir.path()));
    let games = stat.games.as_ref().unwrap();
    // 1 2 5 | 1 ‖ 2 | 2 4: the file ends inside the second game.
    assert_eq!((games.games, games.joins, games.joins_inside), (3, 1, 1));
    let pair = |value, count| ValueCount { value, count };
    assert_eq!(games.opens, [pair(1, 2), pair(2, 1)]);
    assert_eq!(games.lengths, [pair(2, 2), pair(3, 1)]);
    assert_eq!((games.last_ply.least, games.last_ply.greatest, games.last_ply.mean), (2, 5, 11.0 / 3.0));
    assert_eq!((games.followers, games.gaps, games.widest_gap), (4, 2, 3));
    assert_eq!(games.outcomes, Classes { lost: 1, drawn: 1, won: 1, ..Classes::default() });
    assert_eq!(games.compared, 0, "games of fewer than 10 records are not compared");

    let at: Vec<(u64, u64, Classes)> =
        stat.plies.iter().map(|bin| (bin.ply, bin.records, bin.black)).collect();
    let classes = |lost, drawn, won| Classes { lost, drawn, won, ..Classes::default() };
    assert_eq!(
        at,
        [
            (1, 2, classes(0, 1, 1)),
            (2, 3, classes(1, 1, 1)),
            (4, 1, classes(1, 0, 0)),
            (5, 1, classes(0, 0, 1))
        ]
    );
    let outcomes = stat.outcomes.as_ref().unwrap();
    assert_eq!((outcomes.mover, outcomes.black), (classes(1, 2, 4), classes(2, 2, 3)));
    assert_eq!((outcomes.black_to_move, outcomes.white_to_move), (classes(0, 1, 2), classes(1, 1, 2)));
    assert_eq!(outcomes.negative_zeros, 1);

    let candidates = stat.candidates.as_ref().unwrap();
    assert_eq!((stat.totals.candidates, candidates.single, candidates.wider_than_5), (17, 2, 1));
    assert_eq!(candidates.counts, [pair(1, 2), pair(2, 3), pair(3, 1), pair(6, 1)]);
    let scores = stat.scores.as_ref().unwrap();
    assert_eq!((scores.count, scores.least, scores.greatest, scores.mates), (17, -29_999, 29_992, 3));
    // All but the third record, whose root was 300 and whose first candidate is 200.
    assert_eq!((scores.slot_0_compared, scores.slot_0_root), (7, 6));
    assert_eq!(scores.bars.iter().map(|bar| bar.count).sum::<u64>(), 17);
    let hundred = scores.bars.iter().find(|bar| bar.from == 0).unwrap();
    assert_eq!((hundred.to, hundred.count), (100, 9));

    // tanh(100 / 1512.173) is 0.066: one value in [0.0, 0.1) that won, two of 0 that drew; one in [-0.1, 0.0) lost.
    let bin = |from: f64| stat.values.calibration.iter().find(|bin| (bin.from - from).abs() < 1e-9).unwrap();
    assert_eq!((bin(0.0).records, bin(0.0).outcome), (3, Some(1.0 / 3.0)));
    assert_eq!((bin(-0.1).records, bin(-0.1).outcome), (1, Some(-1.0)));
    assert_eq!((bin(0.9).records, bin(0.9).value), (2, Some(1.0)));

    assert_eq!(
        (stat.board.black_to_move, stat.board.black_king_home, stat.board.white_king_home),
        (3, 1.0, 1.0)
    );
    assert_eq!(stat.board.white_pawn_ranks, [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let duplicates = &stat.duplicates;
    assert_eq!(
        (duplicates.exact, duplicates.records, duplicates.positions, duplicates.most),
        (true, 7, 2, 4)
    );
    assert_eq!((duplicates.share, duplicates.error), (1.0 - 2.0 / 7.0, 0.0));
}

#[test]
fn the_text_is_a_table_of_these_figures() {
    let dir = tempfile::tempdir().unwrap();
    let text = measured(&tiny(dir.path())).to_string();
    let first = text.lines().next().unwrap();
    assert!(first.starts_with("2 stream files: 7 records, 940 bytes, 134.29 each"), "{first}");
    for line in [
        "pov side_to_move, policy_source softmax_cp, mate_scale 30000, mate_slack 320, eval_coef 1512.173, fv_scale -",
        "  games                                     3   1 of 1 joins between files lie inside a game",
        "  won by Black                         33.33%   drawn 33.33%, won by White 33.33%",
        "  open at ply                               1   2 games, 66.67%",
        "  gaps between plies                        2   50.00% of the records that follow one; the widest is 3",
        "  0..20                     7  100.00%      42.86%    28.57%    28.57%",
        "  the side to move                          7     57.14%     28.57%     14.29%",
        "  draws stored as -0.0                      1",
        "  cut by a width of 5                  14.29%",
        "  extremes                     -29999 … 29992",
        "  slot 0 has the root score            85.71%   of 7 records",
        "  a fold takes away                    71.43%   exact",
        "ok: no alarm",
    ] {
        assert!(text.lines().any(|other| other == line), "no line\n{line}\nin\n{text}");
    }
    assert!(text.lines().all(|line| line.trim_end() == line), "blanks at the end of a line");
}

#[test]
fn the_report_does_not_depend_on_threads_nor_on_compression() {
    let dir = tempfile::tempdir().unwrap();
    let records = records();
    let write = |suffix: &str| -> Vec<PathBuf> {
        (records.chunks(7000).enumerate())
            .map(|(at, part)| written(dir.path(), &format!("{at}{suffix}"), TEACHER, part))
            .collect()
    };
    let (raw, zstd) = (write(".mpk"), write(".mpk.zst"));
    let one = stat(&raw, &on(1), &()).unwrap();
    for threads in [2, 3, 8] {
        assert_eq!(stat(&raw, &on(threads), &()).unwrap(), one, "{threads} threads");
    }
    let sizeless = |mut stat: Stat| {
        stat.parts.clear();
        (stat.totals.bytes, stat.totals.bytes_per_record) = (0, None);
        stat
    };
    let packed = stat(&zstd, &on(1), &()).unwrap();
    assert_eq!(stat(&zstd, &on(5), &()).unwrap(), packed);
    assert_eq!(sizeless(packed), sizeless(one.clone()));
    // One file of all records is the same but for the joins.
    let whole = written(dir.path(), "whole.mpk", TEACHER, &records);
    let mut whole = stat(&[whole], &on(4), &()).unwrap();
    let joins = one.games.as_ref().map_or((0, 0), |games| (games.joins, games.joins_inside));
    assert_eq!(joins, (records.len() as u64 / 7000, joins.1));
    whole.totals.files = one.totals.files;
    if let Some(games) = &mut whole.games {
        (games.joins, games.joins_inside) = joins;
    }
    assert_eq!(sizeless(whole), sizeless(one));
}

#[test]
fn shards_have_weights_columns_and_a_shuffle_and_no_games() {
    let dir = tempfile::tempdir().unwrap();
    let scores = Shard { group: 500, ..Shard::scores(score_rows(3000, 5)) }.write(dir.path(), "s.parquet");
    let stat = measured(std::slice::from_ref(&scores));
    assert_eq!((stat.kind, stat.totals.records, stat.games.is_none()), ("shard", 3000, true));
    assert!(stat.outcomes.is_none() && stat.values.calibration.is_empty());
    assert_eq!(stat.weights.as_ref().map(|weights| (weights.count, weights.greatest)), Some((3000, 1)));
    assert_eq!(stat.columns.len(), 7);
    let checked = manaka_inspect::check(
        std::slice::from_ref(&scores),
        &manaka_inspect::CheckOptions::new(NonZeroUsize::MIN),
        &(),
    );
    assert_eq!(stat.shuffle, checked.unwrap().shuffle);

    let visits = Shard::visits(visits_rows(2000, 6)).write(dir.path(), "v.parquet");
    let stat = measured(std::slice::from_ref(&visits));
    let outcomes = stat.outcomes.unwrap();
    assert!(outcomes.mover.mixed > 0 && stat.scores.is_none());
    let error = manaka_inspect::stat(&[scores, visits], &on(1), &()).unwrap_err();
    assert!(matches!(error, Error::Mixed { .. }), "{error}");
}

#[test]
fn visits_are_counted_by_record_and_candidate() {
    let dir = tempfile::tempdir().unwrap();
    let start = Packed::from_sfen(STARTPOS).unwrap().0;
    let record = |visits: &[u32]| Record {
        ply: 1,
        value_z: 1.0,
        value_q: 0.5,
        packed: start,
        candidates: (moves(visits.len()).into_iter().zip(visits))
            .map(|(mv, &visits)| Candidate { mv, visits, cp: NO_CP })
            .collect(),
    };
    let records = [record(&[700, 99, 1]), record(&[1, 1, 800])];
    let path = file(dir.path(), "v.mpk", &stream_bytes(Conventions::VISITS, &records));
    let visits = measured(&[path]).visits.unwrap();
    assert_eq!((visits.once, visits.per_candidate.count), (3, 6));
    assert_eq!(
        (visits.per_record.least, visits.per_record.greatest, visits.per_record.mean),
        (800, 802, 801.0)
    );
}

#[test]
fn a_fault_is_the_one_that_every_reader_names() {
    let dir = tempfile::tempdir().unwrap();
    let mut records = records();
    records.truncate(5000);
    records[4321].value_q = 2.0;
    let bytes = stream_bytes(TEACHER, &records);
    let path = file(dir.path(), "a.mpk", &bytes);
    let error = stat(std::slice::from_ref(&path), &on(3), &()).unwrap_err();
    let Error::Stream(error) = error else { panic!("{error}") };
    assert_eq!((error.kind.id(), error.record), ("value_q", Some(4321)));
    let cut = file(dir.path(), "b.mpk", &bytes[..bytes.len() - 1]);
    assert!(matches!(stat(&[cut], &on(1), &()), Err(Error::Stream(_))));
    let empty = file(dir.path(), "c.mpk", b"");
    assert!(matches!(stat(&[empty], &on(1), &()), Err(Error::Stream(_))));
}

#[test]
fn the_page_needs_no_other_file_and_is_well_formed() {
    let dir = tempfile::tempdir().unwrap();
    let path = file(dir.path(), "<a & b>.mpk", &stream_bytes(TEACHER, &records()));
    let page = measured(&[path]).html();
    for outside in ["http:", "https:", "src=", "url(", "<script", "@import", "<link"] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(page.contains("&lt;a &amp; b&gt;.mpk") && page.contains("prefers-color-scheme: dark"));
    assert_eq!(page.matches("<svg").count(), 8);
    for bad in ["NaN", "inf\"", "<a &"] {
        assert!(!page.contains(bad), "{bad}");
    }
}
