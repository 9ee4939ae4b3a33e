//! A cache line of eight sorted heads (8-byte prefixes). If the CPU has AVX-512, one instruction compares all eight
//! heads.
//!
//! When a fence is opened, the fastest comparison that the CPU supports is selected. The code of a search is generic
//! (see [`Search`]), and is compiled for each method of comparison.
#![cfg_attr(target_arch = "x86_64", allow(unsafe_code))]
#![allow(clippy::inline_always)] // a search is compiled for CPU features only if all its code is inlined

/// The number of heads (8-byte prefixes of separators) in a cache line.
pub(crate) const LINE: usize = 8;

/// Eight heads (8-byte prefixes of separators) in ascending order, in one aligned cache line.
///
/// AVX2 compares only signed numbers. Heads are therefore stored as signed numbers that have the same order.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Line([i64; LINE]);

impl Line {
    /// A cache line without heads. All its values are the largest number, so no head is above any of them.
    pub(crate) const EMPTY: Self = Self([i64::MAX; LINE]);

    /// Stores `head` at position `at` of the cache line. `at` must be below 8.
    pub(crate) fn set(&mut self, at: usize, head: u64) {
        self.0[at] = signed(head);
    }

    /// Returns the head at position `at` modulo 8 of the cache line.
    #[inline(always)]
    pub(crate) fn get(&self, at: usize) -> i64 {
        self.0[at % LINE]
    }
}

/// Converts `head` to a signed number that has the same order. AVX2 can compare only signed numbers.
#[inline(always)]
pub(crate) fn signed(head: u64) -> i64 {
    (head ^ (1 << 63)).cast_signed()
}

/// A way to compare a head with all heads of a cache line, such as AVX2. A value of the type proves that the CPU
/// supports the instructions.
pub(crate) trait Compare: Copy + Send + Sync + 'static {
    /// Returns the number of heads (8-byte prefixes of separators) in `line` that are below `head`.
    fn below(self, line: &Line, head: i64) -> usize;

    /// Runs a search whose code is compiled for these CPU instructions.
    fn run<S: Search>(self, search: S, input: S::Input) -> S::Output;
}

/// A search that reads cache lines of heads (8-byte prefixes of separators). The method `run` must always be inlined,
/// because the compiler then compiles the search for each way of comparison.
pub(crate) trait Search {
    /// The searched head or heads. This type is separate from the searched structure, so that both arguments are passed
    /// in registers.
    type Input;

    /// The result of the search, such as the number of smaller heads.
    type Output;

    /// Runs the search. `compare` compares a head with a cache line of heads.
    fn run<C: Compare>(self, compare: C, input: Self::Input) -> Self::Output;
}

/// Comparison of the eight numbers of a cache line one after another. On `AArch64`, the compiler vectorizes this
/// comparison with NEON.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

impl Compare for Portable {
    #[inline(always)]
    fn below(self, line: &Line, head: i64) -> usize {
        line.0.iter().map(|other| usize::from(*other < head)).sum()
    }

    #[inline]
    fn run<S: Search>(self, search: S, input: S::Input) -> S::Output {
        search.run(self, input)
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::x86_64::{
        __m256i, _mm256_castsi256_pd, _mm256_cmpgt_epi64, _mm256_load_si256, _mm256_movemask_pd,
        _mm256_set1_epi64x, _mm512_cmplt_epi64_mask, _mm512_load_si512, _mm512_set1_epi64,
    };

    use super::{Compare, LINE, Line, Search};

    /// Comparison of four numbers of a cache line at a time, with AVX2.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx2(());

    impl Avx2 {
        pub(crate) fn detect() -> Option<Self> {
            let there = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt");
            there.then_some(Self(()))
        }
    }

    impl Compare for Avx2 {
        #[inline(always)]
        fn below(self, line: &Line, head: i64) -> usize {
            let halves: *const __m256i = std::ptr::from_ref(line).cast();
            // SAFETY: `self` exists only if AVX2 was detected. A line is two vectors, and is aligned to 64 bytes.
            let masks = unsafe {
                let sought = _mm256_set1_epi64x(head);
                [halves, halves.add(1)].map(|half| {
                    let above = _mm256_cmpgt_epi64(sought, _mm256_load_si256(half));
                    _mm256_movemask_pd(_mm256_castsi256_pd(above))
                })
            };
            (masks[0] | (masks[1] << (LINE / 2))).count_ones() as usize
        }

        #[inline]
        fn run<S: Search>(self, search: S, input: S::Input) -> S::Output {
            #[target_feature(enable = "avx2,popcnt")]
            fn compiled<S: Search>(compare: Avx2, search: S, input: S::Input) -> S::Output {
                search.run(compare, input)
            }
            // SAFETY: `self` exists only if both instruction sets were detected.
            unsafe { compiled(self, search, input) }
        }
    }

    /// Comparison of all eight numbers of a cache line at a time, with AVX-512.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx512(());

    impl Avx512 {
        pub(crate) fn detect() -> Option<Self> {
            let there = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("popcnt");
            there.then_some(Self(()))
        }
    }

    impl Compare for Avx512 {
        #[inline(always)]
        fn below(self, line: &Line, head: i64) -> usize {
            // SAFETY: `self` exists only if AVX-512 was detected. A line has 64 bytes, and is aligned to 64 bytes.
            let mask = unsafe {
                let heads = _mm512_load_si512(line.0.as_ptr().cast());
                _mm512_cmplt_epi64_mask(heads, _mm512_set1_epi64(head))
            };
            u32::from(mask).count_ones() as usize
        }

        #[inline]
        fn run<S: Search>(self, search: S, input: S::Input) -> S::Output {
            #[target_feature(enable = "avx512f,avx512dq,popcnt")]
            fn compiled<S: Search>(compare: Avx512, search: S, input: S::Input) -> S::Output {
                search.run(compare, input)
            }
            // SAFETY: `self` exists only if all of these instruction sets were detected.
            unsafe { compiled(self, search, input) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Below<'a>(&'a Line);

    impl Search for Below<'_> {
        type Input = i64;
        type Output = usize;

        #[inline(always)]
        fn run<C: Compare>(self, compare: C, head: i64) -> usize {
            compare.below(self.0, head)
        }
    }

    #[test]
    fn every_way_to_compare_agrees_with_the_portable_one() {
        let edges =
            [0, 1, 2, 1 << 31, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 63) + 1, u64::MAX - 1, u64::MAX];
        for filled in 0..=LINE {
            for first in 0..edges.len() {
                let mut heads: Vec<u64> = (0..filled).map(|i| edges[(first + i) % edges.len()]).collect();
                heads.sort_unstable();
                let mut line = Line::EMPTY;
                heads.iter().enumerate().for_each(|(at, head)| line.set(at, *head));
                for head in edges {
                    let expected = heads.partition_point(|other| *other < head);
                    let head = signed(head);
                    assert_eq!(Portable.run(Below(&line), head), expected);
                    #[cfg(target_arch = "x86_64")]
                    {
                        let avx2 = Avx2::detect().map(|way| way.run(Below(&line), head));
                        let avx512 = Avx512::detect().map(|way| way.run(Below(&line), head));
                        for found in [avx2, avx512].into_iter().flatten() {
                            assert_eq!(found, expected);
                        }
                    }
                }
            }
        }
    }
}
