//! A run that is asked to stop and taken up again with other means, in one process.

use super::tests::{Cuts, packed, position, write};
use super::*;
use manaka_core::stream::{Candidate, Compression, Record};
use manaka_core::{Conventions, Move16};
use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Asks a run to stop once so many records are folded.
struct StopAfter {
    folding: AtomicBool,
    left: AtomicU64,
}

impl Progress for StopAfter {
    fn phase(&self, name: &str, _total: Option<u64>, _unit: &str) {
        self.folding.store(name == "fold", Ordering::Relaxed);
    }
    fn advance(&self, by: u64) {
        if self.folding.load(Ordering::Relaxed) {
            let left = self.left.load(Ordering::Relaxed);
            self.left.store(left.saturating_sub(by), Ordering::Relaxed);
        }
    }
    fn cancelled(&self) -> bool {
        self.left.load(Ordering::Relaxed) == 0
    }
}

/// The buckets of each unit that a journal says are folded.
fn units(journal: &Path) -> Vec<std::ops::Range<usize>> {
    let text = fs::read_to_string(journal).unwrap();
    let folded = text.lines().filter_map(|line| line.strip_prefix("fold\t"));
    folded
        .map(|line| {
            let mut words = line.split('\t').map(|word| word.parse().unwrap());
            words.next().unwrap()..words.next().unwrap()
        })
        .collect()
}

/// Each attempt cuts what is left into units of its own, for its threads and the chunks it has memory for.
#[test]
fn units_of_several_buckets_are_taken_up_by_runs_that_cut_them_otherwise() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.mpk");
    let records: Vec<Record> = (0..12_000u16)
        .map(|number| Record {
            packed: position(number / 2, false),
            candidates: vec![Candidate { mv: Move16::from_bits(number % 81), visits: 0, cp: 10 }],
            ..Record::default()
        })
        .collect();
    write(&path, Conventions::TEACHER, Compression::None, &records);
    let expected = packed(vec![path.clone()], 1, Cuts::SIMPLE, 1000, &[]).1;

    let out = tempfile::tempdir().unwrap();
    let mut options = PackOptions::new("t", NonZeroUsize::MIN);
    options.rows_per_shard = NonZeroU64::new(1000).unwrap();
    let temp = work_path(out.path(), &options);
    let mut run = |threads, chunk, left| {
        options.threads = NonZeroUsize::new(threads).unwrap();
        options.resume = temp.exists();
        let progress = StopAfter { folding: AtomicBool::new(false), left: AtomicU64::new(left) };
        let cuts = Cuts { in_memory: false, buckets: 600, spools: 3, stretch: 2, chunk, load: u64::MAX };
        pack_as(vec![path.clone()], out.path(), &temp, &options, cuts.plan(), &progress)
    };
    for (threads, chunk) in [(1, 20_000), (3, 8000), (2, 100)] {
        assert!(matches!(run(threads, chunk, 3000), Err(Error::Interrupted)));
    }
    let units = units(&temp.join("journal"));
    let mut buckets: Vec<usize> = units.iter().cloned().flatten().collect();
    let lengths: Vec<usize> = units.iter().map(ExactSizeIterator::len).collect();
    assert!(lengths[0] > 20 && lengths.contains(&1), "{lengths:?}");
    assert!((200..600).contains(&buckets.len()), "{lengths:?}");
    buckets.sort_unstable();
    assert!(buckets.windows(2).all(|pair| pair[0] < pair[1]), "no bucket is folded twice: {units:?}");
    let summary = run(2, 20_000, u64::MAX).unwrap();
    let found: Vec<_> = summary.shards.iter().map(|shard| fs::read(&shard.path).unwrap()).collect();
    assert_eq!(found, expected);
}
