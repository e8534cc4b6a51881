//! Gathers findings from many threads so that what is kept does not depend on who came first: all are counted, and of
//! those listed the first by place are kept.

use crate::finding::{Finding, Id, Place, Severity};
use crate::report::KindCount;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// File, place in it, check. There is at most one finding of a kind at one place.
type Key = (usize, u64, Id);

pub struct Collector {
    limit: usize,
    state: Mutex<State>,
}

struct State {
    counts: [u64; Id::COUNT],
    first: [Option<(Key, Finding)>; Id::COUNT],
    /// Errors and warnings.
    findings: BTreeMap<Key, Finding>,
    notes: BTreeMap<Key, Finding>,
}

/// What was gathered.
pub struct Collected {
    pub kinds: Vec<KindCount>,
    pub findings: Vec<Finding>,
    pub notes: Vec<Finding>,
}

impl Collector {
    /// Keeps the first `limit` findings and the first `limit` notes.
    pub fn new(limit: usize) -> Self {
        let state = State {
            counts: [0; Id::COUNT],
            first: [const { None }; Id::COUNT],
            findings: BTreeMap::new(),
            notes: BTreeMap::new(),
        };
        Self { limit, state: Mutex::new(state) }
    }

    pub const fn limit(&self) -> usize {
        self.limit
    }

    /// The collector for one file: its number in the order of the inputs, and its path.
    pub const fn file<'a>(&'a self, number: usize, path: &'a Path) -> InFile<'a> {
        InFile { collector: self, number, path: Some(path) }
    }

    /// The collector for what concerns the whole set; it comes behind every file.
    pub const fn whole_set(&self) -> InFile<'_> {
        InFile { collector: self, number: usize::MAX, path: None }
    }

    /// Counts findings that are not worth a place in the list.
    pub fn count(&self, id: Id, by: u64) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).counts[id as usize] += by;
    }

    fn add(&self, key: Key, finding: impl FnOnce() -> Finding) {
        let id = key.2;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { counts, first, findings, notes } = &mut *state;
        counts[id as usize] += 1;
        let list = if id.check().severity == Severity::Note { notes } else { findings };
        let listed = list.len() < self.limit || list.last_key_value().is_some_and(|(last, _)| key < *last);
        let first = &mut first[id as usize];
        let foremost = first.as_ref().is_none_or(|(other, _)| key < *other);
        if !listed && !foremost {
            return;
        }
        let finding = finding();
        if foremost {
            *first = Some((key, finding.clone()));
        }
        if listed {
            list.insert(key, finding);
            if list.len() > self.limit {
                list.pop_last();
            }
        }
    }

    pub fn finish(self) -> Collected {
        let State { counts, mut first, findings, notes } =
            self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let kinds = Id::all()
            .filter_map(|id| {
                let (_, first) = first[id as usize].take()?;
                Some(KindCount::new(id.check(), counts[id as usize], first))
            })
            .collect();
        Collected { kinds, findings: findings.into_values().collect(), notes: notes.into_values().collect() }
    }
}

/// The collector of one file's findings.
#[derive(Clone, Copy)]
pub struct InFile<'a> {
    collector: &'a Collector,
    number: usize,
    path: Option<&'a Path>,
}

impl InFile<'_> {
    /// Adds a finding. The message is only made when the finding may be kept.
    pub fn add(&self, place: Place, id: Id, message: impl FnOnce() -> String) {
        let key = (self.number, place.rank(), id);
        self.collector.add(key, || place.finding(id, self.path, message()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_findings_are_kept_in_whatever_order_they_come() {
        let all: Vec<(usize, u64)> = (0..3).flat_map(|file| (0..50).map(move |row| (file, row))).collect();
        let run = |order: &[(usize, u64)]| {
            let collector = Collector::new(4);
            for &(file, row) in order {
                let id = if row % 7 == 6 { Id::ProbSum } else { Id::Weight };
                collector.file(file, Path::new("x")).add(Place::Row(row), id, || format!("{file} {row}"));
            }
            collector.count(Id::Weight, 5);
            collector.finish()
        };
        let forward = run(&all);
        let backward = run(&all.iter().rev().copied().collect::<Vec<_>>());
        assert_eq!(forward.findings, backward.findings);
        let messages: Vec<&str> = forward.findings.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!(messages, ["0 0", "0 1", "0 2", "0 3"]);
        for collected in [forward, backward] {
            let kinds: Vec<_> =
                collected.kinds.iter().map(|k| (k.id, k.count, k.first.message.as_str())).collect();
            assert_eq!(kinds, [("weight", 3 * 43 + 5, "0 0"), ("prob_sum", 3 * 7, "0 6")]);
        }
    }
}
