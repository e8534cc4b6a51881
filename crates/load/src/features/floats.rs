//! Planes as floats, of which only what changes is written (features.md §6.1).
//!
//! A row is 38,556 bytes, 602 cache lines, and writing them is nearly all that it costs: but in five of six lines there is
//! nothing but zeros, before and after. So the arrays remember what they hold, and only lines that change are written, whole and past
//! the caches.

use super::planes::{PLANES1, PLANES2};
use manaka_core::Square;

/// Numbers of a row of the first planes.
pub const FIRST: usize = PLANES1 * Square::COUNT;
/// Numbers of a row of the second planes.
pub const SECOND: usize = PLANES2 * Square::COUNT;

/// Arrays of planes as floats 0.0 and 1.0, row-major: `rows × 62 × 9 × 9` and `rows × 57 × 9 × 9` (features.md §6.1).
///
/// They can be read and taken, and not be changed in place: what is in them is known, and what is the same in the next batch is
/// not written again.
#[derive(Debug, Default)]
pub struct FloatPlanes {
    first: Vec<f32>,
    second: Vec<f32>,
    /// What each row holds; `None` when that is not known.
    held: Option<Vec<Held>>,
}

/// Bits of a row that are written to memory: the first planes a bit a number, behind as many zeros as the row's first number is behind
/// the start of its cache line; the second a bit a plane.
#[derive(Clone, Debug)]
struct Held {
    first: [u64; super::planes::WORDS],
    second: u64,
}

impl Held {
    const ZEROS: Self = Self { first: [0; super::planes::WORDS], second: 0 };
}

impl FloatPlanes {
    /// The first planes, `rows × 62 × 9 × 9`.
    #[must_use]
    pub fn first(&self) -> &[f32] {
        &self.first
    }

    /// The second planes, `rows × 57 × 9 × 9`.
    #[must_use]
    pub fn second(&self) -> &[f32] {
        &self.second
    }

    /// Both arrays.
    #[must_use]
    pub fn into_arrays(self) -> (Vec<f32>, Vec<f32>) {
        (self.first, self.second)
    }

    /// Makes the arrays as long as so many rows; what they hold does not matter.
    pub(crate) fn prepare(&mut self, rows: usize) {
        let room = self.first.capacity() >= rows * FIRST && self.second.capacity() >= rows * SECOND;
        if !room || (wide() && self.held.is_none()) {
            // Zeros from the system, which nobody has to write.
            *self = Self { first: vec![0.0; rows * FIRST], second: vec![0.0; rows * SECOND], held: None };
            self.held = wide().then(Vec::new);
        } else {
            self.first.resize(rows * FIRST, 0.0);
            self.second.resize(rows * SECOND, 0.0);
        }
        if let Some(held) = &mut self.held {
            held.resize(rows, Held::ZEROS);
        }
    }

    /// The rows, to be written whole.
    pub(crate) fn rows_mut(&mut self) -> (&mut [[f32; FIRST]], &mut [[f32; SECOND]]) {
        self.held = None;
        (self.first.as_chunks_mut().0, self.second.as_chunks_mut().0)
    }
}

/// The copy lies elsewhere, and does not know what it holds.
impl Clone for FloatPlanes {
    fn clone(&self) -> Self {
        Self { first: self.first.clone(), second: self.second.clone(), held: None }
    }
}

impl PartialEq for FloatPlanes {
    fn eq(&self, other: &Self) -> bool {
        (&self.first, &self.second) == (&other.first, &other.second)
    }
}

#[cfg(target_arch = "x86_64")]
use super::wide::available as wide;

#[cfg(not(target_arch = "x86_64"))]
const fn wide() -> bool {
    false
}

#[cfg(target_arch = "x86_64")]
pub(crate) use lines::Lines;

#[cfg(target_arch = "x86_64")]
mod lines {
    use super::super::planes::Planes;
    use super::{FIRST, FloatPlanes, Held, SECOND};
    use manaka_core::Square;
    use std::arch::x86_64::{
        _mm_sfence, _mm512_cmpneq_epi16_mask, _mm512_loadu_si512, _mm512_mask_storeu_ps, _mm512_maskz_mov_ps,
        _mm512_set1_ps, _mm512_stream_ps,
    };

    /// Numbers of a cache line.
    const LINE: usize = 16;

    /// The rows of arrays that know what they hold.
    pub struct Lines<'a> {
        first: &'a mut [[f32; FIRST]],
        second: &'a mut [[f32; SECOND]],
        held: &'a mut [Held],
    }

    impl<'a> Lines<'a> {
        /// `None` when what they hold is not known.
        pub fn of(planes: &'a mut FloatPlanes) -> Option<Self> {
            let held = planes.held.as_deref_mut()?;
            Some(Self {
                first: planes.first.as_chunks_mut().0,
                second: planes.second.as_chunks_mut().0,
                held,
            })
        }

        /// Writes a row.
        #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,popcnt,lzcnt")]
        #[inline]
        pub fn write(&mut self, row: usize, planes: &Planes) {
            let held = &mut self.held[row];
            first(&mut self.first[row], &mut held.first, planes);
            second(&mut self.second[row], &mut held.second, planes.whole());
        }

        /// Makes what was written visible to the thread that gets the arrays next: stores past the caches are in no order.
        #[target_feature(enable = "sse")]
        #[inline]
        pub fn finish(self) {
            _mm_sfence();
        }
    }

    /// The lowest lanes of a line.
    const fn lowest(count: usize) -> u16 {
        if count >= LINE { u16::MAX } else { (1 << count) - 1 }
    }

    /// How many numbers a row's first is behind the start of its cache line.
    fn phase(row: &[f32]) -> usize {
        row.as_ptr() as usize / size_of::<f32>() % LINE
    }

    #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,popcnt,lzcnt")]
    #[inline]
    fn first(row: &mut [f32; FIRST], held: &mut [u64; super::super::planes::WORDS], planes: &Planes) {
        let phase = phase(row);
        let new = planes.words(phase);
        // 32 lines in a register; the changes of 64 in a word.
        let (news, _) = new.as_chunks::<16>();
        let (olds, _) = held.as_chunks::<16>();
        for (part, (new, old)) in news.iter().zip(olds).enumerate() {
            let differ = |half: usize| {
                let (new, old) = (&new[8 * half..], &old[8 * half..]);
                // SAFETY: each reads the 64 bytes of eight words of sixteen; no alignment is asked for.
                let changed = unsafe {
                    _mm512_cmpneq_epi16_mask(
                        _mm512_loadu_si512(new.as_ptr().cast()),
                        _mm512_loadu_si512(old.as_ptr().cast()),
                    )
                };
                u64::from(changed)
            };
            let mut changed = differ(0) | differ(1) << 32;
            while changed != 0 {
                let line = changed.trailing_zeros() as usize;
                changed &= changed - 1;
                let ones = (new[line / 4] >> (line % 4 * 16) & 0xFFFF) as u16;
                put(row, phase, part * 64 + line, ones);
            }
        }
        *held = new;
    }

    #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,popcnt,lzcnt")]
    #[inline]
    fn second(row: &mut [f32; SECOND], held: &mut u64, new: u64) {
        let phase = phase(row);
        let mut changed = new ^ *held;
        while changed != 0 {
            let plane = changed.trailing_zeros() as usize;
            changed &= changed - 1;
            // A line at either end is shared with a neighbour.
            let from = plane * Square::COUNT + phase;
            let to = from + Square::COUNT;
            let ones = |plane: usize| (new >> (plane & 63) & 1) as u16 * u16::MAX;
            let (own, before) = (ones(plane), if plane == 0 { 0 } else { ones(plane - 1) });
            for line in from / LINE..to.div_ceil(LINE) {
                let lanes = |end: usize| lowest(end.saturating_sub(line * LINE));
                let (low, high) = (lanes(from), lanes(to));
                put(row, phase, line, before & low | own & (high & !low) | ones(plane + 1) & !high);
            }
        }
        *held = new;
    }

    /// Writes a cache line of a row, or what of it belongs to the row: ones by lane, `line` counted from the one that the
    /// row begins in.
    #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,popcnt,lzcnt")]
    #[inline]
    fn put(row: &mut [f32], phase: usize, line: usize, ones: u16) {
        let one = _mm512_set1_ps(1.0);
        let lanes = line * LINE;
        if lanes >= phase && lanes - phase + LINE <= row.len() {
            // SAFETY: the 16 numbers are within the row, and the first is at the start of a cache line, because the row's is
            // `phase` behind one. The tests below reach it.
            unsafe { _mm512_stream_ps(row.as_mut_ptr().add(lanes - phase), _mm512_maskz_mov_ps(ones, one)) }
        } else {
            let before = phase.saturating_sub(lanes);
            let Some(row) = row.get_mut((lanes + before).saturating_sub(phase)..) else { return };
            let own = lowest((LINE - before).min(row.len()));
            // SAFETY: writes no more numbers than there are from here on in the row. The tests below reach it.
            unsafe {
                _mm512_mask_storeu_ps(row.as_mut_ptr(), own, _mm512_maskz_mov_ps(ones >> before, one));
            }
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
#[expect(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::super::planes::{PLANES1, PLANES2, Planes};
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    const SQUARES: u128 = (1 << Square::COUNT) - 1;

    /// Planes with few, many or no ones.
    fn planes() -> impl Strategy<Value = Planes> {
        let board = prop_oneof![Just(0), any::<u128>(), (0..81u32).prop_map(|at| 1 << at), Just(u128::MAX)];
        let second = prop_oneof![Just(0), any::<u64>(), (0..57u32).prop_map(|at| 1 << at), Just(u64::MAX)];
        (vec(board, PLANES1), second).prop_map(|(boards, second)| {
            let mut first = [0; PLANES1];
            first.iter_mut().zip(boards).for_each(|(to, board)| *to = board & SQUARES);
            Planes::of(first, second & ((1 << PLANES2) - 1))
        })
    }

    fn write(floats: &mut FloatPlanes, rows: &[Planes]) {
        floats.prepare(rows.len());
        let mut lines = Lines::of(floats).unwrap();
        for (row, planes) in rows.iter().enumerate() {
            // SAFETY: the processor has what it takes.
            unsafe { lines.write(row, planes) };
        }
        // SAFETY: as above.
        unsafe { lines.finish() };
    }

    fn expect(floats: &FloatPlanes, rows: &[Planes]) -> Result<(), TestCaseError> {
        let mut whole = FloatPlanes::default();
        whole.prepare(rows.len());
        let (first, second) = whole.rows_mut();
        for (planes, (first, second)) in rows.iter().zip(first.iter_mut().zip(second)) {
            planes.unfold(first, second);
        }
        prop_assert!(*floats == whole);
        prop_assert_eq!(
            (floats.first().len(), floats.second().len()),
            (rows.len() * FIRST, rows.len() * SECOND)
        );
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn lines_that_change_make_rows_that_are_written_whole(
            batches in vec((vec(planes(), 0..12), 0..4), 1..8)
        ) {
            if !wide() {
                return Ok(());
            }
            let mut floats = FloatPlanes::default();
            for (rows, between) in batches {
                write(&mut floats, &rows);
                expect(&floats, &rows)?;
                match between {
                    0 => floats = floats.clone(),
                    // Written by the other way, which leaves anything.
                    1 => floats.rows_mut().0.iter_mut().for_each(|row| row.fill(7.0)),
                    _ => {}
                }
            }
        }
    }
}
