//! `manaka-pack`: the verb `manaka pack` under its own name.

fn main() -> std::process::ExitCode {
    manaka::run_verb("pack")
}
