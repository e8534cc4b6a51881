//! The faults of any 96 bytes are those of the slow twin, what an SFEN can hold survives it, and the scan that features
//! are made from sees the same pieces.
#![no_main]

#[path = "../../crates/load/src/features/board.rs"]
#[allow(dead_code, reason = "features use the rest")]
mod board;
#[path = "../../crates/core/tests/naive/mod.rs"]
mod naive;

use board::{Board, PositionFault};
use libfuzzer_sys::fuzz_target;
use manaka_core::sfen::Sfen;
use manaka_core::{Fault, Faults, Move16, Packed, Square};

fuzz_target!(|data: &[u8]| {
    let Some((bytes, rest)) = data.split_first_chunk::<96>() else { return };
    let packed = Packed::from_bytes(*bytes);
    let faults = packed.faults();
    assert_eq!(faults, Faults::from_iter(naive::faults(&packed)));
    let text = packed.sfen(None).to_string();
    if faults.contains(Fault::BoardByte) || faults.contains(Fault::SideByte) {
        assert!(!faults.contains(Fault::BoardByte) || Sfen::parse(&text).is_err(), "{text}");
    } else {
        assert_eq!(Sfen::parse(&text), Ok(Sfen { packed, ply: None }), "{text}");
    }
    let scanned = Board::new(bytes);
    assert_eq!(scanned.as_ref().err() == Some(&PositionFault::BoardByte), faults.contains(Fault::BoardByte));
    if let Ok(board) = scanned {
        let mut seen = Vec::new();
        board.pieces(|square, byte| seen.push((square, byte)));
        let there = Square::all().filter(|&square| packed.piece(square).is_some());
        let there: Vec<_> = there.map(|square| (square.index(), bytes[square.index()])).collect();
        assert_eq!(seen, there);
        assert_eq!(board.mover(), packed.side());
    }
    for bits in rest.chunks_exact(2) {
        let mv = Move16::from_bits(u16::from_le_bytes([bits[0], bits[1]]));
        // A move that stays where it is is well-formed by its bits; as text it is none.
        let moves = mv.is_well_formed() && mv.from_square() != mv.to_square();
        assert_eq!(Move16::from_usi(&mv.to_string()), moves.then_some(mv));
    }
});
