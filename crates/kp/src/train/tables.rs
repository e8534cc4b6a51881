//! What an input or a label becomes when the other side looks, and in the mirror. The numbers are features.md's: the
//! tables ask `manaka_load` about every piece and every move.

use crate::tensors::filled;
use manaka_core::{Color, HandKind, Move16, PieceKind, Square};
use manaka_load::features::{KP_INPUTS, LABELS, P_INPUTS, View, label, p_in_hand, p_on_board};
use std::sync::LazyLock;

/// By input of KP or by label.
pub struct Tables {
    /// The same piece for the other viewer.
    pub turned: Box<[u16; KP_INPUTS]>,
    /// The same piece with left and right exchanged.
    pub mirrored: Box<[u16; KP_INPUTS]>,
    /// The same move with left and right exchanged.
    pub mirrored_label: Box<[u16; LABELS]>,
}

pub static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let mut tables = Tables { turned: filled(0), mirrored: filled(0), mirrored_label: filled(0) };
    let viewer = Color::Black;
    let mut enter = |from: Option<i32>, turned: Option<i32>, mirrored: Option<i32>| {
        let index = |number: Option<i32>| number.and_then(|number| u16::try_from(number).ok());
        if let (Some(from), Some(turned), Some(mirrored)) = (index(from), index(turned), index(mirrored)) {
            tables.turned[usize::from(from)] = turned;
            tables.mirrored[usize::from(from)] = mirrored;
        }
    };
    let mirror = |square: Square| Square::at(10 - square.file(), square.rank()).unwrap_or(square);
    for owner in Color::ALL {
        for square in Square::all() {
            for kind in PieceKind::ALL {
                let seen = |viewer, square| {
                    p_on_board(viewer, square, owner, kind).or_else(|| king(viewer, square, owner))
                };
                enter(seen(viewer, square), seen(viewer.flip(), square), seen(viewer, mirror(square)));
            }
        }
        for kind in HandKind::ALL {
            for nth in 0..kind.full_set() {
                let seen = |viewer| p_in_hand(viewer, owner, kind, nth);
                enter(seen(viewer), seen(viewer.flip()), seen(viewer));
            }
        }
    }
    let view = View::of(viewer);
    let mut pair = |mv: Move16| {
        if let (Some(from), Some(to)) = (label(mv, view), label(mv, view.mirrored(true))) {
            tables.mirrored_label[usize::from(from)] = to;
        }
    };
    for to in Square::all() {
        for from in Square::all() {
            pair(Move16::board(from, to, false));
            pair(Move16::board(from, to, true));
        }
        HandKind::ALL.into_iter().for_each(|kind| pair(Move16::drop(kind, to)));
    }
    tables
});

/// The input of a king (features.md §5).
fn king(viewer: Color, square: Square, owner: Color) -> Option<i32> {
    let base = if owner == viewer { P_INPUTS } else { P_INPUTS + Square::COUNT };
    i32::try_from(base + usize::from(View::of(viewer).squares()[square.index()])).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use manaka_core::Packed;
    use manaka_load::features::{Board, KP_WIDTH, kp};

    #[test]
    fn tables_say_what_the_features_say() {
        for sfen in [
            "4k4/9/9/9/9/9/2P6/9/4K4 b L 1",
            "ln1g3nl/1r2gks2/p1pppp1pp/6p2/1p7/2PP2P2/PPS1PP2P/1BG1KG1R1/LN4SNL w Bp 1",
            "9/1+P+P1k4/2+B3+S2/3+N5/5+L3/4+n4/3+r5/K8/9 b R2GSN2L8Pb2g2sn8p 1",
        ] {
            let position = Packed::from_sfen(sfen).unwrap().0;
            let board = Board::new(position.as_bytes()).unwrap();
            let view = View::of(board.mover());
            let lists = |view| {
                let (mut own, mut other) = ([0; KP_WIDTH], [0; KP_WIDTH]);
                kp(&board, view, &mut own, &mut other);
                let numbers = |list: [i32; KP_WIDTH]| -> Vec<u16> {
                    list.into_iter().filter_map(|row| u16::try_from(row).ok()).collect()
                };
                [numbers(own), numbers(other)]
            };
            let [own, other] = lists(view);
            let mirrored = lists(view.mirrored(true));
            let with = |table: &[u16; KP_INPUTS]| -> Vec<u16> {
                let mut list: Vec<u16> = own.iter().map(|&row| table[usize::from(row)]).collect();
                list.sort_unstable();
                list
            };
            let sorted = |mut list: Vec<u16>| {
                list.sort_unstable();
                list
            };
            assert_eq!(with(&TABLES.turned), sorted(other));
            assert_eq!(with(&TABLES.mirrored), sorted(mirrored[0].clone()));
        }
        // 7g7f goes up to 59; mirrored, 3g3f to 2 · 9 + 5. A knight's jump to the left becomes one to the right.
        assert_eq!(TABLES.mirrored_label[59], 23);
        assert_eq!(TABLES.mirrored_label[8 * 81 + 40], 9 * 81 + 40);
        assert_eq!(TABLES.mirrored_label[26 * 81], 26 * 81 + 72);
    }
}
