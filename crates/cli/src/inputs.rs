//! Resolving the input arguments, and saying what was left alone.

use anyhow::Result;
use manaka_core::inputs::resolve;
use std::path::PathBuf;

/// The files that `args` name; what directories and globs held besides is named on stderr.
pub fn files(args: &[PathBuf], suffixes: &[&str]) -> Result<Vec<PathBuf>> {
    let inputs = resolve(args, suffixes)?;
    for path in &inputs.ignored {
        // It tells of the data beside it, and is read by whoever carries it on.
        if path.file_name().is_some_and(|name| name == manaka_edit::lineage::LINEAGE_FILE) {
            continue;
        }
        let temp = path.to_string_lossy().ends_with(manaka_core::whole_file::TEMP_SUFFIX);
        let why = if temp { "unfinished, a leftover of another run" } else { "not data by its name" };
        eprintln!("manaka: left alone: {} ({why})", path.display());
    }
    Ok(inputs.files)
}
