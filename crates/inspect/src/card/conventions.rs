//! What the numbers mean: the conventions as footers and headers state them (conventions.md §2).

use super::markdown::{Doc, Left, code, grouped};
use crate::info::ShardInfo;
use crate::stat::Stated;
use manaka_core::stream::Header;

/// What a reader does with a convention.
fn meaning(key: &str, value: &str, stated: &Stated) -> String {
    let zero = value == "0";
    let text = match key {
        "pov" if value == "black" => "values, outcomes and scores are Black's",
        "pov" => "values, outcomes and scores are those of the side to move",
        "policy_source" if value == "visits" => "the policy is made of visit counts",
        "policy_source" => {
            "the policy is a softmax over scores; one-hot on the best move where any score is a mate"
        }
        "softmax_temp_cp" if zero => "not applicable",
        "softmax_temp_cp" => "the temperature of that softmax in centipawns",
        "mate_scale" | "eval_coef" if zero => "not applicable",
        "mate_scale" => "the centipawns mates are folded to",
        "mate_slack" => {
            return match stated.mate_threshold {
                Some(from) => {
                    let Stated { mate_scale, mate_slack, .. } = stated;
                    let what = if zero {
                        format!("not stated, so {mate_slack} is in force")
                    } else {
                        "how far below it mates reach".to_owned()
                    };
                    format!(
                        "{what}: scores from {} = {mate_scale} − {mate_slack} on are mates",
                        grouped(from.into())
                    )
                }
                None => "no score is a mate".to_owned(),
            };
        }
        "eval_coef" => "`value_q` is tanh(cp / eval_coef), and ±1 for mates",
        "fv_scale" if zero => "not stated",
        "fv_scale" => "the FV_SCALE the engine's evaluation was read at; nothing is to be divided by it",
        "packed" => "what the column holds",
        "writer" => "what wrote the shard",
        _ => "of another program",
    };
    text.to_owned()
}

fn table(doc: &mut Doc, pairs: impl IntoIterator<Item = (String, String)>, stated: &Stated) {
    let rows = pairs.into_iter().map(|(key, value)| {
        let meaning = meaning(&key, &value, stated);
        [code(&key), code(&value), meaning]
    });
    doc.table([("key", Left), ("value", Left), ("a reader takes from it", Left)], rows);
}

/// What mixing takes.
const MIXING: &str = "Nothing in the bytes would show it if one of these were wrong. Look at them before you mix this data \
                      with any other.";

/// The footers of shards: each pair once, with the files that have it where not all do.
pub fn shards(doc: &mut Doc, infos: &[ShardInfo], stated: &Stated) {
    doc.heading(2, "Conventions");
    doc.paragraph(&format!("As the footers state them, key by key; nothing of it was typed here. {MIXING}"));
    let mut pairs: Vec<(String, String)> = Vec::new();
    for pair in infos.iter().flat_map(|info| &info.footer) {
        let pair = (pair.0.clone(), shortened(&pair.1));
        if !pairs.contains(&pair) {
            pairs.push(pair);
        }
    }
    table(doc, pairs, stated);
}

/// The header of streams.
pub fn streams(doc: &mut Doc, headers: &[Header], stated: &Stated) {
    doc.heading(2, "Conventions");
    doc.paragraph(&format!("As the headers state them; nothing of it was typed here. {MIXING}"));
    let Stated { pov, policy_source, mate_scale, eval_coef, fv_scale, .. } = stated;
    // The slack of the table is what stands in the header; the one in force is in the threshold.
    let slack = headers.first().map_or(0, |header| header.conventions.mate_slack);
    let pairs = [
        ("pov", (*pov).to_owned()),
        ("policy_source", (*policy_source).to_owned()),
        ("mate_scale", mate_scale.to_string()),
        ("mate_slack", slack.to_string()),
        ("eval_coef", eval_coef.to_string()),
        ("fv_scale", fv_scale.to_string()),
    ];
    table(doc, pairs.map(|(key, value)| (key.to_owned(), value)), stated);
    super::layout::headers(doc, headers);
}

/// Data that states nothing.
pub fn unstated(doc: &mut Doc) {
    doc.heading(2, "Conventions");
    doc.paragraph(
        "The files state none. What their scores mean, which of them are mates and at which FV_SCALE the engine's \
         evaluation was read has to be told along with them:",
    );
    doc.paragraph(&super::markdown::blank("mate_scale, mate_slack, eval_coef and fv_scale of the generator"));
}

/// A footer value on one line; other programs keep whole schemas there.
fn shortened(value: &str) -> String {
    const SHOWN: usize = 100;
    match value.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}… ({} characters)", &value[..at], grouped(value.chars().count() as u64)),
        None => value.to_owned(),
    }
}
