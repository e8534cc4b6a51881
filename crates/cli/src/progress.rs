//! Progress on stderr: a bar on a terminal, a plain line now and then elsewhere.

use crate::output::grouped;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use manaka_core::progress::Progress;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Set by the first SIGINT or SIGTERM; runs stop at the next place where they can do so cleanly.
static STOP: AtomicBool = AtomicBool::new(false);

/// Whether a signal asked the run to stop.
pub fn is_stopping() -> bool {
    STOP.load(Ordering::Relaxed)
}

/// From now on the first SIGINT or SIGTERM asks the run to stop, and a second one ends the process.
pub fn stop_on_signals() {
    // It can only fail when a handler is set already.
    let _ = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(1);
        }
        eprintln!("manaka: stopping; once more ends it at once");
    });
}

/// Draws nothing and only says when a signal asked to stop: for runs whose output is the progress.
pub struct Watch;

impl Progress for Watch {
    fn phase(&self, _name: &str, _total: Option<u64>, _unit: &str) {}

    fn advance(&self, _by: u64) {}

    fn cancelled(&self) -> bool {
        is_stopping()
    }
}

/// Between two plain lines.
const EVERY: Duration = Duration::from_secs(10);

/// Draws the progress of one run.
pub struct Bar {
    verb: &'static str,
    terminal: bool,
    state: Mutex<State>,
}

struct State {
    bar: ProgressBar,
    name: String,
    unit: String,
    total: Option<u64>,
    done: u64,
    began: Instant,
    said: Instant,
}

impl Bar {
    /// For a run of `verb`.
    pub fn new(verb: &'static str) -> Self {
        let now = Instant::now();
        let state = State {
            bar: ProgressBar::hidden(),
            name: String::new(),
            unit: String::new(),
            total: None,
            done: 0,
            began: now,
            said: now,
        };
        Self { verb, terminal: std::io::stderr().is_terminal(), state: Mutex::new(state) }
    }

    /// Removes the bar; the report follows.
    pub fn finish(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).bar.finish_and_clear();
    }
}

impl Progress for Bar {
    fn phase(&self, name: &str, total: Option<u64>, unit: &str) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.bar.finish_and_clear();
        let now = Instant::now();
        state.name = name.to_owned();
        state.unit = unit.to_owned();
        (state.total, state.done, state.began, state.said) = (total, 0, now, now);
        if self.terminal {
            let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr_with_hz(8));
            let template = match total {
                Some(_) => "{prefix} {bar:30} {human_pos}/{human_len} {msg} {per_sec} eta {eta}",
                None => "{prefix} {spinner} {human_pos} {msg} {per_sec}",
            };
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            bar.set_prefix(format!("{} {name}", self.verb));
            bar.set_message(unit.to_owned());
            state.bar = bar;
        }
    }

    fn cancelled(&self) -> bool {
        is_stopping()
    }

    fn advance(&self, by: u64) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.done += by;
        state.bar.inc(by);
        if self.terminal || state.said.elapsed() < EVERY {
            return;
        }
        state.said = Instant::now();
        let seconds = state.began.elapsed().as_secs().max(1);
        let rate = state.done / seconds;
        let of = match state.total {
            Some(total) => {
                let eta = total.saturating_sub(state.done) / rate.max(1);
                format!(" of {}, about {eta} s to go", grouped(total))
            }
            None => String::new(),
        };
        let (name, done, unit) = (&state.name, grouped(state.done), &state.unit);
        eprintln!("manaka: {} {name}: {done} {unit}{of}, {} per second", self.verb, grouped(rate));
    }
}
