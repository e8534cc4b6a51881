//! `manaka train-kp`, the real binary on shards of a real corpus.

use assert_cmd::Command;
use manaka_kp::Net;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

fn manaka() -> Command {
    Command::new(env!("CARGO_BIN_EXE_manaka"))
}

/// Shards of the example corpus of 1500 rows each.
static SHARDS: LazyLock<(tempfile::TempDir, PathBuf)> = LazyLock::new(|| {
    let dir = tempfile::tempdir().unwrap();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/corpus.parquet");
    let (streams, shards) = (dir.path().join("streams"), dir.path().join("shards"));
    manaka().arg("teacher").arg(corpus).arg("--out").arg(&streams).assert().success();
    manaka()
        .arg("pack")
        .arg(streams)
        .arg("--out")
        .arg(&shards)
        .args(["--rows-per-shard", "1500"])
        .assert()
        .success();
    (dir, shards)
});

fn shard(number: u32) -> PathBuf {
    SHARDS.1.join(format!("teacher-{number:05}.parquet"))
}

fn train(out: &Path) -> Command {
    let mut command = manaka();
    command.arg("train-kp").arg(shard(0)).arg("--validation").arg(shard(1)).arg("--out").arg(out);
    command.args(["--epochs", "2", "--batch-size", "128", "--threads", "2"]);
    command
}

#[test]
fn shards_become_a_network_that_knows_something() {
    let dir = tempfile::tempdir().unwrap();
    let [one, two] = ["one.kp", "two.kp"].map(|name| dir.path().join(name));
    let output = train(&one).args(["--format", "json"]).assert().success().get_output().stdout.clone();
    let report: serde_json::Value = serde_json::from_slice(&output).unwrap();
    assert_eq!((report["samples"].as_u64(), report["validation_samples"].as_u64()), (Some(1500), Some(1500)));
    let epochs = report["epochs"].as_array().unwrap();
    assert_eq!((epochs.len(), epochs[1]["steps"].as_u64()), (2, Some(24)));
    let loss = |at: usize, of: &str| epochs[at][of].as_f64().unwrap();
    assert!(loss(1, "value_loss") < loss(0, "value_loss") && loss(1, "policy_loss") < loss(0, "policy_loss"));
    assert!(report["integers"]["sign_accuracy"].as_f64().unwrap() > 0.55, "{report}");
    let net = Net::open(&one).unwrap();
    assert_eq!(report["net"].as_str(), Some(&*format!("{:016x}", net.hash())));

    // Text says the same; other threads make the same bytes.
    let output = train(&two).args(["--threads", "1"]).assert().success().get_output().stdout.clone();
    let text = String::from_utf8(output).unwrap();
    assert!(text.contains(&format!("network {:016x}", net.hash())), "{text}");
    assert_eq!(std::fs::read(&one).unwrap(), std::fs::read(&two).unwrap());
    let files = std::fs::read_dir(dir.path()).unwrap().count();
    assert_eq!(files, 2, "nothing else is left");
}

#[test]
fn what_makes_no_sense_is_refused_before_the_work() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("net.kp");
    let said = |command: &mut Command, code| {
        String::from_utf8(command.assert().code(code).get_output().stderr.clone()).unwrap()
    };
    let text = said(train(&out).args(["--blend", "1.5"]), 2);
    assert!(text.contains("--blend is 1.5"), "{text}");
    let text = said(train(&out).args(["--rate", "0"]), 2);
    assert!(text.contains("the rate is 0"), "{text}");
    let text = said(train(&out).arg("--validation").arg(shard(0)), 2);
    assert!(text.contains("is to be learned and to be measured by"), "{text}");
    let text = said(train(&out).args(["--memory", "100K"]), 1);
    assert!(text.contains("1500 rows are more than fit in"), "{text}");
    let text = said(train(&dir.path().join("no/net.kp")).args(["--epochs", "1"]), 1);
    assert!(text.contains("no/net.kp"), "{text}");
    assert!(!out.exists());
}
