//! Trained numbers as the integers of a file (kpnet.md §3).

use super::params::{BLOCKS, LANES, Params};
use crate::format::{ACTIVATION, ONE, WEIGHT};
use crate::tensors::{HIDDEN, Tensors, VALUE};
use manaka_load::features::KP_INPUTS;

/// The nearest integers.
#[expect(clippy::cast_possible_truncation, reason = "parameters are held within what the integers hold")]
pub fn tensors(params: &Params) -> Tensors {
    let wide = |x: f32| (x * f32::from(ONE)).round() as i32;
    let half = |x: f32| (x * f32::from(ACTIVATION)).round() as i16;
    let byte = |x: f32| (x * f32::from(WEIGHT)).round() as i8;
    let mut net = Tensors::zeros();
    for block in 0..BLOCKS {
        let columns = block * LANES..(block + 1) * LANES;
        let (weights, biases) = params.features(block).split_at(KP_INPUTS);
        let rows = net.feature_weights.iter_mut().map(|row| &mut row.0);
        for (row, from) in rows.zip(weights).chain(std::iter::once((&mut net.feature_biases.0, &biases[0]))) {
            row[columns.clone()].copy_from_slice(&from.map(half));
        }
    }
    for (input, row) in params.hidden().iter().enumerate() {
        for (output, &weight) in row.iter().enumerate() {
            net.hidden_weights[output].0[input] = byte(weight);
        }
    }
    debug_assert_eq!(params.hidden_biases().len(), HIDDEN);
    net.hidden_biases.iter_mut().zip(params.hidden_biases()).for_each(|(to, &from)| *to = wide(from));
    let (weights, bias) = params.value().split_at(VALUE);
    net.value_weights.iter_mut().zip(weights).for_each(|(to, &from)| *to = byte(from));
    net.value_bias = wide(bias[0]);
    net.policy_biases.iter_mut().zip(params.policy_biases()).for_each(|(to, &from)| *to = wide(from));
    net.policy_weights.iter_mut().zip(params.policy()).for_each(|(to, from)| to.0 = from.map(byte));
    net
}
