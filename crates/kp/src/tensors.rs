//! The numbers of a network in the order of its file (kpnet.md §2).

use crate::format::{KP256, Parts, close, header};
use manaka_load::features::{KP_INPUTS, LABELS};

/// Numbers of the first layer, a side.
pub const HALF: usize = KP256.half as usize;
/// Inputs of the hidden layer: the mover's half, then the opponent's.
pub const INPUT: usize = 2 * HALF;
/// Hidden numbers behind the value.
pub const VALUE: usize = KP256.value as usize;
/// Hidden numbers behind the policy.
pub const POLICY: usize = KP256.policy as usize;
/// All hidden numbers: the value's, then the policy's.
pub const HIDDEN: usize = VALUE + POLICY;
const _: () = assert!(KP256.inputs as usize == KP_INPUTS && KP256.labels as usize == LABELS);

/// A row that begins with a cache line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C, align(64))]
pub struct Aligned<T>(pub T);

/// A boxed array that never lies on the stack, which it might not fit.
pub fn filled<T: Copy, const N: usize>(value: T) -> Box<[T; N]> {
    let boxed = vec![value; N].into_boxed_slice();
    boxed.try_into().unwrap_or_else(|_: Box<[T]>| Box::new([value; N]))
}

/// The numbers of a network. Any numbers are one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tensors {
    /// Biases of the first layer; one is 127.
    pub feature_biases: Box<Aligned<[i16; HALF]>>,
    /// Its weights, a row an input of KP: 1710 rows.
    pub feature_weights: Box<[Aligned<[i16; HALF]>; KP_INPUTS]>,
    /// Biases of the hidden layer, the value's 32, then the policy's 64; one is 127 · 64.
    pub hidden_biases: Box<[i32; HIDDEN]>,
    /// Its weights, a row an output; one is 64.
    pub hidden_weights: Box<[Aligned<[i8; INPUT]>; HIDDEN]>,
    /// The bias of the value.
    pub value_bias: i32,
    /// The weights of the value.
    pub value_weights: Box<[i8; VALUE]>,
    /// Biases of the logits: 2187.
    pub policy_biases: Box<[i32; LABELS]>,
    /// Weights of the logits, a row a label: 2187 rows.
    pub policy_weights: Box<[Aligned<[i8; POLICY]>; LABELS]>,
}

impl Tensors {
    /// All zeros, to be filled.
    #[must_use]
    pub fn zeros() -> Self {
        Self {
            feature_biases: Box::new(Aligned([0; HALF])),
            feature_weights: filled(Aligned([0; HALF])),
            hidden_biases: Box::new([0; HIDDEN]),
            hidden_weights: filled(Aligned([0; INPUT])),
            value_bias: 0,
            value_weights: Box::new([0; VALUE]),
            policy_biases: filled(0),
            policy_weights: filled(Aligned([0; POLICY])),
        }
    }

    /// The numbers of a file. A tensor that is too short leaves zeros; [`Parts`] has none.
    pub(crate) fn read(parts: &Parts<'_>) -> Self {
        let mut net = Self::zeros();
        let [
            feature_biases,
            feature_weights,
            hidden_biases,
            hidden_weights,
            value_bias,
            value_weights,
            policy_biases,
            policy_weights,
        ] = parts.tensors;
        let i16s = |bytes: &[u8], out: &mut [i16]| {
            for (number, bytes) in out.iter_mut().zip(bytes.as_chunks().0) {
                *number = i16::from_le_bytes(*bytes);
            }
        };
        let i32s = |bytes: &[u8], out: &mut [i32]| {
            for (number, bytes) in out.iter_mut().zip(bytes.as_chunks().0) {
                *number = i32::from_le_bytes(*bytes);
            }
        };
        let i8s = |bytes: &[u8], out: &mut [i8]| {
            for (number, byte) in out.iter_mut().zip(bytes) {
                *number = byte.cast_signed();
            }
        };
        i16s(feature_biases, &mut net.feature_biases.0);
        for (row, bytes) in net.feature_weights.iter_mut().zip(feature_weights.chunks(2 * HALF)) {
            i16s(bytes, &mut row.0);
        }
        i32s(hidden_biases, &mut *net.hidden_biases);
        for (row, bytes) in net.hidden_weights.iter_mut().zip(hidden_weights.chunks(INPUT)) {
            i8s(bytes, &mut row.0);
        }
        i32s(value_bias, std::slice::from_mut(&mut net.value_bias));
        i8s(value_weights, &mut *net.value_weights);
        i32s(policy_biases, &mut *net.policy_biases);
        for (row, bytes) in net.policy_weights.iter_mut().zip(policy_weights.chunks(POLICY)) {
            i8s(bytes, &mut row.0);
        }
        net
    }

    /// The bytes of the file, of which the last eight are the checksum.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut out = header(KP256);
        out.extend(self.feature_biases.0.iter().flat_map(|number| number.to_le_bytes()));
        out.extend(self.feature_weights.iter().flat_map(|row| row.0).flat_map(i16::to_le_bytes));
        out.extend(self.hidden_biases.iter().flat_map(|number| number.to_le_bytes()));
        out.extend(self.hidden_weights.iter().flat_map(|row| row.0).map(i8::cast_unsigned));
        out.extend(self.value_bias.to_le_bytes());
        out.extend(self.value_weights.iter().map(|number| number.cast_unsigned()));
        out.extend(self.policy_biases.iter().flat_map(|number| number.to_le_bytes()));
        out.extend(self.policy_weights.iter().flat_map(|row| row.0).map(i8::cast_unsigned));
        close(out)
    }
}
