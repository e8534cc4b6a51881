//! What judges positions: a batch of them with their legal moves in, a logit a move and a value out (selfplay.md §3).

use crate::error::EvaluatorError;
use manaka_core::{Move16, Packed};
use serde::{Deserialize, Serialize};

/// A position to evaluate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request<'a> {
    /// The position.
    pub position: &'a Packed,
    /// Its legal moves, at least one, ascending by their bits.
    pub moves: &'a [Move16],
}

/// Judges positions. Each thread has one of its own.
///
/// An evaluation must depend on its position and moves alone: not on what else is in the batch, and not on what was
/// asked before. On that rests the promise that one seed plays the same games on any number of threads.
pub trait Evaluator {
    /// How many positions it likes to have in a batch, at least 1; as many games are played at the same time.
    fn batch_hint(&self) -> usize;

    /// Evaluates a batch. `replies` comes with room for it, and every reply has to be filled in: what is left out is
    /// refused as no evaluation.
    ///
    /// # Errors
    /// [`EvaluatorError`], which ends the run.
    fn evaluate(&mut self, batch: &[Request<'_>], replies: &mut Replies) -> Result<(), EvaluatorError>;
}

/// Makes evaluators, one for each thread, on that thread.
pub trait Evaluators: Sync {
    /// What they are, as it goes into reports. A run is only resumed with evaluators of the same identity.
    fn identity(&self) -> Identity;

    /// Another one.
    ///
    /// # Errors
    /// [`EvaluatorError`].
    fn evaluator(&self) -> Result<Box<dyn Evaluator + '_>, EvaluatorError>;
}

/// What evaluators are.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Identity {
    /// Their kind, such as `kp256`.
    pub name: String,
    /// A hash of the net's bytes with the hash's name in front, such as `xxh3:0123456789abcdef`; none without a net.
    pub net: Option<String>,
    /// What computes, such as `cpu`, where another gives other numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
}

impl Identity {
    /// An evaluator that computes the same everywhere.
    #[must_use]
    pub fn new(name: &str, net: Option<String>) -> Self {
        Self { name: name.to_owned(), net, provider: None }
    }
}

/// The evaluations of a batch, in buffers that are used again.
#[derive(Clone, Default, Debug)]
pub struct Replies {
    logits: Vec<f32>,
    /// Where the logits of each end.
    ends: Vec<usize>,
    values: Vec<f32>,
}

/// The evaluation of one position.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reply<'a> {
    /// A logit for each of its moves, in their order.
    pub logits: &'a [f32],
    /// Its value for the side to move, in −1 to 1.
    pub value: f32,
}

/// The evaluation of one position, to be filled in.
#[derive(Debug)]
pub struct ReplyMut<'a> {
    /// Takes a logit for each of its moves, in their order.
    pub logits: &'a mut [f32],
    /// Takes its value for the side to move, in −1 to 1.
    pub value: &'a mut f32,
}

impl Replies {
    /// No evaluations.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes room for the evaluations of a batch; none of them is one yet.
    pub fn fit(&mut self, batch: &[Request<'_>]) {
        self.ends.clear();
        let mut end = 0;
        self.ends.extend(batch.iter().map(|request| {
            end += request.moves.len();
            end
        }));
        self.logits.clear();
        self.logits.resize(end, f32::NAN);
        self.values.clear();
        self.values.resize(batch.len(), f32::NAN);
    }

    /// Evaluations there is room for.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is room for none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// In the order of the batch.
    pub fn iter(&self) -> impl Iterator<Item = Reply<'_>> {
        let mut from = 0;
        self.ends.iter().zip(&self.values).map(move |(&end, &value)| {
            let logits = &self.logits[from..end];
            from = end;
            Reply { logits, value }
        })
    }

    /// In the order of the batch, to be filled in.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = ReplyMut<'_>> {
        let (mut logits, mut from) = (self.logits.as_mut_slice(), 0);
        self.ends.iter().zip(&mut self.values).map(move |(&end, value)| {
            let (these, rest) = std::mem::take(&mut logits).split_at_mut(end - from);
            (logits, from) = (rest, end);
            ReplyMut { logits: these, value }
        })
    }
}

/// An evaluator that knows nothing: every move as good as the next, every position even. For tests, and to see what a
/// search makes of the rules alone.
#[derive(Clone, Copy, Default, Debug)]
pub struct Uniform {
    /// Positions it asks for in a batch, if not 1. What it says does not depend on it.
    pub batch: Option<std::num::NonZeroUsize>,
}

impl Evaluator for Uniform {
    fn batch_hint(&self) -> usize {
        self.batch.map_or(1, std::num::NonZeroUsize::get)
    }

    fn evaluate(&mut self, _batch: &[Request<'_>], replies: &mut Replies) -> Result<(), EvaluatorError> {
        for reply in replies.iter_mut() {
            reply.logits.fill(0.0);
            *reply.value = 0.0;
        }
        Ok(())
    }
}

impl Evaluators for Uniform {
    fn identity(&self) -> Identity {
        Identity::new("uniform", None)
    }

    fn evaluator(&self) -> Result<Box<dyn Evaluator + '_>, EvaluatorError> {
        Ok(Box::new(*self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_cut_by_the_moves_of_their_requests() {
        let position = Packed::empty();
        let moves: Vec<_> = (0..6).map(Move16::from_bits).collect();
        let batch = [3, 1, 2].map(|n| Request { position: &position, moves: &moves[..n] });
        let mut replies = Replies::new();
        for _ in 0..2 {
            replies.fit(&batch);
            assert_eq!((replies.len(), replies.is_empty()), (3, false));
            assert!(replies.iter().all(|reply| reply.value.is_nan() && reply.logits[0].is_nan()));
            for (at, reply) in replies.iter_mut().enumerate() {
                reply.logits.fill(at as f32);
                *reply.value = at as f32 / 10.0;
            }
            let read: Vec<_> = replies.iter().map(|reply| (reply.logits.to_vec(), reply.value)).collect();
            assert_eq!(read, [(vec![0.0; 3], 0.0), (vec![1.0], 0.1), (vec![2.0; 2], 0.2)]);
        }
        replies.fit(&[]);
        assert!(replies.is_empty() && replies.iter().next().is_none());
    }
}
