//! What a search promises, over thousands of searches of random games.

mod table;

use manaka_search::{
    Error, Gumbel, MateTest, Options, Outcome, Puct, PuctQ, QScale, QUANTA, Random, Rule, Schedule, Search,
    Step, Unvisited, quanta,
};
use table::wild::Wild;
use table::{Table, run, run_wild};

/// Every rule and scale in turn.
fn rule(number: u64) -> Rule {
    let q = [QScale::Unit, QScale::Signed, QScale::MinMax][(number / 2 % 3) as usize];
    let considered = [16, 1, 4, 7, 64, 1000][(number / 6 % 6) as usize];
    let unvisited = [
        PuctQ::Unit(Unvisited::Loss),
        PuctQ::Unit(Unvisited::Node),
        PuctQ::Unit(Unvisited::Below(0.2)),
        PuctQ::Siblings,
    ][(number / 2 % 4) as usize];
    if number.is_multiple_of(2) {
        Rule::Gumbel(Gumbel { q, considered, ..Gumbel::default() })
    } else {
        Rule::Puct(Puct { q: unvisited, ..Puct::default() })
    }
}

fn options(number: u64) -> Options {
    let budget = 1 + (number * 37 % 150) as u32;
    let mate_test = if number.is_multiple_of(3) { MateTest::Off } else { MateTest::Leaf };
    Options { budget, rule: rule(number), mate_test }
}

fn wild(number: u64) -> Wild {
    Wild { longest: 1 + (number % 23) as usize, ..Wild::new(number, 1 + number * 7 % 90) }
}

/// A search of its own for each number.
fn outcome(number: u64) -> Outcome<u32> {
    let mut search = Search::new(options(number)).unwrap();
    search.begin(Random::new(number, 5, 9), (number % 60) as u32);
    run_wild(&mut search, &mut wild(number)).unwrap()
}

#[test]
fn the_visits_of_ten_thousand_searches_sum_to_their_budgets() {
    let mut seen = [0, 0];
    for number in 0..10_000 {
        let outcome = outcome(number);
        let options = options(number);
        assert_eq!(outcome.moves.iter().map(|mv| mv.visits).sum::<u32>(), options.budget, "search {number}");
        assert_eq!(outcome.budget, options.budget);
        let policy: f64 = outcome.moves.iter().map(|mv| mv.policy).sum();
        let prior: f64 = outcome.moves.iter().map(|mv| mv.prior).sum();
        assert!((policy - 1.0).abs() < 1e-9 && (prior - 1.0).abs() < 1e-9, "search {number}");
        assert!((-1.0..=1.0).contains(&outcome.value) && (-1.0..=1.0).contains(&outcome.mean));
        assert!(outcome.moves[outcome.chosen].visits > 0, "search {number} plays a move it never tried");
        match options.rule {
            Rule::Puct(_) => {
                seen[0] += 1;
                // Every visited move is written with its visits, and no other.
                let written: Vec<_> = outcome.written().collect();
                let visited: Vec<_> =
                    outcome.moves.iter().filter(|mv| mv.visits > 0).map(|mv| (mv.mv, mv.visits)).collect();
                assert_eq!(written, visited);
            }
            Rule::Gumbel(_) => {
                seen[1] += 1;
                // A rounding each, of no more than half a quantum.
                let sum: u32 = outcome.written().map(|(_, target)| target).sum();
                let slack = outcome.moves.len().div_ceil(2) as u32;
                assert!(sum.abs_diff(QUANTA) <= slack, "search {number}: {sum}");
                for mv in &outcome.moves {
                    assert_eq!(mv.target, quanta(mv.policy));
                }
            }
        }
    }
    assert_eq!(seen, [5000, 5000]);
}

/// Σ N q / Σ N from the visits alone, and mctx's mean with the root's own evaluation in it.
#[test]
fn the_root_value_of_puct_is_the_mean_of_its_simulations() {
    for number in (1..2000).step_by(2) {
        let outcome = outcome(number);
        let total: f64 = outcome.moves.iter().filter_map(|mv| Some(mv.q? * f64::from(mv.visits))).sum();
        let budget = f64::from(outcome.budget);
        assert!((outcome.value - total / budget).abs() < 1e-9);
        assert!((outcome.mean - (total + f64::from(outcome.evaluation)) / (budget + 1.0)).abs() < 1e-9);
    }
}

/// Completed Q, the improved policy and its value again, by the formulas as they stand, from what is public.
#[test]
fn the_improved_policy_is_that_of_the_formula_and_better_than_the_prior() {
    let (mut better, mut all) = (0, 0);
    for number in (0..6000).step_by(2) {
        let outcome = outcome(number);
        let Rule::Gumbel(gumbel) = options(number).rule else { continue };
        let visits: f64 = outcome.moves.iter().map(|mv| f64::from(mv.visits)).sum();
        let visited = || outcome.moves.iter().filter(|mv| mv.visits > 0);
        let weighted: f64 = visited().map(|mv| mv.prior * mv.q.unwrap()).sum();
        let mass: f64 = visited().map(|mv| mv.prior).sum();
        let mix = (f64::from(outcome.evaluation) + visits * weighted / mass) / (1.0 + visits);
        let completed: Vec<f64> = outcome.moves.iter().map(|mv| mv.q.unwrap_or(mix)).collect();
        let low = completed.iter().copied().fold(f64::INFINITY, f64::min);
        let high = completed.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let most = f64::from(outcome.moves.iter().map(|mv| mv.visits).max().unwrap());
        let weights: Vec<f64> = outcome
            .moves
            .iter()
            .zip(&completed)
            .map(|(mv, q)| {
                let q = match gumbel.q {
                    QScale::Unit => (1.0 + q) / 2.0,
                    QScale::Signed => *q,
                    QScale::MinMax => (q - low) / (high - low).max(1e-8),
                };
                mv.prior * ((gumbel.c_visit + most) * gumbel.c_scale * q).exp()
            })
            .collect();
        let sum: f64 = weights.iter().sum();
        let mut value = 0.0;
        for ((mv, weight), q) in outcome.moves.iter().zip(&weights).zip(&completed) {
            assert!((mv.policy - weight / sum).abs() < 1e-5, "search {number}");
            value += mv.policy * q;
        }
        assert!((outcome.value - value).abs() < 1e-5);
        let before: f64 = outcome.moves.iter().zip(&completed).map(|(mv, q)| mv.prior * q).sum();
        assert!(outcome.value >= before - 1e-7, "search {number}: {} after {before}", outcome.value);
        better += u32::from(outcome.value > before);
        all += u32::from(outcome.moves.len() > 1);
    }
    assert!(better > all * 9 / 10, "{better} of {all}");
}

#[test]
fn visits_of_puct_follow_the_prior_when_all_values_are_equal() {
    let distance = |budget| {
        let mut game = Wild { flat: Some(0.0), over: u64::MAX, spread: 2.0, ..Wild::new(11, 60) };
        let puct = Puct { noise_share: 0.0, q: PuctQ::Unit(Unvisited::Node), ..Puct::default() };
        let mut search =
            Search::new(Options { mate_test: MateTest::Off, ..Options::new(budget, puct) }).unwrap();
        search.begin(Random::new(1, 1, 1), 0);
        let outcome = run_wild(&mut search, &mut game).unwrap();
        assert!(outcome.moves.len() > 10);
        outcome.moves.iter().map(|mv| (mv.policy - mv.prior).abs()).sum::<f64>() / 2.0
    };
    let distances = [100, 400, 800, 3200].map(distance);
    assert!(distances.is_sorted_by(|a, b| a > b), "{distances:?}");
    assert!(distances[0] < 0.2 && distances[3] < 0.01, "{distances:?}");
}

/// A hundred games on one worker, evaluated in batches, with searches begun anew in used memory: the outcomes of a
/// hundred searches one after the other.
#[test]
fn searches_that_take_turns_come_out_as_if_each_were_alone() {
    let mut searches: Vec<Search<u32>> =
        (0..100).map(|number| Search::new(options(number)).unwrap()).collect();
    let mut games: Vec<Wild> = (0..100).map(wild).collect();
    for round in 0..2 {
        for (number, search) in searches.iter_mut().enumerate() {
            let number = number as u64;
            search.begin(Random::new(number, 5 + round, 9), (number % 60) as u32);
        }
        let mut left = true;
        while left {
            left = false;
            let mut batch = Vec::new();
            for (number, (search, game)) in searches.iter_mut().zip(&mut games).enumerate() {
                if let Step::Evaluate(moves) = search.step(game).unwrap() {
                    batch.push((number, game.logits(moves), game.value()));
                    search.unwind(game);
                    assert_eq!(game.depth(), 0);
                    left = true;
                }
            }
            for (number, logits, value) in batch {
                searches[number].apply(&logits, value).unwrap();
            }
        }
        for (number, search) in searches.iter().enumerate() {
            let number = number as u64;
            let mut alone = Search::new(options(number)).unwrap();
            alone.begin(Random::new(number, 5 + round, 9), (number % 60) as u32);
            let alone = run_wild(&mut alone, &mut wild(number)).unwrap();
            assert_eq!(search.outcome(), Some(&alone));
        }
    }
}

#[test]
fn seed_game_and_ply_alone_make_the_draws() {
    for rule in [Rule::from(Puct::default()), Rule::from(Gumbel::default())] {
        let outcome = |seed, game, ply| {
            let mut search = Search::new(Options::new(64, rule)).unwrap();
            search.begin(Random::new(seed, game, ply), 0);
            run_wild(&mut search, &mut Wild::new(3, 400)).unwrap()
        };
        let one = outcome(1, 2, 3);
        assert!(one.moves.len() > 60);
        assert_eq!(one, outcome(1, 2, 3));
        for other in [outcome(2, 2, 3), outcome(1, 3, 3), outcome(1, 2, 4)] {
            let visits =
                |outcome: &Outcome<u32>| outcome.moves.iter().map(|mv| mv.visits).collect::<Vec<_>>();
            assert_ne!(visits(&one), visits(&other));
        }
    }
}

/// The game is back at the root after every step that ends a search, and after an unwound one.
#[test]
fn the_game_is_left_as_it_was_found() {
    for number in 0..500 {
        let mut game = wild(number);
        let before = game.state();
        let mut search = Search::new(options(number)).unwrap();
        search.begin(Random::new(0, 0, 0), 0);
        run_wild(&mut search, &mut game).unwrap();
        assert_eq!((game.depth(), game.state()), (0, before));
    }
}

#[test]
fn a_terminal_child_brings_its_exact_value_each_time() {
    let mut terminals = 0;
    for seed in 0..200 {
        let mut game = Table::new(256, 20, seed);
        let options = Options { mate_test: MateTest::Off, ..Options::new(300, Gumbel::default()) };
        let mut search = Search::new(options).unwrap();
        search.begin(Random::new(seed, 0, 0), 0);
        let outcome = run(&mut search, &mut game).unwrap();
        for mv in outcome.moves.iter().filter(|mv| mv.visits > 0) {
            use manaka_search::{Game, Status};
            game.play(mv.mv);
            if let Status::Over(value) = game.status(&mut Vec::new()) {
                terminals += 1;
                assert_eq!(mv.q, Some(-f64::from(value)));
            }
            game.undo();
        }
    }
    assert!(terminals > 100);
}

/// What the mate test finds is worth exactly 1 to the side at the leaf, is never evaluated and has no moves below.
#[test]
fn a_leaf_that_wins_at_once_is_not_evaluated() {
    let mut games = 0;
    for number in 0..300 {
        use manaka_search::Game;
        let mut game = Wild { over: u64::MAX, ..Wild::new(number, 30) };
        let mut search = Search::new(Options::new(200, rule(number))).unwrap();
        search.begin(Random::new(number, 0, 0), 0);
        let outcome = loop {
            match search.step(&mut game).unwrap() {
                Step::Evaluate(moves) => {
                    assert!(game.depth() == 0 || !game.wins_at_once());
                    let logits = game.logits(moves);
                    search.apply(&logits, game.value()).unwrap();
                }
                Step::Done(outcome) => break outcome,
            }
        };
        for mv in outcome.moves.iter().filter(|mv| mv.visits > 0) {
            game.play(mv.mv);
            if game.wins_at_once() {
                games += 1;
                assert_eq!(mv.q, Some(-1.0));
            }
            game.undo();
        }
    }
    assert!(games > 50);
}

#[test]
fn calls_out_of_turn_and_evaluations_that_are_none_are_refused_and_change_nothing() {
    let mut game = Wild::new(1, 9);
    let mut search = Search::new(Options::new(30, Gumbel::default())).unwrap();
    assert_eq!(search.step(&mut game).unwrap_err(), Error::NotBegun);
    assert_eq!(search.apply(&[], 0.0), Err(Error::NotAsked));
    search.begin(Random::new(1, 0, 0), 0);
    let Step::Evaluate(moves) = search.step(&mut game).unwrap() else { unreachable!() };
    let logits = game.logits(moves);
    assert_eq!(search.step(&mut game).unwrap_err(), Error::NotEvaluated);
    let wanted = logits.len();
    assert_eq!(search.apply(&logits[1..], 0.0), Err(Error::LogitCount { found: wanted - 1, wanted }));
    assert_eq!(search.apply(&logits, 1.01), Err(Error::Value { value: 1.01 }));
    assert!(matches!(search.apply(&logits, f32::NAN), Err(Error::Value { .. })));
    let mut broken = logits.clone();
    broken[1] = f32::NAN;
    assert!(matches!(search.apply(&broken, 0.0), Err(Error::Logit { index: 1, .. })));
    assert_eq!(search.outcome(), None);
    search.apply(&logits, game.value()).unwrap();
    assert_eq!(search.apply(&logits, 0.0), Err(Error::NotAsked));
    let outcome = run_wild(&mut search, &mut game).unwrap();
    let mut other = Search::new(Options::new(30, Gumbel::default())).unwrap();
    other.begin(Random::new(1, 0, 0), 0);
    assert_eq!(outcome, run_wild(&mut other, &mut Wild::new(1, 9)).unwrap());

    let mut over = Wild { longest: 0, ..Wild::new(1, 9) };
    search.begin(Random::new(1, 0, 0), 0);
    assert_eq!(search.step(&mut over).unwrap_err(), Error::RootOver { value: 0.0 });
    search.begin_with(&[0.0], 0);
    assert!(matches!(search.step(&mut game), Ok(Step::Evaluate(_))));
    assert_eq!(search.apply(&logits, 0.0), Err(Error::NoiseCount { found: 1, wanted }));
}

#[test]
fn constants_out_of_range_are_refused_by_name() {
    let refused = |options: Options| match Search::<u32>::new(options) {
        Err(Error::Option { option, .. }) => option,
        _ => "taken",
    };
    let (puct, gumbel) = (Puct::default(), Gumbel::default());
    assert_eq!(refused(Options::new(1, puct)), "taken");
    assert_eq!(refused(Options::new(0, puct)), "budget");
    assert_eq!(refused(Options::new(1, Puct { c_init: f64::NAN, ..puct })), "c_init");
    assert_eq!(refused(Options::new(1, Puct { c_base: 0.0, ..puct })), "c_base");
    assert_eq!(refused(Options::new(1, Puct { noise_alpha: 0.0, ..puct })), "noise_alpha");
    assert_eq!(refused(Options::new(1, Puct { noise_share: 1.1, ..puct })), "noise_share");
    let hot = Schedule::constant(f64::INFINITY);
    assert_eq!(refused(Options::new(1, Puct { temperature: hot, ..puct })), "temperature");
    assert_eq!(refused(Options::new(1, Gumbel { considered: 0, ..gumbel })), "considered");
    assert_eq!(refused(Options::new(1, Gumbel { c_visit: -1.0, ..gumbel })), "c_visit");
    assert_eq!(refused(Options::new(1, Gumbel { c_scale: f64::NAN, ..gumbel })), "c_scale");
}

/// Temperature 1 draws by the visits for 30 plies, then the most visited is played.
#[test]
fn moves_of_puct_are_drawn_by_their_visits_until_a_ply() {
    let played = |ply, number| {
        let puct = Puct { noise_share: 0.0, ..Puct::default() };
        let mut search = Search::new(Options::new(50, puct)).unwrap();
        search.begin(Random::new(number, 0, 0), ply);
        let outcome = run_wild(&mut search, &mut Wild::new(4, 12)).unwrap();
        (outcome.chosen, outcome)
    };
    let (_, outcome) = played(0, 0);
    let most = outcome.moves.iter().map(|mv| mv.visits).max().unwrap();
    let mut counts = vec![0u32; outcome.moves.len()];
    for number in 0..2000 {
        counts[played(29, number).0] += 1;
        if number < 50 {
            assert_eq!(outcome.moves[played(30, number).0].visits, most);
        }
    }
    for (count, mv) in counts.iter().zip(&outcome.moves) {
        // Five standard deviations.
        let wanted = 2000.0 * mv.policy;
        let slack = 5.0 * (wanted * (1.0 - mv.policy)).sqrt();
        assert!((f64::from(*count) - wanted).abs() <= slack, "{counts:?}");
    }
}

#[test]
fn probabilities_are_written_in_whole_quanta() {
    assert_eq!(quanta(1.0), 65_536);
    assert_eq!(quanta(0.5), 32_768);
    assert_eq!(quanta(0.49 / 65_536.0), 0, "below half a quantum nothing is written");
    assert_eq!(quanta(0.5 / 65_536.0), 1);
    assert_eq!(quanta(1.49 / 65_536.0), 1);
    assert_eq!(quanta(f64::NAN), 0);
    // One legal move is certain.
    let outcome = (0..200).map(outcome).find(|outcome| outcome.moves.len() == 1).unwrap();
    assert!([QUANTA, outcome.budget].contains(&outcome.moves[0].target));
}
