//! The selections of Gumbel search: at the root by sequential halving, below it by the improved policy (search.md §5).

use crate::completed::Completed;
use crate::options::Gumbel;
use crate::tree::{Node, Tree};

/// What a root move's score cannot fall below.
const FLOOR: f64 = -1e9;

/// The root edge of the highest gumbel + logit + σ(completedQ) among those visited `visits` times, of equals the first
/// by place. `noise` is by place.
pub(crate) fn root_edge<M: Copy>(
    tree: &Tree<M>,
    node: &Node,
    gumbel: &Gumbel,
    noise: &[f32],
    visits: u32,
) -> Option<usize> {
    let completed = Completed::new(tree, node, gumbel);
    let top = tree.keys[node.edges()].iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut best: Option<(usize, f64)> = None;
    let candidates = if visits > 0 { node.visited() } else { node.visited().end..node.edges().end };
    for edge in candidates {
        if tree.visits[edge] != visits {
            continue;
        }
        let logit = f64::from(tree.keys[edge]) - f64::from(top);
        let score = (f64::from(noise[tree.place(edge)]) + logit + completed.sigma(tree, edge)).max(FLOOR);
        if best.is_none_or(|(first, highest)| {
            score > highest || (score == highest && tree.place(edge) < tree.place(first))
        }) {
            best = Some((edge, score));
        }
    }
    best.map(|(edge, _)| edge)
}

/// The root move to play: the best of the most visited.
pub(crate) fn chosen<M: Copy>(tree: &Tree<M>, node: &Node, gumbel: &Gumbel, noise: &[f32]) -> Option<usize> {
    let most = tree.visits[node.edges()].iter().copied().max()?;
    root_edge(tree, node, gumbel, noise, most)
}

/// The edge below the root: the highest π′ − N / (1 + ΣN), of equals the first by place.
pub(crate) fn inner_edge<M: Copy>(tree: &Tree<M>, node: &Node, gumbel: &Gumbel) -> usize {
    let completed = Completed::new(tree, node, gumbel);
    let (top, sum) = completed.normaliser(tree, node);
    let all = 1.0 + f64::from(completed.visits);
    let mut best = (node.edges().start, f64::NEG_INFINITY);
    // Of the unvisited only the one with the highest logit can win.
    for edge in node.visited().chain(node.next()) {
        let policy = libm::exp(completed.logit(tree, node, edge) - top) / sum;
        let score = policy - f64::from(tree.visits[edge]) / all;
        if score > best.1 || (score == best.1 && tree.place(edge) < tree.place(best.0)) {
            best = (edge, score);
        }
    }
    best.0
}

/// The improved policy of a node into `policy`, by place, and Σ π′ completedQ.
pub(crate) fn improved<M: Copy>(tree: &Tree<M>, node: &Node, gumbel: &Gumbel, policy: &mut Vec<f64>) -> f64 {
    let completed = Completed::new(tree, node, gumbel);
    let (top, _) = completed.normaliser(tree, node);
    policy.clear();
    policy.resize(node.len(), 0.0);
    for edge in node.edges() {
        policy[tree.place(edge)] = libm::exp(completed.logit(tree, node, edge) - top);
    }
    // The sum of what is there, so that the probabilities sum to 1 to the last digits.
    let sum: f64 = policy.iter().sum();
    let mut value = 0.0;
    for edge in node.edges() {
        let share = &mut policy[tree.place(edge)];
        *share /= sum;
        value += *share * completed.q(tree, edge);
    }
    value
}
