//! What a search refuses.

/// The result of this crate's operations.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a search does not go on. Nothing is changed by a call that fails.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An option that no search can be made with.
    #[error("{option}: {found} is not {wanted}")]
    Option {
        /// The option's name.
        option: &'static str,
        /// Its value.
        found: f64,
        /// What it has to be.
        wanted: &'static str,
    },
    /// The position to be searched has no moves to choose from: the game is over.
    #[error("the game is over at the root (value {value} for the side to move)")]
    RootOver {
        /// The exact value for the side to move.
        value: f32,
    },
    /// A game that goes on and gives no moves, which is a fault of the [`Game`](crate::Game).
    #[error("the game goes on and has no legal move")]
    NoMoves,
    /// [`step`](crate::Search::step) before [`begin`](crate::Search::begin).
    #[error("no search was begun")]
    NotBegun,
    /// [`step`](crate::Search::step) while a position waits for its evaluation.
    #[error("the position asked about last was not evaluated")]
    NotEvaluated,
    /// [`apply`](crate::Search::apply) without a position that waits for one.
    #[error("an evaluation nobody asked for")]
    NotAsked,
    /// An evaluation with more or fewer logits than the position has moves.
    #[error("{found} logits for {wanted} moves")]
    LogitCount {
        /// Logits handed in.
        found: usize,
        /// Legal moves of the position.
        wanted: usize,
    },
    /// A logit that is infinite or not a number.
    #[error("logit {index} is {logit}")]
    Logit {
        /// Which, in the order of the moves.
        index: usize,
        /// Its value.
        logit: f32,
    },
    /// A value outside [−1, 1], or not a number.
    #[error("a value of {value}, outside -1 to 1")]
    Value {
        /// What was handed in, or what the game calls its result.
        value: f32,
    },
    /// Given Gumbel noise that does not fit the root.
    #[error("{found} numbers of given noise for {wanted} root moves")]
    NoiseCount {
        /// Numbers given.
        found: usize,
        /// Legal moves at the root.
        wanted: usize,
    },
    /// A tree of 2³² moves.
    #[error("the tree holds no more moves")]
    TreeFull,
}
