//! How fast the network that comes with Manaka is evaluated and trained: leaves and samples a second of processor time,
//! on positions of random games.
#![allow(clippy::print_stdout, reason = "a tool of the benchmarks")]

use anyhow::{Context, Result, ensure};
use clap::Parser;
use manaka_core::{Move16, Packed};
use manaka_kp::train::{Options, Samples, train};
use manaka_kp::{Code, Net, Scratch};
use manaka_load::features::{View, label};
use manaka_shogi::Board;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::num::NonZeroUsize;

/// Time evaluation and training of kp256.
#[derive(Parser)]
struct Args {
    /// Games of up to 150 plies.
    #[arg(long, default_value_t = 40)]
    games: usize,
    /// Passes over them in each run.
    #[arg(long, default_value_t = 100)]
    passes: usize,
    /// Runs of each case, in turns; the best is shown.
    #[arg(long, default_value_t = 5)]
    repeat: u32,
    /// Threads that train.
    #[arg(long, default_value = "1")]
    threads: NonZeroUsize,
}

/// A position with all its legal moves and the one that was played.
struct Leaf {
    position: Packed,
    moves: Vec<Move16>,
    played: Move16,
}

/// Games of random moves.
fn games(count: usize) -> Result<Vec<Vec<Leaf>>> {
    let mut draws = ChaCha8Rng::seed_from_u64(1);
    let mut games = Vec::new();
    for _ in 0..count {
        let mut board = Board::start();
        let mut game = Vec::new();
        while game.len() < 150 {
            let mut moves = Vec::new();
            board.legal_moves(&mut moves);
            if moves.is_empty() {
                break;
            }
            let played = moves[usize::try_from(draws.next_u32())? % moves.len()];
            game.push(Leaf { position: board.to_packed(), moves, played });
            board.play(played)?;
        }
        games.push(game);
    }
    Ok(games)
}

/// Seconds of processor time that this process has taken, in hundredths, threads that ended included.
fn processor_time() -> Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    // Behind the name in brackets come the third field and those after it; the times are the 14th and the 15th.
    let (_, fields) = stat.rsplit_once(") ").context("/proc/self/stat")?;
    let ticks: u32 = fields.split(' ').skip(11).take(2).map(|field| field.parse().unwrap_or(0)).sum();
    Ok(f64::from(ticks) / 100.0)
}

/// How many `work` says it did, a second of processor time.
fn rate(work: impl FnOnce() -> Result<usize>) -> Result<f64> {
    let before = processor_time()?;
    let count = u32::try_from(work()?)?;
    Ok(f64::from(count) / (processor_time()? - before))
}

/// Evaluates every leaf; returns how many there were, and the sum of all integers.
fn evaluate(args: &Args, games: &[Vec<Leaf>], scratch: &mut Scratch) -> Result<(usize, i64)> {
    let net = Net::embedded();
    let (mut leaves, mut sum, mut logits) = (0, 0, vec![0.0; 600]);
    for _ in 0..args.passes {
        for leaf in games.iter().flatten() {
            net.evaluate(scratch, &leaf.position, &leaf.moves, &mut logits[..leaf.moves.len()])?;
            let (value, logits) = scratch.integers();
            sum += i64::from(value) + logits.iter().copied().map(i64::from).sum::<i64>();
            leaves += 1;
        }
    }
    Ok((leaves, sum))
}

/// Plays the games, and generates the moves of every position and evaluates it.
fn play(args: &Args, games: &[Vec<Leaf>], scratch: &mut Scratch) -> Result<(usize, i64)> {
    let net = Net::embedded();
    let (mut leaves, mut sum, mut logits, mut moves) = (0, 0, vec![0.0; 600], Vec::new());
    let mut board = Board::start();
    for _ in 0..args.passes {
        for game in games {
            for leaf in game {
                board.legal_moves(&mut moves);
                net.evaluate(scratch, &board.to_packed(), &moves, &mut logits[..moves.len()])?;
                let (value, logits) = scratch.integers();
                sum += i64::from(value) + logits.iter().copied().map(i64::from).sum::<i64>();
                leaves += 1;
                board.play(leaf.played)?;
            }
            while board.undo() {}
        }
    }
    Ok((leaves, sum))
}

fn learn(args: &Args, samples: &Samples, validation: &Samples) -> Result<f64> {
    let options = Options { epochs: 4, threads: args.threads, ..Options::default() };
    rate(|| {
        train(samples, validation, &options, &())?;
        Ok(4 * samples.len())
    })
}

fn main() -> Result<()> {
    let args = Args::parse();
    let games = games(args.games)?;
    let leaves = games.iter().flatten().count();
    let moves: usize = games.iter().flatten().map(|leaf| leaf.moves.len()).sum();
    println!("{leaves} positions of random games, {} legal moves each", moves / leaves);
    let (mut samples, mut board) = (Samples::new(), Board::start());
    for leaf in games.iter().flatten() {
        let best = label(leaf.played, View::of(leaf.position.side())).context("a move without a label")?;
        samples.push(&mut board, &leaf.position, [0.0, 1.0], [(best, 1.0)])?;
    }
    let mut few = Samples::new();
    let start =
        [(label(games[0][0].played, View::of(games[0][0].position.side())).context("no label")?, 1.0)];
    few.push(&mut board, &games[0][0].position, [0.0, 1.0], start)?;

    let codes: Vec<_> =
        [Code::Avx2, Code::Scalar].into_iter().filter(|&code| Scratch::with(code).is_some()).collect();
    let mut best = vec![[0.0f64; 2]; codes.len()];
    let mut best_learn = 0.0f64;
    let mut expected = None;
    for _ in 0..args.repeat {
        for (best, &code) in best.iter_mut().zip(&codes) {
            let mut scratch = Scratch::with(code).context("no such code")?;
            for (best, work) in best.iter_mut().zip([evaluate, play]) {
                let found = rate(|| {
                    let (leaves, sum) = work(&args, &games, &mut scratch)?;
                    ensure!(*expected.get_or_insert(sum) == sum, "{code:?} gives other integers");
                    Ok(leaves)
                })?;
                *best = best.max(found);
            }
        }
        best_learn = best_learn.max(learn(&args, &samples, &few)?);
    }
    for (code, [evaluated, played]) in codes.iter().zip(best) {
        println!(
            "{code:?}: {evaluated:.0} leaves a core-second, {:.2} us each; {played:.0} with moves played and generated, {:.2} us",
            1e6 / evaluated,
            1e6 / played
        );
    }
    println!("training: {best_learn:.0} samples a core-second");
    Ok(())
}
