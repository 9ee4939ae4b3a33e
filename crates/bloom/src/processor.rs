//! Types that represent CPU features. A value of such a type exists only if the CPU has the feature.
//!
//! If a filter has special lookup code for some CPU features, the filter type has one of these types as a parameter.
//! The filter type is selected when a filter is opened, so a probe need not detect the features of the CPU.

/// Any CPU. Lookup code for this type uses no special CPU features.
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

/// A CPU with AVX-512 `vpopcntdq`, which counts the bits of each word of a vector.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(crate) struct Avx512Popcnt(());

#[cfg(target_arch = "x86_64")]
impl Avx2 {
    /// Detects AVX2. Returns a value of this type if the CPU has it, and `None` otherwise.
    pub(crate) fn detect() -> Option<Self> {
        std::arch::is_x86_feature_detected!("avx2").then_some(Self(()))
    }
}

#[cfg(target_arch = "x86_64")]
impl Avx512 {
    /// Detects AVX-512 F. Returns a value of this type if the CPU has it, and `None` otherwise.
    pub(crate) fn detect() -> Option<Self> {
        std::arch::is_x86_feature_detected!("avx512f").then_some(Self(()))
    }
}

#[cfg(target_arch = "x86_64")]
impl Popcnt {
    /// Detects `popcnt`. Returns a value of this type if the CPU has it, and `None` otherwise.
    pub(crate) fn detect() -> Option<Self> {
        std::arch::is_x86_feature_detected!("popcnt").then_some(Self(()))
    }
}

#[cfg(target_arch = "x86_64")]
impl Avx512Popcnt {
    /// Detects `vpopcntdq` and all features that it requires. Returns a value of this type if the CPU has them, and
    /// `None` otherwise.
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
    /// Detects `popcnt` and BMI2. Returns a value of this type if the CPU has both, and `None` otherwise.
    pub(crate) fn detect() -> Option<Self> {
        let there =
            std::arch::is_x86_feature_detected!("bmi2") && std::arch::is_x86_feature_detected!("popcnt");
        there.then_some(Self(()))
    }
}
