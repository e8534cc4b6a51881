//! `--format json` of `corpus` and `pack` names what was refused: file, record, byte, reason.

use manaka_core::conventions::NO_VISITS;
use manaka_core::stream::{Candidate, Compression, Record, StreamWriter};
use manaka_core::{Conventions, Move16, Packed, sfen::STARTPOS};
use manaka_corpus::psv::{self, LayoutText, MoveLayout};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

/// The report of a run that refuses records.
fn report(verb: &str, input: &Path, out: &Path, more: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_manaka"))
        .args([verb, "--format", "json", "--out"])
        .args([out, input])
        .args(more)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A name that is no UTF-8, and how JSON has it.
fn named(dir: &Path, extension: &str) -> (std::path::PathBuf, String) {
    let path = dir.join(OsStr::from_bytes(&[b"a\xFF.", extension.as_bytes()].concat()));
    (path, format!("{}/a\u{FFFD}.{extension}", dir.display()))
}

#[test]
fn corpus_names_refused_records_torn_tails_and_files() {
    let dir = tempfile::tempdir().unwrap();
    let (path, name) = named(dir.path(), "psv");
    let LayoutText { order, played } = LayoutText::default();
    let layout = psv::Layout { moves: MoveLayout::YaneuraOu, candidates: 0, order, played };
    let packed = Packed::from_sfen(STARTPOS).unwrap().0;
    let record = psv::Record { packed, mv: Move16::from_usi("7g7f"), ply: 1, ..psv::Record::default() };
    let mut writer = psv::Writer::new(Vec::new(), layout);
    // A pawn that goes two squares stands between two records that are sound.
    for mv in ["7g7f", "7g7e", "2g2f"] {
        writer.write_record(&psv::Record { mv: Move16::from_usi(mv), ..record.clone() }).unwrap();
    }
    let mut bytes = writer.into_inner();
    bytes.extend([0; 7]);
    fs::write(&path, bytes).unwrap();

    let out = dir.path().join("out");
    let report = report("corpus", &path, &out, &["--move16", "yaneuraou", "--candidates", "0"]);
    assert_eq!(report["refused"], json!({"illegal_move": 1}));
    let refused = &report["refused_first"];
    assert!(refused[0]["detail"].as_str().unwrap().contains("7g7e"), "{refused}");
    let detail = &refused[0]["detail"];
    assert_eq!(
        *refused,
        json!([{"path": name, "record": 1, "offset": 40, "reason": "illegal_move", "detail": detail}])
    );
    assert_eq!(report["truncated"], json!([{"path": name, "record": 3, "offset": 120, "bytes": 7}]));
    let file = out.join("part-00000.parquet");
    let bytes = fs::metadata(&file).unwrap().len();
    assert_eq!(report["files"], json!([{"path": file.to_str().unwrap(), "rows": 2, "bytes": bytes}]));
}

#[test]
fn pack_names_refused_records_and_shards() {
    let dir = tempfile::tempdir().unwrap();
    let (path, name) = named(dir.path(), "mpk");
    let candidate = |to: u16| Candidate { mv: Move16::from_bits(40 << 7 | to), visits: NO_VISITS, cp: 5 };
    let mut writer = StreamWriter::create(&path, Conventions::TEACHER, Compression::None).unwrap();
    for moves in [[1, 2], [1, 1]] {
        writer.write(&Record { candidates: moves.map(candidate).to_vec(), ..Record::default() }).unwrap();
    }
    writer.finish().unwrap();

    let out = dir.path().join("out");
    let report = report("pack", &path, &out, &[]);
    assert_eq!(report["refused"], json!({"duplicate_move": 1}));
    let refused = &report["refused_first"];
    let detail = &refused[0]["detail"];
    assert!(detail.as_str().unwrap().contains("5e9b"), "{refused}");
    assert_eq!(
        *refused,
        json!([{"path": name, "record": 1, "offset": 24 + 108 + 16, "reason": "duplicate_move", "detail": detail}])
    );
    let shard = out.join("teacher-00000.parquet");
    let bytes = fs::metadata(&shard).unwrap().len();
    assert_eq!(report["shards"], json!([{"path": shard.to_str().unwrap(), "rows": 1, "bytes": bytes}]));
}
