//! What the fourth occurrence of a position means, on games played by hand.

use manaka_core::sfen::Sfen;
use manaka_core::{Color, Move16, Packed};
use manaka_shogi::{Board, Occurrence, Repetition, Verdict};

/// A game: its board and its history.
struct Game {
    board: Board,
    history: Repetition,
}

impl Game {
    fn from(sfen: &str) -> (Self, Occurrence) {
        let board = Board::from_packed(&Sfen::parse(sfen).unwrap().packed, 1).unwrap();
        let mut history = Repetition::new();
        let first = history.push(&board.to_packed(), board.in_check());
        (Self { board, history }, first)
    }

    /// Plays moves and gives back what was said after each.
    fn play(&mut self, moves: &str) -> Vec<Occurrence> {
        moves
            .split_whitespace()
            .map(|usi| {
                self.board.play(Move16::from_usi(usi).unwrap()).unwrap();
                self.history.push(&self.board.to_packed(), self.board.in_check())
            })
            .collect()
    }

    fn back(&mut self) {
        assert!(self.board.undo() && self.history.pop());
    }
}

fn said(count: u32, verdict: Verdict) -> Occurrence {
    Occurrence { count, verdict }
}

const GOES_ON: Verdict = Verdict::None;
const BLACK_LOSES: Verdict = Verdict::PerpetualCheck { loser: Color::Black };
const WHITE_LOSES: Verdict = Verdict::PerpetualCheck { loser: Color::White };

#[test]
fn golds_that_go_back_and_forth_draw_at_the_fourth_occurrence() {
    let (mut game, first) = Game::from("lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1");
    assert_eq!(first, said(1, GOES_ON));
    let cycle = "4i4h 4a4b 4h4i 4b4a";
    for count in 2..=3 {
        let verdicts = game.play(cycle);
        assert_eq!(verdicts[3], said(count, GOES_ON));
        assert_eq!(verdicts[0], said(count - 1, GOES_ON));
    }
    let verdicts = game.play(cycle);
    assert_eq!(verdicts, [said(3, GOES_ON), said(3, GOES_ON), said(3, GOES_ON), said(4, Verdict::Draw)]);
    // One who plays on is told again.
    assert_eq!(game.play("4i4h"), [said(4, Verdict::Draw)]);
    assert_eq!(game.play("4a4b 4h4i 4b4a").last(), Some(&said(5, Verdict::Draw)));
}

#[test]
fn a_perpetual_check_loses_whether_the_check_or_the_escape_completes_it() {
    // The escape does: Black to move in the position that comes back.
    let (mut game, _) = Game::from("4k4/9/9/9/5R3/9/9/9/4K4 b - 1");
    let cycle = "4e5e 5a4a 5e4e 4a5a";
    let verdicts = [game.play(cycle), game.play(cycle), game.play(cycle)].concat();
    assert_eq!(verdicts[11], said(4, BLACK_LOSES));
    assert!(verdicts[..11].iter().all(|said| said.verdict == GOES_ON));

    // The check does: White, in check from the start, to move.
    let (mut game, _) = Game::from("4k4/9/9/9/4R4/9/9/9/4K4 w - 1");
    let cycle = "5a4a 5e4e 4a5a 4e5e";
    let verdicts = [game.play(cycle), game.play(cycle), game.play(cycle)].concat();
    assert_eq!(verdicts[11], said(4, BLACK_LOSES));

    // The other way round.
    let (mut game, _) = Game::from("4k4/9/9/9/5r3/9/9/9/4K4 w - 1");
    let cycle = "4e5e 5i4i 5e4e 4i5i";
    let verdicts = [game.play(cycle), game.play(cycle), game.play(cycle)].concat();
    assert_eq!(verdicts[11], said(4, WHITE_LOSES));
}

#[test]
fn one_quiet_move_after_the_first_occurrence_makes_it_a_draw() {
    let (mut game, _) = Game::from("4k4/9/9/9/5R3/9/9/9/4K4 b - 1");
    let checks = "4e5e 5a4a 5e4e 4a5a";
    // The rook goes round by 3e: one of its moves is no check.
    let verdicts = [game.play(checks), game.play(checks), game.play("4e3e 5a4a 3e4e 4a5a")].concat();
    assert_eq!(verdicts[11], said(4, Verdict::Draw));
}

#[test]
fn quiet_moves_before_the_first_occurrence_do_not_save_the_checker() {
    let (mut game, _) = Game::from("4k4/9/9/9/3R5/9/9/9/4K4 b - 1");
    assert_eq!(game.play("6e4e 5a5b 5i5h 5b5a").len(), 4);
    let cycle = "4e5e 5a4a 5e4e 4a5a";
    let verdicts = [game.play(cycle), game.play(cycle), game.play(cycle)].concat();
    assert_eq!(verdicts[11], said(4, BLACK_LOSES));
}

#[test]
fn checks_between_the_later_occurrences_alone_are_a_draw() {
    let (mut game, _) = Game::from("4k4/9/9/9/5R3/9/9/9/4K4 b - 1");
    game.play("4e3e 5a4a 3e4e 4a5a");
    let cycle = "4e5e 5a4a 5e4e 4a5a";
    let verdicts = [game.play(cycle), game.play(cycle)].concat();
    assert_eq!(verdicts[7], said(4, Verdict::Draw), "its first occurrence is older than the quiet move");
    // Positions that first arose after the quiet move have only checks between their occurrences.
    let verdicts = game.play("4e5e 5a4a 5e4e 4a5a 4e5e");
    assert_eq!(
        verdicts,
        [
            said(3, GOES_ON),
            said(3, GOES_ON),
            said(4, BLACK_LOSES),
            said(5, Verdict::Draw),
            said(4, BLACK_LOSES)
        ]
    );
}

#[test]
fn the_same_board_with_other_hands_in_between_hides_nothing() {
    // A pawn is dropped and captured, once by each side: the board is as at the start after 6 moves, the pawn in
    // White's hand, and after 10 more it is back in Black's.
    let (mut game, _) = Game::from("4k4/4g4/9/9/9/9/9/4G4/4K4 b P 1");
    let board = game.board.to_packed();
    let there = "P*4c 5b4c 5i4i 4c4b 4i5i 4b5b";
    let back = "5i4i P*6g 5h6g 5a4a 6g6h 4a5a 6h5h 5b4b 4i5i 4b5b";
    for count in 1..=3 {
        let verdicts = game.play(there);
        let between = game.board.to_packed();
        assert_eq!(between.as_bytes()[..81], board.as_bytes()[..81]);
        assert_ne!(between, board);
        assert_eq!(verdicts.last(), Some(&said(count, GOES_ON)));
        let last = *game.play(back).last().unwrap();
        assert_eq!(game.board.to_packed(), board);
        assert_eq!(last, said(count + 1, if count == 3 { Verdict::Draw } else { GOES_ON }));
    }
}

#[test]
fn the_side_to_move_is_part_of_the_position() {
    // The king triangulates: the same board comes back with the other side to move.
    let (mut game, _) = Game::from("4k4/9/9/9/9/9/9/9/4K4 b - 1");
    let verdicts = game.play("5i5h 5a4a 5h4i 4a4b 4i5i 4b5a 5i5h 5a5b 5h5i 5b5a");
    assert!(verdicts.iter().all(|said| said.verdict == GOES_ON));
    let (mut game, _) = Game::from("4k4/9/9/9/9/9/9/9/4K4 b - 1");
    assert_eq!(game.play("5i5h 5a5b 5h4i 5b5a 4i5i").last(), Some(&said(1, GOES_ON)), "White to move now");
}

#[test]
fn taking_moves_back_forgets_them() {
    let (mut game, _) = Game::from("4k4/9/9/9/5R3/9/9/9/4K4 b - 1");
    let cycle = "4e5e 5a4a 5e4e 4a5a";
    let start = game.board.to_packed();
    let first = [game.play(cycle), game.play(cycle), game.play(cycle)].concat();
    assert_eq!((game.history.count(&start), game.history.len()), (4, 13));
    for _ in 0..12 {
        game.back();
    }
    assert_eq!((game.history.count(&start), game.history.len()), (1, 1));
    assert_eq!([game.play(cycle), game.play(cycle), game.play(cycle)].concat(), first);
    game.back();
    assert_eq!(game.play("4a5a"), [said(4, BLACK_LOSES)]);
    // Back before the first occurrence: the quiet moves played instead count.
    while game.board.undo() {
        game.history.pop();
    }
    assert_eq!(game.play("4e3e 5a4a 3e4e 4a5a")[3], said(2, GOES_ON));
    // And a position that had been taken back arises anew: its first occurrence is after that quiet move.
    let verdicts = [game.play(cycle), game.play(cycle), game.play(cycle), game.play("4e5e")].concat();
    assert_eq!((verdicts[0], verdicts[12]), (said(1, GOES_ON), said(4, BLACK_LOSES)));

    game.history.clear();
    assert!(game.history.is_empty() && !game.history.pop());
    assert_eq!((game.history.count(&start), game.history.push(&start, false)), (0, said(1, GOES_ON)));
}

#[test]
fn check_answered_by_check_all_along_is_a_draw() {
    // Made of bare positions, told apart by a hand: what counts is whose moves gave check.
    let mut history = Repetition::new();
    let position = |side: u8, mark: u8| {
        let mut packed = Packed::empty();
        packed.as_bytes_mut()[81] = mark;
        packed.as_bytes_mut()[95] = side;
        packed
    };
    history.push(&position(0, 0), false);
    let mut last = None;
    for _ in 0..3 {
        history.push(&position(1, 1), true);
        last = Some(history.push(&position(0, 0), true));
    }
    assert_eq!(last, Some(said(4, Verdict::Draw)));
    // The flag of the very first position is nobody's move.
    history.clear();
    history.push(&position(0, 0), true);
    for _ in 0..3 {
        history.push(&position(1, 1), true);
        last = Some(history.push(&position(0, 0), false));
    }
    assert_eq!(last, Some(said(4, BLACK_LOSES)));
}

#[test]
fn what_a_repetition_would_come_to_is_foreseen_from_the_second_time_on() {
    let (mut game, _) = Game::from("4k4/9/9/9/5R3/9/9/9/4K4 b - 1");
    let cycle = ["4e5e", "5a4a", "5e4e", "4a5a"];
    for time in 1..=4 {
        let foreseen = game.history.foreseen();
        assert_eq!(foreseen, if time == 1 { GOES_ON } else { BLACK_LOSES }, "time {time}");
        assert_eq!(game.history.verdict(), if time < 4 { GOES_ON } else { BLACK_LOSES });
        for mv in cycle {
            game.play(mv);
        }
    }
    // Taken back to a position that has stood twice, and on by a quiet way to it.
    for _ in 0..12 {
        game.back();
    }
    assert_eq!((game.history.foreseen(), game.history.verdict()), (BLACK_LOSES, GOES_ON));
    game.play("4e3e 5a4a 3e4e 4a5a");
    assert_eq!(game.history.foreseen(), Verdict::Draw);
    assert_eq!(Repetition::new().foreseen(), GOES_ON);
}
