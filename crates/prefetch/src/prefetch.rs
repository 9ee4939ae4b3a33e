//! A hint to the processor that a cache line will be read soon.
//!
//! Batched probes of a filter beyond the caches take a quarter to a third of the time with it, and half to
//! two thirds of what reading one word of each line ahead, its safe twin, takes. A search through 16 K heads
//! takes some 15 % less time with it, through 250 K heads 40 % less.
#![allow(unsafe_code)]

/// The bytes of a cache line.
pub const LINE_BYTES: usize = 64;

/// Asks for the line where element `index` of `slice` is, or would be if the slice were longer. It never
/// faults and changes nothing but time; where the processor is none of x86-64 it does nothing.
#[inline]
pub fn prefetch<T>(slice: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch of any address is allowed, mapped or not; the address is computed, never read.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(slice.as_ptr().wrapping_add(index).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, index);
}

/// Asks for every line of `bytes`, so that whoever then walks them does not wait for one after the other.
#[inline]
pub fn prefetch_all(bytes: &[u8]) {
    (0..bytes.len()).step_by(LINE_BYTES).for_each(|at| prefetch(bytes, at));
    // Where they begin inside a line, they may end in one more.
    prefetch(bytes, bytes.len().saturating_sub(1));
}
