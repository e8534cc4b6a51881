//! What `Board` promises, on positions set up by hand.

use manaka_core::packed::{EMPTY, SIDE};
use manaka_core::sfen::{STARTPOS, Sfen};
use manaka_core::{Color, Fault, Move16, Packed};
use manaka_shogi::{Board, IllegalMove, MAX_LINE, Unplayable};

/// P*1f would mate: the pawn is covered and the king cannot leave.
const DROP_MATE_1F: &str = "1g1gp4/1+Ss1G2P+P/P1nn3r1/4P4/LPP3k2/LN1sb+r3/2p+b4K/1Nl2pppP/1LgP1sP2 w P3p 380";
/// P*7g would mate.
const DROP_MATE_7G: &str = "l5snl/3g5/2n2p1p1/p1+R5p/2pp1B1P1/P1k2PS1P/1P1PP1N2/1SG1KG2+b/LN6r b 3Pgsl2p 1";

fn packed(sfen: &str) -> Packed {
    Sfen::parse(sfen).unwrap().packed
}

fn board(sfen: &str) -> Board {
    Board::from_packed(&packed(sfen), 1).unwrap()
}

fn refusal(sfen: &str) -> Unplayable {
    Board::from_packed(&packed(sfen), 1).unwrap_err()
}

fn mv(usi: &str) -> Move16 {
    Move16::from_usi(usi).unwrap()
}

fn legal(board: &Board) -> Vec<Move16> {
    let mut moves = Vec::new();
    board.legal_moves(&mut moves);
    moves
}

/// The legal moves in USI, sorted as text.
fn usi(board: &Board) -> String {
    let mut texts: Vec<_> = legal(board).iter().map(Move16::to_string).collect();
    texts.sort_unstable();
    texts.join(" ")
}

fn perft(board: &mut Board, depth: u32) -> u64 {
    let moves = legal(board);
    if depth == 0 {
        return 1;
    }
    let mut nodes = 0;
    for mv in moves {
        board.play(mv).unwrap();
        nodes += perft(board, depth - 1);
        assert!(board.undo());
    }
    nodes
}

#[test]
fn the_tree_of_the_starting_position_has_the_known_sizes() {
    let mut board = Board::start();
    assert_eq!([1, 2, 3, 4].map(|depth| perft(&mut board, depth)), [30, 900, 25_470, 719_731]);
    assert_eq!(format!("{board:?}"), format!("Board({STARTPOS})"));
}

#[test]
fn a_pawn_drop_that_mates_is_not_legal() {
    for (sfen, drop, others) in [(DROP_MATE_1F, "P*1f", None), (DROP_MATE_7G, "P*7g", Some(57))] {
        let mut board = board(sfen);
        assert!(!board.is_legal(mv(drop)) && !legal(&board).contains(&mv(drop)), "{drop}");
        assert!(!board.gives_check(mv(drop)));
        assert_eq!(board.play(mv(drop)), Err(IllegalMove::NotLegal(mv(drop))));
        assert_eq!(board.to_packed(), packed(sfen));
        assert!(others.is_none_or(|count| board.legal_count() == count));
    }
}

#[test]
fn a_checking_pawn_drop_is_legal_as_soon_as_anything_answers_it() {
    let rest = "/9/3G1G3/9/9/9/9/9/4K4 b P 1";
    for (rank, legal, why) in [
        ("3lkl3", false, "the golds cover the pawn and every way out: mate"),
        ("3lk4", true, "the king steps to 4a"),
        ("3gkl3", true, "the gold on 6a takes the pawn"),
        ("R2gkl3", false, "the gold on 6a is pinned by the rook"),
    ] {
        let board = board(&format!("{rank}{rest}"));
        assert_eq!(board.is_legal(mv("P*5b")), legal, "{why}");
        assert_eq!(self::legal(&board).contains(&mv("P*5b")), legal, "{why}");
        assert_eq!(board.gives_check(mv("P*5b")), legal, "{why}");
    }
    assert!(board("3lkl3/9/9/9/9/9/9/9/4K4 b P 1").is_legal(mv("P*5b")), "the king takes the pawn");
    // Any other piece may mate from the hand, and so may a pawn on the board.
    assert!(board("3lkl3/9/3G1G3/9/9/9/9/9/4K4 b L 1").is_legal(mv("L*5b")));
    assert!(board("3lkl3/9/3GPG3/9/9/9/9/9/4K4 b - 1").is_legal(mv("5c5b")));
}

#[test]
fn moves_that_nobody_would_decline_to_promote_are_all_there() {
    // A pawn and a lance may stay as they are until their last rank, a knight until its last two, the rest always.
    let board = board("4k4/9/8L/2P6/6N2/9/9/9/B3K3R b - 1");
    for both in ["7d7c", "1c1b", "9i3c", "1i1d"] {
        let promoting = format!("{both}+");
        let can = both != "1i1d";
        assert!(board.is_legal(mv(both)), "{both}");
        assert_eq!(board.is_legal(mv(&promoting)), can, "{promoting}");
    }
    assert!(board.is_legal(mv("1c1a+")) && !board.is_legal(mv("1c1a")));
    assert!(board.is_legal(mv("3e2c")) && board.is_legal(mv("3e2c+")));
    let board = self::board("4k4/9/9/6N2/9/9/3K5/9/9 b - 1");
    assert!(board.is_legal(mv("3d2b+")) && !board.is_legal(mv("3d2b")));
    // White promotes at the other end, on the way in and on the way out.
    let board = self::board("4K4/9/9/9/9/9/2r6/9/4k4 w - 1");
    for move_out in ["7g7a", "7g7a+", "7g7i", "7g7i+"] {
        assert!(board.is_legal(mv(move_out)), "{move_out}");
    }
    // Kings, golds and what is promoted already have nothing to promote to.
    let board = self::board("4k4/9/3G5/1+P6+B/9/9/9/9/4K4 b - 1");
    for none in ["6c6b+", "8d8c+", "1d1c+"] {
        assert!(!board.is_legal(mv(none)) && board.is_legal(mv(&none[..4])), "{none}");
    }
}

#[test]
fn handicap_positions_are_playable_with_white_to_move() {
    let two_pieces = board("lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1");
    assert_eq!(two_pieces.side(), Color::White);
    assert_eq!(
        usi(&two_pieces),
        "1a1b 1c1d 2c2d 3a2b 3a3b 3a4b 3c3d 4a3b 4a4b 4a5b 4c4d 5a4b 5a5b 5a6b 5c5d 6a5b 6a6b 6a7b 6c6d 7a6b 7a7b \
         7a8b 7c7d 8c8d 9a9b 9c9d"
    );
    // Down to the bare king.
    let bare = board("4k4/9/9/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1");
    assert_eq!(usi(&bare), "5a4a 5a4b 5a5b 5a6a 5a6b");
}

#[test]
fn a_pinned_piece_moves_only_along_its_pin() {
    assert_eq!(usi(&board("4k4/9/9/9/4r4/9/9/4G4/4K4 b - 1")), "5h5g 5i4h 5i4i 5i6h 5i6i");
    // On a diagonal: the silver may take the bishop, the gold beside it is free.
    let board = board("4k4/9/9/9/9/9/2b6/3SG4/4K4 b - 1");
    assert!(board.is_legal(mv("6h7g")) && !board.is_legal(mv("6h6g")) && board.is_legal(mv("5h5g")));
}

#[test]
fn a_check_must_be_answered() {
    // Rook on 5e, gold in hand: interpose on four squares, or step off the file.
    let single = board("4k4/9/9/9/4r4/9/9/9/4K4 b G 1");
    assert!(single.in_check());
    assert_eq!(usi(&single), "5i4h 5i4i 5i6h 5i6i G*5f G*5g G*5h");
    // Rook and knight at once: only the king can move.
    let double = board("4k4/9/9/9/4r4/9/3n5/9/4K4 b G 1");
    assert!(double.in_check());
    assert_eq!(usi(&double), "5i4h 5i4i 5i6h 5i6i");
    assert!(!board("4k4/9/9/9/4r4/9/4P4/9/4K4 b G 1").in_check());
}

#[test]
fn checks_are_seen_whether_given_directly_or_by_stepping_aside() {
    let board = board("4k4/9/9/4N4/9/9/9/9/K3R4 b GP 1");
    assert!(board.gives_check(mv("5d4b+")), "a promoted knight is a gold");
    assert!(board.gives_check(mv("5d6b+")));
    assert!(board.gives_check(mv("G*5b")) && board.gives_check(mv("P*5b")));
    assert!(!board.gives_check(mv("G*5c")) && !board.gives_check(mv("5i4i")));
    let board = self::board("4k4/9/9/4S4/9/9/9/9/K3R4 b - 1");
    assert!(board.gives_check(mv("5d4c")), "the rook is uncovered");
    assert!(!board.gives_check(mv("5d5c")), "the rook stays covered");
    // No check by a move that is not legal: the silver is pinned to its own king.
    let board = self::board("r8/2k6/9/S8/9/9/K8/9/9 b - 1");
    assert!(!board.gives_check(mv("9d8c")) && !board.is_legal(mv("9d8c")));
}

#[test]
fn a_side_without_a_legal_move_is_mated_in_check_or_not() {
    let mated = board("4k4/4G4/4P4/9/9/9/9/9/4K4 w - 1");
    assert!(mated.in_check() && mated.is_mated() && !mated.has_legal_move());
    assert_eq!((mated.legal_count(), legal(&mated)), (0, vec![]));
    let stuck = board("k8/2G6/1G7/9/9/9/9/9/4K4 w - 1");
    assert!(!stuck.in_check() && stuck.is_mated() && !stuck.has_legal_move());
    let free = Board::start();
    assert!(free.has_legal_move() && !free.is_mated());
}

#[test]
fn a_mate_in_one_is_found_and_a_pawn_drop_is_none() {
    let mut board = board("4k4/9/4P4/9/9/9/9/9/4K4 b G 1");
    let before = board.to_packed();
    assert_eq!(board.mate_in_one(), Some(mv("G*5b")));
    assert_eq!((board.to_packed(), board.played()), (before, 0));
    assert_eq!(Board::start().mate_in_one(), None);
    assert_eq!(self::board("3lkl3/9/3G1G3/9/9/9/9/9/4K4 b P 1").mate_in_one(), Some(mv("4c5b")));
    assert_eq!(self::board("3lkl3/9/2N3N2/9/9/9/9/9/4K4 b P 1").mate_in_one(), None);
}

#[test]
fn declaration_follows_the_27_point_rule() {
    let black = |ranks: &str, rest: &str| board(&format!("{ranks}/9/9/9/9/9/4k4 b {rest} 1")).can_declare();
    // Four big pieces (20) and eight small ones: 28 points and 12 pieces beside the king.
    assert!(black("+R+R+B+BK4/GGGG5/SSSS5", "-"));
    assert!(!black("+R+R+B+BK4/GGGG5/SSS6", "-"), "27 points are not enough for Black");
    assert!(black("+R+R+B+BK4/GGGG5/SSS6", "P"), "a pawn in hand counts");
    assert!(!board("+R+R+B+BK4/GGGG5/SSS6/S8/9/9/9/9/4k4 b - 1").can_declare(), "the fourth rank does not");
    assert!(black("+R+R+B+BK4/GGGG5/SS7", "2P"), "exactly 10 pieces beside the king");
    assert!(!black("+R+R+B+BK4/GGGG5/S8", "9P"), "9 pieces beside the king");
    assert!(!board("+R+R+B+B5/GGGG5/SSSS5/4K4/9/9/9/9/4k4 b - 1").can_declare(), "the king is outside");
    assert!(!board("+R+R+B+BK4/GGGG+p4/SSSS5/9/9/9/9/9/4k4 b - 1").can_declare(), "the king is in check");
    assert!(!board("+R+R+B+BK4/GGGG5/SSSS5/9/9/9/9/9/4k4 w - 1").can_declare(), "it is not Black's turn");
    // White needs 27.
    assert!(board("4K4/9/9/9/9/9/6sss/5gggg/4k+b+b+r+r w - 1").can_declare());
    assert!(!board("4K4/9/9/9/9/9/7ss/5gggg/4k+b+b+r+r w - 1").can_declare());
}

#[test]
fn declaration_is_still_known_after_moves_and_after_another_position() {
    let mut board = board("+R+R+B+BK4/GGGG5/SSSS5/9/9/9/9/9/4k4 b - 1");
    for usi in ["5a4a", "5i4i", "4a5a", "4i5i"] {
        board.play(mv(usi)).unwrap();
    }
    assert!(board.can_declare());
    board.set(&packed("+R+R+B+BK4/GGGG5/SSS6/9/9/9/9/9/4k4 b P 1"), 1).unwrap();
    assert!(board.can_declare());
}

#[test]
fn the_gate_names_every_fault_and_the_king_that_could_be_taken() {
    let faults = |sfen: &str| match refusal(sfen) {
        Unplayable::Faults(faults) => faults.to_string(),
        other => panic!("{sfen}: {other:?}"),
    };
    assert_eq!(faults("9/9/9/9/9/9/9/9/9 b -"), "no_black_king, no_white_king");
    assert_eq!(faults("P3k4/9/9/9/P8/9/9/9/4K4 b 3R"), "too_many_rooks, nifu_black, dead_pawn");
    assert_eq!(faults("4k4/9/9/9/9/9/9/9/4K4 b 255P"), "too_many_pawns");
    let mut bytes = packed(STARTPOS);
    bytes.as_bytes_mut()[40] = 0x0E;
    bytes.as_bytes_mut()[SIDE] = 7;
    let Err(Unplayable::Faults(faults)) = Board::from_packed(&bytes, 1) else { panic!("accepted") };
    assert!(faults.contains(Fault::BoardByte) && faults.contains(Fault::SideByte));

    for sfen in [
        "4k4/9/9/9/4R4/9/9/9/4K4 b - 1",
        "4k4/9/9/9/4r4/9/9/9/4K4 w - 1",
        "4k4/4K4/9/9/9/9/9/9/9 b - 1",
        "4k4/4K4/9/9/9/9/9/9/9 w - 1",
    ] {
        assert_eq!(refusal(sfen), Unplayable::OpponentInCheck, "{sfen}");
    }
}

#[test]
fn a_refused_position_leaves_the_starting_position() {
    for bad in ["9/9/9/9/9/9/9/9/9 b -", "4k4/9/9/9/4R4/9/9/9/4K4 b - 1"] {
        let mut board = board(DROP_MATE_7G);
        board.play(legal(&board)[0]).unwrap();
        board.set(&packed(bad), 77).unwrap_err();
        assert_eq!((board.to_packed(), board.ply(), board.played()), (packed(STARTPOS), 1, 0), "{bad}");
        assert!(!board.undo());
        board.play(mv("7g7f")).unwrap();
        assert_eq!(board.legal_count(), 30);
    }
    assert_eq!(Board::default().to_packed(), packed(STARTPOS));
}

#[test]
fn play_and_undo_keep_position_and_move_number() {
    let mut board = Board::from_packed(&packed(STARTPOS), 41).unwrap();
    assert!(!board.undo(), "nothing to take back");
    for (usi, ply) in [("7g7f", 42), ("3c3d", 43), ("8h2b+", 44), ("3a2b", 45), ("B*4e", 46)] {
        board.play(mv(usi)).unwrap();
        assert_eq!(board.ply(), ply);
    }
    let text = "lnsgkg1nl/1r5s1/pppppp1pp/6p2/5B3/2P6/PP1PPPPPP/7R1/LNSGKGSNL w b 46";
    assert_eq!(format!("{board:?}"), format!("Board({text})"));
    for illegal in ["7g7f", "B*4e", "5a5a", "5a4b+", "1a1d"] {
        let mv = Move16::from_usi(illegal).unwrap_or(Move16::from_bits(0));
        assert_eq!(board.play(mv), Err(IllegalMove::NotLegal(mv)), "{illegal}");
        assert_eq!(board.to_packed(), packed(text));
    }
    assert_eq!(board.played(), 5);
    while board.undo() {}
    assert_eq!((board.to_packed(), board.ply(), board.played()), (packed(STARTPOS), 41, 0));
    assert_eq!(Board::from_packed(&packed(STARTPOS), u32::MAX).map(|board| board.ply()), Ok(u32::MAX));
}

#[test]
fn moves_come_ascending_by_their_bits_into_a_list_that_is_emptied_first() {
    let mut moves = vec![Move16::from_bits(u16::MAX); 3];
    board(DROP_MATE_7G).legal_moves(&mut moves);
    assert_eq!(moves.len(), 57);
    assert!(moves.is_sorted_by(|a, b| a.bits() < b.bits()));
}

#[test]
fn the_position_with_the_most_moves_fits() {
    let board = board("R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1");
    assert_eq!((board.legal_count(), legal(&board).len()), (593, 593));
}

#[test]
fn any_bits_can_be_asked_about() {
    for sfen in [STARTPOS, DROP_MATE_1F, DROP_MATE_7G, "4k4/9/9/9/4r4/9/3n5/9/4K4 b RG2b 1"] {
        let mut board = board(sfen);
        let moves = legal(&board);
        for bits in 0..=u16::MAX {
            let mv = Move16::from_bits(bits);
            let legal = moves.binary_search(&mv).is_ok();
            assert_eq!(board.is_legal(mv), legal, "{mv} in {sfen}");
            assert!(legal || !board.gives_check(mv), "{mv} in {sfen}");
            assert!(legal || board.play(mv).is_err(), "{mv} in {sfen}");
        }
        assert_eq!(board.to_packed(), packed(sfen));
    }
}

#[test]
fn a_line_ends_at_its_limit_instead_of_in_the_library() {
    let mut board = board("4k4/9/4P4/9/9/9/9/9/3GK4 b G 1");
    let cycle = ["6i6h", "5a4a", "6h6i", "4a5a"].map(mv);
    for mv in cycle.into_iter().cycle().take(MAX_LINE) {
        board.play(mv).unwrap();
    }
    assert_eq!(board.played(), MAX_LINE);
    assert_eq!(board.mate_in_one(), Some(mv("G*5b")), "asking still works");
    assert_eq!(board.play(cycle[0]), Err(IllegalMove::LineTooLong(cycle[0])));
    assert!(board.undo());
    assert_eq!((board.played(), board.to_packed().as_bytes()[4]), (MAX_LINE - 1, EMPTY));
    board.play(cycle[3]).unwrap();
    let position = board.to_packed();
    board.set(&position, 1).unwrap();
    board.play(cycle[0]).unwrap();
}
