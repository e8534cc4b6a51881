//! psv.md and the code say the same: byte tables, codes, moves, names, cited sections.

use manaka_core::sfen::STARTPOS;
use manaka_core::{Move16, Packed};
use manaka_corpus::psv::{
    CANDIDATE_LEN, CandidateOrder, Layout, LayoutText, MoveLayout, PSV_LEN, PlayedMove, Record, SFEN_LEN,
    encode_position,
};
use manaka_corpus::{MateFold, PsvOptions, Reason};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page(name: &str) -> String {
    fs::read_to_string(root().join("docs/spec").join(name)).unwrap()
}

/// The number of a heading, `3.2` of `### 3.2 Pieces`.
fn heading(line: &str) -> Option<&str> {
    let number = line.strip_prefix('#')?.trim_start_matches('#').trim().split(' ').next()?;
    let number = number.trim_end_matches('.');
    number.starts_with(|c: char| c.is_ascii_digit()).then_some(number)
}

fn section(page: &str, number: &str) -> Vec<String> {
    let lines = page.lines().skip_while(|line| heading(line) != Some(number)).skip(1);
    let lines: Vec<_> = lines.take_while(|line| heading(line).is_none()).map(str::to_owned).collect();
    assert!(!lines.is_empty(), "no section {number}");
    lines
}

/// The cells of the table in a section whose first column has this name.
fn rows(number: &str, first_column: &str) -> Vec<Vec<String>> {
    let cells = |line: &String| {
        line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>()
    };
    let rows: Vec<_> = section(&page("psv.md"), number)
        .iter()
        .map(cells)
        .skip_while(|row| row[0] != first_column)
        .skip(2)
        .take_while(|row| row.len() > 1)
        .collect();
    assert!(!rows.is_empty(), "section {number} has no table of {first_column}");
    rows
}

fn plain(cell: &str) -> &str {
    cell.trim_matches('`')
}

/// First byte and length of each field; they must lie end to end.
fn byte_table(number: &str) -> Vec<(String, usize, usize)> {
    let mut end = 0;
    rows(number, "bytes")
        .into_iter()
        .map(|row| {
            let (from, to) = row[0].split_once("..").unwrap();
            let (from, to): (usize, usize) = (from.parse().unwrap(), to.parse().unwrap());
            assert_eq!((from, to - from), (end, row[1].parse().unwrap()), "{row:?}");
            end = to;
            (plain(&row[3]).to_owned(), from, to - from)
        })
        .collect()
}

fn mv(usi: &str) -> Move16 {
    Move16::from_usi(usi).unwrap()
}

fn record() -> (Record, Layout) {
    let record = Record {
        packed: Packed::from_sfen(STARTPOS).unwrap().0,
        score: 0x3132,
        mv: Some(mv("2g2f")),
        ply: 0x4142,
        result: -1,
        pad: 0x51,
        candidates: vec![(mv("7g7f"), 0x6162), (mv("2g2f"), 0x7172)],
    };
    (record, Layout::multipv(MoveLayout::Manaka, 2))
}

#[test]
fn the_byte_tables_are_what_the_code_writes() {
    let (record, layout) = record();
    let mut bytes = Vec::new();
    layout.encode(&record, &mut bytes).unwrap();
    let position = encode_position(&record.packed).unwrap();
    let bits = record.mv.unwrap().bits().to_le_bytes();
    let fields: [(&str, &[u8]); 6] = [
        ("position", &position),
        ("score", &[0x32, 0x31]),
        ("move", &bits),
        ("ply", &[0x42, 0x41]),
        ("result", &[0xFF]),
        ("pad", &[0x51]),
    ];
    let table = byte_table("2");
    assert_eq!(table.len(), fields.len());
    for ((field, at, len), (name, value)) in table.into_iter().zip(fields) {
        assert_eq!((field.as_str(), &bytes[at..at + len]), (name, value));
    }
    assert_eq!(byte_table("2").iter().map(|(_, _, len)| len).sum::<usize>(), PSV_LEN);
    assert_eq!(byte_table("2")[0].2, SFEN_LEN);

    let table = byte_table("5");
    assert_eq!(table.iter().map(|(_, _, len)| len).sum::<usize>(), CANDIDATE_LEN);
    let second = &bytes[PSV_LEN + CANDIDATE_LEN..];
    assert_eq!((table[0].0.as_str(), &second[..2]), ("move", bits.as_slice()));
    assert_eq!((table[1].0.as_str(), &second[2..]), ("score", [0x72, 0x71].as_slice()));
}

#[test]
fn the_codes_are_what_the_code_writes() {
    // Behind the 15 bits of side and kings comes 1a; behind its code and 78 empty squares, the hands.
    const BOARD: usize = 15;
    let bits = |sfen: &str| {
        let bytes = encode_position(&Packed::from_sfen(sfen).unwrap().0).unwrap();
        (0..256).map(|i| char::from(b'0' + (bytes[i / 8] >> (i % 8) & 1))).collect::<String>()
    };
    let fill = |pattern: &str, promoted: bool, white: bool| {
        let bit = |set| if set { "1" } else { "0" };
        pattern.replace(['`', ' '], "").replace('p', bit(promoted)).replace('c', bit(white))
    };
    let table = rows("3.2", "piece");
    assert_eq!(table[0][..3], ["none", "`0`", "`0`"]);
    assert_eq!(table.len(), 8);
    for row in &table[1..] {
        let (letter, board, hand, boxed) = (&row[0], &row[2], &row[3], &row[4]);
        for white in [false, true] {
            let letter = if white { letter.to_lowercase() } else { letter.clone() };
            // A pawn, lance or knight of Black cannot stand on 1a, and none of White on 1i; that is no matter here,
            // but for the reader of the SFEN, so the piece stands on 1e.
            let sfen = |piece: &str| bits(&format!("4k4/9/9/9/8{piece}/9/9/9/4K4 b - 1"));
            let plain = sfen(&letter);
            assert!(plain[BOARD + 4..].starts_with(&fill(board, false, white)), "{row:?}");
            if board.contains('p') {
                let promoted = sfen(&format!("+{letter}"));
                assert!(promoted[BOARD + 4..].starts_with(&fill(board, true, white)), "{row:?}");
            }
            let held = bits(&format!("4k4/9/9/9/9/9/9/9/4K4 b {letter} 1"));
            assert!(held[BOARD + 79..].starts_with(&fill(hand, false, white)), "{row:?}");
        }
        // Everything is in hand or on the board but one of this kind: it alone ends the bits.
        let hands = "RBGSNLPrb3g3s3n3l17p";
        let short = hands.replacen(letter.as_str(), "", 1);
        let boxed = fill(boxed, false, false);
        assert!(bits(&format!("4k4/9/9/9/9/9/9/9/4K4 b {short} 1")).ends_with(&boxed), "{row:?}");
    }
}

#[test]
fn the_table_of_moves_is_what_the_code_writes() {
    for row in rows("4", "move") {
        for (layout, cell) in MoveLayout::ALL.into_iter().zip(&row[1..]) {
            let bits = u16::from_str_radix(plain(cell), 16).unwrap();
            assert_eq!(layout.encode(mv(&row[0])), Some(bits), "{layout} {row:?}");
            assert_eq!(layout.decode(bits), Some(mv(&row[0])), "{layout} {row:?}");
        }
    }
    let names: Vec<_> = rows("4", "name").iter().map(|row| plain(&row[0]).to_owned()).collect();
    assert_eq!(names, MoveLayout::ALL.map(|layout| layout.to_string()));
}

#[test]
fn the_names_of_layouts_and_refusals_are_those_of_the_code() {
    let names: Vec<_> = rows("5", "`--layout`").iter().map(|row| plain(&row[0]).to_owned()).collect();
    let orders = [
        CandidateOrder::MoveScore,
        CandidateOrder::ScoreMove,
        CandidateOrder::MovesScores,
        CandidateOrder::ScoresMoves,
    ];
    let text = |order| LayoutText { order, played: PlayedMove::Listed }.to_string();
    assert_eq!(names, orders.map(text));
    assert_eq!(LayoutText::default(), LayoutText { order: orders[0], played: PlayedMove::Listed });
    let implied = LayoutText { order: orders[0], played: PlayedMove::Implied };
    assert!(page("psv.md").contains(&format!("(`{implied}`)")));

    let ids: Vec<_> = rows("7.1", "id").iter().map(|row| plain(&row[0]).to_owned()).collect();
    assert_eq!(ids, Reason::ALL.map(|reason| reason.to_string()));
}

#[test]
fn the_defaults_are_those_of_the_code() {
    let page = page("psv.md");
    let grouped = |number: u64| format!("{},{:03}", number / 1000, number % 1000);
    assert!(
        page.contains(&format!(
            "Row groups hold the rows of {} records",
            grouped(PsvOptions::ROWS_PER_GROUP)
        ))
    );
    assert_eq!(PsvOptions::DEFAULT_ROWS_PER_FILE.get(), 10_000_000);
    assert!(page.contains("(10,000,000 unless told otherwise)"));
    let (scale, slack) = (MateFold::DEFAULT_ENGINE_SCALE, MateFold::DEFAULT_ENGINE_SLACK);
    assert!(page.contains(&format!("(`--engine-mate-scale`, {scale} unless told otherwise)")));
    assert!(page.contains(&format!("The slack of `E` is {slack} unless told otherwise")));
    let longest = manaka_corpus::psv::detect::MAX_CANDIDATES;
    assert!(page.contains(&format!("The least number from 0 to {longest} ")));
}

#[test]
fn every_section_that_is_cited_exists() {
    fn sources(dir: &Path, out: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                sources(&path, out);
            } else if path.extension().is_some_and(|end| end == "rs") {
                out.push(path);
            }
        }
    }
    let mut files = Vec::new();
    ["src", "tests", "examples"]
        .iter()
        .for_each(|dir| sources(&root().join("crates/corpus").join(dir), &mut files));
    let psv = page("psv.md");
    let known: BTreeSet<_> = psv.lines().filter_map(heading).collect();
    let mut cited = BTreeSet::new();
    let cite = concat!("psv.", "md §");
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for rest in text.split(cite).skip(1) {
            let number: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
            let number = number.trim_end_matches('.').to_owned();
            assert!(known.contains(number.as_str()), "{}: {cite}{number}", file.display());
            cited.insert(number);
        }
    }
    assert!(cited.len() > 5, "{cited:?}");
    // Within the page: a bare § is one of its own.
    let own = psv.replace("stream.md §", "").replace("[stream.md §", "").replace("conventions.md §", "");
    let own = own.replace("corpus.md §", "");
    for rest in own.split('§').skip(1) {
        let number: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
        assert!(known.contains(number.trim_end_matches('.')), "§{number}");
    }
}
