//! What a run is, in lines: everything that must be the same for a killed run to be taken up.

use super::PackOptions;
use crate::error::{Error, Result};
use crate::journal::Past;
use crate::plan::Plan;
use crate::shard::Footer;
use manaka_core::stream::StreamSet;
use std::fmt::Write;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use xxhash_rust::xxh3::xxh3_128;

/// Bytes of each end of an input that identify it, with its name and size.
const ENDS: u64 = 64 << 10;

/// The job as the journal holds it: what reaches the bytes of the shards, and the inputs.
pub fn describe(set: &StreamSet, options: &PackOptions, footer: &Footer) -> Result<String> {
    let mut text =
        format!("journal 5\nprefix {}\nrows per shard {}\n", options.prefix, options.rows_per_shard);
    for (key, value) in footer.pairs() {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{key} {value}");
    }
    for (what, paths) in [("stream", set.paths()), ("exclude", &options.exclude)] {
        for path in paths {
            let (len, hash) = identity(path).map_err(Error::io(path))?;
            let _ = writeln!(text, "{what} {:?} {len} bytes {hash:032x}", path.display().to_string());
        }
    }
    Ok(text)
}

/// Size and a hash of both ends.
fn identity(path: &Path) -> std::io::Result<(u64, u128)> {
    let mut file = File::open(path)?;
    let len = file.metadata()?.len();
    let mut ends = Vec::new();
    file.by_ref().take(ENDS).read_to_end(&mut ends)?;
    file.seek(SeekFrom::Start(len.saturating_sub(ENDS)))?;
    file.take(ENDS).read_to_end(&mut ends)?;
    Ok((len, xxh3_128(&ends)))
}

/// The part of a plan that a resumed run must keep: where things lie.
pub fn plan_line(plan: &Plan) -> String {
    format!("plan\t{}\t{}\t{}", plan.buckets, plan.spools, plan.in_memory)
}

/// Takes over the plan of the earlier run.
pub fn adopt_plan(plan: &mut Plan, past: &Past) {
    let first = past.of("plan").next();
    if let Some([buckets, spools, in_memory]) = first.as_deref()
        && let (Ok(buckets), Ok(spools), Ok(in_memory)) = (buckets.parse(), spools.parse(), in_memory.parse())
    {
        (plan.buckets, plan.spools, plan.in_memory) = (buckets, spools, in_memory);
        if in_memory {
            plan.load = u64::MAX;
        }
    }
}
