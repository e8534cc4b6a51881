//! Networks of noise, and positions of random games with their legal moves.
#![allow(dead_code, reason = "each test uses its part")]

use manaka_core::{Move16, Packed};
use manaka_kp::{Net, Tensors};
use manaka_shogi::Board;
use std::sync::LazyLock;

/// splitmix64.
pub struct Draw(pub u64);

impl Draw {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    /// Below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap()
    }

    /// From `-bound` to `bound`.
    pub fn around(&mut self, bound: i64) -> i64 {
        i64::try_from(self.next() % (2 * bound as u64 + 1)).unwrap() - bound
    }
}

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
