//! An engine's process: lines in, lines out, nothing that can block for ever.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes of the longest line that is taken.
const LINE: u64 = 64 << 10;
/// Lines of an engine that wait to be looked at; one that writes faster is held up.
const WAITING: usize = 1024;
/// Lines kept for the log, and the characters kept of each: of those that were sent, position and search are wanted
/// whole.
const KEPT: Kept = Kept { lines: 24, chars: 240 };
const KEPT_SENT: Kept = Kept { lines: 3, chars: 4096 };
/// How often a wait looks whether the run was stopped.
const LOOK: Duration = Duration::from_millis(50);
/// How long the last words of an engine that has ended are waited for.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// What the output of an engine brings.
#[derive(Debug)]
pub(crate) enum Event {
    Line(String),
    /// A line longer than [`LINE`] bytes; nothing is read behind it.
    TooLong,
    Closed,
}

/// Why a wait brought nothing.
#[derive(Debug)]
pub(crate) enum Silence {
    Timeout,
    Cancelled,
}

/// A running engine. Dropping it kills it and what it started, and reaps it.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    events: Receiver<Event>,
    log: Arc<Log>,
    reaped: bool,
}

/// How much is kept for the log.
struct Kept {
    lines: usize,
    chars: usize,
}

/// The last lines, and whether the error output has ended.
#[derive(Debug, Default)]
struct Log {
    lines: Mutex<LastLines>,
    ended: AtomicBool,
}

/// Lines with their numbers.
#[derive(Debug, Default)]
struct LastLines {
    next: u64,
    sent: VecDeque<(u64, String)>,
    heard: VecDeque<(u64, String)>,
}

/// Which way a line went.
#[derive(Clone, Copy)]
enum Way {
    Sent,
    Output,
    Error,
}

impl Log {
    fn note(&self, way: Way, line: &str) {
        let (mark, kept) = match way {
            Way::Sent => ("> ", KEPT_SENT),
            Way::Output => ("< ", KEPT),
            Way::Error => ("! ", KEPT),
        };
        let mut text = mark.to_owned();
        text.extend(line.chars().take(kept.chars));
        if line.chars().nth(kept.chars).is_some() {
            text.push('…');
        }
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let number = lines.next;
        lines.next += 1;
        let list = if matches!(way, Way::Sent) { &mut lines.sent } else { &mut lines.heard };
        if list.len() == kept.lines {
            list.pop_front();
        }
        list.push_back((number, text));
    }

    fn last(&self) -> Vec<String> {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<_> = lines.sent.iter().chain(&lines.heard).collect();
        all.sort_unstable();
        all.into_iter().map(|(_, text)| text.clone()).collect()
    }
}

impl Process {
    pub(crate) fn spawn(program: &str, args: &[String]) -> io::Result<Self> {
        let mut command = Command::new(program);
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        {
            // A group of its own: what it starts can be killed with it, and Ctrl-C at a terminal is left to us.
            std::os::unix::process::CommandExt::process_group(&mut command, 0);
        }
        let mut child = command.spawn()?;
        let log = Arc::new(Log::default());
        let (sender, events) = sync_channel(WAITING);
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        // Not joined: something else may hold the other end of a pipe open. They end when it closes.
        if let Some(stdout) = stdout {
            let log = Arc::clone(&log);
            thread::spawn(move || read_output(stdout, &sender, &log));
        }
        if let Some(stderr) = stderr {
            let log = Arc::clone(&log);
            thread::spawn(move || {
                drain(stderr, &log);
                log.ended.store(true, Ordering::Release);
            });
        }
        Ok(Self { child, stdin, events, log, reaped: false })
    }

    pub(crate) fn send(&mut self, line: &str) -> io::Result<()> {
        self.log.note(Way::Sent, line);
        let stdin = self.stdin.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        let mut text = Vec::with_capacity(line.len() + 1);
        text.extend_from_slice(line.as_bytes());
        text.push(b'\n');
        stdin.write_all(&text).and_then(|()| stdin.flush())
    }

    /// The next event before the deadline.
    pub(crate) fn next(&mut self, deadline: Instant, cancel: &AtomicBool) -> Result<Event, Silence> {
        loop {
            if cancel.load(Ordering::Relaxed) {
                return Err(Silence::Cancelled);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Silence::Timeout);
            }
            match self.events.recv_timeout(left.min(LOOK)) {
                Ok(event) => return Ok(event),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(Event::Closed),
            }
        }
    }

    /// An event that is there already.
    pub(crate) fn waiting(&mut self) -> Option<Event> {
        match self.events.try_recv() {
            Ok(event) => Some(event),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Event::Closed),
        }
    }

    /// The last lines to and from the engine.
    pub(crate) fn last_lines(&self) -> Vec<String> {
        self.log.last()
    }

    /// How it ended, once its output is closed, `None` when it is still there; and its last lines, for which it is
    /// waited a moment.
    pub(crate) fn ending(mut self) -> (Option<ExitStatus>, Vec<String>) {
        let until = Instant::now() + LAST_WORDS;
        while !(self.has_ended() && self.log.ended.load(Ordering::Acquire)) && Instant::now() < until {
            thread::sleep(Duration::from_millis(5));
        }
        let status = if self.has_ended() { self.reap() } else { None };
        (status, self.last_lines())
    }

    /// Asks it to leave, and waits that long before it is killed.
    pub(crate) fn quit(mut self, patience: Duration) {
        // Killed below if it is past hearing.
        let _ = self.send("quit");
        self.stdin = None;
        let until = Instant::now() + patience;
        while !self.has_ended() && Instant::now() < until {
            // It may be held up in what it still has to say.
            while !matches!(self.waiting(), None | Some(Event::Closed)) {}
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Whether it has ended. It is not reaped by this: its number stays taken, and its group can be killed.
    #[cfg(unix)]
    fn has_ended(&mut self) -> bool {
        use rustix::process::{WaitId, WaitIdOptions, waitid};
        let peek = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        self.group().is_none_or(|pid| !matches!(waitid(WaitId::Pid(pid), peek), Ok(None)))
    }

    #[cfg(not(unix))]
    fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Its process group, which has its own number.
    #[cfg(unix)]
    fn group(&self) -> Option<rustix::process::Pid> {
        i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw)
    }

    /// Kills it, with all that it started, and reaps it; once.
    fn reap(&mut self) -> Option<ExitStatus> {
        self.stdin = None;
        if std::mem::replace(&mut self.reaped, true) {
            return None;
        }
        #[cfg(unix)]
        if let Some(group) = self.group() {
            // Fails when there is nothing left to kill.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        // Fails when it has ended.
        let _ = self.child.kill();
        self.child.wait().ok()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.reap();
    }
}

fn read_output(stdout: impl Read, events: &SyncSender<Event>, log: &Log) {
    let mut stdout = BufReader::new(stdout);
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let event = match stdout.by_ref().take(LINE).read_until(b'\n', &mut bytes) {
            Ok(0) | Err(_) => Event::Closed,
            Ok(_) if bytes.len() as u64 == LINE && bytes.last() != Some(&b'\n') => Event::TooLong,
            // A last line without an end is one that was cut off, and still worth its place in the log.
            Ok(_) => Event::Line(String::from_utf8_lossy(&bytes).trim_end().to_owned()),
        };
        if let Event::Line(line) = &event {
            log.note(Way::Output, line);
        }
        let last = !matches!(event, Event::Line(_));
        if events.send(event).is_err() || last {
            break;
        }
    }
}

fn drain(stderr: impl Read, log: &Log) {
    let mut stderr = BufReader::new(stderr);
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        match stderr.by_ref().take(LINE).read_until(b'\n', &mut bytes) {
            Ok(0) | Err(_) => break,
            Ok(_) => log.note(Way::Error, String::from_utf8_lossy(&bytes).trim_end()),
        }
    }
}
