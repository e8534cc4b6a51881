//! Output directories: new or empty, so that what a run writes never mixes with what was there.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Why a directory cannot take the output of a run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutDirError {
    /// Something is in it.
    #[error(
        "{}: the output directory is not empty (it holds {found}); nothing was written",
        path.display()
    )]
    NotEmpty {
        /// The directory.
        path: PathBuf,
        /// The name of something in it.
        found: String,
    },
    /// It cannot be made or looked into.
    #[error("{}: {error}", path.display())]
    Io {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        #[source]
        error: io::Error,
    },
}

/// Creates the directory, or makes sure that the one that is there is empty.
///
/// # Errors
/// [`OutDirError`]; nothing was changed then.
pub fn create_empty(path: &Path) -> Result<(), OutDirError> {
    let failed = |error| OutDirError::Io { path: path.to_owned(), error };
    match fs::read_dir(path) {
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(entry) => {
                let name = entry.map(|entry| entry.file_name().to_string_lossy().into_owned());
                let found = name.unwrap_or_else(|_| "something".to_owned());
                Err(OutDirError::NotEmpty { path: path.to_owned(), found })
            }
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => fs::create_dir_all(path).map_err(failed),
        Err(error) => Err(failed(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_directory_is_made_and_one_with_something_in_it_refused() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("a/b");
        create_empty(&out).unwrap();
        create_empty(&out).unwrap();
        fs::write(out.join("x"), b"").unwrap();
        let refused = create_empty(&out).unwrap_err();
        assert!(matches!(&refused, OutDirError::NotEmpty { found, .. } if found == "x"), "{refused}");
        assert!(matches!(create_empty(&out.join("x")), Err(OutDirError::Io { .. })));
    }
}
