//! The rules that end a line of a search, against a twin that knows nothing but the whole list of positions.

mod games;

use games::Opinions;
use manaka_core::sfen::Sfen;
use manaka_core::{Color, Move16, Packed};
use manaka_search::{
    Game, Gumbel, MateTest, Options as Search, Puct, Random, Rule, Schedule, Search as Tree, Status, Step,
};
use manaka_selfplay::{End, Ending, Evaluator, Replies, Request, Shogi, Uniform};
use manaka_shogi::Board;
use std::collections::BTreeSet;

fn packed(sfen: &str) -> Packed {
    Sfen::parse(sfen).unwrap().packed
}

fn mv(usi: &str) -> Move16 {
    Move16::from_usi(usi).unwrap()
}

fn status(game: &mut Shogi) -> Status {
    game.status(&mut Vec::new())
}

fn game(sfen: &str, ply: u32) -> Shogi {
    let mut game = Shogi::new(320);
    game.set(&packed(sfen), ply).unwrap();
    game
}

/// Every position from the start of the game, and whether its side to move stood in check.
type Line = Vec<(Packed, bool)>;

/// What the rules say of the last position of a line that begins behind `game` positions, by counting.
fn by_counting(line: &Line, game: usize, board: &Board, max_ply: u32) -> Option<End> {
    let (last, _) = line.last().unwrap();
    let side = last.side();
    let end = |ending, winner| Some(End { ending, winner });
    if board.legal_count() == 0 {
        return end(Ending::Mate, Some(side.flip()));
    }
    let times = line.iter().filter(|(position, _)| position == last).count();
    if times >= if line.len() > game { 2 } else { 4 } {
        let first = line.iter().position(|(position, _)| position == last).unwrap();
        let only_checks = |color: Color| {
            let mut moves =
                line[first + 1..].iter().filter(|(position, _)| position.side() != color).peekable();
            moves.peek().is_some() && moves.all(|(_, check)| *check)
        };
        return match (only_checks(Color::Black), only_checks(Color::White)) {
            (true, false) => end(Ending::PerpetualCheck, Some(Color::White)),
            (false, true) => end(Ending::PerpetualCheck, Some(Color::Black)),
            _ => end(Ending::Repetition, None),
        };
    }
    if board.can_declare() {
        return end(Ending::Declaration, Some(side));
    }
    if board.ply() > max_ply {
        return end(Ending::MaxPly, None);
    }
    None
}

/// Walks up and down random lines, mostly back and forth, behind every position of random games.
#[test]
fn every_rule_ends_a_line_where_counting_says_so() {
    let starts = [
        "4k4/9/9/9/5R3/9/9/9/4K4 b - 1",
        "4k4/4g4/9/9/4R4/9/9/9/4K4 w - 1",
        "8k/9/8K/9/9/9/9/9/9 b RG 1",
        "3gkg3/9/9/9/9/9/9/9/3GKG3 b - 300",
        "4k4/9/9/9/9/9/9/9/4K4 b Rr 1",
        "+R+R+B+BKGGGG/SSSS5/9/9/9/9/9/9/4k4 w - 1",
    ];
    let mut seen = BTreeSet::new();
    let mut repeats_of_the_line_alone = 0;
    for (number, start) in (0u64..).zip(starts.iter().cycle()).take(120) {
        let mut random = Random::new(number, 0, 0);
        let mut draw = |n: usize| ((random.unit() * n as f64) as usize).min(n - 1);
        let ply = 290;
        let mut shogi = game(start, ply);
        let mut board = Board::from_packed(&packed(start), ply).unwrap();
        let mut line: Line = vec![(board.to_packed(), board.in_check())];
        let mut moves = Vec::new();
        for _ in 0..24 {
            // A walk of the search.
            let game_len = line.len();
            let mut walked: Vec<Move16> = Vec::new();
            for _ in 0..40 {
                let found = status(&mut shogi);
                let wanted = by_counting(&line, game_len, &board, 320);
                let value = wanted.map(|end| end.value_for(board.side()));
                let said = if let Status::Over(value) = found { Some(value) } else { None };
                assert_eq!(said, value, "game {number}: {board:?} {wanted:?}");
                if walked.is_empty() {
                    assert_eq!(shogi.end(), wanted);
                }
                if let Some(end) = wanted {
                    seen.insert((end.ending, !walked.is_empty()));
                    let last = line.last().unwrap().0;
                    repeats_of_the_line_alone +=
                        u32::from(line[game_len - 1..].iter().filter(|(p, _)| *p == last).count() > 1);
                }
                if (wanted.is_some() || draw(4) == 0) && !walked.is_empty() {
                    for _ in 0..=draw(walked.len()) {
                        walked.pop();
                        line.pop();
                        board.undo();
                        shogi.undo();
                    }
                    continue;
                }
                if wanted.is_some() {
                    break;
                }
                board.legal_moves(&mut moves);
                // Back where it came from, if it can be.
                let back = walked.len().checked_sub(2).and_then(|at| {
                    let last = walked[at];
                    let back = Move16::board(last.to_square()?, last.from_square()?, false);
                    moves.contains(&back).then_some(back)
                });
                let next = match back {
                    Some(back) if draw(3) > 0 => back,
                    _ => moves[draw(moves.len())],
                };
                board.play(next).unwrap();
                shogi.play(next);
                walked.push(next);
                line.push((board.to_packed(), board.in_check()));
                assert_eq!(shogi.packed(), board.to_packed());
            }
            for _ in walked {
                line.pop();
                board.undo();
                shogi.undo();
            }
            // A move of the game, back and forth too.
            if by_counting(&line, line.len(), &board, 320).is_some() {
                break;
            }
            board.legal_moves(&mut moves);
            let back = moves.iter().copied().find(|&mv| {
                let next = board.to_packed().after(mv);
                line.iter().any(|(position, _)| Some(*position) == next)
            });
            let next = back.filter(|_| draw(4) > 0).unwrap_or_else(|| moves[draw(moves.len())]);
            board.play(next).unwrap();
            shogi.advance(next).unwrap();
            line.push((board.to_packed(), board.in_check()));
        }
    }
    for ending in [Ending::Mate, Ending::Repetition, Ending::PerpetualCheck, Ending::MaxPly] {
        assert!(seen.contains(&(ending, true)), "no line ended by {ending}: {seen:?}");
    }
    assert!(seen.contains(&(Ending::Repetition, false)), "no game ended by repetition: {seen:?}");
    assert!(repeats_of_the_line_alone > 100, "{repeats_of_the_line_alone}");
}

#[test]
fn a_position_of_the_game_that_comes_back_in_a_line_is_an_end_there_and_not_in_the_game() {
    let mut shogi = game("3gkg3/9/9/9/9/9/9/9/3GKG3 b - 1", 1);
    let cycle = ["5i5h", "5a5b", "5h5i", "5b5a"];
    for mv_ in &cycle[..3] {
        shogi.play(mv(mv_));
        assert_eq!(status(&mut shogi), Status::Open);
    }
    shogi.play(mv(cycle[3]));
    assert_eq!(status(&mut shogi), Status::Over(0.0));
    (0..4).for_each(|_| shogi.undo());
    for round in 2..=4 {
        for usi in cycle {
            assert_eq!(shogi.end(), None);
            shogi.advance(mv(usi)).unwrap();
        }
        let over = (round == 4).then_some(End { ending: Ending::Repetition, winner: None });
        assert_eq!(shogi.end(), over, "time {round}");
        assert_eq!(status(&mut shogi) == Status::Over(0.0), round == 4);
    }
    // One step back the game goes on, and repeats in a line at once.
    assert!(shogi.retreat());
    assert_eq!((shogi.end(), status(&mut shogi)), (None, Status::Open));
    shogi.play(mv(cycle[3]));
    assert_eq!(status(&mut shogi), Status::Over(0.0));
}

#[test]
fn whoever_gives_nothing_but_check_in_a_line_has_lost_there() {
    let mut shogi = game("4k4/9/9/9/5R3/9/9/9/4K4 b - 1", 1);
    for usi in ["4e5e", "5a4a", "5e4e"] {
        shogi.play(mv(usi));
        assert_eq!(status(&mut shogi), Status::Open);
    }
    // Black is to move, has given every check and is lost.
    shogi.play(mv("4a5a"));
    assert_eq!(status(&mut shogi), Status::Over(-1.0));
    shogi.undo();
    // Here White would be to move in a position that comes back.
    shogi.undo();
    shogi.play(mv("5e5f"));
    assert_eq!(status(&mut shogi), Status::Open);
}

#[test]
fn a_declaration_ends_a_line_for_the_side_to_move() {
    let declarable = "+R+R+B+BKGGGG/SSSS5/9/9/9/9/9/9/4k4 b - 1";
    let mut shogi = game(declarable, 1);
    assert_eq!(shogi.end(), Some(End { ending: Ending::Declaration, winner: Some(Color::Black) }));
    assert_eq!(status(&mut shogi), Status::Over(1.0));
    // One move before: White to move; whatever it plays, Black declares.
    let mut shogi = game("+R+R+B+BKGGGG/SSSS5/9/9/9/9/9/9/4k4 w - 1", 1);
    assert_eq!(status(&mut shogi), Status::Open);
    shogi.play(mv("5i5h"));
    assert_eq!(status(&mut shogi), Status::Over(1.0));
}

#[test]
fn the_move_number_of_the_board_ends_a_line_and_a_mate_on_the_last_move_is_a_mate() {
    let sfen = "8k/9/8K/9/9/9/9/9/9 b RG 1";
    let mut shogi = game(sfen, 320);
    assert_eq!(status(&mut shogi), Status::Open);
    shogi.play(mv("G*1b"));
    assert_eq!(status(&mut shogi), Status::Over(-1.0), "mated, not drawn");
    shogi.undo();
    shogi.play(mv("G*9i"));
    assert_eq!(status(&mut shogi), Status::Over(0.0));
    shogi.undo();
    assert!(shogi.wins_at_once());
    let mut shogi = game(sfen, 321);
    assert_eq!(shogi.end(), Some(End { ending: Ending::MaxPly, winner: None }));
    assert_eq!(status(&mut shogi), Status::Over(0.0));
}

#[test]
fn a_key_is_the_same_for_the_same_position_whatever_led_there() {
    let mut random = Random::new(1, 1, 1);
    let mut moves = Vec::new();
    for _ in 0..20 {
        let mut board = Board::start();
        for _ in 0..150 {
            board.legal_moves(&mut moves);
            if moves.is_empty() {
                break;
            }
            board.play(moves[(random.unit() * moves.len() as f64) as usize]).unwrap();
            assert_eq!(Board::from_packed(&board.to_packed(), 1).unwrap().key(), board.key());
        }
    }
}

/// One search to its end with an evaluator. The outcome's visits, the sum of what is written, and the move.
fn search(
    tree: &mut Tree<Move16>,
    shogi: &mut Shogi,
    evaluator: &mut dyn Evaluator,
    random: Random,
) -> (u32, u32, Move16) {
    let mut replies = Replies::new();
    tree.begin(random, 0);
    loop {
        let moves = match tree.step(shogi).unwrap() {
            Step::Evaluate(moves) => moves.to_vec(),
            Step::Done(outcome) => {
                let visits = outcome.moves.iter().map(|mv| mv.visits).sum();
                let written = outcome.written().map(|(_, visits)| visits).sum();
                return (visits, written, outcome.best().unwrap());
            }
        };
        let position = shogi.packed();
        let batch = [Request { position: &position, moves: &moves }];
        replies.fit(&batch);
        evaluator.evaluate(&batch, &mut replies).unwrap();
        let reply = replies.iter().next().unwrap();
        tree.apply(reply.logits, reply.value).unwrap();
    }
}

/// A position with a mate in one.
struct Mate {
    /// The position in front of it, and the move that allowed it.
    before: Option<(Packed, Move16)>,
    position: Packed,
    /// The moves that mate.
    mating: Vec<Move16>,
}

/// Positions of games in which moves are drawn at random.
fn mates_in_one(wanted: usize) -> Vec<Mate> {
    let mut found = Vec::new();
    let (mut moves, mut replies) = (Vec::new(), Vec::new());
    for number in 0.. {
        let mut random = Random::new(number, 2, 3);
        let mut board = Board::start();
        let mut before = None;
        for _ in 0..300 {
            board.legal_moves(&mut moves);
            if moves.is_empty() {
                break;
            }
            let mut mating = Vec::new();
            for &mv in moves.iter().filter(|&&mv| board.gives_check(mv)).collect::<Vec<_>>() {
                board.play(mv).unwrap();
                board.legal_moves(&mut replies);
                if replies.is_empty() {
                    mating.push(mv);
                }
                board.undo();
            }
            assert_eq!(board.mate_in_one().is_some(), !mating.is_empty(), "{board:?}");
            if !mating.is_empty() {
                found.push(Mate { before, position: board.to_packed(), mating });
                if found.len() == wanted {
                    return found;
                }
                break;
            }
            let drawn = moves[(random.unit() * moves.len() as f64) as usize];
            before = Some((board.to_packed(), drawn));
            board.play(drawn).unwrap();
        }
    }
    unreachable!()
}

/// Where every root move is tried, the priors are level and there is no noise, the rule guarantees it: nothing but a mate
/// is worth 1.
#[test]
fn gumbel_that_tries_every_move_finds_all_of_three_hundred_mates_in_one() {
    let mut shogi = Shogi::new(320);
    let (mut level, mut wild) = (Uniform::default(), Opinions { sharpness: 0.0, ..Opinions::default() });
    for (number, Mate { position, mating, .. }) in (0..).zip(&mates_in_one(300)) {
        shogi.set(position, 1).unwrap();
        let legal = shogi.board().legal_count() as u32;
        for evaluator in [&mut level as &mut dyn Evaluator, &mut wild] {
            let noise_scale = Schedule::constant(0.0);
            let rule = Gumbel { considered: 600, noise_scale, ..Gumbel::default() };
            let mut tree = Tree::new(Search::new(2 * legal, rule)).unwrap();
            let (visits, _, best) = search(&mut tree, &mut shogi, evaluator, Random::new(7, number, 0));
            assert_eq!(visits, 2 * legal);
            assert!(mating.contains(&best), "{best} in {:?}, where {mating:?} mate", shogi.board());
        }
    }
}

/// A leaf with a mate in one is worth a win to its side to move: known before the mate is in the tree.
#[test]
fn a_move_that_allows_a_mate_in_one_is_worth_a_loss_at_its_first_visit() {
    let mut shogi = Shogi::new(320);
    let mut tried = 0;
    for (position, allows) in mates_in_one(100).into_iter().filter_map(|mate| mate.before) {
        shogi.set(&position, 1).unwrap();
        let rule = Gumbel { considered: 600, ..Gumbel::default() };
        for mate_test in [MateTest::Leaf, MateTest::Off] {
            let budget = shogi.board().legal_count() as u32;
            let mut tree = Tree::new(Search { mate_test, ..Search::new(budget, rule) }).unwrap();
            search(&mut tree, &mut shogi, &mut Uniform::default(), Random::new(1, 1, 1));
            let outcome = tree.outcome().unwrap();
            let root = outcome.moves.iter().find(|root| root.mv == allows).unwrap();
            assert_eq!(
                (root.visits, root.q),
                (1, Some(if mate_test == MateTest::Leaf { -1.0 } else { 0.0 }))
            );
        }
        tried += 1;
    }
    assert!(tried >= 90, "{tried}");
}

#[test]
fn the_visits_of_ten_thousand_searches_of_shogi_sum_to_their_budgets() {
    let mut random = Random::new(5, 5, 5);
    let mut moves = Vec::new();
    let mut shogi = Shogi::new(320);
    let mut trees: Vec<Tree<Move16>> = (1..=12)
        .map(|budget| {
            let rule: Rule = if budget % 2 == 0 {
                Puct::default().into()
            } else {
                Gumbel { considered: 1 + budget, ..Gumbel::default() }.into()
            };
            Tree::new(Search::new(budget, rule)).unwrap()
        })
        .collect();
    for number in 0..10_000u64 {
        if shogi.end().is_some() || number % 200 == 0 {
            shogi = Shogi::new(320);
        }
        let tree = &mut trees[(number % 12) as usize];
        let legal = shogi.board().legal_count() as u32;
        let (visits, written, _) =
            search(tree, &mut shogi, &mut Opinions::default(), Random::new(number, 0, 0));
        let budget = tree.options().budget;
        assert_eq!(visits, budget, "search {number}");
        match tree.options().rule {
            Rule::Puct(_) => assert_eq!(written, budget),
            Rule::Gumbel(_) => assert!(written.abs_diff(65536) <= legal.div_ceil(2), "{written}"),
        }
        shogi.board().legal_moves(&mut moves);
        shogi.advance(moves[(random.unit() * moves.len() as f64) as usize]).unwrap();
    }
}
