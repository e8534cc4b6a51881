//! Evaluators by their names on the command line.

use crate::exit::Usage;
use anyhow::{Result, bail};
use manaka_selfplay::{Evaluators, Uniform};
use std::sync::Arc;

/// The evaluators of this name, or of the net in this file.
pub fn evaluators(name: &str) -> Result<Arc<dyn Evaluators + Send>> {
    match name {
        "uniform" => Ok(Arc::new(Uniform::default())),
        _ => bail!(Usage(format!("{name:?} is no evaluator"))),
    }
}
