//! Evaluators by the names they have on the command line.

use anyhow::Result;
use manaka_selfplay::{Evaluators, Kp256, Uniform};
use std::path::Path;
use std::sync::Arc;

/// The evaluators of a name: `kp256` for the net that is in the binary, `uniform`, or the file of a net.
pub fn evaluators(name: &str) -> Result<Arc<dyn Evaluators + Send>> {
    Ok(match name {
        "kp256" => Arc::new(Kp256::embedded()),
        "uniform" => Arc::new(Uniform::default()),
        path => Arc::new(Kp256::open(Path::new(path))?),
    })
}
