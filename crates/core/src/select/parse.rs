//! Conditions as people write them.

use super::{Outcome, Select, Within};
use crate::move16::Move16;
use crate::piece::Color;
use crate::sfen::{STARTPOS, Sfen, SfenError};
use std::fmt::{self, Debug};
use std::str::FromStr;

/// Why conditions cannot be used.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SelectError {
    /// No condition has this name.
    #[error("{name:?} is no condition; there are {}", NAMES.join(", "))]
    Unknown {
        /// As it was written.
        name: String,
    },
    /// A condition without its value.
    #[error("{name} needs a value: {name}=…")]
    NoValue {
        /// The condition.
        name: &'static str,
    },
    /// A value for a condition that has none.
    #[error("{name} takes no value")]
    NeedlessValue {
        /// The condition.
        name: &'static str,
    },
    /// A value that cannot be read.
    #[error("{name}={value}: {why}")]
    Value {
        /// The condition.
        name: &'static str,
        /// As it was written.
        value: String,
        /// What is wrong with it.
        why: String,
    },
    /// A quote that does not end.
    #[error("the quote that begins at {0} does not end")]
    Quote(String),
    /// The same condition a second time.
    #[error("{name} stands twice")]
    Twice {
        /// The condition.
        name: &'static str,
    },
    /// A condition that the data has nothing to be held to.
    #[error("{name} cannot be asked of this {data}: {why}")]
    Unanswerable {
        /// The condition.
        name: &'static str,
        /// What kind of data it is.
        data: &'static str,
        /// Why not.
        why: &'static str,
    },
}

/// The conditions' names, as flags and in text.
const NAMES: [&str; 12] = [
    "ply",
    "min-weight",
    "max-weight",
    "mate",
    "sfen",
    "side",
    "value-q",
    "value-z",
    "min-candidates",
    "max-candidates",
    "move",
    "cp",
];

/// Why a text is no range.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RangeError {
    /// An end that is no number, or none of this kind.
    #[error("{text:?} is no number from {least} to {most}")]
    Number {
        /// As it was written.
        text: String,
        /// The least there is.
        least: String,
        /// The greatest.
        most: String,
    },
    /// A range without an end.
    #[error("a range needs an end: 16..46, 16.., ..46 or 46, both ends included")]
    Endless,
    /// A range without a number in it.
    #[error("{min} is above {max}")]
    Empty {
        /// The lower end, as it was written.
        min: String,
        /// The upper end, as it was written.
        max: String,
    },
}

/// A number that ranges are of.
pub trait Number: FromStr + PartialOrd + Copy {
    /// The least there is.
    const LEAST: Self;
    /// The greatest there is.
    const MOST: Self;
    /// Names of the two.
    const NAMES: (&'static str, &'static str);
}

impl Number for u16 {
    const LEAST: Self = Self::MIN;
    const MOST: Self = Self::MAX;
    const NAMES: (&'static str, &'static str) = ("0", "65535");
}

impl Number for i16 {
    const LEAST: Self = Self::MIN;
    const MOST: Self = Self::MAX;
    const NAMES: (&'static str, &'static str) = ("-32768", "32767");
}

/// A value: what is beyond [-1, 1] is a mistake.
impl Number for f32 {
    const LEAST: Self = -1.0;
    const MOST: Self = 1.0;
    const NAMES: (&'static str, &'static str) = ("-1", "1");
}

impl<T: Number> FromStr for Within<T> {
    type Err = RangeError;

    fn from_str(text: &str) -> Result<Self, RangeError> {
        let number = |text: &str| {
            let (least, most) = T::NAMES;
            text.parse().ok().filter(|number| (T::LEAST..=T::MOST).contains(number)).ok_or_else(|| {
                RangeError::Number { text: text.to_owned(), least: least.to_owned(), most: most.to_owned() }
            })
        };
        let Some((min, max)) = text.split_once("..") else {
            let number = number(text)?;
            return Ok(Self { min: number, max: number });
        };
        if min.is_empty() && max.is_empty() {
            return Err(RangeError::Endless);
        }
        let end = |text: &str, open| if text.is_empty() { Ok(open) } else { number(text) };
        Self::new(end(min, T::LEAST)?, end(max, T::MOST)?)
            .ok_or_else(|| RangeError::Empty { min: min.to_owned(), max: max.to_owned() })
    }
}

impl FromStr for Outcome {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "-1" => Ok(Self::Lost),
            "0" => Ok(Self::Drawn),
            "1" => Ok(Self::Won),
            "none" => Ok(Self::Unstated),
            _ => Err("an outcome is -1, 0, 1 or none"),
        }
    }
}

impl Select {
    /// Reads the position of an `sfen` condition: SFEN with or without a move number, or `startpos`. It need not be
    /// sound: broken data can be looked for.
    ///
    /// # Errors
    /// [`SfenError::Malformed`].
    pub fn parse_sfen(text: &str) -> Result<crate::Packed, SfenError> {
        Sfen::parse(if text == "startpos" { STARTPOS } else { text }).map(|sfen| sfen.packed)
    }

    /// Reads the side of a `side` condition.
    ///
    /// # Errors
    /// What a side is.
    pub fn parse_side(text: &str) -> Result<Color, &'static str> {
        match text {
            "b" => Ok(Color::Black),
            "w" => Ok(Color::White),
            _ => Err("a side is b (Black, 先手) or w (White, 後手)"),
        }
    }

    /// Reads the move of a `move` condition.
    ///
    /// # Errors
    /// What a move is.
    pub fn parse_move(text: &str) -> Result<Move16, &'static str> {
        Move16::from_usi(text).ok_or("a move is USI: 7g7f, 8h2b+, P*5e")
    }

    fn set(&mut self, name: &str, value: Option<&str>) -> Result<(), SelectError> {
        let name = *(NAMES.iter().find(|&&known| known == name))
            .ok_or_else(|| SelectError::Unknown { name: name.to_owned() })?;
        if name == "mate" {
            return match value {
                Some(_) => Err(SelectError::NeedlessValue { name }),
                None if self.mate => Err(SelectError::Twice { name }),
                None => {
                    self.mate = true;
                    Ok(())
                }
            };
        }
        let text = value.ok_or(SelectError::NoValue { name })?;
        let place = Place { name, text };
        match name {
            "ply" => place.put(&mut self.ply, text.parse()),
            "min-weight" => place.put(&mut self.min_weight, text.parse()),
            "max-weight" => place.put(&mut self.max_weight, text.parse()),
            "sfen" => place.put(&mut self.sfen, Self::parse_sfen(text)),
            "side" => place.put(&mut self.side, Self::parse_side(text)),
            "value-q" => place.put(&mut self.value_q, text.parse()),
            "value-z" => place.put(&mut self.value_z, text.parse()),
            "min-candidates" => place.put(&mut self.min_candidates, text.parse()),
            "max-candidates" => place.put(&mut self.max_candidates, text.parse()),
            "move" => place.put(&mut self.mv, Self::parse_move(text)),
            _ => place.put(&mut self.cp, text.parse()),
        }
    }
}

/// A condition and the text of its value.
struct Place<'a> {
    name: &'static str,
    text: &'a str,
}

impl Place<'_> {
    fn put<T, E: fmt::Display>(&self, slot: &mut Option<T>, value: Result<T, E>) -> Result<(), SelectError> {
        let name = self.name;
        let value = value.map_err(|error| SelectError::Value {
            name,
            value: self.text.to_owned(),
            why: error.to_string(),
        })?;
        match slot.replace(value) {
            None => Ok(()),
            Some(_) => Err(SelectError::Twice { name }),
        }
    }
}

impl FromStr for Select {
    type Err = SelectError;

    fn from_str(text: &str) -> Result<Self, SelectError> {
        let mut select = Self::default();
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let end = rest.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(rest.len());
            let name = &rest[..end];
            rest = &rest[end..];
            match rest.strip_prefix('=') {
                None => select.set(name, None)?,
                Some(value) => {
                    let (value, behind) = value_of(value)?;
                    select.set(name, Some(value))?;
                    rest = behind;
                }
            }
            rest = rest.trim_start();
        }
        Ok(select)
    }
}

/// A value at the beginning of a text, in quotes or up to a space, and what is behind it.
fn value_of(text: &str) -> Result<(&str, &str), SelectError> {
    match text.chars().next().filter(|c| ['\'', '"'].contains(c)) {
        Some(quote) => text[1..].split_once(quote).ok_or_else(|| SelectError::Quote(text.to_owned())),
        None => Ok(text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()))),
    }
}
