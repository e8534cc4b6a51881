//! The same loops compiled for AVX2.

/// Runs `work`, compiled for AVX2 where the machine has it, with the same results: lanes are what they would be one by
/// one, and no multiplication is fused with an addition.
pub fn wide<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: AVX2 was just found, and that is all the function asks for. Without it training takes half as long
        // again. A unit test of `learn` holds both equal.
        return unsafe { avx2(work) };
    }
    work()
}

/// What is inlined here may use all registers of AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2<R>(work: impl FnOnce() -> R) -> R {
    work()
}
