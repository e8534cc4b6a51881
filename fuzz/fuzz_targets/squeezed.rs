//! Any 96 bytes come back from the form in which a fold holds them, and any bytes are read as such a form without a panic.
#![no_main]

#[path = "../../crates/pack/src/squeezed.rs"]
#[allow(dead_code, reason = "the fold uses the rest")]
mod squeezed;

use libfuzzer_sys::fuzz_target;
use manaka_core::Packed;
use manaka_core::packed::{BOARD, EMPTY};
use squeezed::{Position, ROOM, squeeze};

fuzz_target!(|data: &[u8]| {
    let Some((bytes, rest)) = data.split_first_chunk::<96>() else { return };
    comes_back(bytes);
    // The same with what a board may hold: bytes as they come are hardly ever all of that.
    let mut board = *bytes;
    for byte in &mut board[BOARD] {
        *byte = if *byte < 0x80 { *byte & 0x1F } else { EMPTY };
    }
    for byte in &mut board[BOARD.end..] {
        *byte &= 1;
    }
    comes_back(&board);
    if let Some(position) = Position::read(rest) {
        position.packed();
        position.mover();
    }
});

fn comes_back(packed: &[u8; 96]) {
    let mut room = [0x5A; ROOM];
    let len = squeeze(packed, &mut room);
    // With and without bytes behind it, which choose between two ways to read.
    for bytes in [&room[..], &room[..len]] {
        let position = Position::read(bytes).unwrap();
        assert_eq!((position.packed(), position.bytes().len()), (*packed, len));
        assert_eq!(position.mover(), Packed::from_bytes(*packed).side());
    }
}
