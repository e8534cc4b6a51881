//! The file a card is written to: nobody's work is replaced by it.

use super::Card;
use crate::error::{Error, Result};
use manaka_core::whole_file::{Existing, WholeFile};
use std::fs;
use std::io;
use std::path::Path;

/// What may be replaced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Replace {
    /// A card as it was written, which can be made again.
    Untouched,
    /// Whatever has the name.
    Anything,
}

impl Card {
    /// Opens the file a card is to be written to. Do it before the long work.
    ///
    /// # Errors
    /// [`Error::Theirs`] for a file that is no card, or one that was changed by hand, unless anything may be replaced;
    /// [`Error::Io`].
    pub fn claim(path: &Path, replace: Replace) -> Result<WholeFile> {
        if replace == Replace::Untouched {
            match fs::read(path) {
                Ok(text) if Self::is_untouched(&text) => {}
                Ok(_) => return Err(Error::Theirs { path: path.to_owned() }),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(Error::io(path)(error)),
            }
        }
        WholeFile::create(path, Existing::Replace).map_err(Error::io(path))
    }
}
