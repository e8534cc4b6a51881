//! Shards in batches of numpy arrays, which take the memory that worker threads filled.
//!
//! Defaults and types of the options are those of `python/manaka/loader.py`; here is only what they become.

use crate::errors::{Raise, usage};
use crate::features::{FEATURE_SETS, named, put, put_features};
use crate::header::Header;
use manaka_core::packed::PACKED_LEN;
use manaka_core::stream;
use manaka_load::features::LABELS;
use manaka_load::{
    Batch, Cursor, CursorError, FeatureSet, LastBatch, Mirror, Options, Order, OutcomeAbsent, Policy,
    PolicyTarget, RawColumns, SetEnd, ShardSet, Source, WeightMode,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::mem::take;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

/// Threads unless told otherwise, where the machine has as many: each holds two batches and a row group.
const MOST_THREADS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(3);

/// A weight mode as Python gives it: a name, or the number weights are capped at.
#[derive(FromPyObject)]
enum Weight {
    Mode(String),
    Cap(f32),
}

/// What a loader is told beside its shards.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Load {
    batch_size: usize,
    threads: Option<NonZeroUsize>,
    features: Option<String>,
    blend: f32,
    outcome_absent: String,
    weight: Weight,
    policy: Option<String>,
    columns: Vec<String>,
    order: String,
    seed: u64,
    mirror: String,
    rank: u32,
    world_size: u32,
    last_batch: String,
    set_end: String,
}

impl Load {
    fn options(self) -> PyResult<Options> {
        let mut columns = RawColumns::default();
        for name in &self.columns {
            match name.as_str() {
                "packed" => columns.packed = true,
                "ply" => columns.ply = true,
                _ => return Err(usage("option", format!("column '{name}': must be one of packed, ply"))),
            }
        }
        let options = Options {
            batch_size: NonZeroUsize::new(self.batch_size)
                .ok_or_else(|| usage("option", "batches of 0 rows"))?,
            threads: self.threads.unwrap_or_else(|| {
                std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN).min(MOST_THREADS)
            }),
            features: match &self.features {
                None => FeatureSet::None,
                Some(name) => named("features", name, &FEATURE_SETS)?,
            },
            blend: self.blend,
            outcome_absent: named(
                "outcome_absent",
                &self.outcome_absent,
                &[("refuse", OutcomeAbsent::Refuse), ("search", OutcomeAbsent::UseSearch)],
            )?,
            weight: match &self.weight {
                Weight::Cap(most) => WeightMode::Capped(*most),
                Weight::Mode(name) => named(
                    "weight",
                    name,
                    &[("stored", WeightMode::Stored), ("sqrt", WeightMode::Sqrt), ("log", WeightMode::Log)],
                )?,
            },
            policy: match &self.policy {
                None => PolicyTarget::None,
                Some(name) => named(
                    "policy",
                    name,
                    &[("sparse", PolicyTarget::Sparse), ("dense", PolicyTarget::Dense)],
                )?,
            },
            columns,
            order: named(
                "order",
                &self.order,
                &[("written", Order::AsWritten), ("shuffled", Order::ShuffledGroups)],
            )?,
            seed: self.seed,
            mirror: named(
                "mirror",
                &self.mirror,
                &[("never", Mirror::Never), ("half", Mirror::Half), ("always", Mirror::Always)],
            )?,
            rank: self.rank,
            world_size: self.world_size,
            last_batch: named(
                "last_batch",
                &self.last_batch,
                &[("deliver", LastBatch::Deliver), ("drop", LastBatch::Drop)],
            )?,
            set_end: named("set_end", &self.set_end, &[("stop", SetEnd::Stop), ("repeat", SetEnd::Repeat)])?,
        };
        options.check().map_err(Raise::raise)?;
        Ok(options)
    }
}

fn cursor(text: &str) -> PyResult<Cursor> {
    text.parse().map_err(|error: CursorError| error.raise())
}

/// Shards that are open, and the threads that load them.
#[pyclass(module = "manaka._manaka")]
pub struct Loader {
    /// None only while it is dropped.
    loader: Option<manaka_load::Loader>,
    batch: Batch,
    /// The threads are those of a process; a fork has none.
    process: u32,
}

impl Loader {
    fn get(&self) -> PyResult<&manaka_load::Loader> {
        self.loader.as_ref().ok_or_else(|| usage("closed", "this loader is closed"))
    }

    /// What works only where the threads are.
    fn here(&mut self) -> PyResult<(&mut manaka_load::Loader, &mut Batch)> {
        if self.process != std::process::id() {
            let message = "this pass was begun in another process; begin one in this process";
            return Err(usage("forked", message));
        }
        let loader = self.loader.as_mut().ok_or_else(|| usage("closed", "this loader is closed"))?;
        Ok((loader, &mut self.batch))
    }
}

#[pymethods]
impl Loader {
    /// Opens every shard, refuses conventions that may not be read together, and starts the threads. `sources` are
    /// paths and the share of each set; without a cursor the first row of epoch 0 is next.
    #[new]
    fn new(
        py: Python<'_>,
        sources: Vec<(Vec<PathBuf>, u32)>,
        options: Load,
        cursor: Option<&str>,
    ) -> PyResult<Self> {
        let options = options.options()?;
        let cursor = cursor.map(self::cursor).transpose()?;
        let shares: Vec<NonZeroU32> = sources
            .iter()
            .map(|&(_, share)| NonZeroU32::new(share).ok_or_else(|| usage("option", "a share of 0")))
            .collect::<PyResult<_>>()?;
        let loader = py
            .detach(|| {
                let sets = sources.iter().map(|(paths, _)| ShardSet::open(paths));
                let sources = sets.zip(shares).map(|(set, share)| Ok(Source { set: set?, share }));
                let sources = sources.collect::<manaka_load::Result<Vec<_>>>()?;
                match &cursor {
                    None => manaka_load::Loader::new(sources, options),
                    Some(cursor) => manaka_load::Loader::resume(sources, options, cursor),
                }
            })
            .map_err(Raise::raise)?;
        Ok(Self { loader: Some(loader), batch: Batch::default(), process: std::process::id() })
    }

    /// Refuses options that make no sense by themselves and text that is no cursor; the cursor's epoch and row.
    #[staticmethod]
    fn check(options: Load, cursor: Option<&str>) -> PyResult<(u64, u64)> {
        options.options()?;
        let cursor = cursor.map(self::cursor).transpose()?;
        Ok(cursor.map_or((0, 0), |cursor| (cursor.epoch(), cursor.row())))
    }

    /// What the shards of each set state.
    #[getter]
    fn headers(&self) -> PyResult<Vec<Header>> {
        let sources = self.get()?.sources().iter();
        Ok(sources.map(|source| Header { header: stream::Header::new(*source.set.conventions()) }).collect())
    }

    /// Rows of every epoch.
    #[getter]
    fn rows(&self) -> PyResult<u64> {
        Ok(self.get()?.rows())
    }

    /// Batches of every epoch.
    #[getter]
    fn batches(&self) -> PyResult<u64> {
        Ok(self.get()?.batches())
    }

    /// Epoch and row of the next batch.
    #[getter]
    fn place(&self) -> PyResult<(u64, u64)> {
        let cursor = self.get()?.cursor();
        Ok((cursor.epoch(), cursor.row()))
    }

    /// The text of the place in front of the next batch. Works in a fork: the place is that of its process.
    fn cursor(&self) -> PyResult<String> {
        Ok(self.get()?.cursor().to_string())
    }

    /// Goes to the first row of an epoch.
    fn begin_epoch(&mut self, epoch: u64) -> PyResult<()> {
        self.here()?.0.begin_epoch(epoch).map_err(Raise::raise)
    }

    /// The next rows as arrays by name; None at the end of the epoch.
    fn next_batch<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let (loader, batch) = self.here()?;
        if !py.detach(|| loader.next_into(batch)).map_err(Raise::raise)? {
            return Ok(None);
        }
        arrays(py, take(batch)).map(Some)
    }
}

/// The memory of a batch as named arrays; nothing is copied.
fn arrays(py: Python<'_>, batch: Batch) -> PyResult<Bound<'_, PyDict>> {
    let Batch { rows, value, weight, features, policy, packed, ply } = batch;
    let out = PyDict::new(py);
    put_features(&out, features, rows)?;
    put(&out, "value", value, [rows])?;
    put(&out, "weight", weight, [rows])?;
    match policy {
        Policy::None => {}
        Policy::Sparse { offsets, label, prob } => {
            let candidates = label.len();
            put(&out, "policy_offsets", offsets, [rows + 1])?;
            put(&out, "policy_label", label, [candidates])?;
            put(&out, "policy_prob", prob, [candidates])?;
        }
        Policy::Dense(probs) => put(&out, "policy", probs, [rows, LABELS])?,
    }
    // What was not asked for is empty; a batch never is.
    if !packed.is_empty() {
        put(&out, "packed", packed, [rows, PACKED_LEN])?;
    }
    if !ply.is_empty() {
        put(&out, "ply", ply, [rows])?;
    }
    Ok(out)
}

/// A fork has no threads to wait for.
impl Drop for Loader {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            std::mem::forget(self.loader.take());
        }
    }
}
