//! What a network knows of samples: in floats as it was trained, and in the integers of its file.

use super::params::Params;
use super::pass::{Slot, forward, losses};
use super::samples::Samples;
use super::wide::wide;
use crate::evaluate::{Scratch, evaluate_lists, number, real};
use crate::net::Net;
use serde::Serialize;
use std::num::NonZeroUsize;

/// Samples that a thread has at a time.
const AT_ONCE: usize = 64;

/// What a network knows of samples.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Measures {
    /// Samples.
    pub rows: u64,
    /// Mean cross entropy of win probabilities by weight, less the least there can be, in nats.
    pub value_loss: f64,
    /// The same of the policy over all legal moves.
    pub policy_loss: f64,
    /// Of samples whose value is not 0, the share whose value the network puts on the same side of 0; 0.5 is chance.
    pub sign_accuracy: f64,
    /// The share of samples where the move with the highest logit has the highest prob.
    pub policy_top1: f64,
}

/// How far the integers of a network are from the floats it was trained in.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Agreement {
    /// The share of samples with the same move at the top.
    pub same_top: f64,
    /// The mean distance of values.
    pub mean_value_error: f64,
    /// The largest.
    pub max_value_error: f64,
}

/// What came of one sample.
#[derive(Clone, Copy, Default)]
struct Outcome {
    weight: f64,
    value_loss: f64,
    policy_loss: f64,
    /// Whether the sign is right, where there is one.
    sign: Option<bool>,
    top: usize,
    top_right: bool,
    value: f32,
}

/// Reads what is in a slot.
fn outcome(slot: &mut Slot) -> Outcome {
    losses(slot);
    let (target, win, weight) = slot.target();
    let top = top(&slot.logits);
    let most = target.iter().copied().fold(0.0, f32::max);
    let wanted = win - 0.5;
    Outcome {
        weight: weight.into(),
        value_loss: slot.value_loss,
        policy_loss: slot.policy_loss,
        sign: (wanted != 0.0).then_some(wanted * slot.value > 0.0),
        top,
        top_right: most > 0.0 && target.get(top) == Some(&most),
        value: number(slot.value),
    }
}

/// The place of the highest logit, of several the first.
fn top(logits: &[f32]) -> usize {
    let best = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    logits.iter().position(|&logit| logit == best).unwrap_or(0)
}

/// Sums of [`Outcome`]s in their order.
#[derive(Default)]
struct Tally {
    sums: Measures,
    weight: f64,
    signs: u64,
    right_signs: u64,
    right_tops: u64,
}

impl Tally {
    fn add(&mut self, outcome: &Outcome) {
        self.sums.rows += 1;
        self.sums.value_loss += outcome.value_loss;
        self.sums.policy_loss += outcome.policy_loss;
        self.weight += outcome.weight;
        self.signs += u64::from(outcome.sign.is_some());
        self.right_signs += u64::from(outcome.sign == Some(true));
        self.right_tops += u64::from(outcome.top_right);
    }

    fn finish(self) -> Measures {
        Measures {
            rows: self.sums.rows,
            value_loss: self.sums.value_loss / self.weight.max(f64::MIN_POSITIVE),
            policy_loss: self.sums.policy_loss / self.weight.max(f64::MIN_POSITIVE),
            sign_accuracy: share(self.right_signs, self.signs),
            policy_top1: share(self.right_tops, self.sums.rows),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "shares to be read")]
fn share(part: u64, of: u64) -> f64 {
    part as f64 / of.max(1) as f64
}

/// Measures floats.
pub fn measure(params: &Params, samples: &Samples, threads: NonZeroUsize) -> Measures {
    let mut tally = Tally::default();
    each(samples, threads, |slots, out| {
        wide(
            #[inline(always)]
            || forward(params, slots),
        );
        out.extend(slots.iter_mut().map(|slot| [outcome(slot), Outcome::default()]));
    })
    .for_each(|[float, _]| tally.add(&float));
    tally.finish()
}

/// Measures the integers of the same network, and how far they are from the floats.
pub fn compare(
    params: &Params,
    net: &Net,
    samples: &Samples,
    threads: NonZeroUsize,
) -> (Measures, Agreement) {
    let mut tally = Tally::default();
    let mut agreement = Agreement::default();
    let mut same = 0;
    each(samples, threads, |slots, out| {
        let mut scratch = Scratch::new();
        wide(
            #[inline(always)]
            || forward(params, slots),
        );
        for slot in slots {
            let float = outcome(slot);
            evaluate_lists(net, &mut scratch, [slot.inputs(0), slot.inputs(1)], &slot.labels);
            let (value, logits) = scratch.integers();
            slot.value = real(value);
            slot.logits.clear();
            slot.logits.extend(logits.iter().copied().map(real));
            out.push([float, outcome(slot)]);
        }
    })
    .for_each(|[float, integer]| {
        tally.add(&integer);
        same += u64::from(float.top == integer.top);
        let error = f64::from((float.value - integer.value).abs());
        agreement.mean_value_error += error;
        agreement.max_value_error = agreement.max_value_error.max(error);
    });
    let measures = tally.finish();
    agreement.same_top = share(same, measures.rows);
    #[expect(clippy::cast_precision_loss, reason = "a mean to be read")]
    let rows = measures.rows.max(1) as f64;
    agreement.mean_value_error /= rows;
    (measures, agreement)
}

/// Outcomes of all samples in their order, whatever thread they came from.
fn each(
    samples: &Samples,
    threads: NonZeroUsize,
    work: impl Fn(&mut [Slot], &mut Vec<[Outcome; 2]>) + Sync,
) -> impl Iterator<Item = [Outcome; 2]> {
    let share = samples.len().div_ceil(threads.get()).max(1);
    let mut outcomes = Vec::new();
    std::thread::scope(|scope| {
        let work = &work;
        let parts: Vec<_> = (0..samples.len())
            .step_by(share)
            .map(|from| {
                scope.spawn(move || {
                    let mut out = Vec::new();
                    let mut slots = vec![Slot::new(); AT_ONCE];
                    let end = (from + share).min(samples.len());
                    for first in (from..end).step_by(AT_ONCE) {
                        let slots = &mut slots[..AT_ONCE.min(end - first)];
                        for (at, slot) in slots.iter_mut().enumerate() {
                            slot.take(&samples.get(first + at), false);
                        }
                        work(slots, &mut out);
                    }
                    out
                })
            })
            .collect();
        // A thread that panicked would have panicked here.
        outcomes.extend(parts.into_iter().flat_map(|part| part.join().unwrap_or_default()));
    });
    outcomes.into_iter()
}
