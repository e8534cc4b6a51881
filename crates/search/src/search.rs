//! One search, in steps (search.md §3).

use crate::error::{Error, Result};
use crate::game::{Game, Status};
use crate::options::{MateTest, Options, Rule};
use crate::outcome::{Outcome, RootMove};
use crate::puct::Sums;
use crate::quantum::quanta;
use crate::random::Random;
use crate::tree::{Key, Node, Tree};
use crate::{considered_visits, gumbel, puct};

/// What a search wants next.
#[derive(Debug)]
pub enum Step<'a, M> {
    /// The evaluation of the position that the game stands at now, for its side to move, who has these moves.
    Evaluate(&'a [M]),
    /// The budget is spent.
    Done(&'a Outcome<M>),
}

/// Where a search stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Idle,
    Begun,
    Waiting,
    Running,
    Done,
}

/// One search after the other over positions whose moves are `M`, in the same memory.
///
/// [`begin`](Self::begin), then [`step`](Self::step) and [`apply`](Self::apply) in turn until it is done. A fresh tree
/// is grown each time, so that the visits sum to the budget.
#[derive(Debug)]
pub struct Search<M> {
    options: Options,
    tree: Tree<M>,
    state: State,
    ply: u32,
    /// The draws of this search; none when its noise was given.
    random: Option<Random>,
    /// Gumbel noise at the root, scaled.
    gumbel: Vec<f32>,
    /// Visit counts that the root's simulations look for.
    halving: Vec<u32>,
    done: u32,
    /// The sum of what they brought, for the side to move at the root.
    total: f64,
    /// Edges from the root to the position in hand.
    line: Vec<usize>,
    /// The node that the last of them leads from.
    parent: usize,
    /// Moves of `line` that are played on the game.
    played: usize,
    /// Moves of the position that waits for its evaluation.
    leaf: Vec<M>,
    shares: Vec<f64>,
    edges: Vec<usize>,
    counts: Vec<u32>,
    outcome: Outcome<M>,
}

impl<M: Copy> Search<M> {
    /// A search under these options.
    ///
    /// # Errors
    /// [`Error::Option`] for a constant that is out of its range.
    pub fn new(options: Options) -> Result<Self> {
        options.check()?;
        let key = match options.rule {
            Rule::Puct(_) => Key::Prior,
            Rule::Gumbel(_) => Key::Logit,
        };
        Ok(Self {
            options,
            tree: Tree::new(key),
            state: State::Idle,
            ply: 0,
            random: None,
            gumbel: Vec::new(),
            halving: Vec::new(),
            done: 0,
            total: 0.0,
            line: Vec::new(),
            parent: 0,
            played: 0,
            leaf: Vec::new(),
            shares: Vec::new(),
            edges: Vec::new(),
            counts: Vec::new(),
            outcome: Outcome::default(),
        })
    }

    /// The options it was made with.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Begins anew, for the move after `ply` moves of the game, with the draws of this search.
    ///
    /// The game whose moves an unfinished search has played has to be [unwound](Self::unwind) before.
    pub fn begin(&mut self, random: Random, ply: u32) {
        self.reset(ply);
        self.random = Some(random);
    }

    /// Begins anew with this noise instead of draws: under Gumbel a number for each root move, already scaled; under
    /// PUCT none, and the priors are as evaluated and the move is the most visited.
    pub fn begin_with(&mut self, noise: &[f32], ply: u32) {
        self.reset(ply);
        self.random = None;
        self.gumbel.extend_from_slice(noise);
    }

    fn reset(&mut self, ply: u32) {
        self.tree.clear();
        self.gumbel.clear();
        self.halving.clear();
        self.line.clear();
        self.leaf.clear();
        (self.done, self.total, self.played, self.ply) = (0, 0.0, 0, ply);
        self.state = State::Begun;
    }

    /// Goes on until a position needs an evaluation or the budget is spent. Positions whose value the rules know take
    /// no step of their own.
    ///
    /// At [`Step::Evaluate`] the game stands at the position in question. The next step takes it back to the root
    /// first; whoever wants to use it for another search meanwhile calls [`unwind`](Self::unwind).
    ///
    /// # Errors
    /// [`Error::RootOver`] when there is nothing to search, [`Error::Value`] and [`Error::NoMoves`] for a game that
    /// breaks its promises, [`Error::NotBegun`] and [`Error::NotEvaluated`] for calls out of turn.
    pub fn step<G: Game<Move = M>>(&mut self, game: &mut G) -> Result<Step<'_, M>> {
        self.unwind(game);
        match self.state {
            State::Idle => return Err(Error::NotBegun),
            State::Waiting => return Err(Error::NotEvaluated),
            State::Begun => {
                self.ask_about_root(game)?;
                return Ok(Step::Evaluate(&self.leaf));
            }
            State::Running => {
                while self.done < self.options.budget {
                    if self.simulate(game)? {
                        return Ok(Step::Evaluate(&self.leaf));
                    }
                }
                self.finish();
            }
            State::Done => {}
        }
        Ok(Step::Done(&self.outcome))
    }

    /// Takes the game back to the root, if it stands at a leaf of this search.
    pub fn unwind<G: Game<Move = M>>(&mut self, game: &mut G) {
        for _ in 0..std::mem::take(&mut self.played) {
            game.undo();
        }
    }

    /// Hands in the evaluation of the position of the last [`Step::Evaluate`]: a logit for each of its moves, in their
    /// order, and the value for its side to move, in −1 to 1.
    ///
    /// # Errors
    /// [`Error::NotAsked`] out of turn; [`Error::LogitCount`], [`Error::Logit`], [`Error::Value`] for no such
    /// evaluation, which may be mended and handed in again; [`Error::NoiseCount`] for given noise that does not fit.
    pub fn apply(&mut self, logits: &[f32], value: f32) -> Result<()> {
        if self.state != State::Waiting {
            return Err(Error::NotAsked);
        }
        if logits.len() != self.leaf.len() {
            return Err(Error::LogitCount { found: logits.len(), wanted: self.leaf.len() });
        }
        if let Some((index, &logit)) = logits.iter().enumerate().find(|(_, logit)| !logit.is_finite()) {
            return Err(Error::Logit { index, logit });
        }
        in_range(value)?;
        if self.tree.nodes.is_empty() {
            self.plant(logits, value)?;
        } else {
            let leaf = std::mem::take(&mut self.leaf);
            let grown = self.grow(&leaf, logits, value);
            self.leaf = leaf;
            grown?;
        }
        self.state = State::Running;
        Ok(())
    }

    /// The outcome, once the budget is spent.
    #[must_use]
    pub fn outcome(&self) -> Option<&Outcome<M>> {
        (self.state == State::Done).then_some(&self.outcome)
    }

    fn ask_about_root<G: Game<Move = M>>(&mut self, game: &mut G) -> Result<()> {
        self.leaf.clear();
        match game.status(&mut self.leaf) {
            Status::Over(value) => return Err(Error::RootOver { value }),
            Status::Open if self.leaf.is_empty() => return Err(Error::NoMoves),
            Status::Open => {}
        }
        self.state = State::Waiting;
        Ok(())
    }

    /// The root, with its noise.
    #[expect(clippy::cast_possible_truncation, reason = "noise is kept in f32")]
    fn plant(&mut self, logits: &[f32], value: f32) -> Result<()> {
        let legal = self.leaf.len();
        if let (Rule::Gumbel(_), None) = (&self.options.rule, &self.random)
            && self.gumbel.len() != legal
        {
            return Err(Error::NoiseCount { found: self.gumbel.len(), wanted: legal });
        }
        self.tree.add(None, &self.leaf, logits, value)?;
        self.tree.open(0);
        match (&self.options.rule, &mut self.random) {
            (Rule::Puct(puct), Some(random)) => {
                puct::add_noise(&mut self.tree, puct, random, &mut self.shares);
            }
            (Rule::Puct(_), None) => {}
            (Rule::Gumbel(gumbel), random) => {
                if let Some(random) = random {
                    let scale = gumbel.noise_scale.at(self.ply);
                    self.gumbel.extend((0..legal).map(|_| (random.gumbel() * scale) as f32));
                }
                let considered = gumbel.considered.min(u32::try_from(legal).unwrap_or(u32::MAX));
                considered_visits(considered, self.options.budget, &mut self.halving);
            }
        }
        Ok(())
    }

    /// One simulation, or the first part of one: whether a position waits for its evaluation.
    fn simulate<G: Game<Move = M>>(&mut self, game: &mut G) -> Result<bool> {
        self.line.clear();
        let mut index = 0;
        loop {
            let node = self.tree.nodes[index];
            let edge = self.select(&node);
            self.line.push(edge);
            self.parent = index;
            if let Some(child) = self.tree.child(edge) {
                let below = self.tree.nodes[child];
                if below.is_over() {
                    // Moves up to the one before were played.
                    self.unwind(game);
                    self.back_up(below.value);
                    return Ok(false);
                }
                self.play(game, &node, edge);
                self.tree.open(child);
                index = child;
                continue;
            }
            self.play(game, &node, edge);
            self.leaf.clear();
            let known = match game.status(&mut self.leaf) {
                Status::Over(value) => Some(in_range(value)),
                Status::Open if self.leaf.is_empty() => Some(Err(Error::NoMoves)),
                Status::Open if !self.tree.has_room(self.leaf.len()) => Some(Err(Error::TreeFull)),
                Status::Open if self.options.mate_test == MateTest::Leaf && game.wins_at_once() => {
                    Some(Ok(1.0))
                }
                Status::Open => None,
            };
            let Some(value) = known else {
                self.state = State::Waiting;
                return Ok(true);
            };
            self.unwind(game);
            self.grow(&[], &[], value?)?;
            return Ok(false);
        }
    }

    fn play<G: Game<Move = M>>(&mut self, game: &mut G, node: &Node, edge: usize) {
        game.play(self.tree.mv(node, edge));
        self.played += 1;
    }

    /// Adds the position at the end of the line and the simulation that found it.
    fn grow(&mut self, moves: &[M], logits: &[f32], value: f32) -> Result<()> {
        if let Some(edge) = self.line.last_mut() {
            *edge = self.tree.add(Some((self.parent, *edge)), moves, logits, value)?;
        }
        self.back_up(value);
        Ok(())
    }

    fn back_up(&mut self, value: f32) {
        self.total += self.tree.back_up(&self.line, value);
        self.done += 1;
    }

    fn select(&self, node: &Node) -> usize {
        match &self.options.rule {
            Rule::Puct(puct) => puct::edge(&self.tree, node, puct, self.sums(node)),
            Rule::Gumbel(gumbel) if self.line.is_empty() => {
                let visits = self.halving[self.done as usize];
                gumbel::root_edge(&self.tree, node, gumbel, &self.gumbel, visits)
                    // The schedule asks for no count that no move has (search.md §5.2).
                    .unwrap_or(node.edges().start)
            }
            Rule::Gumbel(gumbel) => gumbel::inner_edge(&self.tree, node, gumbel),
        }
    }

    /// The visits and mean of the node at the end of the line: those of the move that led to it, seen from the other side.
    fn sums(&self, node: &Node) -> Sums {
        let (visits, total) = match self.line.last() {
            Some(&edge) => (self.tree.visits[edge], -self.tree.totals[edge]),
            None => (1 + self.done, f64::from(node.value) + self.total),
        };
        let visits = f64::from(visits);
        Sums { visits, mean: total / visits }
    }

    fn finish(&mut self) {
        let tree = &self.tree;
        let root = tree.nodes[0];
        let budget = f64::from(self.options.budget);
        let outcome = &mut self.outcome;
        (outcome.evaluation, outcome.budget) = (root.value, self.options.budget);
        outcome.mean = (f64::from(root.value) + self.total) / (1.0 + budget);
        // The root's edges by place: what comes out has the order of the game.
        self.edges.clear();
        self.edges.resize(root.len(), 0);
        for edge in root.edges() {
            self.edges[tree.place(edge)] = edge;
        }
        match &self.options.rule {
            Rule::Puct(puct) => {
                outcome.value = self.total / budget;
                self.counts.clear();
                self.counts.extend(self.edges.iter().map(|&edge| tree.visits[edge]));
                self.shares.clear();
                self.shares.extend(self.counts.iter().map(|&count| f64::from(count) / budget));
                outcome.chosen = match &mut self.random {
                    Some(random) => puct::chosen(&self.counts, puct.temperature.at(self.ply), random),
                    None => puct::most_visited(&self.counts),
                };
            }
            Rule::Gumbel(gumbel) => {
                outcome.value = gumbel::improved(tree, &root, gumbel, &mut self.shares);
                outcome.chosen =
                    gumbel::chosen(tree, &root, gumbel, &self.gumbel).map_or(0, |edge| tree.place(edge));
            }
        }
        // Means of numbers in −1 to 1; the last digit of a sum may say otherwise.
        outcome.value = outcome.value.clamp(-1.0, 1.0);
        outcome.mean = outcome.mean.clamp(-1.0, 1.0);
        let by_visits = matches!(self.options.rule, Rule::Puct(_));
        outcome.moves.clear();
        outcome.moves.extend(self.edges.iter().zip(&self.shares).map(|(&edge, &policy)| {
            let visits = tree.visits[edge];
            RootMove {
                mv: tree.mv(&root, edge),
                visits,
                q: (visits > 0).then(|| tree.means[edge]),
                prior: tree.prior(&root, edge),
                policy,
                target: if by_visits { visits } else { quanta(policy) },
            }
        }));
        self.state = State::Done;
    }
}

/// A value that is one.
fn in_range(value: f32) -> Result<f32> {
    if (-1.0..=1.0).contains(&value) { Ok(value) } else { Err(Error::Value { value }) }
}
