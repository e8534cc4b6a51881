//! The long runs of the command as functions: the same options, the same reports.
//!
//! Defaults and types of the options are those of `python/manaka/runs.py`; here is only what they become.

use crate::errors::{Raise, usage};
use crate::watch::watch;
use manaka_core::Conventions;
use manaka_core::inputs::{PARQUET_SUFFIXES, PSV_SUFFIXES, STREAM_SUFFIXES, resolve};
use manaka_core::out_dir::create_empty;
use manaka_core::stream::{Compression, PartsOptions};
use manaka_core::whole_file::{Existing, WholeFile};
use manaka_corpus::psv::UnknownMoveLayout;
use manaka_corpus::{MateFold, PsvOptions, from_psv};
use manaka_inspect::{CardOptions, CheckOptions, Replace, StatOptions};
use manaka_pack::PackOptions;
use manaka_teacher::{OffSearch, Options, Strictness, convert};
use pyo3::prelude::*;
use serde::Serialize;
use std::io::Write;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

/// A report as Python's own dicts and lists.
fn report(py: Python<'_>, report: &impl Serialize) -> PyResult<Py<PyAny>> {
    let text = serde_json::to_string(report).map_err(|error| usage("report", error.to_string()))?;
    Ok(py.import("json")?.call_method1("loads", (text,))?.unbind())
}

fn files(paths: &[PathBuf], suffixes: &[&str]) -> PyResult<Vec<PathBuf>> {
    Ok(resolve(paths, suffixes).map_err(Raise::raise)?.files)
}

fn threads(threads: Option<NonZeroUsize>) -> NonZeroUsize {
    threads.unwrap_or_else(|| std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN))
}

/// `manaka check`.
#[pyfunction]
pub fn check(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    limit: usize,
    threads: Option<NonZeroUsize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Py<PyAny>> {
    let inputs = files(&paths, &[STREAM_SUFFIXES, PARQUET_SUFFIXES].concat())?;
    let options = CheckOptions { threads: self::threads(threads), limit };
    let found = watch(py, progress, move |progress| manaka_inspect::check(&inputs, &options, progress))?;
    report(py, &found)
}

/// `manaka stat`, and its page.
#[pyfunction]
pub fn stat(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    html: Option<PathBuf>,
    threads: Option<NonZeroUsize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Py<PyAny>> {
    let inputs = files(&paths, &[STREAM_SUFFIXES, PARQUET_SUFFIXES, PSV_SUFFIXES].concat())?;
    let options = StatOptions::new(self::threads(threads));
    let page = html.map(|path| WholeFile::create(&path, Existing::Replace)).transpose()?;
    let found = watch(py, progress, move |progress| manaka_inspect::stat(&inputs, &options, progress))?;
    if let Some(mut page) = page {
        page.write_all(found.html().as_bytes())?;
        page.commit()?;
    }
    report(py, &found)
}

/// What `card` is told beside its inputs.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Card {
    out: Option<PathBuf>,
    force: bool,
    name: Option<String>,
    license: Option<String>,
    threads: Option<NonZeroUsize>,
}

/// `manaka card`: the text, and its file.
#[pyfunction]
pub fn card(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    options: Card,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let inputs = files(&paths, &[STREAM_SUFFIXES, PARQUET_SUFFIXES, PSV_SUFFIXES].concat())?;
    let Card { out, force, name, license, threads } = options;
    let replace = if force { Replace::Anything } else { Replace::Untouched };
    let page = out.as_deref().map(|path| manaka_inspect::Card::claim(path, replace)).transpose();
    let page = page.map_err(Raise::raise)?;
    let options = CardOptions {
        name,
        license,
        root: out.as_deref().map(CardOptions::root_of),
        ..CardOptions::new(self::threads(threads))
    };
    let found = watch(py, progress, move |progress| manaka_inspect::card(&inputs, &options, progress))?;
    let text = found.to_string();
    if let Some(mut page) = page {
        page.write_all(text.as_bytes())?;
        page.commit()?;
    }
    Ok(text)
}

/// `manaka info`.
#[pyfunction]
pub fn info(py: Python<'_>, paths: Vec<PathBuf>) -> PyResult<Py<PyAny>> {
    let inputs = files(&paths, &[STREAM_SUFFIXES, PARQUET_SUFFIXES, PSV_SUFFIXES].concat())?;
    let infos = py
        .detach(|| inputs.iter().map(|path| manaka_inspect::info(path)).collect::<Result<Vec<_>, _>>())
        .map_err(Raise::raise)?;
    report(py, &infos)
}

/// What `pack` is told beside its inputs and its output.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Pack {
    prefix: String,
    rows_per_shard: Option<NonZeroU64>,
    softmax_temp_cp: Option<f64>,
    exclude: Vec<PathBuf>,
    threads: Option<NonZeroUsize>,
    memory: Option<u64>,
    tmp_dir: Option<PathBuf>,
    buckets: Option<u32>,
    checkpoint: Option<f64>,
    resume: bool,
    force: bool,
}

impl Pack {
    fn options(self) -> PyResult<PackOptions> {
        let defaults = PackOptions::new(self.prefix, threads(self.threads));
        let exclude = match self.exclude.is_empty() {
            true => Vec::new(),
            false => files(&self.exclude, PARQUET_SUFFIXES)?,
        };
        let checkpoint = match self.checkpoint {
            None => defaults.checkpoint,
            Some(seconds) => Duration::try_from_secs_f64(seconds)
                .map_err(|error| usage("option", format!("checkpoint {seconds}: {error}")))?,
        };
        Ok(PackOptions {
            rows_per_shard: self.rows_per_shard.unwrap_or(defaults.rows_per_shard),
            softmax_temp_cp: self.softmax_temp_cp.unwrap_or(defaults.softmax_temp_cp),
            exclude,
            memory: self.memory,
            temp_dir: self.tmp_dir,
            buckets: self.buckets,
            checkpoint,
            resume: self.resume,
            force: self.force,
            ..defaults
        })
    }
}

/// `manaka pack`.
#[pyfunction]
pub fn pack(
    py: Python<'_>,
    streams: Vec<PathBuf>,
    out: PathBuf,
    options: Pack,
    progress: Option<Py<PyAny>>,
) -> PyResult<Py<PyAny>> {
    let inputs = files(&streams, STREAM_SUFFIXES)?;
    let options = options.options()?;
    options.check().map_err(Raise::raise)?;
    manaka_pack::claim(&out, &options).map_err(Raise::raise)?;
    let summary = watch(py, progress, move |progress| manaka_pack::pack(inputs, &out, &options, progress))?;
    report(py, &summary)
}

/// What `teacher` is told beside its inputs and its output.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Teacher {
    mate_scale: Option<u16>,
    mate_slack: u16,
    fv_scale: u16,
    eval_coef: Option<f32>,
    strict: bool,
    keep_off_search: bool,
    records_per_part: Option<NonZeroU64>,
    level: Option<i32>,
    rejects: Option<PathBuf>,
    threads: Option<NonZeroUsize>,
}

impl Teacher {
    fn options(self) -> Options {
        let stated = Conventions::TEACHER;
        let conventions = Conventions {
            mate_scale: self.mate_scale.unwrap_or(stated.mate_scale),
            mate_slack: self.mate_slack,
            fv_scale: self.fv_scale,
            eval_coef: self.eval_coef.unwrap_or(stated.eval_coef),
            ..stated
        };
        Options {
            parts: PartsOptions {
                conventions,
                records_per_part: self.records_per_part.unwrap_or(PartsOptions::DEFAULT_RECORDS_PER_PART),
                compression: self.level.map_or(Compression::None, |level| Compression::Zstd { level }),
            },
            strictness: if self.strict { Strictness::Strict } else { Strictness::Lenient },
            off_search: if self.keep_off_search { OffSearch::Keep } else { OffSearch::Refuse },
            threads: threads(self.threads),
            rejects: self.rejects,
        }
    }
}

/// `manaka teacher`.
#[pyfunction]
pub fn teacher(
    py: Python<'_>,
    corpus: Vec<PathBuf>,
    out: PathBuf,
    options: Teacher,
    progress: Option<Py<PyAny>>,
) -> PyResult<Py<PyAny>> {
    let options = options.options();
    options.check().map_err(Raise::raise)?;
    let inputs = files(&corpus, PARQUET_SUFFIXES)?;
    create_empty(&out).map_err(Raise::raise)?;
    let conventions = options.parts.conventions;
    let done = watch(py, progress, move |progress| convert(&inputs, &out, &options, progress))?;
    report(py, &done.stating(&conventions))
}

/// What `corpus` is told beside its inputs and its output.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Corpus {
    move16: Option<String>,
    candidates: Option<u16>,
    layout: Option<String>,
    mate_scale: Option<u16>,
    mate_slack: u16,
    engine_mate_scale: Option<u16>,
    engine_mate_slack: Option<u16>,
    rows_per_file: Option<NonZeroU64>,
    threads: Option<NonZeroUsize>,
}

impl Corpus {
    fn options(self) -> PyResult<PsvOptions> {
        let option = |error: String| usage("option", error);
        let engine = (
            self.engine_mate_scale.unwrap_or(MateFold::DEFAULT_ENGINE_SCALE),
            self.engine_mate_slack.unwrap_or(MateFold::DEFAULT_ENGINE_SLACK),
        );
        let fold = |scale| {
            MateFold::new(engine, (scale, self.mate_slack)).map_err(|error| option(error.to_string()))
        };
        Ok(PsvOptions {
            moves: self
                .move16
                .map(|text| text.parse().map_err(|error: UnknownMoveLayout| option(error.to_string())))
                .transpose()?,
            candidates: self.candidates,
            layout: self.layout.map(|text| text.parse()).transpose().map_err(option)?.unwrap_or_default(),
            mates: self.mate_scale.map(fold).transpose()?,
            rows_per_file: self.rows_per_file.unwrap_or(PsvOptions::DEFAULT_ROWS_PER_FILE),
            threads: threads(self.threads),
        })
    }
}

/// `manaka corpus`.
#[pyfunction]
pub fn corpus(
    py: Python<'_>,
    raw: Vec<PathBuf>,
    out: PathBuf,
    options: Corpus,
    progress: Option<Py<PyAny>>,
) -> PyResult<Py<PyAny>> {
    let options = options.options()?;
    let inputs = files(&raw, PSV_SUFFIXES)?;
    create_empty(&out).map_err(Raise::raise)?;
    let done = watch(py, progress, move |progress| from_psv(&inputs, &out, &options, progress))?;
    report(py, &done)
}
