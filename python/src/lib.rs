//! The extension module of the `manaka` wheel: what Python cannot do itself, or not fast enough.
//!
//! * [`reader`] and [`writer`] move records between streams and bytes of numpy's; [`arrow`] hands them to whoever speaks
//!   the Arrow C interface; [`header`] is what a stream states.
//! * [`loader`] hands batches of shards over without a copy; [`features`] are those of a single position.
//! * [`position`] is a position with its rules and its drawings.
//! * [`runs`] are the long runs of the command, with progress and Ctrl-C by [`watch`].
//! * [`errors`] makes each error of the crates below an exception of `manaka.errors`.
//!
//! The package around it (`python/manaka`) holds whatever Python says better: dtypes, batches, defaults, types.
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::cast_possible_truncation)]

mod arrow;
mod errors;
mod features;
mod header;
mod loader;
mod position;
mod reader;
mod rows;
mod runs;
mod watch;
mod writer;

use pyo3::prelude::*;

/// What the package takes from Rust. Call it through `manaka`.
#[pymodule]
mod _manaka {
    #[pymodule_export]
    use crate::arrow::{array_capsule, schema_capsule, stream_capsule};
    #[pymodule_export]
    use crate::header::Header;
    #[pymodule_export]
    use crate::loader::Loader;
    #[pymodule_export]
    use crate::position::{Position, move16, usi};
    #[pymodule_export]
    use crate::reader::{Reader, stream_files};
    #[pymodule_export]
    use crate::runs::{card, check, corpus, info, pack, stat, teacher};
    #[pymodule_export]
    use crate::writer::Writer;
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        manaka_core::guard::quiet_panics();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
