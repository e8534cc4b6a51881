//! Runs files of cases in the schema of `tests/data/mctx_cases.json`: `mctx_cases FILE…`. Prints what comes of each
//! case as a line of JSON, and at the end how many agree with the file; exits with 1 when one does not.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::panic,
    missing_docs,
    reason = "an example prints"
)]

#[path = "../tests/table/mod.rs"]
mod table;

use std::process::ExitCode;
use table::cases::Cases;

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let (mut all, mut wrong) = (0, 0);
    for path in std::env::args_os().skip(1) {
        let file: Cases = serde_json::from_slice(&std::fs::read(&path)?)?;
        for case in &file.cases {
            let found = case.run(file.states);
            println!("{}", serde_json::to_string(&found)?);
            all += 1;
            wrong += usize::from(!found.differences.is_empty());
        }
    }
    eprintln!("{} of {all} cases agree", all - wrong);
    Ok(if wrong == 0 && all > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
