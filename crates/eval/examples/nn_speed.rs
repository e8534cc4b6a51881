//! What an evaluation costs: `nn_speed NN.BIN PACKED`, 96 bytes a position, one behind the other.
//!
//! Prints nanoseconds a position: from nothing, and by the accumulators of a random walk of one ply at a time.
// A command that prints.
#![allow(clippy::print_stdout, reason = "its answer")]

use manaka_core::Packed;
use manaka_eval::{Evaluator, Net};
use manaka_shogi::Board;
use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [net, positions] = args.as_slice() else { return Err("usage: nn_speed NN.BIN PACKED".into()) };
    let net = Net::open(Path::new(net))?;
    let bytes = std::fs::read(positions)?;
    let positions: Vec<Packed> = bytes.as_chunks().0.iter().map(|&bytes| Packed::from_bytes(bytes)).collect();
    let first = positions.first().ok_or("no positions")?;

    let begun = Instant::now();
    for position in &positions {
        black_box(net.evaluate(position)?);
    }
    let nothing = begun.elapsed().as_nanos() / positions.len() as u128;

    // Every legal move of each position: what a search asks for.
    let (mut nodes, mut spent, mut moves) = (0u128, 0, Vec::new());
    let mut evaluator = Evaluator::new(&net, first)?;
    for position in positions.iter().take(2000) {
        Board::from_packed(position, 1)?.legal_moves(&mut moves);
        evaluator.set(position)?;
        let begun = Instant::now();
        for &mv in &moves {
            evaluator.play(mv);
            black_box(evaluator.output());
            evaluator.undo();
        }
        spent += begun.elapsed().as_nanos();
        nodes += moves.len() as u128;
    }
    println!("from nothing {nothing} ns, a move on {} ns ({nodes} moves)", spent / nodes.max(1));
    Ok(())
}
