//! `manaka cut` and `manaka edit` when things go wrong: killed at any moment, out of disk. No half file has its final name,
//! and no lineage tells of a run that did not end.

#[path = "../../edit/tests/sets/mod.rs"]
mod sets;

use manaka_core::stream::StreamReader;
use sets::{parts, records, write_parts};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

fn manaka(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_manaka"));
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// A set of twelve parts that takes a while to cut.
fn set(dir: &Path) -> PathBuf {
    let plies: Vec<u16> = (1..=5000).collect();
    let input = dir.join("in");
    // One long game: its middle parts are as large as they need to be, and quickly written.
    write_parts(&input, ".mpk.zst", &records(&[(&plies, 1.0), (&plies, -1.0)]), &[1000; 9]);
    input
}

#[test]
fn a_run_killed_at_any_moment_leaves_whole_parts_and_no_lineage() {
    let dir = tempfile::tempdir().unwrap();
    let input = set(dir.path());
    let input = input.to_str().unwrap();
    let run = |out: &Path| {
        manaka(&[
            "edit",
            "rotate",
            input,
            "--records-per-part",
            "300",
            "--level",
            "19",
            "--compress",
            "zstd",
            "--out",
        ])
        .arg(out)
        .spawn()
        .unwrap()
    };
    let whole = dir.path().join("whole");
    let began = Instant::now();
    assert!(run(&whole).wait().unwrap().success());
    let took = began.elapsed();
    let expected: Vec<_> = parts(&whole).iter().map(|path| fs::read(path).unwrap()).collect();
    assert_eq!(expected.len(), 34);
    let mut unfinished = 0;
    for moment in 0..12u32 {
        let out = dir.path().join(format!("killed{moment}"));
        let mut child = run(&out);
        sleep(took * moment / 12);
        let _ = child.kill();
        let ended = child.wait().unwrap().success();
        let Ok(entries) = fs::read_dir(&out) else { continue };
        let names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        let lineage = names.iter().any(|name| name == "LINEAGE.json");
        assert!(lineage || !ended);
        unfinished += usize::from(!lineage);
        for name in names.iter().filter(|name| name.ends_with(".mpk.zst")) {
            let number: usize = name["part-".len()..][..5].parse().unwrap();
            assert!(
                fs::read(out.join(name)).unwrap() == expected[number],
                "{name} is not what it is in a whole run"
            );
        }
    }
    assert!(unfinished > 3, "{unfinished}");
}

#[test]
fn a_full_disk_is_named_and_leaves_no_half_part() {
    let dir = tempfile::tempdir().unwrap();
    let input = set(dir.path());
    let disk = dir.path().join("disk");
    fs::create_dir(&disk).unwrap();
    // A small file system of its own needs a mount namespace, which root and most users have.
    let script = format!(
        "mount -t tmpfs -o size=600k tmpfs {disk} || exit 90
         {manaka} cut {input} --max-ply 4000 --relabel-cut draw --compress none --records-per-part 1000 --out {disk}/out
         echo \"exit: $?\" >&2
         {manaka} edit repair {disk}/out --out {disk}/again; ls -A {disk}/out >&2",
        disk = disk.display(),
        manaka = env!("CARGO_BIN_EXE_manaka"),
        input = input.display(),
    );
    let output = Command::new("unshare").args(["-Urm", "sh", "-c", &script]).output().unwrap();
    let text = said(&output);
    assert!(text.contains("No space left on device"), "{text}");
    assert!(text.contains("exit: 1\n"), "{text}");
    let listed: Vec<_> = text.lines().filter(|line| line.starts_with("part-")).collect();
    assert!(!listed.is_empty() && listed.iter().all(|name| name.ends_with(".mpk")), "{text}");
    assert!(!text.contains("\nLINEAGE.json"), "{text}");
}

#[test]
fn a_run_asked_to_stop_stops_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let input = set(dir.path());
    let out = dir.path().join("out");
    let child =
        manaka(&["edit", "merge", input.to_str().unwrap(), "--compress", "zstd", "--level", "19", "--out"])
            .arg(&out)
            .spawn()
            .unwrap();
    while !out.exists() {
        sleep(Duration::from_millis(1));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("interrupted"), "{}", said(&output));
    assert_eq!(fs::read_dir(&out).unwrap().count(), 0);
}

#[test]
fn parts_go_through_the_command_and_back() {
    let dir = tempfile::tempdir().unwrap();
    let input =
        write_parts(&dir.path().join("in"), ".mpk.zst", &records(&[(&[1, 2, 3], 1.0), (&[1, 2], -1.0)]), &[]);
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    for (args, from, to) in [
        (&["edit", "split", "--games", "1"][..], "in", "split"),
        (&["edit", "rotate"], "split", "twins"),
        (&["edit", "rotate"], "twins", "back"),
        (&["edit", "merge"], "back", "merged"),
    ] {
        let output = manaka(args).args([&at(from), "--out", &at(to)]).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        assert!(!said(&output).contains("LINEAGE.json (not data"), "{}", said(&output));
    }
    let merged = dir.path().join("merged");
    assert!(fs::read(&parts(&merged)[0]).unwrap() == fs::read(&input[0]).unwrap());
    assert_eq!(StreamReader::open(&parts(&merged)[0]).unwrap().header().version, 2);
    let text = fs::read_to_string(merged.join("LINEAGE.json")).unwrap();
    let lineage: serde_json::Value = serde_json::from_str(&text).unwrap();
    let verbs: Vec<_> =
        lineage["steps"].as_array().unwrap().iter().map(|step| step["verb"].as_str().unwrap()).collect();
    assert_eq!(verbs, ["edit split", "edit rotate", "edit rotate", "edit merge"]);
}
