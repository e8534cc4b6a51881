//! Which game is played next, and how far ahead of the written ones.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// What a thread that could play another game gets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// This one.
    Game(u64),
    /// None for now: games before it have to be written first.
    Later,
    /// None any more.
    Done,
}

/// Hands out the numbers of games in their order, and holds back those far ahead of the first that is not yet written:
/// they would pile up in memory.
#[derive(Debug)]
pub struct Numbers {
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
    /// From `first` up to `games`, `window` at most from the first that is not written.
    #[must_use]
    pub const fn new(first: u64, games: u64, window: u64) -> Self {
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
    pub fn take(&self, wait: bool) -> Next {
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
    pub fn written(&self, next: u64) {
        self.state().written = next;
        self.moved.notify_all();
    }

    /// No more games.
    pub fn close(&self) {
        self.state().games = 0;
        self.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_far_ahead_of_the_written_ones_wait_and_none_begins_once_closed() {
        let numbers = Numbers::new(5, 1000, 72);
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
        let few = Numbers::new(3, 4, 68);
        assert_eq!(
            [few.take(true), few.take(true), few.take(false)],
            [Next::Game(3), Next::Done, Next::Done]
        );
    }
}
