//! The positions of one game, and what it means when one of them comes back.
//!
//! The rules library has a counter of its own, made for search: once the same board has come by with other hands in
//! between, it no longer sees the fourth occurrence. A game is adjudicated by this one.

use manaka_core::{Color, Packed};
use std::collections::HashMap;

/// What the rules say about a position that has just been reached.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Verdict {
    /// The game goes on.
    None,
    /// The fourth occurrence, and no perpetual check: a draw (sennichite).
    Draw,
    /// The fourth occurrence, and every move of this side between the first and now gave check: it loses.
    PerpetualCheck {
        /// The side that gave check.
        loser: Color,
    },
}

/// The outcome of [`Repetition::push`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Occurrence {
    /// How often the position has now stood on the board, this time included: 1 for a new one.
    pub count: u32,
    /// What that means.
    pub verdict: Verdict,
}

/// The history of one game: every position in the order in which it arose, the first one included.
///
/// Two positions are the same when all 96 bytes are: board, both hands, side to move (stream.md §4).
///
/// From the fourth occurrence on there is a verdict. It looks at the moves played after the *first* occurrence up to
/// now: a side all of whose moves there gave check has lost, unless the same is true of the other side (each answers
/// check with check), which is a draw as the rules name no loser. A check given before the first occurrence changes
/// nothing, and a single quiet move after it is enough for a draw. Whoever plays on past a verdict is given one
/// again at the fifth occurrence.
#[derive(Clone, Default, Debug)]
pub struct Repetition {
    plies: Vec<Ply>,
    seen: HashMap<Packed, Seen>,
}

/// One position of the game.
#[derive(Clone, Copy, Debug)]
struct Ply {
    position: Packed,
    /// By side: its moves from the start of the game up to here.
    moves: [Moves; 2],
}

/// How many moves of one side gave check, and how many did not.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Moves {
    checks: u32,
    quiet: u32,
}

/// Where a position stands in the game.
#[derive(Clone, Copy, Debug)]
struct Seen {
    count: u32,
    /// By side: its moves up to the first occurrence.
    first: [Moves; 2],
}

impl Repetition {
    /// An empty history. The first push is the position the game starts from.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets the game and keeps the memory.
    pub fn clear(&mut self) {
        self.plies.clear();
        self.seen.clear();
    }

    /// Positions pushed and not popped.
    #[must_use]
    pub fn len(&self) -> usize {
        self.plies.len()
    }

    /// Whether nothing was pushed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.plies.is_empty()
    }

    /// How often a position has stood on the board.
    #[must_use]
    pub fn count(&self, position: &Packed) -> u32 {
        self.seen.get(position).map_or(0, |seen| seen.count)
    }

    /// Adds the position that has just been reached.
    ///
    /// `in_check`: whether its side to move stands in check ([`Board::in_check`](crate::Board::in_check)), that is,
    /// whether the move that led here gave check. For the first position no move did and the value has no effect.
    pub fn push(&mut self, position: &Packed, in_check: bool) -> Occurrence {
        let mut moves = self.plies.last().map_or([Moves::default(); 2], |ply| ply.moves);
        let mover = &mut moves[position.side().flip() as usize];
        if in_check {
            mover.checks += 1;
        } else {
            mover.quiet += 1;
        }
        self.plies.push(Ply { position: *position, moves });
        let seen = self.seen.entry(*position).or_insert(Seen { count: 0, first: moves });
        seen.count += 1;
        let verdict = if seen.count < 4 { Verdict::None } else { verdict(&seen.first, &moves) };
        Occurrence { count: seen.count, verdict }
    }

    /// What [`push`](Self::push) said, or would have said, of the last position.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        self.verdict_from(4)
    }

    /// The verdict on the last position, if it has stood on the board so often.
    fn verdict_from(&self, times: u32) -> Verdict {
        let Some(ply) = self.plies.last() else { return Verdict::None };
        match self.seen.get(&ply.position) {
            Some(seen) if seen.count >= times => verdict(&seen.first, &ply.moves),
            _ => Verdict::None,
        }
    }

    /// What the rules would say of the last position if it stood on the board for the fourth time already; none when this
    /// is the first time.
    ///
    /// Searches take the second time for the fourth: who could repeat once can do so again, and a line that leads
    /// nowhere new need not be followed.
    #[must_use]
    pub fn foreseen(&self) -> Verdict {
        self.verdict_from(2)
    }

    /// Takes the last position back; false when there is none.
    pub fn pop(&mut self) -> bool {
        let Some(ply) = self.plies.pop() else { return false };
        if let Some(seen) = self.seen.get_mut(&ply.position) {
            seen.count -= 1;
            if seen.count == 0 {
                self.seen.remove(&ply.position);
            }
        }
        true
    }
}

/// The verdict on the moves between two points of the game.
fn verdict(from: &[Moves; 2], to: &[Moves; 2]) -> Verdict {
    let only_checks = |color: Color| {
        let (from, to) = (from[color as usize], to[color as usize]);
        to.checks > from.checks && to.quiet == from.quiet
    };
    match (only_checks(Color::Black), only_checks(Color::White)) {
        (true, false) => Verdict::PerpetualCheck { loser: Color::Black },
        (false, true) => Verdict::PerpetualCheck { loser: Color::White },
        _ => Verdict::Draw,
    }
}
