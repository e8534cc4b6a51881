//! `manaka card` as a person runs it: the cards under `examples/cards` are remade by the commands that made them, and no
//! file that is somebody's work is replaced.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

fn manaka(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_manaka")).args(args).output().unwrap()
}

fn done(args: &[&str], code: i32) -> String {
    let output = manaka(args);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "manaka {args:?}\n{said}");
    String::from_utf8(output.stdout).unwrap()
}

/// A card under `examples/cards`: its name, what the dataset is called, the report that lies beside the data, and the
/// commands that make the data of `{examples}` in `{dir}/data`. examples/README.md has them for people.
const CARDS: &[(&str, &str, &str, &[&[&str]])] = &[
    (
        "gensfen",
        "Manaka example: Fairy-Stockfish against itself",
        "gensfen.json",
        &[
            &["teacher", "{examples}/corpus.parquet", "--out", "{dir}/streams"],
            &["pack", "{dir}/streams", "--out", "{dir}/data", "--prefix", "teacher"],
        ],
    ),
    (
        "selfplay",
        "Manaka example: the net in the program against itself",
        "selfplay.json",
        &[&[
            "selfplay",
            "--games",
            "100",
            "--search",
            "gumbel",
            "--simulations",
            "32",
            "--seed",
            "1",
            "--out",
            "{dir}/data",
        ]],
    ),
];

#[test]
fn the_cards_of_the_examples_are_remade_without_a_difference() {
    for (name, title, report, commands) in CARDS {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().to_str().unwrap();
        let examples = examples();
        for command in *commands {
            let swap =
                |arg: &&str| arg.replace("{dir}", place).replace("{examples}", examples.to_str().unwrap());
            let args: Vec<String> = command.iter().map(swap).collect();
            done(&args.iter().map(String::as_str).collect::<Vec<_>>(), 0);
        }
        let data = dir.path().join("data");
        if !data.join(report).exists() {
            fs::copy(examples.join(report), data.join(report)).unwrap();
        }
        let data = data.to_str().unwrap();
        let card = done(&["card", data, "--name", title, "--license", "mit", "--threads", "1"], 0);
        let committed = fs::read_to_string(examples.join(format!("cards/{name}.md"))).unwrap();
        if card != committed {
            let differs = card.lines().zip(committed.lines()).position(|(a, b)| a != b);
            let at = differs.unwrap_or_else(|| card.lines().count().min(committed.lines().count()));
            let line = |text: &str| text.lines().nth(at).unwrap_or("(nothing)").to_owned();
            panic!("{name}, line {}:\n{}\nis remade as\n{}", at + 1, line(&committed), line(&card));
        }
        // The file is the same text.
        let out = format!("{data}/README.md");
        assert_eq!(done(&["card", data, "--name", title, "--license", "mit", "--out", &out], 0), "");
        assert_eq!(fs::read_to_string(out).unwrap(), committed);
    }
}

#[test]
fn every_card_under_examples_is_remade_here() {
    let mut names: Vec<String> = fs::read_dir(examples().join("cards"))
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, CARDS.iter().map(|(name, ..)| (*name).to_owned()).collect::<Vec<_>>());
}

#[test]
fn a_card_replaces_a_card_and_nobodys_work() {
    let dir = tempfile::tempdir().unwrap();
    let corpus = examples().join("fairy-corpus.parquet");
    let corpus = corpus.to_str().unwrap();
    let out = dir.path().join("README.md");
    let path = out.to_str().unwrap();
    let card = done(&["card", corpus], 0);
    assert_eq!(done(&["card", corpus, "--out", "-"], 0), card);
    for _ in 0..2 {
        done(&["card", corpus, "--out", path], 0);
        assert_eq!(fs::read_to_string(&out).unwrap(), card);
    }
    for other in ["# Mine\n".to_owned(), card.replacen("TO BE FILLED IN", "cc0", 1)] {
        fs::write(&out, &other).unwrap();
        let refused = manaka(&["card", corpus, "--out", path]);
        assert_eq!(refused.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&refused.stderr).contains("changed by hand"));
        assert_eq!(fs::read_to_string(&out).unwrap(), other);
        done(&["card", corpus, "--out", path, "--force"], 0);
        assert_eq!(fs::read_to_string(&out).unwrap(), card);
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "a temporary file stayed");
}

#[test]
fn alarms_are_exit_code_3_and_mistakes_leave_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("README.md");
    let path = out.to_str().unwrap();
    let noise = dir.path().join("noise.mpk");
    fs::write(&noise, b"MPK1, or not").unwrap();
    let noise = noise.to_str().unwrap();
    assert_eq!(manaka(&["card", noise, "--out", path]).status.code(), Some(1));
    assert_eq!(manaka(&["card", noise, "--name", " "]).status.code(), Some(2));
    assert_eq!(manaka(&["card", noise, "--force"]).status.code(), Some(2));
    assert!(!out.exists());
    // A part without records beside one that has some.
    let streams = dir.path().join("streams");
    let corpus = examples().join("fairy-corpus.parquet");
    done(&["teacher", corpus.to_str().unwrap(), "--out", streams.to_str().unwrap(), "--compress", "none"], 0);
    let header = fs::read(streams.join("part-00000.mpk")).unwrap()[..24].to_vec();
    fs::write(streams.join("part-00001.mpk"), header).unwrap();
    let card = done(&["card", streams.to_str().unwrap()], 3);
    assert!(card.contains("`zero_rows`"));
}
