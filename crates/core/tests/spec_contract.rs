//! The pages under `docs/spec` and the code say the same: byte tables, error ids, cited sections.
#![allow(clippy::panic, reason = "the helpers of tests fail as tests do")]

use manaka_core::conventions::{NO_CP, NO_OUTCOME, NO_VISITS};
use manaka_core::packed::{BLACK_HAND, BOARD, PACKED_LEN, SIDE, WHITE_HAND};
use manaka_core::stream::{
    ABSENT_OUTCOME_VERSION, CANDIDATE_LEN, Candidate, FIXED_LEN, HEADER_LEN, Header, MAGIC, Record, VERSION,
};
use manaka_core::{Conventions, Fault, HandKind, Move16, Packed, PieceKind, PolicySource, Pov};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page(name: &str) -> String {
    let path = root().join("docs/spec").join(name);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The number of a heading: `4.2` of `### 4.2 Board byte`, `## §4.2: …` or the like.
fn heading(line: &str) -> Option<String> {
    let text = line.strip_prefix('#')?.trim_start_matches('#').trim().trim_start_matches('§');
    let number: String = text.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    let number = number.trim_end_matches('.');
    (!number.is_empty()).then(|| number.to_owned())
}

/// The lines of a section, those of its subsections not included.
fn section(page: &str, number: &str) -> Vec<String> {
    let lines: Vec<String> = page
        .lines()
        .skip_while(|line| heading(line).as_deref() != Some(number))
        .skip(1)
        .take_while(|line| heading(line).is_none())
        .map(str::to_owned)
        .collect();
    assert!(!lines.is_empty(), "no section {number}");
    lines
}

/// The cells of the table rows of a section, the head and the rule below it not included.
fn rows(page: &str, number: &str, first_column: &str) -> Vec<Vec<String>> {
    let rows: Vec<Vec<String>> = section(page, number)
        .iter()
        .filter(|line| line.starts_with('|'))
        .map(|line| {
            line.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`').to_owned()).collect()
        })
        .skip_while(|row: &Vec<String>| row[0] != first_column)
        .skip(2)
        .collect();
    assert!(!rows.is_empty(), "section {number} has no table of {first_column}");
    rows
}

/// Field, range and type of every row of a byte table; the rows must lie end to end from 0.
fn byte_table(page: &str, number: &str) -> Vec<(String, Range<usize>, String)> {
    let mut end = 0;
    rows(page, number, "bytes")
        .into_iter()
        .map(|row| {
            let (from, to) = row[0].split_once("..").unwrap();
            let range = from.parse().unwrap()..to.parse().unwrap();
            assert_eq!(range.start, end, "{row:?}: a gap or an overlap");
            assert_eq!(range.len(), row[1].parse::<usize>().unwrap(), "{row:?}");
            let width = match &*row[2] {
                "u8" => 1,
                "u16" | "i16" => 2,
                "u32" | "f32" => 4,
                "bytes" => range.len(),
                other => panic!("{other} is no type"),
            };
            assert_eq!(range.len(), width, "{row:?}");
            end = range.end;
            (row[3].clone(), range, row[2].clone())
        })
        .collect()
}

/// Asserts that `bytes` hold each field where the table has it: every field of the table, and no other.
fn assert_fields(table: &[(String, Range<usize>, String)], bytes: &[u8], fields: &[(&str, &[u8])]) {
    let named: Vec<&str> = table.iter().map(|(field, ..)| field.as_str()).collect();
    let expected: Vec<&str> = fields.iter().map(|(field, _)| *field).collect();
    assert_eq!(named, expected);
    for ((field, range, _), (_, value)) in table.iter().zip(fields) {
        assert_eq!(&bytes[range.clone()], *value, "{field}");
    }
}

#[test]
fn the_header_table_is_what_the_code_writes() {
    let table = byte_table(&page("stream.md"), "2");
    assert_eq!(table.last().unwrap().1.end, HEADER_LEN);
    let header = Header::new(Conventions {
        pov: Pov::Black,
        policy_source: PolicySource::SoftmaxCp,
        mate_scale: 0x7172,
        mate_slack: 0x0304,
        fv_scale: 0x0506,
        eval_coef: 600.5,
    });
    assert_fields(
        &table,
        &header.encode(),
        &[
            ("magic", &MAGIC),
            ("version", &VERSION.to_le_bytes()),
            ("packed_len", &[u8::try_from(PACKED_LEN).unwrap(), 0]),
            ("pov", &[1]),
            ("policy_source", &[1]),
            ("mate_scale", &[0x72, 0x71]),
            ("fv_scale", &[0x06, 0x05]),
            ("mate_slack", &[0x04, 0x03]),
            ("eval_coef", &600.5f32.to_le_bytes()),
            ("flags", &[0; 4]),
        ],
    );
    let version = &rows(&page("stream.md"), "2", "bytes")[1][4];
    assert!(
        version.starts_with(&format!("{VERSION}, or {ABSENT_OUTCOME_VERSION} where an outcome")),
        "{version}"
    );
}

#[test]
fn the_record_tables_are_what_the_code_writes() {
    let stream = page("stream.md");
    let mut packed = Packed::empty();
    for (i, byte) in packed.as_bytes_mut().iter_mut().enumerate() {
        *byte = u8::try_from(i + 100).unwrap();
    }
    let record = Record {
        ply: 0x0102,
        value_z: -1.0,
        value_q: 0.3,
        packed,
        candidates: vec![
            Candidate { mv: Move16::from_bits(0x1112), visits: 0x2122_2324, cp: 0x3132 },
            Candidate { mv: Move16::from_bits(0x4142), visits: 0, cp: 0 },
        ],
    };
    let mut bytes = Vec::new();
    record.encode(&mut bytes).unwrap();

    let fixed = byte_table(&stream, "3.1");
    let last = fixed.last().unwrap();
    assert_eq!((last.1.clone(), &*last.0), (FIXED_LEN..FIXED_LEN + PACKED_LEN, "packed"));
    assert_fields(
        &fixed,
        &bytes,
        &[
            ("ply", &[0x02, 0x01]),
            ("value_z", &(-1.0f32).to_le_bytes()),
            ("value_q", &0.3f32.to_le_bytes()),
            ("n_cand", &[2, 0]),
            ("packed", packed.as_bytes()),
        ],
    );

    let candidate = byte_table(&stream, "3.2");
    assert_eq!(candidate.last().unwrap().1.end, CANDIDATE_LEN);
    assert_fields(
        &candidate,
        &bytes[FIXED_LEN + PACKED_LEN..],
        &[("mv", &[0x12, 0x11]), ("visits", &[0x24, 0x23, 0x22, 0x21]), ("cp", &[0x32, 0x31])],
    );
    assert_eq!(bytes.len(), FIXED_LEN + PACKED_LEN + 2 * CANDIDATE_LEN);

    let text = stream.replace('*', "");
    assert!(text.contains(&format!("{} when absent", NO_VISITS)));
    assert!(text.contains(&format!("version {ABSENT_OUTCOME_VERSION}: {NO_OUTCOME} when absent")));
    assert!(text.contains(&format!("−{} when absent", NO_CP.unsigned_abs())));
    assert!(text.contains(&format!("`{} + {CANDIDATE_LEN} · n_cand` bytes", FIXED_LEN + PACKED_LEN)));
    assert!(text.contains("524,388") && FIXED_LEN + PACKED_LEN + CANDIDATE_LEN * 65535 == 524_388);
}

#[test]
fn the_position_tables_are_what_the_code_reads() {
    let stream = page("stream.md");
    let table = byte_table(&stream, "4");
    let ranges: Vec<_> = table.iter().map(|(field, range, _)| (field.as_str(), range.clone())).collect();
    assert_eq!(
        ranges,
        [
            ("board", BOARD),
            ("black_hand", BLACK_HAND),
            ("white_hand", WHITE_HAND),
            ("side", SIDE..PACKED_LEN)
        ]
    );

    let lines = |number: &str, first: &str| -> Vec<String> {
        let line =
            section(&stream, number).into_iter().find(|line| line.starts_with(&format!("| {first} |")));
        let line = line.unwrap_or_else(|| panic!("section {number} has no row {first}"));
        line.trim_matches('|').split('|').skip(1).map(|cell| cell.trim().to_owned()).collect()
    };
    let numbers = |n: usize| (0..n).map(|i| i.to_string()).collect::<Vec<_>>();
    assert_eq!(lines("4.2", "kind"), numbers(PieceKind::COUNT));
    assert_eq!(lines("4.2", "piece"), PieceKind::ALL.map(PieceKind::sfen));
    assert_eq!(lines("4.3", "hand index"), numbers(HandKind::COUNT));
    assert_eq!(lines("4.3", "piece"), HandKind::ALL.map(|kind| kind.letter().to_string()));
    assert_eq!(lines("4.3", "full set"), HandKind::ALL.map(|kind| kind.full_set().to_string()));
}

#[test]
fn the_structural_faults_are_those_of_the_page_in_its_order() {
    let ids: Vec<String> =
        rows(&page("stream.md"), "4.4", "id").into_iter().map(|row| row[0].clone()).collect();
    assert_eq!(ids, Fault::ALL.map(Fault::id));
}

/// The ids that `fn id` of a source file returns: the right sides of its arms, in order.
fn ids_in(source: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/stream").join(source);
    let text = fs::read_to_string(path).unwrap();
    text.lines()
        .filter_map(|line| line.trim().split_once(" => \"")?.1.strip_suffix("\","))
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_error_ids_are_those_of_the_page() {
    let stream = page("stream.md");
    let ids = |number| rows(&stream, number, "id").into_iter().map(|row| row[0].clone());
    let listed: Vec<String> = ["6.1", "6.2", "6.3", "6.4"].into_iter().flat_map(ids).collect();
    let in_code: BTreeSet<String> = ids_in("error.rs").into_iter().chain(ids_in("record.rs")).collect();
    assert!(in_code.len() > 20, "{in_code:?}");
    // `truncated` ends a header as well as a record; every other id has one place.
    let mut times = BTreeMap::new();
    for id in &listed {
        *times.entry(id.clone()).or_insert(0) += 1;
    }
    let twice: Vec<_> = times.iter().filter(|(_, n)| **n != 1).collect();
    assert_eq!(twice, [(&"truncated".to_owned(), &2)]);
    assert_eq!(times.into_keys().collect::<BTreeSet<_>>(), in_code);

    let of_records: Vec<String> =
        ids_in("record.rs").into_iter().filter(|id| id != "many_candidates").collect();
    assert_eq!(ids("6.3").collect::<Vec<_>>(), of_records);
}

#[test]
fn the_conventions_of_the_page_are_the_constants() {
    let conventions = page("conventions.md");
    let table = rows(&conventions, "3", "mate_scale");
    assert_eq!(table.len(), 3);
    for row in table {
        let [mate_scale, mate_slack] = [&row[0], &row[1]].map(|cell| cell.parse().unwrap());
        let stated = Conventions { mate_scale, mate_slack, ..Conventions::TEACHER };
        let threshold = stated.mate_threshold().map_or("none".to_owned(), |threshold| threshold.to_string());
        assert_eq!(row[2], threshold, "{row:?}");
    }
    let teacher = Conventions::TEACHER;
    let defaults = format!(
        "`mate_scale` {}, `mate_slack` {}, `fv_scale` {}, `eval_coef` {}",
        teacher.mate_scale, teacher.mate_slack, teacher.fv_scale, teacher.eval_coef
    );
    assert!(conventions.contains(&defaults), "{defaults}");
    assert_eq!(teacher.eval_coef.to_le_bytes(), [0x89, 0x05, 0xbd, 0x44]);
    assert!(conventions.contains("`89 05 bd 44`"));
    let temperature = manaka_core::conventions::DEFAULT_SOFTMAX_TEMP_CP;
    assert!(conventions.contains(&format!("`T` is {temperature} cp unless")));
    let fields: Vec<String> =
        rows(&conventions, "2", "field").into_iter().map(|row| row[0].clone()).collect();
    assert_eq!(fields, ["pov", "policy_source", "mate_scale", "mate_slack", "fv_scale", "eval_coef"]);
    for id in [Pov::SideToMove.id(), Pov::Black.id(), PolicySource::Visits.id(), PolicySource::SoftmaxCp.id()]
    {
        assert!(conventions.contains(&format!("`{id}`")), "{id}");
    }
}

/// Every `.rs` file below a directory.
fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The sections a text cites: `stream.md §3`, `shards.md §2, §3 and §7`, `conventions.md` alone.
fn citations(text: &str) -> Vec<(String, Option<String>)> {
    let mut cited = Vec::new();
    for (at, _) in text.match_indices(".md") {
        let start = text[..at].rfind(|c: char| !c.is_ascii_lowercase() && c != '_').map_or(0, |i| i + 1);
        let name = format!("{}.md", &text[start..at]);
        let mut rest = &text[at + 3..];
        let mut any = false;
        loop {
            // A citation may be broken across comment lines.
            let next = rest.trim_start_matches(|c: char| c.is_whitespace() || "/!,".contains(c));
            let next = next.strip_prefix("and ").unwrap_or(next);
            // `§{n}` in a format string cites nothing yet.
            let Some(number) = next.strip_prefix('§').filter(|n| n.starts_with(|c: char| c.is_ascii_digit()))
            else {
                break;
            };
            let len = number.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(number.len());
            cited.push((name.clone(), Some(number[..len].trim_end_matches('.').to_owned())));
            rest = &number[len..];
            any = true;
        }
        if !any {
            cited.push((name, None));
        }
    }
    cited
}

#[test]
fn every_section_that_code_cites_exists() {
    let pages = [
        "stream.md",
        "conventions.md",
        "corpus.md",
        "shards.md",
        "psv.md",
        "features.md",
        "loading.md",
        "nnbin.md",
        "search.md",
        "selfplay.md",
    ];
    let mut files = Vec::new();
    sources(&root().join("crates"), &mut files);
    assert!(files.len() > 20);
    let mut cited: BTreeMap<String, BTreeMap<Option<String>, PathBuf>> = BTreeMap::new();
    for path in files {
        // This file speaks about citations.
        if path.ends_with("core/tests/spec_contract.rs") {
            continue;
        }
        for (page, number) in citations(&fs::read_to_string(&path).unwrap()) {
            // Whatever is cited by section is a page of the law, or ought to be.
            if number.is_some() || pages.contains(&page.as_str()) {
                cited.entry(page).or_default().entry(number).or_insert_with(|| path.clone());
            }
        }
    }
    let mut missing = Vec::new();
    for (name, numbers) in cited {
        let Ok(text) = fs::read_to_string(root().join("docs/spec").join(&name)) else {
            missing.push(format!("docs/spec/{name} is cited and does not exist"));
            continue;
        };
        let headings: BTreeSet<String> = text.lines().filter_map(heading).collect();
        for (number, path) in numbers {
            if let Some(number) = number
                && !headings.contains(&number)
            {
                missing.push(format!("{} cites {name} §{number}, which does not exist", path.display()));
            }
        }
    }
    assert!(missing.is_empty(), "\n{}", missing.join("\n"));
}

#[test]
fn the_pages_cite_sections_that_exist() {
    let mut missing = Vec::new();
    let mut names: Vec<String> = fs::read_dir(root().join("docs/spec"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".md"))
        .collect();
    names.sort();
    let headings: BTreeMap<&String, BTreeSet<String>> =
        names.iter().map(|name| (name, page(name).lines().filter_map(heading).collect())).collect();
    for name in &names {
        // Links are cited as their text is.
        let text = page(name).replace("](", " (");
        for (page, number) in citations(&text) {
            let Some(number) = number else { continue };
            if !headings.get(&page).is_some_and(|headings| headings.contains(&number)) {
                missing.push(format!("{name} cites {page} §{number}"));
            }
        }
        // Every other `§x` is a section of the page itself.
        for (at, _) in text.match_indices('§') {
            let rest = &text[at + '§'.len_utf8()..];
            let len = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
            let number = rest[..len].trim_end_matches('.');
            let elsewhere = text[..at].trim_end_matches([' ', '\n', '(', ')', '`']).ends_with(".md");
            if !elsewhere && !headings[name].contains(number) {
                missing.push(format!("{name} cites its own §{number}"));
            }
        }
    }
    assert!(missing.is_empty(), "\n{}", missing.join("\n"));
}

#[test]
fn citations_are_found_in_every_form_in_use() {
    let cited = |text: &str| {
        citations(text)
            .into_iter()
            .map(|(page, n)| format!("{page} {}", n.unwrap_or_default()))
            .collect::<Vec<_>>()
    };
    assert_eq!(cited("(stream.md §4.2)."), ["stream.md 4.2"]);
    assert_eq!(
        cited("shards.md §2, §3 and §7; conventions.md"),
        ["shards.md 2", "shards.md 3", "shards.md 7", "conventions.md "]
    );
    assert_eq!(cited("as stream.md\n    /// §6. More"), ["stream.md 6"]);
    assert_eq!(heading("### 4.2 Board byte").as_deref(), Some("4.2"));
    assert_eq!(heading("## §4. Hands").as_deref(), Some("4"));
    assert_eq!((heading("# MPK1"), heading("4.2")), (None, None));
}
