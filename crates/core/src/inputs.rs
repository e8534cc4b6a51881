//! Which files a command line names: files, directories and globs, in a defined order, no file twice.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The endings of stream parts.
pub const STREAM_SUFFIXES: &[&str] = &[".mpk", ".mpk.zst"];
/// The ending of shards and of corpus files.
pub const PARQUET_SUFFIXES: &[&str] = &[".parquet"];

/// The endings of raw PSV files.
pub const PSV_SUFFIXES: &[&str] = &[".psv", ".bin"];

/// What the arguments named.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Inputs {
    /// The files to read: arguments in their order, the files of a directory or glob in name order.
    pub files: Vec<PathBuf>,
    /// What directories and globs held besides (a README, an unfinished `.tmp`): left alone, to be named.
    pub ignored: Vec<PathBuf>,
}

/// Why arguments name no usable set of files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// A path does not exist or cannot be looked at.
    #[error("{}: {error}", path.display())]
    Io {
        /// The argument or file.
        path: PathBuf,
        /// What the system said.
        #[source]
        error: io::Error,
    },
    /// A directory without a single file of the wanted kind.
    #[error("{}: no {wanted} file in this directory (it holds {found})", path.display())]
    Nothing {
        /// The directory.
        path: PathBuf,
        /// The endings looked for.
        wanted: String,
        /// What it holds instead.
        found: String,
    },
    /// A glob that matches no file of the wanted kind.
    #[error("{pattern}: the pattern matches no {wanted} file")]
    NoMatch {
        /// The pattern.
        pattern: String,
        /// The endings looked for.
        wanted: String,
    },
    /// A glob that cannot be parsed.
    #[error("{pattern}: bad pattern: {reason}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The same file twice: its records would count twice.
    #[error("{} and {} are the same file: its records would count twice", first.display(), second.display())]
    Twice {
        /// As it was named first.
        first: PathBuf,
        /// As it was named again.
        second: PathBuf,
    },
}

/// Finds the files that `args` name. A file named by itself is taken whatever it is called; in directories (not
/// below them) and globs only names with one of the `suffixes` are.
///
/// # Errors
/// [`InputError`]: something is missing, nothing is there, or a file is named twice.
pub fn resolve(args: &[PathBuf], suffixes: &[&str]) -> Result<Inputs, InputError> {
    let mut inputs = Inputs::default();
    let wanted = || suffixes.join(" or ");
    let fits = |path: &Path| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        suffixes.iter().any(|suffix| name.ends_with(suffix) && name.len() > suffix.len())
    };
    for arg in args {
        let text = arg.to_string_lossy();
        match fs::metadata(arg) {
            Ok(meta) if meta.is_dir() => {
                let io = |error| InputError::Io { path: arg.clone(), error };
                let mut entries = fs::read_dir(arg)
                    .and_then(|dir| {
                        dir.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()
                    })
                    .map_err(io)?;
                entries.sort();
                let (files, ignored): (Vec<_>, Vec<_>) = entries.into_iter().partition(|path| fits(path));
                if files.is_empty() {
                    return Err(InputError::Nothing {
                        path: arg.clone(),
                        wanted: wanted(),
                        found: listing(&ignored),
                    });
                }
                inputs.files.extend(files);
                inputs.ignored.extend(ignored);
            }
            Ok(_) => inputs.files.push(arg.clone()),
            Err(error) if error.kind() == io::ErrorKind::NotFound && text.contains(['*', '?', '[']) => {
                let matches = glob::glob(&text)
                    .map_err(|e| InputError::Pattern { pattern: text.clone().into_owned(), reason: e.msg })?;
                let mut paths = Vec::new();
                for path in matches {
                    paths.push(
                        path.map_err(|e| InputError::Io { path: e.path().to_owned(), error: e.into() })?,
                    );
                }
                paths.sort();
                let (files, ignored): (Vec<_>, Vec<_>) = paths.into_iter().partition(|path| fits(path));
                if files.is_empty() {
                    return Err(InputError::NoMatch { pattern: text.into_owned(), wanted: wanted() });
                }
                inputs.files.extend(files);
                inputs.ignored.extend(ignored);
            }
            Err(error) => return Err(InputError::Io { path: arg.clone(), error }),
        }
    }
    let mut seen: HashMap<PathBuf, &Path> = HashMap::new();
    for path in &inputs.files {
        let real = fs::canonicalize(path).map_err(|error| InputError::Io { path: path.clone(), error })?;
        if let Some(first) = seen.insert(real, path) {
            return Err(InputError::Twice { first: first.to_owned(), second: path.clone() });
        }
    }
    Ok(inputs)
}

/// A few names of what a directory holds.
fn listing(paths: &[PathBuf]) -> String {
    const SHOWN: usize = 5;
    if paths.is_empty() {
        return "nothing".to_owned();
    }
    let mut names: Vec<String> = paths
        .iter()
        .take(SHOWN)
        .filter_map(|path| path.file_name())
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    if paths.len() > SHOWN {
        names.push(format!("{} more", paths.len() - SHOWN));
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dir_of(names: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for name in names {
            fs::write(dir.path().join(name), b"").unwrap();
        }
        dir
    }

    fn names(paths: &[PathBuf]) -> Vec<String> {
        paths.iter().map(|p| p.file_name().unwrap().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_directory_gives_its_parts_in_name_order_and_leaves_the_rest_alone() {
        let dir =
            dir_of(&["part-00001.mpk", "part-00000.mpk.zst", "README.md", "part-00002.mpk.zst.tmp", ".mpk"]);
        for arg in [dir.path().to_owned(), dir.path().join("*")] {
            let inputs = resolve(&[arg], STREAM_SUFFIXES).unwrap();
            assert_eq!(names(&inputs.files), ["part-00000.mpk.zst", "part-00001.mpk"]);
            assert_eq!(names(&inputs.ignored), [".mpk", "README.md", "part-00002.mpk.zst.tmp"]);
        }
    }

    #[test]
    fn arguments_that_name_nothing_or_one_file_twice_are_refused() {
        let dir = dir_of(&["a.mpk", "README.md"]);
        let file = dir.path().join("a.mpk");
        let twice = resolve(&[dir.path().to_owned(), file], STREAM_SUFFIXES).unwrap_err();
        assert!(matches!(twice, InputError::Twice { .. }), "{twice}");
        let nothing = resolve(&[dir.path().to_owned()], PARQUET_SUFFIXES).unwrap_err();
        assert!(nothing.to_string().contains("it holds README.md, a.mpk"), "{nothing}");
        assert!(matches!(
            resolve(&[dir.path().join("*.parquet")], PARQUET_SUFFIXES),
            Err(InputError::NoMatch { .. })
        ));
        assert!(matches!(
            resolve(&[dir.path().join("missing")], STREAM_SUFFIXES),
            Err(InputError::Io { .. })
        ));
    }

    #[test]
    fn a_file_named_by_itself_is_taken_whatever_it_is_called() {
        let dir = dir_of(&["README.md"]);
        let inputs = resolve(&[dir.path().join("README.md")], STREAM_SUFFIXES).unwrap();
        assert_eq!(inputs.files.len(), 1);
    }
}
