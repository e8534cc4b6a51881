//! A network: its file, and what it says of a position.

use crate::accumulator::Accumulator;
use crate::error::{Error, Result};
use crate::format::{
    ARCHITECTURE, Cursor, FEATURES, HALF, HASH, HIDDEN, INPUT, NETWORK_BYTES, NETWORK_HASH, Parts,
    TRANSFORMER_BYTES, TRANSFORMER_HASH, VERSION,
};
use crate::layer::{Affine, activation, clipped};
use manaka_core::whole_file::{Existing, WholeFile};
use manaka_core::{Color, Packed};
use manaka_load::features::{Board, HALFKP_INPUTS, PositionFault};
use std::io::Write as _;
use std::num::NonZero;
use std::path::Path;
use std::sync::Arc;

const _: () = assert!(FEATURES == HALFKP_INPUTS);

/// The FV_SCALE that a file is read at where nothing else is said.
pub const DEFAULT_FV_SCALE: NonZero<u16> = match NonZero::new(16) {
    Some(scale) => scale,
    None => NonZero::<u16>::MIN,
};

/// A network's output as a score in centipawns, rounded towards 0 as engines do (nnbin.md §4).
#[must_use]
pub fn centipawns(output: i32, fv_scale: NonZero<u16>) -> i32 {
    output / i32::from(fv_scale.get())
}

/// A network of HalfKP 256x2-32-32.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Net {
    /// What the file says of itself, for people; readers go by hashes.
    pub architecture: String,
    /// Biases of the feature transformer; one is 127.
    pub feature_biases: Box<[i16; HALF]>,
    /// Its weights, a row an input of HalfKP: [`FEATURES`] rows.
    feature_weights: Box<[[i16; HALF]]>,
    /// 512 to 32.
    pub hidden1: Affine<INPUT, HIDDEN>,
    /// 32 to 32.
    pub hidden2: Affine<HIDDEN, HIDDEN>,
    /// 32 to the output.
    pub output: Affine<HIDDEN, 1>,
}

impl Net {
    /// A network of zeros, to be filled.
    #[must_use]
    pub fn zeros() -> Self {
        Self {
            architecture: ARCHITECTURE.to_owned(),
            feature_biases: Box::new([0; HALF]),
            feature_weights: vec![[0; HALF]; FEATURES].into_boxed_slice(),
            hidden1: Affine::zeros(),
            hidden2: Affine::zeros(),
            output: Affine::zeros(),
        }
    }

    /// Weights of the feature transformer: [`FEATURES`] rows of 256; one is 127.
    #[must_use]
    pub const fn feature_weights(&self) -> &[[i16; HALF]] {
        &self.feature_weights
    }

    /// The same, to be changed.
    pub const fn feature_weights_mut(&mut self) -> &mut [[i16; HALF]] {
        &mut self.feature_weights
    }

    /// Reads a file of 64 MB.
    ///
    /// # Errors
    /// [`Error`]: it cannot be read, or is no network of this architecture.
    pub fn open(path: &Path) -> Result<Self> {
        let bytes =
            std::fs::read(path).map_err(|error| Error::Io { path: path.into(), source: Arc::new(error) })?;
        Self::from_bytes(&bytes)
    }

    /// Reads the bytes of a file. Nothing is allocated before its length is known to be right.
    ///
    /// # Errors
    /// [`Error`] with the offset of the first thing that is wrong.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        // nnbin.md §2
        let Parts { architecture, transformer, network } =
            Parts::of(bytes, [TRANSFORMER_BYTES, NETWORK_BYTES])?;
        let mut net = Self { architecture: architecture.to_owned(), ..Self::zeros() };
        let (biases, weights) = transformer.as_chunks().0.split_at(HALF);
        for (bias, bytes) in net.feature_biases.iter_mut().zip(biases) {
            *bias = i16::from_le_bytes(*bytes);
        }
        for (weight, bytes) in net.feature_weights.as_flattened_mut().iter_mut().zip(weights) {
            *weight = i16::from_le_bytes(*bytes);
        }
        let mut cursor = Cursor::new(network);
        net.hidden1 = Affine::read(&mut cursor)?;
        net.hidden2 = Affine::read(&mut cursor)?;
        net.output = Affine::read(&mut cursor)?;
        Ok(net)
    }

    /// The bytes of its file. An architecture's text beyond what readers take is left out.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let text = match u32::try_from(self.architecture.len()) {
            Ok(length) if self.architecture.len() <= crate::format::MAX_ARCHITECTURE => {
                (length, self.architecture.as_bytes())
            }
            _ => (0, &[][..]),
        };
        let mut out = Vec::with_capacity(12 + text.1.len() + TRANSFORMER_BYTES + NETWORK_BYTES);
        for number in [VERSION, HASH, text.0] {
            out.extend(number.to_le_bytes());
        }
        out.extend(text.1);
        out.extend(TRANSFORMER_HASH.to_le_bytes());
        for number in self.feature_biases.iter().chain(self.feature_weights.as_flattened()) {
            out.extend(number.to_le_bytes());
        }
        out.extend(NETWORK_HASH.to_le_bytes());
        self.hidden1.write(&mut out);
        self.hidden2.write(&mut out);
        self.output.write(&mut out);
        out
    }

    /// Writes its file, which appears when it is whole and takes the place of one that is there.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn save(&self, path: &Path) -> Result<()> {
        let write = || {
            let mut file = WholeFile::create(path, Existing::Replace)?;
            file.write_all(&self.to_bytes())?;
            file.commit()
        };
        write().map(drop).map_err(|error| Error::Io { path: path.into(), source: Arc::new(error) })
    }

    /// The output for a position, for the side to move, from nothing. [`centipawns`] makes a score of it.
    ///
    /// # Errors
    /// [`PositionFault`]: there are no features of such bytes.
    pub fn evaluate(&self, position: &Packed) -> Result<i32, PositionFault> {
        let board = Board::new(position.as_bytes())?;
        Ok(self.propagate(&Accumulator::of(self, &board), board.mover()))
    }

    /// The output for accumulated features.
    #[must_use]
    pub fn propagate(&self, accumulator: &Accumulator, mover: Color) -> i32 {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: AVX2 was just found, and that is all the function asks for. It is the same code compiled for
            // more registers; without it an evaluation takes twice as long. A unit test holds both equal.
            return unsafe { propagate_avx2(self, accumulator, mover) };
        }
        propagate(self, accumulator, mover)
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn propagate_avx2(net: &Net, accumulator: &Accumulator, mover: Color) -> i32 {
    propagate(net, accumulator, mover)
}

/// Shapes: 2 × 256 accumulated, 512 activations, 32, 32, 1 (nnbin.md §4).
#[inline(always)]
fn propagate(net: &Net, accumulator: &Accumulator, mover: Color) -> i32 {
    let mut input = [0; INPUT];
    let (halves, _) = input.as_chunks_mut::<HALF>();
    for (half, side) in halves.iter_mut().zip([mover, mover.flip()]) {
        for (x, &sum) in half.iter_mut().zip(accumulator.side(side)) {
            *x = activation(i32::from(sum));
        }
    }
    let first = clipped(&net.hidden1.sums(&input));
    let second = clipped(&net.hidden2.sums(&first));
    let [output] = net.output.sums(&second);
    output
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A network of noise, by a linear congruence.
    fn noise(seed: u64) -> Net {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            i32::try_from(state >> 40 & 0xFF).unwrap() - 128
        };
        let mut net = Net::zeros();
        net.hidden1.weights.as_flattened_mut().fill_with(|| i8::try_from(next()).unwrap());
        net.hidden2.weights.as_flattened_mut().fill_with(|| i8::try_from(next()).unwrap());
        net.output.weights.as_flattened_mut().fill_with(|| i8::try_from(next()).unwrap());
        net.hidden1.biases.fill_with(|| 64 * next());
        net.hidden2.biases.fill_with(|| 64 * next());
        net
    }

    #[test]
    fn the_code_for_avx2_gives_the_same_integers() {
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..50 {
            let mut net = noise(seed);
            let mut at = seed;
            net.feature_biases.fill_with(|| {
                at = at.wrapping_mul(25_214_903_917).wrapping_add(11);
                i16::try_from(at >> 30 & 0xFF).unwrap() - 64
            });
            let start = Packed::from_sfen(manaka_core::sfen::STARTPOS).unwrap().0;
            let accumulator = Accumulator::of(&net, &Board::new(start.as_bytes()).unwrap());
            let scalar = propagate(&net, &accumulator, Color::Black);
            assert_eq!(net.propagate(&accumulator, Color::Black), scalar);
            seen.insert(scalar);
        }
        assert!(seen.len() > 40, "{seen:?}");
    }
}
