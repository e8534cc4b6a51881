//! Where an edit writes to: parts in a directory, each under its name only when it is whole, then the lineage.

use crate::error::{Error, Result};
use crate::lineage::FileFacts;
use crate::source::{Source, hash_of, name_of};
use manaka_core::inputs::STREAM_SUFFIXES;
use manaka_core::stream::{Compression, FileSink, Header, MAX_PARTS, RecordRef, StreamWriter, part_name};
use serde_json::Value;
use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

/// How an edit writes its parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct OutputOptions {
    /// Records in every part but the last; `None` keeps the cutting of the inputs: a part for each file.
    pub records_per_part: Option<NonZeroU64>,
    /// How parts are compressed; `None` as the first input is, [`Compression::DEFAULT`] when it is compressed.
    pub compression: Option<Compression>,
}

impl OutputOptions {
    /// The compression for these inputs.
    pub(crate) fn compression(&self, source: &Source<'_>) -> Compression {
        let same = if source.is_compressed() { Compression::DEFAULT } else { Compression::None };
        self.compression.unwrap_or(same)
    }

    /// As a step states them.
    pub(crate) fn state(&self, compression: Compression, options: &mut BTreeMap<String, Value>) {
        let text = match compression {
            Compression::None => "none".to_owned(),
            Compression::Zstd { level } => format!("zstd {level}"),
        };
        options.insert("compress".to_owned(), text.into());
        options.insert("records_per_part".to_owned(), self.records_per_part.map(NonZeroU64::get).into());
    }
}

/// When a part ends and the next one begins.
enum Cutting {
    /// After so many records.
    Every(NonZeroU64),
    /// Where whoever writes names another part. The names that are known beforehand; others are numbered.
    Named(Vec<String>),
}

/// Writes the parts of an edit.
pub struct Parts {
    dir: PathBuf,
    header: Header,
    compression: Compression,
    cutting: Cutting,
    current: Option<StreamWriter<FileSink>>,
    facts: Vec<FileFacts>,
}

impl Parts {
    /// Parts cut as the options say: into so many records, or as the inputs are.
    ///
    /// Kept parts keep their names where the order of the names is that of the inputs; otherwise they are numbered, so
    /// that the directory is read in the right order.
    pub fn of(dir: &Path, source: &Source<'_>, header: Header, options: &OutputOptions) -> Result<Self> {
        let compression = options.compression(source);
        let cutting = match options.records_per_part {
            Some(records) => Cutting::Every(records),
            None => Cutting::Named(kept_names(source.paths(), compression)),
        };
        Self::create(dir, header, compression, cutting)
    }

    /// Numbered parts that end where [`Parts::write_to`] says; at least `count`, of which the last may be empty.
    pub fn numbered(dir: &Path, header: Header, compression: Compression, count: u64) -> Result<Self> {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        if count > MAX_PARTS {
            return Err(too_many());
        }
        let names = (0..count).map(|number| part_name(number, compression)).collect();
        Self::create(dir, header, compression, Cutting::Named(names))
    }

    /// The first part is created at once: a directory that cannot be written is known before the work begins.
    fn create(dir: &Path, header: Header, compression: Compression, cutting: Cutting) -> Result<Self> {
        let mut parts =
            Self { dir: dir.to_owned(), header, compression, cutting, current: None, facts: Vec::new() };
        parts.current = Some(parts.open()?);
        Ok(parts)
    }

    fn name(&self, number: usize) -> Result<String> {
        if let Cutting::Named(names) = &self.cutting
            && let Some(name) = names.get(number)
        {
            return Ok(name.clone());
        }
        if number >= MAX_PARTS {
            return Err(too_many());
        }
        Ok(part_name(number, self.compression))
    }

    fn open(&self) -> Result<StreamWriter<FileSink>> {
        let path = self.dir.join(self.name(self.facts.len())?);
        let mut writer = StreamWriter::create(&path, self.header.conventions, self.compression)?;
        if self.header.allows_absent_outcomes() {
            writer.allow_absent_outcomes();
        }
        Ok(writer)
    }

    /// Gives the open part its name, and begins the next.
    fn turn(&mut self) -> Result<()> {
        self.close()?;
        self.current = Some(self.open()?);
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        let Some(writer) = self.current.take() else { return Ok(()) };
        let path = self.dir.join(self.name(self.facts.len())?);
        let (summary, _) = writer.finish()?;
        // What lies on disk is what is told of: a header may have been written over since it was first written.
        let (bytes, xxh3_128) = hash_of(&path)?;
        self.facts.push(FileFacts { name: name_of(&path), bytes, records: summary.records, xxh3_128 });
        Ok(())
    }

    /// Appends a record that came from the part `part`, or belongs there.
    pub fn write_to(&mut self, part: usize, record: RecordRef<'_>) -> Result<()> {
        match &self.cutting {
            Cutting::Every(most) => {
                let most = most.get();
                if self.current.as_ref().is_some_and(|writer| writer.summary().records >= most) {
                    self.turn()?;
                }
            }
            Cutting::Named(_) => {
                while self.facts.len() < part {
                    self.turn()?;
                }
            }
        }
        match &mut self.current {
            Some(writer) => Ok(writer.write_ref(record)?),
            None => Err(Error::Poisoned { dir: self.dir.clone() }),
        }
    }

    /// Finishes the last part, and those kept ones that nothing is left of: they hold only their header.
    pub fn finish(mut self) -> Result<Vec<FileFacts>> {
        self.close()?;
        if let Cutting::Named(names) = &self.cutting {
            let kept = names.len();
            while self.facts.len() < kept {
                self.current = Some(self.open()?);
                self.close()?;
            }
        }
        Ok(self.facts)
    }
}

fn too_many() -> Error {
    Error::Usage(format!("a directory holds at most {MAX_PARTS} parts: make them larger"))
}

/// The names of kept parts, with the ending of how they are written.
fn kept_names(paths: &[PathBuf], compression: Compression) -> Vec<String> {
    let renamed = |path: &PathBuf| {
        let name = name_of(path);
        // The longer ending is looked for first: `.mpk.zst` does not end in `.mpk`, so either order finds the right one.
        let stem = STREAM_SUFFIXES.iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(&name);
        format!("{stem}{}", compression.suffix())
    };
    let names: Vec<_> = paths.iter().map(renamed).collect();
    if names.is_sorted_by(|a, b| a < b) {
        return names;
    }
    (0..paths.len()).map(|number| part_name(number, compression)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_parts_keep_their_names_only_where_those_are_in_order() {
        let names = |paths: &[&str], compression| {
            let paths: Vec<_> = paths.iter().map(PathBuf::from).collect();
            kept_names(&paths, compression)
        };
        assert_eq!(names(&["d/a.mpk", "b.mpk.zst", "c"], Compression::None), ["a.mpk", "b.mpk", "c.mpk"]);
        let numbered = ["part-00000.mpk.zst", "part-00001.mpk.zst"];
        assert_eq!(names(&["b.mpk", "a.mpk"], Compression::DEFAULT), numbered);
        assert_eq!(names(&["x/a.mpk", "y/a.mpk.zst"], Compression::DEFAULT), numbered);
    }
}
