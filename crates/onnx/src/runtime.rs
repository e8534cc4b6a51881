//! The shared library of ONNX Runtime: found, loaded once.

use crate::error::{Error, Result};
use ort::environment::Environment;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// A loaded library of ONNX Runtime. A process has one; what is opened again is the same.
#[derive(Clone, Debug)]
pub struct Runtime {
    path: PathBuf,
    environment: Environment,
}

/// What names a library where nobody does.
const VARIABLE: &str = "ORT_DYLIB_PATH";

/// Says where the package `onnxruntime` lies, without importing it and without looking into the working directory.
const ASK: &str = "import sys; sys.path = [p for p in sys.path if p]
from importlib.util import find_spec
spec = find_spec('onnxruntime')
print(*(spec.submodule_search_locations or [] if spec else []), sep='\\n')";

/// The one that is loaded. It is never let go of: the library does not survive being closed while the process ends.
static LOADED: Mutex<Option<Runtime>> = Mutex::new(None);

impl Runtime {
    /// Loads the library: this file; else the one that the variable `ORT_DYLIB_PATH` names; else that of the Python
    /// package `onnxruntime` as `python3` of `VIRTUAL_ENV` or on the `PATH` has it. A directory stands for the library
    /// that lies in it.
    ///
    /// # Errors
    /// [`Error::NoLibrary`], [`Error::Library`], or [`Error::OtherLibrary`].
    pub fn open(library: Option<&Path>) -> Result<Self> {
        let named = library.map(Path::to_owned);
        let named =
            named.or_else(|| std::env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(Into::into));
        let path = match named {
            Some(path) => path,
            None => of_python()?,
        };
        let unusable = |path: &Path, reason: String| Error::Library { path: path.to_owned(), reason };
        // Made absolute, for `ort` looks for relative paths beside the program first.
        let mut path = path.canonicalize().map_err(|error| unusable(&path, error.to_string()))?;
        if path.is_dir() {
            path = library_in(&path)
                .ok_or_else(|| unusable(&path, "there is none in this directory".to_owned()))?;
        }
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(runtime) = &*loaded {
            return if runtime.path == path {
                Ok(runtime.clone())
            } else {
                Err(Error::OtherLibrary { path, loaded: runtime.path.clone() })
            };
        }
        let builder = ort::init_from(&path).map_err(|error| unusable(&path, error.to_string()))?;
        let environment = builder
            .with_name("manaka")
            .with_telemetry(false)
            .build()
            .map_err(|error| unusable(&path, error.to_string()))?;
        let runtime = Self { path, environment };
        *loaded = Some(runtime.clone());
        Ok(runtime)
    }

    /// Where it lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) const fn environment(&self) -> &Environment {
        &self.environment
    }
}

/// The library of the Python package.
fn of_python() -> Result<PathBuf> {
    let environment = std::env::var_os("VIRTUAL_ENV").map(|root| Path::new(&root).join("bin/python3"));
    let mut asked = Vec::new();
    for python in environment.into_iter().chain([PathBuf::from("python3")]) {
        let answer =
            Command::new(&python).args(["-c", ASK]).stdin(Stdio::null()).stderr(Stdio::null()).output();
        let answer = answer.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        let packages = answer.unwrap_or_default();
        if let Some(path) = packages.lines().find_map(|package| library_in(&Path::new(package).join("capi")))
        {
            return Ok(path);
        }
        asked.push(python.display().to_string());
    }
    let asked = format!("and the package onnxruntime is not to be had from {}", asked.join(" or "));
    Err(Error::NoLibrary { asked })
}

/// The library in a directory. Wheels have its version in its name, and no link without it.
fn library_in(directory: &Path) -> Option<PathBuf> {
    let names = directory.read_dir().ok()?.flatten().map(|entry| entry.file_name());
    let mut names: Vec<_> = names.filter(|name| name.to_str().is_some_and(is_library)).collect();
    names.sort_unstable();
    names.pop().map(|name| directory.join(name))
}

fn is_library(name: &str) -> bool {
    let unix = name.strip_prefix("libonnxruntime.");
    let unix = unix.is_some_and(|rest| {
        rest == "so" || rest.starts_with("so.") || rest == "dylib" || rest.ends_with(".dylib")
    });
    unix || name == "onnxruntime.dll"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_is_known_by_its_name_with_or_without_a_version() {
        for name in [
            "libonnxruntime.so",
            "libonnxruntime.so.1.32.0",
            "libonnxruntime.1.32.0.dylib",
            "onnxruntime.dll",
        ] {
            assert!(is_library(name), "{name}");
        }
        for name in ["libonnxruntime_providers_shared.so", "libonnxruntime.a", "onnxruntime.py", "so.1"] {
            assert!(!is_library(name), "{name}");
        }
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(library_in(dir.path()), None);
        assert_eq!(library_in(&dir.path().join("nowhere")), None);
        for name in
            ["libonnxruntime.so.1.22.0", "libonnxruntime.so.1.32.0", "libonnxruntime_providers_shared.so"]
        {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        assert_eq!(library_in(dir.path()), Some(dir.path().join("libonnxruntime.so.1.32.0")));
    }

    #[test]
    fn what_is_no_library_is_an_error_with_its_path_and_never_a_panic() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("text.so");
        std::fs::write(&file, "no library").unwrap();
        for (path, word) in [
            (dir.path().join("missing.so"), "No such file"),
            (file, "text.so"),
            (dir.path().to_owned(), "in this directory"),
        ] {
            let error = Runtime::open(Some(&path)).unwrap_err();
            assert!(error.is_library(), "{error}");
            assert!(
                error.to_string().contains(&path.canonicalize().unwrap_or(path).display().to_string()),
                "{error}"
            );
            assert!(error.to_string().contains(word), "{error}");
        }
    }
}
