//! What a network is to learn of a row (loading.md §3).

use crate::error::RowFault;
use crate::options::WeightMode;

/// A row among those at hand, and what is wrong with it.
pub type Fault = (usize, RowFault);

/// `(1 − r)·value_z + r·value_q` of rows; rows without an outcome take `value_q` whole. A column that the targets do not
/// need may be missing. All of one view, in [-1, 1].
///
/// # Errors
/// [`RowFault::Value`] outside of [-1, 1]: the shard is damaged.
pub fn values(
    value_z: Option<&[f32]>,
    value_q: Option<&[f32]>,
    blend: f32,
    out: &mut [f32],
) -> Result<(), Fault> {
    for (column, values) in [("value_z", value_z), ("value_q", value_q)] {
        let values = values.unwrap_or_default();
        let inside = |value: &f32| (-1.0..=1.0).contains(value);
        // All at once; which one it is is asked only when there is one.
        if !values.iter().fold(true, |so_far, value| so_far & inside(value))
            && let Some(row) = values.iter().position(|value| !inside(value))
        {
            return Err((row, RowFault::Value { column, value: values[row] }));
        }
    }
    match (value_z, value_q) {
        (Some(value_z), Some(value_q)) => {
            for ((out, z), q) in out.iter_mut().zip(value_z).zip(value_q) {
                *out = (1.0 - blend) * z + blend * q;
            }
        }
        (Some(values), None) | (None, Some(values)) => out.copy_from_slice(values),
        (None, None) => out.fill(0.0),
    }
    Ok(())
}

/// Weights of rows from the numbers of records folded into them.
///
/// # Errors
/// [`RowFault::Weight`] of 0.
pub fn weights(records: &[u32], mode: WeightMode, out: &mut [f32]) -> Result<(), Fault> {
    if let Some(row) = records.iter().position(|&records| records == 0) {
        return Err((row, RowFault::Weight));
    }
    let pairs = out.iter_mut().zip(records);
    match mode {
        WeightMode::Stored => pairs.for_each(|(out, &records)| *out = single(f64::from(records))),
        WeightMode::Sqrt => pairs.for_each(|(out, &records)| *out = single(f64::from(records).sqrt())),
        WeightMode::Log => pairs.for_each(|(out, &records)| {
            *out = single(f64::from(records).ln_1p()) / std::f32::consts::LN_2;
        }),
        WeightMode::Capped(most) => {
            pairs.for_each(|(out, &records)| *out = single(f64::from(records)).min(most));
        }
    }
    Ok(())
}

#[expect(clippy::cast_possible_truncation, reason = "a weight in training is an f32")]
const fn single(weight: f64) -> f32 {
    weight as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_is_blended_where_there_is_an_outcome() {
        let value = |z: Option<f32>, q: Option<f32>, blend| {
            let mut out = [9.0; 2];
            let (z, q) = (z.map(|z| [0.0, z]), q.map(|q| [0.0, q]));
            values(z.as_ref().map(|z| &z[..]), q.as_ref().map(|q| &q[..]), blend, &mut out).map(|()| out[1])
        };
        assert_eq!(value(Some(1.0), Some(-0.5), 0.25), Ok(0.75 - 0.125));
        assert_eq!(value(None, Some(-0.5), 0.25), Ok(-0.5));
        assert_eq!(value(Some(1.0), None, 0.0), Ok(1.0));
        assert_eq!(
            value(Some(0.0), Some(1.5), 1.0),
            Err((1, RowFault::Value { column: "value_q", value: 1.5 }))
        );
        assert!(value(Some(f32::NAN), Some(0.0), 0.5).is_err());
    }

    #[test]
    fn weights_of_seven_and_of_one_record() {
        let both = |mode| {
            let mut out = [0.0; 2];
            weights(&[7, 1], mode, &mut out).unwrap();
            (out[0], out[1])
        };
        assert_eq!(both(WeightMode::Stored), (7.0, 1.0));
        assert_eq!(both(WeightMode::Sqrt), (2.645_751_3, 1.0));
        assert_eq!(both(WeightMode::Log), (3.0, 1.0));
        assert_eq!(both(WeightMode::Capped(4.0)), (4.0, 1.0));
        assert_eq!(weights(&[1, 0], WeightMode::Stored, &mut [0.0; 2]), Err((1, RowFault::Weight)));
    }
}
