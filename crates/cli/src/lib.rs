//! The command line of Manaka: every verb's arguments, all printing, the exit codes. The work is done by the crates
//! below; each verb parses, resolves its inputs and outputs, runs, prints one report.
//!
//! Exit codes: 0 done, 1 could not, 2 usage, 3 done with findings or refused records.
// Printing is what this crate is for.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the one crate that prints")]

mod evaluators;
mod exit;
mod inputs;
mod output;
mod progress;
mod verbs;

use clap::{CommandFactory, Parser, Subcommand};
use exit::Outcome;
use std::ffi::OsString;
use std::process::ExitCode;

/// Training data for shogi engines: make it, fold it, check it.
#[derive(Parser, Debug)]
#[command(name = "manaka", version, about, propagate_version = true)]
#[command(after_help = "Exit codes: 0 done, 1 could not, 2 usage, 3 done with findings or refused records.")]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    Gensfen(Box<verbs::gensfen::Args>),
    Corpus(verbs::corpus::Args),
    Teacher(verbs::teacher::Args),
    Selfplay(Box<verbs::selfplay::Args>),
    Match(Box<verbs::duel::Args>),
    Pack(verbs::pack::Args),
    Check(verbs::check::Args),
    Stat(verbs::stat::Args),
    Info(verbs::info::Args),
    View(verbs::view::Args),
    TrainKp(verbs::train_kp::Args),
    Completions(verbs::generate::CompletionsArgs),
    Man(verbs::generate::ManArgs),
}

/// Parses the process's arguments and runs the verb they name.
#[must_use]
pub fn run() -> ExitCode {
    run_from(std::env::args_os().collect())
}

/// Runs one verb with the process's arguments: what `manaka-<verb>` does.
#[must_use]
pub fn run_verb(verb: &str) -> ExitCode {
    run_preset(&[verb])
}

/// Runs one verb with options of a preset, which the process's arguments may override.
#[must_use]
pub fn run_preset(words: &[&str]) -> ExitCode {
    let mut args: Vec<OsString> = std::env::args_os().collect();
    let at = args.len().min(1);
    args.splice(at..at, words.iter().map(OsString::from));
    run_from(args)
}

fn run_from(args: Vec<OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are no errors; clap knows their streams and codes (0, and 2 for usage).
            let code = u8::try_from(error.exit_code()).unwrap_or(2);
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    progress::stop_on_signals();
    manaka_core::guard::quiet_panics();
    let result = match cli.verb {
        Verb::Gensfen(args) => verbs::gensfen::run(*args),
        Verb::Corpus(args) => verbs::corpus::run(args),
        Verb::Teacher(args) => verbs::teacher::run(args),
        Verb::Selfplay(args) => verbs::selfplay::run(*args),
        Verb::Match(args) => verbs::duel::run(*args),
        Verb::Pack(args) => verbs::pack::run(args),
        Verb::Check(args) => verbs::check::run(args),
        Verb::Stat(args) => verbs::stat::run(args),
        Verb::Info(args) => verbs::info::run(args),
        Verb::View(args) => verbs::view::run(args),
        Verb::TrainKp(args) => verbs::train_kp::run(args),
        Verb::Completions(args) => verbs::generate::completions(&args, Cli::command()),
        Verb::Man(args) => verbs::generate::man(&args, Cli::command()),
    };
    match result {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Findings) => ExitCode::from(3),
        Err(error) => {
            eprintln!("manaka: error: {error:#}");
            ExitCode::from(if exit::is_usage(&error) { 2 } else { 1 })
        }
    }
}
