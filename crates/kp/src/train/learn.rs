//! One step of learning. Samples are shared out among threads on the way through the network; on the way back the
//! parameters are, and each part sums over the samples in their order. So threads cannot be seen in what comes out.

use super::adam::{Rate, step};
use super::params::{COUNT, LANES, Params, Part, What, parts};
use super::pass::{Slot, backward, forward};
use super::samples::Samples;
use super::wide::wide;
use crate::tensors::{HALF, HIDDEN, POLICY, VALUE};
use std::num::NonZeroUsize;

/// The parameters and what Adam remembers of them.
pub struct Learner {
    pub params: Params,
    moments: [Vec<f32>; 2],
    grad: Vec<f32>,
    steps: u64,
    slots: Vec<Slot>,
    threads: NonZeroUsize,
}

/// Weighted sums over a batch.
#[derive(Clone, Copy, Default, Debug)]
pub struct Losses {
    pub value: f64,
    pub policy: f64,
    pub weight: f64,
}

impl Losses {
    pub fn add(&mut self, other: Self) {
        self.value += other.value;
        self.policy += other.policy;
        self.weight += other.weight;
    }
}

impl Learner {
    pub fn new(params: Params, threads: NonZeroUsize) -> Self {
        let zeros = || vec![0.0; COUNT];
        Self { params, moments: [zeros(), zeros()], grad: zeros(), steps: 0, slots: Vec::new(), threads }
    }

    pub const fn steps(&self) -> u64 {
        self.steps
    }

    /// Learns from samples, each mirrored or not, at a rate.
    pub fn learn(&mut self, samples: &Samples, batch: &[(usize, bool)], rate: f64) -> Losses {
        self.slots.resize_with(batch.len().max(self.slots.len()), Slot::new);
        let mut losses = Losses {
            weight: batch.iter().map(|&(at, _)| f64::from(samples.get(at).weight)).sum(),
            ..Losses::default()
        };
        #[expect(clippy::cast_possible_truncation, reason = "an f32 is trained with")]
        let scale = (1.0 / losses.weight) as f32;
        let slots = &mut self.slots[..batch.len()];
        let params = &self.params;
        let share = batch.len().div_ceil(self.threads.get()).max(1);
        std::thread::scope(|scope| {
            for (slots, batch) in slots.chunks_mut(share).zip(batch.chunks(share)) {
                scope.spawn(move || {
                    wide(
                        #[inline(always)]
                        || {
                            // So few that they stay in a core's cache.
                            for (slots, batch) in slots.chunks_mut(64).zip(batch.chunks(64)) {
                                for (slot, &(at, mirrored)) in slots.iter_mut().zip(batch) {
                                    slot.take(&samples.get(at), mirrored);
                                }
                                forward(params, slots);
                                backward(params, slots, scale);
                            }
                        },
                    );
                });
            }
        });
        for slot in &*slots {
            losses.value += slot.value_loss;
            losses.policy += slot.policy_loss;
        }
        self.steps += 1;
        self.update(batch.len(), Rate::of(self.steps, rate));
        losses
    }

    /// Sums each part's gradient over the first slots and moves it.
    fn update(&mut self, count: usize, rate: Rate) {
        let slots = &self.slots[..count];
        let mut shares: Vec<Vec<_>> = Vec::new();
        shares.resize_with(self.threads.get(), Vec::new);
        let [first, second] = &mut self.moments;
        let mut rest = [&mut self.params.all[..], first, second, &mut self.grad];
        for (number, part) in parts().into_iter().enumerate() {
            let pieces = rest.map(|rest| rest.split_at_mut(part.len));
            let [(a, ar), (b, br), (c, cr), (d, dr)] = pieces;
            rest = [ar, br, cr, dr];
            shares[number % self.threads.get()].push((part, [a, b, c, d]));
        }
        std::thread::scope(|scope| {
            for share in shares {
                scope.spawn(move || {
                    wide(
                        #[inline(always)]
                        || {
                            for (part, [params, first, second, grad]) in share {
                                gradient(part, slots, grad);
                                step(rate, part.bound, params, [first, second], grad);
                            }
                        },
                    );
                });
            }
        });
    }
}

/// Adds `by` times `from`.
#[inline(always)]
fn add<const N: usize>(to: &mut [f32; N], by: f32, from: &[f32; N]) {
    for lane in 0..N {
        to[lane] += by * from[lane];
    }
}

/// Adds to a part's gradient what the slots say.
#[inline(always)]
fn gradient(part: Part, slots: &[Slot], grad: &mut [f32]) {
    match part.what {
        What::Features(block) => {
            let (rows, _) = grad.as_chunks_mut::<LANES>();
            for slot in slots {
                for side in 0..2 {
                    let slope = slot.input_slope[side * HALF + block * LANES..].first_chunk::<LANES>();
                    let Some(slope) = slope else { continue };
                    for &row in slot.list(side) {
                        add(&mut rows[usize::from(row)], 1.0, slope);
                    }
                }
            }
        }
        What::Hidden(from) => {
            let (rows, _) = grad.as_chunks_mut::<HIDDEN>();
            for slot in slots {
                for (row, &x) in rows.iter_mut().zip(&slot.input[from..]) {
                    if x > 0.0 {
                        add(row, x, &slot.hidden_slope);
                    }
                }
            }
        }
        What::HiddenBiases => {
            for slot in slots {
                for (grad, slope) in grad.iter_mut().zip(&slot.hidden_slope) {
                    *grad += slope;
                }
            }
        }
        What::Value => {
            for slot in slots {
                let inputs = slot.hidden[..VALUE].iter().chain(&[1.0]);
                for (grad, x) in grad.iter_mut().zip(inputs) {
                    *grad += slot.value_slope * x;
                }
            }
        }
        What::Policy(from) => {
            let (rows, _) = grad.as_chunks_mut::<POLICY>();
            for slot in slots {
                let Some(x) = slot.hidden[VALUE..].first_chunk::<POLICY>() else { continue };
                for (&label, &slope) in slot.labels.iter().zip(&slot.logit_slopes) {
                    if let Some(row) = usize::from(label).checked_sub(from).and_then(|at| rows.get_mut(at)) {
                        add(row, slope, x);
                    }
                }
            }
        }
        What::PolicyBiases => {
            for slot in slots {
                for (&label, slope) in slot.labels.iter().zip(&slot.logit_slopes) {
                    grad[usize::from(label)] += slope;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::params::{WEIGHT_BOUND, parts};
    use crate::train::run::Draws;
    use manaka_shogi::Board;

    /// A few positions with a policy over several moves.
    fn samples() -> Samples {
        let (mut samples, mut board) = (Samples::new(), Board::start());
        for (sfen, value) in [
            (manaka_core::sfen::STARTPOS, 0.1),
            ("ln1g3nl/1r2gks2/p1pppp1pp/6p2/1p7/2PP2P2/PPS1PP2P/1BG1KG1R1/LN4SNL w Bp 1", -0.6),
        ] {
            let position = manaka_core::Packed::from_sfen(sfen).unwrap().0;
            let mut moves = Vec::new();
            board.set(&position, 1).unwrap();
            board.legal_moves(&mut moves);
            let view = manaka_load::features::View::of(position.side());
            let labels: Vec<u16> =
                moves.iter().filter_map(|&mv| manaka_load::features::label(mv, view)).collect();
            let probs = [(labels[0], 0.7), (labels[5], 0.3)];
            samples.push(&mut board, &position, [value, 2.0 + value], probs).unwrap();
        }
        samples
    }

    fn loss(params: &Params, samples: &Samples) -> f64 {
        let mut slots = vec![Slot::new(); samples.len()];
        slots.iter_mut().enumerate().for_each(|(at, slot)| slot.take(&samples.get(at), at == 1));
        forward(params, &mut slots);
        let mut sum = Losses::default();
        for slot in &mut slots {
            crate::train::pass::losses(slot);
            let weight = f64::from(slot.target().2);
            sum.add(Losses { value: slot.value_loss, policy: slot.policy_loss, weight });
        }
        (sum.value + sum.policy) / sum.weight
    }

    #[test]
    fn slopes_are_those_of_the_loss() {
        let samples = samples();
        let mut params = Params::new(&mut Draws::new(3, 0));
        let mut slots = vec![Slot::new(); samples.len()];
        slots.iter_mut().enumerate().for_each(|(at, slot)| slot.take(&samples.get(at), at == 1));
        forward(&params, &mut slots);
        let weight: f32 = (0..samples.len()).map(|at| samples.get(at).weight).sum();
        backward(&params, &mut slots, 1.0 / weight);
        let mut from = 0;
        let mut tried = 0;
        for part in parts() {
            let mut grad = vec![0.0; part.len];
            gradient(part, &slots, &mut grad);
            // The steepest of each part.
            let mut order: Vec<usize> = (0..part.len).collect();
            order.sort_by(|&a, &b| grad[b].abs().total_cmp(&grad[a].abs()));
            for at in order.into_iter().take(4).filter(|&at| grad[at].abs() > 2e-3) {
                let by = 5e-4;
                let here = params.all[from + at];
                params.all[from + at] = here + by;
                let above = loss(&params, &samples);
                params.all[from + at] = here - by;
                let below = loss(&params, &samples);
                params.all[from + at] = here;
                let slope = (above - below) / (2.0 * f64::from(by));
                let error = (slope - f64::from(grad[at])).abs();
                assert!(error < 0.04 * slope.abs() + 3e-4, "{part:?} {at}: {slope} and {}", grad[at]);
                tried += 1;
            }
            from += part.len;
        }
        assert!(tried > 30, "{tried}");
    }

    #[test]
    fn wide_loops_give_the_same_numbers() {
        let samples = samples();
        let params = Params::new(&mut Draws::new(4, 0));
        let run = |slots: &mut [Slot]| {
            slots.iter_mut().enumerate().for_each(|(at, slot)| slot.take(&samples.get(at), at == 0));
            forward(&params, slots);
            backward(&params, slots, 0.5);
            let mut grad = vec![0.0; parts()[9].len];
            gradient(parts()[9], slots, &mut grad);
            let mut moved = params.all[..grad.len()].to_vec();
            let (mut first, mut second) = (vec![0.1; grad.len()], vec![0.2; grad.len()]);
            step(Rate::of(3, 0.01), WEIGHT_BOUND, &mut moved, [&mut first, &mut second], &mut grad);
            moved
        };
        let [mut narrow, mut broad] = [vec![Slot::new(); 2], vec![Slot::new(); 2]];
        let (one, other) = (
            run(&mut narrow),
            wide(
                #[inline(always)]
                || run(&mut broad),
            ),
        );
        assert!(one == other);
        for (narrow, broad) in narrow.iter().zip(&broad) {
            assert!(narrow.input_slope == broad.input_slope && narrow.logits == broad.logits);
        }
    }
}
