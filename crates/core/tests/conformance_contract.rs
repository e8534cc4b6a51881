//! The files under `conformance/`: what the generator writes, and what every reader says of them.
#![allow(clippy::panic, reason = "the helpers of tests fail as tests do")]

#[path = "../examples/conformance/main.rs"]
#[allow(dead_code, reason = "its `main` is the example's")]
mod generator;
mod readers;
mod sample;

use manaka_core::sfen::Sfen;
use manaka_core::stream::{Header, Record, RecordRef, StreamReader};
use manaka_core::{Faults, Packed};
use readers::{Event, by_file, by_map, by_owned_records, by_set, by_stream, in_every_way};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance")
}

fn files_in(dir: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_dir() {
            names.extend(files_in(&entry.path()).into_iter().map(|below| format!("{name}/{below}")));
        } else {
            names.insert(name);
        }
    }
    names
}

/// The content of a zstd file, through every frame.
fn decompressed(bytes: &[u8]) -> Vec<u8> {
    zstd::stream::decode_all(bytes).unwrap()
}

#[test]
fn the_files_are_those_the_generator_writes_and_no_other() {
    let mut known: BTreeSet<String> = BTreeSet::from(["README.md".to_owned()]);
    for (name, bytes) in generator::files() {
        let committed = fs::read(dir().join(&name)).unwrap_or_else(|e| panic!("{name}: {e}"));
        // The bytes a compressor chooses may change with its version; what they hold may not.
        if name == "good/zstd_one_frame.mpk.zst" {
            assert_eq!(decompressed(&committed), decompressed(&bytes), "{name}");
        } else {
            assert!(committed == bytes, "{name} is not what the generator writes");
        }
        assert!(known.insert(name.clone()), "{name} twice");
    }
    assert_eq!(files_in(&dir()), known);
}

/// What the readers say of a stream, in the form of the JSON files.
fn told(header: &Header, records: &[Vec<u8>]) -> Value {
    let mut offset = 24;
    let c = header.conventions;
    let records: Vec<Value> = records
        .iter()
        .map(|bytes| {
            let mut record = Record::default();
            RecordRef::frame(bytes).unwrap().read_into(&mut record);
            let at = offset;
            offset += bytes.len();
            let hex: String = record.packed.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
            let text = record.packed.sfen(None).to_string();
            let sfen = (record.packed.as_bytes()[95] < 2 && !text.contains('?')).then_some(text);
            let faults: Vec<_> = record.packed.faults().iter().map(|fault| fault.id()).collect();
            let candidates: Vec<Value> = record
                .candidates
                .iter()
                .map(|c| json!({"mv": c.mv.bits(), "usi": c.mv.to_string(), "visits": c.visits, "cp": c.cp}))
                .collect();
            json!({
                "offset": at, "ply": record.ply, "value_z": record.outcome(), "value_q": record.value_q,
                "packed": hex, "sfen": sfen, "faults": faults, "candidates": candidates,
            })
        })
        .collect();
    json!({
        "header": {
            "version": header.version, "packed_len": 96, "pov": c.pov as u8, "policy_source": c.policy_source as u8,
            "mate_scale": c.mate_scale, "fv_scale": c.fv_scale, "mate_slack": c.mate_slack,
            "eval_coef": c.eval_coef, "flags": 0, "mate_slack_in_force": c.effective_mate_slack(),
            "mate_threshold": c.mate_threshold(),
        },
        "records": records,
    })
}

/// Every way of reading a file; raw ones in memory too.
fn every_way(path: &Path, scratch: &Path) -> Vec<Event> {
    let bytes = fs::read(path).unwrap();
    let events = by_file(path);
    assert_eq!(by_stream(&bytes[..]), events);
    assert_eq!(by_owned_records(&bytes[..]), events);
    assert_eq!(by_set(path), events);
    if path.extension().is_some_and(|extension| extension == "zst") {
        let Some(Event::Fault(fault)) = by_map(path).pop() else { panic!() };
        assert_eq!(fault.kind, "unsupported");
    } else {
        assert_eq!(by_map(path), events);
        assert_eq!(in_every_way(&bytes, scratch), events);
    }
    events
}

#[test]
fn every_good_file_says_what_its_json_says() {
    let scratch = tempfile::tempdir().unwrap();
    let good = dir().join("good");
    let mut seen = 0;
    for name in files_in(&good).into_iter().filter(|name| !name.ends_with(".json")) {
        let stem = name.trim_end_matches(".zst").strip_suffix(".mpk").unwrap();
        let mut expected: Value =
            serde_json::from_slice(&fs::read(good.join(format!("{stem}.json"))).unwrap()).unwrap();
        let about = expected.as_object_mut().unwrap().remove("about").unwrap();
        assert!(about.as_str().is_some_and(|text| !text.is_empty()), "{name}");

        let events = every_way(&good.join(&name), &scratch.path().join("a"));
        let mut records = Vec::new();
        let mut header = None;
        for event in events {
            match event {
                Event::Header(found) => header = Some(found),
                Event::Record(bytes) => records.push(bytes),
                Event::Fault(fault) => panic!("{name}: {fault:?}"),
            }
        }
        assert_eq!(told(&header.unwrap(), &records), expected, "{name}");
        // The positions say the same in their other form.
        for record in expected["records"].as_array().unwrap() {
            if let Some(text) = record["sfen"].as_str() {
                let Sfen { packed, ply } = Sfen::parse(text).unwrap();
                let hex: String = packed.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
                assert_eq!((hex.as_str(), ply), (record["packed"].as_str().unwrap(), None), "{name}");
                assert_eq!(Packed::from_sfen(text).is_ok(), packed.faults() == Faults::NONE);
            }
        }
        seen += 1;
    }
    assert!(seen >= 17);
}

#[test]
fn the_sign_of_a_zero_is_what_its_vector_is_about() {
    // JSON compares -0.0 and 0.0 as equal; the bytes do not.
    let mut reader = StreamReader::open(&dir().join("good/negative_zero.mpk")).unwrap();
    let record = reader.next_ref().unwrap().unwrap();
    assert_eq!((record.value_z().to_bits(), record.value_q().to_bits()), (1 << 31, 1 << 31));
    let reader = StreamReader::open(&dir().join("good/negative_zero_eval_coef.mpk")).unwrap();
    assert_eq!(reader.header().conventions.eval_coef.to_bits(), 0);
}

#[test]
fn the_v4_header_is_byte_for_byte_the_one_its_card_prints() {
    let bytes = fs::read(dir().join("good/v4_header.mpk")).unwrap();
    assert_eq!(bytes, sample::V4);
}

/// `expect.toml`: tables of strings and integers, nothing else.
fn expectations() -> BTreeMap<String, BTreeMap<String, String>> {
    let text = fs::read_to_string(dir().join("bad/expect.toml")).unwrap();
    let mut tables: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    let mut table = String::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix("[\"").and_then(|line| line.strip_suffix("\"]")) {
            table = name.to_owned();
            assert!(tables.insert(table.clone(), BTreeMap::new()).is_none(), "{name} twice");
        } else {
            let (key, value) = line.split_once(" = ").unwrap_or_else(|| panic!("{line}"));
            let value = value.trim_matches('"').to_owned();
            assert!(tables.get_mut(&table).unwrap().insert(key.to_owned(), value).is_none(), "{line}");
        }
    }
    tables
}

#[test]
fn every_bad_file_fails_as_expected_and_where_expected() {
    let scratch = tempfile::tempdir().unwrap();
    let expectations = expectations();
    let mut kinds = BTreeSet::new();
    for (name, expected) in &expectations {
        let events = every_way(&dir().join("bad").join(name), &scratch.path().join("a"));
        let at = events.iter().position(|event| matches!(event, Event::Fault(_)));
        let at = at.unwrap_or_else(|| panic!("{name}: no error"));
        let Event::Fault(fault) = &events[at] else { panic!() };
        let mut found = BTreeMap::from([
            ("kind".to_owned(), fault.kind.to_owned()),
            ("offset".to_owned(), fault.offset.to_string()),
            ("before".to_owned(), readers::records(&events[..at]).to_string()),
        ]);
        if let Some(record) = fault.record {
            found.insert("record".to_owned(), record.to_string());
        }
        if at + 1 < events.len() {
            found.insert("behind".to_owned(), readers::records(&events[at..]).to_string());
        }
        if expected["kind"] == "compression" {
            found.retain(|key, _| key == "kind");
        }
        assert_eq!(&found, expected, "{name}");
        kinds.insert(fault.kind);
    }
    let mut files = files_in(&dir().join("bad"));
    files.remove("expect.toml");
    assert_eq!(
        files,
        expectations.into_keys().collect(),
        "every file is claimed, and every claim has a file"
    );

    // One vector at least for everything that bytes alone can set off.
    let needed = [
        "empty",
        "magic",
        "truncated",
        "version",
        "packed_len",
        "pov",
        "policy_source",
        "reserved",
        "flags",
        "inconsistent_header",
        "second_header",
        "no_candidates",
        "value_z",
        "value_q",
        "move16",
        "some_visits",
        "some_cp",
        "missing_half",
        "foreign_half",
        "compression",
    ];
    assert_eq!(kinds, BTreeSet::from(needed));
}
