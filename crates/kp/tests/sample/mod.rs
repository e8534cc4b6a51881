//! Networks of noise, and positions of random games with their legal moves.
#![allow(dead_code, reason = "each test uses its part")]

#[path = "../../../core/tests/draws/mod.rs"]
mod draws;

pub use draws::Draw;
use manaka_core::{Move16, Packed};
use manaka_kp::{Net, Tensors};
use manaka_shogi::Board;
use std::sync::LazyLock;

/// A network of noise whose activations have all sizes and whose outputs have both signs.
pub fn noise(seed: u64) -> Tensors {
    wide(seed, [40, 12])
}

/// A network of noise with weights of the first and the hidden layer up to these bounds.
pub fn wide(seed: u64, [first, hidden]: [i64; 2]) -> Tensors {
    let mut draw = Draw(seed);
    let mut net = Tensors::zeros();
    net.feature_biases.0.fill_with(|| i16::try_from(draw.around(100)).unwrap());
    for row in net.feature_weights.iter_mut() {
        row.0.fill_with(|| i16::try_from(draw.around(first)).unwrap());
    }
    net.hidden_biases.fill_with(|| i32::try_from(draw.around(4000)).unwrap());
    for row in net.hidden_weights.iter_mut() {
        row.0.fill_with(|| i8::try_from(draw.around(hidden)).unwrap());
    }
    let mut small = || i8::try_from(draw.around(127)).unwrap();
    net.value_weights.fill_with(&mut small);
    net.policy_weights.iter_mut().for_each(|row| row.0.fill_with(&mut small));
    net.value_bias = i32::try_from(draw.around(4000)).unwrap();
    net.policy_biases.fill_with(|| i32::try_from(draw.around(4000)).unwrap());
    net
}

pub static NOISE: LazyLock<Net> = LazyLock::new(|| Net::new(noise(5)));

/// Positions of a random game, each with all its legal moves.
pub fn game(seed: u64, plies: usize) -> Vec<(Packed, Vec<Move16>)> {
    let mut draw = Draw(seed);
    let mut board = Board::start();
    let mut positions = Vec::new();
    while positions.len() < plies {
        let mut legal = Vec::new();
        board.legal_moves(&mut legal);
        if legal.is_empty() {
            break;
        }
        let mv = legal[draw.below(legal.len())];
        positions.push((board.to_packed(), legal));
        board.play(mv).unwrap();
    }
    positions
}

/// The position with colours exchanged, which its mover sees as it saw the other.
pub fn turned(position: &Packed) -> Packed {
    let bytes = position.as_bytes();
    let mut out = *bytes;
    for square in 0..81 {
        let byte = bytes[80 - square];
        out[square] = if byte == 0xFF { byte } else { byte ^ 0x10 };
    }
    out[81..88].copy_from_slice(&bytes[88..95]);
    out[88..95].copy_from_slice(&bytes[81..88]);
    out[95] ^= 1;
    Packed::from_bytes(out)
}

/// The move that [`turned`] makes of one.
pub fn turned_move(mv: Move16) -> Move16 {
    let to = 80 - (mv.bits() & 127);
    let from = mv.bits() >> 7 & 127;
    let from = if from < 81 { 80 - from } else { from };
    Move16::from_bits(mv.bits() & 1 << 14 | from << 7 | to)
}
