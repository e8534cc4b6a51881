//! The selections of PUCT (search.md §4).

use crate::options::{Puct, PuctQ, Unvisited};
use crate::random::Random;
use crate::tree::{Node, Tree};

/// What is known of a node without looking at its moves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sums {
    /// Its own evaluation and all simulations below it.
    pub visits: f64,
    /// The mean of their values.
    pub mean: f64,
}

/// The move of the highest Q + U, the first of equals.
pub(crate) fn edge<M: Copy>(tree: &Tree<M>, node: &Node, puct: &Puct, sums: Sums) -> usize {
    let range = node.edges();
    let (start, end) = (range.start, range.end);
    let (visits, totals, priors) =
        (&tree.visits[start..end], &tree.totals[start..end], &tree.priors[start..end]);
    let Sums { visits: all, mean } = sums;
    let (mut low, mut high) = (mean, mean);
    if puct.q == PuctQ::Siblings {
        for (&count, &sum) in visits.iter().zip(totals) {
            if count > 0 {
                let q = sum / f64::from(count);
                low = low.min(q);
                high = high.max(q);
            }
        }
    }
    // q = slope · value + shift.
    let (slope, shift, unvisited) = match puct.q {
        PuctQ::Unit(Unvisited::Loss) => (0.5, 0.5, 0.0),
        PuctQ::Unit(Unvisited::Node) => (0.5, 0.5, f64::midpoint(1.0, mean)),
        PuctQ::Unit(Unvisited::Below(below)) => (0.5, 0.5, (f64::midpoint(1.0, mean) - below).max(0.0)),
        PuctQ::Siblings => {
            let slope = 1.0 / (high - low).max(1e-8);
            (slope, -low * slope, 0.0)
        }
    };
    let factor = all.sqrt() * (libm::log((1.0 + all + puct.c_base) / puct.c_base) + puct.c_init);
    let mut best = (start, f64::NEG_INFINITY);
    // Among the unvisited the highest prior decides, without arithmetic.
    let mut fresh: Option<usize> = None;
    let mut highest = f32::NEG_INFINITY;
    for (index, ((&count, &sum), &prior)) in visits.iter().zip(totals).zip(priors).enumerate() {
        if count == 0 {
            if prior > highest {
                (fresh, highest) = (Some(start + index), prior);
            }
            continue;
        }
        let count = f64::from(count);
        let score = slope * (sum / count) + shift + factor * f64::from(prior) / (1.0 + count);
        if score > best.1 {
            best = (start + index, score);
        }
    }
    if let Some(edge) = fresh {
        let score = unvisited + factor * f64::from(highest);
        if score > best.1 || (score == best.1 && edge < best.0) {
            best = (edge, score);
        }
    }
    best.0
}

/// Mixes Dirichlet noise into the priors of a node.
#[expect(clippy::cast_possible_truncation, reason = "priors are kept in f32")]
pub(crate) fn add_noise<M: Copy>(
    tree: &mut Tree<M>,
    node: &Node,
    puct: &Puct,
    random: &mut Random,
    shares: &mut Vec<f64>,
) {
    if puct.noise_share == 0.0 {
        return;
    }
    shares.clear();
    shares.resize(node.edges().len(), 0.0);
    random.dirichlet(puct.noise_alpha, shares);
    for (prior, share) in tree.priors[node.edges()].iter_mut().zip(shares) {
        *prior = ((1.0 - puct.noise_share) * f64::from(*prior) + puct.noise_share * *share) as f32;
    }
}

/// The place of the most visited move, the first of equals.
pub(crate) fn most_visited(visits: &[u32]) -> usize {
    let most = visits.iter().copied().max().unwrap_or(0);
    visits.iter().position(|&count| count == most).unwrap_or(0)
}

/// The place of the move to play: the first of the most visited at temperature 0, else drawn by visits^(1/T).
pub(crate) fn chosen(visits: &[u32], temperature: f64, random: &mut Random) -> usize {
    let first = most_visited(visits);
    if temperature == 0.0 {
        return first;
    }
    let most = visits[first];
    let weight = |count: u32| match count {
        0 => 0.0,
        _ => libm::pow(f64::from(count) / f64::from(most), 1.0 / temperature),
    };
    let sum: f64 = visits.iter().map(|&count| weight(count)).sum();
    let mut left = random.unit() * sum;
    for (index, &count) in visits.iter().enumerate() {
        left -= weight(count);
        if left < 0.0 {
            return index;
        }
    }
    // Rounding at the very end of the sum.
    first
}
