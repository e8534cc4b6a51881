//! Once its buffers have grown, a search allocates nothing.

mod table;

use allocation_counter::measure;
use manaka_search::{Gumbel, Options, Puct, Random, Rule, Search, Step};
use table::wild::Wild;

#[test]
fn a_search_in_used_memory_allocates_nothing() {
    for rule in [Rule::from(Puct::default()), Rule::from(Gumbel::default())] {
        let mut search = Search::new(Options::new(400, rule)).unwrap();
        let mut game = Wild::new(5, 80);
        let mut logits = Vec::with_capacity(100);
        let mut go = |seed| {
            search.begin(Random::new(seed, 0, 0), 0);
            loop {
                match search.step(&mut game).unwrap() {
                    Step::Evaluate(moves) => {
                        logits.clear();
                        logits.extend(moves.iter().map(|&mv| (mv % 7) as f32));
                        search.apply(&logits, game.value()).unwrap();
                    }
                    Step::Done(outcome) => return outcome.value,
                }
            }
        };
        // The same search twice needs the same room.
        let first = measure(|| {
            go(1);
        });
        assert!(first.count_total > 0, "allocations are counted");
        let again = measure(|| {
            go(1);
        });
        assert_eq!(again.count_total, 0);
    }
}
