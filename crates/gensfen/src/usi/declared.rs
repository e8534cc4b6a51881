//! The options an engine declares, and what may be set.

use std::fmt;

/// An `option` line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Declared {
    /// Its name, which may hold spaces.
    pub name: String,
    /// What it takes.
    pub kind: Kind,
}

/// What an option takes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// `true` or `false`.
    Check,
    /// A whole number.
    Spin {
        /// The least, where one is stated.
        min: Option<i64>,
        /// The greatest, where one is stated.
        max: Option<i64>,
    },
    /// One of these.
    Combo(Vec<String>),
    /// No value.
    Button,
    /// Any text: `string`, `filename`, and types nobody has heard of.
    Text,
}

/// An option to set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Setting {
    /// Its name as the engine spells it.
    pub name: String,
    /// Its value; none for a button.
    pub value: Option<String>,
}

/// Why a setting does not fit what the engine declares.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Misfit {
    /// There is no such option.
    Unknown {
        /// One that differs in case or spaces alone.
        meant: Option<String>,
    },
    /// The value is none it takes.
    Value {
        /// What it takes.
        takes: Kind,
    },
}

/// Set by every user interface, whether an engine declares them or not.
const IMPLIED: [&str; 2] = ["USI_Hash", "USI_Ponder"];

impl Declared {
    /// Reads what stands behind `option`; `None` without a name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix("name")?.strip_prefix(' ')?;
        let (name, rest) = text.split_once(" type ").unwrap_or((text, ""));
        let name = name.trim();
        if name.is_empty() {
            return None;
        }
        let (kind, rest) = rest.trim_start().split_once(' ').unwrap_or((rest.trim(), ""));
        let number = |key: &str| {
            let mut words = rest.split_ascii_whitespace();
            words.find(|&word| word == key)?;
            words.next()?.parse().ok()
        };
        let kind = match kind {
            "check" => Kind::Check,
            "spin" => Kind::Spin { min: number("min"), max: number("max") },
            "combo" => {
                let vars = format!(" {rest}");
                Kind::Combo(vars.split(" var ").skip(1).map(|var| var.trim().to_owned()).collect())
            }
            "button" => Kind::Button,
            _ => Kind::Text,
        };
        Some(Self { name: name.to_owned(), kind })
    }
}

impl Kind {
    fn takes(&self, value: Option<&str>) -> bool {
        match (self, value) {
            (Self::Button, value) => value.is_none(),
            (_, None) => false,
            (Self::Check, Some(value)) => matches!(value, "true" | "false"),
            (Self::Spin { min, max }, Some(value)) => value
                .parse::<i64>()
                .is_ok_and(|value| min.is_none_or(|min| value >= min) && max.is_none_or(|max| value <= max)),
            (Self::Combo(vars), Some(value)) => vars.is_empty() || vars.iter().any(|var| var == value),
            (Self::Text, Some(_)) => true,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Check => f.write_str("true or false"),
            Self::Spin { min: Some(min), max: Some(max) } => write!(f, "a number from {min} to {max}"),
            Self::Spin { .. } => f.write_str("a number"),
            Self::Combo(vars) => write!(f, "one of {}", vars.join(", ")),
            Self::Button => f.write_str("no value"),
            Self::Text => f.write_str("a text"),
        }
    }
}

impl Setting {
    /// Whether it fits the options an engine declares.
    ///
    /// # Errors
    /// [`Misfit`].
    pub fn check(&self, declared: &[Declared]) -> Result<(), Misfit> {
        let Some(option) = declared.iter().find(|option| option.name == self.name) else {
            if IMPLIED.contains(&self.name.as_str()) {
                return Ok(());
            }
            let bare = |name: &str| name.to_lowercase().replace([' ', '_', '-'], "");
            let meant = declared.iter().find(|option| bare(&option.name) == bare(&self.name));
            return Err(Misfit::Unknown { meant: meant.map(|option| option.name.clone()) });
        };
        if option.kind.takes(self.value.as_deref()) {
            Ok(())
        } else {
            Err(Misfit::Value { takes: option.kind.clone() })
        }
    }

    /// The command that sets it.
    #[must_use]
    pub fn command(&self) -> String {
        match &self.value {
            Some(value) => format!("setoption name {} value {value}", self.name),
            None => format!("setoption name {}", self.name),
        }
    }
}

/// As on a command line: `NAME=VALUE`, or `NAME` for a button.
impl std::str::FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (text, None),
        };
        if name.trim().is_empty() || text.contains(['\n', '\r']) {
            return Err(format!("{text:?} is no NAME=VALUE"));
        }
        Ok(Self { name: name.trim().to_owned(), value })
    }
}

/// As it is written on a command line.
impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Some(value) => write!(f, "{}={value}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(lines: &[&str]) -> Vec<Declared> {
        lines.iter().map(|line| Declared::parse(line).unwrap()).collect()
    }

    fn check(setting: &str, declared: &[Declared]) -> Result<(), Misfit> {
        setting.parse::<Setting>().unwrap().check(declared)
    }

    #[test]
    fn options_of_real_engines_are_read() {
        let options = declared(&[
            "name Clear Hash type button",
            "name Analysis Contempt type combo default Both var Both var Off var White var Black",
            "name MultiPV type spin default 1 min 1 max 500",
            "name Debug Log File type string default ",
            "name Ponder type check default false",
            "name BookFile type filename default public.bin",
            "name Odd",
        ]);
        let names: Vec<_> = options.iter().map(|option| option.name.as_str()).collect();
        assert_eq!(
            names,
            ["Clear Hash", "Analysis Contempt", "MultiPV", "Debug Log File", "Ponder", "BookFile", "Odd"]
        );
        let both = ["Both", "Off", "White", "Black"].map(str::to_owned).to_vec();
        assert_eq!(options[1].kind, Kind::Combo(both));
        assert_eq!(options[2].kind, Kind::Spin { min: Some(1), max: Some(500) });
        assert_eq!((&options[0].kind, &options[4].kind), (&Kind::Button, &Kind::Check));
        assert_eq!(
            (&options[3].kind, &options[5].kind, &options[6].kind),
            (&Kind::Text, &Kind::Text, &Kind::Text)
        );
    }

    #[test]
    fn a_setting_that_does_not_fit_says_why() {
        let options = declared(&[
            "name Clear Hash type button",
            "name Style type combo default a var a var b c",
            "name MultiPV type spin default 1 min 1 max 500",
            "name Ponder type check default false",
            "name EvalDir type string default eval",
        ]);
        for fits in [
            "Clear Hash",
            "Style=b c",
            "MultiPV=500",
            "Ponder=true",
            "EvalDir=",
            "EvalDir=a=b",
            "USI_Hash=64",
        ] {
            assert_eq!(check(fits, &options), Ok(()), "{fits}");
        }
        for value in ["Clear Hash=1", "Style=c", "MultiPV=501", "MultiPV=x", "MultiPV", "Ponder=on"] {
            assert!(matches!(check(value, &options), Err(Misfit::Value { .. })), "{value}");
        }
        assert_eq!(check("multi_pv=3", &options), Err(Misfit::Unknown { meant: Some("MultiPV".to_owned()) }));
        assert_eq!(check("EvalFile=x", &options), Err(Misfit::Unknown { meant: None }));
        for text in ["", "=3", "A=b\nquit"] {
            assert!(text.parse::<Setting>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn settings_are_sent_as_the_protocol_has_them() {
        let command = |text: &str| text.parse::<Setting>().unwrap().command();
        assert_eq!(command("EvalDir=a b"), "setoption name EvalDir value a b");
        assert_eq!(command("Clear Hash"), "setoption name Clear Hash");
    }
}
