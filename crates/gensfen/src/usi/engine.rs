//! The dialogue with one engine.

use crate::fault::{Fault, FaultKind, Halt};
use crate::options::{EngineOptions, MULTIPV, UnknownOption};
use crate::usi::block::{Block, Lines};
use crate::usi::declared::{Declared, Misfit, Setting};
use crate::usi::message::Message;
use crate::usi::process::{Event, Process, Silence};
use manaka_core::Move16;
use serde::{Deserialize, Serialize};
use std::io;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Options of an engine that are looked at; it may declare more, which cannot be set then.
const MAX_OPTIONS: usize = 4096;

/// Who an engine says it is.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Identity {
    /// `id name`, empty when it said none.
    pub name: String,
    /// `id author`, empty when it said none.
    pub author: String,
}

/// A running engine that has been through its handshake. Dropping it kills it.
#[derive(Debug)]
pub struct Engine<'r> {
    options: &'r EngineOptions,
    cancel: &'r AtomicBool,
    /// `None` once it has failed.
    process: Option<Process>,
    identity: Identity,
    /// Whether it has answered a search.
    answered: bool,
}

/// What an engine said at the end of a search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    /// What it would play.
    pub reply: Reply,
    /// The lines; `None` when no line had an exact score and a move.
    pub block: Option<Block>,
}

/// `bestmove`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reply {
    /// This move, which need not be legal.
    Move(Move16),
    /// `resign`: it gives the game up.
    Resign,
    /// `win`: it declares that it has won.
    Win,
    /// `none` or a null move: it has no move.
    None,
}

/// Why an engine was not started.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// It failed, or the run stops.
    #[error(transparent)]
    Halt(Halt),
    /// It works, and cannot do what it is asked for.
    #[error("{engine}: {reason}")]
    Unsuitable {
        /// Who it says it is.
        engine: String,
        /// What it cannot do.
        reason: String,
    },
}

impl From<Halt> for Refusal {
    fn from(halt: Halt) -> Self {
        Self::Halt(halt)
    }
}

impl<'r> Engine<'r> {
    /// Starts an engine and goes through the handshake, up to its options. Returns what it was not told. Waiting for it
    /// ends when `cancel` is set, here and in every later call.
    ///
    /// # Errors
    /// [`Refusal`].
    pub fn start(options: &'r EngineOptions, cancel: &'r AtomicBool) -> Result<(Self, Vec<String>), Refusal> {
        let command = &options.command;
        let process = Process::spawn(&command.program, &command.args).map_err(|error| {
            let detail =
                format!("cannot start {:?}: {error}{}", command.program, hint(&command.program, &error));
            Halt::Fault(Fault { kind: FaultKind::Start, detail, lines: Vec::new() })
        })?;
        let (process, identity) = (Some(process), Identity::default());
        let mut engine = Self { options, cancel, process, identity, answered: false };
        engine.send("usi")?;
        let mut declared = Vec::new();
        let waiting = ("usiok", options.timeouts.handshake);
        let identity = engine.listen(waiting, |message, identity: &mut Identity| {
            match message {
                Message::Name(name) => name.clone_into(&mut identity.name),
                Message::Author(author) => author.clone_into(&mut identity.author),
                Message::Option(option) if declared.len() < MAX_OPTIONS => declared.push(option),
                Message::UsiOk => return Ok(true),
                _ => {}
            }
            Ok(false)
        })?;
        engine.identity = identity;
        let warnings = engine.configure(&declared)?;
        Ok((engine, warnings))
    }

    /// Who it says it is.
    #[must_use]
    pub const fn identity(&self) -> &Identity {
        &self.identity
    }

    fn configure(&mut self, declared: &[Declared]) -> Result<Vec<String>, Refusal> {
        let options = self.options;
        let lenient = options.unknown == UnknownOption::Warn;
        let mut warnings = Vec::new();
        for setting in &options.settings {
            match setting.check(declared) {
                Ok(()) => self.send(&setting.command())?,
                Err(Misfit::Unknown { meant }) => {
                    let meant = meant.map_or_else(String::new, |name| format!("; it has {name:?}"));
                    let what = format!("it has no option {:?}{meant}", setting.name);
                    if !lenient {
                        return Err(self.unsuitable(what));
                    }
                    warnings.push(format!("{what}; left out"));
                }
                Err(Misfit::Value { takes }) => {
                    let value = setting.value.as_deref().unwrap_or_default();
                    let what = format!("its option {:?} takes {takes}, not {value:?}", setting.name);
                    return Err(self.unsuitable(what));
                }
            }
        }
        let lines = Setting { name: MULTIPV.to_owned(), value: Some(options.multipv.to_string()) };
        match lines.check(declared) {
            Ok(()) => self.send(&lines.command())?,
            Err(Misfit::Value { takes }) => {
                let what = format!("its option {MULTIPV} takes {takes}, not {}", options.multipv);
                return Err(self.unsuitable(what));
            }
            Err(Misfit::Unknown { .. }) if options.multipv == 1 => {}
            Err(Misfit::Unknown { .. }) => {
                let what =
                    format!("it has no option {MULTIPV} and reports one line, not {}", options.multipv);
                if !lenient {
                    return Err(self.unsuitable(format!("{what}; ask for 1")));
                }
                warnings.push(what);
            }
        }
        Ok(warnings)
    }

    fn unsuitable(&self, reason: String) -> Refusal {
        let engine = match self.identity.name.as_str() {
            "" => self.options.command.to_string(),
            name => name.to_owned(),
        };
        Refusal::Unsuitable { engine, reason }
    }

    /// Tells it to forget what it knows, and waits until it has.
    ///
    /// # Errors
    /// [`Halt`].
    pub fn new_game(&mut self) -> Result<(), Halt> {
        self.send("isready")?;
        let waiting = ("readyok", self.options.timeouts.ready);
        self.listen(waiting, |message, (): &mut ()| Ok(matches!(message, Message::ReadyOk)))?;
        self.send("usinewgame")
    }

    /// Searches a position, given as it stands behind `position`, for `wanted` lines.
    ///
    /// # Errors
    /// [`Halt`]. Whether the move it answers with is legal is not looked at.
    pub fn search(&mut self, position: &str, wanted: usize) -> Result<Answer, Halt> {
        while let Some(event) = self.process.as_mut().and_then(Process::waiting) {
            match event {
                Event::Line(line) if matches!(Message::parse(&line), Message::BestMove(_)) => {
                    return Err(self.fault(FaultKind::Garbage, "a best move that nobody asked for"));
                }
                Event::Line(_) => {}
                Event::TooLong => return Err(self.too_long()),
                Event::Closed => return Err(self.crashed("between two searches")),
            }
        }
        self.send(&format!("position {position}"))?;
        let go = self.options.limit.to_string();
        self.send(&go)?;
        let timeout = self.options.timeouts.search + self.options.limit.duration();
        let mut lines = Lines::new(wanted);
        let word = self.listen((&go, timeout), |message, word: &mut String| {
            match message {
                Message::Info(info) => lines.add(&info),
                Message::BestMove(best) => {
                    best.clone_into(word);
                    return Ok(true);
                }
                Message::Other(line) if rejects(line) => {
                    return Err((FaultKind::Rejected, format!("it did not take the position: {line}")));
                }
                _ => {}
            }
            Ok(false)
        })?;
        self.answered = true;
        let reply = match word.as_str() {
            "resign" => Reply::Resign,
            "win" => Reply::Win,
            "none" | "(none)" | "0000" | "null" | "pass" => Reply::None,
            word => match Move16::from_usi(word) {
                Some(mv) => Reply::Move(mv),
                None => return Err(self.fault(FaultKind::Garbage, &format!("bestmove {word:?} is no move"))),
            },
        };
        let best = if let Reply::Move(mv) = reply { Some(mv) } else { None };
        Ok(Answer { reply, block: lines.level(best) })
    }

    /// A fault of this engine, with its last lines. It is not spoken to again.
    pub fn fault(&mut self, kind: FaultKind, detail: &str) -> Halt {
        let lines = self.process.take().map_or_else(Vec::new, |process| process.last_lines());
        Halt::Fault(Fault { kind, detail: detail.to_owned(), lines })
    }

    /// Lets it go, killing it after a while.
    pub fn quit(mut self) {
        if let Some(process) = self.process.take() {
            process.quit(self.options.timeouts.quit);
        }
    }

    fn send(&mut self, line: &str) -> Result<(), Halt> {
        let sent = match &mut self.process {
            Some(process) => process.send(line),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        };
        let first = line.split(' ').next().unwrap_or(line);
        sent.map_err(|_| self.crashed(&format!("before {first:?}")))
    }

    /// Hands the lines of the engine to `take` until it says that the last one has come.
    fn listen<T: Default>(
        &mut self,
        (answer_to, timeout): (&str, Duration),
        mut take: impl FnMut(Message<'_>, &mut T) -> Result<bool, (FaultKind, String)>,
    ) -> Result<T, Halt> {
        let deadline = Instant::now() + timeout;
        let mut found = T::default();
        loop {
            let cancel = self.cancel;
            let Some(process) = &mut self.process else { return Err(self.crashed("before")) };
            match process.next(deadline, cancel) {
                Ok(Event::Line(line)) => match take(Message::parse(&line), &mut found) {
                    Ok(true) => return Ok(found),
                    Ok(false) => {}
                    Err((kind, detail)) => return Err(self.fault(kind, &detail)),
                },
                Ok(Event::TooLong) => return Err(self.too_long()),
                Ok(Event::Closed) => {
                    // An engine that does not know a limit need not say so in a way that can be read.
                    let first = answer_to.starts_with("go") && !self.answered;
                    let hint = if first { ", its first search; it may need another limit" } else { "" };
                    return Err(self.crashed(&format!("during {answer_to:?}{hint}")));
                }
                Err(Silence::Cancelled) => return Err(Halt::Cancelled),
                Err(Silence::Timeout) => {
                    let detail = format!("no answer to {answer_to:?} within {} s", timeout.as_secs_f64());
                    return Err(self.fault(FaultKind::Timeout, &detail));
                }
            }
        }
    }

    fn too_long(&mut self) -> Halt {
        self.fault(FaultKind::Garbage, "a line without an end")
    }

    fn crashed(&mut self, when: &str) -> Halt {
        let Some(process) = self.process.take() else {
            let detail = format!("the engine is gone {when}");
            return Halt::Fault(Fault { kind: FaultKind::Crash, detail, lines: Vec::new() });
        };
        let (status, lines) = process.ending();
        let detail = match status {
            Some(status) => format!("the engine ended ({status}) {when}"),
            None => format!("the engine closed its output {when}"),
        };
        Halt::Fault(Fault { kind: FaultKind::Crash, detail, lines })
    }
}

/// Whether a line outside the protocol complains about the position.
fn rejects(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    ["illegal move", "invalid move", "no such move", "position error", "illegal position", "invalid position"]
        .iter()
        .any(|complaint| line.contains(complaint))
}

/// Debian keeps games in a directory that is not everyone's.
fn hint(program: &str, error: &io::Error) -> String {
    let there = std::path::Path::new("/usr/games").join(program);
    if error.kind() == io::ErrorKind::NotFound && !program.contains('/') && there.exists() {
        format!("; there is {}", there.display())
    } else {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_about_a_position_are_known() {
        assert!(rejects("position error: illegal move: 7g7e"));
        assert!(rejects(" No such move1 : Move(+,PAWN,Square(77)->Square(75))"));
        assert!(rejects("Error: Illegal Move."));
        assert!(!rejects("No such option: NoSuch"));
        assert!(!rejects("warning stop ignored (go 2 times, bestmove 2 times)"));
    }

    #[test]
    fn an_engine_that_is_not_found_is_looked_for_where_debian_keeps_games() {
        let error = io::Error::from(io::ErrorKind::NotFound);
        assert_eq!(hint("no-such-engine", &error), "");
        assert_eq!(hint("/usr/games", &error), "");
    }
}
