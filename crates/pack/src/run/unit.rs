//! Units of work: what a thread takes of a pass's inputs before it hands over what it left open and notes that it is done.
//!
//! In files no chunk holds items of two units, so a unit is as many inputs as fill about a chunk of every spool: small inputs
//! would leave small chunks in all of them.

use super::Run;
use crate::spool::{SpoolWriter, Tag};
use std::mem;

/// The inputs of a unit, by their numbers, in the order in which they were taken.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Unit {
    /// Named by the first input.
    pub tag: Tag,
    pub inputs: Vec<usize>,
}

impl Unit {
    /// Takes an input, whose items are about to be scattered. The first begins the unit.
    pub fn take(&mut self, input: usize, run: &Run<'_>, out: &mut SpoolWriter<'_, '_>) {
        if self.inputs.is_empty() {
            self.tag = run.work.tag(u32::try_from(input).unwrap_or(u32::MAX));
            out.begin(self.tag);
        }
        self.inputs.push(input);
    }

    /// Gives the unit away when it has taken something; what is left takes nothing yet.
    pub fn end(&mut self) -> Option<Self> {
        (!self.inputs.is_empty()).then(|| mem::take(self))
    }

    /// What the journal says of it: two words.
    pub fn noted(&self) -> String {
        let inputs: Vec<String> = self.inputs.iter().map(usize::to_string).collect();
        format!("{}\t{}", self.tag.attempt, inputs.join(","))
    }

    /// The unit of these words.
    pub fn of(attempt: &str, inputs: &str) -> Option<Self> {
        let inputs: Vec<usize> = inputs.split(',').map(|input| input.parse().ok()).collect::<Option<_>>()?;
        let unit = u32::try_from(*inputs.first()?).ok()?;
        Some(Self { tag: Tag { unit, attempt: attempt.parse().ok()? }, inputs })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_noted_as_two_words() {
        let unit = Unit { tag: Tag { unit: 7, attempt: 2 }, inputs: vec![7, 3, 12] };
        assert_eq!(unit.noted(), "2\t7,3,12");
        assert_eq!(Unit::of("2", "7,3,12"), Some(unit));
        for (attempt, inputs) in [("2", ""), ("x", "7"), ("2", "7,,3"), ("2", "7,x")] {
            assert_eq!(Unit::of(attempt, inputs), None);
        }
        assert_eq!(Unit::default().end(), None);
    }
}
