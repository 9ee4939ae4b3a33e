//! What the processor at hand can do, as types: one exists only where its instructions were detected.
//!
//! A filter that has a way of its own to look up for each of these is generic over it, so that the choice is
//! made once, when the filter is opened, and costs nothing per probe.

/// Any processor.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

/// A processor with AVX2: vectors of 256 bits.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(crate) struct Avx2(());

/// A processor with AVX-512 F: vectors of 512 bits.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(crate) struct Avx512(());

/// A processor that counts the bits of a word in one instruction.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(crate) struct Popcnt(());

/// A processor that also scatters bits to the places of a mask (BMI2), which finds the n-th bit of a word.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(crate) struct Bmi2(());

/// A processor that counts the bits of each word of a vector.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(crate) struct Avx512Popcnt(());

#[cfg(target_arch = "x86_64")]
impl Avx2 {
    /// There where the processor has it.
    pub(crate) fn detect() -> Option<Self> {
        std::arch::is_x86_feature_detected!("avx2").then_some(Self(()))
    }
}

#[cfg(target_arch = "x86_64")]
impl Avx512 {
    /// There where the processor has it.
    pub(crate) fn detect() -> Option<Self> {
        std::arch::is_x86_feature_detected!("avx512f").then_some(Self(()))
    }
}

#[cfg(target_arch = "x86_64")]
impl Popcnt {
    /// There where the processor has it.
    pub(crate) fn detect() -> Option<Self> {
        std::arch::is_x86_feature_detected!("popcnt").then_some(Self(()))
    }
}

#[cfg(target_arch = "x86_64")]
impl Avx512Popcnt {
    /// There where the processor has it, and what it stands on.
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
    /// There where the processor has it, and counts bits in one instruction.
    pub(crate) fn detect() -> Option<Self> {
        let there =
            std::arch::is_x86_feature_detected!("bmi2") && std::arch::is_x86_feature_detected!("popcnt");
        there.then_some(Self(()))
    }
}
