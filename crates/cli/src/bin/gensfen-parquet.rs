//! `gensfen-parquet`: the verb `manaka corpus` under the name its users know.

fn main() -> std::process::ExitCode {
    manaka::run_verb("corpus")
}
