//! `LINEAGE.json`: what was done to data, step by step, with hashes and counts (lineage.md).

use crate::error::{Error, Result};
use manaka_core::Conventions;
use manaka_core::whole_file::{Existing, WholeFile};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The name of the file; it lies beside the data that the last of its steps wrote.
pub const LINEAGE_FILE: &str = "LINEAGE.json";
/// What its `format` says (lineage.md §2).
pub const FORMAT: &str = "manaka-lineage";
/// The version written, and the only one read.
pub const VERSION: u32 = 1;
/// A longer file is no lineage; nothing that long is read.
const MAX_LEN: u64 = 64 << 20;

/// The steps that led to a set of data, the oldest first (lineage.md §2).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lineage {
    format: String,
    version: u32,
    /// The steps; no two are equal.
    pub steps: Vec<Step>,
}

/// One run of one verb (lineage.md §3).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// What ran, as it is typed behind `manaka`: `cut`, `edit rotate`.
    pub verb: String,
    /// The program and its version, `manaka 0.1.0`.
    pub tool: String,
    /// Every option that reaches the output, by its long name with `_` for `-`; defaults are written out.
    pub options: BTreeMap<String, Value>,
    /// The conventions that the outputs' headers state.
    pub conventions: StatedConventions,
    /// The files read, in the order in which they were read.
    pub inputs: Vec<FileFacts>,
    /// The files written, in their order.
    pub outputs: Vec<FileFacts>,
    /// Records in and out.
    pub records: InOut,
    /// Games in and out; absent where the step did not look for games.
    pub games: Option<InOut>,
    /// What is not in the outputs although it was sound, by reason.
    pub dropped: BTreeMap<String, Count>,
    /// What is in the outputs with other values, by what was changed.
    pub changed: BTreeMap<String, Count>,
    /// What could not be taken because it was at fault, by the name of the fault (stream.md §6).
    pub refused: BTreeMap<String, Count>,
}

/// A file as it lay on disk (lineage.md §4).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileFacts {
    /// Its name, without the directories it lies in; of an output that lies below the output directory, its path from
    /// there with `/`.
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// Whole records in it.
    pub records: u64,
    /// The xxh3 of its bytes, 128 bits in 32 hexadecimal digits, as `xxhsum -H2` prints it.
    pub xxh3_128: String,
}

/// A number before and behind a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InOut {
    /// In the inputs.
    #[serde(rename = "in")]
    pub input: u64,
    /// In the outputs.
    #[serde(rename = "out")]
    pub output: u64,
}

/// How much of something there was.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Count {
    /// Records.
    pub records: u64,
    /// Whole games; absent where it is not about games.
    pub games: Option<u64>,
    /// Bytes of the decompressed stream; absent where they are not what counts.
    pub bytes: Option<u64>,
}

impl Count {
    /// So many records, whatever their games.
    #[must_use]
    pub const fn records(records: u64) -> Self {
        Self { records, games: None, bytes: None }
    }

    /// So many records of so many games.
    #[must_use]
    pub const fn of_games(records: u64, games: u64) -> Self {
        Self { records, games: Some(games), bytes: None }
    }

    pub(crate) const fn add_game(&mut self, records: u64) {
        self.records += records;
        self.games = Some(match self.games {
            Some(games) => games + 1,
            None => 1,
        });
    }
}

/// Conventions by the names that reports and footers use (conventions.md §2).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatedConventions {
    /// `side_to_move` or `black`.
    pub pov: String,
    /// `visits` or `softmax_cp`.
    pub policy_source: String,
    /// The cp mates are folded to; 0 not applicable.
    pub mate_scale: u16,
    /// How far below it mates reach, as stated; 0 not stated.
    pub mate_slack: u16,
    /// The FV_SCALE; 0 not stated.
    pub fv_scale: u16,
    /// The cp scale behind `value_q`; 0 not applicable.
    pub eval_coef: f32,
}

impl From<&Conventions> for StatedConventions {
    fn from(c: &Conventions) -> Self {
        Self {
            pov: c.pov.id().to_owned(),
            policy_source: c.policy_source.id().to_owned(),
            mate_scale: c.mate_scale,
            mate_slack: c.mate_slack,
            fv_scale: c.fv_scale,
            eval_coef: c.eval_coef,
        }
    }
}

impl Default for Lineage {
    fn default() -> Self {
        Self { format: FORMAT.to_owned(), version: VERSION, steps: Vec::new() }
    }
}

impl Lineage {
    /// Reads a lineage file.
    ///
    /// # Errors
    /// [`Error::Lineage`] for a file that is none, of another version, or holds what this version does not know;
    /// [`Error::Io`].
    pub fn read(path: &Path) -> Result<Self> {
        let io = |error| Error::Io { path: path.to_owned(), error };
        let wrong = |what: String| Error::Lineage { path: path.to_owned(), what };
        if fs::metadata(path).map_err(io)?.len() > MAX_LEN {
            return Err(wrong(format!("longer than {MAX_LEN} bytes")));
        }
        let text = fs::read(path).map_err(io)?;
        // The version is looked at first: what another one holds is not this one's fault.
        #[derive(Deserialize)]
        struct Head {
            format: String,
            version: u32,
        }
        let head: Head = serde_json::from_slice(&text).map_err(|e| wrong(e.to_string()))?;
        if head.format != FORMAT {
            return Err(wrong(format!("its format is {:?}, not {FORMAT:?}", head.format)));
        }
        if head.version != VERSION {
            return Err(wrong(format!("version {} is not supported (only {VERSION} is)", head.version)));
        }
        serde_json::from_slice(&text).map_err(|e| wrong(e.to_string()))
    }

    /// The lineage of the data in a directory; `None` where no file tells of it.
    ///
    /// # Errors
    /// As [`Lineage::read`].
    pub fn beside(dir: &Path) -> Result<Option<Self>> {
        let path = dir.join(LINEAGE_FILE);
        match path.try_exists() {
            Ok(true) => Self::read(&path).map(Some),
            Ok(false) => Ok(None),
            Err(error) => Err(Error::Io { path, error }),
        }
    }

    /// The steps of all lineage files that lie beside these files, each once: directories in the order in which they
    /// come first, steps in the order of their files.
    ///
    /// # Errors
    /// As [`Lineage::read`].
    pub fn of(files: &[PathBuf]) -> Result<Self> {
        let mut dirs: Vec<&Path> = Vec::new();
        for file in files {
            let dir = match file.parent() {
                Some(dir) if !dir.as_os_str().is_empty() => dir,
                _ => Path::new("."),
            };
            if !dirs.contains(&dir) {
                dirs.push(dir);
            }
        }
        let mut all = Self::default();
        for dir in dirs {
            for step in Self::beside(dir)?.unwrap_or_default().steps {
                all.push(step);
            }
        }
        Ok(all)
    }

    /// Appends a step unless it is there already.
    pub fn push(&mut self, step: Step) {
        if !self.steps.contains(&step) {
            self.steps.push(step);
        }
    }

    /// The last step that wrote a file with this hash; `None` where the lineage does not reach it.
    #[must_use]
    pub fn maker_of(&self, xxh3_128: &str) -> Option<&Step> {
        self.steps.iter().rev().find(|step| step.outputs.iter().any(|file| file.xxh3_128 == xxh3_128))
    }

    /// Writes the file into `dir`. It is the last that a run writes: a directory of parts without it is not whole.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn write(&self, dir: &Path) -> Result<()> {
        let path = dir.join(LINEAGE_FILE);
        let write = || {
            let mut file = WholeFile::create(&path, Existing::Refuse)?;
            let mut text = serde_json::to_string_pretty(self).map_err(io::Error::from)?;
            text.push('\n');
            file.write_all(text.as_bytes())?;
            file.commit().map(drop)
        };
        write().map_err(|error| Error::Io { path: path.clone(), error })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub fn step(verb: &str, hash: &str) -> Step {
        Step {
            verb: verb.to_owned(),
            tool: "manaka 0.1.0".to_owned(),
            options: BTreeMap::from([("max_ply".to_owned(), Value::from(512))]),
            conventions: (&Conventions::TEACHER).into(),
            inputs: Vec::new(),
            outputs: vec![FileFacts {
                name: "part-00000.mpk".to_owned(),
                bytes: 24,
                records: 0,
                xxh3_128: hash.to_owned(),
            }],
            records: InOut::default(),
            games: None,
            dropped: BTreeMap::from([("unfinished".to_owned(), Count::of_games(3, 1))]),
            changed: BTreeMap::new(),
            refused: BTreeMap::new(),
        }
    }

    #[test]
    fn what_is_written_is_read_again_and_nothing_else_is_taken_for_it() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Lineage::beside(dir.path()).unwrap(), None);
        let mut lineage = Lineage::default();
        lineage.push(step("cut", "aa"));
        lineage.write(dir.path()).unwrap();
        assert_eq!(Lineage::beside(dir.path()).unwrap(), Some(lineage.clone()));
        assert!(lineage.write(dir.path()).is_err(), "an old one is never replaced");

        let path = dir.path().join(LINEAGE_FILE);
        let text = fs::read_to_string(&path).unwrap();
        for (from, to, why) in [
            ("\"version\": 1", "\"version\": 2", "version 2 is not supported"),
            ("manaka-lineage", "other", "its format is \"other\""),
            ("\"refused\"", "\"more\": 1, \"refused\"", "unknown field `more`"),
            ("\"verb\"", "\"werb\"", "unknown field `werb`"),
            ("{", "[", "expected"),
        ] {
            fs::write(&path, text.replacen(from, to, 1)).unwrap();
            let error = Lineage::read(&path).unwrap_err().to_string();
            assert!(error.contains("LINEAGE.json") && error.contains(why), "{error}");
        }
    }

    #[test]
    fn lineages_beside_files_are_joined_in_order_and_without_doubling() {
        let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let write = |dir: &tempfile::TempDir, hashes: &[&str]| {
            let mut lineage = Lineage::default();
            hashes.iter().for_each(|hash| lineage.push(step("cut", hash)));
            lineage.write(dir.path()).unwrap();
        };
        write(&a, &["1", "2"]);
        write(&b, &["1", "3"]);
        let files = [b.path().join("x.mpk"), a.path().join("x.mpk"), b.path().join("y.mpk")];
        let all = Lineage::of(&files).unwrap();
        let hashes: Vec<_> = all.steps.iter().map(|step| step.outputs[0].xxh3_128.as_str()).collect();
        assert_eq!(hashes, ["1", "3", "2"]);
        assert!(all.maker_of("3").is_some() && all.maker_of("4").is_none());
    }
}
