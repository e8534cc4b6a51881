//! Which game is played next, and how far ahead of the written ones.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// What a thread that could play another game gets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    /// This one.
    Game(u64),
    /// None for now: games before it have to be written first.
    Later,
    /// None any more.
    Done,
}

/// How many games may be begun behind the first that is not written. A game's records are 20 to 200 KB, and some games
/// last several times as long as others.
pub(crate) const fn window(in_play: u64) -> u64 {
    64 + 4 * in_play
}

/// Hands out the numbers of games in their order, and holds back those far ahead of the first that is not yet written:
/// they would pile up in memory.
#[derive(Debug)]
pub(crate) struct Numbers {
    state: Mutex<State>,
    moved: Condvar,
    window: u64,
}

#[derive(Debug)]
struct State {
    next: u64,
    games: u64,
    written: u64,
}

impl Numbers {
    /// From `first` up to `games`, with so many games in play at most.
    pub(crate) fn new(first: u64, games: u64, in_play: u64) -> Self {
        // A game's records are 50 to 200 KB; some games last three times as long as others.
        let window = 64 + 4 * in_play;
        Self {
            state: Mutex::new(State { next: first, games, written: first }),
            moved: Condvar::new(),
            window,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next game. `wait` is for a thread that has nothing else to do; it never gets [`Next::Later`].
    pub(crate) fn take(&self, wait: bool) -> Next {
        let mut state = self.state();
        loop {
            if state.next >= state.games {
                return Next::Done;
            }
            if state.next < state.written + self.window {
                state.next += 1;
                return Next::Game(state.next - 1);
            }
            if !wait {
                return Next::Later;
            }
            state = self.moved.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// All games before `next` are written.
    pub(crate) fn written(&self, next: u64) {
        self.state().written = next;
        self.moved.notify_all();
    }

    /// No more games.
    pub(crate) fn close(&self) {
        self.state().games = 0;
        self.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_far_ahead_of_the_written_ones_wait_and_none_begins_once_closed() {
        let numbers = Numbers::new(5, 1000, 2);
        for game in 5..5 + 72 {
            assert_eq!(numbers.take(false), Next::Game(game));
        }
        assert_eq!(numbers.take(false), Next::Later);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| numbers.take(true));
            numbers.written(6);
            assert_eq!(waiting.join().unwrap(), Next::Game(77));
            let waiting = scope.spawn(|| numbers.take(true));
            numbers.close();
            assert_eq!(waiting.join().unwrap(), Next::Done);
        });
        let few = Numbers::new(3, 4, 1);
        assert_eq!(
            [few.take(true), few.take(true), few.take(false)],
            [Next::Game(3), Next::Done, Next::Done]
        );
    }
}
