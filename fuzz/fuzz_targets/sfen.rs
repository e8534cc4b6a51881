//! Parsing any text never panics, and what is accepted says the same when it is printed and parsed again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use manaka_core::sfen::{Sfen, SfenError};
use manaka_core::{Faults, Move16, Packed};

fuzz_target!(|text: &str| {
    match Sfen::parse(text) {
        Ok(sfen) => {
            let printed = sfen.packed.sfen(sfen.ply).to_string();
            assert_eq!(Sfen::parse(&printed), Ok(sfen), "{text:?} printed as {printed:?}");
            // Printing is canonical: once printed, nothing changes any more.
            assert_eq!(Sfen::parse(&printed).unwrap().packed.sfen(sfen.ply).to_string(), printed);
            let sound = sfen.packed.faults() == Faults::NONE;
            assert_eq!(Packed::from_sfen(text).is_ok(), sound);
        }
        Err(SfenError::Malformed { at, .. }) => assert!(at <= text.len()),
        Err(SfenError::Faults(faults)) => panic!("parsing judged the position: {faults}"),
    }
    if let Some(mv) = Move16::from_usi(text) {
        assert!(mv.is_well_formed());
        assert_eq!(mv.to_string(), text);
    }
});
