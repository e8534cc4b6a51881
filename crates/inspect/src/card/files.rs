//! The files of a card: what they are, what they are called in it, and their hashes.

use crate::error::{Error, Result};
use crate::sniff::Kind;
use manaka_core::progress::Progress;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use xxhash_rust::xxh3::Xxh3;

/// Bytes read at a time.
const CHUNK: usize = 1 << 20;

/// A file that the card is of.
pub struct CardFile {
    pub path: PathBuf,
    /// What the card calls it: its path below the card's directory, with `/` between.
    pub name: String,
    pub kind: Kind,
    pub bytes: u64,
    /// XXH3-128 of its bytes.
    pub hash: u128,
}

/// Where names are counted from, and what lies there.
pub struct Root(PathBuf);

impl Root {
    /// `wanted` where it holds every file, else the deepest directory that does.
    pub fn of(inputs: &[PathBuf], wanted: Option<&Path>) -> Result<Self> {
        let dirs = inputs.iter().map(|path| directory(path)).collect::<Result<Vec<_>>>()?;
        if let Some(wanted) = wanted {
            let wanted = fs::canonicalize(wanted).map_err(Error::io(wanted))?;
            if dirs.iter().all(|dir| dir.starts_with(&wanted)) {
                return Ok(Self(wanted));
            }
        }
        let mut root = dirs.first().cloned().unwrap_or_default();
        while !dirs.iter().all(|dir| dir.starts_with(&root)) && root.pop() {}
        Ok(Self(root))
    }

    /// The name of a file below the root; its last component when it lies elsewhere.
    pub fn name(&self, path: &Path) -> Result<String> {
        let file = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let dir = directory(path)?;
        let mut parts: Vec<String> = (dir.strip_prefix(&self.0).into_iter())
            .flat_map(Path::components)
            .filter_map(|part| match part {
                Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
                _ => None,
            })
            .collect();
        parts.push(file);
        Ok(parts.join("/"))
    }

    /// The directories in which something may lie beside the data: those of the files in their order, then the root.
    pub fn beside(&self, inputs: &[PathBuf]) -> Result<Vec<PathBuf>> {
        let mut dirs: Vec<PathBuf> = Vec::new();
        for dir in inputs.iter().map(|path| directory(path)).chain([Ok(self.0.clone())]) {
            let dir = dir?;
            if !dirs.contains(&dir) {
                dirs.push(dir);
            }
        }
        Ok(dirs)
    }
}

/// The directory a name lies in. Links to directories are followed, a link to a file is a name like any other.
fn directory(path: &Path) -> Result<PathBuf> {
    let dir = match path.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => dir,
        _ => Path::new("."),
    };
    fs::canonicalize(dir).map_err(Error::io(dir))
}

/// Looks at every file, and reads it once for its hash.
pub fn look(inputs: &[PathBuf], root: &Root, progress: &dyn Progress) -> Result<Vec<CardFile>> {
    let mut files = Vec::with_capacity(inputs.len());
    for path in inputs {
        let (kind, bytes) = Kind::of(path)?;
        files.push(CardFile { path: path.clone(), name: root.name(path)?, kind, bytes, hash: 0 });
    }
    let total = files.iter().fold(0u64, |sum, file| sum.saturating_add(file.bytes));
    progress.phase("hash", Some(total), "bytes");
    let mut buffer = vec![0; CHUNK];
    for file in &mut files {
        (file.hash, file.bytes) = hash(&file.path, &mut buffer, progress)?;
    }
    Ok(files)
}

fn hash(path: &Path, buffer: &mut [u8], progress: &dyn Progress) -> Result<(u128, u64)> {
    let mut source = File::open(path).map_err(Error::io(path))?;
    let (mut hash, mut bytes) = (Xxh3::new(), 0);
    loop {
        if progress.cancelled() {
            return Err(Error::Interrupted);
        }
        let read = match source.read(buffer) {
            Ok(0) => return Ok((hash.digest128(), bytes)),
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(Error::io(path)(error)),
        };
        hash.update(&buffer[..read]);
        bytes += read as u64;
        progress.advance(read as u64);
    }
}
