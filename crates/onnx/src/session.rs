//! Where a network runs: a session of ONNX Runtime with one thread, on the provider that was asked for or none.

use crate::error::{Error, Result};
use crate::runtime::Runtime;
use ort::ep;
use ort::session::Session;
use ort::session::builder::SessionBuilder;
use std::fmt;
use std::path::Path;

/// What computes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Provider {
    /// The processor. One thread a session: the same bits whatever the batch.
    #[default]
    Cpu,
    /// A card of NVIDIA's through CUDA.
    Cuda,
    /// A card of NVIDIA's through TensorRT, which makes an engine for each shape of batches first.
    TensorRt,
}

impl Provider {
    /// Whether every batch has to have one shape. Cards want it: for each new shape TensorRT builds an engine and CUDA
    /// looks for algorithms, which takes longer than many batches.
    pub(crate) const fn wants_one_shape(self) -> bool {
        !matches!(self, Self::Cpu)
    }

    /// Positions in a batch unless something else is asked for. A processor gains nothing beyond it.
    #[must_use]
    pub const fn default_batch(self) -> usize {
        match self {
            Self::Cpu => 16,
            Self::Cuda | Self::TensorRt => 128,
        }
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cpu => "cpu",
            Self::Cuda => "cuda",
            Self::TensorRt => "tensorrt",
        })
    }
}

/// A session for this network.
pub(crate) fn session(runtime: &Runtime, provider: Provider, path: &Path, network: &[u8]) -> Result<Session> {
    let builder = builder(runtime).map_err(|error| refused(path, &error))?;
    let mut builder = with_provider(builder, provider).map_err(|error| Error::Provider {
        provider,
        library: runtime.path().to_owned(),
        reason: error.message().trim().to_owned(),
    })?;
    builder.commit_from_memory(network).map_err(|error| refused(path, &error))
}

/// One thread, so that sums have one order: with more the last bits depend on the batch. Threads that are not there
/// need not spin either.
fn builder(runtime: &Runtime) -> ort::Result<SessionBuilder> {
    Ok(Session::builder(runtime.environment())?
        .with_intra_threads(1)?
        .with_inter_threads(1)?
        .with_intra_op_spinning(false)?
        .with_inter_op_spinning(false)?)
}

/// An error where the provider cannot be had: left to itself, ONNX Runtime would go on with the processor.
fn with_provider(builder: SessionBuilder, provider: Provider) -> ort::Result<SessionBuilder> {
    let cuda = || ep::CUDA::default().build().error_on_failure();
    Ok(match provider {
        Provider::Cpu => builder,
        Provider::Cuda => builder.with_execution_providers([cuda()])?,
        // Behind it CUDA, for what TensorRT does not take would go to the processor.
        Provider::TensorRt => {
            let tensorrt = ep::TensorRT::default().build().error_on_failure();
            builder.with_execution_providers([tensorrt, cuda()])?
        }
    })
}

pub(crate) fn refused(path: &Path, error: &ort::Error) -> Error {
    Error::Refused { path: path.to_owned(), reason: error.message().trim().to_owned() }
}
