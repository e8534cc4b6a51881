//! Cases over the table game in the schema of `data/mctx_cases.json`, run and judged.

use super::{Table, run};
use manaka_search::{Gumbel, MateTest, Options, Outcome, Puct, QScale, Rule, Schedule, Search};
use serde::{Deserialize, Serialize};

/// A file of cases.
#[derive(Deserialize)]
pub struct Cases {
    #[serde(default = "states")]
    pub states: u64,
    pub cases: Vec<Case>,
}

fn states() -> u64 {
    256
}

/// The policies of mctx.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Algorithm {
    /// `gumbel_muzero_policy`.
    Gumbel,
    /// `muzero_policy` with values in 0 to 1, a loss for unvisited moves, and no noise.
    Puct,
}

/// One case: what is to be searched, and what has to come of it. Whatever is absent is not compared.
#[derive(Clone, Deserialize)]
pub struct Case {
    pub alg: Algorithm,
    pub actions: u32,
    pub sims: u32,
    #[serde(default)]
    pub considered: u32,
    pub seed: u64,
    #[serde(default)]
    pub c_visit: f64,
    #[serde(default)]
    pub c_scale: f64,
    #[serde(default)]
    pub rescale: bool,
    pub visits: Option<Vec<u32>>,
    pub root_value: Option<f64>,
    /// Noise at the root; none is no noise.
    pub gumbel: Option<Vec<f32>>,
    pub policy: Option<Vec<f64>>,
    pub action: Option<u32>,
}

/// What this search makes of a case.
#[derive(Serialize)]
pub struct Found {
    pub alg: Algorithm,
    pub actions: u32,
    pub sims: u32,
    pub seed: u64,
    pub visits: Vec<u32>,
    pub root_value: f64,
    pub policy: Vec<f64>,
    pub action: u32,
    /// In words, every difference from what the case states.
    pub differences: Vec<String>,
}

impl Case {
    /// The options that stand for the settings of mctx.
    pub fn options(&self) -> Options {
        let rule = match self.alg {
            Algorithm::Gumbel => Rule::Gumbel(Gumbel {
                considered: self.considered,
                c_visit: self.c_visit,
                c_scale: self.c_scale,
                q: if self.rescale { QScale::MinMax } else { QScale::Signed },
                noise_scale: Schedule::constant(1.0),
            }),
            Algorithm::Puct => Rule::Puct(Puct { noise_share: 0.0, ..Puct::default() }),
        };
        Options { budget: self.sims, rule, mate_test: MateTest::Off }
    }

    fn outcome(&self, states: u64) -> Outcome<u32> {
        let mut game = Table::new(states, self.actions, self.seed);
        let mut search = Search::new(self.options()).unwrap();
        let none = vec![0.0; self.actions as usize];
        search.begin_with(self.gumbel.as_ref().unwrap_or(&none), 0);
        run(&mut search, &mut game).unwrap()
    }

    /// Runs the case and compares: visits and action exactly, the policy to 1e-5, the value to 1e-4.
    pub fn run(&self, states: u64) -> Found {
        let outcome = self.outcome(states);
        let root_value = outcome.mean;
        let visits: Vec<u32> = outcome.moves.iter().map(|mv| mv.visits).collect();
        let policy: Vec<f64> = outcome.moves.iter().map(|mv| mv.policy).collect();
        let action = outcome.best().unwrap();
        let mut differences = Vec::new();
        if let Some(wanted) = &self.visits
            && *wanted != visits
        {
            differences.push(format!("visits {visits:?}, not {wanted:?}"));
        }
        if let Some(wanted) = self.action
            && wanted != action
        {
            differences.push(format!("action {action}, not {wanted}"));
        }
        if let Some(wanted) = &self.policy {
            let worst = wanted.iter().zip(&policy).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            if worst > 1e-5 || wanted.len() != policy.len() {
                differences.push(format!("policy off by {worst:e}"));
            }
        }
        if let Some(wanted) = self.root_value
            && (wanted - root_value).abs() > 1e-4
        {
            differences.push(format!("root value {root_value}, not {wanted}"));
        }
        let (alg, actions, sims, seed) = (self.alg, self.actions, self.sims, self.seed);
        Found { alg, actions, sims, seed, visits, root_value, policy, action, differences }
    }
}
