//! A stream that is looked at record by record, with a memory of the last ones.

use crate::error::{Error, Result};
use manaka_core::stream::{Kind, StreamReader};
use std::collections::VecDeque;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Records that are remembered: stepping back to them reads nothing.
const MEMORY: usize = 4096;
/// Bytes of them, for records may be long.
const MEMORY_BYTES: usize = 8 << 20;

/// A record that was read.
pub struct Kept {
    number: u64,
    offset: u64,
    /// Its bytes; empty where it broke a rule.
    bytes: Vec<u8>,
    fault: Option<(&'static str, String)>,
}

impl Kept {
    pub const fn number(&self) -> u64 {
        self.number
    }

    pub const fn offset(&self) -> u64 {
        self.offset
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The rule it broke, and how.
    pub const fn fault(&self) -> Option<&(&'static str, String)> {
        self.fault.as_ref()
    }
}

/// A place in a stream.
pub struct Trace {
    path: PathBuf,
    reader: Option<StreamReader<File>>,
    /// Records that stand one behind the other, the last one before the reader's place.
    recent: VecDeque<Kept>,
    bytes: usize,
}

impl Trace {
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), reader: None, recent: VecDeque::new(), bytes: 0 }
    }

    /// A record by its number; `None` behind the last one.
    ///
    /// # Errors
    /// What the stream ends with instead of its end.
    pub fn fetch(&mut self, number: u64) -> Result<Option<&Kept>> {
        let remembered = |recent: &VecDeque<Kept>| {
            let first = recent.front()?.number;
            usize::try_from(number.checked_sub(first)?).ok().filter(|&at| at < recent.len())
        };
        if remembered(&self.recent).is_none() {
            // Behind the memory there is only the beginning.
            if self.reader.as_ref().is_none_or(|reader| reader.position() > number) {
                (self.reader, self.bytes) = (None, 0);
                self.recent.clear();
            }
            while self.recent.back().is_none_or(|last| last.number < number) {
                if !self.read()? {
                    return Ok(None);
                }
            }
        }
        Ok(remembered(&self.recent).and_then(|at| self.recent.get(at)))
    }

    /// Records in the stream, as far as it is whole.
    pub fn count(&mut self) -> Result<u64> {
        loop {
            match self.read() {
                Ok(true) => {}
                Err(error @ Error::Io { .. }) => return Err(error),
                Ok(false) | Err(_) => return Ok(self.reader.as_ref().map_or(0, StreamReader::position)),
            }
        }
    }

    /// Reads the next record; `false` at the end.
    fn read(&mut self) -> Result<bool> {
        let path = &self.path;
        let reader = match &mut self.reader {
            Some(reader) => reader,
            none => none.insert(StreamReader::open(path).map_err(|error| Error::stream(path, error))?),
        };
        let mut bytes = Vec::new();
        // A full memory gives its oldest record's room to the newest.
        while self.recent.len() >= MEMORY || (self.bytes >= MEMORY_BYTES && self.recent.len() > 2) {
            if let Some(oldest) = self.recent.pop_front() {
                self.bytes -= oldest.bytes.len();
                bytes = oldest.bytes;
            }
        }
        bytes.clear();
        let (number, offset) = (reader.position(), reader.offset());
        let fault = match reader.next_ref() {
            Ok(Some(record)) => {
                bytes.extend_from_slice(record.bytes());
                None
            }
            Ok(None) => return Ok(false),
            Err(error) => match error.kind {
                Kind::Record(fault) => Some((fault.id(), fault.to_string())),
                _ => return Err(Error::stream(path, error)),
            },
        };
        self.bytes += bytes.len();
        self.recent.push_back(Kept { number, offset, bytes, fault });
        Ok(true)
    }
}
