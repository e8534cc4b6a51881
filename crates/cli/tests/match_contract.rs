//! `manaka match` as it is called: nets, policies, random moves and a real engine; what it says, and what it refuses.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn run(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_manaka")).arg("match").args(args).output().unwrap()
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn done(args: &[&str]) -> Output {
    let output = run(args);
    assert!(output.status.success(), "{}", said(&output));
    output
}

fn json(args: &[&str]) -> Value {
    serde_json::from_slice(&done(&[args, &["--format", "json"]].concat()).stdout).unwrap()
}

const SHORT: &[&str] = &["--games", "6", "--playouts", "20", "--max-ply", "50"];

#[test]
fn a_match_of_nets_does_not_depend_on_threads() {
    let players = ["--a", "kp256", "--b", "kp256", "--b-search", "gumbel", "--b-playouts", "8"];
    let alone = json(&[&players, SHORT, &["--threads", "1"]].concat());
    assert_eq!(json(&[&players, SHORT, &["--threads", "3"]].concat()), alone);
    let names: Vec<&str> = alone["players"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(names[0].starts_with("PUCT 20 over kp256 xxh3:"), "{names:?}");
    assert!(names[1].starts_with("Gumbel 8 over kp256 xxh3:"), "{names:?}");
    let pairs: u64 = alone["score"]["pairs"].as_array().unwrap().iter().filter_map(Value::as_u64).sum();
    assert_eq!(pairs, 3);
    // Another seed, other openings.
    let of_seed =
        |seed| json(&[&players[..], &["--games", "6", "--playouts", "20", "--seed", seed]].concat());
    assert_ne!(of_seed("2"), of_seed("1"));
}

#[test]
fn a_policy_plays_itself_to_a_draw_of_colours() {
    let report = json(&[&["--a", "policy:kp256", "--b", "policy:kp256"], SHORT].concat());
    assert_eq!(report["score"]["pairs"], serde_json::json!([0, 0, 3, 0, 0]));
    assert_eq!(report["share"], 0.5);
}

#[test]
fn searches_beat_the_policy_they_search_with() {
    let rules: [&[&str]; 2] = [&["--playouts", "60"], &["--search", "gumbel", "--playouts", "32"]];
    for rule in rules {
        let report = json(&[&["--a", "kp256", "--b", "policy:kp256", "--games", "40"], rule].concat());
        let score = |name: &str| report["score"][name].as_u64().unwrap();
        assert!(score("wins") > score("losses") && score("wins") + score("losses") >= 20, "{report}");
        assert!(report["sign_test"].as_f64().unwrap() < 0.01, "{report}");
    }
}

#[test]
fn a_real_engine_plays_and_games_are_kept() {
    let engine = "/usr/games/fairy-stockfish";
    assert!(Path::new(engine).exists(), "apt-get install fairy-stockfish");
    let dir = tempfile::tempdir().unwrap();
    let record = dir.path().join("games.jsonl");
    let engine = format!("usi:{engine}");
    let args = ["--a", &engine, "--b", "random", "--nodes", "300", "--option", "UCI_Variant=shogi"];
    let args = [&args[..], &["--games", "4", "--record", record.to_str().unwrap()]].concat();
    let text = said(&done(&args));
    assert!(text.contains("4 games: 4 won, 0 drawn, 0 lost"), "{text}");
    assert!(text.contains("Elo +∞") && text.contains("endings: mate=4"), "{text}");
    let games = std::fs::read_to_string(&record).unwrap();
    let games: Vec<Value> = games.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(games.len(), 4);
    for game in &games {
        assert_eq!((&game["ending"], &game["points"]), (&"mate".into(), &1.into()));
        assert!(game["moves"].as_array().unwrap().len() > 10);
    }
    // What is there is not written over.
    let again = run(&args);
    assert_eq!(again.status.code(), Some(1));
    assert!(said(&again).contains("games.jsonl"), "{}", said(&again));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let refused = |args: &[&str], code, word: &str| {
        let output = run(args);
        assert_eq!(output.status.code(), Some(code), "{}", said(&output));
        assert!(said(&output).contains(word), "{}", said(&output));
    };
    refused(&["--a", "kp256", "--b", "random", "--games", "3"], 2, "even");
    refused(&["--a", "kp256", "--b", "usi:engine"], 2, "--nodes");
    refused(&["--a", "no-such.kp", "--b", "random"], 1, "no-such.kp");
    refused(&["--a", "random", "--b", "usi:/nowhere/engine", "--nodes", "5"], 1, "/nowhere/engine");
    refused(&["--a", "random", "--b", "random", "--sprt", "10,0"], 1, "lower one first");
    refused(&["--a", "random", "--b", "random", "--sprt", "10"], 2, "comma");
}
