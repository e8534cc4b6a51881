//! The YAML front matter that dataset hubs read.

use super::files::CardFile;
use super::markdown::one_line;
use crate::sniff::Kind;

/// The hubs' classes of size, each with the first number that is beyond it.
const SIZES: [(u64, &str); 10] = [
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
    (10_000_000, "1M<n<10M"),
    (100_000_000, "10M<n<100M"),
    (1_000_000_000, "100M<n<1B"),
    (10_000_000_000, "1B<n<10B"),
    (100_000_000_000, "10B<n<100B"),
    (1_000_000_000_000, "100B<n<1T"),
];

/// What YAML is told, and nothing else: a text in quotation marks.
fn quoted(text: &str) -> String {
    // A JSON string is a YAML one.
    serde_json::Value::from(one_line(text)).to_string()
}

/// The front matter of data with so many records or rows in its largest set.
pub fn matter(name: Option<&str>, license: Option<&str>, files: &[CardFile], records: u64) -> String {
    let mut text = String::from("---\n");
    match license {
        Some(license) => text.push_str(&format!("license: {}\n", quoted(license))),
        None => text.push_str("# license: TO BE FILLED IN\n"),
    }
    match name {
        Some(name) => text.push_str(&format!("pretty_name: {}\n", quoted(name))),
        None => text.push_str("# pretty_name: TO BE FILLED IN\n"),
    }
    text.push_str("tags:\n- shogi\n- manaka\n");
    if files.iter().any(|file| file.kind == Kind::Stream) {
        text.push_str("- mpk1\n");
    }
    let size = SIZES.iter().find(|(beyond, _)| records < *beyond).map_or("n>1T", |(_, size)| size);
    text.push_str(&format!("size_categories:\n- {}\n", quoted(size)));
    let readable: Vec<(Kind, Vec<&str>)> = [Kind::Shard, Kind::Corpus]
        .into_iter()
        .map(|kind| {
            (kind, files.iter().filter(|f| f.kind == kind).map(|f| f.name.as_str()).collect::<Vec<_>>())
        })
        .filter(|(_, names)| !names.is_empty())
        .collect();
    match readable.as_slice() {
        // Nothing that a hub's viewer could show.
        [] => text.push_str("viewer: false\n"),
        configs => {
            text.push_str("configs:\n");
            for (kind, names) in configs {
                let config = if configs.len() == 1 { "default" } else { kind.id() };
                text.push_str(&format!(
                    "- config_name: {config}\n  data_files:\n  - split: train\n    path:"
                ));
                match pattern(names) {
                    Some(pattern) => text.push_str(&format!(" {}\n", quoted(&pattern))),
                    None => {
                        text.push('\n');
                        names.iter().for_each(|name| text.push_str(&format!("    - {}\n", quoted(name))));
                    }
                }
            }
        }
    }
    text.push_str("---\n");
    text
}

/// The pattern of names that differ in their number alone, as in `data/teacher-00000.parquet`.
pub fn pattern(names: &[&str]) -> Option<String> {
    const DIGITS: usize = 5;
    let cut = |name: &str| {
        let stem = name.strip_suffix(".parquet")?;
        let (prefix, number) = stem.split_at_checked(stem.len().checked_sub(DIGITS)?)?;
        let numbered = prefix.ends_with('-') && number.bytes().all(|b| b.is_ascii_digit());
        let literal = !prefix.contains(['*', '?', '[', ']', '{', '}']);
        (numbered && literal).then(|| prefix.to_owned())
    };
    let first = cut(names.first()?)?;
    names.iter().all(|name| cut(name).as_deref() == Some(&first)).then(|| format!("{first}*.parquet"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, kind: Kind) -> CardFile {
        CardFile { path: name.into(), name: name.to_owned(), kind, bytes: 1, hash: 0 }
    }

    #[test]
    fn names_that_differ_in_their_number_are_one_pattern() {
        assert_eq!(pattern(&["d/t-00000.parquet", "d/t-00001.parquet"]).as_deref(), Some("d/t-*.parquet"));
        for names in
            [&["t-00000.parquet", "u-00001.parquet"][..], &["train.parquet"], &["t*-00000.parquet"], &[]]
        {
            assert_eq!(pattern(names), None, "{names:?}");
        }
    }

    #[test]
    fn what_is_not_told_is_left_out_and_marked() {
        let matter = matter(None, None, &[file("part-00000.mpk", Kind::Stream)], 999);
        assert_eq!(
            matter,
            "---\n# license: TO BE FILLED IN\n# pretty_name: TO BE FILLED IN\ntags:\n- shogi\n- manaka\n- mpk1\n\
             size_categories:\n- \"n<1K\"\nviewer: false\n---\n"
        );
    }

    #[test]
    fn a_name_cannot_leave_its_line() {
        let files = [file("a \"b\".parquet", Kind::Shard), file("c.parquet", Kind::Corpus)];
        let matter = matter(Some("x\ny: \"z\""), Some("mit"), &files, 61_124);
        assert_eq!(
            matter,
            "---\nlicense: \"mit\"\npretty_name: \"x y: \\\"z\\\"\"\ntags:\n- shogi\n- manaka\n\
             size_categories:\n- \"10K<n<100K\"\nconfigs:\n\
             - config_name: shard\n  data_files:\n  - split: train\n    path:\n    - \"a \\\"b\\\".parquet\"\n\
             - config_name: corpus\n  data_files:\n  - split: train\n    path:\n    - \"c.parquet\"\n---\n"
        );
    }

    #[test]
    fn the_classes_of_size_follow_each_other() {
        for pair in SIZES.windows(2) {
            assert_eq!(pair[0].0 * 10, pair[1].0);
        }
    }
}
