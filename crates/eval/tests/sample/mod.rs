//! A network of noise, and random games.
#![allow(dead_code, reason = "each test uses its part")]

#[path = "../../../core/tests/draws/mod.rs"]
mod draws;

pub use draws::Draw;
use manaka_core::{Move16, Packed};
use manaka_eval::Net;
use manaka_shogi::Board;
use std::sync::LazyLock;

/// A network of noise: activations of all sizes, outputs of both signs.
pub static NOISE: LazyLock<Net> = LazyLock::new(|| {
    let mut draw = Draw(5);
    let mut net = Net::zeros();
    net.feature_biases.fill_with(|| i16::try_from(draw.around(100)).unwrap());
    for row in net.feature_weights_mut() {
        // Four numbers by one draw: there are 32 million.
        for four in row.as_chunks_mut::<4>().0 {
            let bits = draw.next().to_le_bytes();
            *four = [0, 2, 4, 6].map(|at| i16::from_le_bytes([bits[at], bits[at + 1]]) % 40);
        }
    }
    let mut small = |bound| i8::try_from(draw.around(bound)).unwrap();
    net.hidden1.weights.as_flattened_mut().fill_with(|| small(12));
    net.hidden2.weights.as_flattened_mut().fill_with(|| small(60));
    net.output.weights.as_flattened_mut().fill_with(|| small(127));
    net.hidden1.biases.fill_with(|| i32::try_from(draw.around(4000)).unwrap());
    net.hidden2.biases.fill_with(|| i32::try_from(draw.around(4000)).unwrap());
    net.output.biases.fill_with(|| i32::try_from(draw.around(4000)).unwrap());
    net
});

/// Positions of a random game and the moves between them.
pub fn game(seed: u64, plies: usize) -> (Vec<Packed>, Vec<Move16>) {
    let mut draw = Draw(seed);
    let mut board = Board::start();
    let (mut positions, mut moves, mut legal) = (vec![board.to_packed()], Vec::new(), Vec::new());
    while moves.len() < plies {
        board.legal_moves(&mut legal);
        if legal.is_empty() {
            break;
        }
        let mv = legal[draw.below(legal.len())];
        board.play(mv).unwrap();
        moves.push(mv);
        positions.push(board.to_packed());
    }
    (positions, moves)
}
