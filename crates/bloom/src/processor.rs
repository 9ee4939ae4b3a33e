//! CPU features as types. A value of such a type exists only if the CPU has the instructions.
//!
//! A filter with a special lookup for a feature is generic over these types. The choice is made once, when the
//! filter is opened, and costs nothing per probe.

/// Any CPU, without special features.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

/// A CPU with AVX2: vectors of 256 bits.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(crate) struct Avx2(());

/// A CPU with AVX-512 F: vectors of 512 bits.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(crate) struct Avx512(());

/// A CPU with `popcnt`, which counts the bits of a word in one instruction.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(crate) struct Popcnt(());

/// A CPU with `popcnt` and BMI2, whose bit deposit finds the n-th set bit of a word.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(crate) struct Bmi2(());

/// A CPU with AVX-512 `vpopcntdq`: counts the bits of each word of a vector.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(crate) struct Avx512Popcnt(());

#[cfg(target_arch = "x86_64")]
impl Avx2 {
    /// Detects the feature. `None` if the CPU lacks it.
    pub(crate) fn detect() -> Option<Self> {
        std::arch::is_x86_feature_detected!("avx2").then_some(Self(()))
    }
}

#[cfg(target_arch = "x86_64")]
impl Avx512 {
    /// Detects the feature. `None` if the CPU lacks it.
    pub(crate) fn detect() -> Option<Self> {
        std::arch::is_x86_feature_detected!("avx512f").then_some(Self(()))
    }
}

#[cfg(target_arch = "x86_64")]
impl Popcnt {
    /// Detects the feature. `None` if the CPU lacks it.
    pub(crate) fn detect() -> Option<Self> {
        std::arch::is_x86_feature_detected!("popcnt").then_some(Self(()))
    }
}

#[cfg(target_arch = "x86_64")]
impl Avx512Popcnt {
    /// Detects the feature. Returns `None` if the CPU lacks the feature, or another feature that it requires.
    pub(crate) fn detect() -> Option<Self> {
        let there = std::arch::is_x86_feature_detected!("avx512vpopcntdq")
            && std::arch::is_x86_feature_detected!("avx512f")
            && std::arch::is_x86_feature_detected!("avx512vl")
            && std::arch::is_x86_feature_detected!("popcnt");
        there.then_some(Self(()))
    }
}

#[cfg(target_arch = "x86_64")]
impl Bmi2 {
    /// Detects both features. `None` if the CPU lacks one.
    pub(crate) fn detect() -> Option<Self> {
        let there =
            std::arch::is_x86_feature_detected!("bmi2") && std::arch::is_x86_feature_detected!("popcnt");
        there.then_some(Self(()))
    }
}
