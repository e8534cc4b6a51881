//! kp256 as an evaluator: the net in the binary, or one from a file.

use crate::error::EvaluatorError;
use crate::evaluator::{Evaluator, Evaluators, Identity, Replies, Request};
use manaka_kp::{Net, Scratch};
use std::borrow::Cow;
use std::path::Path;

/// kp256 (kpnet.md). Its arithmetic is of integers, so that games are the same on every machine.
#[derive(Clone, Debug)]
pub struct Kp256(Cow<'static, Net>);

impl Kp256 {
    /// The net in the binary.
    #[must_use]
    pub fn embedded() -> Self {
        Self(Cow::Borrowed(Net::embedded()))
    }

    /// The net of a file.
    ///
    /// # Errors
    /// [`EvaluatorError`] with the file and what is wrong with it.
    pub fn open(path: &Path) -> Result<Self, EvaluatorError> {
        Net::open(path).map(Self::new).map_err(EvaluatorError::new)
    }

    /// This net.
    #[must_use]
    pub fn new(net: Net) -> Self {
        Self(Cow::Owned(net))
    }
}

impl Evaluators for Kp256 {
    fn identity(&self) -> Identity {
        Identity::new("kp256", Some(format!("xxh3:{:016x}", self.0.hash())))
    }

    fn evaluator(&self) -> Result<Box<dyn Evaluator + '_>, EvaluatorError> {
        Ok(Box::new(Worker { net: &self.0, scratch: Scratch::new() }))
    }
}

struct Worker<'n> {
    net: &'n Net,
    scratch: Scratch,
}

impl Evaluator for Worker<'_> {
    /// One after the other: a batch would save it nothing, and the trees of many games do not fit a cache.
    fn batch_hint(&self) -> usize {
        1
    }

    fn evaluate(&mut self, batch: &[Request<'_>], replies: &mut Replies) -> Result<(), EvaluatorError> {
        for (request, reply) in batch.iter().zip(replies.iter_mut()) {
            *reply.value = self
                .net
                .evaluate(&mut self.scratch, request.position, request.moves, reply.logits)
                .map_err(EvaluatorError::new)?;
        }
        Ok(())
    }
}
