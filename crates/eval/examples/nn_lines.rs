//! A network's outputs as lines of text, for a trainer to disagree with.
//!
//! ```text
//! nn_lines NN.BIN [FV_SCALE] < SFENS            an SFEN a line on stdin
//! nn_lines NN.BIN [FV_SCALE] --packed FILE      96 bytes a position, one behind the other
//! ```
//!
//! An answer a line: the output as an integer, a tab, the score in centipawns; or `error`, a tab and a reason.
// A command that prints.
#![allow(clippy::print_stderr, reason = "the complaint of a program that ends")]

use manaka_core::Packed;
use manaka_eval::{DEFAULT_FV_SCALE, Net, centipawns};
use std::error::Error;
use std::io::{self, BufRead, BufWriter, Write};
use std::num::NonZero;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("nn_lines: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[String]) -> Result<(), Box<dyn Error>> {
    let (args, packed) = match args {
        [rest @ .., flag, file] if flag == "--packed" => (rest, Some(file)),
        rest => (rest, None),
    };
    let (path, scale) = match args {
        [path] => (path, DEFAULT_FV_SCALE),
        [path, scale] => (path, scale.parse()?),
        _ => return Err("usage: nn_lines NN.BIN [FV_SCALE] [--packed FILE]".into()),
    };
    let net = Net::open(Path::new(path)).map_err(|error| format!("{path}: {error}"))?;
    let mut out = BufWriter::new(io::stdout().lock());
    if let Some(file) = packed {
        let bytes = std::fs::read(file)?;
        let (positions, rest) = bytes.as_chunks();
        if !rest.is_empty() {
            return Err(format!("{file}: {} bytes are no whole position", rest.len()).into());
        }
        for &position in positions {
            writeln!(out, "{}", line(&net, scale, Ok(Packed::from_bytes(position))))?;
        }
    } else {
        for sfen in io::stdin().lock().lines() {
            let position = Packed::from_sfen(&sfen?).map(|(position, _)| position);
            writeln!(out, "{}", line(&net, scale, position.map_err(|error| error.to_string())))?;
        }
    }
    Ok(out.flush()?)
}

fn line(net: &Net, scale: NonZero<u16>, position: Result<Packed, String>) -> String {
    match position.and_then(|position| net.evaluate(&position).map_err(|fault| fault.to_string())) {
        Ok(output) => format!("{output}\t{}", centipawns(output, scale)),
        Err(reason) => format!("error\t{reason}"),
    }
}
