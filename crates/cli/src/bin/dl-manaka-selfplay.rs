//! `dl-manaka-selfplay`: the verb `manaka selfplay` with the Gumbel search, unless told otherwise.

fn main() -> std::process::ExitCode {
    manaka::run_preset(&["selfplay", "--search", "gumbel"])
}
