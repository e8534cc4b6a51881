//! Any bytes are a network's file with all its tensors in their places, or an error whose offset lies in them; with the
//! right checksum put behind them too. The tensors are shorter than a true file's, so that whole ones are found.
#![no_main]

#[path = "../../crates/kp/src/error.rs"]
#[allow(dead_code, reason = "reading files uses the rest")]
mod error;
#[path = "../../crates/kp/src/format.rs"]
#[allow(dead_code, reason = "evaluation uses the rest")]
mod format;

use error::Error;
use format::{Parts, Sizes, close, header};
use libfuzzer_sys::fuzz_target;

const SIZES: Sizes = Sizes { inputs: 3, half: 2, value: 1, policy: 2, labels: 3 };

fn check(data: &[u8]) {
    match Parts::of(data, SIZES) {
        Ok(parts) => {
            let mut again = header(SIZES);
            parts.tensors.iter().for_each(|tensor| again.extend(*tensor));
            let again = close(again);
            assert_eq!(again, data);
            assert_eq!(again[again.len() - 8..], parts.checksum.to_le_bytes());
        }
        Err(Error::Magic { found }) => assert_eq!(data[..4], found),
        Err(Error::Version { found }) => assert_eq!(data[4..8], found.to_le_bytes()),
        Err(Error::FeatureSet { .. }) => assert!(data.len() >= 24),
        Err(Error::Size { offset, found, expected, .. }) => {
            assert_ne!(found, expected);
            assert_eq!(data[offset..offset + 4], found.to_le_bytes());
        }
        Err(Error::Truncated { offset, missing }) => assert!(offset == data.len() && missing > 0),
        Err(Error::Trailing { offset }) => assert!(offset < data.len() && offset == SIZES.file_bytes()),
        Err(Error::Checksum { offset, found, expected }) => {
            assert!(found != expected && offset + 8 == data.len());
        }
        Err(error) => panic!("{error}"),
    }
}

fuzz_target!(|data: &[u8]| {
    check(data);
    check(&close(data.to_vec()));
});
