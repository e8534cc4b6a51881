//! Stretches of neighbouring buckets or spools, each the work of one thread.

use std::num::NonZeroUsize;
use std::ops::Range;

/// Cuts what is left, in rising order, into stretches of at most `longest` neighbours, shorter towards the end, so that no
/// thread is left with a long one when the others have none.
pub fn of(mut left: &[usize], longest: usize, threads: NonZeroUsize) -> Vec<Range<usize>> {
    let mut stretches = Vec::new();
    while let Some(&begin) = left.first() {
        let most = (left.len() / (4 * threads.get())).clamp(1, longest.max(1));
        let len = left.iter().zip(begin..).take(most).take_while(|(found, next)| **found == *next).count();
        stretches.push(begin..begin + len);
        left = &left[len..];
    }
    stretches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_are_neighbours_that_grow_short_towards_the_end() {
        for (first, end, longest, threads) in
            [(0, 430, 16, 2), (7, 430, 16, 2), (0, 1, 16, 8), (3, 3, 4, 1), (0, 50, 0, 1)]
        {
            let left: Vec<usize> = (first..end).collect();
            let stretches = of(&left, longest, NonZeroUsize::new(threads).unwrap());
            assert_eq!(stretches.iter().cloned().flatten().collect::<Vec<_>>(), left);
            let lengths: Vec<usize> = stretches.iter().map(ExactSizeIterator::len).collect();
            assert!(
                lengths.is_sorted_by(|a, b| a >= b) && lengths.iter().all(|len| *len <= longest.max(1)),
                "{lengths:?}"
            );
            // When a thread takes one of the last, every thread has one left to take.
            assert!(
                lengths.iter().rev().take(threads.min(lengths.len())).all(|len| *len == 1),
                "{lengths:?}"
            );
        }
    }

    #[test]
    fn a_stretch_ends_where_something_is_not_left() {
        let left: Vec<usize> = (0..100).filter(|at| ![5, 6, 40].contains(at)).collect();
        let stretches = of(&left, 16, NonZeroUsize::MIN);
        assert_eq!(stretches[..4], [0..5, 7..23, 23..39, 39..40]);
        assert_eq!(stretches.into_iter().flatten().collect::<Vec<_>>(), left);
    }
}
