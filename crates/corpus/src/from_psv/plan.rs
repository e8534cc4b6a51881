//! The inputs as one sequence of records, and how it is cut into files and row groups.

use super::error::FromPsvError;
use super::report::TornTail;
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// An input and its whole records.
#[derive(Debug)]
pub(super) struct Input {
    pub path: PathBuf,
    pub records: u64,
    /// Bytes behind the last whole record.
    pub torn: u64,
}

impl Input {
    pub(super) fn torn_tail(&self, record_len: u64) -> Option<TornTail> {
        (self.torn > 0).then(|| TornTail {
            path: self.path.clone(),
            record: self.records,
            offset: self.records * record_len,
            bytes: self.torn,
        })
    }
}

/// Where each row group of each file begins and ends, in records of all inputs. The cuts depend on nothing but the
/// number of records and the two sizes: not on threads, nor on which records are refused.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    pub records: u64,
    pub per_file: u64,
    pub per_group: u64,
}

impl Cut {
    /// The row group that begins at record `at`, and whether it begins a file; `None` at the end.
    pub(super) fn group(self, at: u64) -> Option<(Range<u64>, bool)> {
        let in_file = at % self.per_file;
        let end = self.per_group.min(self.per_file - in_file).min(self.records.checked_sub(at)?);
        (end > 0).then_some((at..at + end, in_file == 0))
    }

    pub(super) const fn files(self) -> u64 {
        self.records.div_ceil(self.per_file)
    }
}

/// A run of records of one input within a [`Block`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    /// Which input.
    pub input: usize,
    /// Its first record.
    pub record: u64,
    /// How many.
    pub records: u64,
}

/// The raw records of one row group, which may come from several inputs.
#[derive(Debug)]
pub(super) struct Block {
    pub bytes: Vec<u8>,
    pub spans: Vec<Span>,
}

/// Reads the inputs from the first record to the last.
pub(super) struct Sequence<'a> {
    inputs: &'a [Input],
    record_len: u64,
    /// The input that is read, and its next record.
    input: usize,
    record: u64,
    file: Option<File>,
}

impl<'a> Sequence<'a> {
    pub(super) const fn new(inputs: &'a [Input], record_len: u64) -> Self {
        Self { inputs, record_len, input: 0, record: 0, file: None }
    }

    /// The next `records` records, of which there are as many. `bytes` is memory, whatever it holds.
    pub(super) fn next_block(&mut self, mut records: u64, bytes: Vec<u8>) -> Result<Block, FromPsvError> {
        let mut block = Block { bytes, spans: Vec::new() };
        block.bytes.resize(bytes_of(records, self.record_len), 0);
        let mut start = 0;
        while records > 0 {
            let Some(input) = self.inputs.get(self.input) else { break };
            let take = records.min(input.records - self.record);
            if take > 0 {
                let io = |error| FromPsvError::Io { path: input.path.clone(), error };
                let file = match &mut self.file {
                    Some(file) => file,
                    none => none.insert(File::open(&input.path).map_err(io)?),
                };
                let end = start + bytes_of(take, self.record_len);
                // A file that has become shorter since it was looked at ends here, and is no end of the inputs.
                file.read_exact(&mut block.bytes[start..end]).map_err(io)?;
                start = end;
                block.spans.push(Span { input: self.input, record: self.record, records: take });
                self.record += take;
                records -= take;
            }
            if self.record == input.records {
                (self.input, self.record, self.file) = (self.input + 1, 0, None);
            }
        }
        block.bytes.truncate(start);
        Ok(block)
    }
}

/// Row groups are small enough for their bytes to be counted in memory.
fn bytes_of(records: u64, record_len: u64) -> usize {
    usize::try_from(records * record_len).unwrap_or(usize::MAX)
}

/// The name of an output.
pub(super) fn part(out: &Path, number: u64) -> PathBuf {
    out.join(format!("part-{number:05}.parquet"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cuts(records: u64, per_file: u64, per_group: u64) -> Vec<(u64, u64, bool)> {
        let cut = Cut { records, per_file, per_group };
        let (mut at, mut cuts) = (0, Vec::new());
        while let Some((range, begins)) = cut.group(at) {
            cuts.push((range.start, range.end, begins));
            at = range.end;
        }
        cuts
    }

    #[test]
    fn files_and_groups_are_cut_by_record_numbers_alone() {
        assert_eq!(cuts(0, 10, 4), []);
        assert_eq!(cuts(3, 10, 4), [(0, 3, true)]);
        assert_eq!(cuts(13, 10, 4), [(0, 4, true), (4, 8, false), (8, 10, false), (10, 13, true)]);
        assert_eq!(cuts(5, 2, 4), [(0, 2, true), (2, 4, true), (4, 5, true)]);
        assert_eq!(Cut { records: 13, per_file: 10, per_group: 4 }.files(), 2);
        assert_eq!(Cut { records: 0, per_file: 10, per_group: 4 }.files(), 0);
    }
}
