//! What the search knows about the game.

/// Where a position stands.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Status {
    /// The game goes on.
    Open,
    /// It is over, with this exact value for the side to move: 1 won, 0 drawn, −1 lost.
    Over(f32),
}

/// A game of two sides that move in turn, as one position that is played on and taken back.
///
/// The search leaves the position as it found it: every [`play`](Self::play) is undone, last first.
///
/// All rules live behind this trait, those of repetition and the length of games included: [`status`](Self::status)
/// is asked once for each node, right after the move that leads to it, so its answer may rest on the whole line.
pub trait Game {
    /// A move of this game.
    type Move: Copy;

    /// Where the position stands; when the game goes on, adds its legal moves, at least one and none twice, to `moves`,
    /// which comes empty. What is left in `moves` when the game is over has no meaning.
    ///
    /// The order of the moves settles ties, so it must be a function of the position.
    fn status(&mut self, moves: &mut Vec<Self::Move>) -> Status;

    /// Plays a move that [`status`](Self::status) gave for this position.
    fn play(&mut self, mv: Self::Move);

    /// Takes the last move back.
    fn undo(&mut self);

    /// Whether the side to move has a move that wins at once. Asked at leaves only, after `status` said the game goes
    /// on, and only under [`MateTest::Leaf`](crate::MateTest::Leaf). A game without a cheap test leaves it at false.
    fn wins_at_once(&mut self) -> bool {
        false
    }
}
