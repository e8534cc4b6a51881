//! How a run ends.

use manaka_core::inputs::InputError;
use std::fmt;

/// A run that did what it was asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Exit code 0.
    Done,
    /// Exit code 3: done, and there are findings or refused records.
    Findings,
}

impl Outcome {
    /// `Findings` when there is something to find.
    pub const fn findings(any: bool) -> Self {
        if any { Self::Findings } else { Self::Done }
    }
}

/// A mistake in the command line itself: exit code 2.
#[derive(Debug)]
pub struct Usage(pub String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// An error with what is behind it. Errors that state their cause themselves do not have it said again.
pub fn told(error: &anyhow::Error) -> String {
    error.chain().fold(String::new(), |told, cause| {
        let cause = cause.to_string();
        if told.ends_with(&cause) {
            told
        } else if told.is_empty() {
            cause
        } else {
            format!("{told}: {cause}")
        }
    })
}

/// Whether the command line is at fault rather than the world.
pub fn is_usage(error: &anyhow::Error) -> bool {
    let twice = |e: &InputError| matches!(e, InputError::Twice { .. } | InputError::Pattern { .. });
    error.is::<Usage>() || error.downcast_ref::<InputError>().is_some_and(twice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::anyhow;

    #[test]
    fn a_cause_is_told_once() {
        let twice = anyhow!("no such file").context("a.mpk: no such file").context("reading");
        assert_eq!(told(&twice), "reading: a.mpk: no such file");
        assert_eq!(told(&anyhow!("no room").context("a.mpk")), "a.mpk: no room");
    }
}
