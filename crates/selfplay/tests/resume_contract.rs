//! What is left of a run that was stopped, and that going on with it comes to the same bytes.

mod games;

use games::{Opinions, bytes, games, gumbel, play};
use manaka_selfplay::{DATA, Error, GameLine, JOURNAL, Observer, Options, REPORT, RunError, Totals, run};
use std::cell::{Cell, RefCell};
use std::fs::{self, OpenOptions};
use std::path::Path;
use std::time::Duration;

/// Cancels a run after so many games, and hears its notices.
#[derive(Default)]
struct After {
    games: Option<u64>,
    seen: Cell<u64>,
    notices: RefCell<Vec<String>>,
}

impl Observer for After {
    fn game(&self, _line: &GameLine, _totals: &Totals) {
        self.seen.set(self.seen.get() + 1);
    }

    fn notice(&self, text: &str) {
        self.notices.borrow_mut().push(text.to_owned());
    }

    fn cancelled(&self) -> bool {
        self.games.is_some_and(|games| self.seen.get() >= games)
    }
}

fn resume(options: &Options, dir: &Path) -> (manaka_selfplay::Report, Vec<String>) {
    let observer = After::default();
    let options = Options { resume: true, ..options.clone() };
    let report = run(&options, &Opinions::default(), dir, &observer).unwrap();
    (report, observer.notices.into_inner())
}

fn cut(path: &Path, len: u64) {
    OpenOptions::new().write(true).open(path).unwrap().set_len(len).unwrap();
}

#[test]
fn a_cancelled_run_finishes_the_games_in_play_and_goes_on_to_the_same_bytes() {
    let mut options = gumbel(150);
    let (_, whole) = play(&options, &Opinions::default());
    options.threads = 3.try_into().unwrap();
    // So many are in play when the run is cancelled, give or take those that end just then.
    options.batch = 8.try_into().ok();
    for after in [1, 7, 30] {
        let dir = tempfile::tempdir().unwrap();
        let observer = After { games: Some(after), ..After::default() };
        let report = run(&options, &Opinions::default(), dir.path(), &observer).unwrap();
        let written = report.totals.games;
        assert!(!report.complete && written >= after + 12 && written < 150, "{written} after {after}");
        assert_eq!(games(dir.path()).len() as u64, written);
        let (report, notices) = resume(&options, dir.path());
        assert!(report.complete && notices.is_empty());
        assert!(bytes(dir.path()) == bytes(whole.path()));
    }
}

/// A kill leaves a stream that is longer than the journal knows, and a journal that may end in a piece of a line.
#[test]
fn whatever_a_kill_leaves_comes_to_the_same_bytes() {
    let mut options = gumbel(12);
    options.max_ply = 20;
    let (report, whole) = play(&options, &Opinions::default());
    let wanted = bytes(whole.path());
    let lines = games(whole.path());
    for cut_journal in (0..wanted.1.len() as u64).step_by(97) {
        let dir = tempfile::tempdir().unwrap();
        for name in [DATA, JOURNAL, REPORT] {
            fs::copy(whole.path().join(name), dir.path().join(name)).unwrap();
        }
        cut(&dir.path().join(JOURNAL), cut_journal);
        let told = wanted.1[..cut_journal as usize].iter().filter(|&&byte| byte == b'\n').count();
        let known: u64 = 24 + lines[..told].iter().map(|(line, _)| line.bytes).sum::<u64>();
        // Anything between what the journal tells of and all.
        let left = known + cut_journal * 7 % (wanted.0.len() as u64 - known + 1);
        // The first bytes of a run may be torn as well.
        let left = if told == 0 && cut_journal % 2 == 1 { cut_journal % 24 } else { left };
        cut(&dir.path().join(DATA), left);
        let (again, notices) = resume(&options, dir.path());
        assert!(bytes(dir.path()) == wanted, "journal of {cut_journal} bytes, stream of {left}");
        assert_eq!(again.totals, report.totals);
        if left > known {
            assert!(notices.iter().any(|note| note.starts_with(DATA)), "{notices:?}");
        }
    }
}

#[test]
fn a_run_can_be_made_longer_and_a_finished_one_resumed() {
    let (_, long) = play(&gumbel(20), &Opinions::default());
    let (_, dir) = play(&gumbel(5), &Opinions::default());
    let (report, _) = resume(&gumbel(20), dir.path());
    assert!(report.complete && bytes(dir.path()) == bytes(long.path()));
    let (again, _) = resume(&gumbel(20), dir.path());
    assert_eq!(again.totals, report.totals);
    assert!(bytes(dir.path()) == bytes(long.path()));
}

#[test]
fn a_run_is_not_overwritten_mixed_or_shared() {
    let options = gumbel(5);
    let (_, dir) = play(&options, &Opinions::default());
    let before = bytes(dir.path());
    let again = |options: &Options| run(options, &Opinions::default(), dir.path(), &()).unwrap_err();
    assert!(matches!(again(&options), Error::Run(RunError::Exists(_))));
    let other = Options { resume: true, seed: 9, ..options.clone() };
    let error = again(&other);
    assert!(error.to_string().contains("seed was 1 in this run and is 9 now"), "{error}");
    let other = manaka_selfplay::Uniform::default();
    let error = run(&Options { resume: true, ..options.clone() }, &other, dir.path(), &()).unwrap_err();
    assert!(error.to_string().contains("evaluator.name was \"opinions\""), "{error}");
    let journal = fs::File::open(dir.path().join(JOURNAL)).unwrap();
    journal.lock().unwrap();
    assert!(matches!(again(&Options { resume: true, ..options }), Error::Run(RunError::Busy(_))));
    assert!(bytes(dir.path()) == before);
}

#[test]
fn damage_that_no_kill_does_is_named_and_nothing_is_cut() {
    let options = gumbel(5);
    let damaged = |change: &dyn Fn(&Path), said: &str| {
        let (_, dir) = play(&options, &Opinions::default());
        change(dir.path());
        let read = |name: &str| fs::read(dir.path().join(name)).ok();
        let before = (read(DATA), read(JOURNAL));
        let options = Options { resume: true, ..options.clone() };
        let error = run(&options, &Opinions::default(), dir.path(), &()).unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
        assert!((read(DATA), read(JOURNAL)) == before);
    };
    let change = |dir: &Path, name: &str, at: usize, to: u8| {
        let mut bytes = fs::read(dir.join(name)).unwrap();
        bytes[at] = to;
        fs::write(dir.join(name), bytes).unwrap();
    };
    damaged(&|dir| change(dir, DATA, 24 + 20, 0x77), "game 0, at byte 24, is not what games.jsonl tells of");
    damaged(&|dir| cut(&dir.join(DATA), 1000), "is not what games.jsonl tells of");
    damaged(&|dir| change(dir, DATA, 0, b'X'), "it does not begin as a stream of visits does");
    damaged(&|dir| change(dir, JOURNAL, 0, b'x'), "games.jsonl: the line of game 0");
    damaged(&|dir| fs::remove_file(dir.join(REPORT)).unwrap(), "there is no selfplay.json beside it");
    damaged(
        &|dir| fs::write(dir.join(REPORT), "{\"format\": \"other\"}").unwrap(),
        "not written by this program",
    );
    damaged(
        &|dir| {
            let text = fs::read_to_string(dir.join(JOURNAL)).unwrap();
            let without: String = text.split_inclusive('\n').skip(1).collect();
            fs::write(dir.join(JOURNAL), without).unwrap();
        },
        "game 1 where game 0 should stand",
    );
}

#[test]
fn games_may_wait_to_be_brought_to_disk_and_none_is_missing_at_the_end() {
    let mut options = gumbel(10);
    let (_, slow) = play(&options, &Opinions::default());
    options.sync = Duration::ZERO;
    let (_, at_once) = play(&options, &Opinions::default());
    assert!(bytes(slow.path()) == bytes(at_once.path()));
}
