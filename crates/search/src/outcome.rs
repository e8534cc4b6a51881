//! What a search came to (search.md §6).

/// A move at the root.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RootMove<M> {
    /// The move.
    pub mv: M,
    /// Simulations that went through it.
    pub visits: u32,
    /// The mean value of these for the side to move at the root, in −1 to 1; none without visits.
    pub q: Option<f64>,
    /// Its probability by the evaluation alone, without noise.
    pub prior: f64,
    /// Its probability by the search: visits over budget under PUCT, the improved policy under Gumbel.
    pub policy: f64,
    /// What a visit record holds for it: the visits under PUCT, the policy in quanta under Gumbel; 0 is not written.
    pub target: u32,
}

/// What a search came to.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome<M> {
    /// Every legal move, in the order of the game.
    pub moves: Vec<RootMove<M>>,
    /// The value the search settled on, for the side to move at the root, in −1 to 1: Σ N q / Σ N under PUCT,
    /// Σ π′ completedQ under Gumbel.
    pub value: f64,
    /// The mean over all simulations and the root's own evaluation, in the same view: the root's value in mctx.
    pub mean: f64,
    /// The value of the root's own evaluation, for the side to move.
    pub evaluation: f32,
    /// The place in `moves` of the move to play.
    pub chosen: usize,
    /// Simulations, which is what the visits sum to.
    pub budget: u32,
}

impl<M: Copy> Outcome<M> {
    /// The move to play; none before a search has ended.
    #[must_use]
    pub fn best(&self) -> Option<M> {
        self.moves.get(self.chosen).map(|root| root.mv)
    }

    /// The moves that a visit record holds, with what it holds for each.
    pub fn written(&self) -> impl Iterator<Item = (M, u32)> + '_ {
        self.moves.iter().filter(|root| root.target > 0).map(|root| (root.mv, root.target))
    }
}

impl<M> Default for Outcome<M> {
    fn default() -> Self {
        Self { moves: Vec::new(), value: 0.0, mean: 0.0, evaluation: 0.0, chosen: 0, budget: 0 }
    }
}
