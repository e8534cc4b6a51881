//! `manaka cat` keeps to a little memory whatever it reads, and ends quietly when nobody reads on.

use manaka_core::conventions::NO_VISITS;
use manaka_core::stream::{Candidate, Compression, PartsOptions, PartsWriter, Record};
use manaka_core::{Conventions, Move16, Packed};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::num::NonZeroU64;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// Records with their number as their position, in two parts.
fn streams(dir: &Path, records: u64, candidates: u16, compression: Compression) {
    let conventions = Conventions::TEACHER;
    let records_per_part = NonZeroU64::new(records / 2 + 1).unwrap();
    let mut parts =
        PartsWriter::create(dir, PartsOptions { conventions, records_per_part, compression }).unwrap();
    let mut record = Record::default();
    record.candidates.extend((0..candidates).map(|at| {
        let (to, from) = (at % 80, (at / 80 + 1 + at % 80) % 81);
        let bits = from << 7 | to;
        Candidate { mv: Move16::from_bits(bits), visits: NO_VISITS, cp: 10 }
    }));
    for number in 0..records {
        record.packed = Packed::empty();
        record.packed.as_bytes_mut()[..8].copy_from_slice(&number.to_le_bytes());
        parts.write(&record).unwrap();
    }
    parts.finish().unwrap();
}

fn cat(path: &Path, arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_manaka"))
        .arg("cat")
        .arg(path)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Lines printed, and the most memory that was resident, in MiB.
fn measured(path: &Path, arguments: &[&str]) -> (usize, u64) {
    let mut child = cat(path, arguments);
    let stdout = BufReader::new(child.stdout.take().unwrap());
    let lines = thread::spawn(move || stdout.split(b'\n').map(Result::unwrap).count());
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    let code = loop {
        // Behind its end the process has no memory to be told.
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        peak = peak.max(line.map_or(0, |line| line.trim().trim_end_matches(" kB").parse::<u64>().unwrap()));
        if let Some(code) = child.try_wait().unwrap() {
            break code;
        }
        thread::sleep(Duration::from_millis(2));
    };
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(code.success() && said.is_empty(), "{code} {said}");
    assert!(peak > 1 << 10, "{peak} KiB cannot be");
    (lines.join().unwrap(), peak >> 10)
}

#[test]
fn a_stream_of_any_length_takes_the_same_memory() {
    for compression in [Compression::None, Compression::Zstd { level: 1 }] {
        let dir = tempfile::tempdir().unwrap();
        streams(dir.path(), 400_000, 5, compression);
        // 58 MiB of records, 170 MiB of text.
        let (lines, mebibytes) = measured(dir.path(), &[]);
        assert_eq!(lines, 400_000);
        assert!(mebibytes < 32, "{mebibytes} MiB");
        let (lines, mebibytes) = measured(dir.path(), &["--sample", "1000"]);
        assert_eq!(lines, 1000);
        assert!(mebibytes < 32, "{mebibytes} MiB");
    }
}

#[test]
fn records_of_hundreds_of_candidates_too() {
    let dir = tempfile::tempdir().unwrap();
    streams(dir.path(), 20_000, 593, Compression::None);
    let (lines, mebibytes) = measured(dir.path(), &["--format", "tsv"]);
    assert_eq!(lines, 20_001);
    assert!(mebibytes < 32, "{mebibytes} MiB");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let dir = tempfile::tempdir().unwrap();
    streams(dir.path(), 50_000, 5, Compression::None);
    for arguments in [&[][..], &["--format", "tsv"], &["--sample", "20000"], &["--ply", "0.."]] {
        let mut child = cat(dir.path(), arguments);
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        assert!(first.ends_with('\n'), "{first}");
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        let code = child.wait().unwrap();
        assert!(code.success() && said.is_empty(), "{arguments:?}: {code} {said}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn garbage_that_is_called_parquet_is_no_parquet_file_to_any_command_that_shows_files() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.parquet");
    fs::write(&path, b"<html>404 Not Found</html>\n").unwrap();
    let run = |verb: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_manaka"));
        let output = command.arg(verb).arg(&path).stdin(Stdio::null()).output().unwrap();
        (output.status.code(), [output.stdout, output.stderr].concat().escape_ascii().to_string())
    };
    for verb in ["cat", "view", "info", "stat"] {
        let (code, said) = run(verb);
        assert_eq!(code, Some(1), "{verb}: {said}");
        assert!(said.contains("not a Parquet file: its 27 bytes begin with"), "{verb}: {said}");
        assert!(!said.contains("PSV"), "{verb}: {said}");
    }
    // Whatever is wrong with a file's content is a finding there.
    let (code, said) = run("check");
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("neither an MPK1 stream nor a Parquet file"), "{said}");
}

#[test]
fn a_full_disk_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    streams(dir.path(), 5_000, 5, Compression::None);
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output =
        Command::new(env!("CARGO_BIN_EXE_manaka")).arg("cat").arg(dir.path()).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("No space left"));
}
