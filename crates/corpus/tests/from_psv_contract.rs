//! What becomes of raw records: rows, refusals, files (psv.md §7).
#![allow(clippy::panic, reason = "the helpers of tests fail as tests do")]

mod raw_games;

use manaka_core::{Color, Move16, Packed};
use manaka_corpus::psv::detect::Undecided;
use manaka_corpus::psv::{CandidateOrder, Layout, LayoutText, MoveLayout, PlayedMove, Record};
use manaka_corpus::{CorpusFile, FromPsvError, MateFold, PsvOptions, Reason, Report, Rows, from_psv};
use raw_games::{game, game_from, write};
use std::fs;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};

/// A row read back.
#[derive(Clone, PartialEq, Debug)]
struct Row {
    sfen: String,
    side: i64,
    ply: i64,
    cp: i64,
    candidates: Vec<(String, i64)>,
    mv: String,
    result: i64,
}

fn text(bytes: Option<&[u8]>) -> String {
    String::from_utf8(bytes.unwrap().to_vec()).unwrap()
}

fn rows(path: &Path) -> Vec<Row> {
    let file = CorpusFile::open(path).unwrap();
    let (mut batch, mut out) = (Rows::default(), Vec::new());
    for group in 0..file.row_groups() {
        let mut batches = file.batches(group).unwrap();
        while batches.read(&mut batch).unwrap() {
            out.extend(batch.iter().map(|row| {
                Row {
                    sfen: text(row.sfen()),
                    side: row.side().unwrap(),
                    ply: row.ply().unwrap(),
                    cp: row.cp().unwrap(),
                    candidates: row
                        .cand_move()
                        .unwrap()
                        .iter()
                        .map(text)
                        .zip(row.cand_cp().unwrap().iter().map(Option::unwrap))
                        .collect(),
                    mv: text(row.mv()),
                    result: row.result().unwrap(),
                }
            }));
        }
    }
    out
}

/// The row that psv.md §7 makes of a record.
fn expected(record: &Record) -> Row {
    let white = record.packed.side() == Color::White;
    let mv = record.mv.unwrap();
    let candidates =
        if record.candidates.is_empty() { vec![(mv, record.score)] } else { record.candidates.clone() };
    Row {
        sfen: record.packed.sfen(None).to_string(),
        side: i64::from(white),
        ply: record.ply.into(),
        cp: record.score.into(),
        candidates: candidates.into_iter().map(|(mv, cp)| (mv.to_string(), cp.into())).collect(),
        mv: mv.to_string(),
        result: i64::from(record.result) * if white { -1 } else { 1 },
    }
}

struct Case {
    dir: tempfile::TempDir,
    inputs: Vec<PathBuf>,
    options: PsvOptions,
}

impl Case {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), inputs: Vec::new(), options: PsvOptions::default() }
    }

    fn with(layout: Layout, records: &[Record]) -> Self {
        let mut case = Self::new();
        case.input(layout, records);
        case
    }

    fn input(&mut self, layout: Layout, records: &[Record]) -> &Path {
        let path = self.dir.path().join(format!("raw-{}.psv", self.inputs.len()));
        write(&path, layout, records);
        self.inputs.push(path);
        self.inputs.last().unwrap()
    }

    fn out(&self) -> PathBuf {
        self.dir.path().join("out")
    }

    fn run(&self) -> Result<(Report, Vec<Row>), FromPsvError> {
        let _ = fs::remove_dir_all(self.out());
        let report = from_psv(&self.inputs, &self.out(), &self.options, &())?;
        let written: Vec<_> = report.files.iter().flat_map(|file| rows(&file.path)).collect();
        assert_eq!(report.rows, written.len() as u64);
        assert_eq!(report.records, report.rows + report.refused_total());
        Ok((report, written))
    }
}

const FIVE: Layout = Layout::multipv(MoveLayout::YaneuraOu, 5);

fn games(count: u64, candidates: usize) -> Vec<Record> {
    (0..count).flat_map(|seed| game(seed, 60, candidates)).collect()
}

#[test]
fn records_become_rows_in_their_order_with_the_result_for_black() {
    let records = games(4, 5);
    let (report, written) = Case::with(FIVE, &records).run().unwrap();
    assert_eq!(written, records.iter().map(expected).collect::<Vec<_>>());
    assert_eq!((report.layout, report.games, report.unlisted), (FIVE, 4, 0));
    assert!(!report.has_findings());
    assert!(written.iter().any(|row| row.side == 1 && row.result == 1));
    // By hand: White is to move and lost the game, so Black won it.
    let lost = records.iter().position(|r| r.packed.side() == Color::White && r.result == -1).unwrap();
    assert_eq!(written[lost].result, 1);
}

#[test]
fn the_form_of_the_records_and_of_their_moves_is_found() {
    for moves in MoveLayout::ALL {
        for candidates in [0, 1, 5, 10] {
            let records = games(3, candidates);
            let layout = Layout::multipv(moves, candidates.try_into().unwrap());
            let (report, written) = Case::with(layout, &records).run().unwrap();
            assert_eq!(report.layout, layout);
            assert_eq!(written, records.iter().map(expected).collect::<Vec<_>>());
        }
    }
}

#[test]
fn what_is_told_is_taken() {
    // One record of one board move: nothing tells YaneuraOu's layout from Apery's.
    let records = game(1, 1, 0);
    let mut case = Case::with(Layout::plain(MoveLayout::Apery), &records);
    let refused = case.run().unwrap_err();
    assert!(matches!(refused, FromPsvError::Moves(Undecided::Ambiguous(_))), "{refused}");
    case.options.moves = Some(MoveLayout::Apery);
    assert_eq!(case.run().unwrap().1, [expected(&records[0])]);

    for order in [CandidateOrder::ScoreMove, CandidateOrder::MovesScores, CandidateOrder::ScoresMoves] {
        for played in [PlayedMove::Listed, PlayedMove::Implied] {
            let records = games(2, 4);
            let layout = Layout { moves: MoveLayout::Manaka, candidates: 4, order, played };
            let mut case = Case::with(layout, &records);
            case.options.layout = LayoutText { order, played };
            case.options.candidates = Some(4);
            let (report, written) = case.run().unwrap();
            assert_eq!(report.layout, layout);
            assert_eq!(written, records.iter().map(expected).collect::<Vec<_>>());
        }
    }
}

#[test]
fn a_wrong_order_of_candidates_is_seen_in_the_sample() {
    let mut case = Case::with(FIVE, &games(3, 5));
    case.options.layout.order = CandidateOrder::ScoreMove;
    let refused = case.run().unwrap_err();
    assert!(matches!(refused, FromPsvError::Moves(Undecided::Nothing(_))), "{refused}");
    assert!(!case.out().exists());
}

#[test]
fn mixed_layouts_are_refused_with_the_counts() {
    let [yaneuraou, apery, _] = MoveLayout::ALL.map(|moves| Layout::multipv(moves, 5));
    // Half and half in one file.
    let mut case = Case::with(yaneuraou, &games(3, 5));
    let half = fs::read(&case.inputs[0]).unwrap();
    let other = case.input(apery, &games(3, 5)).to_owned();
    fs::write(&case.inputs[0], [half.clone(), fs::read(&other).unwrap()].concat()).unwrap();
    case.inputs.pop();
    let refused = case.run().unwrap_err();
    let FromPsvError::Moves(Undecided::Mixed(tally)) = refused else { panic!("{refused}") };
    assert!(tally.positions == tally.records && tally.moves() > tally.records * 5);
    assert!(tally.only(MoveLayout::YaneuraOu) > 0 && tally.only(MoveLayout::Apery) > 0);
    assert!(refused.to_string().contains("in no other"), "{refused}");

    // Told that it is one of them, the moves of the other are refused one by one.
    case.options.moves = Some(MoveLayout::YaneuraOu);
    let (report, _) = case.run().unwrap();
    assert!(report.refused.contains_key(&Reason::BadMove) && report.rows > 180);
    case.options.moves = None;

    // Each file of its own.
    fs::write(&case.inputs[0], half).unwrap();
    case.inputs.push(other);
    let refused = case.run().unwrap_err();
    assert!(matches!(&refused, FromPsvError::MovesDiffer { .. }), "{refused}");
    let text = refused.to_string();
    assert!(text.contains("raw-0.psv") && text.contains("raw-1.psv"), "{text}");
    assert!(text.contains("yaneuraou") && text.contains("apery"), "{text}");

    case.options.moves = Some(MoveLayout::YaneuraOu);
    let refused = case.run().unwrap_err();
    assert!(
        matches!(&refused, FromPsvError::WrongMoves { path, .. } if path == &case.inputs[1]),
        "{refused}"
    );
}

#[test]
fn a_layout_of_moves_that_the_sample_contradicts_is_refused() {
    let mut case = Case::with(FIVE, &games(3, 5));
    // In Apery's layout most of them are legal, only promotions and drops are not: they would be missing in silence.
    for told in [MoveLayout::Manaka, MoveLayout::Apery] {
        case.options.moves = Some(told);
        let refused = case.run().unwrap_err();
        assert!(matches!(refused, FromPsvError::WrongMoves { told: by, .. } if by == told), "{refused}");
        assert!(refused.to_string().contains(told.name()), "{refused}");
    }
}

#[test]
fn records_of_another_length_are_refused_with_the_one_that_fits() {
    let mut case = Case::with(FIVE, &games(3, 5));
    case.options.candidates = Some(0);
    let refused = case.run().unwrap_err();
    let FromPsvError::WrongLength { candidates: 0, fitting: Some(5), positions, .. } = &refused else {
        panic!("{refused}")
    };
    assert!(positions.decoded < positions.records / 2);
    assert!(refused.to_string().ends_with("with 5 they do"), "{refused}");

    case.options.candidates = None;
    case.input(Layout::plain(MoveLayout::YaneuraOu), &games(1, 0));
    let refused = case.run().unwrap_err();
    let FromPsvError::WrongLength { path, candidates: 5, fitting: Some(0), .. } = &refused else {
        panic!("{refused}")
    };
    assert_eq!(path, &case.inputs[1]);
}

#[test]
fn a_part_of_the_right_length_is_not_taken_for_it() {
    // At half of 120 bytes every second record begins with a position, at a third of them every third.
    for count in [1, 2, 15, 16, 17, 32, 60] {
        let records = game(3, count, 20);
        let mut case = Case::with(Layout::multipv(MoveLayout::Manaka, 20), &records);
        case.options.moves = Some(MoveLayout::Manaka);
        assert_eq!(case.run().unwrap().0.layout.candidates, 20, "{count} records");
    }
    // Half of the positions are damaged, and nothing else fits.
    let records = games(1, 5);
    let mut case = Case::with(FIVE, &records);
    let mut bytes = fs::read(&case.inputs[0]).unwrap();
    bytes.chunks_exact_mut(60).step_by(2).for_each(|record| record[..32].fill(0));
    fs::write(&case.inputs[0], bytes).unwrap();
    assert!(matches!(case.run().unwrap_err(), FromPsvError::NotPsv { .. }));
    case.options.candidates = Some(5);
    let (report, _) = case.run().unwrap();
    assert_eq!(report.refused, [(Reason::BadPosition, records.len().div_ceil(2) as u64)].into());
}

#[test]
fn bytes_that_are_no_records_are_refused_before_anything_is_written() {
    let mut case = Case::new();
    case.inputs.push(case.dir.path().join("text.psv"));
    fs::write(&case.inputs[0], "not a record, ".repeat(1000)).unwrap();
    assert!(matches!(case.run().unwrap_err(), FromPsvError::NotPsv { longest: 296, .. }));
    fs::write(&case.inputs[0], "").unwrap();
    assert!(matches!(case.run().unwrap_err(), FromPsvError::NoRecords));
    fs::write(&case.inputs[0], "a few bytes").unwrap();
    assert!(matches!(case.run().unwrap_err(), FromPsvError::NoRecords));
    case.options.candidates = Some(5);
    assert!(matches!(case.run().unwrap_err(), FromPsvError::NoRecords));
    case.inputs[0] = case.dir.path().to_owned();
    assert!(matches!(case.run().unwrap_err(), FromPsvError::Io { .. }));
    case.inputs[0] = case.dir.path().join("missing.psv");
    assert!(case.run().unwrap_err().to_string().contains("missing.psv"));
    assert!(!case.out().exists());
}

/// Four games with one record changed: its reason, and that all others became rows.
fn refused_by(change: impl FnOnce(&mut Record)) -> (Reason, String) {
    let mut records = games(4, 5);
    change(&mut records[77]);
    refused_of(FIVE, &records, |_| {})
}

fn refused_of(layout: Layout, records: &[Record], change: impl FnOnce(&mut [u8])) -> (Reason, String) {
    let case = Case::with(layout, records);
    let mut bytes = fs::read(&case.inputs[0]).unwrap();
    let len = layout.record_len();
    change(&mut bytes[77 * len..78 * len]);
    fs::write(&case.inputs[0], bytes).unwrap();
    let (report, mut written) = case.run().unwrap();
    assert_eq!(report.refused_total(), 1);
    let [refused] = report.refused_first.as_slice() else { panic!("{report:?}") };
    assert_eq!((refused.record, refused.offset), (77, 77 * len as u64));
    assert_eq!(refused.path, case.inputs[0]);
    assert_eq!(report.refused, [(refused.reason, 1)].into());
    assert!(report.has_findings());
    let mut others: Vec<_> =
        records.iter().map(|record| Record { mv: Some(mv_of(record)), ..record.clone() }).collect();
    others.remove(77);
    assert_eq!(written.len(), others.len());
    assert!(written.drain(..).eq(others.iter().map(expected)));
    (refused.reason, refused.detail.clone())
}

fn mv_of(record: &Record) -> Move16 {
    record.mv.unwrap_or(Move16::from_usi("1a1b").unwrap())
}

#[test]
fn every_reason_refuses_its_record_alone() {
    let mv = |usi| Move16::from_usi(usi).unwrap();
    let packed = |sfen| Packed::from_sfen(sfen).unwrap().0;
    let bytes = |change: fn(&mut [u8])| refused_of(FIVE, &games(4, 5), change);
    let seen = [
        bytes(|record| record[5..20].fill(0)),
        bytes(|record| record[38] = 2),
        bytes(|record| record[34..36].fill(0xFF)),
        bytes(|record| record[44..46].fill(0xFF)),
        // The king that is not to move stands in check; two pawns on a file.
        refused_by(|record| record.packed = packed("4k4/4R4/9/9/9/9/9/9/4K4 b - 1")),
        refused_by(|record| record.packed.as_bytes_mut().copy_from_slice(nifu().as_bytes())),
        refused_by(|record| record.mv = None),
        refused_by(|record| record.mv = Some(mv("5e5d"))),
        refused_by(|record| record.candidates.clear()),
        refused_by(|record| record.candidates[3].0 = mv("5e5d")),
        refused_by(|record| record.candidates[3].0 = record.candidates[1].0),
        refused_by(|record| record.score = i16::MIN),
        refused_by(|record| record.candidates[4].1 = i16::MIN),
    ];
    let ids: Vec<_> = seen.iter().map(|(reason, _)| reason.id()).collect();
    assert_eq!(
        ids,
        [
            "bad_position",
            "bad_result",
            "bad_move",
            "bad_candidate",
            "unplayable",
            "unplayable",
            "no_move",
            "illegal_move",
            "no_candidates",
            "illegal_candidate",
            "duplicate_candidate",
            "bad_score",
            "bad_score",
        ]
    );
    let seen: std::collections::BTreeSet<_> = seen.into_iter().map(|(reason, _)| reason).collect();
    assert!(seen.into_iter().eq(Reason::ALL), "every reason comes up");
}

/// Two Black pawns on a file, which can be packed and not played on.
fn nifu() -> Packed {
    let mut packed = Packed::from_sfen("4k4/9/9/9/9/9/9/9/4K4 b - 1").unwrap().0;
    packed.as_bytes_mut()[4] = 0x07;
    packed.as_bytes_mut()[6] = 0x07;
    packed
}

#[test]
fn a_played_move_that_is_no_candidate_is_kept_and_counted() {
    let mut records = games(2, 5);
    for record in &mut records[10..13] {
        record.candidates.remove(0);
    }
    let (report, written) = Case::with(FIVE, &records).run().unwrap();
    assert_eq!((report.unlisted, report.refused_total()), (3, 0));
    assert_eq!(written, records.iter().map(expected).collect::<Vec<_>>());
}

#[test]
fn records_that_do_not_follow_one_another_are_judged_alone() {
    // Shuffled, with plies that promise what the positions do not hold, and a handicap in between.
    let mut records = games(3, 5);
    records.extend(game_from("lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1", 9, 60, 5));
    let mut draws = raw_games::Draws::new(5);
    for at in (1..records.len()).rev() {
        let other = draws.below(at + 1);
        records.swap(at, other);
    }
    for (at, record) in records.iter_mut().enumerate() {
        record.ply = u16::try_from(at).unwrap();
    }
    let (report, written) = Case::with(FIVE, &records).run().unwrap();
    assert_eq!((report.refused_total(), report.games), (0, 1));
    assert_eq!(written, records.iter().map(expected).collect::<Vec<_>>());
}

#[test]
fn a_torn_tail_is_told_and_the_whole_records_are_taken() {
    let mut case = Case::with(FIVE, &games(1, 5));
    let bytes = fs::read(&case.inputs[0]).unwrap();
    let (whole, torn) = (bytes.len() / 60 - 1, 17);
    fs::write(&case.inputs[0], &bytes[..whole * 60 + torn]).unwrap();
    case.input(FIVE, &game(2, 60, 5));
    let (report, written) = case.run().unwrap();
    assert!(report.has_findings());
    assert_eq!(written.len(), report.rows as usize);
    let [tail] = report.torn.as_slice() else { panic!("{report:?}") };
    assert_eq!(tail.path, case.inputs[0]);
    assert_eq!((tail.record, tail.offset, tail.bytes), (whole as u64, whole as u64 * 60, 17));
    assert!(tail.to_string().contains("truncated"), "{tail}");
    assert_eq!(report.games, 2);
}

#[test]
fn a_game_may_straddle_inputs_and_files() {
    let records = games(2, 5);
    let mut case = Case::new();
    for part in records.chunks(50) {
        case.input(FIVE, part);
    }
    case.options.rows_per_file = NonZeroU64::new(33).unwrap();
    let (report, written) = case.run().unwrap();
    assert_eq!(report.games, 2);
    assert_eq!(written, records.iter().map(expected).collect::<Vec<_>>());
    let (sizes, names): (Vec<_>, Vec<_>) = report
        .files
        .iter()
        .map(|file| (file.rows, file.path.file_name().unwrap().to_str().unwrap().to_owned()))
        .unzip();
    assert_eq!(sizes[..sizes.len() - 1], vec![33; sizes.len() - 1]);
    assert!(names.iter().enumerate().all(|(i, name)| *name == format!("part-{i:05}.parquet")));
    // Nothing but the files is there.
    assert_eq!(fs::read_dir(case.out()).unwrap().count(), names.len());
}

#[test]
fn a_ply_that_does_not_increase_begins_a_game() {
    for (plies, games) in [([1, 2, 3], 1), ([1, 5, 9], 1), ([1, 1, 2], 2), ([3, 3, 3], 3), ([9, 8, 9], 2)] {
        let mut records = game(1, 3, 5);
        for (record, ply) in records.iter_mut().zip(plies) {
            record.ply = ply;
        }
        // Within a row group, and from one to the next.
        for rows_per_file in [3, 1] {
            let mut case = Case::with(FIVE, &records);
            case.options.moves = Some(MoveLayout::YaneuraOu);
            case.options.rows_per_file = NonZeroU64::new(rows_per_file).unwrap();
            assert_eq!(case.run().unwrap().0.games, games, "{plies:?}");
        }
    }
}

#[test]
fn the_files_do_not_depend_on_threads_or_on_the_cut_of_the_inputs() {
    // More than two row groups.
    let records: Vec<_> = (0..900).flat_map(|seed| game(seed, 90, 2)).collect();
    assert!(records.len() as u64 > 2 * PsvOptions::ROWS_PER_GROUP);
    let layout = Layout::multipv(MoveLayout::Apery, 2);
    let mut bytes = Vec::new();
    for (threads, cut) in [(1, records.len()), (2, 1000), (7, 31_000)] {
        let mut case = Case::new();
        for part in records.chunks(cut) {
            case.input(layout, part);
        }
        case.options.threads = NonZeroUsize::new(threads).unwrap();
        case.options.rows_per_file = NonZeroU64::new(40_000).unwrap();
        let (report, _) = case.run().unwrap();
        bytes.push(report.files.iter().map(|file| fs::read(&file.path).unwrap()).collect::<Vec<_>>());
        assert_eq!((report.files.len(), report.games), (records.len().div_ceil(40_000), 900));
    }
    assert!(bytes.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn files_whose_records_are_all_refused_leave_no_gap_in_the_numbers() {
    let mut records = games(3, 5);
    records[..40].iter_mut().for_each(|record| record.mv = None);
    let mut case = Case::with(FIVE, &records);
    case.options.rows_per_file = NonZeroU64::new(20).unwrap();
    let (report, written) = case.run().unwrap();
    assert_eq!(report.refused, [(Reason::NoMove, 40)].into());
    assert_eq!(report.refused_first.len(), Report::REFUSED_SHOWN);
    assert!(report.refused_first.iter().map(|refused| refused.record).eq(0..10));
    assert!(report.files[0].path.ends_with("part-00000.parquet"));
    assert_eq!(written, records[40..].iter().map(expected).collect::<Vec<_>>());

    // None at all: one file without rows, which opens.
    records.iter_mut().for_each(|record| record.mv = None);
    let case = Case::with(FIVE, &records);
    let (report, written) = case.run().unwrap();
    assert_eq!((report.rows, report.files.len(), written.len()), (0, 1, 0));
}

#[test]
fn a_file_that_is_there_already_is_not_touched() {
    let case = Case::with(FIVE, &games(1, 5));
    fs::create_dir(case.out()).unwrap();
    let path = case.out().join("part-00000.parquet");
    fs::write(&path, "precious").unwrap();
    let refused = from_psv(&case.inputs, &case.out(), &case.options, &()).unwrap_err();
    assert!(matches!(refused, FromPsvError::Write(_)), "{refused}");
    assert_eq!(fs::read(&path).unwrap(), b"precious");
}

#[test]
fn more_files_than_can_be_numbered_are_refused() {
    let mut case = Case::with(Layout::plain(MoveLayout::Manaka), &games(3, 0));
    let bytes = fs::read(&case.inputs[0]).unwrap();
    fs::write(&case.inputs[0], bytes.repeat(100_001 / (bytes.len() / 40) + 1)).unwrap();
    case.options.rows_per_file = NonZeroU64::MIN;
    assert!(matches!(case.run().unwrap_err(), FromPsvError::TooManyFiles { .. }));
    assert!(!case.out().exists());
}

#[test]
fn scores_are_untouched_unless_a_fold_is_asked_for() {
    let mut records = games(1, 5);
    for (record, score) in records.iter_mut().zip([31_999, -31_990, 31_753, -29_700, 32_000, 29_000]) {
        record.score = score;
        record.candidates[0].1 = score;
        record.candidates[1].1 = 12;
    }
    let mut case = Case::with(FIVE, &records);
    let (report, written) = case.run().unwrap();
    assert_eq!(written, records.iter().map(expected).collect::<Vec<_>>());
    assert_eq!((report.mates_folded, report.scores_clamped), (0, 0));

    case.options.mates = Some(MateFold::new((32_000, 100), (30_000, 0)).unwrap());
    let (report, written) = case.run().unwrap();
    let folded = [29_999, -29_990, 29_679, -29_679, 30_000, 29_000];
    for (row, cp) in written.iter().zip(folded) {
        assert_eq!((row.cp, row.candidates[0].1, row.candidates[1].1), (cp, cp, 12));
    }
    // Three mates and two ordinary scores, each as the root's and as a candidate's.
    assert_eq!((report.mates_folded, report.scores_clamped), (6, 4));
    let others = records[6..].iter().map(expected);
    assert!(written[6..].iter().cloned().eq(others));

    records[2].score = -32_001;
    let case = Case { options: case.options.clone(), ..Case::with(FIVE, &records) };
    let (report, _) = case.run().unwrap();
    assert_eq!(report.refused, [(Reason::BadScore, 1)].into());
    assert!(report.refused_first[0].detail.contains("-32001"));
    // What was counted of a record that is refused is not counted.
    assert_eq!((report.mates_folded, report.scores_clamped), (6, 2));
}
