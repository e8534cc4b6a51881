//! What `card` promises: figures that were worked out by hand, the same text on every run and every machine, settings and
//! steps as they lie beside the data, marked blanks where nothing does, and tables that are tables.

mod fixtures;

use fixtures::{Shard, file, score_rows, stream_bytes, visits_records, visits_rows, written};
use manaka_core::conventions::NO_OUTCOME;
use manaka_core::sfen::STARTPOS;
use manaka_core::stream::{Candidate, Compression, Record, StreamWriter};
use manaka_core::{Conventions, Move16, Packed};
use manaka_inspect::{Card, CardOptions, Error, card};
use manaka_shogi::Board;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

const TEACHER: Conventions = Conventions::TEACHER;
const BLANK: &str = "TO BE FILLED IN";

fn on(threads: usize) -> CardOptions {
    CardOptions::new(NonZeroUsize::new(threads).unwrap())
}

fn text(paths: &[PathBuf]) -> String {
    card(paths, &on(2), &()).unwrap().to_string()
}

fn has(text: &str, lines: &[&str]) {
    for line in lines {
        assert!(text.lines().any(|other| other == *line), "no line\n{line}\nin\n{text}");
    }
}

fn moves(n: usize) -> Vec<Move16> {
    let (mut legal, board) = (Vec::new(), Board::start());
    board.legal_moves(&mut legal);
    legal.truncate(n);
    legal
}

/// Six records of two games in two files; every figure below follows from this table.
fn tiny(dir: &Path) -> Vec<PathBuf> {
    let start = Packed::from_sfen(STARTPOS).unwrap().0;
    let (turned, _) = Packed::from_sfen(&STARTPOS.replace(" b ", " w ")).unwrap();
    let record = |ply, packed: Packed, value_z, scores: &[i16]| Record {
        ply,
        value_z,
        value_q: TEACHER.value_q(scores[0]),
        packed,
        candidates: (moves(scores.len()).into_iter().zip(scores))
            .map(|(mv, &cp)| Candidate { mv, visits: 0, cp })
            .collect(),
    };
    let one = [
        record(1, start, 1.0, &[100, 50]),
        record(2, turned, -1.0, &[-100]),
        record(3, start, 1.0, &[200, 0, -40]),
    ];
    let two = [
        record(5, turned, -1.0, &[-29_990]),
        record(1, start, 0.0, &[0, -10]),
        record(2, turned, -0.0, &[0]),
    ];
    vec![file(dir, "1.mpk", &stream_bytes(TEACHER, &one)), file(dir, "2.mpk", &stream_bytes(TEACHER, &two))]
}

#[test]
fn a_tiny_stream_has_the_card_that_was_worked_out_by_hand() {
    let dir = tempfile::tempdir().unwrap();
    let text = text(&tiny(dir.path()));
    has(
        &text,
        &[
            "# **[TO BE FILLED IN: the name of the dataset]**",
            "- \"n<1K\"",
            "viewer: false",
            // 24 + 124 + 116 + 132, and 24 + 116 + 124 + 116 bytes.
            "| **all** | 2 MPK1 streams | 776 | 6 records |  |",
            "4d 50 4b 31 02 00 60 00 00 01 30 75 00 00 00 00 89 05 bd 44 00 00 00 00",
            "| `mate_slack` | `0` | not stated, so 320 is in force: scores from 29,680 = 30000 − 320 on are mates |",
            "| `eval_coef` | `1512.173` | `value_q` is tanh(cp / eval_coef), and ±1 for mates |",
            // 1 2 3 ‖ 5 | 1 2: the border lies inside the first game, which Black wins.
            "| games | 2 |",
            "| won by Black | 1 (50.00%) |",
            "| drawn | 1 (50.00%) |",
            "| won by White | 0 (0.00%) |",
            "| borders between files inside a game | 1 of 1 |",
            "| records that follow one of their game | 4 |",
            "| … more than one ply behind it | 1 (25.00%) |",
            "| the widest such step, in plies | 2 |",
            "| 1 | 2 | 100.00% |",
            "| records of a game | 3.00 | 2 | 2 | 2 | 2 | 2 | 4 | 4 | 4 | 4 |",
            "| 0–19 | 6 | 100.00% | 66.67% | 33.33% | 0.00% |",
            "| the side to move | 6 | 2 (33.33%) | 2 (33.33%) | 2 (33.33%) |",
            "| Black | 6 | 4 (66.67%) | 2 (33.33%) | 0 (0.00%) |",
            "Drawn records stored as −0.0, which equals 0 by value and not by bits: 1.",
            "| `1.mpk` | 3 | 2.000 | 2.000 | 0.088 | +1.0000 |",
            "| candidates | 10 |",
            "| a single one | 3 (50.00%) |",
            "| 3 | 1 | 16.67% |",
            "| the least | −29,990 |",
            "| the greatest | 200 |",
            "| mates as stated | 1 (10.00%), from 29,680 on |",
            "| records whose first candidate has the root's score | 6 (100.00%) |",
            "| below −10,000 | 1 | 10.00% |",
            "| −200 to −1 | 3 | 30.00% |",
            "| 0 to 199 | 5 | 50.00% |",
            "| 200 to 499 | 1 | 10.00% |",
            "| −1.0 to −0.9 | 1 | 16.67% | −1.000 | −1.000 | +0.000 |",
            "| +0.0 to +0.1 | 3 | 50.00% | +0.022 | +0.333 | +0.311 |",
            "| Black to move | 3 (50.00%) |",
            "| White's pawns | 0.00% | 0.00% | 100.00% | 0.00% | 0.00% | 0.00% | 0.00% | 0.00% | 0.00% |",
            "| different positions | 2 of 6 |",
            "| a fold takes away | 66.67% |",
            "| the most frequent position came, times | 3 |",
            "None of the 15 alarms of `manaka stat` went off.",
            "stream = manaka.open_stream(\"1.mpk\")  # or a list of parts, read as one stream",
            "6 records in 2 streams   ← these files",
        ],
    );
    assert!(text.contains("**6 records** of 2 games in 2 MPK1 streams (776 bytes, 129.33 each)"));
    // XXH3-128 of the bytes on disk.
    let hash = xxhash_rust::xxh3::xxh3_128(&fs::read(dir.path().join("1.mpk")).unwrap());
    has(&text, &[&format!("| `1.mpk` | MPK1 stream | 396 | 3 records | `{hash:032x}` |")]);
}

#[test]
fn outcomes_that_are_not_known_are_told_and_are_no_draws() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("v3.mpk");
    let mut writer = StreamWriter::create(&path, TEACHER, Compression::None).unwrap();
    writer.allow_absent_outcomes();
    let start = Packed::from_sfen(STARTPOS).unwrap().0;
    let candidates = vec![Candidate { mv: moves(1)[0], visits: 0, cp: 7 }];
    for (ply, value_z) in [(1, 1.0), (3, NO_OUTCOME), (1, NO_OUTCOME), (1, 0.0)] {
        let record = Record { ply, value_z, value_q: 0.0, packed: start, candidates: candidates.clone() };
        writer.write(&record).unwrap();
    }
    writer.finish().unwrap();
    let text = text(&[path]);
    assert!(text.contains(
        "`value_z` is the outcome of the record's game (2 where that is not known, which is no draw),"
    ));
    assert!(text.contains("The outcome of 2 (50.00%) of the records is not known:"));
    has(
        &text,
        &[
            "4d 50 4b 31 03 00 60 00 00 01 30 75 00 00 00 00 89 05 bd 44 00 00 00 00",
            "| games | 3 |",
            "| outcome not known | 2 (66.67%) |",
            "| the side to move | 2 | 1 (50.00%) | 1 (50.00%) | 0 (0.00%) |",
        ],
    );
}

/// One of every kind, with whatever can stand in a table.
fn zoo(dir: &Path) -> Vec<Vec<PathBuf>> {
    let scores = Shard { group: 500, ..Shard::scores(score_rows(3000, 5)) };
    let shards = vec![
        scores.clone().with("a|b`c", "x|y\n`z`").write(dir, "s|1.parquet"),
        Shard::scores(score_rows(1500, 6)).write(dir, "s 2.parquet"),
    ];
    let visits = vec![Shard::visits(visits_rows(1200, 7)).write(dir, "visits-00000.parquet")];
    let visit_stream = vec![written(dir, "v.mpk.zst", Conventions::VISITS, &visits_records(700, 3))];
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let corpus = vec![examples.join("fairy-corpus.parquet")];
    vec![tiny(dir), shards, visits, visit_stream, corpus]
}

/// Cells of a line of a table.
fn cells(line: &str) -> usize {
    line.replace("\\|", "").matches('|').count()
}

#[test]
fn every_table_has_as_many_cells_in_each_row_as_in_its_head() {
    let dir = tempfile::tempdir().unwrap();
    for paths in zoo(dir.path()) {
        let text = text(&paths);
        let (mut tables, mut last, mut fenced) = (0, None, false);
        for line in text.lines() {
            fenced ^= line.starts_with("```");
            if fenced || !line.starts_with('|') {
                last = None;
                continue;
            }
            assert!(line.ends_with('|'), "{line}");
            assert!(
                !line.starts_with("| ---") || text.contains(&format!("{line}\n| ")),
                "an empty table in\n{text}"
            );
            match last {
                None => tables += 1,
                Some(cells_before) => assert_eq!(cells(line), cells_before, "{line}"),
            }
            last = Some(cells(line));
        }
        assert!(tables > 8, "{tables} tables in\n{text}");
        assert!(!fenced);
        for bad in ["NaN", "inf ", "-0.0", " -1", "\n\n\n"] {
            assert!(!text.split("```").step_by(2).any(|prose| prose.contains(bad)), "{bad} in\n{text}");
        }
        assert!(text.ends_with(" -->\n"));
    }
}

#[test]
fn the_text_depends_neither_on_threads_nor_on_the_place() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for (a, b) in zoo(here.path()).into_iter().zip(zoo(there.path())) {
        let first = card(&a, &on(1), &()).unwrap();
        for threads in [1, 2, 5] {
            assert_eq!(card(&b, &on(threads), &()).unwrap(), first);
        }
        assert!(!first.to_string().contains(&*here.path().to_string_lossy()));
    }
}

#[test]
fn files_are_called_by_their_paths_from_the_card_and_alarms_call_them_so_too() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    fs::create_dir(&data).unwrap();
    let paths = vec![tiny(&data)[0].clone(), file(&data, "none.mpk", &stream_bytes(TEACHER, &[]))];
    let found = card(&paths, &CardOptions { root: Some(dir.path().to_owned()), ..on(1) }, &()).unwrap();
    assert_eq!(found.alarms().iter().map(|alarm| alarm.id).collect::<Vec<_>>(), ["zero_rows"]);
    let text = found.to_string();
    assert!(text.contains("> **1 alarm went off** over this data: `zero_rows`."));
    has(
        &text,
        &[
            "| `zero_rows` | a file holds no records | data/none.mpk holds no records | 0 records in any file |",
        ],
    );
    assert!(
        text.contains("| `data/1.mpk` | MPK1 stream |") && !text.contains(&*dir.path().to_string_lossy())
    );
    // A card that lies elsewhere calls them by what they have in common.
    let elsewhere = tempfile::tempdir().unwrap();
    let found = card(&paths, &CardOptions { root: Some(elsewhere.path().to_owned()), ..on(1) }, &()).unwrap();
    assert!(found.to_string().contains("| `1.mpk` | MPK1 stream |"));
}

#[test]
fn shards_have_schema_footer_weights_bytes_and_the_order_of_rows() {
    let dir = tempfile::tempdir().unwrap();
    let shard = Shard::scores(score_rows(3000, 5)).write(dir.path(), "teacher-00000.parquet");
    let scores = text(std::slice::from_ref(&shard));
    has(
        &scores,
        &[
            "    path: \"teacher-*.parquet\"",
            "| `candidates.list.element.cp` | int16 | its mean score in centipawns |",
            "| `mate_slack` | `320` | how far below it mates reach: scores from 29,680 = 30000 − 320 on are mates |",
            "| `writer` | `test 1` | what wrote the shard |",
            "| weight | 1.0000 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 |",
            "All 3,000 rows are different positions, so no cut of them puts one position on both sides.",
            "shard = pq.ParquetFile(\"teacher-00000.parquet\")",
            "3,000 records before the fold",
            "└─ 3,000 rows in 1 shard   ← these files",
        ],
    );
    assert!(scores.contains("There is no `value_z` either") && scores.contains("## Row order"));
    let visits = Shard::visits(visits_rows(1200, 7));
    let records: u64 = visits.rows.iter().map(|row| u64::from(row.weight)).sum();
    let visits = text(&[visits.write(dir.path(), "v.parquet")]);
    assert!(visits.contains("| `value_z` | float32 |") && !visits.contains("There is no `value_z` either"));
    assert!(visits.contains(&format!("{},{:03} records before the fold", records / 1000, records % 1000)));
    has(
        &visits,
        &["| `candidates.list.element.cp` | int16 | null in every row: this policy has no scores |"],
    );
}

#[test]
fn shards_and_their_streams_make_one_card_with_a_chapter_each_unless_they_mean_different_things() {
    let dir = tempfile::tempdir().unwrap();
    let shard = Shard::scores(score_rows(3000, 5)).write(dir.path(), "s.parquet");
    let mut paths = tiny(dir.path());
    paths.push(shard);
    let both = text(&paths);
    let at = |line: &str| both.find(line).unwrap_or_else(|| panic!("no {line:?} in\n{both}"));
    assert!(at("\n## Shards\n") < at("\n### Schema\n") && at("\n### Schema\n") < at("\n## Streams\n"));
    assert!(at("\n## Streams\n") < at("\n### Format\n") && at("\n### Format\n") < at("\n## Generation\n"));
    let other = Conventions { fv_scale: 28, ..TEACHER };
    paths[0] = file(dir.path(), "1.mpk", &stream_bytes(other, &[]));
    paths.remove(1);
    let error = card(&paths, &on(1), &()).unwrap_err();
    assert!(matches!(&error, Error::Mixed { .. }) && error.to_string().contains("fv_scale"), "{error}");
}

fn with_beside(name: &str, content: &str) -> (tempfile::TempDir, Vec<PathBuf>) {
    let dir = tempfile::tempdir().unwrap();
    let paths = tiny(dir.path());
    file(dir.path(), name, content.as_bytes());
    (dir, paths)
}

#[test]
fn settings_are_those_of_the_report_beside_the_data() {
    let report = include_str!("../../../examples/gensfen.json");
    let (_dir, paths) = with_beside("gensfen.json", report);
    let text = text(&paths);
    has(
        &text,
        &[
            "| engine | Fairy-Stockfish 11.1 LB 64 |",
            "| engine options | `UCI_Variant=shogi`, `Threads=1`, `Hash=16` |",
            "| nodes of a search | 800 |",
            "| games end beyond, cp | none |",
            "| opening book | `examples/openings.txt` |",
            "| hash of the book | 41a02e55807b9508 |",
            "| `endings.mate` | 383 |",
            "| `positions` | 61,160 |",
            "| `depths` | 61,160 in all, 1 to 245, median 2 |",
            "gensfen.json: 540 games, 61,160 positions",
            "└─ 6 records in 2 streams   ← these files",
        ],
    );
    for gone in ["/usr/games", "731.308", "83.631", "handshake_s", "journal_bytes", "next_game"] {
        assert!(!text.contains(gone), "{gone}");
    }
    assert!(!text.contains("Neither `gensfen.json`"));
    assert!(text.contains(BLANK), "the name and the license still are");
}

#[test]
fn settings_of_self_play_are_told_in_the_same_way() {
    let report = r#"{"format": "manaka-selfplay", "version": 1, "writer": "manaka-selfplay 0.1.0", "settings": {
        "evaluator": {"name": "uniform"}, "search": {"rule": "gumbel", "budget": 64, "c_scale": 0.1, "quanta": 65536,
        "noise_scale": {"first": 1.0, "plies": 30, "then": 0.0}}, "play": {"play_on": 0.1}, "seed": 12345},
        "games": 20, "complete": false, "totals": {"games": 20, "positions": 2468}, "mean_plies": 123.456789,
        "false_resign_rate": null, "data_bytes": 99999, "seconds": 1.5, "evaluations_per_second": 77777.5}"#;
    let (_dir, paths) = with_beside("selfplay.json", report);
    let text = text(&paths);
    has(
        &text,
        &[
            "| evaluator | uniform |",
            "| search | gumbel |",
            "| simulations of a search | 64 |",
            "| `search.c_scale` | `0.1` |",
            "| `search.noise_scale.first` | 1 |",
            "| `search.quanta` | 65,536 |",
            "| seed | `12345` |",
            "| `mean_plies` | 123.4568 |",
            "| `false_resign_rate` | none |",
            "**The run was not complete when it wrote this.**",
            "selfplay.json: 20 games, 2,468 positions",
        ],
    );
    for gone in ["99,999", "77,777", "`seconds`"] {
        assert!(!text.contains(gone), "{gone}");
    }
}

#[test]
fn where_no_report_lies_beside_the_data_a_blank_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let paths = tiny(dir.path());
    let bare = text(&paths);
    assert!(bare.contains("Neither `gensfen.json` nor `selfplay.json` lies beside the data."));
    assert!(bare.contains("**[TO BE FILLED IN: engine and network, search effort,"));
    let told = CardOptions { name: Some("A_b *c*".to_owned()), license: Some("cc0-1.0".to_owned()), ..on(1) };
    let told = card(&paths, &told, &()).unwrap().to_string();
    has(&told, &["# A\\_b \\*c\\*", "license: \"cc0-1.0\"", "pretty_name: \"A_b *c*\"", "cc0-1.0"]);
    assert_eq!(told.matches(BLANK).count(), 2, "the sentence about blanks, and how the games were played");
}

#[test]
fn reports_that_are_none_are_errors_and_name_the_file() {
    for garbage in ["", "[]", "{", "{\"settings\": 3}", "{\"games\": 1}", "\u{0}\u{1}"] {
        let (_dir, paths) = with_beside("selfplay.json", garbage);
        let error = card(&paths, &on(1), &()).unwrap_err();
        assert!(matches!(&error, Error::Manifest { path, .. } if path.ends_with("selfplay.json")), "{error}");
        let (_dir, paths) = with_beside("LINEAGE.json", garbage);
        let error = card(&paths, &on(1), &()).unwrap_err();
        assert!(matches!(&error, Error::Lineage(_)) && error.to_string().contains("LINEAGE.json"), "{error}");
    }
}

/// A cut that wrote a part with this hash.
fn cut(hash: &str) -> String {
    let conventions = r#"{"pov": "side_to_move", "policy_source": "softmax_cp", "mate_scale": 30000, "mate_slack": 0,
        "fv_scale": 0, "eval_coef": 1512.173}"#;
    format!(
        r#"{{"format": "manaka-lineage", "version": 1, "steps": [{{
            "verb": "cut", "tool": "manaka 0.1.0", "options": {{"max_ply": 512, "relabel_cut": "draw"}},
            "conventions": {conventions},
            "inputs": [{{"name": "raw.mpk", "bytes": 4000, "records": 1234, "xxh3_128": "00"}}],
            "outputs": [{{"name": "1.mpk", "bytes": 396, "records": 3, "xxh3_128": "{hash}"}}],
            "records": {{"in": 1234, "out": 6}}, "games": {{"in": 9, "out": 2}},
            "dropped": {{"unfinished": {{"records": 1228, "games": 7, "bytes": null}}}},
            "changed": {{"relabelled": {{"records": 5, "games": 1, "bytes": null}}}}, "refused": {{}}}}]}}"#
    )
}

#[test]
fn the_chain_is_told_with_its_counts_and_files_that_no_step_wrote_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let paths = tiny(dir.path());
    let hash = format!("{:032x}", xxhash_rust::xxh3::xxh3_128(&fs::read(&paths[0]).unwrap()));
    file(dir.path(), "LINEAGE.json", cut(&hash).as_bytes());
    let one = text(&paths[..1]);
    has(
        &one,
        &[
            "manaka cut: 1,234 records in, 6 out, 2 games",
            "### 1. `manaka cut`",
            "| options | `max_ply=512` `relabel_cut=draw` |",
            "| records | 1,234 → 6 |",
            "| games | 9 → 2 |",
            "| dropped | `unfinished` | 1,228 | 7 | – |",
            "| changed | `relabelled` | 5 | 1 | – |",
            "| read | `raw.mpk` | 4,000 | 1,234 | `00` |",
            &format!("| written | `1.mpk` | 396 | 3 | `{hash}` |"),
        ],
    );
    assert!(one.contains("are, by their hashes, what the steps wrote.") && !one.contains("No step wrote"));
    assert!(text(&paths).contains("put there.** `2.mpk`"));
}

#[test]
fn a_card_as_it_was_written_can_be_told_from_one_that_was_changed() {
    let dir = tempfile::tempdir().unwrap();
    let text = text(&tiny(dir.path()));
    assert!(Card::is_untouched(text.as_bytes()));
    let filled_in = text.replacen(BLANK, "cc0", 1);
    for other in
        [&filled_in, &format!("{text}\n"), &text[1..], &text[..text.len() - 1], "", "# A README\n", " -->\n"]
    {
        assert!(!Card::is_untouched(other.as_bytes()));
    }
}

#[test]
fn garbage_is_an_error_and_no_card() {
    let dir = tempfile::tempdir().unwrap();
    let sound = stream_bytes(TEACHER, &visits_records(3, 1).into_iter().map(scored).collect::<Vec<_>>());
    let shard = fs::read(Shard::scores(score_rows(50, 5)).write(dir.path(), "s.parquet")).unwrap();
    let noise: Vec<u8> = (0..4000u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    for (at, bytes) in
        [&sound[..sound.len() - 1], &sound[..20], &shard[..shard.len() - 9], &noise, b"PAR1", b""]
            .into_iter()
            .enumerate()
    {
        let path = file(dir.path(), &format!("{at}"), bytes);
        let found = card(std::slice::from_ref(&path), &on(2), &());
        assert!(found.is_err(), "{at}: {found:?}");
    }
    assert!(matches!(card(&[], &on(1), &()), Err(Error::NoFiles)));
    let options = manaka_inspect::StatOptions::new(NonZeroUsize::MIN);
    assert!(matches!(manaka_inspect::stat(&[], &options, &()), Err(Error::NoFiles)));
    assert!(matches!(card(&[dir.path().join("missing")], &on(1), &()), Err(Error::Io { .. })));
}

/// A record of visits as one of scores.
fn scored(mut record: Record) -> Record {
    record.candidates.iter_mut().for_each(|candidate| (candidate.visits, candidate.cp) = (0, 1));
    record
}
