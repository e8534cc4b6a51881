//! A run in a process of its own, to be killed. A program of the tests.
//!
//! `gensfen-run OUT GAMES WORKERS ENGINE [ARGS…]`; resumes what it finds, and prints the number of games at the end.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a test")]

use manaka_gensfen::{EngineCommand, Options, run};

fn main() {
    let mut args = std::env::args().skip(1);
    let mut next = || args.next().unwrap();
    let (out, games, workers, program) = (next(), next(), next(), next());
    let mut options = Options::new(EngineCommand { program, args: args.collect() }, games.parse().unwrap());
    options.workers = workers.parse().unwrap();
    options.sync_games = 3.try_into().unwrap();
    options.play.max_ply = 40;
    options.play.random_move = 0.05;
    options.resume = true;
    let report = run(&options, out.as_ref(), &()).unwrap();
    println!("{}", report.totals.games + report.totals.dropped);
}
