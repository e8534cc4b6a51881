//! The schedule of sequential halving: mctx's, and what the search relies on.

use manaka_search::considered_visits;
use proptest::prelude::*;

fn sequence(considered: u32, simulations: u32) -> Vec<u32> {
    let mut sequence = vec![99];
    considered_visits(considered, simulations, &mut sequence);
    sequence
}

/// The twin: with a list of visit counts, as mctx writes it.
fn as_mctx_has_it(considered: usize, simulations: usize) -> Vec<u32> {
    if considered <= 1 {
        return (0..simulations as u32).collect();
    }
    let log2 = (considered as f64).log2().ceil() as usize;
    let mut sequence = Vec::new();
    let mut visits = vec![0; considered];
    let mut left = considered;
    while sequence.len() < simulations {
        let extra = (simulations / (log2 * left)).max(1);
        for _ in 0..extra {
            sequence.extend_from_slice(&visits[..left]);
            for count in &mut visits[..left] {
                *count += 1;
            }
        }
        left = (left / 2).max(2);
    }
    sequence.truncate(simulations);
    sequence
}

#[test]
fn schedules_by_hand() {
    assert_eq!(sequence(1, 4), [0, 1, 2, 3]);
    assert_eq!(sequence(0, 2), [0, 1]);
    // Two rounds of four moves once each (16 / (2 · 4) = 2), then two moves four times each.
    assert_eq!(sequence(4, 16), [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]);
    // Three moves: ⌈log2⌉ = 2, 10 / (2 · 3) = 1, then pairs.
    assert_eq!(sequence(3, 10), [0, 0, 0, 1, 1, 2, 2, 3, 3, 4]);
    // Fewer simulations than moves.
    assert_eq!(sequence(16, 5), [0, 0, 0, 0, 0]);
    assert_eq!(sequence(16, 0), [0; 0]);
}

proptest! {
    #[test]
    fn the_schedule_is_that_of_mctx(considered in 0u32..700, simulations in 0u32..1500) {
        prop_assert_eq!(
            sequence(considered, simulations),
            as_mctx_has_it(considered as usize, simulations as usize)
        );
    }

    /// Whatever moves are picked, there is one with the count that is looked for, and no more than `considered` are.
    #[test]
    fn a_count_is_looked_for_only_when_a_move_has_it(
        considered in 1u32..100, simulations in 0u32..1000, picks in any::<u64>()
    ) {
        let sequence = sequence(considered, simulations);
        prop_assert_eq!(sequence.len(), simulations as usize);
        let mut visits = vec![0; considered as usize];
        let mut picks = picks;
        for wanted in sequence {
            let having: Vec<usize> = (0..visits.len()).filter(|&mv| visits[mv] == wanted).collect();
            prop_assert!(!having.is_empty());
            picks = picks.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            visits[having[(picks >> 33) as usize % having.len()]] += 1;
        }
    }
}
