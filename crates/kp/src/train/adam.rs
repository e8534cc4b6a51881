//! Adam, a part of the parameters at a time.

const DECAY: [f32; 2] = [0.9, 0.999];
const EPSILON: f32 = 1e-8;
/// Moments below these are 0: denormal numbers make a processor several times slower, and say nothing.
const LEAST: [f32; 2] = [1e-18, 1e-36];

/// The rate of a step, with the moments' bias taken out.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    rate: f32,
    second: f32,
}

impl Rate {
    /// Of a step, from 1.
    #[expect(clippy::cast_possible_truncation, reason = "an f32 is trained with")]
    pub fn of(step: u64, rate: f64) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "steps are below 2^52")]
        let step = step as f64;
        let bias = DECAY.map(|decay| 1.0 - libm::pow(f64::from(decay), step));
        Self { rate: (rate / bias[0]) as f32, second: (1.0 / bias[1]) as f32 }
    }
}

/// One step; `grad` is 0 afterwards. Parameters stay within `bound`.
#[inline(always)]
pub fn step(rate: Rate, bound: f32, params: &mut [f32], [first, second]: [&mut [f32]; 2], grad: &mut [f32]) {
    let [keep_first, keep_second] = DECAY;
    for (((param, m), v), grad) in params.iter_mut().zip(first).zip(second).zip(grad) {
        let g = *grad;
        *grad = 0.0;
        let new_m = keep_first * *m + (1.0 - keep_first) * g;
        let new_v = keep_second * *v + (1.0 - keep_second) * (g * g);
        *m = if new_m.abs() < LEAST[0] { 0.0 } else { new_m };
        *v = if new_v < LEAST[1] { 0.0 } else { new_v };
        let moved = *param - rate.rate * *m / ((*v * rate.second).sqrt() + EPSILON);
        *param = moved.clamp(-bound, bound);
    }
}
