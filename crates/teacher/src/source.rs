//! The rows of all inputs in their order, one batch after the other.

use manaka_corpus::{Batches, CorpusFile, Rows};

/// Hands out batches; behind a lock, so that a batch and its number belong together.
pub(crate) struct Source<'f> {
    files: &'f [CorpusFile],
    file: usize,
    row_group: usize,
    batches: Option<Batches>,
    sequence: u64,
    ended: bool,
}

/// Which batch was handed out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// Its number among all batches, from 0 without gaps.
    pub sequence: u64,
    /// Index of its file.
    pub file: usize,
}

impl<'f> Source<'f> {
    pub(crate) const fn new(files: &'f [CorpusFile]) -> Self {
        Self { files, file: 0, row_group: 0, batches: None, sequence: 0, ended: false }
    }

    /// The next batch into `rows`; `None` at the end and after an error. An error takes the place of its batch.
    pub(crate) fn next(&mut self, rows: &mut Rows) -> Option<(Place, manaka_corpus::Result<()>)> {
        let found = self.advance(rows);
        self.ended = !matches!(found, Ok(true));
        let result = match found {
            Ok(false) => return None,
            Ok(true) => Ok(()),
            Err(error) => Err(error),
        };
        let place = Place { sequence: self.sequence, file: self.file };
        self.sequence += 1;
        Some((place, result))
    }

    fn advance(&mut self, rows: &mut Rows) -> manaka_corpus::Result<bool> {
        while !self.ended {
            let Some(file) = self.files.get(self.file) else { return Ok(false) };
            if let Some(batches) = &mut self.batches {
                if batches.read(rows)? {
                    return Ok(true);
                }
                self.batches = None;
                self.row_group += 1;
            } else if self.row_group < file.row_groups() {
                self.batches = Some(file.batches(self.row_group)?);
            } else {
                self.file += 1;
                self.row_group = 0;
            }
        }
        Ok(false)
    }
}
