//! What a run has done, so that a killed one can be taken up again: a lock, a description of the job, one line a
//! finished unit.
//!
//! The output directory holds the lock; the temporary directory holds the journal and the spools. A line of the journal is
//! written after what it says is written; a torn last line is as good as none. From the first checkpoint on, both are brought to
//! disk too, at every checkpoint. Before, that is left to the system, and most files are gone before it gets to them: a
//! killed process can be taken up all the same, only after a power cut such a run is begun again.

use crate::error::{Error, Result};
use crate::run::{PackOptions, shard_path};
use crate::spool::{Spools, Tag};
use manaka_core::run_lock::{self, Lock};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The lines of an earlier run.
#[derive(Default)]
pub struct Past {
    lines: Vec<String>,
}

impl Past {
    /// The words behind `verb` of every line that begins with it.
    pub fn of<'a>(&'a self, verb: &'a str) -> impl Iterator<Item = Vec<&'a str>> {
        self.lines.iter().filter_map(move |line| {
            let mut words = line.split('\t');
            (words.next() == Some(verb)).then(|| words.collect())
        })
    }

    /// Whether there is a line of `verb`.
    pub fn has(&self, verb: &str) -> bool {
        self.of(verb).next().is_some()
    }

    /// Runs so far, of which this is the next attempt.
    fn attempts(&self) -> u32 {
        u32::try_from(self.of("attempt").count()).unwrap_or(u32::MAX)
    }
}

/// The temporary directory of a run, locked.
pub struct WorkDir {
    path: PathBuf,
    lock: PathBuf,
    _locked: File,
    journal: Mutex<Journal>,
    /// The end of a pass was written.
    ended: Condvar,
    attempt: u32,
    began: Instant,
    /// Finished units are written down this far apart once a run is older: bringing spools to disk takes time.
    checkpoint: Duration,
}

struct Journal {
    file: File,
    /// Lines to write, each with the spools that can go once it is written.
    pending: Vec<(String, Vec<usize>)>,
    written: Instant,
    /// Whether what lines speak of lies in files.
    in_files: bool,
    /// Whether the end of a pass is being written; nothing is written before it.
    ending: bool,
}

/// The lines of a pass that has ended, to be written while the next one works.
#[must_use]
pub struct PassEnd {
    lines: Vec<(String, Vec<usize>)>,
}

const JOURNAL: &str = "journal";
/// In the output directory.
const LOCK: &str = ".manaka-pack.lock";

/// Whether the lock is there and nothing else.
pub fn holds_only_a_lock(out: &Path) -> bool {
    let names = fs::read_dir(out).map(|entries| entries.flatten().map(|entry| entry.file_name()).collect());
    matches!(names, Ok::<Vec<_>, _>(names) if names == [LOCK])
}

impl WorkDir {
    /// Opens the directory `path` for a job that writes to `out`, described by the lines that must be equal for a run to be taken up.
    ///
    /// # Errors
    /// [`Error::Leftover`] when there is an earlier run that is not to be resumed, when the job is another one, or when
    /// another process holds the lock. Resuming where nothing was begun begins.
    pub fn open(path: &Path, out: &Path, job: &str, options: &PackOptions) -> Result<(Self, Past)> {
        let resume = options.resume;
        let leftover = |what: String| Error::Leftover { path: path.to_owned(), what };
        let lock_path = out.join(LOCK);
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&lock_path)
            .map_err(Error::io(&lock_path))?;
        match run_lock::lock(&lock).map_err(Error::io(&lock_path))? {
            // Where there are no locks, one cannot be asked for.
            Lock::Ours | Lock::Unknown => {}
            Lock::Foreign => {
                let what = "another run is writing here".to_owned();
                return Err(Error::Leftover { path: out.to_owned(), what });
            }
        }
        let journal_path = path.join(JOURNAL);
        if !resume && path.exists() {
            return Err(leftover(
                "an unfinished run left this here: go on with --resume, or remove it to start again"
                    .to_owned(),
            ));
        }
        // A kill may come before the journal is begun, or after it was removed at the end; then there are shards.
        let shards = shard_path(out, &options.prefix, 0).exists();
        if resume && path.exists() && !journal_path.exists() && shards {
            fs::remove_dir(path).map_err(Error::io(path))?;
            fs::remove_file(&lock_path).map_err(Error::io(&lock_path))?;
            return Err(leftover("the run that left this had finished; its shards are whole".to_owned()));
        }
        fs::create_dir_all(path).map_err(Error::io(path))?;

        let (past, whole) = if resume && journal_path.exists() {
            past(&journal_path, job, path)?
        } else {
            (Past::default(), 0)
        };
        if whole == 0 {
            // What lies here was noted nowhere, and its chunks would be taken for those of this run.
            empty(path, &journal_path)?;
        }
        let attempt = past.attempts();
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&journal_path)
            .map_err(Error::io(&journal_path))?;
        file.set_len(whole).map_err(Error::io(&journal_path))?;
        let mut journal =
            Journal { file, pending: Vec::new(), written: Instant::now(), in_files: false, ending: false };
        io::Seek::seek(&mut journal.file, io::SeekFrom::End(0)).map_err(Error::io(&journal_path))?;
        if whole == 0 {
            journal.pending.extend(job.lines().map(|line| (format!("job\t{line}"), Vec::new())));
        }
        journal.pending.push((format!("attempt\t{attempt}"), Vec::new()));
        let lines = mem::take(&mut journal.pending);
        journal.write(&lines, false).map_err(Error::io(&journal_path))?;
        let dir = Self {
            path: path.to_owned(),
            lock: lock_path,
            _locked: lock,
            journal: Mutex::new(journal),
            ended: Condvar::new(),
            attempt,
            began: Instant::now(),
            checkpoint: options.checkpoint,
        };
        Ok((dir, past))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The tag of a unit in this attempt.
    pub const fn tag(&self, unit: u32) -> Tag {
        Tag { unit, attempt: self.attempt }
    }

    /// Notes that a unit is done whose output is in `output`. The line is written when some time has passed or by
    /// [`WorkDir::flush`], after the output. `used` is the unit's input, removed once the line is written.
    pub fn note(
        &self,
        line: String,
        output: &Spools<'_>,
        used: Option<(&Spools<'_>, Vec<usize>)>,
    ) -> Result<()> {
        let mut journal = self.lock();
        let (input, used) = used.map_or((None, Vec::new()), |(input, used)| (Some(input), used));
        journal.pending.push((line, used));
        let waits = !journal.in_files || self.is_old();
        if journal.ending || waits && journal.written.elapsed() < self.checkpoint {
            return Ok(());
        }
        let lines = mem::take(&mut journal.pending);
        self.write(&mut journal, lines, output, input)
    }

    /// Whether the time of the first checkpoint has come.
    fn is_old(&self) -> bool {
        self.began.elapsed() >= self.checkpoint
    }

    /// Brings spools to disk if lines are to be; says whether they are. What lies in memory outlives no power cut: then there is
    /// nothing to tell from the lines either.
    fn sync(&self, in_files: bool, output: &Spools<'_>, input: Option<&Spools<'_>>) -> Result<bool> {
        let durable = in_files && self.is_old();
        if durable {
            input.map_or(Ok(()), Spools::sync)?;
            output.sync()?;
        }
        Ok(durable)
    }

    /// Writes every line noted, with `line` behind them.
    pub fn flush(&self, line: String, output: &Spools<'_>, input: Option<&Spools<'_>>) -> Result<()> {
        let mut journal = self.lock();
        while journal.ending {
            journal = self.ended.wait(journal).unwrap_or_else(PoisonError::into_inner);
        }
        journal.pending.push((line, Vec::new()));
        let lines = mem::take(&mut journal.pending);
        self.write(&mut journal, lines, output, input)
    }

    /// Ends a pass: every line noted, with `line` behind them, is to be written by [`WorkDir::end_pass`] before any other.
    pub fn begin_end_of_pass(&self, line: String) -> PassEnd {
        let mut journal = self.lock();
        journal.ending = true;
        journal.pending.push((line, Vec::new()));
        PassEnd { lines: mem::take(&mut journal.pending) }
    }

    /// Writes the end of a pass; the next pass may have begun. Bringing its output to disk takes time, in which the
    /// processor has other work.
    pub fn end_pass(&self, end: PassEnd, output: &Spools<'_>, input: Option<&Spools<'_>>) -> Result<()> {
        let in_files = self.lock().in_files;
        let written = self.sync(in_files, output, input).and_then(|durable| {
            let mut journal = self.lock();
            self.write_lines(&mut journal, end.lines, durable, input)
        });
        self.lock().ending = false;
        self.ended.notify_all();
        written
    }

    fn lock(&self) -> MutexGuard<'_, Journal> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Output to disk, then the lines, then the inputs away. The journal stays locked: a unit that ends meanwhile is
    /// noted behind.
    fn write(
        &self,
        journal: &mut Journal,
        lines: Vec<(String, Vec<usize>)>,
        output: &Spools<'_>,
        input: Option<&Spools<'_>>,
    ) -> Result<()> {
        let durable = self.sync(journal.in_files, output, input)?;
        self.write_lines(journal, lines, durable, input)
    }

    fn write_lines(
        &self,
        journal: &mut Journal,
        lines: Vec<(String, Vec<usize>)>,
        durable: bool,
        input: Option<&Spools<'_>>,
    ) -> Result<()> {
        journal.write(&lines, durable).map_err(Error::io(&self.path.join(JOURNAL)))?;
        let mut used = lines.into_iter().flat_map(|(_, used)| used);
        match input {
            Some(input) => used.try_for_each(|index| input.remove(index)),
            None => Ok(()),
        }
    }

    /// What lines speak of from now on lies in files.
    pub fn speaks_of_files(&self) {
        self.lock().in_files = true;
    }

    /// Removes the directory: the run is done.
    pub fn remove(self) -> Result<()> {
        let gone = |path: &Path| fs::remove_file(path).map_err(Error::io(path));
        gone(&self.lock)?;
        // The journal goes last: as long as it is there, a run can be taken up.
        let journal = self.path.join(JOURNAL);
        empty(&self.path, &journal)?;
        gone(&journal)?;
        fs::remove_dir(&self.path).map_err(Error::io(&self.path))
    }
}

/// Removes the files of a directory but for the journal.
fn empty(dir: &Path, journal: &Path) -> Result<()> {
    for entry in fs::read_dir(dir).map_err(Error::io(dir))? {
        let path = entry.map_err(Error::io(dir))?.path();
        if path != journal {
            fs::remove_file(&path).map_err(Error::io(&path))?;
        }
    }
    Ok(())
}

impl Journal {
    fn write(&mut self, lines: &[(String, Vec<usize>)], durable: bool) -> io::Result<()> {
        let text: String = lines.iter().flat_map(|(line, _)| [line.as_str(), "\n"]).collect();
        self.file.write_all(text.as_bytes())?;
        if durable {
            self.file.sync_data()?;
        }
        self.written = Instant::now();
        Ok(())
    }
}

/// The whole lines of an earlier journal and their length, if its job is this one.
fn past(journal_path: &Path, job: &str, dir: &Path) -> Result<(Past, u64)> {
    let text = fs::read_to_string(journal_path).map_err(Error::io(journal_path))?;
    let whole = text.rfind('\n').map_or(0, |at| at + 1);
    let past = Past { lines: text[..whole].lines().map(str::to_owned).collect() };
    let then: Vec<String> = past.of("job").map(|words| words.join("\t")).collect();
    let now: Vec<&str> = job.lines().collect();
    if whole > 0 {
        for at in 0..then.len().max(now.len()) {
            let (then, now) =
                (then.get(at).map_or("nothing", String::as_str), now.get(at).unwrap_or(&"nothing"));
            if then != *now {
                let what = format!("the unfinished run is another one: it had {then:?}, now it is {now:?}");
                return Err(Error::Leftover { path: dir.to_owned(), what });
            }
        }
    }
    Ok((past, whole as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spool::{Pool, Sending, Store};
    use std::num::NonZeroUsize;
    use std::thread;

    fn work(dir: &Path, checkpoint: Duration) -> WorkDir {
        let mut options = PackOptions::new("t", NonZeroUsize::MIN);
        options.checkpoint = checkpoint;
        WorkDir::open(&dir.join("temp"), dir, "job", &options).unwrap().0
    }

    /// What a journal holds behind job and attempt.
    fn lines_of(work: &WorkDir) -> Vec<String> {
        let text = fs::read_to_string(work.path.join(JOURNAL)).unwrap();
        text.lines().skip(2).map(str::to_owned).collect()
    }

    #[test]
    fn lines_wait_for_a_checkpoint_but_for_those_of_files_before_the_first() {
        let pool = Pool::default();
        let spools = Spools::new(1, Store::Memory, 1, &pool);
        let note = |work: &WorkDir| work.note("read 1".to_owned(), &spools, None).unwrap();
        for (checkpoint, in_files, expected) in
            [(3600, false, 0), (3600, true, 1), (0, false, 1), (0, true, 1)]
        {
            let dir = tempfile::tempdir().unwrap();
            let work = work(dir.path(), Duration::from_secs(checkpoint));
            if in_files {
                work.speaks_of_files();
            }
            note(&work);
            assert_eq!(lines_of(&work).len(), expected, "{checkpoint} {in_files}");
        }
        // Once a run is older than a checkpoint, lines wait for the next.
        let dir = tempfile::tempdir().unwrap();
        let mut work = work(dir.path(), Duration::from_secs(3600));
        work.speaks_of_files();
        work.began -= Duration::from_secs(3600);
        note(&work);
        assert_eq!(lines_of(&work).len(), 0);
        work.lock().written -= Duration::from_secs(3600);
        note(&work);
        assert_eq!(lines_of(&work).len(), 2);
    }

    #[test]
    fn what_lines_speak_of_is_brought_to_disk_from_the_first_checkpoint_on() {
        for (checkpoint, expected) in [(3600, false), (0, true)] {
            let dir = tempfile::tempdir().unwrap();
            let checkpoint = Duration::from_secs(checkpoint);
            let work = work(dir.path(), checkpoint);
            work.speaks_of_files();
            let pool = Pool::default();
            let sending = Sending::halfway(checkpoint);
            let files = |name| Store::Files { dir: work.path.clone(), name, sending };
            let (input, output) =
                (Spools::new(1, files("in"), 1, &pool), Spools::new(1, files("out"), 1, &pool));
            for spools in [&input, &output] {
                spools.writer().push(0, |bytes| bytes.push(7)).unwrap();
                assert!(spools.waits_for_the_disk());
            }
            work.note("fold 1".to_owned(), &output, Some((&input, vec![0]))).unwrap();
            assert_eq!(output.waits_for_the_disk(), !expected);
            // The input has gone: there is nothing left to bring.
            assert!(!input.waits_for_the_disk() && input.sync().is_ok());
        }
    }

    #[test]
    fn nothing_is_written_before_the_end_of_a_pass() {
        let dir = tempfile::tempdir().unwrap();
        let work = work(dir.path(), Duration::ZERO);
        let pool = Pool::default();
        let spools = Spools::new(1, Store::Memory, 1, &pool);
        let lines = || lines_of(&work);
        work.note("read 1".to_owned(), &spools, None).unwrap();
        assert_eq!(lines(), ["read 1"]);
        let end = work.begin_end_of_pass("read-end".to_owned());
        work.note("fold 1".to_owned(), &spools, None).unwrap();
        assert_eq!(lines(), ["read 1"], "a unit of the next pass waits");
        thread::scope(|scope| {
            let shard = scope.spawn(|| work.flush("shard 1".to_owned(), &spools, None));
            work.end_pass(end, &spools, None).unwrap();
            shard.join().unwrap().unwrap();
        });
        assert_eq!(lines(), ["read 1", "read-end", "fold 1", "shard 1"]);
    }
}
