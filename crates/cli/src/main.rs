//! `manaka`: training data for shogi engines.

fn main() -> std::process::ExitCode {
    manaka::run()
}
