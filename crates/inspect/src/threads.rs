//! Scoped threads that all do the same work.

use crate::error::{Error, Result};
use std::num::NonZeroUsize;

/// Runs `work` on several threads; gives the error of the first of them that failed.
pub fn on_threads(threads: NonZeroUsize, work: impl Fn() -> Result<()> + Sync) -> Result<()> {
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads.get()).map(|_| scope.spawn(&work)).collect();
        let results: Vec<_> =
            handles.into_iter().map(|handle| handle.join().unwrap_or(Err(Error::Worker))).collect();
        results.into_iter().collect()
    })
}
