//! Small sets of streams, written game by game.
#![allow(dead_code, reason = "each test crate uses its own part")]

use manaka_core::conventions::NO_OUTCOME;
use manaka_core::stream::{Candidate, Compression, Record, StreamReader, StreamWriter};
use manaka_core::{Conventions, Move16, Packed};
use std::fs;
use std::path::{Path, PathBuf};

/// A game: the plies of its records, and its outcome from Black: 1, −1, 0, or absent.
pub type Plies<'a> = (&'a [u16], f32);

/// A sound record that differs from others by `id`; from the side to move, which the ply names.
pub fn record(id: u16, ply: u16, black: f32) -> Record {
    let white = ply.is_multiple_of(2);
    let sfen = format!(
        "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL {} - 1",
        if white { "w" } else { "b" }
    );
    let mut packed = Packed::from_sfen(&sfen).unwrap().0;
    // A hand that tells records apart; streams ask for bytes, not for shogi.
    packed.as_bytes_mut()[81] = u8::try_from(id % 19).unwrap();
    packed.as_bytes_mut()[88] = u8::try_from(id / 19 % 19).unwrap();
    let candidates = (0..1 + id % 4)
        .map(|at| Candidate {
            mv: Move16::from_bits(((id + at * 7) % 81) | ((at + 1) << 7)),
            visits: 0,
            cp: i16::try_from(at * 30).unwrap() - i16::try_from(id % 500).unwrap(),
        })
        .collect();
    let value_z = if black == NO_OUTCOME || !white || black == 0.0 { black } else { -black };
    Record { ply, value_z, value_q: f32::from(id % 97) / 128.0, packed, candidates }
}

/// The records of games, in order.
pub fn records(games: &[Plies<'_>]) -> Vec<Record> {
    let mut records = Vec::new();
    for &(plies, outcome) in games {
        for &ply in plies {
            let id = u16::try_from(records.len()).unwrap();
            records.push(record(id, ply, outcome));
        }
    }
    records
}

/// Writes records into one file.
pub fn write(path: &Path, conventions: Conventions, records: &[Record]) {
    let compression =
        if path.to_string_lossy().ends_with(".zst") { Compression::DEFAULT } else { Compression::None };
    let mut writer = StreamWriter::create(path, conventions, compression).unwrap();
    writer.allow_absent_outcomes();
    records.iter().for_each(|record| writer.write(record).unwrap());
    writer.finish().unwrap();
}

/// Writes records into `part-00000…` in `dir`, each of the length named, the rest in a last one.
pub fn write_parts(dir: &Path, suffix: &str, records: &[Record], lengths: &[usize]) -> Vec<PathBuf> {
    fs::create_dir_all(dir).unwrap();
    let mut rest = records;
    let mut paths = Vec::new();
    for at in 0..=lengths.len() {
        let (part, behind) = rest.split_at(lengths.get(at).copied().unwrap_or(rest.len()));
        rest = behind;
        paths.push(dir.join(format!("part-{at:05}{suffix}")));
        write(&paths[at], Conventions::TEACHER, part);
    }
    paths
}

/// All records of files.
pub fn read(paths: &[PathBuf]) -> Vec<Record> {
    paths.iter().flat_map(|path| StreamReader::open(path).unwrap().records().map(Result::unwrap)).collect()
}

/// The stream files of a directory, in name order; nothing unfinished may be there.
pub fn parts(dir: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.iter().all(|path| !path.to_string_lossy().ends_with(".tmp")), "{paths:?}");
    paths.retain(|path| path.to_string_lossy().contains(".mpk"));
    paths
}

/// Names and bytes of everything in a directory.
pub fn contents(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .collect();
    all.sort();
    all
}
