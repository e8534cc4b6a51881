//! `manaka-selfplay`: the verb `manaka selfplay` under its own name.

fn main() -> std::process::ExitCode {
    manaka::run_verb("selfplay")
}
