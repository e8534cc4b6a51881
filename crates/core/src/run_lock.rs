//! The lock of a run on a file of its own: one run at a time writes to a directory.

use std::fs::{File, TryLockError};
use std::io;
use std::thread;
use std::time::{Duration, Instant};

/// How long a lock is waited for that another process holds: a run that was killed holds it until the system has cleared it
/// away, as does a process that it was just starting.
pub const PATIENCE: Duration = Duration::from_secs(1);

/// What came of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lock {
    /// It is held, until the file is closed.
    Ours,
    /// Another process holds it.
    Foreign,
    /// The file system knows no locks: nobody can tell whether another run writes here.
    Unknown,
}

/// Asks for the lock of a file, and again for as long as [`PATIENCE`].
///
/// # Errors
/// Whatever else the system says.
pub fn lock(file: &File) -> io::Result<Lock> {
    let asked = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Lock::Ours),
            Err(TryLockError::WouldBlock) if asked.elapsed() < PATIENCE => thread::sleep(PATIENCE / 100),
            Err(TryLockError::WouldBlock) => return Ok(Lock::Foreign),
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
                return Ok(Lock::Unknown);
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A killed run's lock goes a moment after it.
    #[test]
    fn a_lock_that_goes_at_once_is_waited_for_and_one_that_stays_is_foreign() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let other = || File::open(file.path()).unwrap();
        let held = other();
        assert_eq!(lock(&held).unwrap(), Lock::Ours);
        assert_eq!(lock(&other()).unwrap(), Lock::Foreign);
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(PATIENCE / 20);
                drop(held);
            });
            assert_eq!(lock(&other()).unwrap(), Lock::Ours);
        });
    }
}
