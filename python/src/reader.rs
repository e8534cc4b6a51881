//! Reading streams in batches of numpy arrays.

use crate::errors::{Raise, usage};
use crate::header::Header;
use crate::rows::Source;
use manaka_core::inputs::{STREAM_SUFFIXES, resolve};
use manaka_core::stream::{self, StreamReader, StreamSet};
use numpy::PyArray1;
use pyo3::prelude::*;
use std::path::PathBuf;

/// Three arrays: fixed parts (bytes), offsets into the candidates, candidates (bytes).
type Arrays<'py> = (Bound<'py, PyArray1<u8>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<u8>>);

/// The stream files that `paths` (files, directories, globs) name, in reading order.
#[pyfunction]
pub fn stream_files(paths: Vec<PathBuf>) -> PyResult<Vec<PathBuf>> {
    Ok(resolve(&paths, STREAM_SUFFIXES).map_err(Raise::raise)?.files)
}

/// One pass over stream files, from the first record to the last.
#[pyclass(module = "manaka._manaka")]
pub struct Reader {
    source: Source,
    header: Py<Header>,
    /// Where the file is read is shared between a process and its forks.
    process: u32,
}

#[pymethods]
impl Reader {
    /// Opens every file and refuses conventions that may not be read together.
    #[new]
    fn new(py: Python<'_>, files: Vec<PathBuf>) -> PyResult<Self> {
        let (set, header) = py
            .detach(|| -> stream::Result<_> {
                let set = StreamSet::open(files)?;
                let header = match set.paths() {
                    [first, ..] => *StreamReader::open(first)?.header(),
                    [] => stream::Header::new(*set.conventions()),
                };
                Ok((set, header))
            })
            .map_err(Raise::raise)?;
        let header = Py::new(py, Header { header })?;
        Ok(Self { source: Source::new(set), header, process: std::process::id() })
    }

    /// What the files state; the version is that of the first.
    #[getter]
    fn header(&self, py: Python<'_>) -> Py<Header> {
        self.header.clone_ref(py)
    }

    /// The next records, at most `count`; None at the end. An error comes behind the records in front of it.
    fn read<'py>(&mut self, py: Python<'py>, count: usize) -> PyResult<Option<Arrays<'py>>> {
        if self.process != std::process::id() {
            let message = "these batches were begun in another process; begin them again in this one";
            return Err(usage("forked", message));
        }
        let source = &mut self.source;
        let rows = py.detach(|| source.read(count)).map_err(Raise::raise)?;
        if rows.is_empty() {
            return Ok(None);
        }
        Ok(Some((
            PyArray1::from_vec(py, rows.heads),
            PyArray1::from_vec(py, rows.offsets),
            PyArray1::from_vec(py, rows.candidates),
        )))
    }
}
