//! What a `Trail` says is what a `Board` says, its slow twin: about positions, and about every move in them.

mod games;
mod vandalised;

use games::games;
use manaka_core::packed::{BLACK_HAND, EMPTY, SIDE, WHITE_BIT, WHITE_HAND};
use manaka_core::{HandKind, Move16, Packed, PieceKind, Square};
use manaka_shogi::{Board, Trail, Unplayable};
use proptest::prelude::*;
use vandalised::vandalised;

fn position(sfen: &str) -> Packed {
    Packed::from_sfen(sfen).unwrap().0
}

fn at(sfen: &str) -> Trail {
    let mut trail = Trail::default();
    trail.step(&position(sfen)).unwrap();
    trail
}

/// Every move that is well-formed: those from each square to each, promoting or not, and all drops.
fn any_move() -> impl Iterator<Item = Move16> {
    (0..1u16 << 15).map(Move16::from_bits).filter(|mv| mv.is_well_formed())
}

/// Both say the same of every move.
fn agree(trail: &mut Trail, board: &Board) -> Result<(), TestCaseError> {
    let mut legal = Vec::new();
    board.legal_moves(&mut legal);
    let proved: Vec<_> = any_move().filter(|&mv| trail.is_legal(mv)).collect();
    prop_assert_eq!(proved, legal, "{:?}", board);
    prop_assert_eq!(trail.has_legal_move(), board.has_legal_move());
    Ok(())
}

/// Both say the same of a position that is set, and of every move in it.
fn agree_anew(packed: &Packed) -> Result<(), TestCaseError> {
    let mut trail = Trail::default();
    let mut board = Board::start();
    let (ours, theirs) = (trail.step(packed), board.set(packed, 0));
    prop_assert_eq!(&ours, &theirs);
    if ours.is_ok() {
        agree(&mut trail, &board)?;
    } else {
        prop_assert!(!any_move().any(|mv| trail.is_legal(mv)) && !trail.has_legal_move());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    #[test]
    fn along_a_game_exactly_the_legal_moves_are_proved(game in games(90), every in 2usize..6) {
        let (mut followed, mut number) = (Trail::default(), 0);
        let mut last: Option<Packed> = None;
        game.walk(|board| {
            let packed = board.to_packed();
            // Positions left out now and then, so that some are set and some reached by their move.
            number += 1;
            if let Some(last) = last.take() {
                let mv = any_move().find(|&mv| followed.is_legal(mv) && last.after(mv) == Some(packed));
                followed.played(mv.unwrap_or(Move16::from_bits(0)));
            }
            if number % every == 0 {
                return Ok(());
            }
            followed.step(&packed).unwrap();
            last = Some(packed);
            agree(&mut followed, board)
        })?;
    }

    #[test]
    fn the_gate_and_the_moves_behind_it_are_those_of_a_board(packed in vandalised()) {
        agree_anew(&packed)?;
    }
}

/// Pieces thrown on the board, kings included: crowded boards with pins, double checks and few moves.
fn thrown() -> impl Strategy<Value = Packed> {
    let piece = (0..81usize, 1..PieceKind::COUNT as u8, prop::bool::ANY);
    let pieces = prop::collection::vec(piece, 0..38);
    (0..81usize, 0..81usize, pieces, 0..2u8, prop::collection::vec(0..3u8, 14)).prop_map(
        |(black, white, pieces, side, hands)| {
            let mut packed = Packed::empty();
            let bytes = packed.as_bytes_mut();
            for (square, kind, is_white) in pieces {
                bytes[square] = kind | if is_white { WHITE_BIT } else { 0 };
            }
            bytes[black] = PieceKind::King as u8;
            bytes[white] = PieceKind::King as u8 | WHITE_BIT;
            bytes[BLACK_HAND.start..WHITE_HAND.end].copy_from_slice(&hands);
            bytes[SIDE] = side;
            // What is too many or stands where it cannot, goes, one by one.
            for square in (0..81).rev() {
                let byte = packed.as_bytes()[square];
                let king = byte & !WHITE_BIT == PieceKind::King as u8;
                if packed.faults().is_empty() || king {
                    continue;
                }
                packed.as_bytes_mut()[square] = EMPTY;
            }
            packed
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn on_crowded_boards_exactly_the_legal_moves_are_proved(packed in thrown()) {
        agree_anew(&packed)?;
    }
}

/// Moves that a slip would take for legal or illegal, judged by hand.
#[test]
fn known_moves_are_legal_or_not() {
    let cases = [
        // A pinned piece moves along the line, takes who pins it, and does not leave the line.
        ("4r3k/9/9/9/4R4/9/9/9/4K4 b - 1", "5e5b", true),
        ("4r3k/9/9/9/4R4/9/9/9/4K4 b - 1", "5e5a+", true),
        ("4r3k/9/9/9/4R4/9/9/9/4K4 b - 1", "5e4e", false),
        // The king does not hide behind itself, and does not step beside the other one.
        ("4r3k/9/9/9/9/9/9/4K4/9 b - 1", "5h5i", false),
        ("4r3k/9/9/9/9/9/9/4K4/9 b - 1", "5h4i", true),
        ("9/9/9/9/4k4/9/4K4/9/9 b - 1", "5g5f", false),
        // A check is answered by taking, by what is put in between, or by the king; a double one by the king alone.
        ("4r3k/9/9/9/9/9/9/9/4K4 b P 1", "P*5e", true),
        ("4r3k/9/9/9/9/9/9/9/4K4 b P 1", "P*4e", false),
        ("4r3k/9/9/9/9/9/3n5/9/4K4 b G 1", "G*5h", false),
        ("4r3k/9/9/9/9/9/3n5/9/4K4 b G 1", "5i4h", true),
        ("8k/9/9/9/9/9/3n5/9/4KB3 b - 1", "4i6g", true),
        ("8k/9/9/9/9/9/3n5/9/3BK4 b - 1", "6i7h", false),
        // Two pawns on a file; a promoted one does not count.
        ("8k/9/9/9/4P4/9/9/9/4K4 b P 1", "P*5d", false),
        ("8k/9/9/9/4+P4/9/9/9/4K4 b P 1", "P*5d", true),
        // Where a piece could not move again.
        ("8k/9/9/9/9/9/9/9/4K4 b N 1", "N*5b", false),
        ("8k/9/9/9/9/9/9/9/4K4 b N 1", "N*5c", true),
        ("8k/4L4/9/9/9/9/9/9/4K4 b - 1", "5b5a", false),
        ("8k/4L4/9/9/9/9/9/9/4K4 b - 1", "5b5a+", true),
        ("4k4/9/9/9/9/9/4n4/9/8K w - 1", "5g4i", false),
        ("4k4/9/9/9/9/9/4n4/9/8K w - 1", "5g4i+", true),
        // Out of the zone, and what cannot promote.
        ("8k/9/4R4/9/9/9/9/9/4K4 b - 1", "5c5i+", false),
        ("8k/9/4R4/9/9/9/9/9/4K4 b - 1", "5c5h+", true),
        ("8k/9/4G4/9/9/9/9/9/4K4 b - 1", "5c5b+", false),
        // A pawn drop that mates; one that the king takes, one that a rook takes, one that it walks away from.
        ("7nk/7p1/7G1/9/9/9/9/9/4K4 b P 1", "P*1b", false),
        ("7nk/7p1/9/9/9/9/9/9/4K4 b P 1", "P*1b", true),
        ("6snk/7p1/7G1/9/9/9/9/9/4K4 b P 1", "P*1b", false),
        ("7nk/7p1/7G1/9/9/9/9/4K4/8r b P 1", "P*1b", true),
        ("8k/7p1/7G1/9/9/9/9/9/4K4 b P 1", "P*1b", true),
        // The taker is pinned.
        ("7gk/7p1/7G1/9/9/9/9/9/4K4 b P 1", "P*1b", true),
        ("R6gk/7p1/7G1/9/9/9/9/9/4K4 b P 1", "P*1b", false),
        // A pawn that moves may mate.
        ("7nk/7p1/7GP/9/9/9/9/9/4K4 b - 1", "1c1b", true),
    ];
    for (sfen, usi, legal) in cases {
        let mv = Move16::from_usi(usi).unwrap();
        assert_eq!(
            Board::from_packed(&position(sfen), 1).unwrap().is_legal(mv),
            legal,
            "board: {sfen} {usi}"
        );
        assert_eq!(at(sfen).is_legal(mv), legal, "{sfen} {usi}");
    }
}

#[test]
fn bits_that_are_no_move_are_never_legal() {
    let trail = at(manaka_core::sfen::STARTPOS);
    for mv in (0..=u16::MAX).map(Move16::from_bits) {
        assert!(mv.is_well_formed() || !trail.is_legal(mv));
        assert!(mv.from_square().is_none() || mv.from_square() != mv.to_square() || !trail.is_legal(mv));
    }
    let drop = Move16::drop(HandKind::Pawn, Square::new(40).unwrap());
    assert!(!trail.is_legal(drop));
}

#[test]
fn without_a_position_nothing_is_legal() {
    let mv = Move16::from_usi("7g7f").unwrap();
    let mut trail = Trail::default();
    assert!(!trail.is_legal(mv) && !trail.has_legal_move());
    trail.step(&position(manaka_core::sfen::STARTPOS)).unwrap();
    assert!(trail.is_legal(mv) && trail.has_legal_move());
    let refused = trail.step(&position("4k4/4R4/9/9/9/9/9/9/4K4 b - 1"));
    assert_eq!(refused, Err(Unplayable::OpponentInCheck));
    assert!(!trail.is_legal(mv) && !trail.has_legal_move());
}
