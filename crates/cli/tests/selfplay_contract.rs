//! `manaka selfplay` as it is called: threads and batches do not show, a kill at any moment costs nothing, SIGINT lets
//! games come to their end, and what comes out is sound.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const MANAKA: &str = env!("CARGO_BIN_EXE_manaka");

fn command(program: &str, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn selfplay(out: &Path, args: &[&str]) -> Command {
    let mut command = command(MANAKA, &["selfplay", "--max-ply", "60", "--out"]);
    command.arg(out).args(args);
    command
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn done(mut command: Command) -> Output {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    output
}

/// The bytes of stream and journal.
fn bytes(out: &Path) -> (Vec<u8>, Vec<u8>) {
    (fs::read(out.join("games.mpk")).unwrap(), fs::read(out.join("games.jsonl")).unwrap())
}

fn report(out: &Path) -> Value {
    serde_json::from_slice(&fs::read(out.join("selfplay.json")).unwrap()).unwrap()
}

const GUMBEL: &[&str] = &["--search", "gumbel", "--simulations", "8", "--m", "4"];
const PUCT: &[&str] = &["--playouts", "16", "--opening-plies", "3"];

fn with<'a>(parts: &[&[&'a str]]) -> Vec<&'a str> {
    parts.concat()
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_any_number_of_threads_and_in_any_batches() {
    let dir = tempfile::tempdir().unwrap();
    for (name, search, games) in [("gumbel", GUMBEL, "40"), ("puct", PUCT, "20")] {
        let first = dir.path().join(name);
        done(selfplay(&first, &with(&[search, &["--games", games, "--threads", "1"]])));
        let wanted = bytes(&first);
        assert!(wanted.0.len() > 100_000);
        for (threads, batch) in [("3", "1"), ("1", "16"), ("2", "5")] {
            let out = dir.path().join(format!("{name}-{threads}-{batch}"));
            let how = ["--games", games, "--threads", threads, "--batch", batch];
            done(selfplay(&out, &with(&[search, &how])));
            assert!(bytes(&out) == wanted, "{name}: {threads} threads, batches of {batch}");
            assert_eq!(report(&out)["totals"], report(&first)["totals"]);
        }
        let out = dir.path().join(format!("{name}-other"));
        done(selfplay(&out, &with(&[search, &["--games", games, "--seed", "2"]])));
        assert!(bytes(&out).0 != wanted.0);
    }
}

/// Whether the run came to its end, which has to be a good one; else it is killed.
fn waited(mut child: Child, time: Duration) -> bool {
    let began = Instant::now();
    while began.elapsed() < time {
        if child.try_wait().unwrap().is_some() {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", said(&output));
            return true;
        }
        sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    false
}

#[test]
fn a_run_killed_again_and_again_ends_with_the_bytes_of_an_undisturbed_one() {
    let dir = tempfile::tempdir().unwrap();
    let whole = dir.path().join("whole");
    let args = with(&[GUMBEL, &["--games", "120", "--threads", "2", "--sync-seconds", "0.02"]]);
    let began = Instant::now();
    done(selfplay(&whole, &args));
    let time = began.elapsed();
    let wanted = bytes(&whole);
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let (mut kills, mut torn) = (0, 0);
    for run in 0..8 {
        let out = dir.path().join(format!("killed-{run}"));
        let args = with(&[&args, &["--resume"]]);
        loop {
            let wait = time.mul_f64(rng.next_u32() as f64 / f64::from(u32::MAX) * 0.6);
            let child = selfplay(&out, &args).spawn().unwrap();
            if waited(child, wait) {
                break;
            }
            kills += 1;
            torn += u32::from(out.join("games.mpk").exists() && bytes(&out).0 != wanted.0);
            if kills % 12 == 11 {
                done(selfplay(&out, &args));
                break;
            }
        }
        assert!(bytes(&out) == wanted, "run {run}");
        assert_eq!(report(&out)["totals"], report(&whole)["totals"]);
        assert_eq!(report(&out)["complete"], true);
    }
    assert!(kills >= 8 && torn > 0, "{kills} kills, {torn} of them in the middle");
}

#[cfg(unix)]
#[test]
fn sigint_lets_games_come_to_their_end_and_a_second_one_does_not_wait() {
    let dir = tempfile::tempdir().unwrap();
    let signal = |child: &Child| done(command("kill", &["-INT", &child.id().to_string()]));
    let whole = dir.path().join("whole");
    let args = with(&[GUMBEL, &["--games", "150", "--threads", "2"]]);
    done(selfplay(&whole, &args));

    let out = dir.path().join("out");
    let endless = with(&[GUMBEL, &["--games", "1000000", "--threads", "2", "--sync-seconds", "0"]]);
    let child = selfplay(&out, &endless).spawn().unwrap();
    while !out.join("games.jsonl").exists() || fs::metadata(out.join("games.jsonl")).unwrap().len() == 0 {
        sleep(Duration::from_millis(5));
    }
    signal(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("--resume goes on"), "{}", said(&output));
    assert_eq!(report(&out)["complete"], false);
    let (data, journal) = bytes(&out);
    assert!(
        journal.ends_with(b"\n") && bytes(&whole).1.starts_with(&journal),
        "more games than the whole run has"
    );
    assert!(bytes(&whole).0.starts_with(&data));
    done(selfplay(&out, &with(&[&args, &["--resume"]])));
    assert!(bytes(&out) == bytes(&whole));

    // Searches that take minutes: nobody waits for them after the second signal.
    let slow = dir.path().join("slow");
    let mut child =
        selfplay(&slow, &["--games", "4", "--playouts", "3000000", "--threads", "2"]).spawn().unwrap();
    while !slow.join("selfplay.json").exists() {
        sleep(Duration::from_millis(5));
    }
    signal(&child);
    sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none(), "it waits for the games in play");
    signal(&child);
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
fn the_stream_is_sound_and_folds_into_shards_with_results_and_without_scores() {
    let dir = tempfile::tempdir().unwrap();
    for (name, search) in [("gumbel", GUMBEL), ("puct", PUCT)] {
        let (out, shards) = (dir.path().join(name), dir.path().join(format!("{name}-shards")));
        let json = done(selfplay(&out, &with(&[search, &["--games", "12", "--format", "json"]])));
        let printed: Value = serde_json::from_slice(&json.stdout).unwrap();
        assert_eq!(printed, report(&out));
        assert_eq!(printed["totals"]["games"], 12);
        assert_eq!(printed["settings"]["evaluator"]["name"], "kp256");
        let mut pack = command(MANAKA, &["pack", "--prefix", "selfplay", "--out"]);
        pack.arg(&shards).arg(&out);
        done(pack);
        let mut check = command(MANAKA, &["check"]);
        check.arg(&out).arg(&shards);
        done(check);
    }
}

#[test]
fn presets_and_options_come_to_the_search_they_name() {
    let dir = tempfile::tempdir().unwrap();
    let few = ["--games", "1", "--max-ply", "3", "--evaluator", "uniform"];
    let search = |program: &str, args: &[&str], name: &str| {
        let out = dir.path().join(name);
        let mut command = command(program, args);
        command.args(few).arg("--out").arg(&out);
        done(command);
        report(&out)["settings"]["search"].clone()
    };
    let puct = search(env!("CARGO_BIN_EXE_manaka-selfplay"), &["--playouts", "7"], "a");
    assert_eq!((&puct["rule"], &puct["budget"]), (&"puct".into(), &7.into()));
    let gumbel = search(env!("CARGO_BIN_EXE_dl-manaka-selfplay"), &[], "b");
    assert_eq!((&gumbel["rule"], &gumbel["budget"]), (&"gumbel".into(), &64.into()));
    let puct =
        search(env!("CARGO_BIN_EXE_dl-manaka-selfplay"), &["--search", "puct", "--playouts", "2"], "c");
    assert_eq!((&puct["rule"], &puct["budget"]), (&"puct".into(), &2.into()));
    let args = "selfplay --playouts 5 --no-mate-test --q-scale unit --c-init 1.5 --c-base 1000 --unvisited 0.2 \
                --noise-alpha 0.3 --noise-epsilon 0.1 --temperature 0.5 --temperature-plies 9 --final-temperature 0.25";
    let all = search(MANAKA, &args.split_whitespace().collect::<Vec<_>>(), "d");
    let wanted = serde_json::json!({
        "rule": "puct", "budget": 5, "mate_test": "off", "q": "unit", "c_init": 1.5, "c_base": 1000.0,
        "unvisited": { "below": 0.2 }, "noise_alpha": 0.3, "noise_share": 0.1,
        "temperature": { "first": 0.5, "plies": 9, "then": 0.25 },
    });
    assert_eq!(all, wanted);
    let args = "selfplay --search gumbel --simulations 5 --q-scale min-max --m 3 --c-visit 40 --c-scale 0.1 \
                --gumbel-scale 0.5 --gumbel-plies 8";
    let all = search(MANAKA, &args.split_whitespace().collect::<Vec<_>>(), "e");
    let wanted = serde_json::json!({
        "rule": "gumbel", "budget": 5, "mate_test": "leaf", "q": "min-max", "considered": 3, "c_visit": 40.0,
        "c_scale": 0.1, "quanta": 65536, "noise_scale": { "first": 0.5, "plies": 8, "then": 0.0 },
    });
    assert_eq!(all, wanted);
}

#[test]
fn mistakes_are_told_with_their_exit_codes() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let fails = |args: &[&str], code: i32, text: &str| {
        let output = selfplay(&out, &with(&[&["--games", "2"], args])).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", said(&output));
        assert!(said(&output).contains(text), "{}", said(&output));
        assert!(!out.exists());
    };
    fails(&["--q-scale", "signed"], 2, "PUCT takes values");
    fails(&["--search", "gumbel", "--q-scale", "siblings"], 2, "Gumbel takes values");
    fails(&["--evaluator", "uniform", "--net", "x"], 2, "has no net");
    fails(&["--evaluator", "onnx"], 2, "--net FILE");
    fails(&["--provider", "cpu"], 2, "networks in ONNX");
    fails(&["--evaluator", "uniform", "--onnxruntime", "x"], 2, "networks in ONNX");
    #[cfg(not(feature = "onnx"))]
    fails(&["--evaluator", "onnx", "--net", "x"], 1, "--features onnx");
    #[cfg(feature = "onnx")]
    fails(&["--evaluator", "onnx", "--net", "x", "--onnxruntime", "no-such-library"], 1, "no-such-library");
    fails(&["--unvisited", "x"], 2, "loss, node, or a number");
    fails(&["--playouts", "0"], 2, "playouts");
    fails(&["--net", "no-such-file"], 1, "no-such-file");
    fails(&["--noise-epsilon", "2"], 1, "noise_share");
    fails(&["--book", "no-such-book"], 1, "no-such-book");
    let dry = done(selfplay(&out, &["--games", "1000", "--dry-run"]));
    assert!(said(&dry).contains("1000 games") && !out.exists(), "{}", said(&dry));

    fs::create_dir(&out).unwrap();
    done(selfplay(&out, &with(&[GUMBEL, &["--games", "2"]])));
    let before = bytes(&out);
    let again = selfplay(&out, &with(&[GUMBEL, &["--games", "2"]])).output().unwrap();
    assert_eq!(again.status.code(), Some(1));
    assert!(said(&again).contains("holds a run already"), "{}", said(&again));
    let other = selfplay(&out, &with(&[PUCT, &["--games", "2", "--resume"]])).output().unwrap();
    assert!(said(&other).contains("one run has one setting"), "{}", said(&other));
    assert!(bytes(&out) == before);
}
