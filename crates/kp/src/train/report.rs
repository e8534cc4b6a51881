//! What a training says about itself.

pub use super::measure::Agreement;
use super::measure::Measures;
use serde::Serialize;
use std::fmt;

/// Why a training ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stopped {
    /// All epochs were trained.
    Epochs,
    /// Too many epochs were no better than the best.
    Patience,
    /// The caller asked for it.
    Cancelled,
}

/// One pass over the samples.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Epoch {
    /// Its number, from 1.
    pub epoch: u32,
    /// Steps so far.
    pub steps: u64,
    /// Mean loss of the value over its steps, as in [`Measures`].
    pub value_loss: f64,
    /// The same of the policy.
    pub policy_loss: f64,
    /// What it knew of the validation samples at the end.
    pub validation: Measures,
}

/// What a training says about itself.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    /// Samples learned from.
    pub samples: u64,
    /// Their legal moves, on average.
    pub legal_moves: f64,
    /// Samples measured by.
    pub validation_samples: u64,
    /// Epochs, from the first.
    pub epochs: Vec<Epoch>,
    /// The epoch whose network was kept: that of the least validation loss, value and policy together.
    pub best: u32,
    /// Why it ended.
    pub stopped: Stopped,
    /// What the integers of the kept network know of the validation samples.
    pub integers: Measures,
    /// How far they are from the floats.
    pub agreement: Agreement,
    /// The checksum of the network's file, in hexadecimal.
    pub net: String,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} samples of {:.1} legal moves, {} to validate\n",
            self.samples, self.legal_moves, self.validation_samples
        )?;
        writeln!(f, "epoch  steps   value  policy | validation: value  policy  sign accuracy  policy top-1")?;
        for epoch in &self.epochs {
            let Epoch { epoch: number, steps, value_loss, policy_loss, validation } = epoch;
            let kept = if *number == self.best { "  kept" } else { "" };
            writeln!(f, "{number:5} {steps:6} {value_loss:7.4} {policy_loss:7.4} |{validation}{kept}")?;
        }
        writeln!(f, "{:>30}{}", "in integers |", self.integers)?;
        let Agreement { same_top, mean_value_error, max_value_error } = self.agreement;
        writeln!(
            f,
            "\nintegers against floats: the same move at the top in {:.1} %, values apart by {mean_value_error:.4} on \
             average and {max_value_error:.4} at most",
            100.0 * same_top
        )?;
        let why = match self.stopped {
            Stopped::Epochs => "all epochs are done",
            Stopped::Patience => "the last epochs were no better",
            Stopped::Cancelled => "stopped",
        };
        write!(f, "{why}; network {}", self.net)
    }
}

impl fmt::Display for Measures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { value_loss, policy_loss, sign_accuracy, policy_top1, .. } = self;
        write!(f, " {value_loss:17.4} {policy_loss:7.4} {sign_accuracy:14.4} {policy_top1:13.4}")
    }
}
