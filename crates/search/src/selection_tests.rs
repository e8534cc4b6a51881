//! The selections against twins that take every formula as it stands, over random nodes.
#![expect(clippy::cast_possible_truncation, reason = "random numbers, cut to size")]

use crate::completed::Completed;
use crate::options::{Gumbel, Puct, PuctQ, QScale, Unvisited};
use crate::puct::Sums;
use crate::random::Random;
use crate::tree::{Key, Node, Tree};
use crate::{gumbel, puct};

/// A node whose simulations were set, and what was set: everything by place.
struct Case {
    tree: Tree<u32>,
    logits: Vec<f32>,
    visits: Vec<u32>,
    /// The mean value of each visited move.
    means: Vec<f64>,
    value: f32,
}

impl Case {
    fn new(key: Key, logits: &[f32], value: f32) -> Self {
        let moves: Vec<u32> = (0..logits.len() as u32).collect();
        let mut tree = Tree::new(key);
        tree.add(None, &moves, logits, value).unwrap();
        tree.open(0);
        Self {
            tree,
            logits: logits.to_vec(),
            visits: vec![0; moves.len()],
            means: vec![0.0; moves.len()],
            value,
        }
    }

    /// A node with random logits, visits and values; with a wide spread some priors are beyond f32.
    fn random(key: Key, random: &mut Random, spread: f64) -> Self {
        let mut below = |n: f64| random.unit() * n;
        let count = 1 + below(60.0) as usize;
        let logits: Vec<f32> = (0..count).map(|_| (below(2.0 * spread) - spread) as f32).collect();
        let mut case = Self::new(key, &logits, (below(2.0) - 1.0) as f32);
        let visited = below(1.2);
        let most = if below(1.0) < 0.3 { 1.0 } else { below(400.0) };
        // From both ends by turns: moves are not visited in the order of their places.
        for step in 0..count {
            let place = if step % 2 == 0 { step / 2 } else { count - 1 - step / 2 };
            if below(1.0) < visited {
                case.visit(place, 1 + below(most) as u32, below(2.0) - 1.0);
            }
        }
        case
    }

    fn node(&self) -> Node {
        self.tree.nodes[0]
    }

    fn edge(&self, place: usize) -> usize {
        self.node().edges().find(|&edge| self.tree.place(edge) == place).unwrap()
    }

    fn visit(&mut self, place: usize, visits: u32, mean: f64) {
        let mut edge = self.edge(place);
        if self.visits[place] == 0 {
            edge = self.tree.add(Some((0, edge)), &[], &[], 0.0).unwrap();
        }
        (self.visits[place], self.means[place]) = (visits, mean);
        self.tree.visits[edge] = visits;
        self.tree.totals[edge] = f64::from(visits) * mean;
        self.tree.means[edge] = mean;
        self.tree.urges[edge] = f64::from(self.tree.priors[edge]) / (1.0 + f64::from(visits));
    }

    fn sums(&self) -> Sums {
        let visits = 1.0 + self.visits.iter().map(|&count| f64::from(count)).sum::<f64>();
        let total: f64 =
            self.visits.iter().zip(&self.means).map(|(&count, mean)| f64::from(count) * mean).sum();
        Sums { visits, mean: (f64::from(self.value) + total) / visits }
    }

    fn by_puct(&self, puct: &Puct) -> usize {
        self.tree.place(puct::edge(&self.tree, &self.node(), puct, self.sums()))
    }

    fn by_gumbel(&self, gumbel: &Gumbel) -> usize {
        self.tree.place(gumbel::inner_edge(&self.tree, &self.node(), gumbel))
    }

    fn root_by_gumbel(&self, noise: &[f32], visits: u32) -> Option<usize> {
        gumbel::root_edge(&self.tree, &self.node(), &Gumbel::default(), noise, visits)
            .map(|edge| self.tree.place(edge))
    }

    fn priors(&self) -> Vec<f64> {
        softmax(&self.logits.iter().map(|&logit| f64::from(logit)).collect::<Vec<_>>())
    }
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

fn scaled(case: &Case, gumbel: &Gumbel) -> Vec<f64> {
    let all: f64 = case.visits.iter().map(|&count| f64::from(count)).sum();
    // mctx's floor under priors is f32's smallest normal number.
    let prior: Vec<f64> = case.priors().iter().map(|prior| prior.max(f64::from(f32::MIN_POSITIVE))).collect();
    let visited = || (0..prior.len()).filter(|&place| case.visits[place] > 0);
    let mass: f64 = visited().map(|place| prior[place]).sum();
    let weighted: f64 = visited().map(|place| prior[place] * case.means[place]).sum();
    let value = f64::from(case.value);
    let mix = if all > 0.0 { (value + all * weighted / mass) / (1.0 + all) } else { value };
    let completed: Vec<f64> =
        (0..prior.len()).map(|place| if case.visits[place] > 0 { case.means[place] } else { mix }).collect();
    let low = completed.iter().copied().fold(f64::INFINITY, f64::min);
    let high = completed.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let most = f64::from(*case.visits.iter().max().unwrap());
    let scale = (gumbel.c_visit + most) * gumbel.c_scale;
    let on_scale = |q: f64| match gumbel.q {
        QScale::Unit => (1.0 + q) / 2.0,
        QScale::Signed => q,
        QScale::MinMax => (q - low) / (high - low).max(1e-8),
    };
    completed.iter().zip(&case.logits).map(|(&q, &logit)| f64::from(logit) + scale * on_scale(q)).collect()
}

#[test]
fn below_the_root_gumbel_takes_the_best_of_the_formula() {
    let mut random = Random::new(1, 0, 0);
    for round in 0..30_000 {
        let case = Case::random(Key::Logit, &mut random, [3.0, 30.0, 200.0][round % 3]);
        let q = [QScale::Unit, QScale::Signed, QScale::MinMax][round / 3 % 3];
        let gumbel = Gumbel { q, c_scale: [1.0, 0.1, 20.0][round / 9 % 3], ..Gumbel::default() };
        let all: f64 = case.visits.iter().map(|&count| f64::from(count)).sum();
        let policy = softmax(&scaled(&case, &gumbel));
        let scores: Vec<f64> = policy
            .iter()
            .zip(&case.visits)
            .map(|(policy, &count)| policy - f64::from(count) / (1.0 + all))
            .collect();
        is_best(&scores, case.by_gumbel(&gumbel));
        let scaled = scaled(&case, &gumbel);
        let highest = scaled.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = scaled.iter().map(|logit| (logit - highest).exp()).sum();
        let (_, found) =
            Completed::new(&case.tree, &case.node(), &gumbel).normaliser(&case.tree, &case.node());
        assert!((found / sum - 1.0).abs() < 1e-3, "{found}, not {sum}");
        let mut improved = Vec::new();
        gumbel::improved(&case.tree, &case.node(), &gumbel, &mut improved);
        for (found, wanted) in improved.iter().zip(&policy) {
            assert!((found - wanted).abs() < 1e-5);
        }
    }
}

#[test]
fn puct_takes_the_best_of_the_formula() {
    let mut random = Random::new(2, 0, 0);
    for round in 0..30_000 {
        let case = Case::random(Key::Prior, &mut random, [3.0, 30.0, 200.0][round % 3]);
        let q = [
            PuctQ::Unit(Unvisited::Loss),
            PuctQ::Unit(Unvisited::Node),
            PuctQ::Unit(Unvisited::Below(0.3)),
            PuctQ::Siblings,
        ][round / 3 % 4];
        let puct = Puct { q, ..Puct::default() };
        let prior = case.priors();
        let visits: Vec<f64> = case.visits.iter().map(|&count| f64::from(count)).collect();
        let Sums { visits: all, mean } = case.sums();
        let values: Vec<Option<f64>> =
            (0..prior.len()).map(|place| (visits[place] > 0.0).then(|| case.means[place])).collect();
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
        is_best(&scores, case.by_puct(&puct));
    }
}

/// Equal scores go to the first, whether visited or not.
#[test]
fn ties_go_to_the_first() {
    let (default, by_gumbel) = (Puct::default(), Gumbel::default());
    let mut case = Case::new(Key::Prior, &[0.0; 4], 0.0);
    assert_eq!(case.by_puct(&default), 0);
    for place in [2, 0, 3, 1] {
        case.visit(place, 1, 0.0);
    }
    assert_eq!(case.by_puct(&default), 0);
    let mut case = Case::new(Key::Logit, &[0.0; 4], 0.0);
    let root = |case: &Case, visits| case.root_by_gumbel(&[0.0; 4], visits);
    assert_eq!(case.by_gumbel(&by_gumbel), 0);
    assert_eq!((root(&case, 0), root(&case, 1)), (Some(0), None));
    case.visit(0, 1, 0.0);
    assert_eq!(case.by_gumbel(&by_gumbel), 1);
    assert_eq!(root(&case, 0), Some(1));
    for place in [3, 2, 1] {
        case.visit(place, 1, 0.0);
    }
    assert_eq!(case.by_gumbel(&by_gumbel), 0);
    assert_eq!((root(&case, 0), root(&case, 1)), (None, Some(0)));
    assert_eq!(puct::most_visited(&[2, 5, 5, 1]), 1);
}

/// A visited move of value −0.5 and an unvisited one taken for as much, both of no prior: the first, whichever it is.
#[test]
fn a_visited_and_an_unvisited_move_of_one_score_are_taken_in_their_order() {
    let puct = Puct { c_init: 0.0, q: PuctQ::Unit(Unvisited::Node), ..Puct::default() };
    for visited in [0, 1] {
        let mut case = Case::new(Key::Prior, &[-200.0, -200.0, 0.0], 1.0);
        case.visit(visited, 1, -0.5);
        case.visit(2, 3, -1.0);
        assert_eq!(case.by_puct(&puct), 0);
    }
}

/// Whatever was visited, the next to try is the first of the highest logits among the rest, whose priors are summed.
#[test]
fn the_best_of_the_untried_moves_stands_behind_the_tried_ones() {
    let mut random = Random::new(4, 0, 0);
    for round in 0..3000 {
        let mut case = Case::random(Key::Logit, &mut random, [3.0, 0.0][round % 2]);
        for place in (0..case.logits.len()).rev().step_by(3) {
            case.visit(place, 1, 0.0);
        }
        let untried = || (0..case.logits.len()).filter(|&place| case.visits[place] == 0);
        let best = untried().map(|place| case.logits[place]).fold(f32::NEG_INFINITY, f32::max);
        let next = untried().find(|&place| case.logits[place] == best);
        assert_eq!(case.node().next().map(|edge| case.tree.place(edge)), next);
        let rest: f64 = untried().map(|place| case.priors()[place]).sum();
        assert!((case.node().rest - rest).abs() < 1e-6);
        for place in 0..case.logits.len() {
            assert_eq!(case.tree.mv(&case.node(), case.edge(place)), place as u32);
        }
    }
}

/// Noise takes the place of a quarter of each prior, and of no more.
#[test]
fn noise_is_mixed_into_the_priors_by_its_share() {
    let mut random = Random::new(3, 0, 0);
    let mut shares = Vec::new();
    let mut moved = 0.0;
    for _ in 0..500 {
        let logits: Vec<f32> =
            (0..1 + (random.unit() * 60.0) as usize).map(|_| (random.unit() * 3.0) as f32).collect();
        let mut case = Case::new(Key::Prior, &logits, 0.0);
        let puct = Puct { noise_share: 0.25, ..Puct::default() };
        puct::add_noise(&mut case.tree, &puct, &mut random, &mut shares);
        let mut sum = 0.0;
        for (place, before) in case.priors().into_iter().enumerate() {
            let after = f64::from(case.tree.priors[case.edge(place)]);
            assert!(after >= 0.75 * before - 1e-6 && after <= 0.75 * before + 0.250_001);
            assert!((after - 0.75 * before - 0.25 * shares[place]).abs() < 1e-6);
            moved += (after - before).abs();
            sum += after;
        }
        assert!((sum - 1.0).abs() < 1e-5, "{sum}");
        let next = case.edge(case.by_puct(&puct));
        assert!(case.tree.priors.iter().all(|prior| *prior <= case.tree.priors[next]));
    }
    assert!(moved > 500.0 * 0.1, "{moved}");
}
