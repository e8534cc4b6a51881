//! What a network is to learn of a row (loading.md §3).

use crate::error::RowFault;
use crate::options::WeightMode;

/// `(1 − r)·value_z + r·value_q`; a row without an outcome takes `value_q` whole. Both in one view, in [-1, 1].
///
/// # Errors
/// [`RowFault::Value`] outside of [-1, 1]: the shard is damaged.
pub fn value(value_z: Option<f32>, value_q: Option<f32>, blend: f32) -> Result<f32, RowFault> {
    let inside = |column, value: Option<f32>| match value {
        Some(value) if !(-1.0..=1.0).contains(&value) => Err(RowFault::Value { column, value }),
        value => Ok(value),
    };
    Ok(match (inside("value_z", value_z)?, inside("value_q", value_q)?) {
        (Some(z), Some(q)) => (1.0 - blend) * z + blend * q,
        (Some(value), None) | (None, Some(value)) => value,
        (None, None) => 0.0,
    })
}

/// A row's weight from the number of records folded into it.
///
/// # Errors
/// [`RowFault::Weight`] of 0.
#[expect(clippy::cast_possible_truncation, reason = "a weight in training is a f32")]
pub fn weight(records: u32, mode: WeightMode) -> Result<f32, RowFault> {
    if records == 0 {
        return Err(RowFault::Weight);
    }
    let records = f64::from(records);
    Ok(match mode {
        WeightMode::Stored => records as f32,
        WeightMode::Sqrt => records.sqrt() as f32,
        WeightMode::Log => records.ln_1p() as f32 / std::f32::consts::LN_2,
        WeightMode::Capped(most) => (records as f32).min(most),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_is_blended_where_there_is_an_outcome() {
        assert_eq!(value(Some(1.0), Some(-0.5), 0.25), Ok(0.75 - 0.125));
        assert_eq!(value(None, Some(-0.5), 0.25), Ok(-0.5));
        assert_eq!(value(Some(1.0), None, 0.0), Ok(1.0));
        assert!(value(Some(f32::NAN), Some(0.0), 0.5).is_err() && value(None, Some(1.5), 1.0).is_err());
    }

    #[test]
    fn weights_of_seven_and_of_one_record() {
        let both = |mode| (weight(7, mode).unwrap(), weight(1, mode).unwrap());
        assert_eq!(both(WeightMode::Stored), (7.0, 1.0));
        assert_eq!(both(WeightMode::Sqrt), (2.645_751_3, 1.0));
        assert_eq!(both(WeightMode::Log), (3.0, 1.0));
        assert_eq!(both(WeightMode::Capped(4.0)), (4.0, 1.0));
        assert_eq!(weight(0, WeightMode::Stored), Err(RowFault::Weight));
    }
}
