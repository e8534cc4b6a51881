//! The directory of a run: data, a journal of games and a report; one run at a time writes there.

use crate::error::{Error, Result};
use crate::settings::difference;
use manaka_core::run_lock::{Lock, lock};
use manaka_core::whole_file::{Existing, WholeFile};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// What the files of a producer are called, and how its report is told from others.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// The records.
    pub data: &'static str,
    /// One line for each game.
    pub journal: &'static str,
    /// What was played how: JSON with the keys `format`, `version` and `settings`.
    pub report: &'static str,
    /// What `format` says.
    pub format: &'static str,
    /// What `version` says.
    pub version: u32,
    /// Settings that may differ between the parts of one run ([`difference`]).
    pub free: &'static [&'static str],
}

/// What is done about a run that is there already.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    /// It is left alone: [`Error::Exists`].
    Refuse,
    /// It is gone on with.
    Resume,
}

/// A directory that belongs to this run until it is dropped.
#[derive(Debug)]
pub struct RunDir {
    kind: Kind,
    path: PathBuf,
    journal: File,
}

/// The lock goes with the run, even while a process that is just being started still holds a copy of the file.
impl Drop for RunDir {
    fn drop(&mut self) {
        // It would go with the last copy of the file anyway.
        let _ = self.journal.unlock();
    }
}

impl Kind {
    /// Fails early when there is a run that shall not be resumed.
    ///
    /// # Errors
    /// [`Error::Exists`].
    pub fn check(&self, dir: &Path, found: Found) -> Result<()> {
        let holds = |name: &str| fs::metadata(dir.join(name)).is_ok_and(|meta| meta.len() > 0);
        if found == Found::Refuse && [self.report, self.journal, self.data].into_iter().any(holds) {
            return Err(Error::Exists(dir.to_owned()));
        }
        Ok(())
    }

    /// Claims a directory, which is created if it is not there. Returns what there is to tell about it.
    ///
    /// # Errors
    /// [`Error::Exists`], [`Error::Busy`] and [`Error::Io`]; nothing that was there is changed.
    pub fn claim(self, dir: &Path, found: Found) -> Result<(RunDir, Vec<String>)> {
        fs::create_dir_all(dir).map_err(Error::io(dir))?;
        let path = dir.join(self.journal);
        let journal = read_write(&path)?;
        let mut notes = Vec::new();
        match lock(&journal).map_err(Error::io(&path))? {
            Lock::Ours => {}
            Lock::Foreign => return Err(Error::Busy(dir.to_owned())),
            Lock::Unknown => notes
                .push("the file system knows no locks: see to it that no other run writes here".to_owned()),
        }
        self.check(dir, found)?;
        Ok((RunDir { kind: self, path: dir.to_owned(), journal }, notes))
    }

    /// The report of a directory.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Damaged`] where it is another producer's, of another version, or no report.
    pub fn read_report<R: DeserializeOwned>(&self, dir: &Path) -> Result<R> {
        Ok(self.read(&dir.join(self.report))?.0)
    }

    /// The report, and its settings as they are there.
    fn read<R: DeserializeOwned>(&self, path: &Path) -> Result<(R, Value)> {
        let text = fs::read(path).map_err(Error::io(path))?;
        let damaged = |error: serde_json::Error| Error::damaged(path, error.to_string());
        // What it is comes first: another version may have other fields.
        let value: Value = serde_json::from_slice(&text).map_err(damaged)?;
        if value["format"] != self.format || value["version"] != self.version {
            let (format, version) = (&value["format"], &value["version"]);
            let reason = format!("format {format}, version {version}: not written by this program");
            return Err(Error::damaged(path, reason));
        }
        let settings = value["settings"].clone();
        Ok((serde_json::from_value(value).map_err(damaged)?, settings))
    }
}

impl RunDir {
    /// A file of the run.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The report of the run that is gone on with; `None` where a new one begins.
    ///
    /// # Errors
    /// As [`Kind::read_report`]; [`Error::Mismatch`] where the run has other settings; [`Error::Damaged`] where there is data
    /// whose settings nobody knows.
    pub fn report<R: DeserializeOwned>(&self, settings: &Value) -> Result<Option<R>> {
        let path = self.path(self.kind.report);
        if !path.try_exists().map_err(Error::io(&path))? {
            for path in [self.kind.data, self.kind.journal].map(|name| self.path(name)) {
                if fs::metadata(&path).is_ok_and(|meta| meta.len() > 0) {
                    return Err(Error::damaged(&path, format!("there is no {} beside it", self.kind.report)));
                }
            }
            return Ok(None);
        }
        let (report, told) = self.kind.read(&path)?;
        match difference(&told, settings, self.kind.free) {
            Some(found) => {
                Err(Error::Mismatch { path, key: found.key, there: found.there, here: found.here })
            }
            None => Ok(Some(report)),
        }
    }

    /// Replaces the report, whole and on disk.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn write_report<R: Serialize>(&self, report: &R) -> Result<()> {
        let path = self.path(self.kind.report);
        let mut text = serde_json::to_vec_pretty(report).map_err(|error| Error::io(&path)(error.into()))?;
        text.push(b'\n');
        let write = || {
            let mut file = WholeFile::create(&path, Existing::Replace)?;
            file.write_all(&text)?;
            file.commit()
        };
        write().map(drop).map_err(Error::io(&path))
    }

    /// Opens the data to read and write, and creates it if it is not there.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn data(&self) -> Result<File> {
        read_write(&self.path(self.kind.data))
    }

    /// The journal: read, written and brought to disk as any file.
    #[must_use]
    pub const fn journal(&self) -> &File {
        &self.journal
    }

    /// Cuts off what stands behind the last whole game in data and journal, says so, and leaves both at their ends.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn cut(&self, data: &File, data_len: u64, journal_len: u64, notes: &mut Vec<String>) -> Result<()> {
        let Kind { data: data_name, journal: journal_name, .. } = self.kind;
        for (name, mut file, keep) in
            [(data_name, data, data_len), (journal_name, &self.journal, journal_len)]
        {
            let path = self.path(name);
            let len = file.metadata().map_err(Error::io(&path))?.len();
            if len > keep {
                notes.push(format!("{name}: cut {} bytes behind the last whole game", len - keep));
                file.set_len(keep).map_err(Error::io(&path))?;
            }
            file.seek(SeekFrom::Start(keep)).map_err(Error::io(&path))?;
        }
        Ok(())
    }
}

fn read_write(path: &Path) -> Result<File> {
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
    file.map_err(Error::io(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: Kind =
        Kind { data: "data", journal: "journal", report: "report", format: "test", version: 1, free: &[] };

    #[test]
    fn a_directory_belongs_to_one_run_until_that_is_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let (run, notes) = KIND.claim(dir.path(), Found::Refuse).unwrap();
        assert!(notes.is_empty());
        // As a process that is just being started has one.
        let copy = run.journal.try_clone().unwrap();
        assert!(matches!(KIND.claim(dir.path(), Found::Refuse), Err(Error::Busy(_))));
        drop(run);
        assert!(KIND.claim(dir.path(), Found::Refuse).is_ok(), "the lock went with its run");
        drop(copy);
    }
}
