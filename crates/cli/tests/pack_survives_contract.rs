//! `manaka pack` when things go wrong: killed at any moment, out of disk, asked to stop. It always can be taken up
//! again and ends with the bytes of an undisturbed run.

use manaka_core::conventions::{NO_CP, NO_OUTCOME, NO_VISITS};
use manaka_core::stream::{Candidate, Compression, PartsOptions, PartsWriter, Record};
use manaka_core::{Conventions, Move16, Packed, PolicySource};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::fs;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Too many records for the least memory a run accepts, so that everything goes through files.
const RECORDS: u64 = 700_000;
const MEMORY: &str = "128M";

/// Streams in six parts: the fold asks for bytes, not for shogi. A handful of positions have no outcome, which every shard
/// of visits has to allow for, whatever a resumed run still sees of them.
fn streams(dir: &Path, conventions: Conventions) {
    let options = PartsOptions {
        conventions,
        records_per_part: NonZeroU64::new(RECORDS / 6 + 1).unwrap(),
        compression: Compression::Zstd { level: 1 },
    };
    let mut parts = PartsWriter::create(dir, options).unwrap();
    parts.allow_absent_outcomes();
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut record = Record::default();
    for number in 0..RECORDS {
        // A tenth of the records share positions, one position has a hundredth of all.
        let silent = number % 100_000 == 50_000;
        let id = match rng.next_u64() % 100 {
            _ if silent => number,
            0 => 0,
            1..=10 => rng.next_u64() % 5000,
            _ => number,
        };
        let mut packed = Packed::empty();
        packed.as_bytes_mut()[..8].copy_from_slice(&id.to_le_bytes());
        record.packed = packed;
        record.ply = u16::try_from(number % 200).unwrap();
        record.value_z = if silent || id == 0 && number % 2 == 0 { NO_OUTCOME } else { 1.0 };
        record.value_q = 0.25;
        record.candidates.clear();
        for at in 0..1 + rng.next_u64() % 8 {
            let mv = Move16::from_bits(u16::try_from(at * 9 + rng.next_u64() % 9).unwrap());
            let cp = i16::try_from(rng.next_u64() % 2000).unwrap() - 1000;
            record.candidates.push(match conventions.policy_source {
                PolicySource::SoftmaxCp => Candidate { mv, visits: NO_VISITS, cp },
                PolicySource::Visits => Candidate { mv, visits: u32::from(cp.unsigned_abs()) + 1, cp: NO_CP },
            });
        }
        parts.write(&record).unwrap();
    }
    parts.finish().unwrap();
}

fn manaka() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_manaka"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn pack(streams: &Path, out: &Path, more: &[&str]) -> Command {
    let mut command = manaka();
    command.arg("pack").arg(streams).arg("--out").arg(out);
    command.args(["--memory", MEMORY, "--threads", "2", "--rows-per-shard", "100000"]).args(more);
    command
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Every shard's name and bytes; nothing else may be there.
fn shards(out: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut names: Vec<_> =
        fs::read_dir(out).unwrap().map(|entry| PathBuf::from(entry.unwrap().file_name())).collect();
    names.sort();
    assert!(names.iter().all(|name| name.extension().is_some_and(|e| e == "parquet")), "{names:?}");
    names.into_iter().map(|name| (name.clone(), fs::read(out.join(name)).unwrap())).collect()
}

/// An undisturbed run: its shards and how long it took.
fn undisturbed(dir: &Path) -> (Vec<(PathBuf, Vec<u8>)>, Duration) {
    streams(dir, Conventions::VISITS);
    let out = tempfile::tempdir().unwrap();
    let began = Instant::now();
    let output = pack(dir, out.path(), &[]).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert!(said(&output).contains("out of core"), "{}", said(&output));
    assert!(said(&output).contains("7 rows have no value_z"), "{}", said(&output));
    (shards(out.path()), began.elapsed())
}

fn wait_at_most(mut child: Child, time: Duration) -> bool {
    let began = Instant::now();
    while began.elapsed() < time {
        if child.try_wait().unwrap().is_some() {
            return true;
        }
        sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    false
}

#[test]
fn a_run_killed_at_fifty_moments_ends_with_the_bytes_of_an_undisturbed_one() {
    let dir = tempfile::tempdir().unwrap();
    let (expected, whole) = undisturbed(dir.path());
    assert_eq!(expected.len(), 7);
    let mut rng = ChaCha8Rng::seed_from_u64(50);
    let mut kills = 0;
    while kills < 50 {
        let out = tempfile::tempdir().unwrap();
        // Checkpoints at every unit, one in the middle of a run, and none: then nothing is brought to disk. Buckets of the plan's
        // size, and many small ones.
        let often: &[&str] = match rng.next_u64() % 4 {
            0 => &["--checkpoint", "0"],
            1 => &["--checkpoint", "0", "--buckets", "200"],
            2 => &["--checkpoint", "1"],
            _ => &["--buckets", "200"],
        };
        let mut resume: Vec<&str> = often.to_vec();
        // Some runs are killed several times.
        while kills < 50 {
            let moment = whole.mul_f64(f64::from(u32::try_from(rng.next_u64() % 1000).unwrap()) / 1000.0);
            let child = pack(dir.path(), out.path(), &resume).spawn().unwrap();
            if wait_at_most(child, moment) {
                break;
            }
            kills += 1;
            resume = [often, &["--resume"]].concat();
            if rng.next_u64().is_multiple_of(3) {
                break;
            }
        }
        // Without --resume what is left is named and nothing is touched.
        let left: Vec<_> =
            fs::read_dir(out.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        if left.iter().any(|name| name.to_string_lossy().starts_with(".manaka-pack-")) {
            let refused = pack(dir.path(), out.path(), &[]).output().unwrap();
            assert_eq!(refused.status.code(), Some(1));
            assert!(said(&refused).contains("--resume"), "{}", said(&refused));
        }
        let output = pack(dir.path(), out.path(), &["--resume"]).output().unwrap();
        assert!(output.status.success() || expected == shards(out.path()), "{}", said(&output));
        assert!(expected == shards(out.path()), "the bytes differ after {kills} kills");
    }
}

#[test]
fn a_full_disk_is_named_and_the_run_goes_on_when_there_is_room() {
    // A small file system of its own needs a mount namespace, which root and most users have.
    let dir = tempfile::tempdir().unwrap();
    let (expected, _) = undisturbed(dir.path());
    let out = tempfile::tempdir().unwrap();
    let disk = tempfile::tempdir().unwrap();
    let run = |more: &str| {
        format!(
            "{} pack {} --out {} --memory {MEMORY} --threads 2 --rows-per-shard 100000 --force --tmp-dir {} {more}",
            env!("CARGO_BIN_EXE_manaka"),
            dir.path().display(),
            out.path().display(),
            disk.path().display()
        )
    };
    let script = format!(
        "mount -t tmpfs -o size=8m tmpfs {disk} || exit 90
         {first}; echo \"first: $?\" >&2
         {again}; echo \"again: $?\" >&2
         mount -o remount,size=2g {disk} || exit 91
         {last}; echo \"last: $?\" >&2
         ls -A {disk} >&2",
        disk = disk.path().display(),
        first = run(""),
        again = run("--resume"),
        last = run("--resume"),
    );
    let output = Command::new("unshare").args(["-Urm", "sh", "-c", &script]).output().unwrap();
    let text = said(&output);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("No space left on device"), "{text}");
    assert!(text.contains(&format!("{}/manaka-pack-teacher", disk.path().display())), "{text}");
    assert!(text.contains("--resume goes on from there"), "{text}");
    for line in ["first: 1\n", "again: 1\n", "last: 0\n"] {
        assert!(text.contains(line), "{text}");
    }
    assert!(text.ends_with("last: 0\n"), "temporary files are left: {text}");
    assert!(expected == shards(out.path()));
}

#[test]
fn a_run_asked_to_stop_says_so_and_can_be_resumed() {
    let dir = tempfile::tempdir().unwrap();
    let (expected, whole) = undisturbed(dir.path());
    for signal in ["-INT", "-TERM"] {
        let out = tempfile::tempdir().unwrap();
        let child = pack(dir.path(), out.path(), &[]).spawn().unwrap();
        sleep(whole / 3);
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", said(&output));
        assert!(said(&output).contains("interrupted"), "{}", said(&output));
        assert!(said(&output).contains("--resume goes on from there"), "{}", said(&output));
        let output = pack(dir.path(), out.path(), &["--resume"]).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        assert!(expected == shards(out.path()));
    }
}

#[test]
fn a_resumed_run_refuses_inputs_that_changed_and_options_that_reach_the_shards() {
    let dir = tempfile::tempdir().unwrap();
    streams(dir.path(), Conventions::TEACHER);
    let out = tempfile::tempdir().unwrap();
    let mut child = pack(dir.path(), out.path(), &[]).spawn().unwrap();
    let journal = out.path().join(".manaka-pack-teacher/journal");
    while !fs::read_to_string(&journal).is_ok_and(|text| text.contains("plan")) {
        sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let output = pack(dir.path(), out.path(), &["--resume", "--softmax-temp-cp", "50"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("softmax_temp_cp 100"), "{}", said(&output));

    // Another temporary directory is another run, and this one is still at work on the output.
    let part = dir.path().join("part-00003.mpk.zst");
    let mut bytes = fs::read(&part).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&part, bytes).unwrap();
    let output = pack(dir.path(), out.path(), &["--resume"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("part-00003.mpk.zst"), "{}", said(&output));
    assert!(said(&output).contains("another one"), "{}", said(&output));
    assert!(!said(&output).contains("goes on from there"), "{}", said(&output));
}

/// The files of a kind in the temporary directory of a run, in name order.
fn temporary(out: &Path, kind: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(out.join(".manaka-pack-teacher")) else { return Vec::new() };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(kind)));
    paths.sort();
    paths
}

/// Starts a run and waits until it has files of a kind.
fn until(dir: &Path, out: &Path, kind: &str) -> Child {
    let mut child = pack(dir, out, &[]).spawn().unwrap();
    while temporary(out, kind).len() < 2 {
        assert!(child.try_wait().unwrap().is_none(), "the run ended before it had two {kind} files");
        sleep(Duration::from_millis(1));
    }
    child
}

/// The output directory of a run that was killed when its journal said that everything was read, and did not yet say that
/// everything was folded: the end of a pass is written while the next one works. So every bucket there is is needed.
fn killed_while_folding(dir: &Path) -> TempDir {
    let killed = || {
        let out = tempfile::tempdir().unwrap();
        let noted = |line: &str| {
            let text = fs::read_to_string(out.path().join(".manaka-pack-teacher/journal"));
            text.is_ok_and(|text| text.lines().any(|noted| noted.starts_with(line)))
        };
        let mut child = until(dir, out.path(), "rows");
        while !noted("read-end") && child.try_wait().unwrap().is_none() {
            sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        (noted("read-end") && !noted("fold")).then_some(out)
    };
    // Others had folded everything by the time they were killed.
    (0..100).find_map(|_| killed()).unwrap()
}

#[test]
fn temporary_files_that_went_are_missed() {
    let dir = tempfile::tempdir().unwrap();
    let (expected, _) = undisturbed(dir.path());

    // One of them, between a kill and the resumption.
    let out = killed_while_folding(dir.path());
    fs::remove_file(temporary(out.path(), "bucket").last().unwrap()).unwrap();
    let output = pack(dir.path(), out.path(), &["--resume"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("is not as it was read"), "{}", said(&output));

    // All of them under a running program; it may write some anew before it notices.
    let out = tempfile::tempdir().unwrap();
    let child = until(dir.path(), out.path(), "bucket");
    for path in temporary(out.path(), "") {
        fs::remove_file(path).unwrap();
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("bucket-"), "{}", said(&output));
    let output = pack(dir.path(), out.path(), &["--resume"]).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert!(shards(out.path()) == expected);
}

/// As a run leaves it that is killed before it has begun.
#[test]
fn a_lock_that_nobody_holds_is_in_nobodys_way() {
    let dir = tempfile::tempdir().unwrap();
    streams(dir.path(), Conventions::TEACHER);
    let out = tempfile::tempdir().unwrap();
    fs::write(out.path().join(".manaka-pack.lock"), "").unwrap();
    for more in [&["--resume"][..], &[]] {
        let output = pack(dir.path(), out.path(), more).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        assert_eq!(shards(out.path()).len(), 7);
        for (name, _) in shards(out.path()) {
            fs::remove_file(out.path().join(name)).unwrap();
        }
        fs::write(out.path().join(".manaka-pack.lock"), "").unwrap();
    }
}
