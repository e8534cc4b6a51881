//! What editors do to records and count of them, each against an expectation written by hand.

mod sets;

use manaka_core::conventions::NO_OUTCOME;
use manaka_core::stream::{Compression, Header, Record, StreamReader};
use manaka_core::{Conventions, Packed, Pov};
use manaka_edit::lineage::{Count, InOut, Lineage};
use manaka_edit::{
    CutOptions, Error, Figures, FilterOptions, Job, OutputOptions, Relabel, Report, SetHeaderOptions,
    SplitBy, SplitOptions, Take, Unfinished, cut, filter, merge, repair, rotate, set_header, split,
};
use proptest::prelude::*;
use sets::{Plies, contents, parts, read, records, write, write_parts};
use std::fs;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

fn job<'a>(inputs: &'a [PathBuf], out: &'a Path) -> Job<'a> {
    Job { inputs, out, progress: &() }
}

fn every(records: u64) -> OutputOptions {
    OutputOptions { records_per_part: NonZeroU64::new(records), ..OutputOptions::default() }
}

const CUT: CutOptions = CutOptions {
    max_ply: Some(10),
    relabel: Some(Relabel::Draw),
    drop_unfinished: Some(Unfinished::Drawn),
    output: OutputOptions { records_per_part: None, compression: None },
    game_bytes: 1 << 20,
};

/// A finished game, one beyond the cap with a hole at it, one that opens above the cap, one that stops at it, an abandoned
/// one, one without any outcome.
const GAMES: [Plies<'static>; 6] = [
    (&[1, 2, 3], 1.0),
    (&[1, 5, 9, 11, 12], -1.0),
    (&[11, 12, 13], 1.0),
    (&[8, 9, 10], 0.0),
    (&[2, 4], -0.0),
    (&[1, 6], NO_OUTCOME),
];

fn outcomes(records: &[Record]) -> Vec<(u16, f32)> {
    records.iter().map(|record| (record.ply, record.value_z)).collect()
}

#[test]
fn a_cut_ends_games_at_the_cap_and_takes_out_the_unfinished_ones() {
    let dir = tempfile::tempdir().unwrap();
    // Joined inside the second game and inside the fourth.
    let inputs = write_parts(&dir.path().join("in"), ".mpk", &records(&GAMES), &[5, 7]);
    let out = dir.path().join("out");
    let report = cut(job(&inputs, &out), &CUT).unwrap();

    let expected =
        [(1, 1.0), (2, -1.0), (3, 1.0), (1, 0.0), (5, 0.0), (9, 0.0), (8, 0.0), (9, 0.0), (10, 0.0)];
    let left = parts(&out);
    assert_eq!(outcomes(&read(&left)), expected);
    assert!(read(&left).iter().all(|record| record.value_z.to_bits() != (-0.0f32).to_bits()));
    let lengths: Vec<_> = left.iter().map(|path| read(std::slice::from_ref(path)).len()).collect();
    assert_eq!(lengths, [5, 2, 2], "every record stays in the part it came from");

    let step = &report.step;
    assert_eq!(
        (step.records, step.games),
        (InOut { input: 18, output: 9 }, Some(InOut { input: 6, output: 3 }))
    );
    assert_eq!(step.dropped["beyond_max_ply"], Count::of_games(5, 1));
    assert_eq!(step.dropped["unfinished"], Count::of_games(4, 2));
    assert_eq!(step.changed["relabelled"], Count::of_games(6, 2));
    let Figures::Cut(figures) = &report.figures else { panic!("{report:?}") };
    assert_eq!((figures.games_at_max_ply, figures.games_drawn_before, figures.outcomes_changed), (3, 1, 3));
    assert_eq!(
        (figures.games_above_max_ply, figures.games_at_odds, figures.games_short_of_max_ply),
        (1, 0, 1)
    );
    let plies = |list: &[manaka_edit::TerminalPly]| -> Vec<_> {
        list.iter().map(|end| (end.ply, end.games, end.undecided)).collect()
    };
    assert_eq!(
        plies(&figures.terminal_plies),
        [(3, 1, 0), (4, 1, 1), (6, 1, 1), (10, 1, 1), (12, 1, 0), (13, 1, 0)]
    );
    assert_eq!(plies(&figures.terminal_plies_out), [(3, 1, 0), (9, 1, 1), (10, 1, 1)]);
    // No record needs it any more.
    assert!(left.iter().all(|path| StreamReader::open(path).unwrap().header().version == 2));
}

#[test]
fn a_cut_can_keep_outcomes_or_take_them_away_and_tell_draws_from_games_without_an_outcome() {
    let dir = tempfile::tempdir().unwrap();
    let inputs = write_parts(&dir.path().join("in"), ".mpk.zst", &records(&GAMES), &[]);
    let run = |name: &str, options| {
        let out = dir.path().join(name);
        cut(job(&inputs, &out), &options).unwrap();
        (outcomes(&read(&parts(&out))), StreamReader::open(&parts(&out)[0]).unwrap().header().version)
    };
    let keep =
        CutOptions { relabel: Some(Relabel::Keep), drop_unfinished: Some(Unfinished::Unstated), ..CUT };
    let expected = [
        (1, 1.0),
        (2, -1.0),
        (3, 1.0),
        (1, -1.0),
        (5, -1.0),
        (9, -1.0),
        (8, 0.0),
        (9, 0.0),
        (10, 0.0),
        (2, 0.0),
        (4, 0.0),
    ];
    assert_eq!(run("keep", keep), (expected.to_vec(), 2));
    let unknown = CutOptions { relabel: Some(Relabel::Unknown), ..CUT };
    let expected = [1, 5, 9, 8, 9, 10].map(|ply| (ply, NO_OUTCOME));
    let (found, version) = run("unknown", unknown);
    assert_eq!((&found[3..], version), (&expected[..], 3));
    let nothing_cut = CutOptions { max_ply: None, relabel: None, ..CUT };
    assert_eq!(run("uncut", nothing_cut).0.len(), 3 + 5 + 3);
}

#[test]
fn a_game_that_ends_nowhere_is_an_error_with_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let plies: Vec<u16> = (1..=100).collect();
    let inputs = write_parts(&dir.path().join("in"), ".mpk", &records(&[(&plies, 1.0)]), &[60]);
    let limit = 80 * 124;
    let error = cut(
        job(&inputs, &dir.path().join("out")),
        &CutOptions { game_bytes: limit, max_ply: Some(500), ..CUT },
    );
    let error = error.unwrap_err();
    assert!(matches!(&error, Error::LongGame { record, .. } if *record < 40), "{error}");
    assert!(error.to_string().contains("part-00001.mpk: record "), "{error}");
    assert!(parts(&dir.path().join("out")).len() < 2 && !dir.path().join("out/LINEAGE.json").exists());
}

#[test]
fn a_twin_is_the_other_colours_and_black_values_change_sign() {
    let dir = tempfile::tempdir().unwrap();
    for (name, pov) in [("mover", Pov::SideToMove), ("black", Pov::Black)] {
        let conventions = Conventions { pov, ..Conventions::TEACHER };
        let mut originals = records(&[(&[1, 2], 1.0), (&[1, 2], -0.0), (&[1], NO_OUTCOME)]);
        originals[0].packed = Packed::from_sfen("4k4/9/9/9/9/2P6/9/7R1/4K4 b Gp 1").unwrap().0;
        originals[0].candidates.truncate(1);
        originals[0].candidates[0].mv = "7f7e".parse_move();
        originals[0].candidates[0].cp = 32767;
        originals[0].value_q = 0.5;
        let input = [dir.path().join(format!("{name}.mpk.zst"))];
        write(&input[0], conventions, &originals);
        let (once, twice) = (dir.path().join(format!("{name}1")), dir.path().join(format!("{name}2")));
        rotate(job(&input, &once), &OutputOptions::default()).unwrap();
        rotate(job(&parts(&once), &twice), &OutputOptions::default()).unwrap();
        assert!(
            fs::read(&parts(&twice)[0]).unwrap() == fs::read(&input[0]).unwrap(),
            "twice is the identity"
        );

        let twins = read(&parts(&once));
        let turned = Packed::from_sfen("4k4/1r7/9/6p2/9/9/9/9/4K4 w Pg 1").unwrap().0;
        let sign = if pov == Pov::Black { -1.0 } else { 1.0 };
        assert_eq!((twins[0].packed, twins[0].ply), (turned, 1));
        assert_eq!((twins[0].value_z, twins[0].value_q), (sign, sign * 0.5));
        assert_eq!(twins[0].candidates[0].mv, "3d3e".parse_move());
        assert_eq!(f32::from(twins[0].candidates[0].cp), sign * 32767.0);
        // The mover's view is the same view before and behind, whatever is stored.
        for (one, twin) in originals.iter().zip(&twins) {
            let view = |r: &Record, v: f32| if pov.negates_for(r.packed.side()) { -v } else { v };
            assert_eq!(view(one, one.value_q), view(twin, twin.value_q));
            assert_eq!(one.value_z.abs(), twin.value_z.abs());
            if one.value_z != NO_OUTCOME {
                assert_eq!(view(one, one.value_z), view(twin, twin.value_z));
            }
            for (a, b) in one.candidates.iter().zip(&twin.candidates) {
                assert_eq!(view(one, a.cp.into()), view(twin, b.cp.into()));
            }
        }
        assert!(twins[2].value_z.to_bits() == (-0.0f32).to_bits() && twins[4].value_z == NO_OUTCOME);
    }
}

trait ParseMove {
    fn parse_move(&self) -> manaka_core::Move16;
}

impl ParseMove for str {
    fn parse_move(&self) -> manaka_core::Move16 {
        manaka_core::Move16::from_usi(self).unwrap()
    }
}

#[test]
fn a_torn_stream_is_kept_up_to_its_last_whole_record_wherever_it_was_torn() {
    let dir = tempfile::tempdir().unwrap();
    let originals = records(&[(&[1, 2, 3], 1.0)]);
    let mut borders = vec![24];
    originals
        .iter()
        .for_each(|r| borders.push(borders[borders.len() - 1] + 108 + 8 * r.candidates.len() as u64));
    for suffix in [".mpk", ".mpk.zst"] {
        let whole = dir.path().join(format!("whole{suffix}"));
        write(&whole, Conventions::TEACHER, &originals);
        let bytes = fs::read(&whole).unwrap();
        let mut kept = std::collections::BTreeSet::new();
        for len in 0..=bytes.len() {
            let input = [dir.path().join(format!("torn{suffix}"))];
            fs::write(&input[0], &bytes[..len]).unwrap();
            let out = dir.path().join("out");
            let result = repair(job(&input, &out), &OutputOptions::default());
            let Ok(report) = result else {
                assert!(!out.exists(), "nothing is whole, and nothing is left behind");
                assert!(suffix == ".mpk.zst" || len < 24, "{len}");
                continue;
            };
            let records = read(&parts(&out));
            assert_eq!(records, originals[..records.len()], "{len}");
            assert_eq!(report.step.records.output, records.len() as u64);
            let Figures::Repair { torn } = &report.figures else { panic!("{report:?}") };
            let refused = report.step.refused["truncated"];
            if suffix == ".mpk" {
                let len = len as u64;
                let whole = borders.iter().filter(|&&border| border <= len).count() - 1;
                assert_eq!(records.len(), whole);
                assert_eq!(
                    torn.is_empty(),
                    borders.contains(&len),
                    "a cut between two records does not show"
                );
                if let [torn] = &torn[..] {
                    assert_eq!(
                        (torn.records, torn.offset, torn.lost_bytes),
                        (whole as u64, borders[whole], len - borders[whole])
                    );
                    assert_eq!(torn.last_record, (whole as u64).checked_sub(1));
                    assert_eq!((refused.records, refused.bytes), (1, Some(torn.lost_bytes)));
                }
            } else {
                assert_eq!(torn.is_empty(), len == bytes.len(), "{len}");
                if let [torn] = &torn[..] {
                    assert_eq!(torn.offset, borders[records.len()]);
                    assert!(
                        torn.lost_bytes < borders.get(records.len() + 1).unwrap_or(&u64::MAX) - torn.offset
                    );
                }
            }
            assert_eq!(report.has_findings(), !torn.is_empty());
            kept.insert(records.len());
            fs::remove_dir_all(&out).unwrap();
        }
        assert!(kept.contains(&3), "{kept:?}");
    }
}

#[test]
fn only_a_torn_tail_is_repaired() {
    let dir = tempfile::tempdir().unwrap();
    let mut bytes = Header::new(Conventions::TEACHER).encode().to_vec();
    records(&[(&[1, 2], 1.0)]).iter().for_each(|record| record.encode(&mut bytes).unwrap());
    let twice = [&bytes[..], &bytes[..]].concat();
    let mut wrong = bytes.clone();
    wrong[26..30].copy_from_slice(&0.5f32.to_le_bytes());
    for (name, bytes, id) in
        [("twice.mpk", twice, "second MPK1 header"), ("wrong.mpk", wrong, "value_z is 0.5")]
    {
        let input = [dir.path().join(name)];
        fs::write(&input[0], bytes).unwrap();
        let error = repair(job(&input, &dir.path().join(format!("{name}.out"))), &OutputOptions::default());
        let error = error.unwrap_err().to_string();
        assert!(error.contains(name) && error.contains(id) && error.contains("record "), "{error}");
    }
}

#[test]
fn a_header_states_more_and_never_something_else() {
    let dir = tempfile::tempdir().unwrap();
    let originals = records(&[(&[1, 2], 1.0)]);
    let mut old = Header::new(Conventions { mate_scale: 32000, ..Conventions::TEACHER }).encode().to_vec();
    old[4] = 1;
    originals.iter().for_each(|record| record.encode(&mut old).unwrap());
    let input = [dir.path().join("old.mpk")];
    fs::write(&input[0], old).unwrap();
    let options =
        SetHeaderOptions { fv_scale: Some(28), mate_slack: Some(100), ..SetHeaderOptions::default() };
    let out = dir.path().join("out");
    set_header(job(&input, &out), &options).unwrap();
    let stated = parts(&out);
    let header = *StreamReader::open(&stated[0]).unwrap().header();
    let expected = Conventions { mate_scale: 32000, mate_slack: 100, fv_scale: 28, ..Conventions::TEACHER };
    assert_eq!((header.conventions, header.version), (expected, 2));
    assert_eq!(read(&stated), originals);
    // The same again states nothing new, and is no contradiction.
    set_header(job(&stated, &dir.path().join("again")), &options).unwrap();

    let visits = [dir.path().join("visits.mpk")];
    write(&visits[0], Conventions::VISITS, &[]);
    let scaleless = [dir.path().join("scaleless.mpk")];
    write(&scaleless[0], Conventions { mate_scale: 0, ..Conventions::TEACHER }, &[]);
    let fv = |fv_scale| SetHeaderOptions { fv_scale: Some(fv_scale), ..SetHeaderOptions::default() };
    let slack = |mate_slack| SetHeaderOptions { mate_slack: Some(mate_slack), ..SetHeaderOptions::default() };
    for (input, options, why) in [
        (&stated[..], fv(16), "fv_scale: the header states 28, not 16"),
        (&stated[..], slack(320), "mate_slack: the header states 100, not 320"),
        (&visits[..], fv(16), "fv_scale: a visits stream"),
        (&scaleless[..], slack(100), "mate_slack: the header states that there are no mates"),
        (&input[..], slack(32000), "mate_slack: mate_slack"),
    ] {
        let out = dir.path().join("refused");
        let error = set_header(job(input, &out), &options).unwrap_err();
        assert!(matches!(error, Error::Contradiction { .. }), "{error}");
        assert!(error.to_string().contains(why), "{error}");
        assert!(!out.exists());
    }
    for options in [SetHeaderOptions::default(), fv(0), slack(0)] {
        assert!(set_header(job(&input, &dir.path().join("none")), &options).unwrap_err().is_usage());
    }
}

#[test]
fn headers_that_differ_are_not_merged_and_both_files_and_values_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let inputs = [dir.path().join("a.mpk"), dir.path().join("b.mpk")];
    write(&inputs[0], Conventions::TEACHER, &records(&[(&[1], 1.0)]));
    write(&inputs[1], Conventions { fv_scale: 28, ..Conventions::TEACHER }, &records(&[(&[1], 1.0)]));
    let out = dir.path().join("out");
    let error = merge(job(&inputs, &out), &OutputOptions::default()).unwrap_err().to_string();
    assert!(error.contains("b.mpk") && error.contains("a.mpk"), "{error}");
    assert!(error.contains("fv_scale is 28 here and 0 in"), "{error}");
    assert!(!out.exists());
}

#[test]
fn a_merge_counts_the_joins_over_which_a_game_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let inputs = write_parts(&dir.path().join("in"), ".mpk", &records(&GAMES), &[4, 0, 4]);
    let report = merge(job(&inputs, &dir.path().join("out")), &OutputOptions::default()).unwrap();
    let Figures::Merge(figures) = report.figures else { panic!("{report:?}") };
    // Between plies 1 and 5 of the second game, and where the third begins.
    assert_eq!((figures.joins, figures.joins_inside_games), (2, 1));
    assert_eq!(report.step.outputs.len(), 1);
}

#[test]
fn a_split_has_the_parts_that_were_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    // Games of 3, 5, 3, 3, 2 and 2 records.
    let inputs = write_parts(&dir.path().join("in"), ".mpk", &records(&GAMES), &[7]);
    let n = |n| NonZeroU64::new(n).unwrap();
    for (at, (by, whole_games, lengths)) in [
        (SplitBy::Parts(n(4)), false, &[5, 4, 5, 4][..]),
        (SplitBy::Parts(n(3)), true, &[8, 6, 4]),
        (SplitBy::Parts(n(7)), true, &[3, 5, 3, 3, 2, 2, 0]),
        (SplitBy::Records(n(8)), false, &[8, 8, 2]),
        (SplitBy::Records(n(7)), true, &[8, 8, 2]),
        (SplitBy::Records(n(9)), true, &[11, 7]),
        (SplitBy::Games(n(4)), false, &[14, 4]),
    ]
    .into_iter()
    .enumerate()
    {
        let out = dir.path().join(format!("{at}"));
        let options = SplitOptions { by, whole_games, output: OutputOptions::default() };
        let report = split(job(&inputs, &out), &options).unwrap();
        let mut found: Vec<_> = report.step.outputs.iter().map(|file| file.records).collect();
        if at == 2 {
            // Six games on seven parts: one is empty, wherever it is.
            found.retain(|&records| records > 0);
            found.push(0);
        }
        assert_eq!(found, lengths, "{by:?}");
        assert_eq!(read(&parts(&out)), records(&GAMES), "order is kept");
        assert_eq!(report.step.games, Some(InOut { input: 6, output: 6 }));

        let back = dir.path().join(format!("{at}-merged"));
        merge(job(&parts(&out), &back), &OutputOptions::default()).unwrap();
        let once = dir.path().join(format!("{at}-once"));
        merge(job(&inputs, &once), &OutputOptions::default()).unwrap();
        assert!(fs::read(&parts(&back)[0]).unwrap() == fs::read(&parts(&once)[0]).unwrap());
    }
}

#[test]
fn a_drawn_split_takes_whole_games_and_the_same_ones_whatever_the_cutting() {
    let dir = tempfile::tempdir().unwrap();
    let plies: Vec<u16> = (1..=4).collect();
    let games: Vec<Plies<'_>> = (0..300).map(|game| (&plies[..1 + game % 4], 1.0)).collect();
    let all = records(&games);
    let one = write_parts(&dir.path().join("one"), ".mpk", &all, &[]);
    let many = write_parts(&dir.path().join("many"), ".mpk", &all, &[1, 100, 3]);
    let run = |name: &str, inputs: &[PathBuf], seed, share| {
        let out = dir.path().join(name);
        let options =
            SplitOptions { by: SplitBy::Validation { share, seed }, whole_games: false, output: every(100) };
        split(job(inputs, &out), &options).unwrap();
        [out.join("train"), out.join("validation")].map(|dir| contents(&dir))
    };
    let first = run("1", &one, 7, 0.25);
    let streams = |sets: &[Vec<(String, Vec<u8>)>; 2]| {
        sets.clone().map(|set| set.into_iter().filter(|(name, _)| name != "LINEAGE.json").collect::<Vec<_>>())
    };
    assert!(streams(&first) == streams(&run("2", &many, 7, 0.25)), "the cutting shows");
    assert!(streams(&first) != streams(&run("3", &one, 8, 0.25)), "the seed does not");
    let lineage =
        |set: usize| Lineage::beside(&dir.path().join(["1/train", "1/validation"][set])).unwrap().unwrap();
    assert_eq!(lineage(0), lineage(1));
    let named = |file: &manaka_edit::lineage::FileFacts| file.name.starts_with("validation/part-0000");
    assert!(lineage(0).steps[0].outputs.iter().any(named));

    let taken = read(&parts(&dir.path().join("1/validation")));
    let left = read(&parts(&dir.path().join("1/train")));
    assert_eq!(taken.len() + left.len(), all.len());
    // 300 games at a quarter: within five deviations of 75.
    let games = taken.iter().filter(|record| record.ply == 1).count();
    assert!((38..=112).contains(&games), "{games}");
    let mut rest = left.iter().peekable();
    let mut out = taken.iter().peekable();
    // Plies of these games rise by one, so a game that was torn apart shows in either set.
    for set in [&taken, &left] {
        assert!(set.windows(2).all(|pair| pair[1].ply == 1 || pair[1].ply == pair[0].ply + 1));
    }
    for record in &all {
        // Order is kept in both.
        let next = if rest.peek() == Some(&record) { rest.next() } else { out.next() };
        assert_eq!(next, Some(record));
    }
    for share in [0.0, 1.0, -1.0, f64::NAN] {
        let options =
            SplitOptions { by: SplitBy::Validation { share, seed: 0 }, whole_games: false, output: every(1) };
        assert!(split(job(&one, &dir.path().join("x")), &options).unwrap_err().is_usage());
    }
}

#[test]
fn a_filter_takes_records_or_whole_games() {
    let dir = tempfile::tempdir().unwrap();
    let inputs = write_parts(&dir.path().join("in"), ".mpk", &records(&GAMES), &[5]);
    let run = |name: &str, text: &str, take, invert| -> Report {
        let out = dir.path().join(name);
        let options =
            FilterOptions { select: text.parse().unwrap(), take, invert, ..FilterOptions::default() };
        let report = filter(job(&inputs, &out), &options).unwrap();
        assert_eq!(report.step.records.output, read(&parts(&out)).len() as u64);
        report
    };
    let kept = |report: &Report| {
        let Figures::Filter(figures) = report.figures else { panic!("{report:?}") };
        (report.step.records.output, report.step.games.map(|games| games.output), figures.matching)
    };
    // Plies up to 3: three, one, none, none, one and one.
    assert_eq!(kept(&run("1", "ply=..3", Take::Records, false)), (6, None, 6));
    assert_eq!(kept(&run("2", "ply=..3", Take::Records, true)), (12, None, 6));
    assert_eq!(kept(&run("3", "ply=..3", Take::GamesWithAny, false)), (3 + 5 + 2 + 2, Some(4), 6));
    assert_eq!(kept(&run("4", "ply=..3", Take::GamesWithAll, false)), (3, Some(1), 6));
    assert_eq!(kept(&run("5", "ply=..3", Take::GamesWithAll, true)), (15, Some(5), 6));
    assert_eq!(kept(&run("6", "value-z=none", Take::Records, false)), (2, None, 2));
    let step = run("7", "ply=..3 side=b value-q=-0.5..1", Take::GamesWithAny, false).step;
    let options = |name: &str| step.options[name].clone();
    assert_eq!(
        (options("ply"), options("side"), options("games")),
        ("0..3".into(), "b".into(), "any".into())
    );
    assert_eq!((options("value_q"), options("cp")), ("-0.5..1".into(), serde_json::Value::Null));
    assert_eq!(step.records.input, step.records.output + step.dropped["not_selected"].records);

    let all = FilterOptions::default();
    assert!(filter(job(&inputs, &dir.path().join("x")), &all).unwrap_err().is_usage());
}

#[test]
fn steps_are_chained_by_hash_and_the_same_run_writes_the_same_lineage() {
    let dir = tempfile::tempdir().unwrap();
    let inputs = write_parts(&dir.path().join("in"), ".mpk.zst", &records(&GAMES), &[6]);
    let run = |at: &str| {
        let out = |name: &str| dir.path().join(at).join(name);
        cut(job(&inputs, &out("cut")), &CUT).unwrap();
        rotate(job(&parts(&out("cut")), &out("twins")), &OutputOptions::default()).unwrap();
        let both = [parts(&out("cut")), parts(&out("twins"))].concat();
        let report = merge(job(&both, &out("all")), &OutputOptions::default()).unwrap();
        assert_eq!(report.unlisted, [""; 0]);
        (Lineage::beside(&out("all")).unwrap().unwrap(), contents(&out("all")))
    };
    let (lineage, files) = run("1");
    assert!(files == run("2").1, "another directory, another time, the same bytes");
    let verbs: Vec<_> = lineage.steps.iter().map(|step| step.verb.as_str()).collect();
    // `cut` lies beside both inputs of the merge, and is there once.
    assert_eq!(verbs, ["cut", "edit rotate", "edit merge"]);
    let [cut, twins, all] = &lineage.steps[..] else { panic!() };
    assert_eq!(twins.inputs, cut.outputs);
    assert_eq!(all.inputs, [cut.outputs.clone(), twins.outputs.clone()].concat());
    assert_eq!(lineage.maker_of(&twins.outputs[0].xxh3_128), Some(twins));
    let text = fs::read_to_string(dir.path().join("1/all/LINEAGE.json")).unwrap();
    assert!(!text.contains(dir.path().to_str().unwrap()), "{text}");

    // A part that is not what the step wrote is told of.
    let changed = dir.path().join("1/cut/part-00001.mpk.zst");
    fs::remove_file(&changed).unwrap();
    write(&changed, Conventions::TEACHER, &records(&GAMES[..1]));
    let report = merge(job(&parts(&dir.path().join("1/cut")), &dir.path().join("late")), &every(5)).unwrap();
    assert_eq!(report.unlisted, ["part-00001.mpk.zst"]);

    // One that cannot be carried on stops the run before it has written anything.
    fs::write(dir.path().join("1/cut/LINEAGE.json"), "{}").unwrap();
    let out = dir.path().join("never");
    let error = merge(job(&parts(&dir.path().join("1/cut")), &out), &every(5)).unwrap_err();
    assert!(matches!(error, Error::Lineage { .. }) && !out.exists(), "{error}");
}

#[test]
fn an_output_directory_has_to_be_empty_and_parts_are_written_as_they_were_read() {
    let dir = tempfile::tempdir().unwrap();
    let inputs = write_parts(&dir.path().join("in"), ".mpk", &records(&GAMES), &[6]);
    let error = merge(job(&inputs, &dir.path().join("in")), &every(5)).unwrap_err();
    assert!(error.to_string().contains("not empty"), "{error}");
    let options = OutputOptions { compression: Some(Compression::DEFAULT), ..OutputOptions::default() };
    rotate(job(&inputs, &dir.path().join("z")), &options).unwrap();
    let names = |dir: &Path| contents(dir).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    assert_eq!(names(&dir.path().join("z")), ["LINEAGE.json", "part-00000.mpk.zst", "part-00001.mpk.zst"]);
    rotate(job(&parts(&dir.path().join("z")), &dir.path().join("y")), &OutputOptions::default()).unwrap();
    assert_eq!(names(&dir.path().join("y")), ["LINEAGE.json", "part-00000.mpk.zst", "part-00001.mpk.zst"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The naive way: games are lists, lists are cut.
    #[test]
    fn a_cut_is_what_the_naive_way_gives_on_any_cutting_of_the_inputs(
        games in prop::collection::vec((1u16..8, prop::collection::vec(1u16..4, 1..6), 0usize..4), 1..12),
        cuts in prop::collection::vec(0usize..9, 0..4),
        cap in 1u16..14,
        how in 0usize..3,
        which in 0usize..3,
        per_part in 1u64..9,
    ) {
        let outcomes = [1.0, -1.0, 0.0, NO_OUTCOME];
        let plies: Vec<(Vec<u16>, f32)> = games.iter().map(|(first, steps, outcome)| {
            let mut ply = *first;
            let mut plies = vec![ply];
            plies.extend(steps.iter().map(|step| { ply += step; ply }));
            (plies, outcomes[*outcome])
        }).collect();
        let borrowed: Vec<Plies<'_>> = plies.iter().map(|(plies, outcome)| (&plies[..], *outcome)).collect();
        let all = records(&borrowed);
        let mut lengths = Vec::new();
        let mut left = all.len();
        for cut in cuts {
            lengths.push(cut.min(left));
            left -= cut.min(left);
        }
        let dir = tempfile::tempdir().unwrap();
        let inputs = write_parts(&dir.path().join("in"), ".mpk", &all, &lengths);
        let relabel = [Relabel::Draw, Relabel::Unknown, Relabel::Keep][how];
        let drop_unfinished = [None, Some(Unfinished::Drawn), Some(Unfinished::Unstated)][which];
        let options = CutOptions { max_ply: Some(cap), relabel: Some(relabel), drop_unfinished, output: every(per_part), ..CUT };
        let report = cut(job(&inputs, &dir.path().join("out")), &options).unwrap();

        // Games of the naive way: two whose plies go on are one, as the format has it.
        let mut lists: Vec<Vec<Record>> = Vec::new();
        for record in &all {
            match lists.last_mut() {
                Some(list) if list[list.len() - 1].ply < record.ply => list.push(record.clone()),
                _ => lists.push(vec![record.clone()]),
            }
        }
        let mut expected = Vec::new();
        let (mut unfinished, mut beyond) = (0, 0);
        for mut list in lists {
            let reached = list.iter().any(|record| record.ply >= cap);
            let whole = list.len() as u64;
            list.retain(|record| record.ply <= cap);
            beyond += whole - list.len() as u64;
            let states = |wanted: &[f32]| list.iter().any(|record| wanted.contains(&record.value_z));
            let gone = !reached && match drop_unfinished {
                None => false,
                Some(Unfinished::Drawn) => !states(&[1.0, -1.0]),
                Some(Unfinished::Unstated) => !states(&[1.0, -1.0, 0.0]),
            };
            if gone {
                unfinished += whole;
                continue;
            }
            if reached && relabel != Relabel::Keep {
                let label = if relabel == Relabel::Draw { 0.0 } else { NO_OUTCOME };
                list.iter_mut().for_each(|record| record.value_z = label);
            }
            expected.extend(list);
        }
        let found = read(&parts(&dir.path().join("out")));
        prop_assert_eq!(&found, &expected);
        prop_assert_eq!(report.step.dropped["beyond_max_ply"].records, beyond);
        prop_assert_eq!(report.step.dropped.get("unfinished").map_or(0, |count| count.records), unfinished);
        prop_assert_eq!(all.len(), found.len() + usize::try_from(beyond + unfinished).unwrap());
        // The same bytes on another cutting.
        let one = write_parts(&dir.path().join("one"), ".mpk", &all, &[]);
        cut(job(&one, &dir.path().join("out1")), &options).unwrap();
        let streams = |dir: &Path| {
            contents(dir).into_iter().filter(|(name, _)| name != "LINEAGE.json").collect::<Vec<_>>()
        };
        prop_assert!(streams(&dir.path().join("out")) == streams(&dir.path().join("out1")));
    }
}
