//! A run that is asked to stop and taken up again with other means, in one process.

use super::tests::{Cuts, packed, position, write};
use super::unit::Unit;
use super::*;
use manaka_core::stream::{Candidate, Compression, Record};
use manaka_core::{Conventions, Move16};
use std::collections::BTreeSet;
use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Asks a run to stop once a pass has done so much.
struct StopAfter {
    pass: &'static str,
    in_it: AtomicBool,
    left: AtomicU64,
}

impl Progress for StopAfter {
    fn phase(&self, name: &str, _total: Option<u64>, _unit: &str) {
        self.in_it.store(name == self.pass, Ordering::Relaxed);
    }
    fn advance(&self, by: u64) {
        if self.in_it.load(Ordering::Relaxed) {
            let left = self.left.load(Ordering::Relaxed);
            self.left.store(left.saturating_sub(by), Ordering::Relaxed);
        }
    }
    fn cancelled(&self) -> bool {
        self.left.load(Ordering::Relaxed) == 0
    }
}

/// The inputs of each unit of a pass that a journal says are done.
fn units(journal: &Path, pass: &str) -> Vec<Vec<usize>> {
    let text = fs::read_to_string(journal).unwrap();
    let lines = text.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    lines.filter(|words| words[0] == pass).map(|words| Unit::of(words[1], words[2]).unwrap().inputs).collect()
}

/// Each attempt makes units of its own of what is left, as long as its chunks want them.
#[test]
fn units_of_several_files_and_buckets_are_taken_up_by_runs_that_make_other_ones() {
    let dir = tempfile::tempdir().unwrap();
    let (twice, files) = (Move16::from_bits(5), 60);
    let paths: Vec<PathBuf> = (0..files).map(|number| dir.path().join(format!("{number:02}.mpk"))).collect();
    for (number, path) in (0u16..).zip(&paths) {
        let candidate = |mv| Candidate { mv, visits: 0, cp: 10 };
        let record = |at: u16| Record {
            packed: position((number * 200 + at) / 2, false),
            candidates: vec![candidate(Move16::from_bits(at % 81))],
            ..Record::default()
        };
        let mut records: Vec<Record> = (0..200).map(record).collect();
        // In every tenth file a record is refused.
        if number % 10 == 3 {
            records[7].candidates = vec![candidate(twice); 2];
        }
        write(path, Conventions::TEACHER, Compression::None, &records);
    }
    let (whole, expected) = packed(paths.clone(), 1, Cuts::SIMPLE, 1000, &[]);
    assert_eq!((whole.records, whole.refused_total(), whole.refused_first.len()), (12_000, 6, 6));

    let out = tempfile::tempdir().unwrap();
    let mut options = PackOptions::new("t", NonZeroUsize::MIN);
    options.rows_per_shard = NonZeroU64::new(1000).unwrap();
    let temp = work_path(out.path(), &options);
    let mut run = |threads, chunk, pass, left| {
        options.threads = NonZeroUsize::new(threads).unwrap();
        options.resume = temp.exists();
        let progress = StopAfter { pass, in_it: AtomicBool::new(false), left: AtomicU64::new(left) };
        let cuts = Cuts { in_memory: false, buckets: 600, spools: 3, stretch: 2, chunk, load: u64::MAX };
        pack_as(paths.clone(), out.path(), &temp, &options, cuts.plan(), &progress)
    };
    // Of 600 chunks a thread fills 200 bytes after some files, and a byte after three.
    for (threads, chunk, pass, left) in [
        (1, 200, "read", 3000),
        (2, 1, "read", 6000),
        (1, 20_000, "fold", 3000),
        (3, 8000, "fold", 3000),
        (2, 100, "fold", 3000),
    ] {
        assert!(matches!(run(threads, chunk, pass, left), Err(Error::Interrupted)), "{pass}");
    }
    let journal = temp.join("journal");
    for (pass, inputs, first) in [("read", 60, 6..15), ("fold", 600, 20..150)] {
        let units = units(&journal, pass);
        let lengths: Vec<usize> = units.iter().map(Vec::len).collect();
        assert!(first.contains(&lengths[0]) && lengths.iter().any(|len| *len < 6), "{pass}: {lengths:?}");
        let taken: BTreeSet<usize> = units.iter().flatten().copied().collect();
        assert_eq!(taken.len(), lengths.iter().sum::<usize>(), "{pass}: an input was taken twice: {units:?}");
        assert_eq!(taken.len() == inputs, pass == "read", "{pass}: {lengths:?}");
    }
    let summary = run(2, 20_000, "write", u64::MAX).unwrap();
    let found: Vec<_> = summary.shards.iter().map(|shard| fs::read(&shard.path).unwrap()).collect();
    assert_eq!(found, expected);
    let told = |summary: &Summary| (summary.records, summary.refused.clone(), summary.refused_first.clone());
    assert_eq!(told(&summary), told(&whole));
}

#[test]
fn a_run_whose_streams_could_not_be_read_can_be_taken_up_and_one_whose_streams_are_broken_cannot() {
    let stream = |kind| Error::Stream(stream::Error::at_record(7, 900, kind));
    assert!(is_resumable(&stream(stream::Kind::Io(std::io::Error::other("the disk")))));
    assert!(!is_resumable(&stream(stream::Kind::Empty)));
    assert!(is_resumable(&Error::Interrupted));
}
