//! A header that is accepted is written again as the same conventions, and those can be acted on.
#![no_main]

use libfuzzer_sys::fuzz_target;
use manaka_core::PolicySource;
use manaka_core::stream::{Header, StreamWriter};

fuzz_target!(|data: &[u8]| {
    let Some((bytes, rest)) = data.split_first_chunk::<24>() else { return };
    let Ok(header) = Header::decode(bytes) else { return };
    let conventions = header.conventions;
    let written = header.encode();
    let again = Header::decode(&written).unwrap();
    // Version 1 is not written any more.
    let version = header.version.max(2);
    assert_eq!((again.version, again.conventions), (version, conventions));
    assert_eq!(again.allows_absent_outcomes(), version == 3);
    assert_eq!(again.encode(), written);
    // Only the version and the sign of an absent eval_coef may differ from what was read.
    let mut normal = *bytes;
    normal[4] = normal[4].max(2);
    if conventions.eval_coef == 0.0 {
        normal[19] = 0;
    }
    assert_eq!(written, normal);

    assert_eq!(conventions.inconsistency(), None);
    assert_eq!(conventions.conflict(&again.conventions), None);
    assert_ne!(conventions.mate_threshold(), Some(0));
    let writable = StreamWriter::new(Vec::new(), conventions).is_ok();
    assert_eq!(writable, !conventions.declares_unused_scale());
    assert!(writable || conventions.policy_source == PolicySource::Visits);

    for cp in rest.chunks_exact(2).map(|b| i16::from_le_bytes([b[0], b[1]])) {
        if conventions.eval_coef > 0.0 && cp != i16::MIN {
            let value = conventions.value_q(cp);
            assert!((-1.0..=1.0).contains(&value), "{value} of {cp}");
            assert_eq!(value, -conventions.value_q(-cp));
        }
    }
});
