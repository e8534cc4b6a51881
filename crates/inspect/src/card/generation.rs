//! How the data was made, from the report its producer left: every setting as it stands there, and nothing besides.

use super::files::Root;
use super::markdown::{Doc, Left, Right, blank, code, figure, grouped, plain, whole};
use crate::error::{Error, Result};
use serde_json::{Map, Value};
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

/// The reports that producers leave beside their data.
pub const MANIFESTS: [&str; 2] = ["gensfen.json", "selfplay.json"];

/// A longer one is no report.
const MOST: u64 = 64 << 20;

/// More entries than this of one object whose keys are numbers are told by their spread.
const LISTED: usize = 8;

/// Settings that a reader looks for first, in the order in which a card lists them, under the names people give them.
const KNOWN: [(&str, &str); 32] = [
    ("engine.name", "engine"),
    ("engine.author", "its author"),
    ("engine.options", "engine options"),
    ("engine.limit.nodes", "nodes of a search"),
    ("engine.limit.depth", "depth of a search"),
    ("engine.limit.byoyomi_ms", "milliseconds of a search"),
    ("engine.multipv", "MultiPV"),
    ("evaluator.name", "evaluator"),
    ("evaluator.net", "its network"),
    ("search.rule", "search"),
    ("search.budget", "simulations of a search"),
    ("play.softmax_temp_cp", "moves are drawn by a softmax at, cp"),
    ("play.random_until_ply", "… up to ply"),
    ("play.random_move", "chance of a random move"),
    ("openings.book", "opening book"),
    ("openings.book_positions", "positions in the book"),
    ("openings.random_plies", "random plies behind it"),
    ("openings.policy_plies", "plies drawn from the policy behind it"),
    ("openings.book_xxh3", "hash of the book"),
    ("play.resign_value", "resignation when lost by"),
    ("play.resign_score", "resignation at, cp"),
    ("play.resign_count", "… so many times in a row"),
    ("play.play_on", "share of games without resignation"),
    ("play.eval_limit", "games end beyond, cp"),
    ("play.max_ply", "games end at ply"),
    ("play.repetition", "repetition"),
    ("play.declaration", "declaration"),
    ("scores.pov", "scores are from"),
    ("scores.mate_scale", "mate scale"),
    ("scores.mate_slack", "mate slack"),
    ("seed", "seed"),
    ("recovery", "a second pass over dropped games"),
];

/// A report beside the data.
pub struct Manifest {
    /// What the card calls it.
    name: String,
    value: Map<String, Value>,
}

impl Manifest {
    /// The games and positions it counts, where it does.
    pub fn counts(&self) -> (Option<u64>, Option<u64>) {
        let totals = self.value.get("totals");
        let count = |name: &str| totals.and_then(|totals| totals.get(name)).and_then(Value::as_u64);
        let positions = count("positions").or_else(|| count("records"));
        (count("games").or_else(|| self.value.get("games").and_then(Value::as_u64)), positions)
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Who wrote it.
    pub fn writer(&self) -> Option<&str> {
        self.value.get("writer").and_then(Value::as_str)
    }
}

/// The reports in these directories. None is an empty list, a malformed one an error.
pub fn beside(dirs: &[PathBuf], root: &Root) -> Result<Vec<Manifest>> {
    let mut manifests = Vec::new();
    for path in dirs.iter().flat_map(|dir| MANIFESTS.map(|name| dir.join(name))) {
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(Error::io(&path)(error)),
        };
        let mut text = Vec::new();
        file.take(MOST + 1).read_to_end(&mut text).map_err(Error::io(&path))?;
        let wrong = |what: String| Error::Manifest { path: path.clone(), what };
        if text.len() as u64 > MOST {
            return Err(wrong(format!("it has more than {MOST} bytes")));
        }
        match serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))? {
            Value::Object(value) if value.get("settings").is_some_and(Value::is_object) => {
                manifests.push(Manifest { name: root.name(&path)?, value });
            }
            Value::Object(_) => return Err(wrong("it has no object of settings".to_owned())),
            _ => return Err(wrong("it is no JSON object".to_owned())),
        }
    }
    Ok(manifests)
}

/// The section.
pub fn write(doc: &mut Doc, manifests: &[Manifest]) {
    doc.heading(2, "Generation");
    if manifests.is_empty() {
        doc.paragraph(&format!(
            "Neither `{}` nor `{}` lies beside the data. The files state the conventions their numbers follow; under which \
             conditions the games were played cannot be recovered from them.",
            MANIFESTS[0], MANIFESTS[1]
        ));
        doc.paragraph(&blank(
            "engine and network, search effort, MultiPV, openings, how moves were chosen, resignation, longest game",
        ));
        return;
    }
    for manifest in manifests {
        settings(doc, manifest);
    }
}

fn settings(doc: &mut Doc, manifest: &Manifest) {
    let writer = manifest.writer().map_or(String::new(), |writer| format!(", as {} wrote it", plain(writer)));
    doc.paragraph(&format!(
        "From {}, which lies beside the data{writer}. Where things lay and how long they took is left out.",
        code(&manifest.name)
    ));
    if manifest.value.get("complete") == Some(&Value::Bool(false)) {
        doc.paragraph("**The run was not complete when it wrote this.**");
    }
    let mut found = Vec::new();
    if let Some(settings) = manifest.value.get("settings") {
        flatten(String::new(), settings, &mut found);
    }
    let mut rows: Vec<[String; 2]> = Vec::new();
    for (key, name) in KNOWN {
        if let Some(at) = found.iter().position(|(path, _)| path == key) {
            rows.push([name.to_owned(), found.remove(at).1]);
        }
    }
    rows.extend(found.into_iter().map(|(path, value)| [code(&path), value]));
    doc.table([("setting", Left), ("value", Left)], rows);

    let mut found = Vec::new();
    for (key, value) in manifest.value.iter().filter(|(key, _)| !BOOKS.contains(&key.as_str())) {
        // The totals are what is counted here; their name says nothing.
        match value.as_f64().filter(|_| value.is_f64() && !left_out(key)) {
            // A mean or a share, and no setting: nobody needs its last digit.
            Some(mean) => found.push((key.clone(), figure(mean, 4))),
            None => flatten(if key == "totals" { String::new() } else { key.clone() }, value, &mut found),
        }
    }
    found.sort();
    found.dedup();
    if !found.is_empty() {
        doc.paragraph("What the run counted:");
        doc.table(
            [("count", Left), ("value", Right)],
            found.into_iter().map(|(path, value)| [code(&path), value]),
        );
    }
}

/// What a report says of itself and of its files, and not of the data.
const BOOKS: [&str; 5] = ["format", "version", "writer", "settings", "complete"];

/// Whether a key is about time, machines or files. The same games make the same card, however fast they came.
fn left_out(key: &str) -> bool {
    let timing = ["seconds", "_per_second", "_s", "_bytes", "workers", "threads"];
    matches!(key, "timeouts" | "program" | "timing")
        || key.starts_with("next_")
        || timing.iter().any(|ending| key.ends_with(ending))
}

/// Every value below a path, by the path of its keys.
fn flatten(path: String, value: &Value, found: &mut Vec<(String, String)>) {
    if left_out(path.rsplit('.').next().unwrap_or(&path)) {
        return;
    }
    match value {
        Value::Object(map) if spread(map).is_some() => found.push((path, spread(map).unwrap_or_default())),
        Value::Object(map) => {
            for (key, value) in map {
                flatten(if path.is_empty() { key.clone() } else { format!("{path}.{key}") }, value, found);
            }
        }
        Value::Array(list) => {
            let texts: Vec<String> = list.iter().map(item).collect();
            found.push((path, if texts.is_empty() { "none".to_owned() } else { texts.join(", ") }));
        }
        // A seed is a name, not an amount.
        Value::Number(seed) if path.ends_with("seed") => found.push((path, code(&seed.to_string()))),
        other => found.push((path, scalar(other))),
    }
}

/// An entry of a list; a pair is a name and its value.
fn item(value: &Value) -> String {
    match value {
        Value::Array(pair) => match pair.as_slice() {
            [Value::String(name), Value::String(value)] => code(&format!("{name}={}", without_place(value))),
            _ => code(&value.to_string()),
        },
        Value::Object(_) => code(&value.to_string()),
        other => scalar(other),
    }
}

fn scalar(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
            (Some(number), ..) => grouped(number),
            (_, Some(number), _) => whole(number),
            (.., Some(number)) if number.fract() == 0.0 && number.abs() < 1e15 => figure(number, 0),
            _ => code(&number.to_string()),
        },
        Value::String(text) => match without_place(text) {
            text if text.chars().all(|c| c.is_alphanumeric() || " .,-".contains(c)) => text,
            text => code(&text),
        },
        Value::Array(_) | Value::Object(_) => code(&value.to_string()),
    }
}

/// A path without the place where it lay on someone's machine. `examples/openings.txt` is a name and stays.
fn without_place(text: &str) -> String {
    let windows = text.get(1..3).is_some_and(|rest| rest == ":\\" || rest == ":/");
    if !text.starts_with(['/', '~']) && !windows {
        return text.to_owned();
    }
    text.rsplit(['/', '\\']).next().unwrap_or_default().to_owned()
}

/// How counts by number are spread, for an object that has many numbers for its keys.
fn spread(map: &Map<String, Value>) -> Option<String> {
    if map.len() <= LISTED {
        return None;
    }
    let mut counts = map
        .iter()
        .map(|(key, value)| Some((key.parse().ok()?, value.as_u64()?)))
        .collect::<Option<Vec<(i64, u64)>>>()?;
    counts.sort_unstable();
    let all = counts.iter().fold(0u64, |sum, (_, count)| sum.saturating_add(*count));
    let mut before = 0u64;
    let median = counts.iter().find(|(_, count)| {
        before = before.saturating_add(*count);
        before >= all.div_ceil(2)
    })?;
    let (first, last) = (counts.first()?, counts.last()?);
    Some(format!(
        "{} in all, {} to {}, median {}",
        grouped(all),
        whole(first.0),
        whole(last.0),
        whole(median.0)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn flat(value: &Value) -> Vec<(String, String)> {
        let mut found = Vec::new();
        flatten(String::new(), value, &mut found);
        found
    }

    #[test]
    fn settings_are_told_and_places_and_times_are_not() {
        let found = flat(&json!({
            "engine": {"program": "/usr/games/x", "timeouts": {"ready_s": 1.0}, "args": ["/home/me/net.bin", "-q"],
                       "options": [["EvalDir", "/home/me/eval"], ["Threads", "1"]]},
            "openings": {"book": "examples/openings.txt"}, "games_per_second": 3.5, "workers": 8,
            "seed": 123_456, "temperature": 0.25, "limit": -3000, "eval_limit": null,
        }));
        let expected = [
            ("engine.args", "net.bin, -q"),
            ("engine.options", "`EvalDir=eval`, `Threads=1`"),
            ("eval_limit", "none"),
            ("limit", "−3,000"),
            ("openings.book", "`examples/openings.txt`"),
            ("seed", "`123456`"),
            ("temperature", "`0.25`"),
        ];
        assert_eq!(found, expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
    }

    #[test]
    fn many_counts_by_number_are_told_by_their_spread() {
        let counts: Map<String, Value> =
            (1..=20).map(|depth| (depth.to_string(), json!(depth * 100))).collect();
        assert_eq!(
            flat(&json!({"depths": counts})),
            [("depths".to_owned(), "21,000 in all, 1 to 20, median 14".to_owned())]
        );
        let few = json!({"depths": {"1": 5, "2": 6}});
        assert_eq!(flat(&few).len(), 2);
    }
}
