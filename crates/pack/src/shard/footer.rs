//! What a shard's footer states (shards.md §3). Every value is computed from the streams and the options of the fold:
//! there is no way to add or change one by hand.

use crate::policy::Policy;
use manaka_core::{Conventions, PolicySource, Pov};
use parquet::file::metadata::KeyValue;

/// The value of the footer key `packed`.
pub const PACKED_NOTE: &str = "mailbox position, side to move in the last byte";

/// The footer of a shard, in the order of its keys.
#[derive(Clone, PartialEq, Debug)]
pub struct Footer {
    /// The conventions; `mate_slack` is the effective one.
    pub conventions: Conventions,
    /// The softmax temperature in cp; 0 when the policy source is visits.
    pub softmax_temp_cp: f64,
    /// Program and version that wrote the shard, for example `manaka-pack 0.1.0`.
    pub writer: String,
}

impl Footer {
    /// The keys, in the order in which they are written.
    pub const KEYS: [&str; 9] = [
        "pov",
        "policy_source",
        "softmax_temp_cp",
        "mate_scale",
        "mate_slack",
        "eval_coef",
        "fv_scale",
        "packed",
        "writer",
    ];

    /// The footer of shards that this program folds under `policy`.
    #[must_use]
    pub fn of(policy: &Policy) -> Self {
        let mut conventions = *policy.conventions();
        conventions.mate_slack = conventions.effective_mate_slack();
        Self {
            conventions,
            softmax_temp_cp: policy.stated_temperature(),
            writer: concat!("manaka-pack ", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }

    /// Keys and values in order.
    #[must_use]
    pub fn pairs(&self) -> Vec<(&'static str, String)> {
        let c = &self.conventions;
        let values = [
            c.pov.id().to_owned(),
            c.policy_source.id().to_owned(),
            self.softmax_temp_cp.to_string(),
            c.mate_scale.to_string(),
            c.mate_slack.to_string(),
            c.eval_coef.to_string(),
            c.fv_scale.to_string(),
            PACKED_NOTE.to_owned(),
            self.writer.clone(),
        ];
        Self::KEYS.into_iter().zip(values).collect()
    }

    pub(crate) fn key_values(&self) -> Vec<KeyValue> {
        self.pairs().into_iter().map(|(key, value)| KeyValue::new(key.to_owned(), value)).collect()
    }

    /// Reads a footer. Keys of other programs (`ARROW:schema`) are passed over.
    ///
    /// # Errors
    /// A sentence naming the first key that is missing, doubled or has a value that cannot be.
    pub fn parse<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)> + Clone) -> Result<Self, String> {
        let value = |key: &str| {
            let mut found = pairs.clone().filter(|(k, _)| *k == key).map(|(_, value)| value);
            match (found.next(), found.next()) {
                (Some(value), None) => Ok(value),
                (None, _) => Err(format!("the footer has no key {key}")),
                (Some(_), Some(_)) => Err(format!("the footer has the key {key} twice")),
            }
        };
        fn number<T: std::str::FromStr>(key: &str, value: &str) -> Result<T, String> {
            value.parse().map_err(|_| format!("the footer's {key} is {value:?}"))
        }
        let num = |key: &'static str| value(key).map(|value| (key, value));
        let pov = match value("pov")? {
            "side_to_move" => Pov::SideToMove,
            "black" => Pov::Black,
            other => return Err(format!("the footer's pov is {other:?}")),
        };
        let policy_source = match value("policy_source")? {
            "visits" => PolicySource::Visits,
            "softmax_cp" => PolicySource::SoftmaxCp,
            other => return Err(format!("the footer's policy_source is {other:?}")),
        };
        let softmax_temp_cp: f64 = num("softmax_temp_cp").and_then(|(k, v)| number(k, v))?;
        let conventions = Conventions {
            pov,
            policy_source,
            mate_scale: num("mate_scale").and_then(|(k, v)| number(k, v))?,
            mate_slack: num("mate_slack").and_then(|(k, v)| number(k, v))?,
            fv_scale: num("fv_scale").and_then(|(k, v)| number(k, v))?,
            eval_coef: num("eval_coef").and_then(|(k, v)| number(k, v))?,
        };
        let temperature_fits = match policy_source {
            PolicySource::Visits => softmax_temp_cp == 0.0,
            PolicySource::SoftmaxCp => softmax_temp_cp.is_finite() && softmax_temp_cp > 0.0,
        };
        if !temperature_fits {
            return Err(format!(
                "the footer's softmax_temp_cp is {softmax_temp_cp} for {}",
                policy_source.id()
            ));
        }
        if value("packed")? != PACKED_NOTE {
            return Err(format!("the footer's packed is {:?}", value("packed")?));
        }
        Ok(Self { conventions, softmax_temp_cp, writer: value("writer")?.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_footer_states_the_effective_slack_and_reads_back() {
        let policy = Policy::new(Conventions { fv_scale: 28, ..Conventions::TEACHER }, 100.0).unwrap();
        let footer = Footer::of(&policy);
        let pairs = footer.pairs();
        let texts: Vec<String> = pairs.iter().map(|(key, value)| format!("{key}={value}")).collect();
        assert_eq!(
            texts[..8],
            [
                "pov=side_to_move",
                "policy_source=softmax_cp",
                "softmax_temp_cp=100",
                "mate_scale=30000",
                "mate_slack=320",
                "eval_coef=1512.173",
                "fv_scale=28",
                "packed=mailbox position, side to move in the last byte",
            ]
        );
        assert_eq!(Footer::parse(pairs.iter().map(|(k, v)| (*k, v.as_str()))), Ok(footer));

        let visits = Footer::of(&Policy::new(Conventions::VISITS, 100.0).unwrap());
        assert_eq!(visits.pairs()[2], ("softmax_temp_cp", "0".to_owned()));
        assert_eq!(Footer::parse(visits.pairs().iter().map(|(k, v)| (*k, v.as_str()))), Ok(visits));
    }

    #[test]
    fn a_footer_that_lacks_or_doubles_a_key_is_refused_by_its_name() {
        let footer = Footer::of(&Policy::new(Conventions::TEACHER, 100.0).unwrap());
        let pairs = footer.pairs();
        for left_out in Footer::KEYS {
            let rest = pairs.iter().filter(|(key, _)| *key != left_out).map(|(k, v)| (*k, v.as_str()));
            assert_eq!(Footer::parse(rest), Err(format!("the footer has no key {left_out}")));
            let doubled = pairs.iter().chain(pairs.iter().filter(|(key, _)| *key == left_out));
            assert_eq!(
                Footer::parse(doubled.map(|(k, v)| (*k, v.as_str()))),
                Err(format!("the footer has the key {left_out} twice"))
            );
        }
    }
}
