//! Every reader says the same of any bytes: the decoder however they are split, the slice, the mapped file, the stream,
//! raw and compressed, in whatever frames. Compressed input only has to be survived.
#![no_main]

#[path = "../../crates/core/tests/readers/mod.rs"]
mod readers;

use libfuzzer_sys::fuzz_target;
use readers::{by_decoder, by_file, by_map, by_owned_records, by_slice, by_stream, frames};
use std::cell::OnceCell;
use std::fs;
use tempfile::TempDir;

thread_local! {
    /// In memory where there is such a directory: a disk would be most of the time.
    static DIR: OnceCell<TempDir> = const { OnceCell::new() };
}

fn dir() -> TempDir {
    let memory = std::path::Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory).unwrap() } else { tempfile::tempdir().unwrap() }
}

fuzz_target!(|data: &[u8]| {
    // The first byte says how the rest is split.
    let Some((&step, bytes)) = data.split_first() else { return };
    let step = 1 + usize::from(step);
    if matches!(bytes, [0x28, 0xB5, 0x2F, 0xFD, ..] | [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..]) {
        let events = by_stream(bytes);
        assert_eq!(by_owned_records(bytes), events);
        return;
    }
    let events = by_slice(bytes);
    assert_eq!(by_decoder(bytes, (0..).step_by(step)), events);
    assert_eq!(by_stream(bytes), events);
    assert_eq!(by_stream(&frames(bytes, 3 * step)[..]), events);
    DIR.with(|cell| {
        let path = cell.get_or_init(dir).path().join("a.mpk");
        fs::write(&path, bytes).unwrap();
        assert_eq!(by_map(&path), events);
        assert_eq!(by_file(&path), events);
    });
});
