//! Damaged files are judged, whatever the damage: no panic, no error of the run.

mod fixtures;

use fixtures::*;
use manaka_core::Conventions;
use manaka_core::select::Select;
use manaka_corpus::PsvOptions;
use manaka_inspect::{CatOptions, CheckOptions, Notation, Selection, cat, check, info, view};
use std::fs;
use std::num::NonZeroUsize;

/// Damages a file in many ways and has each judged, shown and told about.
fn damage(name: &str, good: &[u8], rounds: u64) {
    let dir = tempfile::tempdir().unwrap();
    let mut draws = Draws::new(good.len() as u64);
    let options = CheckOptions { threads: NonZeroUsize::MIN, limit: 3 };
    for round in 0..rounds {
        let mut bytes = good.to_vec();
        match round % 4 {
            0 => bytes.truncate(draws.below(good.len() as u64) as usize),
            1 => {
                let at = draws.below(good.len() as u64) as usize;
                bytes[at] ^= 1 << draws.below(8);
            }
            2 => {
                for _ in 0..1 + draws.below(20) {
                    let at = draws.below(good.len() as u64) as usize;
                    bytes[at] = draws.below(256) as u8;
                }
            }
            // What states sizes stands at the end of a shard and at the front of a stream.
            _ => {
                let window = good.len().min(600) as u64;
                let from = if name.ends_with("parquet") { good.len() as u64 - window } else { 0 };
                for _ in 0..1 + draws.below(4) {
                    let at = (from + draws.below(window)) as usize;
                    bytes[at] = [0, 0xFF, 0x7F, 0x80, bytes[at].wrapping_add(1)][draws.below(5) as usize];
                }
            }
        }
        let path = dir.path().join(name);
        fs::write(&path, &bytes).unwrap();
        let result = check(std::slice::from_ref(&path), &options, &());
        if result.is_err() {
            fs::write(std::env::temp_dir().join(format!("damaged-{round}-{name}")), &bytes).unwrap();
        }
        assert!(
            result.is_ok(),
            "{name}, round {round}: {result:?}; kept in {}",
            std::env::temp_dir().display()
        );
        let _ = info(&path);
        for conditions in ["", "ply=1.. cp=-500.. min-candidates=1"] {
            let select: Select = conditions.parse().unwrap();
            let (selection, psv) = (Selection { start: 3, count: 2 }, PsvOptions::default());
            let _ = view(&path, selection, &select, Notation::Ascii, &psv).map(|view| view.to_string());
            let mut lines = Vec::new();
            let options = CatOptions { select, ..CatOptions::default() };
            let _ = cat(std::slice::from_ref(&path), &options, &mut lines, &());
            // Whatever was printed is whole lines of JSON.
            for line in str::from_utf8(&lines).unwrap().lines() {
                serde_json::from_str::<serde_json::Value>(line).unwrap();
            }
        }
    }
}

const ROUNDS: u64 = 400;

#[test]
fn damaged_streams_are_judged() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["a.mpk", "a.mpk.zst"] {
        let path = written(dir.path(), name, Conventions::TEACHER, &score_records(40, 1));
        damage(name, &fs::read(path).unwrap(), ROUNDS);
    }
}

#[test]
fn damaged_shards_are_judged() {
    let dir = tempfile::tempdir().unwrap();
    for shard in [Shard::scores(score_rows(60, 1)), Shard::visits(visits_rows(60, 1))] {
        let path = Shard { group: 25, ..shard }.write(dir.path(), "a.parquet");
        damage("a.parquet", &fs::read(path).unwrap(), ROUNDS);
    }
}
