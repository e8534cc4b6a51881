//! What can play in a match.

use crate::error::{Error, Result};
use crate::player::{Drawn, Engine, Player, Policy, Searcher};
use manaka_gensfen::EngineOptions;
use manaka_search::{Options as Search, Rule, Schedule};
use manaka_selfplay::Evaluators;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What can play in a match.
#[derive(Clone)]
pub enum Contestant {
    /// A net with a search; made by [`search`](Self::search).
    Search {
        /// What judges positions.
        evaluators: Arc<dyn Evaluators + Send>,
        /// The search, without noise.
        search: Search,
    },
    /// The policy of a net: always the move of the highest logit, the first of equals.
    Policy {
        /// Whose policy.
        evaluators: Arc<dyn Evaluators + Send>,
    },
    /// Every legal move as likely as the next.
    Random,
    /// A USI engine, started anew for each game. It is asked for one line.
    Engine(Box<EngineOptions>),
}

impl Contestant {
    /// A net with a search as it plays for strength: no noise at the root, and always the move that the search settles on.
    #[must_use]
    pub fn search(evaluators: Arc<dyn Evaluators + Send>, mut search: Search) -> Self {
        match &mut search.rule {
            Rule::Puct(puct) => (puct.noise_share, puct.temperature) = (0.0, Schedule::constant(0.0)),
            Rule::Gumbel(gumbel) => gumbel.noise_scale = Schedule::constant(0.0),
        }
        Self::Search { evaluators, search }
    }

    /// Makes a player for one thread.
    pub(crate) fn player<'c>(&'c self, cancel: &'c AtomicBool) -> Result<Box<dyn Player + 'c>> {
        Ok(match self {
            Self::Search { evaluators, search } => {
                Box::new(Searcher::new(evaluators.evaluator().map_err(Error::Evaluator)?, *search)?)
            }
            Self::Policy { evaluators } => {
                Box::new(Policy::new(evaluators.evaluator().map_err(Error::Evaluator)?))
            }
            Self::Random => Box::new(Drawn::default()),
            Self::Engine(options) => Box::new(Engine::new(options, cancel)),
        })
    }
}

/// As reports name it.
impl fmt::Display for Contestant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let net = |evaluators: &dyn Evaluators| {
            let identity = evaluators.identity();
            match identity.net {
                Some(hash) => format!("{} {hash}", identity.name),
                None => identity.name,
            }
        };
        match self {
            Self::Search { evaluators, search } => {
                let rule = match search.rule {
                    Rule::Puct(_) => "PUCT",
                    Rule::Gumbel(_) => "Gumbel",
                };
                let tested = match search.mate_test {
                    manaka_search::MateTest::Leaf => "",
                    manaka_search::MateTest::Off => " without mate test",
                };
                write!(f, "{rule} {}{tested} over {}", search.budget, net(evaluators.as_ref()))
            }
            Self::Policy { evaluators } => write!(f, "policy of {}", net(evaluators.as_ref())),
            Self::Random => f.write_str("random moves"),
            Self::Engine(options) => write!(f, "{} ({})", options.command, options.limit),
        }
    }
}

impl fmt::Debug for Contestant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Contestant({self})")
    }
}
