//! The tree of one search: nodes in one list, the moves of each a range of another, what was tried of them a block.
//!
//! Most leaves are never selected from, so of a leaf only moves and logits are kept. What a selection looks at is made
//! when it first comes by: a block of edges, of which the visited ones stand in front, and behind them the one that
//! would be tried next. So a selection looks at what was tried and one more, not at all that is legal.

use crate::error::{Error, Result};
use std::ops::Range;

/// A child that no simulation has reached, a block that was not made.
const NONE: u32 = u32::MAX;

/// What decides among moves that were not tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Key {
    /// The prior with its noise, which is all that PUCT knows of them.
    Prior,
    /// The logit: priors in f32 can be equal where logits are not.
    Logit,
}

/// A position of the tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    /// Its moves and logits.
    start: u32,
    end: u32,
    /// The first of its edges, once it is [opened](Tree::open).
    block: u32,
    /// Its visited edges.
    visited: u32,
    /// The evaluation for the side to move, or the exact value when the game is over.
    pub value: f32,
    /// ln Σ exp(logit).
    pub log_sum: f64,
    /// Σ prior over the edges that are not visited.
    pub rest: f64,
}

impl Node {
    /// Whether the value is exact and nothing follows.
    pub fn is_over(&self) -> bool {
        self.start == self.end
    }

    /// Legal moves.
    pub fn len(&self) -> usize {
        (self.end - self.start) as usize
    }

    fn moves(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// All edges of an opened node.
    pub fn edges(&self) -> Range<usize> {
        let block = self.block as usize;
        block..block + self.len()
    }

    /// Those that were visited.
    pub fn visited(&self) -> Range<usize> {
        let block = self.block as usize;
        block..block + self.visited as usize
    }

    /// The edge that is the best by its [`Key`] of those not visited, the first of equals.
    pub fn next(&self) -> Option<usize> {
        (self.visited < self.end - self.start).then_some(self.block as usize + self.visited as usize)
    }
}

/// The tree. Edges are columns: a selection reads two or three of them.
#[derive(Debug)]
pub(crate) struct Tree<M> {
    pub nodes: Vec<Node>,
    moves: Vec<M>,
    logits: Vec<f32>,
    /// The place of an edge among the moves of its node.
    places: Vec<u16>,
    pub priors: Vec<f32>,
    /// By what untried moves are compared, see [`Key`].
    pub keys: Vec<f32>,
    /// N.
    pub visits: Vec<u32>,
    /// W: the sum of the values that came back, for the side that makes the move.
    pub totals: Vec<f64>,
    /// W / N.
    pub means: Vec<f64>,
    /// prior / (1 + N), with noise.
    pub urges: Vec<f64>,
    children: Vec<u32>,
    key: Key,
}

impl<M: Copy> Tree<M> {
    pub fn new(key: Key) -> Self {
        Self {
            nodes: Vec::new(),
            moves: Vec::new(),
            logits: Vec::new(),
            places: Vec::new(),
            priors: Vec::new(),
            keys: Vec::new(),
            visits: Vec::new(),
            totals: Vec::new(),
            means: Vec::new(),
            urges: Vec::new(),
            children: Vec::new(),
            key,
        }
    }

    /// Forgets everything and keeps the memory.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.moves.clear();
        self.logits.clear();
        self.places.clear();
        self.priors.clear();
        self.keys.clear();
        self.visits.clear();
        self.totals.clear();
        self.means.clear();
        self.urges.clear();
        self.children.clear();
    }

    /// Whether a node with so many moves still fits.
    pub fn has_room(&self, moves: usize) -> bool {
        moves <= usize::from(u16::MAX) && (self.moves.len() + moves).max(self.nodes.len()) < NONE as usize
    }

    /// Adds the position of an evaluation, or with no moves one whose value is exact. Hangs it below an edge of a node,
    /// which was not visited before; returns where that edge stands from now on.
    pub fn add(
        &mut self,
        below: Option<(usize, usize)>,
        moves: &[M],
        logits: &[f32],
        value: f32,
    ) -> Result<usize> {
        let place = |index: usize| u32::try_from(index).map_err(|_| Error::TreeFull);
        let (start, end) = (place(self.moves.len())?, place(self.moves.len() + moves.len())?);
        let index = place(self.nodes.len())?;
        self.nodes.push(Node { start, end, block: NONE, visited: 0, value, log_sum: 0.0, rest: 0.0 });
        self.moves.extend_from_slice(moves);
        self.logits.extend_from_slice(logits);
        let Some((parent, edge)) = below else { return Ok(0) };
        let edge = self.bring_forward(parent, edge);
        self.children[edge] = index;
        Ok(edge)
    }

    /// Makes the edges of a node, if that was not done before.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "priors are kept in f32; places have room for every move"
    )]
    pub fn open(&mut self, index: usize) {
        let node = self.nodes[index];
        if node.block != NONE {
            return;
        }
        let block = self.priors.len();
        let logits = &self.logits[node.moves()];
        let top = f64::from(logits.iter().copied().fold(f32::NEG_INFINITY, f32::max));
        let mut sum = 0.0;
        self.priors.extend(logits.iter().map(|&logit| {
            let weight = libm::exp(f64::from(logit) - top);
            sum += weight;
            weight as f32
        }));
        let scale = (1.0 / sum) as f32;
        for prior in &mut self.priors[block..] {
            *prior *= scale;
        }
        match self.key {
            Key::Prior => self.keys.extend_from_slice(&self.priors[block..]),
            Key::Logit => self.keys.extend_from_slice(logits),
        }
        self.places.extend((0..node.len()).map(|place| place as u16));
        let len = self.priors.len();
        self.visits.resize(len, 0);
        self.totals.resize(len, 0.0);
        self.means.resize(len, 0.0);
        self.urges.resize(len, 0.0);
        self.children.resize(len, NONE);
        let node = &mut self.nodes[index];
        // A block is never longer than the moves, which fit.
        node.block = block as u32;
        node.log_sum = top + libm::log(sum);
        self.seek_next(index);
    }

    /// Brings an edge that is visited for the first time to those that were, and returns where it stands now.
    fn bring_forward(&mut self, index: usize, edge: usize) -> usize {
        let node = &mut self.nodes[index];
        let front = node.visited().end;
        debug_assert!((front..node.edges().end).contains(&edge), "visited for the first time");
        node.visited += 1;
        self.swap(edge, front);
        self.seek_next(index);
        front
    }

    /// Puts the best of the edges that are not visited where [`Node::next`] looks for it.
    fn seek_next(&mut self, index: usize) {
        let node = self.nodes[index];
        let tail = node.visited().end..node.edges().end;
        let best = highest(&self.keys[tail.clone()]);
        let mut next: Option<usize> = None;
        for edge in tail.clone() {
            if self.keys[edge] == best && next.is_none_or(|first| self.places[edge] < self.places[first]) {
                next = Some(edge);
            }
        }
        if let Some(next) = next {
            self.swap(next, tail.start);
        }
        // PUCT has no use for it.
        if self.key == Key::Logit {
            self.nodes[index].rest = sum(&self.priors[tail]);
        }
    }

    /// Swaps two edges of a node that are not visited.
    fn swap(&mut self, a: usize, b: usize) {
        self.places.swap(a, b);
        self.priors.swap(a, b);
        self.keys.swap(a, b);
    }

    /// Replaces the priors of an opened node that has no visits, by place; PUCT alone does this.
    #[expect(clippy::cast_possible_truncation, reason = "priors are kept in f32")]
    pub fn mix(&mut self, index: usize, mut prior: impl FnMut(usize, f64) -> f64) {
        for edge in self.nodes[index].edges() {
            let mixed = prior(self.place(edge), f64::from(self.priors[edge])) as f32;
            (self.priors[edge], self.keys[edge]) = (mixed, mixed);
        }
        self.seek_next(index);
    }

    /// The place of an edge among the moves of its node.
    pub fn place(&self, edge: usize) -> usize {
        usize::from(self.places[edge])
    }

    /// The move of an edge of this node.
    pub fn mv(&self, node: &Node, edge: usize) -> M {
        self.moves[node.moves()][self.place(edge)]
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
            let visits = f64::from(self.visits[edge]);
            self.means[edge] = self.totals[edge] / visits;
            self.urges[edge] = f64::from(self.priors[edge]) / (1.0 + visits);
        }
        value
    }

    /// The prior by the logits, whatever noise was mixed into the stored one.
    pub fn prior(&self, node: &Node, edge: usize) -> f64 {
        libm::exp(f64::from(self.logits[node.moves()][self.place(edge)]) - node.log_sum)
    }
}

/// Numbers that are compared or added at a time: the compiler keeps the order of a plain loop, and with it its pace.
const LANES: usize = 8;

/// The highest of these numbers, none of which is a NaN.
fn highest(values: &[f32]) -> f32 {
    let mut lanes = [f32::NEG_INFINITY; LANES];
    let (chunks, rest) = values.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, &value) in lanes.iter_mut().zip(chunk) {
            *lane = if value > *lane { value } else { *lane };
        }
    }
    lanes.iter().chain(rest).copied().fold(f32::NEG_INFINITY, f32::max)
}

fn sum(values: &[f32]) -> f64 {
    let mut lanes = [0.0; LANES];
    let (chunks, rest) = values.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, &value) in lanes.iter_mut().zip(chunk) {
            *lane += f64::from(value);
        }
    }
    lanes.iter().sum::<f64>() + rest.iter().map(|&value| f64::from(value)).sum::<f64>()
}
