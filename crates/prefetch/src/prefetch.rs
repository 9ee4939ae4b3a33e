//! A hint to the CPU that the program will soon read a cache line.
//!
//! Batched probes of a filter that is larger than the CPU caches are 3 to 4 times faster with prefetching. Reading
//! one word of each cache line in advance, an alternative without `unsafe` code, is 1.5 to 2 times slower than
//! prefetching. With prefetching, a search in 16 K key prefixes is about 15 % faster, and a search in 250 K key
//! prefixes is about 40 % faster.
#![allow(unsafe_code)]

/// The size of a CPU cache line, in bytes.
pub const LINE_BYTES: usize = 64;

/// Prefetches the cache line that contains the element `index` of `slice`. The index may be out of bounds, because a
/// prefetch never causes a fault.
#[inline]
pub fn prefetch<T>(slice: &[T], index: usize) {
    prefetch_at(slice.as_ptr().wrapping_add(index).cast());
}

/// Prefetches the cache line at an address. The address may be unmapped, because a prefetch never causes a fault. On
/// CPUs other than x86-64 and `AArch64`, the call does nothing.
#[inline]
pub fn prefetch_at(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch of any address is allowed, mapped or not; the address is computed, never read.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: the instruction is a hint, which never faults and changes neither memory, flags nor registers.
    unsafe {
        std::arch::asm!(
            "prfm pldl1keep, [{address}]",
            address = in(reg) address,
            options(nostack, preserves_flags, readonly),
        );
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = address;
}

/// Prefetches every cache line of `bytes`, so that a later pass over the bytes does not wait for each cache line
/// separately.
#[inline]
pub fn prefetch_all(bytes: &[u8]) {
    (0..bytes.len()).step_by(LINE_BYTES).for_each(|at| prefetch(bytes, at));
    // If the bytes begin inside a cache line, they may end in one more line.
    prefetch(bytes, bytes.len().saturating_sub(1));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_address_can_be_prefetched_and_no_byte_changes() {
        let bytes: Vec<u8> = (0..200).collect();
        for index in [0, 1, 199, 200, 1 << 20, usize::MAX] {
            prefetch(&bytes, index);
        }
        for address in [0, 1, usize::MAX] {
            prefetch_at(std::ptr::without_provenance(address));
        }
        prefetch_all(&bytes[1..]);
        prefetch_all(&[]);
        assert!(bytes.iter().copied().eq(0..200));
    }
}
