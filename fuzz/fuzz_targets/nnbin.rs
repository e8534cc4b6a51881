//! Any bytes are a network's file with all its parts in their places, or an error whose offset lies in them. The parts are
//! shorter than a true file's, so that whole ones are found.
#![no_main]

#[path = "../../crates/eval/src/error.rs"]
#[allow(dead_code, reason = "reading files uses the rest")]
mod error;
#[path = "../../crates/eval/src/format.rs"]
#[allow(dead_code, reason = "evaluation uses the rest")]
mod format;

use error::Error;
use format::{HASH, MAX_ARCHITECTURE, NETWORK_HASH, Parts, TRANSFORMER_HASH, VERSION};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| match Parts::of(data, [4 + 24, 4 + 9]) {
    Ok(parts) => {
        let text = parts.architecture.as_bytes();
        assert!(text.len() <= MAX_ARCHITECTURE);
        let mut again = Vec::new();
        for number in [VERSION, HASH, u32::try_from(text.len()).unwrap()] {
            again.extend(number.to_le_bytes());
        }
        again.extend(text);
        for (hash, bytes) in [(TRANSFORMER_HASH, parts.transformer), (NETWORK_HASH, parts.network)] {
            again.extend(hash.to_le_bytes());
            again.extend(bytes);
        }
        assert_eq!(again, data);
    }
    Err(Error::Truncated { offset, missing, .. }) => assert!(offset == data.len() && missing > 0),
    Err(Error::Trailing { offset, extra }) => assert!(extra > 0 && offset + extra == data.len()),
    Err(Error::Hash { offset, found, expected, .. }) => {
        assert_ne!(found, expected);
        assert_eq!(data[offset..offset + 4], found.to_le_bytes());
    }
    Err(Error::Version { found }) => assert_eq!(data[..4], found.to_le_bytes()),
    Err(Error::ArchitectureLength { offset, .. } | Error::ArchitectureText { offset }) =>
        assert!(offset < data.len()),
    Err(error) => panic!("{error}"),
});
