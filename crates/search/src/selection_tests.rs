//! The selections against twins that take every formula as it stands, over random nodes.
#![expect(clippy::cast_possible_truncation, reason = "random numbers, cut to size")]

use crate::completed::Completed;
use crate::options::{Gumbel, Puct, PuctQ, QScale, Unvisited};
use crate::puct::Sums;
use crate::random::Random;
use crate::tree::{Node, Tree};
use crate::{gumbel, puct};

/// A node with random logits, visits and values; with a wide spread some priors are beyond f32.
fn node(random: &mut Random, spread: f64) -> (Tree<u32>, Node) {
    let mut below = |n: f64| random.unit() * n;
    let count = 1 + below(60.0) as u32;
    let moves: Vec<u32> = (0..count).collect();
    let logits: Vec<f32> = moves.iter().map(|_| (below(2.0 * spread) - spread) as f32).collect();
    let mut tree = Tree::new();
    tree.add(None, &moves, &logits, (below(2.0) - 1.0) as f32).unwrap();
    let visited = below(1.2);
    let most = if below(1.0) < 0.3 { 1.0 } else { below(400.0) };
    for edge in 0..moves.len() {
        if below(1.0) < visited {
            tree.visits[edge] = 1 + below(most) as u32;
            tree.totals[edge] = f64::from(tree.visits[edge]) * (below(2.0) - 1.0);
        }
    }
    let node = tree.open(0);
    (tree, node)
}

fn by_puct(tree: &Tree<u32>, node: &Node, puct: &Puct) -> usize {
    let visits = 1.0 + tree.visits.iter().map(|&count| f64::from(count)).sum::<f64>();
    let mean = (f64::from(node.value) + tree.totals.iter().sum::<f64>()) / visits;
    puct::edge(tree, node, puct, Sums { visits, mean })
}

fn softmax(logits: &[f64]) -> Vec<f64> {
    let top = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = logits.iter().map(|logit| (logit - top).exp()).sum();
    logits.iter().map(|logit| (logit - top).exp() / sum).collect()
}

/// The chosen one has the highest score, but for rounding.
fn is_best(scores: &[f64], chosen: usize) {
    let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    assert!(scores[chosen] > best - 1e-6, "{} was chosen, {best} is the best of {scores:?}", scores[chosen]);
}

fn scaled(tree: &Tree<u32>, node: &Node, gumbel: &Gumbel) -> Vec<f64> {
    let all: f64 = tree.visits.iter().map(|&count| f64::from(count)).sum();
    let logits: Vec<f64> = tree.logits.iter().map(|&logit| f64::from(logit)).collect();
    // mctx's floor under priors is f32's smallest normal number.
    let prior: Vec<f64> =
        softmax(&logits).iter().map(|prior| prior.max(f64::from(f32::MIN_POSITIVE))).collect();
    let visited = || (0..prior.len()).filter(|&edge| tree.visits[edge] > 0);
    let mass: f64 = visited().map(|edge| prior[edge]).sum();
    let weighted: f64 = visited().map(|edge| prior[edge] * tree.q(edge)).sum();
    let value = f64::from(node.value);
    let mix = if all > 0.0 { (value + all * weighted / mass) / (1.0 + all) } else { value };
    let completed: Vec<f64> =
        (0..prior.len()).map(|edge| if tree.visits[edge] > 0 { tree.q(edge) } else { mix }).collect();
    let low = completed.iter().copied().fold(f64::INFINITY, f64::min);
    let high = completed.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let most = f64::from(*tree.visits.iter().max().unwrap());
    let scale = (gumbel.c_visit + most) * gumbel.c_scale;
    let on_scale = |q: f64| match gumbel.q {
        QScale::Unit => (1.0 + q) / 2.0,
        QScale::Signed => q,
        QScale::MinMax => (q - low) / (high - low).max(1e-8),
    };
    completed.iter().zip(&logits).map(|(&q, logit)| logit + scale * on_scale(q)).collect()
}

#[test]
fn below_the_root_gumbel_takes_the_best_of_the_formula() {
    let mut random = Random::new(1, 0, 0);
    for round in 0..30_000 {
        let (tree, node) = node(&mut random, [3.0, 30.0, 200.0][round % 3]);
        let q = [QScale::Unit, QScale::Signed, QScale::MinMax][round / 3 % 3];
        let gumbel = Gumbel { q, c_scale: [1.0, 0.1, 20.0][round / 9 % 3], ..Gumbel::default() };
        let all: f64 = tree.visits.iter().map(|&count| f64::from(count)).sum();
        let policy = softmax(&scaled(&tree, &node, &gumbel));
        let scores: Vec<f64> = policy
            .iter()
            .zip(&tree.visits)
            .map(|(policy, &count)| policy - f64::from(count) / (1.0 + all))
            .collect();
        is_best(&scores, gumbel::inner_edge(&tree, &node, &gumbel));
        let scaled = scaled(&tree, &node, &gumbel);
        let highest = scaled.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = scaled.iter().map(|logit| (logit - highest).exp()).sum();
        let (_, found) = Completed::new(&tree, &node, &gumbel).normaliser(&tree, &node);
        assert!((found / sum - 1.0).abs() < 1e-3, "{found}, not {sum}");
        let mut improved = Vec::new();
        gumbel::improved(&tree, &node, &gumbel, &mut improved);
        for (found, wanted) in improved.iter().zip(&policy) {
            assert!((found - wanted).abs() < 1e-5);
        }
    }
}

#[test]
fn puct_takes_the_best_of_the_formula() {
    let mut random = Random::new(2, 0, 0);
    for round in 0..30_000 {
        let (tree, node) = node(&mut random, [3.0, 30.0, 200.0][round % 3]);
        let q = [
            PuctQ::Unit(Unvisited::Loss),
            PuctQ::Unit(Unvisited::Node),
            PuctQ::Unit(Unvisited::Below(0.3)),
            PuctQ::Siblings,
        ][round / 3 % 4];
        let puct = Puct { q, ..Puct::default() };
        let logits: Vec<f64> = tree.logits.iter().map(|&logit| f64::from(logit)).collect();
        let prior = softmax(&logits);
        let visits: Vec<f64> = tree.visits.iter().map(|&count| f64::from(count)).collect();
        let all = 1.0 + visits.iter().sum::<f64>();
        let mean = (f64::from(node.value) + tree.totals.iter().sum::<f64>()) / all;
        let values: Vec<Option<f64>> =
            (0..prior.len()).map(|edge| (visits[edge] > 0.0).then(|| tree.q(edge))).collect();
        let low = values.iter().flatten().copied().fold(mean, f64::min);
        let high = values.iter().flatten().copied().fold(mean, f64::max);
        let scores: Vec<f64> = (0..prior.len())
            .map(|edge| {
                let q = match (q, values[edge]) {
                    (PuctQ::Unit(_), Some(q)) => (1.0 + q) / 2.0,
                    (PuctQ::Unit(Unvisited::Loss), None) => 0.0,
                    (PuctQ::Unit(Unvisited::Node), None) => (1.0 + mean) / 2.0,
                    (PuctQ::Unit(Unvisited::Below(below)), None) => ((1.0 + mean) / 2.0 - below).max(0.0),
                    (PuctQ::Siblings, q) => (q.unwrap_or(low) - low) / (high - low).max(1e-8),
                };
                let c = ((1.0 + all + 19_652.0) / 19_652.0).ln() + 1.25;
                q + prior[edge] * all.sqrt() / (1.0 + visits[edge]) * c
            })
            .collect();
        is_best(&scores, by_puct(&tree, &node, &puct));
    }
}

/// Equal scores go to the first, whether visited or not.
#[test]
fn ties_go_to_the_first() {
    let mut tree = Tree::new();
    tree.add(None, &[1, 2, 3, 4], &[0.0; 4], 0.0).unwrap();
    let node = tree.open(0);
    let (default, by_gumbel) = (Puct::default(), Gumbel::default());
    let root = |tree: &Tree<u32>, visits| gumbel::root_edge(tree, &node, &by_gumbel, &[0.0; 4], visits);
    assert_eq!(by_puct(&tree, &node, &default), 0);
    assert_eq!(gumbel::inner_edge(&tree, &node, &by_gumbel), 0);
    assert_eq!((root(&tree, 0), root(&tree, 1)), (Some(0), None));
    tree.visits[0] = 1;
    assert_eq!(gumbel::inner_edge(&tree, &node, &by_gumbel), 1);
    assert_eq!(root(&tree, 0), Some(1));
    tree.visits.fill(1);
    assert_eq!(by_puct(&tree, &node, &default), 0);
    assert_eq!(gumbel::inner_edge(&tree, &node, &by_gumbel), 0);
    assert_eq!(puct::most_visited(&[2, 5, 5, 1]), 1);
}

/// A visited move of value −0.5 and an unvisited one taken for as much, both of no prior: the first, whichever it is.
#[test]
fn a_visited_and_an_unvisited_move_of_one_score_are_taken_in_their_order() {
    let puct = Puct { c_init: 0.0, q: PuctQ::Unit(Unvisited::Node), ..Puct::default() };
    for visited in [0, 1] {
        let mut tree = Tree::new();
        tree.add(None, &[1, 2, 3], &[-200.0, -200.0, 0.0], 1.0).unwrap();
        (tree.visits[visited], tree.totals[visited]) = (1, -0.5);
        (tree.visits[2], tree.totals[2]) = (3, -3.0);
        let node = tree.open(0);
        assert_eq!(by_puct(&tree, &node, &puct), 0);
    }
}

/// Noise takes the place of a quarter of each prior, and of no more.
#[test]
fn noise_is_mixed_into_the_priors_by_its_share() {
    let mut random = Random::new(3, 0, 0);
    let mut shares = Vec::new();
    let mut moved = 0.0;
    for _ in 0..500 {
        let (mut tree, node) = node(&mut random, 3.0);
        let before = tree.priors.clone();
        let puct = Puct { noise_share: 0.25, ..Puct::default() };
        puct::add_noise(&mut tree, &node, &puct, &mut random, &mut shares);
        let sum: f32 = tree.priors.iter().sum();
        assert!((sum - 1.0).abs() < 1e-5, "{sum}");
        for (after, before) in tree.priors.iter().zip(&before) {
            assert!(*after >= 0.75 * before - 1e-6 && *after <= 0.75 * before + 0.250_001);
            moved += f64::from((after - before).abs());
        }
    }
    assert!(moved > 500.0 * 0.1, "{moved}");
}
