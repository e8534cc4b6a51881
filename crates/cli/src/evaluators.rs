//! Evaluators by the names they have on the command line.

use crate::exit::Usage;
use anyhow::{Result, bail};
use manaka_selfplay::{Evaluators, Kp256, Uniform};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Evaluators that several threads can have.
pub type Shared = Arc<dyn Evaluators + Send>;

/// How networks in ONNX are run.
#[derive(clap::Args, Debug)]
pub struct OnnxArgs {
    /// The library of ONNX Runtime, or the directory it lies in; else ORT_DYLIB_PATH names it, or python3 has the
    /// package onnxruntime.
    #[arg(long, value_name = "PATH", help_heading = "Networks in ONNX")]
    onnxruntime: Option<PathBuf>,

    /// What computes; cpu unless given. One that cannot be had is an error.
    #[arg(long, value_enum, help_heading = "Networks in ONNX")]
    provider: Option<Provider>,
}

/// What computes.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Provider {
    /// The processor, one thread a session.
    Cpu,
    /// A card of NVIDIA's.
    Cuda,
    /// The same through TensorRT.
    Tensorrt,
}

/// Whether a file is a network in ONNX, by its name.
pub fn is_onnx(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "onnx")
}

/// The evaluators of a name: `kp256` for the net that is in the binary, `uniform`, or the file of a net.
pub fn evaluators(name: &str, onnx: &OnnxArgs) -> Result<Shared> {
    Ok(match name {
        "kp256" => Arc::new(Kp256::embedded()),
        "uniform" => Arc::new(Uniform::default()),
        // A game of a match waits for one position at a time.
        path if is_onnx(path) => onnx.open(Path::new(path), Some(NonZeroUsize::MIN))?,
        path => Arc::new(Kp256::open(Path::new(path))?),
    })
}

impl OnnxArgs {
    /// Refuses options that nothing would come of.
    pub fn refuse(&self) -> Result<()> {
        if self.onnxruntime.is_some() || self.provider.is_some() {
            bail!(Usage(
                "--onnxruntime and --provider are for networks in ONNX, and there is none".to_owned()
            ));
        }
        Ok(())
    }

    /// The network of a file.
    #[cfg(feature = "onnx")]
    pub fn open(&self, net: &Path, batch: Option<NonZeroUsize>) -> Result<Shared> {
        use manaka_onnx::{Onnx, Runtime};
        let provider = match self.provider {
            None | Some(Provider::Cpu) => manaka_onnx::Provider::Cpu,
            Some(Provider::Cuda) => manaka_onnx::Provider::Cuda,
            Some(Provider::Tensorrt) => manaka_onnx::Provider::TensorRt,
        };
        let opened = Runtime::open(self.onnxruntime.as_deref())
            .and_then(|runtime| Onnx::open(net, &runtime, provider, batch));
        match opened {
            Ok(onnx) => Ok(Arc::new(onnx)),
            Err(error) if error.is_library() => {
                let package = match provider {
                    manaka_onnx::Provider::Cpu => "onnxruntime",
                    _ => "onnxruntime-gpu",
                };
                bail!(
                    "{error}\n`pip install {package}` brings one; say where it is with --onnxruntime \
                     …/site-packages/onnxruntime/capi, or have that python3 on the PATH"
                )
            }
            Err(error) => Err(error.into()),
        }
    }

    /// There are none in this build.
    #[cfg(not(feature = "onnx"))]
    #[expect(clippy::unused_self, reason = "the signature of builds that have them")]
    pub fn open(&self, net: &Path, _batch: Option<NonZeroUsize>) -> Result<Shared> {
        bail!(
            "{}: this program was built without networks in ONNX; build it with \
             `cargo build --release -p manaka --features onnx`",
            net.display()
        )
    }
}
