//! Threads that play, and one that takes what they bring in the order of its numbers.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// How long nothing may be brought before there is a [`Turn::Look`].
const LOOK: Duration = Duration::from_millis(100);

/// Something and its number; without one, it is taken at once.
pub type Brought<T> = (Option<u64>, T);

/// What there is to do next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn<T> {
    /// Take this: its turn has come.
    Take(T),
    /// Look after whatever else there is: everything brought was taken, or waits for what stands in front of it. Comes at least ten
    /// times a second.
    Look,
}

/// What threads bring, in the order of its numbers; ends when none is left that could bring more.
#[derive(Debug)]
pub struct InOrder<'r, T> {
    brought: &'r Receiver<Brought<T>>,
    early: BTreeMap<u64, T>,
    next: u64,
    look: bool,
}

impl<'r, T> InOrder<'r, T> {
    /// From the number `next` on.
    #[must_use]
    pub const fn new(brought: &'r Receiver<Brought<T>>, next: u64) -> Self {
        Self { brought, early: BTreeMap::new(), next, look: false }
    }

    /// Whether nothing waits for what stands in front of it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.early.is_empty()
    }
}

impl<T> Iterator for InOrder<'_, T> {
    type Item = Turn<T>;

    fn next(&mut self) -> Option<Turn<T>> {
        loop {
            if let Some(thing) = self.early.remove(&self.next) {
                self.next += 1;
                return Some(Turn::Take(thing));
            }
            if std::mem::take(&mut self.look) {
                return Some(Turn::Look);
            }
            match self.brought.recv_timeout(LOOK) {
                Ok((None, thing)) => return Some(Turn::Take(thing)),
                Ok((Some(number), thing)) => drop(self.early.insert(number, thing)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return None,
            }
            self.look = true;
        }
    }
}

/// Runs `work` for each of `workers`, every one on a thread of its own, and `take` on this one for what they bring. When `take` has
/// come to its end, or a thread panics, `halt` is called: it has to bring the others to theirs. Returns what `take` does, and `None`
/// when a thread panicked.
pub fn on_threads<W: Send, T: Send, R>(
    workers: impl IntoIterator<Item = W>,
    halt: impl Fn() + Sync,
    work: impl Fn(W, &Sender<Brought<T>>) + Sync,
    take: impl FnOnce(&Receiver<Brought<T>>) -> R,
) -> Option<R> {
    let (sender, receiver) = channel();
    thread::scope(|scope| {
        let (halt, work) = (&halt, &work);
        let threads: Vec<_> = workers
            .into_iter()
            .map(|worker| {
                let sender = sender.clone();
                scope.spawn(move || {
                    let _alarm = Alarm(halt);
                    work(worker, &sender);
                })
            })
            .collect();
        drop(sender);
        let taken = take(&receiver);
        // Everything was brought, or nothing more is wanted.
        drop(receiver);
        halt();
        let joined: Vec<_> = threads.into_iter().map(thread::ScopedJoinHandle::join).collect();
        joined.iter().all(Result::is_ok).then_some(taken)
    })
}

/// Stops the others when a thread panics: they would wait for what it was to bring.
struct Alarm<'h, H: Fn()>(&'h H);

impl<H: Fn()> Drop for Alarm<'_, H> {
    fn drop(&mut self) {
        if thread::panicking() {
            (self.0)();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::{Next, Numbers};

    #[test]
    fn things_come_in_the_order_of_their_numbers_and_those_without_one_at_once() {
        let (sender, receiver) = channel();
        let mut order = InOrder::new(&receiver, 3);
        assert_eq!(order.next(), Some(Turn::Look));
        sender.send((Some(4), 'e')).unwrap();
        sender.send((None, '!')).unwrap();
        sender.send((Some(3), 'd')).unwrap();
        sender.send((Some(6), 'g')).unwrap();
        drop(sender);
        let turns: Vec<_> = order.by_ref().collect();
        let (look, take) = (Turn::Look, Turn::Take);
        assert_eq!(turns, [look, take('!'), take('d'), take('e'), look, look]);
        assert!(!order.is_empty(), "5 was never brought");
    }

    #[test]
    fn a_thread_that_panics_stops_those_that_wait_for_what_it_was_to_bring() {
        let numbers = Numbers::new(0, 1000, 4);
        let taken = on_threads(
            0..3,
            || numbers.close(),
            |_, brought| {
                while let Next::Game(number) = numbers.take(true) {
                    assert!(number != 7, "a panic on purpose");
                    brought.send((Some(number), number)).unwrap();
                }
            },
            |brought| {
                let mut taken = Vec::new();
                for turn in InOrder::new(brought, 0) {
                    if let Turn::Take(number) = turn {
                        taken.push(number);
                        numbers.written(number + 1);
                    }
                }
                assert_eq!(taken, (0..7).collect::<Vec<_>>());
            },
        );
        assert_eq!(taken, None);
    }
}
