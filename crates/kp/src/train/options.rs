//! What a training is asked for; each default is stated at [`Options::default`].

use super::error::{Error, Result};
use std::num::NonZeroUsize;

/// What a training is asked for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Options {
    /// Passes over the samples at most; the rate falls to nothing over so many.
    pub epochs: u32,
    /// Samples of a step.
    pub batch_size: NonZeroUsize,
    /// Adam's highest rate.
    pub rate: f32,
    /// How many epochs in a row may be no better than the best before training ends.
    pub patience: u32,
    /// Seed of the first weights, of the order and of mirroring.
    pub seed: u64,
    /// Threads. They cannot be seen in the network.
    pub threads: NonZeroUsize,
}

impl Default for Options {
    /// 12 epochs, 1024 samples a step, a rate of 0.002, 2 epochs of patience, seed 0, one thread.
    fn default() -> Self {
        const BATCH: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1023);
        Self { epochs: 12, batch_size: BATCH, rate: 0.002, patience: 2, seed: 0, threads: NonZeroUsize::MIN }
    }
}

impl Options {
    /// Refuses options that make no sense.
    ///
    /// # Errors
    /// [`Error::Option`].
    pub fn check(&self) -> Result<()> {
        let refuse = |text: String| Err(Error::Option(text));
        if self.epochs == 0 {
            return refuse("no epochs are no training".to_owned());
        }
        if !(self.rate > 0.0 && self.rate <= 1.0) {
            return refuse(format!("the rate is {}, not above 0 and at most 1", self.rate));
        }
        if self.batch_size.get() > 1 << 20 {
            return refuse(format!("{} samples of a step are more than {}", self.batch_size, 1 << 20));
        }
        if self.threads.get() > 1024 {
            return refuse(format!("{} threads are more than 1024", self.threads));
        }
        Ok(())
    }
}
