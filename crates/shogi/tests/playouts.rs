//! Properties that hold in every position of random games.

mod games;
mod vandalised;

use games::{STARTS, games};
use manaka_core::{HandKind, Move16, Packed};
use manaka_shogi::{Board, Unplayable};
use proptest::prelude::*;
use rsshogi::board::{Position, position_from_sfen};
use vandalised::{passed, vandalised};

fn legal(board: &Board) -> Vec<Move16> {
    let mut moves = Vec::new();
    board.legal_moves(&mut moves);
    moves
}

/// The library's own position, reached by way of text rather than through our tables.
fn by_text(packed: &Packed) -> Option<Position> {
    position_from_sfen(&packed.sfen(Some(1)).to_string()).ok()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn a_position_survives_the_way_into_a_board_and_out(game in games(120)) {
        let mut fresh = Board::start();
        game.walk(|board| {
            let packed = board.to_packed();
            prop_assert!(packed.faults().is_empty());
            fresh.set(&packed, board.ply()).unwrap();
            prop_assert_eq!(fresh.to_packed(), packed);
            prop_assert_eq!((fresh.ply(), fresh.side()), (board.ply(), packed.side()));
            // What the library keeps up to date move by move is what it computes afresh.
            prop_assert_eq!(fresh.in_check(), board.in_check());
            prop_assert_eq!(fresh.can_declare(), board.can_declare());
            prop_assert_eq!(legal(&fresh), legal(board));
            Ok(())
        })?;
    }

    #[test]
    fn legality_of_any_bits_is_membership_among_the_legal_moves(
        game in games(60),
        bits in prop::collection::vec(any::<u16>(), 200),
    ) {
        game.walk(|board| {
            let moves = legal(board);
            prop_assert!(moves.is_sorted_by(|a, b| a.bits() < b.bits()));
            prop_assert_eq!(board.legal_count(), moves.len());
            prop_assert_eq!(board.has_legal_move(), !moves.is_empty());
            prop_assert_eq!(board.is_mated(), moves.is_empty());
            for mv in bits.iter().copied().map(Move16::from_bits) {
                prop_assert_eq!(board.is_legal(mv), moves.binary_search(&mv).is_ok(), "{}", mv);
            }
            for &mv in &moves {
                // The same move with one bit wrong.
                for bit in 0..16 {
                    let near = Move16::from_bits(mv.bits() ^ 1 << bit);
                    prop_assert_eq!(board.is_legal(near), moves.binary_search(&near).is_ok(), "{}", near);
                }
                prop_assert!(board.is_legal(mv));
            }
            Ok(())
        })?;
    }

    #[test]
    fn every_legal_move_can_be_played_and_taken_back(game in games(60)) {
        game.walk(|board| {
            let (before, ply, moves) = (board.to_packed(), board.ply(), legal(board));
            let mut mates = Vec::new();
            for &mv in &moves {
                let check = board.gives_check(mv);
                board.play(mv).unwrap();
                prop_assert_eq!(board.in_check(), check, "{}", mv);
                prop_assert_eq!(board.ply(), ply + 1);
                // The mover never leaves its king to be taken: the gate would say so.
                prop_assert_ne!(Board::from_packed(&board.to_packed(), 1).err(), Some(Unplayable::OpponentInCheck));
                if board.in_check() && board.is_mated() {
                    mates.push(mv);
                }
                prop_assert!(board.undo());
                prop_assert_eq!(board.to_packed(), before);
            }
            prop_assert_eq!((board.ply(), legal(board)), (ply, moves));
            match board.mate_in_one() {
                Some(mate) => prop_assert!(mates.contains(&mate), "{}", mate),
                None => prop_assert!(mates.is_empty(), "{:?}", mates),
            }
            prop_assert_eq!(board.to_packed(), before);
            Ok(())
        })?;
    }

    #[test]
    fn the_same_game_played_back_passes_the_same_positions(game in games(200)) {
        let mut positions = Vec::new();
        let mut last = None;
        game.walk(|board| {
            positions.push((board.to_packed(), board.in_check()));
            last = Some(board.clone());
            Ok(())
        })?;
        let mut board = last.unwrap();
        while let Some(expected) = positions.pop() {
            prop_assert_eq!((board.to_packed(), board.in_check()), expected);
            prop_assert_eq!(board.undo(), !positions.is_empty());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn the_gate_opens_exactly_where_core_and_the_library_agree_and_no_king_hangs(packed in vandalised()) {
        let sound = packed.faults().is_empty();
        let library = by_text(&packed).filter(|position| position.validate_all().is_valid());
        prop_assert_eq!(sound, library.is_some(), "{:?}: {}", packed, packed.faults());
        // Another way to see a king that could be taken: give the other side the move and ask whether it is in check.
        let hangs = sound && by_text(&passed(&packed)).unwrap().is_in_check();
        let mut board = Board::from_packed(&Packed::from_sfen(STARTS[8]).unwrap().0, 9).unwrap();
        match board.set(&packed, 5) {
            Ok(()) => {
                prop_assert!(sound && !hangs);
                prop_assert_eq!((board.to_packed(), board.ply()), (packed, 5));
                // Behind the gate nothing panics: every move is played, mates and declarations are looked for.
                for mv in legal(&board) {
                    board.play(mv).unwrap();
                    let _ = (board.can_declare(), board.mate_in_one());
                    prop_assert!(board.undo());
                }
            }
            Err(Unplayable::Faults(faults)) => prop_assert_eq!(faults, packed.faults()),
            Err(Unplayable::OpponentInCheck) => prop_assert!(sound && hangs),
            Err(other) => prop_assert!(false, "{:?}: {}", packed, other),
        }
    }
}

#[test]
fn the_random_positions_reach_what_they_are_meant_to_reach() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut positions, mut checks, mut hands, mut ends) = (0, 0, 0, 0);
    for _ in 0..200 {
        let game = games(120).new_tree(&mut runner).unwrap().current();
        game.walk(|board| {
            let packed = board.to_packed();
            positions += 1;
            checks += u32::from(board.in_check());
            hands += u32::from(HandKind::ALL.iter().any(|&kind| packed.hand(packed.side(), kind) > 0));
            ends += u32::from(board.is_mated());
            Ok(())
        })
        .unwrap();
    }
    assert!(
        positions > 5000 && checks > positions / 10 && hands > positions / 2 && ends > 5,
        "{positions} positions, {checks} in check, {hands} with a hand, {ends} mates"
    );
    let (mut playable, mut hanging, mut faulty) = (0, 0, 0);
    for _ in 0..2000 {
        match Board::from_packed(&vandalised().new_tree(&mut runner).unwrap().current(), 1) {
            Ok(_) => playable += 1,
            Err(Unplayable::OpponentInCheck) => hanging += 1,
            Err(_) => faulty += 1,
        }
    }
    assert!(
        playable > 300 && hanging > 50 && faulty > 300,
        "{playable} playable, {hanging} with a king to take, {faulty} with faults"
    );
}
