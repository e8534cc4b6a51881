//! The tree of one search: nodes in one list, the moves of each a range of another.

use crate::error::{Error, Result};
use std::ops::Range;

/// A child that no simulation has reached.
const NONE: u32 = u32::MAX;

/// A position of the tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    start: u32,
    end: u32,
    /// The evaluation for the side to move, or the exact value when the game is over.
    pub value: f32,
    /// ln Σ exp(logit); not a number until the node is [opened](Tree::open).
    pub log_sum: f64,
}

impl Node {
    /// Whether the value is exact and nothing follows.
    pub fn is_over(&self) -> bool {
        self.start == self.end
    }

    pub fn edges(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// The tree. Edges are columns: a selection reads two of them whole and the others at visited moves only.
#[derive(Debug)]
pub(crate) struct Tree<M> {
    pub nodes: Vec<Node>,
    pub moves: Vec<M>,
    pub logits: Vec<f32>,
    pub priors: Vec<f32>,
    /// N.
    pub visits: Vec<u32>,
    /// W: the sum of the values that came back, for the side that makes the move.
    pub totals: Vec<f64>,
    children: Vec<u32>,
}

impl<M: Copy> Tree<M> {
    pub fn new() -> Self {
        Self {
            nodes: Vec::new(),
            moves: Vec::new(),
            logits: Vec::new(),
            priors: Vec::new(),
            visits: Vec::new(),
            totals: Vec::new(),
            children: Vec::new(),
        }
    }

    /// Forgets everything and keeps the memory.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.moves.clear();
        self.logits.clear();
        self.priors.clear();
        self.visits.clear();
        self.totals.clear();
        self.children.clear();
    }

    /// Whether a node with so many moves still fits.
    pub fn has_room(&self, moves: usize) -> bool {
        (self.moves.len() + moves).max(self.nodes.len()) < NONE as usize
    }

    /// Adds the position of an evaluation, or with no moves one whose value is exact; hangs it below `edge`.
    pub fn add(&mut self, edge: Option<usize>, moves: &[M], logits: &[f32], value: f32) -> Result<()> {
        let place = |index: usize| u32::try_from(index).map_err(|_| Error::TreeFull);
        let (start, end) = (place(self.moves.len())?, place(self.moves.len() + moves.len())?);
        let node = place(self.nodes.len())?;
        self.nodes.push(Node { start, end, value, log_sum: f64::NAN });
        if let Some(edge) = edge {
            self.children[edge] = node;
        }
        self.moves.extend_from_slice(moves);
        self.logits.extend_from_slice(logits);
        let len = self.moves.len();
        self.priors.resize(len, 0.0);
        self.visits.resize(len, 0);
        self.totals.resize(len, 0.0);
        self.children.resize(len, NONE);
        Ok(())
    }

    /// A node to select from, with its priors. They are made when it is asked for first: most leaves never are.
    #[expect(clippy::cast_possible_truncation, reason = "priors are kept in f32")]
    pub fn open(&mut self, index: usize) -> Node {
        let node = self.nodes[index];
        if !node.log_sum.is_nan() {
            return node;
        }
        let (logits, priors) = (&self.logits[node.edges()], &mut self.priors[node.edges()]);
        let top = f64::from(logits.iter().copied().fold(f32::NEG_INFINITY, f32::max));
        let mut sum = 0.0;
        for (&logit, prior) in logits.iter().zip(&mut *priors) {
            let weight = libm::exp(f64::from(logit) - top);
            sum += weight;
            *prior = weight as f32;
        }
        let scale = (1.0 / sum) as f32;
        for prior in priors {
            *prior *= scale;
        }
        let node = &mut self.nodes[index];
        node.log_sum = top + libm::log(sum);
        *node
    }

    /// The node below an edge, once there is one.
    pub fn child(&self, edge: usize) -> Option<usize> {
        let child = self.children[edge];
        (child != NONE).then_some(child as usize)
    }

    /// Adds one simulation to the edges of a line, of which the last leads to a position worth `value` to its side to
    /// move. Returns what it is worth to the side to move at the root.
    pub fn back_up(&mut self, line: &[usize], value: f32) -> f64 {
        let mut value = f64::from(value);
        for &edge in line.iter().rev() {
            value = -value;
            self.visits[edge] += 1;
            self.totals[edge] += value;
        }
        value
    }

    /// The mean value of a visited edge for the side that makes the move.
    pub fn q(&self, edge: usize) -> f64 {
        self.totals[edge] / f64::from(self.visits[edge])
    }

    /// The prior by the logits, whatever noise was mixed into the stored one.
    pub fn prior(&self, node: &Node, edge: usize) -> f64 {
        libm::exp(f64::from(self.logits[edge]) - node.log_sum)
    }
}
