//! The sums of an evaluation, for every machine (kpnet.md §4). `avx2.rs` gives the same integers.

use crate::evaluate::Lists;
use crate::format::{ACTIVATION, WEIGHT, WEIGHT_SHIFT};
use crate::net::Net;
use crate::tensors::{HALF, HIDDEN, VALUE};

/// A number as an activation.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 127")]
fn activation(number: i32) -> u8 {
    number.clamp(0, i32::from(ACTIVATION)) as u8
}

fn dot(weights: &[i8], x: &[u8]) -> i32 {
    weights.iter().zip(x).map(|(&weight, &x)| i32::from(weight) * i32::from(x)).sum()
}

/// Fills in a logit a label; returns the value's.
pub fn sums(net: &Net, lists: &mut Lists, labels: &[u16], logits: &mut [i32]) -> i32 {
    let net = net.tensors();
    let mut halves = [net.feature_biases.0; 2];
    for (half, rows) in halves.iter_mut().zip(lists.rows()) {
        for &row in rows {
            let Some(weights) = usize::try_from(row).ok().and_then(|row| net.feature_weights.get(row)) else {
                continue;
            };
            for (sum, weight) in half.iter_mut().zip(&weights.0) {
                *sum = sum.wrapping_add(*weight);
            }
        }
    }
    for (x, &sum) in lists.input.0.iter_mut().zip(halves.as_flattened()) {
        *x = activation(i32::from(sum));
    }
    const _: () = assert!(HALF.is_multiple_of(32));
    let mut hidden = [0; HIDDEN];
    for ((x, weights), &bias) in
        hidden.iter_mut().zip(net.hidden_weights.iter()).zip(net.hidden_biases.iter())
    {
        let sum = dot(&weights.0, &lists.input.0).wrapping_add(bias);
        *x = activation(sum.wrapping_add(i32::from(WEIGHT / 2)) >> WEIGHT_SHIFT);
    }
    let (value, policy) = hidden.split_at(VALUE);
    for (logit, &label) in logits.iter_mut().zip(labels) {
        let label = usize::from(label);
        let (Some(bias), Some(weights)) = (net.policy_biases.get(label), net.policy_weights.get(label))
        else {
            continue;
        };
        *logit = dot(&weights.0, policy).wrapping_add(*bias);
    }
    dot(&*net.value_weights, value).wrapping_add(net.value_bias)
}
