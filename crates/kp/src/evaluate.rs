//! One evaluation, around the arithmetic that there are two codes for (kpnet.md §4).

use crate::format::ONE;
use crate::net::Net;
use crate::scalar;
use crate::tensors::{Aligned, INPUT};
use manaka_core::{Move16, Packed};
use manaka_load::features::{Board, KP_WIDTH, PAD, PositionFault, View, kp, label};

/// Why a position was not evaluated. What was handed over to be filled is as it was or zeros.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// There are no features of such bytes.
    #[error("{0}")]
    Position(#[from] PositionFault),
    /// A move that has no label (features.md §8).
    #[error("{0} has no policy label")]
    Move(Move16),
    /// There is not exactly one logit a move.
    #[error("there are {moves} moves, and room for {logits} logits")]
    Room {
        /// Moves that were handed over.
        moves: usize,
        /// Logits that were asked for.
        logits: usize,
    },
}

/// The code that sums are computed by. They are the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Code {
    /// For every machine.
    Scalar,
    /// For x86-64 with AVX2, about four times as fast.
    Avx2,
}

/// What an evaluation works in; a thread has its own.
#[derive(Clone, Debug)]
pub struct Scratch {
    /// Never one that the machine lacks.
    code: Code,
    lists: Lists,
    labels: Vec<u16>,
    value: i32,
    logits: Vec<i32>,
}

/// Inputs of a position and what the first layer makes of them.
#[derive(Clone, Debug)]
pub struct Lists {
    /// Of the mover and of its opponent; below 1710, as far as they count.
    rows: [[i32; KP_WIDTH]; 2],
    /// How many count.
    count: usize,
    /// Activations of the first layer, 0 to 127: the mover's half, then the opponent's.
    pub input: Aligned<[u8; INPUT]>,
}

impl Lists {
    /// The rows of each side.
    pub fn rows(&self) -> [&[i32]; 2] {
        let [own, other] = &self.rows;
        [&own[..self.count], &other[..self.count]]
    }
}

impl Scratch {
    /// For the fastest code that the machine has.
    #[must_use]
    pub fn new() -> Self {
        Self::with(Code::Avx2).unwrap_or_else(|| Self::of(Code::Scalar))
    }

    /// For this code; `None` where the machine lacks it.
    #[must_use]
    pub fn with(code: Code) -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        let avx2 = std::arch::is_x86_feature_detected!("avx2");
        #[cfg(not(target_arch = "x86_64"))]
        let avx2 = false;
        (code == Code::Scalar || avx2).then(|| Self::of(code))
    }

    fn of(code: Code) -> Self {
        let rows = [[PAD; KP_WIDTH]; 2];
        let lists = Lists { rows, count: 0, input: Aligned([0; INPUT]) };
        Self { code, lists, labels: Vec::new(), value: 0, logits: Vec::new() }
    }

    /// The code it is for.
    #[must_use]
    pub const fn code(&self) -> Code {
        self.code
    }

    /// The integers behind the last evaluation, of which 8128 is one: the value before its curve, and the logits.
    #[must_use]
    pub fn integers(&self) -> (i32, &[i32]) {
        (self.value, &self.logits)
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}

/// [`Net::evaluate`].
pub fn evaluate(
    net: &Net,
    scratch: &mut Scratch,
    position: &Packed,
    moves: &[Move16],
    logits: &mut [f32],
) -> Result<f32, Refused> {
    if moves.len() != logits.len() {
        return Err(Refused::Room { moves: moves.len(), logits: logits.len() });
    }
    let board = Board::new(position.as_bytes())?;
    let view = View::of(board.mover());
    scratch.labels.clear();
    for &mv in moves {
        scratch.labels.push(label(mv, view).ok_or(Refused::Move(mv))?);
    }
    let [own, other] = &mut scratch.lists.rows;
    kp(&board, view, own, other);
    // Both lists are as long; nothing but pads stands behind.
    scratch.lists.count = own.iter().position(|&row| row == PAD).unwrap_or(KP_WIDTH);
    sums(net, scratch);
    for (logit, &sum) in logits.iter_mut().zip(&scratch.logits) {
        *logit = real(sum);
    }
    Ok(number(real(scratch.value)))
}

/// Evaluates lists of KP and labels that were made before, and leaves the integers in `scratch`.
pub fn evaluate_lists(net: &Net, scratch: &mut Scratch, lists: [&[u16]; 2], labels: &[u16]) {
    for (to, from) in scratch.lists.rows.iter_mut().zip(lists) {
        to.iter_mut().zip(from).for_each(|(to, &from)| *to = from.into());
    }
    scratch.lists.count = lists[0].len().min(lists[1].len()).min(KP_WIDTH);
    scratch.labels.clear();
    scratch.labels.extend(labels);
    sums(net, scratch);
}

/// The value as a number: 2 · sigmoid(o) − 1.
pub fn number(value: f32) -> f32 {
    libm::tanhf(0.5 * value)
}

/// Evaluates what stands in `scratch`.
fn sums(net: &Net, scratch: &mut Scratch) {
    let (lists, labels) = (&mut scratch.lists, &scratch.labels);
    scratch.logits.clear();
    scratch.logits.resize(labels.len(), 0);
    scratch.value = match scratch.code {
        #[cfg(target_arch = "x86_64")]
        Code::Avx2 => {
            // SAFETY: it asks for AVX2 and nothing else, and `Scratch::with` gave out this code because the machine
            // has it. Without it an evaluation takes four times as long. A property test holds both codes equal.
            unsafe { crate::avx2::sums(net, lists, labels, &mut scratch.logits) }
        }
        _ => scalar::sums(net, lists, labels, &mut scratch.logits),
    };
}

/// A sum as a number.
#[expect(
    clippy::cast_precision_loss,
    reason = "a sum beyond 2^24 is of a network gone wrong, and rounds as it may"
)]
pub fn real(sum: i32) -> f32 {
    sum as f32 / f32::from(ONE)
}
