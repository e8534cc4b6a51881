//! `manaka-teacher`: the verb `manaka teacher` under its own name.

fn main() -> std::process::ExitCode {
    manaka::run_verb("teacher")
}
