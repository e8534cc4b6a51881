//! `manaka completions` and `manaka man`: what packagers install beside the binary.

use crate::exit::Outcome;
use anyhow::{Context, Result};
use std::fs;
use std::io;
use std::path::PathBuf;

/// Print a shell completion script.
#[derive(clap::Args, Debug)]
pub struct CompletionsArgs {
    /// The shell.
    shell: clap_complete::Shell,
}

/// Prints the script for one shell.
pub fn completions(args: &CompletionsArgs, mut command: clap::Command) -> Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "manaka", &mut script);
    crate::output::print(String::from_utf8(script)?)?;
    Ok(Outcome::Done)
}

/// Write the man pages, one for each verb.
#[derive(clap::Args, Debug)]
pub struct ManArgs {
    /// The directory to write them to; created if it is missing.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

/// Writes `manaka.1` and one page a verb.
pub fn man(args: &ManArgs, command: clap::Command) -> Result<Outcome> {
    fs::create_dir_all(&args.out).with_context(|| args.out.display().to_string())?;
    clap_mangen::generate_to(command, &args.out)
        .or_else(|e: io::Error| Err(e).with_context(|| args.out.display().to_string()))?;
    Ok(Outcome::Done)
}
