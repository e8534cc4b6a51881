//! Errors of the crates below as exceptions: of `manaka.errors` with kind and place, `OSError` where the system failed.

use manaka_core::inputs::InputError;
use manaka_core::out_dir::OutDirError;
use manaka_core::sfen::SfenError;
use manaka_core::{Faults, stream};
use manaka_corpus::FromPsvError;
use manaka_corpus::write::WriteError;
use manaka_load::CursorError;
use manaka_load::features::PositionFault;
use manaka_shogi::{IllegalMove, Unplayable};
use pyo3::exceptions::{PyFileNotFoundError, PyKeyboardInterrupt, PyOSError};
use pyo3::{PyErr, import_exception};
use std::error::Error as Cause;
use std::io;
use std::path::Path;

import_exception!(manaka.errors, Error);
import_exception!(manaka.errors, FormatError);
import_exception!(manaka.errors, ConventionMismatch);
import_exception!(manaka.errors, PositionError);
import_exception!(manaka.errors, IllegalMoveError);
import_exception!(manaka.errors, UsageError);

/// An error that Python hears of.
pub trait Raise {
    /// The exception.
    fn raise(self) -> PyErr;
}

/// What was asked for makes no sense; `kind` is its stable name.
pub fn usage(kind: &'static str, message: impl Into<String>) -> PyErr {
    UsageError::new_err((message.into(), kind))
}

/// A path as exceptions hold it; names that are no UTF-8 lose the bytes that are none.
fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// A file is not what it should be, at no record that could be named.
fn malformed(message: String, kind: &'static str, path: &Path) -> PyErr {
    FormatError::new_err((message, kind, text(path)))
}

/// The system failed. With its error number Python picks the subclass; without one the kind does.
fn system(error: &io::Error, path: Option<&Path>) -> PyErr {
    match (error.raw_os_error(), path) {
        (Some(code), Some(path)) => {
            let message = io::Error::from_raw_os_error(code).to_string();
            // Rust puts the number behind the message; `OSError` has it in front.
            let message = message.split(" (os error").next().unwrap_or_default().to_owned();
            PyOSError::new_err((code, message, text(path)))
        }
        (_, None) => io::Error::new(error.kind(), error.to_string()).into(),
        (None, Some(path)) => {
            let message = error.to_string();
            let named = if message.contains(&text(path)) {
                message
            } else {
                format!("{}: {message}", path.display())
            };
            io::Error::new(error.kind(), named).into()
        }
    }
}

/// The system's error behind an error. Damaged data comes as `io::Error` as well, through codecs, without a number.
fn system_behind(error: &(dyn Cause + 'static), path: &Path) -> Option<PyErr> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(code) = error.downcast_ref::<io::Error>().and_then(io::Error::raw_os_error) {
            return Some(system(&io::Error::from_raw_os_error(code), Some(path)));
        }
        cause = error.source();
    }
    None
}

fn interrupted() -> PyErr {
    PyKeyboardInterrupt::new_err("stopped before the end")
}

fn worker(message: String) -> PyErr {
    Error::new_err((message, "worker"))
}

impl Raise for &stream::Error {
    fn raise(self) -> PyErr {
        let message = self.to_string();
        let (kind, path) = (self.kind.id(), self.path.as_deref().map(text));
        match &self.kind {
            stream::Kind::Io(error) => system(error, self.path.as_deref()),
            stream::Kind::Conflict(of) => {
                let values = (of.conflict.key, of.conflict.first.clone(), of.conflict.second.clone());
                ConventionMismatch::new_err((
                    message,
                    kind,
                    path,
                    self.record,
                    self.offset,
                    values,
                    text(&of.other),
                ))
            }
            stream::Kind::Unsupported(_) | stream::Kind::Poisoned => {
                UsageError::new_err((message, kind, path, self.record, self.offset))
            }
            _ => FormatError::new_err((message, kind, path, self.record, self.offset)),
        }
    }
}

impl Raise for stream::Error {
    fn raise(self) -> PyErr {
        (&self).raise()
    }
}

impl Raise for &InputError {
    fn raise(self) -> PyErr {
        match self {
            InputError::Io { path, error } => system(error, Some(path)),
            InputError::Nothing { .. } | InputError::NoMatch { .. } => {
                PyFileNotFoundError::new_err(self.to_string())
            }
            InputError::Twice { .. } => usage("twice", self.to_string()),
            _ => usage("pattern", self.to_string()),
        }
    }
}

impl Raise for InputError {
    fn raise(self) -> PyErr {
        (&self).raise()
    }
}

impl Raise for &OutDirError {
    fn raise(self) -> PyErr {
        match self {
            OutDirError::Io { path, error } => system(error, Some(path)),
            _ => usage("not_empty", self.to_string()),
        }
    }
}

impl Raise for OutDirError {
    fn raise(self) -> PyErr {
        (&self).raise()
    }
}

fn unsound(message: String, faults: Faults) -> PyErr {
    let faults: Vec<&str> = faults.iter().map(|fault| fault.id()).collect();
    PositionError::new_err((message, "unsound", None::<&str>, None::<u64>, None::<u64>, faults))
}

impl Raise for SfenError {
    fn raise(self) -> PyErr {
        let message = self.to_string();
        match self {
            Self::Malformed { at, .. } => {
                PositionError::new_err((message, "malformed_sfen", None::<&str>, None::<u64>, at))
            }
            Self::Faults(faults) => unsound(message, faults),
        }
    }
}

impl Raise for Unplayable {
    fn raise(self) -> PyErr {
        let message = self.to_string();
        match self {
            Self::Faults(faults) => unsound(message, faults),
            _ => PositionError::new_err((message, "unplayable")),
        }
    }
}

impl Raise for IllegalMove {
    fn raise(self) -> PyErr {
        IllegalMoveError::new_err((self.to_string(), "illegal_move"))
    }
}

impl Raise for &manaka_pack::Error {
    fn raise(self) -> PyErr {
        use manaka_pack::Error as E;
        let message = self.to_string();
        match self {
            E::Stream(error) => error.raise(),
            E::OutDir(error) => error.raise(),
            E::Io { path, error } => system(error, Some(path)),
            E::Parquet { path, error } => {
                system_behind(error, path).unwrap_or_else(|| malformed(message, "parquet", path))
            }
            E::NotAShard { path, .. } => malformed(message, "not_a_shard", path),
            E::Damaged { path, offset } => {
                FormatError::new_err((message, "damaged", text(path), None::<u64>, *offset))
            }
            E::Option(_) => usage("option", message),
            E::Leftover { path, .. } => UsageError::new_err((message, "leftover", text(path))),
            E::DoesNotFit(_) => usage("does_not_fit", message),
            E::Interrupted => interrupted(),
            E::Weight(_) => Error::new_err((message, "weight")),
            E::Spool(_) => Error::new_err((message, "spool")),
            _ => worker(message),
        }
    }
}

impl Raise for manaka_pack::Error {
    fn raise(self) -> PyErr {
        (&self).raise()
    }
}

impl Raise for manaka_load::Error {
    fn raise(self) -> PyErr {
        use manaka_load::Error as E;
        let message = self.to_string();
        match self {
            E::Inputs(error) => (&*error).raise(),
            E::Shard(error) => (&*error).raise(),
            E::Conflict { first, second, conflict } => {
                let values = (conflict.key, conflict.second, conflict.first);
                ConventionMismatch::new_err((
                    message,
                    "conflict",
                    text(&second),
                    None::<u64>,
                    None::<u64>,
                    values,
                    text(&first),
                ))
            }
            E::RowCount { path, .. } => malformed(message, "row_count", &path),
            E::NoRows { first, .. } => malformed(message, "no_rows", &first),
            E::Row { path, row, fault } => FormatError::new_err((message, fault.id(), text(&path), row)),
            E::Option(_) => usage("option", message),
            E::Cursor(error) => error.raise(),
            E::Poisoned => usage("poisoned", message),
            E::ShortRead { .. } => Error::new_err((message, "short_read")),
            _ => worker(message),
        }
    }
}

impl Raise for CursorError {
    fn raise(self) -> PyErr {
        usage("cursor", self.to_string())
    }
}

/// Bytes that no features can be made of.
impl Raise for PositionFault {
    fn raise(self) -> PyErr {
        PositionError::new_err((self.to_string(), "no_features"))
    }
}

impl Raise for manaka_inspect::Error {
    fn raise(self) -> PyErr {
        use manaka_inspect::Error as E;
        match self {
            E::Io { path, error } => system(&error, Some(&path)),
            E::Stream(error) => error.raise(),
            E::Shard(error) => error.raise(),
            E::Corpus(error) => error.raise(),
            E::Psv(error) => error.raise(),
            E::NotParquet { ref path, .. } => malformed(self.to_string(), "parquet", path),
            E::Mixed { .. } => usage("mixed", self.to_string()),
            E::NoFiles => usage("no_files", self.to_string()),
            E::Theirs { .. } => usage("not_a_card", self.to_string()),
            E::Manifest { path, what } => malformed(format!("{}: {what}", path.display()), "manifest", &path),
            E::Lineage(error) => FormatError::new_err((error.to_string(), "lineage")),
            E::Interrupted => interrupted(),
            E::Range { .. } => usage("range", self.to_string()),
            _ => worker(self.to_string()),
        }
    }
}

impl Raise for manaka_corpus::Error {
    fn raise(self) -> PyErr {
        use manaka_corpus::Error as E;
        let message = self.to_string();
        match self {
            E::Io { path, error } => system(&error, Some(&path)),
            E::MissingColumns { path, .. } => malformed(message, "missing_columns", &path),
            E::ColumnType { path, .. } => malformed(message, "column_type", &path),
            E::Codec { path, .. } => malformed(message, "codec", &path),
            E::Damaged { path, .. } => malformed(message, "parquet", &path),
            _ => worker(message),
        }
    }
}

impl Raise for manaka_teacher::Error {
    fn raise(self) -> PyErr {
        use manaka_teacher::Error as E;
        if self.is_usage() {
            return usage("conventions", self.to_string());
        }
        match self {
            E::Corpus(error) => error.raise(),
            E::Stream(error) => error.raise(),
            E::OutDir { path, error } => system(&error, Some(&path)),
            E::Rejects(error) => system(&error, None),
            E::Cancelled => interrupted(),
            _ => worker(self.to_string()),
        }
    }
}

impl Raise for FromPsvError {
    fn raise(self) -> PyErr {
        let message = self.to_string();
        match self {
            Self::Io { path, error } => system(&error, Some(&path)),
            Self::NoRecords => FormatError::new_err((message, "no_records")),
            Self::NotPsv { path, .. } => malformed(message, "not_psv", &path),
            Self::WrongLength { path, .. } => malformed(message, "record_length", &path),
            Self::WrongMoves { path, .. } => malformed(message, "move_layout", &path),
            Self::Moves(_) | Self::MovesDiffer { .. } => FormatError::new_err((message, "move_layout")),
            Self::Cancelled => interrupted(),
            Self::TooManyFiles { .. } => usage("too_many_files", message),
            Self::Write(WriteError::Io { path, error }) => system(&error, Some(&path)),
            _ => worker(message),
        }
    }
}
