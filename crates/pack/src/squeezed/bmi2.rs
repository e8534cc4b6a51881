//! Squeezed positions with instructions that extract and deposit bits.

use super::{PACKED_LEN, WINDOW, restore_with, squeeze_with};
use std::arch::is_x86_feature_detected;
use std::arch::x86_64::{__cpuid, _pdep_u64, _pext_u64};
use std::sync::LazyLock;

/// Whether the processor has these instructions and is quick at them: those of AMD before family 19h (Zen 3) run a loop of
/// microcode.
pub fn is_fast() -> bool {
    static FAST: LazyLock<bool> = LazyLock::new(|| {
        let there = is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("popcnt");
        let amd = __cpuid(0).ecx == u32::from_le_bytes(*b"cAMD");
        let signature = __cpuid(1).eax;
        let family = (signature >> 8 & 0xF) + (signature >> 20 & 0xFF);
        there && !(amd && family < 0x19)
    });
    *FAST
}

/// As [`squeeze_with`].
#[target_feature(enable = "bmi1,bmi2,popcnt")]
pub fn squeeze(packed: &[u8; PACKED_LEN], to: &mut [u8; WINDOW]) -> Option<usize> {
    squeeze_with(packed, to, |word, mask| _pext_u64(word, mask))
}

/// As [`restore_with`].
#[target_feature(enable = "bmi1,bmi2,popcnt")]
pub fn restore(from: &[u8; WINDOW]) -> [u8; PACKED_LEN] {
    restore_with(from, |bits, mask| _pdep_u64(bits, mask))
}
