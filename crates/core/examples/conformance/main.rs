//! Writes the conformance vectors: `cargo run -p manaka-core --example conformance [DIRECTORY]`.
//!
//! The bytes are put together here, field by field as docs/spec/stream.md has them, and not by the code that the
//! vectors are there to test. The test `conformance_contract` holds the committed files to what this writes.

mod bad;
mod good;
mod vectors;

use bad::bad;
use good::good;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    let dir = env::args_os().nth(1).map_or(default, PathBuf::from);
    for (name, bytes) in files() {
        let path = dir.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, bytes)?;
    }
    Ok(())
}

/// Every file, by its path below `conformance/`.
pub fn files() -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for vector in good() {
        let bytes = (vector.pack)(&vector.raw());
        files.push((format!("good/{}", vector.file), bytes));
        files.push((format!("good/{}.json", stem(vector.file)), vector.json().into_bytes()));
    }
    let mut expect = String::from(
        "# What every reader must say of the files here. `kind` is an id of docs/spec/stream.md §6; `record` (left out in\n\
         # the header) and `offset` are its place; `before` and `behind` are the sound records in front of it and, where a\n\
         # reader goes on behind a faulty record, after it. What is left out is not promised.\n",
    );
    for vector in bad() {
        _ = write!(expect, "\n[\"{}\"]\nkind = \"{}\"\n", vector.file, vector.kind);
        for (key, value) in vector.place {
            _ = writeln!(expect, "{key} = {value}");
        }
        files.push((format!("bad/{}", vector.file), vector.bytes));
    }
    files.push(("bad/expect.toml".to_owned(), expect.into_bytes()));
    files
}

/// The file name of the JSON without its ending.
fn stem(file: &str) -> &str {
    file.trim_end_matches(".zst").trim_end_matches(".mpk")
}
