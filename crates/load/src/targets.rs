//! What a network is to learn of a row (loading.md §3).

use crate::error::RowFault;
use crate::options::WeightMode;

/// A row among those at hand, and what is wrong with it.
pub type Fault = (usize, RowFault);

/// `(1 − r)·value_z + r·value_q` of rows; rows without an outcome take `value_q` whole. A column that the targets do not
/// need may be missing: `value_z` where nothing of it is asked for, `value_q` where every row has an outcome and r is 0.
/// All of one view, in [-1, 1].
///
/// # Errors
/// [`RowFault::Value`] outside of [-1, 1]: the shard is damaged.
pub fn values(
    value_z: Option<&[Option<f32>]>,
    value_q: Option<&[f32]>,
    blend: f32,
    out: &mut [f32],
) -> Result<(), Fault> {
    let inside = |value: f32| (-1.0..=1.0).contains(&value);
    inside_all("value_z", value_z.unwrap_or_default(), |z| z.is_none_or(inside), |z| z.unwrap_or(0.0))?;
    inside_all("value_q", value_q.unwrap_or_default(), inside, |q| q)?;
    match (value_z, value_q) {
        (Some(value_z), Some(value_q)) => {
            for ((out, &z), &q) in out.iter_mut().zip(value_z).zip(value_q) {
                *out = z.map_or(q, |z| (1.0 - blend) * z + blend * q);
            }
        }
        // Whoever may meet a row without an outcome brings value_q; no number is as loud as this one.
        (Some(value_z), None) => {
            out.iter_mut().zip(value_z).for_each(|(out, z)| *out = z.unwrap_or(f32::NAN));
        }
        (None, Some(value_q)) => out.copy_from_slice(value_q),
        (None, None) => out.fill(0.0),
    }
    Ok(())
}

/// Refuses the first value that is not inside.
fn inside_all<T: Copy>(
    column: &'static str,
    values: &[T],
    inside: impl Fn(T) -> bool,
    number: impl Fn(T) -> f32,
) -> Result<(), Fault> {
    // All at once; which one it is is asked only when there is one.
    if !values.iter().fold(true, |so_far, &value| so_far & inside(value))
        && let Some(row) = values.iter().position(|&value| !inside(value))
    {
        return Err((row, RowFault::Value { column, value: number(values[row]) }));
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
            let (z, q) = (z.map(|z| [Some(0.0), Some(z)]), q.map(|q| [0.0, q]));
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
        assert_eq!(
            value(Some(2.0), Some(0.0), 0.5),
            Err((1, RowFault::Value { column: "value_z", value: 2.0 }))
        );
    }

    #[test]
    fn a_row_without_an_outcome_among_others_takes_the_root_value_whole() {
        for (blend, expected) in
            [(0.0, [1.0, 0.5, -1.0]), (0.25, [0.875, 0.5, -0.875]), (1.0, [0.5, 0.5, -0.5])]
        {
            let mut out = [9.0; 3];
            let z = [Some(1.0), None, Some(-1.0)];
            assert_eq!(values(Some(&z), Some(&[0.5, 0.5, -0.5]), blend, &mut out), Ok(()));
            assert_eq!(out, expected, "{blend}");
        }
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
