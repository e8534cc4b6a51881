//! Matches that are played out: pairs, colours, threads, tests, faults.

use manaka_core::{Color, HandKind, Move16, Packed};
use manaka_duel::{
    Contestant, Error, Observer, Options, Played, Report, Score, Sprt, Standing, Verdict, run,
};
use manaka_search::{Gumbel, Options as Search, Puct, PuctQ, Rule, Unvisited};
use manaka_selfplay::{
    Ending, Evaluator, EvaluatorError, Evaluators, Identity, Replies, Request, Shogi, Uniform,
};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

fn searches(rule: impl Into<Rule>, budget: u32) -> Contestant {
    Contestant::search(Arc::new(Uniform::default()), Search::new(budget, rule))
}

fn short(pairs: u64) -> Options {
    Options { max_ply: 60, ..Options::new(pairs) }
}

/// Keeps the games.
#[derive(Default)]
struct Games(Mutex<Vec<Played>>);

impl Observer for Games {
    fn pair(&self, games: &[Played; 2], _score: &Score, _sprt: Option<&Standing>) {
        self.0.lock().unwrap().extend(games.iter().cloned());
    }
}

fn played(options: &Options, players: [&Contestant; 2]) -> (Report, Vec<Played>) {
    let games = Games::default();
    let report = run(options, players, &games).unwrap();
    (report, games.0.into_inner().unwrap())
}

#[test]
fn both_games_of_a_pair_begin_alike_and_each_player_moves_first_once() {
    let (report, games) = played(&short(6), [&searches(Puct::default(), 8), &Contestant::Random]);
    assert_eq!((report.score.games(), games.len()), (12, 12));
    let mut openings = Vec::new();
    for (at, pair) in games.chunks(2).enumerate() {
        assert_eq!((pair[0].pair, pair[1].pair), (at as u64, at as u64));
        assert_eq!((pair[0].first_moves_first, pair[1].first_moves_first), (true, false));
        assert_eq!(pair[0].opening, pair[1].opening);
        openings.push(pair[0].opening.clone());
    }
    openings.dedup();
    assert_eq!(openings.len(), 6, "openings differ");
    assert_eq!(report.players[1], "random moves");
    assert!(report.players[0].starts_with("PUCT 8 over uniform"), "{}", report.players[0]);
}

#[test]
fn every_game_can_be_played_again_and_ends_where_it_says() {
    let (report, games) = played(&short(8), [&searches(Gumbel::default(), 16), &Contestant::Random]);
    let mut tally = Score::default();
    for pair in games.chunks(2) {
        for game in pair {
            let (packed, ply) = Packed::from_sfen(&game.opening).unwrap();
            let mut shogi = Shogi::new(60);
            shogi.set(&packed, ply.unwrap()).unwrap();
            let first = if game.first_moves_first { shogi.side() } else { shogi.side().flip() };
            for mv in &game.moves {
                assert_eq!(shogi.end(), None);
                shogi.advance(*mv).unwrap();
            }
            let end = shogi.end().expect("the game is over");
            assert_eq!(end.ending, game.ending);
            assert_eq!(end.value_for(first), f32::from(game.points));
        }
        tally.add([pair[0].points, pair[1].points]);
    }
    assert_eq!(tally, report.score);
    assert_eq!(report.endings.values().sum::<u64>(), 16);
}

#[test]
fn a_match_is_the_same_on_any_number_of_threads() {
    let players = [&searches(Puct::default(), 20), &searches(Gumbel::default(), 8)];
    let test = Sprt { elo0: 0.0, elo1: 200.0, alpha: 0.3, beta: 0.3 };
    for sprt in [None, Some(test)] {
        let options = Options { sprt, ..short(12) };
        let alone = played(&options, players);
        let threads = NonZeroUsize::new(3).unwrap();
        assert_eq!(played(&Options { threads, ..options }, players), alone);
    }
}

#[test]
fn a_player_without_noise_takes_just_half_of_each_pair_from_itself() {
    for player in [searches(Puct::default(), 12), searches(Gumbel::default(), 12)] {
        let (report, games) = played(&short(5), [&player, &player]);
        for pair in games.chunks(2) {
            assert_eq!(pair[0].moves, pair[1].moves);
            assert_eq!(pair[0].points, -pair[1].points);
        }
        assert_eq!((report.score.pairs, report.elo), ([0, 0, 5, 0, 0], Some(0.0)));
    }
}

/// Counts pieces, those in hand included: enough to beat somebody who moves at random.
struct Material;

impl Evaluator for Material {
    fn batch_hint(&self) -> usize {
        1
    }

    fn evaluate(&mut self, batch: &[Request<'_>], replies: &mut Replies) -> Result<(), EvaluatorError> {
        // In the order of board bytes: K R B G S N L P, promoted ones behind them.
        const WORTH: [f32; 14] = [0.0, 10.0, 8.0, 6.0, 5.0, 3.0, 3.0, 1.0, 12.0, 10.0, 6.0, 6.0, 6.0, 6.0];
        for (request, reply) in batch.iter().zip(replies.iter_mut()) {
            let position = request.position;
            let mut black = 0.0;
            for byte in position.as_bytes()[manaka_core::packed::BOARD].iter().copied() {
                if let Some((color, kind)) = manaka_core::packed::piece_of(byte) {
                    black += if color == Color::Black { 1.0 } else { -1.0 } * WORTH[kind as usize];
                }
            }
            for kind in HandKind::ALL {
                let held = |color| f32::from(position.hand(color, kind));
                let worth = [1.0, 3.0, 3.0, 5.0, 6.0, 8.0, 10.0][kind as usize];
                black += (held(Color::Black) - held(Color::White)) * worth;
            }
            let own = if position.side() == Color::Black { black } else { -black };
            *reply.value = (own / 20.0).tanh();
            reply.logits.fill(0.0);
        }
        Ok(())
    }
}

impl Evaluators for Material {
    fn identity(&self) -> Identity {
        Identity::new("material", None)
    }

    fn evaluator(&self) -> Result<Box<dyn Evaluator + '_>, EvaluatorError> {
        Ok(Box::new(Material))
    }
}

#[test]
fn a_search_that_counts_pieces_beats_random_moves_and_a_test_says_so_early() {
    // With priors that are all equal, a search that takes untried moves for lost would look at no second one.
    let puct = Puct { q: PuctQ::Unit(Unvisited::Node), ..Puct::default() };
    let player = Contestant::search(Arc::new(Material), Search::new(200, puct));
    let sprt = Some(Sprt { elo0: 0.0, elo1: 100.0, alpha: 0.05, beta: 0.05 });
    let options = Options { sprt, threads: NonZeroUsize::new(2).unwrap(), ..Options::new(400) };
    let (report, games) = played(&options, [&player, &Contestant::Random]);
    let standing = report.sprt.unwrap();
    assert_eq!(standing.verdict, Verdict::Elo1, "{report:?}");
    assert!(standing.llr >= standing.bounds[1]);
    assert!(report.score.games() < 800, "it went on to the end");
    assert_eq!(games.len() as u64, report.score.games(), "what was counted was shown");
    assert!(report.score.wins > report.score.losses, "{report:?}");
    assert!(report.endings.contains_key(&Ending::Mate));
}

/// Fails in the end.
struct Broken;

impl Evaluator for Broken {
    fn batch_hint(&self) -> usize {
        1
    }

    fn evaluate(&mut self, batch: &[Request<'_>], replies: &mut Replies) -> Result<(), EvaluatorError> {
        if batch[0].moves.len() < 25 {
            return Err(EvaluatorError::new("out of ideas"));
        }
        for reply in replies.iter_mut() {
            reply.logits.fill(0.0);
            *reply.value = 0.0;
        }
        Ok(())
    }
}

impl Evaluators for Broken {
    fn identity(&self) -> Identity {
        Identity::new("broken", None)
    }

    fn evaluator(&self) -> Result<Box<dyn Evaluator + '_>, EvaluatorError> {
        Ok(Box::new(Broken))
    }
}

#[test]
fn a_player_that_fails_ends_the_match_with_an_error() {
    let broken = Contestant::Policy { evaluators: Arc::new(Broken) };
    for threads in [1, 3] {
        let options = Options { threads: NonZeroUsize::new(threads).unwrap(), ..short(20) };
        match run(&options, [&Contestant::Random, &broken], &()) {
            Err(Error::Evaluator(error)) => assert_eq!(error.to_string(), "out of ideas"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn an_engine_that_is_not_there_is_named() {
    let engine = manaka_gensfen::EngineOptions::new("/nowhere/engine".parse().unwrap());
    let engine = Contestant::Engine(Box::new(engine));
    let error = run(&short(1), [&engine, &Contestant::Random], &()).unwrap_err();
    assert!(error.to_string().contains("/nowhere/engine"), "{error}");
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let sprt = |elo0, elo1, alpha| Some(Sprt { elo0, elo1, alpha, beta: 0.05 });
    for options in [
        Options { max_ply: 0, ..Options::new(1) },
        Options { sprt: sprt(5.0, 5.0, 0.05), ..Options::new(1) },
        Options { sprt: sprt(0.0, f64::NAN, 0.05), ..Options::new(1) },
        Options { sprt: sprt(0.0, 9999.0, 0.05), ..Options::new(1) },
        Options { sprt: sprt(0.0, 5.0, 0.5), ..Options::new(1) },
    ] {
        let refused = run(&options, [&Contestant::Random, &Contestant::Random], &());
        assert!(matches!(refused, Err(Error::Option(_))), "{refused:?}");
    }
}

/// Says stop after two pairs.
#[derive(Default)]
struct Impatient(Mutex<u32>);

impl Observer for Impatient {
    fn pair(&self, _games: &[Played; 2], _score: &Score, _sprt: Option<&Standing>) {
        *self.0.lock().unwrap() += 1;
    }

    fn is_stopping(&self) -> bool {
        *self.0.lock().unwrap() >= 2
    }
}

#[test]
fn a_match_that_is_stopped_reports_what_was_counted() {
    let observer = Impatient::default();
    let report = run(&short(1000), [&Contestant::Random, &Contestant::Random], &observer).unwrap();
    let shown = u64::from(*observer.0.lock().unwrap());
    assert!((2..1000).contains(&shown));
    assert_eq!(report.score.games(), 2 * shown);
}

/// The move of the highest logit, the first of equals.
#[test]
fn a_policy_plays_its_best_move() {
    struct Likes;
    impl Evaluator for Likes {
        fn batch_hint(&self) -> usize {
            1
        }
        fn evaluate(&mut self, batch: &[Request<'_>], replies: &mut Replies) -> Result<(), EvaluatorError> {
            for (request, reply) in batch.iter().zip(replies.iter_mut()) {
                for (logit, mv) in reply.logits.iter_mut().zip(request.moves) {
                    *logit = if Some(*mv) == Move16::from_usi("7g7f") { 1.0 } else { -1.0 };
                }
                *reply.value = 0.0;
            }
            Ok(())
        }
    }
    impl Evaluators for Likes {
        fn identity(&self) -> Identity {
            Identity::new("likes", Some("xxh3:00".to_owned()))
        }
        fn evaluator(&self) -> Result<Box<dyn Evaluator + '_>, EvaluatorError> {
            Ok(Box::new(Likes))
        }
    }
    let likes = Contestant::Policy { evaluators: Arc::new(Likes) };
    assert_eq!(likes.to_string(), "policy of likes xxh3:00");
    let options = Options { random_plies: 0, ..short(1) };
    let (_, games) = played(&options, [&likes, &Contestant::Random]);
    assert_eq!(games[0].moves[0], Move16::from_usi("7g7f").unwrap());
    // Behind it the first legal move, by its bits.
    let mut moves = Vec::new();
    let mut shogi = Shogi::new(60);
    for mv in &games[0].moves[..2] {
        shogi.advance(*mv).unwrap();
    }
    shogi.board().legal_moves(&mut moves);
    assert_eq!(games[0].moves[2], moves[0]);
}
