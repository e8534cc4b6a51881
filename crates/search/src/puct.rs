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

/// The edge of the highest Q + U, of equals the first by place.
pub(crate) fn edge<M: Copy>(tree: &Tree<M>, node: &Node, puct: &Puct, sums: Sums) -> usize {
    let visited = node.visited();
    let (means, urges) = (&tree.means[visited.clone()], &tree.urges[visited.clone()]);
    let Sums { visits, mean } = sums;
    // q = slope · value + shift.
    let (slope, shift, unvisited) = match puct.q {
        PuctQ::Unit(Unvisited::Loss) => (0.5, 0.5, 0.0),
        PuctQ::Unit(Unvisited::Node) => (0.5, 0.5, f64::midpoint(1.0, mean)),
        PuctQ::Unit(Unvisited::Below(below)) => (0.5, 0.5, (f64::midpoint(1.0, mean) - below).max(0.0)),
        PuctQ::Siblings => {
            let low = means.iter().copied().fold(mean, f64::min);
            let high = means.iter().copied().fold(mean, f64::max);
            let slope = 1.0 / (high - low).max(1e-8);
            (slope, -low * slope, 0.0)
        }
    };
    let factor = visits.sqrt() * (libm::log((1.0 + visits + puct.c_base) / puct.c_base) + puct.c_init);
    let mut best = (visited.start, f64::NEG_INFINITY);
    let mut offer = |edge: usize, score: f64| {
        if score > best.1 || (score == best.1 && tree.place(edge) < tree.place(best.0)) {
            best = (edge, score);
        }
    };
    for (edge, (&mean, &urge)) in visited.zip(means.iter().zip(urges)) {
        offer(edge, slope * mean + shift + factor * urge);
    }
    if let Some(next) = node.next() {
        offer(next, unvisited + factor * f64::from(tree.priors[next]));
    }
    best.0
}

/// Mixes Dirichlet noise into the priors of the root.
pub(crate) fn add_noise<M: Copy>(
    tree: &mut Tree<M>,
    puct: &Puct,
    random: &mut Random,
    shares: &mut Vec<f64>,
) {
    if puct.noise_share == 0.0 {
        return;
    }
    shares.clear();
    shares.resize(tree.nodes[0].len(), 0.0);
    random.dirichlet(puct.noise_alpha, shares);
    tree.mix(0, |place, prior| (1.0 - puct.noise_share) * prior + puct.noise_share * shares[place]);
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
