//! The cases that DeepMind's mctx computed: the same visits, the same action, the same policy and root value.

mod table;

use table::cases::{Case, Cases};

fn cases() -> Cases {
    serde_json::from_str(include_str!("data/mctx_cases.json")).unwrap()
}

#[test]
fn every_case_of_mctx_comes_out_the_same() {
    let file = cases();
    assert_eq!((file.states, file.cases.len()), (256, 18));
    for case in &file.cases {
        let found = case.run(file.states);
        assert!(found.differences.is_empty(), "seed {}: {:?}", case.seed, found.differences);
    }
}

/// Settings that the file above does not have: more moves, all of them considered, hardly any simulations.
#[test]
fn further_settings_of_mctx_come_out_the_same() {
    let file: Cases = serde_json::from_str(include_str!("data/mctx_more_cases.json")).unwrap();
    assert_eq!(file.cases.len(), 12);
    for case in &file.cases {
        let found = case.run(file.states);
        assert!(found.differences.is_empty(), "seed {}: {:?}", case.seed, found.differences);
    }
}

/// The comparison would say so if a case came out differently: each settled fact, changed by little, is noticed.
#[test]
fn a_case_that_is_changed_by_little_is_noticed() {
    let file = cases();
    let notices = |change: &dyn Fn(&mut Case)| {
        let mut case = file.cases[3].clone();
        change(&mut case);
        !case.run(file.states).differences.is_empty()
    };
    assert!(!notices(&|_| ()));
    assert!(notices(&|case| case.visits.as_mut().unwrap()[1] += 1));
    assert!(notices(&|case| case.policy.as_mut().unwrap()[0] += 2e-5));
    assert!(notices(&|case| case.root_value = case.root_value.map(|value| value + 2e-4)));
    assert!(notices(&|case| case.action = Some(0)));
    assert!(notices(&|case| case.considered = 15));
    assert!(notices(&|case| case.c_visit = 49.0));
    assert!(notices(&|case| case.c_scale = 0.11));
    assert!(notices(&|case| case.rescale = false));
    assert!(notices(&|case| case.sims = 63));
}
