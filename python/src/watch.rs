//! Runs a long piece of work while Python's signals are looked after and its callback hears of progress.
//!
//! The work goes to a thread of its own and the calling thread waits without the GIL. Several times a second it takes
//! the GIL to run signal handlers (only Python's main thread can) and to call the callback, which so is never called
//! from a thread Python does not know. An exception of either stops the work where it can stop cleanly.

use crate::errors::Raise;
use manaka_core::progress::Progress;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// From one look at signals and progress to the next.
const TICK: Duration = Duration::from_millis(50);

/// A phase, and how far it is.
#[derive(Clone, PartialEq)]
struct Phase {
    name: String,
    done: u64,
    total: Option<u64>,
}

/// What the work has said, until the callback is told.
#[derive(Default)]
struct Board {
    /// Phases that ended since the callback was told, and the current one.
    phases: Mutex<Vec<Phase>>,
    stop: AtomicBool,
}

impl Board {
    /// Everything to be told, oldest first; the current phase stays.
    fn take(&self) -> Vec<Phase> {
        let mut phases = self.phases.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = phases.clone();
        let ended = phases.len().saturating_sub(1);
        phases.drain(..ended);
        taken
    }
}

impl Progress for Board {
    fn phase(&self, name: &str, total: Option<u64>, _unit: &str) {
        let mut phases = self.phases.lock().unwrap_or_else(PoisonError::into_inner);
        phases.push(Phase { name: name.to_owned(), done: 0, total });
    }

    fn advance(&self, by: u64) {
        let mut phases = self.phases.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(phase) = phases.last_mut() {
            phase.done += by;
        }
    }

    fn cancelled(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Runs `work` and calls `callback(phase, done, total)` as it goes: each phase at least once, with all that was done
/// in it, and at most about twenty times a second.
///
/// # Errors
/// What a signal handler or the callback raised (`work` has ended then, having been told to stop), or what `work` failed
/// with.
pub fn watch<T: Send, E: Raise + Send>(
    py: Python<'_>,
    callback: Option<Py<PyAny>>,
    work: impl FnOnce(&dyn Progress) -> Result<T, E> + Send,
) -> PyResult<T> {
    let board = Board::default();
    let (result, raised) = py.detach(|| {
        thread::scope(|scope| {
            let (running, ended) = channel::<()>();
            let board = &board;
            let worker = scope.spawn(move || {
                let result = work(board);
                drop(running);
                result
            });
            let mut raised = None;
            let mut last = None;
            loop {
                let over = !matches!(ended.recv_timeout(TICK), Err(RecvTimeoutError::Timeout));
                if raised.is_none()
                    && let Err(error) = Python::attach(|py| {
                        py.check_signals()?;
                        tell(py, callback.as_ref(), board.take(), &mut last)
                    })
                {
                    board.stop.store(true, Ordering::Relaxed);
                    raised = Some(error);
                }
                if over {
                    return (worker.join(), raised);
                }
            }
        })
    });
    match (raised, result) {
        (Some(error), _) => Err(error),
        (None, Ok(result)) => result.map_err(Raise::raise),
        (None, Err(panic)) => std::panic::resume_unwind(panic),
    }
}

/// Tells the callback what it has not heard yet.
fn tell(
    py: Python<'_>,
    callback: Option<&Py<PyAny>>,
    phases: Vec<Phase>,
    last: &mut Option<Phase>,
) -> PyResult<()> {
    let Some(callback) = callback else { return Ok(()) };
    for phase in phases {
        if last.as_ref() != Some(&phase) {
            callback.call1(py, (&phase.name, phase.done, phase.total))?;
            *last = Some(phase);
        }
    }
    Ok(())
}
