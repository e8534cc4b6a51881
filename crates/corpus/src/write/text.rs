//! Moves as USI text, without an allocation.

use manaka_core::Move16;
use std::sync::LazyLock;

/// The longest text of a move.
const MOVE_LEN: usize = 5;

/// The USI text of every 15-bit value, and its length; what is no move has none.
static MOVES: LazyLock<Vec<([u8; MOVE_LEN], u8)>> = LazyLock::new(|| {
    let mut text = Vec::with_capacity(MOVE_LEN);
    let text_of = |bits| {
        text.clear();
        Move16::from_bits(bits).write_usi(&mut text);
        let mut padded = [0; MOVE_LEN];
        match (padded.get_mut(..text.len()), u8::try_from(text.len())) {
            (Some(room), Ok(len)) if Move16::from_bits(bits).is_well_formed() => {
                room.copy_from_slice(&text);
                (padded, len)
            }
            _ => (padded, 0),
        }
    };
    (0..1 << 15).map(text_of).collect()
});

/// The USI text of a well-formed move, without an allocation; an empty one for other bits.
pub(super) fn move_text(mv: Move16) -> &'static [u8] {
    match MOVES.get(usize::from(mv.bits())) {
        Some((text, len)) => &text[..usize::from(*len)],
        None => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_move_has_its_usi_text() {
        for bits in 0..=u16::MAX {
            let mv = Move16::from_bits(bits);
            let expected = if mv.is_well_formed() { mv.to_string() } else { String::new() };
            assert_eq!(move_text(mv), expected.as_bytes(), "{bits:#06x}");
        }
    }
}
