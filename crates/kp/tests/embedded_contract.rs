//! What the network in the binary knows at least; another one must know as much.

use manaka_core::sfen::STARTPOS;
use manaka_core::{Move16, Packed};
use manaka_kp::{Net, Scratch};
use manaka_shogi::Board;

/// The value, and the legal moves by falling logit.
fn asked(sfen: &str) -> (f32, Vec<String>) {
    let position = Packed::from_sfen(sfen).unwrap().0;
    let mut moves: Vec<Move16> = Vec::new();
    Board::from_packed(&position, 1).unwrap().legal_moves(&mut moves);
    let mut logits = vec![0.0; moves.len()];
    let value = Net::embedded().evaluate(&mut Scratch::new(), &position, &moves, &mut logits).unwrap();
    let mut order: Vec<usize> = (0..moves.len()).collect();
    order.sort_by(|&a, &b| logits[b].total_cmp(&logits[a]));
    (value, order.into_iter().map(|at| moves[at].to_string()).collect())
}

#[test]
fn the_beginning_is_even_and_opened_as_people_do() {
    let (value, order) = asked(STARTPOS);
    assert!(value.abs() < 0.15, "{value}");
    assert!(order[..5].iter().any(|mv| mv == "7g7f" || mv == "2g2f"), "{order:?}");
}

#[test]
fn a_rook_more_is_better_for_whoever_has_it() {
    // The initial position without a rook of White's, then of Black's.
    let (ahead, _) = asked("lnsgkgsnl/7b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b R 1");
    let (behind, _) = asked("lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B7/LNSGKGSNL b r 1");
    assert!(ahead > 0.2 && behind < -0.2, "{ahead} {behind}");
}

#[test]
fn a_rook_that_can_be_taken_is_taken() {
    // White's rook stands in front of Black's pawn.
    let (_, order) = asked("lnsgkgsnl/7b1/pppp1pppp/9/4p4/r8/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1");
    assert_eq!(order[0], "9g9f", "{order:?}");
}
