//! Resolving the input arguments, and saying what was left alone.

use anyhow::Result;
use manaka_core::inputs::resolve;
use manaka_edit::lineage::LINEAGE_FILE;
use manaka_inspect::MANIFESTS;
use std::path::PathBuf;

/// What lies beside data and tells of it. No verb takes it for data, and `card` reads it.
const BESIDE: [&str; 3] = [MANIFESTS[0], MANIFESTS[1], LINEAGE_FILE];

/// The files that `args` name; what directories and globs held besides is named on stderr.
pub fn files(args: &[PathBuf], suffixes: &[&str]) -> Result<Vec<PathBuf>> {
    let inputs = resolve(args, suffixes)?;
    for path in &inputs.ignored {
        if path.file_name().is_some_and(|name| BESIDE.iter().any(|known| name == *known)) {
            continue;
        }
        let temp = path.to_string_lossy().ends_with(manaka_core::whole_file::TEMP_SUFFIX);
        let why = if temp { "unfinished, a leftover of another run" } else { "not data by its name" };
        eprintln!("manaka: left alone: {} ({why})", path.display());
    }
    Ok(inputs.files)
}
