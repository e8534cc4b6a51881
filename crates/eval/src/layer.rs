//! The layers behind the accumulators: i8 weights, u8 activations, i32 sums (nnbin.md §4).

use crate::error::{Result, Section};
use crate::format::{ACTIVATION, Cursor, WEIGHT_SHIFT};

/// An affine layer of `IN` activations to `OUT` sums. `IN` is a multiple of 32, so files have no padding in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Affine<const IN: usize, const OUT: usize> {
    /// By output; one is 127 · 64.
    pub biases: Box<[i32; OUT]>,
    /// By output, then input; one is 64.
    pub weights: Box<[[i8; IN]; OUT]>,
}

impl<const IN: usize, const OUT: usize> Affine<IN, OUT> {
    /// All zeros.
    #[must_use]
    pub fn zeros() -> Self {
        const { assert!(IN.is_multiple_of(32), "files would be padded") };
        Self { biases: Box::new([0; OUT]), weights: Box::new([[0; IN]; OUT]) }
    }

    pub(crate) fn read(cursor: &mut Cursor<'_>) -> Result<Self> {
        let mut layer = Self::zeros();
        let (biases, _) = cursor.take(4 * OUT, Section::Network)?.as_chunks();
        for (bias, bytes) in layer.biases.iter_mut().zip(biases) {
            *bias = i32::from_le_bytes(*bytes);
        }
        let weights = cursor.take(IN * OUT, Section::Network)?;
        for (weight, byte) in layer.weights.as_flattened_mut().iter_mut().zip(weights) {
            *weight = byte.cast_signed();
        }
        Ok(layer)
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.biases.iter().flat_map(|bias| bias.to_le_bytes()));
        out.extend(self.weights.as_flattened().iter().map(|weight| weight.cast_unsigned()));
    }

    /// The sums of activations.
    #[inline(always)]
    pub(crate) fn sums(&self, input: &[u8; IN]) -> [i32; OUT] {
        let mut sums = *self.biases;
        for (sum, weights) in sums.iter_mut().zip(self.weights.iter()) {
            let products = weights.iter().zip(input).map(|(&weight, &x)| i32::from(weight) * i32::from(x));
            *sum = sum.wrapping_add(products.sum());
        }
        sums
    }
}

/// Sums as the next layer's activations: a floor of the sum over 64, between 0 and 127.
#[inline(always)]
pub(crate) fn clipped<const N: usize>(sums: &[i32; N]) -> [u8; N] {
    sums.map(|sum| activation(sum >> WEIGHT_SHIFT))
}

/// A number as an activation.
#[expect(clippy::cast_sign_loss, reason = "between 0 and 127")]
#[inline(always)]
pub(crate) fn activation(number: i32) -> u8 {
    number.clamp(0, ACTIVATION) as u8
}
