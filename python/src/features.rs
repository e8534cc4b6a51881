//! Inputs of a network as named numpy arrays: those of a batch and those of a single position.

use crate::errors::{Raise, usage};
use manaka_core::packed::PACKED_LEN;
use manaka_load::features::{
    BITS1, BITS2, Board, HALFKP_WIDTH, KP_WIDTH, PLANES1, PLANES2, Planes, Unfolded, View, halfkp, kp,
};
use manaka_load::{FeatureSet, Features};
use numpy::{Element, PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Files and ranks.
const SIDE: usize = 9;
const SQUARES: usize = SIDE * SIDE;

/// The names of feature sets.
pub const FEATURE_SETS: [(&str, FeatureSet); 5] = [
    ("halfkp", FeatureSet::HalfKp),
    ("kp", FeatureSet::Kp),
    ("planes", FeatureSet::PlanesF32),
    ("planes_u8", FeatureSet::PlanesU8),
    ("planes_bits", FeatureSet::PlanesBits),
];

/// What a name stands for among those that are known; `option` is what the name was given for.
pub fn named<T: Copy>(option: &str, name: &str, known: &[(&str, T)]) -> PyResult<T> {
    known.iter().find(|(known, _)| *known == name).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|(known, _)| *known).collect();
        usage("option", format!("{option} '{name}': must be one of {}", names.join(", ")))
    })
}

/// The feature set of a name.
pub fn feature_set(name: &str) -> PyResult<FeatureSet> {
    named("features", name, &FEATURE_SETS)
}

/// Puts an array into a dict under its name: the memory of `values`, in C order of `shape`.
pub fn put<T: Element, const N: usize>(
    out: &Bound<'_, PyDict>,
    name: &str,
    values: Vec<T>,
    shape: [usize; N],
) -> PyResult<()>
where
    [usize; N]: numpy::ndarray::IntoDimension,
{
    out.set_item(name, PyArray1::from_vec(out.py(), values).reshape(shape)?)
}

/// Puts the inputs of `rows` rows into a dict.
pub fn put_features(out: &Bound<'_, PyDict>, features: Features, rows: usize) -> PyResult<()> {
    match features {
        Features::None => Ok(()),
        Features::Indices { width, mover, opponent } => {
            put(out, "mover", mover, [rows, width])?;
            put(out, "opponent", opponent, [rows, width])
        }
        Features::Bits { first, second } => {
            put(out, "first", first, [rows, BITS1])?;
            put(out, "second", second, [rows, BITS2])
        }
        Features::Bytes { first, second } => {
            put(out, "first", first, [rows, PLANES1, SIDE, SIDE])?;
            put(out, "second", second, [rows, PLANES2, SIDE, SIDE])
        }
        Features::Floats(planes) => {
            let (first, second) = planes.into_arrays();
            put(out, "first", first, [rows, PLANES1, SIDE, SIDE])?;
            put(out, "second", second, [rows, PLANES2, SIDE, SIDE])
        }
    }
}

/// The inputs of one position, without the axis of rows.
pub fn of_position<'py>(
    py: Python<'py>,
    packed: &[u8; PACKED_LEN],
    set: FeatureSet,
    mirrored: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let board = Board::new(packed).map_err(Raise::raise)?;
    let view = View::of(board.mover()).mirrored(mirrored);
    let planes = || {
        let mut planes = Planes::EMPTY;
        planes.set(&board, view);
        planes
    };
    let out = PyDict::new(py);
    match set {
        FeatureSet::None => {}
        FeatureSet::HalfKp => {
            let (mut mover, mut opponent) = ([0; HALFKP_WIDTH], [0; HALFKP_WIDTH]);
            halfkp(&board, view, &mut mover, &mut opponent);
            put(&out, "mover", mover.to_vec(), [HALFKP_WIDTH])?;
            put(&out, "opponent", opponent.to_vec(), [HALFKP_WIDTH])?;
        }
        FeatureSet::Kp => {
            let (mut mover, mut opponent) = ([0; KP_WIDTH], [0; KP_WIDTH]);
            kp(&board, view, &mut mover, &mut opponent);
            put(&out, "mover", mover.to_vec(), [KP_WIDTH])?;
            put(&out, "opponent", opponent.to_vec(), [KP_WIDTH])?;
        }
        FeatureSet::PlanesBits => {
            let (mut first, mut second) = ([0; BITS1], [0; BITS2]);
            planes().bits(&mut first, &mut second);
            put(&out, "first", first.to_vec(), [BITS1])?;
            put(&out, "second", second.to_vec(), [BITS2])?;
        }
        FeatureSet::PlanesU8 => put_unfolded::<u8>(&out, &planes())?,
        FeatureSet::PlanesF32 => put_unfolded::<f32>(&out, &planes())?,
    }
    Ok(out)
}

fn put_unfolded<T: Unfolded + Element>(out: &Bound<'_, PyDict>, planes: &Planes) -> PyResult<()> {
    let zero = T::BIT[0];
    let (mut first, mut second) = ([zero; PLANES1 * SQUARES], [zero; PLANES2 * SQUARES]);
    planes.unfold(&mut first, &mut second);
    put(out, "first", first.to_vec(), [PLANES1, SIDE, SIDE])?;
    put(out, "second", second.to_vec(), [PLANES2, SIDE, SIDE])
}
