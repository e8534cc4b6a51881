//! The numbers that are trained, as f32, in the order that loops want them in.

use super::run::Draws;
use crate::tensors::{HALF, HIDDEN, INPUT, POLICY, VALUE};
use manaka_load::features::{KP_INPUTS, KP_WIDTH, LABELS};

/// Numbers of the first layer that are summed at a time: a table of so many columns stays in a core's cache.
pub const LANES: usize = 32;
/// Tables of the first layer.
pub const BLOCKS: usize = HALF / LANES;
/// The row of the first layer's biases, which every list begins with.
#[expect(clippy::cast_possible_truncation, reason = "1710")]
pub const BIAS: u16 = KP_INPUTS as u16;
/// Rows of a table: the inputs, then the biases.
pub const TABLE: usize = KP_INPUTS + 1;
/// Entries of a list: the biases, then the inputs.
pub const LIST: usize = 1 + KP_WIDTH;

/// Sums of a row of 41 entries stay within an i16 at a scale of 127.
pub const FEATURE_BOUND: f32 = 6.0;
const _: () = assert!(LIST as f32 * FEATURE_BOUND * 127.0 <= i16::MAX as f32);
/// What an i8 holds at a scale of 64.
pub const WEIGHT_BOUND: f32 = 127.0 / 64.0;

/// A part of the parameters: where it lies and how far its numbers may go.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Part {
    pub what: What,
    pub len: usize,
    pub bound: f32,
}

/// Which part it is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum What {
    /// A table of the first layer, `[TABLE][LANES]`, of these columns.
    Features(usize),
    /// Weights of the hidden layer, `[inputs][HIDDEN]`, from this input on.
    Hidden(usize),
    /// Its biases.
    HiddenBiases,
    /// Weights of the value, then its bias.
    Value,
    /// Weights of logits, `[labels][POLICY]`, from this label on.
    Policy(usize),
    /// Their biases.
    PolicyBiases,
}

/// Inputs of the hidden layer that are one part.
const INPUTS_A_PART: usize = INPUT / 8;
/// Labels that are one part.
const LABELS_A_PART: usize = LABELS.div_ceil(8);

/// All parts in the order in which they lie in memory. A thread takes every so many of them.
pub fn parts() -> Vec<Part> {
    let mut parts: Vec<Part> = (0..BLOCKS)
        .map(|block| Part { what: What::Features(block), len: TABLE * LANES, bound: FEATURE_BOUND })
        .collect();
    for from in (0..INPUT).step_by(INPUTS_A_PART) {
        parts.push(Part { what: What::Hidden(from), len: INPUTS_A_PART * HIDDEN, bound: WEIGHT_BOUND });
    }
    for from in (0..LABELS).step_by(LABELS_A_PART) {
        let labels = LABELS_A_PART.min(LABELS - from);
        parts.push(Part { what: What::Policy(from), len: labels * POLICY, bound: WEIGHT_BOUND });
    }
    parts.push(Part { what: What::HiddenBiases, len: HIDDEN, bound: 1000.0 });
    parts.push(Part { what: What::Value, len: VALUE + 1, bound: WEIGHT_BOUND });
    parts.push(Part { what: What::PolicyBiases, len: LABELS, bound: 1000.0 });
    parts
}

/// All numbers of a network.
#[derive(Clone, PartialEq, Debug)]
pub struct Params {
    pub all: Vec<f32>,
}

/// Where tensors begin.
const HIDDEN_AT: usize = BLOCKS * TABLE * LANES;
const POLICY_AT: usize = HIDDEN_AT + INPUT * HIDDEN;
const HIDDEN_BIASES_AT: usize = POLICY_AT + LABELS * POLICY;
const VALUE_AT: usize = HIDDEN_BIASES_AT + HIDDEN;
const POLICY_BIASES_AT: usize = VALUE_AT + VALUE + 1;
/// How many numbers there are.
pub const COUNT: usize = POLICY_BIASES_AT + LABELS;

impl Params {
    /// First weights: small, and with activations of a quarter, where both ends of their range are far away.
    pub fn new(draws: &mut Draws) -> Self {
        let mut all = Vec::with_capacity(COUNT);
        for part in parts() {
            let bound = match part.what {
                What::Features(_) => 0.12,
                What::Hidden(_) => 0.07,
                What::Value | What::Policy(_) => 0.2,
                What::HiddenBiases | What::PolicyBiases => 0.0,
            };
            all.extend((0..part.len).map(|_| draws.around(bound)));
            let from = all.len() - part.len;
            match part.what {
                What::Features(_) => all[from + KP_INPUTS * LANES..].fill(0.25),
                What::HiddenBiases => all[from..].fill(0.25),
                What::Value => all[from + VALUE] = 0.0,
                _ => {}
            }
        }
        Self { all }
    }

    /// A table of the first layer: a row an input, the biases behind.
    #[inline(always)]
    pub fn features(&self, block: usize) -> &[[f32; LANES]] {
        self.all[block * TABLE * LANES..][..TABLE * LANES].as_chunks().0
    }

    /// Weights of the hidden layer, a row an input.
    #[inline(always)]
    pub fn hidden(&self) -> &[[f32; HIDDEN]] {
        self.all[HIDDEN_AT..POLICY_AT].as_chunks().0
    }

    /// Weights of the logits, a row a label.
    #[inline(always)]
    pub fn policy(&self) -> &[[f32; POLICY]] {
        self.all[POLICY_AT..HIDDEN_BIASES_AT].as_chunks().0
    }

    /// Biases of the hidden layer.
    #[inline(always)]
    pub fn hidden_biases(&self) -> &[f32] {
        &self.all[HIDDEN_BIASES_AT..VALUE_AT]
    }

    /// Weights of the value, then its bias.
    #[inline(always)]
    pub fn value(&self) -> &[f32] {
        &self.all[VALUE_AT..POLICY_BIASES_AT]
    }

    /// Biases of the logits.
    #[inline(always)]
    pub fn policy_biases(&self) -> &[f32] {
        &self.all[POLICY_BIASES_AT..]
    }
}
