//! What a run has done, so that a killed one can be taken up again: a lock, a description of the job, one line a
//! finished unit.
//!
//! The output directory holds the lock; the temporary directory holds the journal and the spools. A line of the journal is written after what it says
//! is on disk; a torn last line is as good as none.

use crate::error::{Error, Result};
use crate::run::{PackOptions, shard_path};
use crate::spool::{Spools, Tag};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
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
    attempt: u32,
    /// Finished units are written down this far apart: bringing spools to disk takes time.
    checkpoint: Duration,
}

struct Journal {
    file: File,
    /// Lines to write, each with the spool that can go once it is written.
    pending: Vec<(String, Option<usize>)>,
    written: Instant,
    /// Whether lines are brought to disk.
    durable: bool,
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
        lock.try_lock().map_err(|_| Error::Leftover {
            path: out.to_owned(),
            what: "another run is writing here".to_owned(),
        })?;
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
        let mut journal = Journal { file, pending: Vec::new(), written: Instant::now(), durable: false };
        io::Seek::seek(&mut journal.file, io::SeekFrom::End(0)).map_err(Error::io(&journal_path))?;
        if whole == 0 {
            journal.pending.extend(job.lines().map(|line| (format!("job\t{line}"), None)));
        }
        journal.pending.push((format!("attempt\t{attempt}"), None));
        journal.write().map_err(Error::io(&journal_path))?;
        let dir = Self {
            path: path.to_owned(),
            lock: lock_path,
            _locked: lock,
            journal: Mutex::new(journal),
            attempt,
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
    /// [`WorkDir::flush`], after the output is on disk. `used` is the unit's input, removed once the line is written.
    pub fn note(&self, line: String, output: &Spools<'_>, used: Option<(&Spools<'_>, usize)>) -> Result<()> {
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        journal.pending.push((line, used.map(|(_, index)| index)));
        if journal.written.elapsed() < self.checkpoint {
            return Ok(());
        }
        self.write(&mut journal, output, used.map(|(input, _)| input))
    }

    /// Writes every line noted, with `line` behind them.
    pub fn flush(&self, line: String, output: &Spools<'_>, input: Option<&Spools<'_>>) -> Result<()> {
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        journal.pending.push((line, None));
        self.write(&mut journal, output, input)
    }

    /// Output to disk, then the lines, then the inputs away. The journal stays locked: a unit that ends meanwhile is
    /// noted behind.
    fn write(&self, journal: &mut Journal, output: &Spools<'_>, input: Option<&Spools<'_>>) -> Result<()> {
        output.sync()?;
        let used: Vec<usize> = journal.pending.iter().filter_map(|(_, used)| *used).collect();
        journal.write().map_err(Error::io(&self.path.join(JOURNAL)))?;
        match input {
            Some(input) => used.into_iter().try_for_each(|index| input.remove(index)),
            None => Ok(()),
        }
    }

    /// From now on lines are brought to disk: what they speak of is there.
    pub fn make_durable(&self) {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner).durable = true;
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
    fn write(&mut self) -> io::Result<()> {
        let text: String = self.pending.iter().flat_map(|(line, _)| [line.as_str(), "\n"]).collect();
        self.file.write_all(text.as_bytes())?;
        // What lies in memory outlives no power cut: then there is nothing to tell from the lines either.
        if self.durable {
            self.file.sync_data()?;
        }
        self.pending.clear();
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
