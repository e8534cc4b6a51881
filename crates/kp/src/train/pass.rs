//! Samples through the network and back to what each layer did to the loss. A sample's results are its own, so threads
//! may have any part of a batch.

use super::params::{BIAS, BLOCKS, LANES, LIST, Params};
use super::samples::Sample;
use super::tables::TABLES;
use crate::tensors::{HALF, HIDDEN, INPUT, POLICY, VALUE};

/// A sample on its way, and what came of it.
#[derive(Clone, Debug)]
pub struct Slot {
    /// Rows of the first layer, the biases first: the mover's list and its opponent's.
    lists: [[u16; LIST]; 2],
    count: usize,
    /// Labels of the legal moves.
    pub labels: Vec<u16>,
    /// The prob of each.
    target: Vec<f32>,
    /// The win probability to learn.
    win: f32,
    /// The weight.
    weight: f32,
    /// Activations of the first layer, and the loss's slope by their sums.
    pub input: [f32; INPUT],
    pub input_slope: [f32; INPUT],
    /// The same of the hidden layer.
    pub hidden: [f32; HIDDEN],
    pub hidden_slope: [f32; HIDDEN],
    /// The value before its curve, and the slope.
    pub value: f32,
    pub value_slope: f32,
    /// Logits, and in the end the slopes.
    pub logits: Vec<f32>,
    pub logit_slopes: Vec<f32>,
    /// Losses, less the least that can be, weighted.
    pub value_loss: f64,
    pub policy_loss: f64,
}

/// Slopes this small change nothing, and their products would be denormal numbers, which processors are slow with.
const TINY: f32 = 1e-12;

impl Slot {
    pub fn new() -> Self {
        Self {
            lists: [[BIAS; LIST]; 2],
            count: 1,
            labels: Vec::new(),
            target: Vec::new(),
            win: 0.5,
            weight: 0.0,
            input: [0.0; INPUT],
            input_slope: [0.0; INPUT],
            hidden: [0.0; HIDDEN],
            hidden_slope: [0.0; HIDDEN],
            value: 0.0,
            value_slope: 0.0,
            logits: Vec::new(),
            logit_slopes: Vec::new(),
            value_loss: 0.0,
            policy_loss: 0.0,
        }
    }

    /// Takes a sample, mirrored or as it is.
    pub fn take(&mut self, sample: &Sample<'_>, mirrored: bool) {
        let tables = &*TABLES;
        self.count = 1 + sample.rows.len();
        for (at, &row) in sample.rows.iter().enumerate() {
            let row = if mirrored { tables.mirrored[usize::from(row)] } else { row };
            self.lists[0][1 + at] = row;
            self.lists[1][1 + at] = tables.turned[usize::from(row)];
        }
        self.labels.clear();
        self.labels.extend(
            sample
                .labels
                .iter()
                .map(|&label| if mirrored { tables.mirrored_label[usize::from(label)] } else { label }),
        );
        self.target.clear();
        self.target.resize(sample.labels.len(), 0.0);
        for &(at, prob) in sample.candidates {
            self.target[usize::from(at)] += prob;
        }
        self.win = 0.5 + 0.5 * sample.value;
        self.weight = sample.weight;
    }

    /// A side's inputs, without the biases.
    pub fn inputs(&self, side: usize) -> &[u16] {
        &self.lists[side][1..self.count]
    }

    /// What is to be learned: the prob of each legal move, the win probability, the weight.
    pub fn target(&self) -> (&[f32], f32, f32) {
        (&self.target, self.win, self.weight)
    }

    /// A side's rows of the first layer.
    #[inline(always)]
    pub fn list(&self, side: usize) -> &[u16] {
        &self.lists[side][..self.count]
    }
}

/// The sum of products, in eight sums first.
#[inline(always)]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0f32; 8];
    for (a, b) in a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0) {
        for lane in 0..8 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

#[inline(always)]
fn clipped(x: f32) -> f32 {
    x.clamp(0.0, 1.0)
}

/// Activations, value and logits of every slot.
#[inline(always)]
pub fn forward(params: &Params, slots: &mut [Slot]) {
    // Table by table, so that each is read from the cache.
    for block in 0..BLOCKS {
        let table = params.features(block);
        for slot in slots.iter_mut() {
            for side in 0..2 {
                let mut sums = [0.0f32; LANES];
                for &row in slot.list(side) {
                    let weights = &table[usize::from(row)];
                    for lane in 0..LANES {
                        sums[lane] += weights[lane];
                    }
                }
                let out = &mut slot.input[side * HALF + block * LANES..][..LANES];
                for lane in 0..LANES {
                    out[lane] = clipped(sums[lane]);
                }
            }
        }
    }
    for slot in slots {
        hidden(params, slot);
        heads(params, slot);
    }
}

#[inline(always)]
fn hidden(params: &Params, slot: &mut Slot) {
    let weights = params.hidden();
    let mut live = [0u16; INPUT];
    let mut count = 0;
    for (at, &x) in slot.input.iter().enumerate() {
        #[expect(clippy::cast_possible_truncation, reason = "below 512")]
        let number = at as u16;
        live[count] = number;
        count += usize::from(x > 0.0);
    }
    for part in 0..HIDDEN / LANES {
        let mut sums = [0.0f32; LANES];
        sums.copy_from_slice(&params.hidden_biases()[part * LANES..][..LANES]);
        for &at in &live[..count] {
            let at = usize::from(at);
            let (x, weights) = (slot.input[at], &weights[at][part * LANES..][..LANES]);
            for lane in 0..LANES {
                sums[lane] += x * weights[lane];
            }
        }
        for (out, sum) in slot.hidden[part * LANES..].iter_mut().zip(sums) {
            *out = clipped(sum);
        }
    }
}

#[inline(always)]
fn heads(params: &Params, slot: &mut Slot) {
    let (weights, bias) = params.value().split_at(VALUE);
    slot.value = dot(&slot.hidden[..VALUE], weights) + bias[0];
    let (weights, biases) = (params.policy(), params.policy_biases());
    slot.logits.clear();
    for &label in &slot.labels {
        let label = usize::from(label);
        slot.logits.push(dot(&slot.hidden[VALUE..], &weights[label]) + biases[label]);
    }
}

/// Losses and slopes of every slot behind [`forward`]. Slopes are multiplied by `scale`.
#[inline(always)]
pub fn backward(params: &Params, slots: &mut [Slot], scale: f32) {
    for slot in slots {
        losses(slot);
        let by = scale * slot.weight;
        slot.value_slope = by * (sigmoid(slot.value) - slot.win);
        let mut slope = [0.0f32; POLICY];
        for (at, &label) in slot.labels.iter().enumerate() {
            let by_logit = by * slot.logit_slopes[at];
            let by_logit = if by_logit.abs() < TINY { 0.0 } else { by_logit };
            slot.logit_slopes[at] = by_logit;
            let weights = &params.policy()[usize::from(label)];
            for lane in 0..POLICY {
                slope[lane] += by_logit * weights[lane];
            }
        }
        let (value, policy) = slot.hidden_slope.split_at_mut(VALUE);
        for (out, weight) in value.iter_mut().zip(params.value()) {
            *out = slot.value_slope * weight;
        }
        policy.copy_from_slice(&slope);
        for (slope, &x) in slot.hidden_slope.iter_mut().zip(&slot.hidden) {
            *slope = open(*slope, x);
        }
        for ((slope, &x), weights) in slot.input_slope.iter_mut().zip(&slot.input).zip(params.hidden()) {
            *slope = if x > 0.0 && x < 1.0 { open(dot(weights, &slot.hidden_slope), x) } else { 0.0 };
        }
    }
}

/// A slope behind an activation: none where that is clipped.
#[inline(always)]
fn open(slope: f32, x: f32) -> f32 {
    if x > 0.0 && x < 1.0 && slope.abs() >= TINY { slope } else { 0.0 }
}

pub fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + libm::expf(-x))
}

/// Losses of a slot, and the slopes of its logits.
pub fn losses(slot: &mut Slot) {
    slot.value_loss = f64::from(slot.weight) * value_loss(slot.value, slot.win);
    let best = slot.logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    slot.logit_slopes.clear();
    slot.logit_slopes.extend(slot.logits.iter().map(|&logit| libm::expf(logit - best)));
    let sum: f32 = slot.logit_slopes.iter().sum();
    let all: f32 = slot.target.iter().sum();
    let log_sum = f64::from(best) + libm::log(f64::from(sum));
    let mut loss = 0.0;
    for ((slope, &target), &logit) in slot.logit_slopes.iter_mut().zip(&slot.target).zip(&slot.logits) {
        *slope = all * *slope / sum - target;
        if target > 0.0 {
            loss += f64::from(target) * (libm::log(f64::from(target)) - f64::from(logit) + log_sum);
        }
    }
    slot.policy_loss = f64::from(slot.weight) * loss;
}

/// Cross entropy of a win probability against sigmoid(value), less the entropy of the former: 0 is the best there is.
pub fn value_loss(value: f32, win: f32) -> f64 {
    let (value, win) = (f64::from(value), f64::from(win));
    // −log sigmoid(x), for any x.
    let surprise = |x: f64| libm::fmax(-x, 0.0) + libm::log1p(libm::exp(-libm::fabs(x)));
    let entropy = |p: f64| if p > 0.0 { -p * libm::log(p) } else { 0.0 };
    win * surprise(value) + (1.0 - win) * surprise(-value) - entropy(win) - entropy(1.0 - win)
}
