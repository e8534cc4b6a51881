//! What a run promises of its games: order, views, openings, resignation, independence of threads and batches.

mod games;

use games::{Opinions, bytes, games, gumbel, play, puct};
use manaka_core::{Color, Conventions, Move16, conventions::NO_CP, stream::StreamReader};
use manaka_search::Rule;
use manaka_selfplay::{
    DATA, Ending, Error, Evaluator, EvaluatorError, Evaluators, Identity, Options, Replies, Report, Request,
    Winner, run,
};
use manaka_shogi::Board;
use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroUsize;

fn some(n: usize) -> NonZeroUsize {
    NonZeroUsize::new(n).unwrap()
}

/// The same games, whoever plays them how.
#[test]
fn threads_and_batches_do_not_show() {
    for mut options in [gumbel(90), puct(40)] {
        options.openings.policy_plies = 3;
        let (report, dir) = play(&options, &Opinions::default());
        let wanted = bytes(dir.path());
        assert_eq!(report.totals.games, options.games);
        for (threads, batch, likes) in [(3, None, 1), (1, Some(7), 1), (2, Some(100), 1), (3, None, 16)] {
            options.threads = some(threads);
            options.batch = batch.map(some);
            let (again, dir) = play(&options, &Opinions { batch: likes, ..Opinions::default() });
            assert!(bytes(dir.path()) == wanted, "{threads} threads, batches of {batch:?}");
            assert_eq!(again.totals, report.totals);
        }
        options.seed = 2;
        let (_, dir) = play(&options, &Opinions::default());
        assert!(bytes(dir.path()).0 != wanted.0);
    }
}

#[test]
fn a_stream_of_visits_holds_every_position_of_every_game_from_its_movers_view() {
    for mut options in [gumbel(30), puct(30)] {
        options.max_ply = 200;
        let (report, dir) = play(&options, &Opinions::default());
        let header = *StreamReader::open(&dir.path().join(DATA)).unwrap().header();
        assert_eq!(header.conventions, Conventions::VISITS);
        let budget = options.search.budget;
        let (mut endings, mut beginnings) = (BTreeMap::new(), Vec::new());
        for (number, (line, records)) in games(dir.path()).into_iter().enumerate() {
            assert_eq!(line.game, number as u64);
            *endings.entry(line.ending).or_insert(0) += 1;
            assert_eq!(records.len() as u64, line.records);
            let beginning = records[..4].to_vec();
            assert!(!beginnings.contains(&beginning), "game {number} begins as one before it");
            beginnings.push(beginning);
            for (ply, record) in (1..).zip(&records) {
                assert_eq!(record.ply, ply);
                let side: Winner = Some(record.packed.side()).into();
                let wanted = match line.winner {
                    Winner::Draw => 0.0,
                    winner if winner == side => 1.0,
                    _ => -1.0,
                };
                assert_eq!(record.value_z, wanted);
                assert!((-1.0..=1.0).contains(&record.value_q));
                assert!(record.candidates.iter().all(|candidate| candidate.cp == NO_CP));
                let sum: u32 = record.candidates.iter().map(|candidate| candidate.visits).sum();
                match options.search.rule {
                    Rule::Puct(_) => assert_eq!(sum, budget),
                    Rule::Gumbel(_) => assert!(sum.abs_diff(65536) < 300, "{sum}"),
                }
            }
            // Each position follows from the one before, under PUCT by a move that was visited.
            for pair in records.windows(2) {
                let follows = |mv: &Move16| pair[0].packed.after(*mv) == Some(pair[1].packed);
                let mut moves: Vec<_> = pair[0].candidates.iter().map(|candidate| candidate.mv).collect();
                if matches!(options.search.rule, Rule::Gumbel(_)) {
                    Board::from_packed(&pair[0].packed, 1).unwrap().legal_moves(&mut moves);
                }
                assert!(moves.iter().any(follows));
            }
            // One evaluation for the root, and one at most for each simulation.
            let most = line.records * u64::from(1 + budget);
            assert!(line.evaluations <= most && line.evaluations > line.records);
        }
        let total: u64 = report.totals.endings.values().sum();
        assert_eq!(total, 30);
        assert!(endings.iter().all(|(ending, n)| report.totals.endings[ending] == *n));
        assert!(report.complete && report.totals.endings[&Ending::MaxPly] > 0, "{:?}", report.totals);
        assert!(Winner::ALL.iter().all(|winner| report.totals.winners[winner] > 0), "{:?}", report.totals);
    }
}

/// A position with one legal move is searched and written as any other.
#[test]
fn one_legal_move_has_all_the_visits() {
    let dir = tempfile::tempdir().unwrap();
    let book = dir.path().join("book.txt");
    // White's king has one way out of the check.
    fs::write(&book, "8k/9/7G1/9/9/9/9/9/K7R w - 1\n").unwrap();
    for (mut options, wanted) in [(puct(1), 12), (gumbel(1), 65536)] {
        options.openings.book = Some(book.clone());
        options.max_ply = 2;
        let (_, dir) = play(&options, &Opinions::default());
        let (_, records) = &games(dir.path())[0];
        let legal = Board::from_packed(&records[0].packed, 1).unwrap().legal_count();
        assert_eq!(legal, 1, "{:?}", records[0].packed);
        let visits: Vec<_> = records[0].candidates.iter().map(|candidate| candidate.visits).collect();
        assert_eq!(visits, [wanted]);
    }
}

#[test]
fn openings_come_from_the_book_in_turn_and_policy_plies_are_not_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let book = dir.path().join("book.txt");
    let lines = ["startpos moves 7g7f", "startpos moves 2g2f 8c8d", "sfen 4k4/9/9/9/9/9/9/9/4K4 b Rr 11"];
    fs::write(&book, lines.join("\n")).unwrap();
    let mut options = gumbel(9);
    options.openings.book = Some(book.clone());
    let (_, played) = play(&options, &Opinions::default());
    let firsts = |dir: &std::path::Path| -> Vec<_> {
        games(dir).iter().map(|(_, records)| (records[0].ply, records[0].packed)).collect()
    };
    let positions = firsts(played.path());
    assert_eq!(positions[..3], positions[3..6]);
    let mut plies: Vec<_> = positions[..3].iter().map(|(ply, _)| *ply).collect();
    plies.sort_unstable();
    assert_eq!(plies, [2, 3, 11]);

    options.openings.policy_plies = 4;
    let (_, drawn) = play(&options, &Opinions::default());
    let later = firsts(drawn.path());
    assert!(later.iter().zip(&positions).all(|((after, _), (before, _))| *after <= before + 4));
    assert!(
        later.iter().zip(&positions).filter(|((after, _), (before, _))| *after == before + 4).count() >= 6
    );
    assert!(games(drawn.path()).iter().all(|(line, records)| records.len() as u32 <= line.plies));

    fs::write(&book, "nonsense\n").unwrap();
    let error = run(&options, &Opinions::default(), dir.path().join("out").as_path(), &()).unwrap_err();
    assert!(error.to_string().contains("book.txt: line 1"), "{error}");
}

/// Says the same of every position: that Black has lost it.
struct BlackIsLost;

impl Evaluator for BlackIsLost {
    fn batch_hint(&self) -> usize {
        1
    }

    fn evaluate(&mut self, batch: &[Request<'_>], replies: &mut Replies) -> Result<(), EvaluatorError> {
        for (request, reply) in batch.iter().zip(replies.iter_mut()) {
            reply.logits.fill(0.0);
            *reply.value = if request.position.side() == Color::Black { -0.96 } else { 0.96 };
        }
        Ok(())
    }
}

impl Evaluators for BlackIsLost {
    fn identity(&self) -> Identity {
        Identity::new("black is lost", Some("xxh3:0".to_owned()))
    }

    fn evaluator(&self) -> Result<Box<dyn Evaluator + '_>, EvaluatorError> {
        Ok(Box::new(Self))
    }
}

#[test]
fn a_side_resigns_after_so_many_searches_that_find_it_lost_and_its_last_position_is_recorded() {
    let mut options = puct(10);
    (options.resign.play_on, options.resign.count) = (0.0, 3);
    let (report, dir) = play(&options, &BlackIsLost);
    assert_eq!(report.totals.endings[&Ending::Resignation], 10);
    assert_eq!(report.totals.winners[&Winner::White], 10);
    assert_eq!((report.first_mover_win_share, report.totals.played_on), (Some(0.0), 0));
    for (line, records) in games(dir.path()) {
        // Moves 1, 3 and 5 are Black's; the fifth is not played.
        assert_eq!((line.plies, records.len()), (4, 5));
        assert_eq!(records.iter().map(|r| r.value_z).collect::<Vec<_>>(), [-1.0, 1.0, -1.0, 1.0, -1.0]);
    }
    options.resign.value = 0.97;
    assert_eq!(play(&options, &BlackIsLost).0.totals.endings[&Ending::Resignation], 0);
    (options.resign.value, options.resign.count) = (0.9, 0);
    assert_eq!(play(&options, &BlackIsLost).0.totals.endings[&Ending::Resignation], 0);
}

#[test]
fn games_that_play_on_say_how_often_resigning_would_have_been_wrong() {
    let mut options = puct(200);
    options.resign.count = 1;
    options.max_ply = 6;
    options.resign.play_on = 0.25;
    let (report, dir) = play(&options, &BlackIsLost);
    let totals = &report.totals;
    assert!((30..70).contains(&totals.played_on), "{totals:?}");
    assert_eq!(totals.given_up, totals.played_on);
    assert_eq!(totals.endings[&Ending::Resignation], 200 - totals.played_on);
    // Nobody is mated in six plies: they are draws, which are no losses.
    assert_eq!((totals.given_up_drawn, totals.given_up_won), (totals.given_up, 0));
    assert_eq!(report.false_resign_rate, Some(1.0));
    for (line, _) in games(dir.path()) {
        assert_eq!(line.given_up, line.plays_on.then_some(Winner::Black));
    }
}

/// What goes wrong at the evaluator number `at`, or in its call of that number.
#[derive(Clone, Copy)]
enum Wrong {
    Fails,
    SaysNothing,
    Panics,
    IsNotMade,
}

struct Broken(Wrong, u32);

impl Evaluator for Broken {
    fn batch_hint(&self) -> usize {
        4
    }

    fn evaluate(&mut self, batch: &[Request<'_>], replies: &mut Replies) -> Result<(), EvaluatorError> {
        self.1 += 1;
        match self.0 {
            Wrong::Fails if self.1 > 1000 => return Err(EvaluatorError::new("out of ideas")),
            Wrong::SaysNothing if self.1 > 1000 => return Ok(()),
            #[expect(clippy::panic, reason = "on purpose")]
            Wrong::Panics if self.1 > 1000 => panic!("on purpose"),
            _ => {}
        }
        Opinions::default().evaluate(batch, replies)
    }
}

impl Evaluators for Broken {
    fn identity(&self) -> Identity {
        Opinions::default().identity()
    }

    fn evaluator(&self) -> Result<Box<dyn Evaluator + '_>, EvaluatorError> {
        match self.0 {
            Wrong::IsNotMade => Err(EvaluatorError::new("no such net")),
            wrong => Ok(Box::new(Self(wrong, 0))),
        }
    }
}

#[test]
fn an_evaluator_that_fails_ends_the_run_and_the_games_before_stay() {
    let mut options = gumbel(1_000_000);
    options.threads = some(2);
    for (wrong, said) in [
        (Wrong::Fails, "out of ideas"),
        (Wrong::SaysNothing, "the evaluator: "),
        (Wrong::Panics, "a worker thread failed"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let error = run(&options, &Broken(wrong, 0), dir.path(), &()).unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
        let written = games(dir.path());
        assert!(!written.is_empty());
        assert!(written.iter().all(|(line, records)| records.len() as u64 == line.records));
    }
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let error = run(&options, &Broken(Wrong::IsNotMade, 0), &out, &()).unwrap_err();
    assert!(matches!(error, Error::Evaluator(_)) && !out.exists(), "{error}");
}

#[test]
fn options_that_make_no_sense_are_refused_before_anything_is_written() {
    let refused = |change: &dyn Fn(&mut Options)| {
        let mut options = gumbel(1);
        change(&mut options);
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("out");
        let error = run(&options, &Opinions::default(), &out, &()).unwrap_err();
        assert!(!out.exists());
        error.to_string()
    };
    assert!(refused(&|o| o.max_ply = 0).contains("max_ply"));
    assert!(refused(&|o| o.max_ply = 10_001).contains("max_ply"));
    assert!(refused(&|o| o.resign.value = -0.9).contains("resign value"));
    assert!(refused(&|o| o.resign.play_on = f64::NAN).contains("share"));
    assert!(refused(&|o| o.search.budget = 0).contains("budget"));
}

/// Figures of a report as they are read.
#[test]
fn the_report_is_the_file_beside_the_stream() {
    let (report, dir) = play(&puct(3), &Opinions::default());
    let text = fs::read_to_string(dir.path().join(manaka_selfplay::REPORT)).unwrap();
    let read: Report = serde_json::from_str(&text).unwrap();
    assert_eq!(read, report);
    assert_eq!(report.data_bytes, bytes(dir.path()).0.len() as u64);
    assert_eq!(report.settings["evaluator"]["name"], "opinions");
    assert_eq!(report.settings["search"]["budget"], 12);
    assert!(report.evaluations_per_second > 0.0 && report.mean_plies.unwrap() > 1.0);
}
