//! Files that have their final name only when they are whole.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
#[cfg(target_os = "linux")]
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

/// Appended to a final name while the file is being written.
pub const TEMP_SUFFIX: &str = ".tmp";

/// What to do with a file that already has the final name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Existing {
    /// Fail with `AlreadyExists`, before anything is written.
    Refuse,
    /// Replace it, at the moment the new file is whole.
    Replace,
}

/// A file under a temporary name beside its final one. [`WholeFile::commit`] gives it the final name; a drop without
/// that removes it.
#[derive(Debug)]
pub struct WholeFile {
    file: File,
    path: PathBuf,
    temp: PathBuf,
    committed: bool,
}

impl WholeFile {
    /// Creates `<path>.tmp`.
    ///
    /// # Errors
    /// `AlreadyExists` when the temporary name is taken (a leftover, or another run), or the final one and `existing`
    /// is [`Existing::Refuse`]; whatever the system says. The path is in the message.
    pub fn create(path: &Path, existing: Existing) -> io::Result<Self> {
        if existing == Existing::Refuse && path.try_exists()? {
            return Err(io::Error::new(
                io::ErrorKind::AlreadyExists,
                format!("{} exists already", path.display()),
            ));
        }
        let mut temp = path.as_os_str().to_owned();
        temp.push(TEMP_SUFFIX);
        let temp = PathBuf::from(temp);
        let mut options = OpenOptions::new();
        match existing {
            Existing::Refuse => options.read(true).write(true).create_new(true),
            Existing::Replace => options.read(true).write(true).create(true).truncate(true),
        };
        let file = options.open(&temp).map_err(|e| in_path(e, &temp))?;
        Ok(Self { file, path: path.to_owned(), temp, committed: false })
    }

    /// The name the file will have.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// [`begin_write_back`] of this file: [`WholeFile::commit`] then finds little left to do, and what is on disk need not stay
    /// in memory.
    pub fn begin_write_back(&self, at: u64, len: u64) {
        begin_write_back(&self.file, at, len);
    }

    /// Writes over bytes that were written before, and goes on behind the last.
    ///
    /// # Errors
    /// Whatever the system says, with the path.
    pub(crate) fn overwrite(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        overwrite(&mut self.file, at, bytes).map_err(|e| in_path(e, &self.temp))
    }

    /// Begins anew with an empty file; gives what was written so far, to be read from its start. It has no name any
    /// more.
    ///
    /// # Errors
    /// Whatever the system says, with the path.
    pub(crate) fn begin_anew(&mut self) -> io::Result<File> {
        let mut begin = || {
            fs::remove_file(&self.temp)?;
            let new = OpenOptions::new().read(true).write(true).create_new(true).open(&self.temp)?;
            let mut old = std::mem::replace(&mut self.file, new);
            old.seek(SeekFrom::Start(0))?;
            Ok(old)
        };
        begin().map_err(|e| in_path(e, &self.temp))
    }

    /// Brings everything to disk and gives the file its final name. Returns its length in bytes.
    ///
    /// # Errors
    /// Whatever the system says, with the path; the final name is then untouched, unless all that failed was bringing
    /// the renamed entry of the directory to disk.
    pub fn commit(mut self) -> io::Result<u64> {
        self.file.sync_all().map_err(|e| in_path(e, &self.temp))?;
        let len = self.file.metadata().map_err(|e| in_path(e, &self.temp))?.len();
        fs::rename(&self.temp, &self.path).map_err(|e| in_path(e, &self.path))?;
        self.committed = true;
        sync_dir(&self.path)?;
        Ok(len)
    }
}

impl Write for WholeFile {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.file.write(buf).map_err(|e| in_path(e, &self.temp))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush().map_err(|e| in_path(e, &self.temp))
    }
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        if !self.committed {
            // The file is unfinished either way; that it could not be removed changes nothing.
            let _ = fs::remove_file(&self.temp);
        }
    }
}

/// Has bytes of a file sent to disk and does not wait for them; what is there already leaves the system's memory. A hint:
/// where the system does not take it, nothing changes.
#[cfg(target_os = "linux")]
pub fn begin_write_back(file: &File, at: u64, len: u64) {
    // What lies in memory alone cannot be dropped: Linux begins to write it.
    let _ = rustix::fs::fadvise(file, at, NonZeroU64::new(len), rustix::fs::Advice::DontNeed);
}

/// Nothing: the hint is not given here.
#[cfg(not(target_os = "linux"))]
pub fn begin_write_back(_: &File, _: u64, _: u64) {}

/// Writes over bytes of a file and goes back to its end.
pub(crate) fn overwrite(file: &mut File, at: u64, bytes: &[u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(at))?;
    file.write_all(bytes)?;
    file.seek(SeekFrom::End(0)).map(drop)
}

/// Brings the directory entry of a file to disk.
pub(crate) fn sync_dir(path: &Path) -> io::Result<()> {
    let dir = match path.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => dir,
        _ => Path::new("."),
    };
    File::open(dir).and_then(|dir| dir.sync_all()).map_err(|e| in_path(e, dir))
}

/// Puts the path into an error's message, keeping its kind.
fn in_path(error: io::Error, path: &Path) -> io::Error {
    if error.kind() == io::ErrorKind::Interrupted {
        return error;
    }
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_appears_only_when_it_is_committed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        let mut file = WholeFile::create(&path, Existing::Refuse).unwrap();
        file.write_all(b"abc").unwrap();
        assert!(!path.exists());
        drop(file);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);

        let mut file = WholeFile::create(&path, Existing::Refuse).unwrap();
        file.write_all(b"abc").unwrap();
        assert_eq!(file.commit().unwrap(), 3);
        assert_eq!(fs::read(&path).unwrap(), b"abc");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);

        let error = WholeFile::create(&path, Existing::Refuse).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        WholeFile::create(&path, Existing::Replace).unwrap().commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"");
    }
}
