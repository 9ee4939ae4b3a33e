//! A hint to the processor that a cache line will be read soon.
//!
//! Batched probes of a filter beyond the caches take a quarter to a third of the time with it, and half to
//! two thirds of what reading one word of each line ahead, its safe twin, takes.
#![allow(unsafe_code)]

/// Asks for the line that holds `target`. It never faults and changes nothing but time; where the
/// processor is none of x86-64 it does nothing.
#[inline]
pub(crate) fn prefetch<T>(target: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch of any address is allowed, and this one is that of a live reference.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(target).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = target;
}
