//! Completed Q with the mixed value, and what is added to the logits for it (search.md §5.1).

use crate::options::{Gumbel, QScale};
use crate::tree::{Node, Tree};

/// Below this the priors of unvisited moves, kept in f32, have lost too many digits, and their logits are asked.
const FAINT: f64 = 1e-25;

/// The visits and values of one node, completed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Completed {
    /// v_mix, which unvisited moves have for a value.
    pub mix: f64,
    /// Σ N.
    pub visits: u32,
    /// The unvisited move of the highest logit, the first of equals.
    pub unvisited: Option<usize>,
    /// Σ prior over unvisited moves.
    unvisited_mass: f64,
    /// σ(q) = slope · q + shift.
    slope: f64,
    shift: f64,
}

impl Completed {
    pub fn new<M: Copy>(tree: &Tree<M>, node: &Node, gumbel: &Gumbel) -> Self {
        let (mut visits, mut most) = (0, 0);
        let (mut mass, mut weighted) = (0.0, 0.0);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for edge in node.visited() {
            let count = tree.visits[edge];
            visits += count;
            most = most.max(count);
            // A visited move of no prior must not leave the mean without a weight.
            let prior = f64::from(tree.priors[edge].max(f32::MIN_POSITIVE));
            let q = tree.means[edge];
            mass += prior;
            weighted += prior * q;
            low = low.min(q);
            high = high.max(q);
        }
        let unvisited = node.next();
        let value = f64::from(node.value);
        let mix = if visits == 0 {
            value
        } else {
            let visits = f64::from(visits);
            (value + visits * weighted / mass) / (1.0 + visits)
        };
        if unvisited.is_some() {
            low = low.min(mix);
            high = high.max(mix);
        }
        let scale = (gumbel.c_visit + f64::from(most)) * gumbel.c_scale;
        let (slope, shift) = match gumbel.q {
            QScale::Signed => (scale, 0.0),
            QScale::Unit => (scale / 2.0, scale / 2.0),
            QScale::MinMax => {
                let slope = scale / (high - low).max(1e-8);
                (slope, -low * slope)
            }
        };
        Self { mix, visits, unvisited, unvisited_mass: node.rest, slope, shift }
    }

    /// completedQ of a move.
    pub fn q<M: Copy>(&self, tree: &Tree<M>, edge: usize) -> f64 {
        if tree.visits[edge] > 0 { tree.means[edge] } else { self.mix }
    }

    /// σ(completedQ) of a move.
    pub fn sigma<M: Copy>(&self, tree: &Tree<M>, edge: usize) -> f64 {
        self.slope * self.q(tree, edge) + self.shift
    }

    /// The logit of the improved policy, up to a constant of the node.
    pub fn logit<M: Copy>(&self, tree: &Tree<M>, node: &Node, edge: usize) -> f64 {
        f64::from(tree.keys[edge]) - node.log_sum + self.sigma(tree, edge)
    }

    /// The highest of these logits, and Σ exp(logit − highest). Exponentials are taken of visited moves only: all
    /// others have the same value, so their share follows from the priors.
    pub fn normaliser<M: Copy>(&self, tree: &Tree<M>, node: &Node) -> (f64, f64) {
        let mut top = self.unvisited.map_or(f64::NEG_INFINITY, |edge| self.logit(tree, node, edge));
        for edge in node.visited() {
            top = top.max(self.logit(tree, node, edge));
        }
        let mut sum: f64 = node.visited().map(|edge| libm::exp(self.logit(tree, node, edge) - top)).sum();
        if self.unvisited.is_some() {
            let unvisited = self.slope * self.mix + self.shift;
            sum += if self.unvisited_mass > FAINT {
                self.unvisited_mass * libm::exp(unvisited - top)
            } else {
                (node.visited().end..node.edges().end)
                    .map(|edge| libm::exp(self.logit(tree, node, edge) - top))
                    .sum()
            };
        }
        (top, sum)
    }
}
