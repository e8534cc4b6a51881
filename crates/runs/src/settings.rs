//! Whether two statements of settings are of one run.

use serde_json::Value;
use std::collections::BTreeSet;

/// A setting that differs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// Its path of keys, with dots.
    pub key: String,
    /// What it was, as JSON; `null` where there was none.
    pub there: String,
    /// What it is now.
    pub here: String,
}

/// The first setting, in the order of the keys, in which two runs differ so that they are not one. `there` was read from
/// a report. What is `free`, by its path of keys, may differ, with all that is below it.
#[must_use]
pub fn difference(there: &Value, here: &Value, free: &[&str]) -> Option<Difference> {
    // As it would come back from a report, where a fraction may lose its last digit.
    let read = serde_json::from_str(&here.to_string());
    compare(String::new(), there, read.as_ref().unwrap_or(here), free)
}

fn compare(key: String, there: &Value, here: &Value, free: &[&str]) -> Option<Difference> {
    if free.contains(&key.as_str()) {
        return None;
    }
    if let (Value::Object(a), Value::Object(b)) = (there, here) {
        let names: BTreeSet<_> = a.keys().chain(b.keys()).collect();
        return names.into_iter().find_map(|name| {
            let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
            compare(key, a.get(name).unwrap_or(&Value::Null), b.get(name).unwrap_or(&Value::Null), free)
        });
    }
    (there != here).then(|| Difference { key, there: there.to_string(), here: here.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_first_setting_that_differs_is_named_with_both_values() {
        let there = json!({ "a": { "b": 1, "c": [1, 2] }, "d": "x", "e": { "f": 1, "g": 2 } });
        let found = |here: Value| {
            difference(&there, &here, &["d", "e.g"]).map(|found| (found.key, found.there, found.here))
        };
        let wanted = |key: &str, there: &str, here: &str| Some((key.into(), there.into(), here.into()));
        assert_eq!(found(there.clone()), None);
        let here = json!({ "a": { "b": 2, "c": [1] }, "d": "x", "e": { "f": 1, "g": 2 } });
        assert_eq!(found(here), wanted("a.b", "1", "2"));
        let here = json!({ "a": { "b": 1, "c": [1] }, "d": "x", "e": { "f": 1, "g": 2 } });
        assert_eq!(found(here), wanted("a.c", "[1,2]", "[1]"));
        let here = json!({ "a": { "b": 1, "c": [1, 2], "new": {} }, "d": "x", "e": { "f": 1, "g": 2 } });
        assert_eq!(found(here), wanted("a.new", "null", "{}"));
        let here = json!({ "a": { "b": 1, "c": [1, 2] }, "d": { "any": 1 }, "e": { "f": 1 } });
        assert_eq!(found(here), None);
        let here = json!({ "a": { "b": 1, "c": [1, 2] }, "e": 7 });
        assert_eq!(found(here), wanted("e", r#"{"f":1,"g":2}"#, "7"));
    }

    #[test]
    fn a_fraction_is_the_same_after_its_way_through_a_report_and_none_of_its_neighbours_is() {
        let mut x: f64 = 0.1;
        for _ in 0..2000 {
            x = (x * 1.037).fract() + 1e-3;
            let there = serde_json::from_str(&json!({ "x": x }).to_string()).unwrap();
            assert_eq!(difference(&there, &json!({ "x": x }), &[]), None);
            let far = f64::from_bits(x.to_bits() + 3);
            assert!(difference(&there, &json!({ "x": far }), &[]).is_some(), "{x}");
        }
    }
}
