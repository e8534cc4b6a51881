//! Positions that no game leads to, sound and unsound.

use crate::games::games;
use manaka_core::packed::{BLACK_HAND, BOARD, EMPTY, SIDE, WHITE_BIT, WHITE_HAND};
use manaka_core::{Packed, PieceKind};
use proptest::prelude::*;

/// A position with the other side to move.
pub fn passed(packed: &Packed) -> Packed {
    let mut packed = *packed;
    packed.as_bytes_mut()[SIDE] ^= 1;
    packed
}

/// One of the positions of a game with a few bytes changed, most of them to something a position can hold.
pub fn vandalised() -> impl Strategy<Value = Packed> {
    let square = (
        BOARD,
        prop_oneof![
            3 => Just(EMPTY),
            6 => (0..PieceKind::COUNT as u8, prop::bool::ANY).prop_map(|(kind, white)| kind | if white { WHITE_BIT } else { 0 }),
        ],
    );
    let hand = (BLACK_HAND.start..WHITE_HAND.end, prop_oneof![4 => 0..4u8, 1 => 0..40u8, 1 => any::<u8>()]);
    let bytes = prop::collection::vec(prop_oneof![4 => square, 1 => hand], 0..6);
    (games(60), bytes, prop::bool::ANY).prop_map(|(game, bytes, pass)| {
        let mut last = Packed::empty();
        game.walk(|board| {
            last = board.to_packed();
            Ok(())
        })
        .unwrap();
        for (at, byte) in bytes {
            last.as_bytes_mut()[at] = byte;
        }
        if pass {
            last = passed(&last);
        }
        last
    })
}
