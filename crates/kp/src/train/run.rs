//! A training from the first weights to a network.

use super::error::{Error, Result};
use super::export::tensors;
use super::learn::{Learner, Losses};
use super::measure::{compare, measure};
use super::options::Options;
use super::params::Params;
use super::report::{Epoch, Report, Stopped};
use super::samples::Samples;
use crate::net::Net;
use manaka_core::progress::Progress;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Steps in which the rate rises to its full height.
const WARM_UP: u64 = 200;

/// Random numbers of one use.
pub struct Draws(ChaCha8Rng);

impl Draws {
    /// Of a seed and a use: 0 for the first weights, then the epoch's number.
    pub fn new(seed: u64, what: u32) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..12].copy_from_slice(&what.to_le_bytes());
        Self(ChaCha8Rng::from_seed(key))
    }

    /// Between `-bound` and `bound`.
    pub fn around(&mut self, bound: f32) -> f32 {
        // 24 bits, which an f32 holds exactly.
        #[expect(clippy::cast_precision_loss, reason = "24 bits")]
        let unit = (self.0.next_u32() >> 8) as f32 / (1 << 24) as f32;
        bound * (2.0 * unit - 1.0)
    }

    /// Below `bound`, which is at least 1.
    fn below(&mut self, bound: usize) -> usize {
        let product = u128::from(self.0.next_u64()) * bound as u128;
        usize::try_from(product >> 64).unwrap_or(0)
    }

    /// Samples in an order of its own, half of them mirrored.
    fn order(&mut self, samples: usize) -> Vec<(usize, bool)> {
        let mut order: Vec<_> = (0..samples).map(|at| (at, false)).collect();
        for last in (1..samples).rev() {
            order.swap(last, self.below(last + 1));
        }
        for (_, mirrored) in &mut order {
            *mirrored = self.0.next_u32() & 1 == 1;
        }
        order
    }
}

/// Trains a network and measures it epoch by epoch; returns the one of the least validation loss, and a report.
///
/// When `progress` asks to stop, the best network so far is returned.
///
/// # Errors
/// [`Error::Option`]; [`Error::NoRows`]; [`Error::Diverged`]; [`Error::Cancelled`] before the end of the first epoch.
pub fn train(
    samples: &Samples,
    validation: &Samples,
    options: &Options,
    progress: &impl Progress,
) -> Result<(Net, Report)> {
    options.check()?;
    if samples.is_empty() {
        return Err(Error::NoRows("training"));
    }
    if validation.is_empty() {
        return Err(Error::NoRows("validation"));
    }
    let mut learner = Learner::new(Params::new(&mut Draws::new(options.seed, 0)), options.threads);
    let mut epochs: Vec<Epoch> = Vec::new();
    let mut best: Option<(f64, u32, Params)> = None;
    let mut stopped = Stopped::Epochs;
    for epoch in 1..=options.epochs {
        let Some(losses) = pass(&mut learner, samples, options, epoch, progress)? else {
            stopped = Stopped::Cancelled;
            break;
        };
        let validation = measure(&learner.params, validation, options.threads);
        let loss = validation.value_loss + validation.policy_loss;
        if !loss.is_finite() {
            return Err(Error::Diverged { step: learner.steps() });
        }
        epochs.push(Epoch {
            epoch,
            steps: learner.steps(),
            value_loss: losses.value / losses.weight,
            policy_loss: losses.policy / losses.weight,
            validation,
        });
        match &best {
            Some((least, at, _)) if *least <= loss => {
                if epoch - at > options.patience {
                    stopped = Stopped::Patience;
                    break;
                }
            }
            _ => best = Some((loss, epoch, learner.params.clone())),
        }
    }
    let Some((_, best, params)) = best else { return Err(Error::Cancelled) };
    let net = Net::new(tensors(&params));
    let (integers, agreement) = compare(&params, &net, validation, options.threads);
    #[expect(clippy::cast_precision_loss, reason = "a mean to be read")]
    let legal_moves = samples.moves() as f64 / samples.len() as f64;
    let report = Report {
        samples: samples.len() as u64,
        legal_moves,
        validation_samples: validation.len() as u64,
        epochs,
        best,
        stopped,
        integers,
        agreement,
        net: format!("{:016x}", net.hash()),
    };
    Ok((net, report))
}

/// One epoch; `None` when the caller asked to stop.
fn pass(
    learner: &mut Learner,
    samples: &Samples,
    options: &Options,
    epoch: u32,
    progress: &impl Progress,
) -> Result<Option<Losses>> {
    let order = Draws::new(options.seed, epoch).order(samples.len());
    progress.phase(&format!("epoch {epoch}"), Some(samples.len() as u64), "samples");
    let all = u64::from(options.epochs) * samples.len().div_ceil(options.batch_size.get()) as u64;
    let mut losses = Losses::default();
    for batch in order.chunks(options.batch_size.get()) {
        if progress.cancelled() {
            return Ok(None);
        }
        let of = learner.learn(samples, batch, rate(options.rate, learner.steps(), all));
        if !(of.value.is_finite() && of.policy.is_finite()) {
            return Err(Error::Diverged { step: learner.steps() });
        }
        losses.add(of);
        progress.advance(batch.len() as u64);
    }
    Ok(Some(losses))
}

/// The rate behind so many of all steps: rising in the beginning, then falling along a cosine to nothing.
#[expect(clippy::cast_precision_loss, reason = "steps are below 2^52")]
fn rate(highest: f32, step: u64, all: u64) -> f64 {
    let rising = ((step + 1) as f64 / WARM_UP.min(all.div_ceil(4)).max(1) as f64).min(1.0);
    let falling = 0.5 + 0.5 * libm::cos(std::f64::consts::PI * step as f64 / all as f64);
    f64::from(highest) * rising * falling
}
