//! What must not set off an alarm: for each one data that comes close to it. What sets it off is in stat_contract.rs.

mod fixtures;

use fixtures::games::games;
use fixtures::{file, stream_bytes};
use manaka_core::stream::Record;
use manaka_core::{Color, Conventions, Move16};
use manaka_corpus::psv::{Layout, MoveLayout, Record as Raw, Writer};
use manaka_inspect::{ALARMS, StatOptions, stat};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::LazyLock;

const TEACHER: Conventions = Conventions::TEACHER;

static GAMES: LazyLock<Vec<Vec<Record>>> = LazyLock::new(|| games(600, 7));

fn alarms_of(paths: &[PathBuf]) -> Vec<&'static str> {
    let found = stat(paths, &StatOptions::new(NonZeroUsize::new(2).unwrap()), &()).unwrap();
    found.alarms.iter().map(|alarm| alarm.id).collect()
}

/// The alarms of a stream of parts.
fn parts(conventions: Conventions, parts: &[Vec<Record>]) -> Vec<&'static str> {
    let dir = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = (parts.iter().enumerate())
        .map(|(at, records)| file(dir.path(), &format!("{at:03}.mpk"), &stream_bytes(conventions, records)))
        .collect();
    alarms_of(&paths)
}

fn changed(change: impl Fn(usize, &mut Record)) -> Vec<&'static str> {
    let mut records = GAMES.concat();
    records.iter_mut().enumerate().for_each(|(at, record)| change(at, record));
    parts(TEACHER, &[records])
}

/// Gives the first records these scores, one each.
fn with_scores(mate_scale: u16, mate_slack: u16, scores: impl IntoIterator<Item = i16>) -> Vec<&'static str> {
    let mut records = GAMES.concat();
    for (record, score) in records.iter_mut().filter(|record| record.candidates.len() > 1).zip(scores) {
        record.candidates[1].cp = score;
    }
    parts(Conventions { mate_scale, mate_slack, ..TEACHER }, &[records])
}

/// Raw records with anything in their last byte, which a reader must take.
fn raw() -> Vec<&'static str> {
    let mut writer = Writer::new(Vec::new(), Layout::multipv(MoveLayout::YaneuraOu, 4));
    for (at, record) in GAMES.concat().into_iter().enumerate() {
        let candidates: Vec<(Move16, i16)> = record.candidates.iter().map(|c| (c.mv, c.cp)).collect();
        let raw = Raw {
            packed: record.packed,
            score: candidates[0].1,
            mv: Some(candidates[0].0),
            ply: record.ply,
            result: if record.value_z > 0.0 { 1 } else { -1 },
            pad: u8::try_from(at % 256).unwrap(),
            candidates,
        };
        writer.write_record(&raw).unwrap();
    }
    let dir = tempfile::tempdir().unwrap();
    alarms_of(&[file(dir.path(), "raw.psv", &writer.into_inner())])
}

/// Whether a record is one of so many.
fn one_in(of: usize) -> impl Fn(usize) -> bool {
    move |at| at.wrapping_mul(2_654_435_761).rotate_right(16) % of == 0
}

#[test]
fn nothing_that_comes_close_sets_off_the_alarm_it_comes_close_to() {
    let one_record = vec![GAMES.concat(), GAMES[0][..1].to_vec()];
    let mut sixth_of_games = GAMES.clone();
    sixth_of_games.iter_mut().step_by(6).flatten().for_each(|record| record.value_z = -record.value_z);
    let mut repeated = GAMES.clone();
    (0..5).for_each(|at| repeated.insert(at * 9, GAMES[3].clone()));
    let mut later: Vec<Vec<Record>> = GAMES.chunks(150).map(<[Vec<Record>]>::concat).collect();
    later[2].iter_mut().for_each(|record| record.ply += 2);
    let mut a_third_of_white = GAMES.concat();
    let (mut white, third) = (0, |white: &mut usize| {
        *white += 1;
        white.is_multiple_of(3)
    });
    a_third_of_white.retain(|record| record.packed.side() == Color::Black || third(&mut white));
    let other = Conventions { eval_coef: TEACHER.eval_coef * 1.03, ..TEACHER };
    let mates = || 31_971..32_000i16;

    let close: [(&str, Vec<&str>); 15] = [
        ("zero_rows", parts(TEACHER, &one_record)),
        ("refused_rows", raw()),
        ("outcome_sign", parts(TEACHER, &[sixth_of_games.concat()])),
        (
            "wrong_pov",
            changed(|at, record| {
                if one_in(10)(at) {
                    record.value_q = -record.value_q
                }
            }),
        ),
        ("eval_coef", changed(|_, record| record.value_q = other.value_q(record.candidates[0].cp))),
        (
            "score_scale",
            changed(|_, record| {
                record.candidates.iter_mut().for_each(|candidate| candidate.cp = candidate.cp * 5 / 4);
                record.value_q = TEACHER.value_q(record.candidates[0].cp);
            }),
        ),
        ("beyond_mate_scale", with_scores(30_000, 0, [30_000, -30_000])),
        ("mates_beyond_slack", with_scores(32_000, 29, mates())),
        // The threshold is 31754 and the highest ordinary score 31753.
        ("scores_within_slack", with_scores(32_000, 246, mates().chain([31_753]))),
        ("repeated_game", parts(TEACHER, &[repeated.concat()])),
        ("part_drift", parts(TEACHER, &later)),
        (
            "single_candidate",
            changed(|at, record| {
                if at % 100 < 15 {
                    record.candidates.truncate(1)
                }
            }),
        ),
        (
            "king_ranks",
            changed(|at, record| {
                if at % 100 < 40 {
                    record.packed.as_bytes_mut()[..81].reverse();
                }
            }),
        ),
        // Promoted pawns on ranks 1 and 9, unpromoted ones on the ranks they came from.
        (
            "dead_pawns",
            changed(|at, record| {
                let squares = record.packed.as_bytes_mut();
                for (square, piece) in [(45, 0x0D), (53, 0x1D), (54, 0x17), (62, 0x07)] {
                    if at == 77 && !matches!(squares[square], 0x00 | 0x10) {
                        squares[square] = piece;
                    }
                }
            }),
        ),
        ("one_mover", parts(TEACHER, &[a_third_of_white])),
    ];
    for ((id, alarms), kind) in close.iter().zip(ALARMS) {
        assert_eq!(*id, kind.id, "every alarm has its near miss here, in the order of the table");
        assert!(!alarms.contains(id), "{id} went off: {alarms:?}");
    }
    assert_eq!(close.len(), ALARMS.len());
    // One more step sets these off.
    assert!(with_scores(32_000, 28, mates()).contains(&"mates_beyond_slack"));
    assert!(with_scores(32_000, 247, mates().chain([31_753])).contains(&"scores_within_slack"));
}
