//! Memory hints for data structures with random accesses: huge pages for large arrays, and prefetching of cache lines.
//! The hints change only the time of an access, never its result.
//!
//! The functions of [`large`] create vectors with huge pages. [`prefetch()`] loads one cache line in advance, and
//! [`prefetch_all`] loads the cache lines of a byte string. Filters, fences, memtables and the tree use these hints for
//! their own data structures.
//!
//! ```
//! use lsmbench_prefetch::{large, prefetch};
//!
//! let squares: Vec<u64> = large::collected((0..300_000_u32).map(|number| u64::from(number).pow(2)));
//! let probes = [299_999, 7, 150_000];
//! // The cache misses of the three probes overlap.
//! probes.iter().for_each(|probe| prefetch(&squares, *probe));
//! let found = probes.map(|probe| squares[probe]);
//! assert_eq!(found, [89_999_400_001, 49, 22_500_000_000]);
//! ```

pub mod large;
mod prefetch;

pub use prefetch::{LINE_BYTES, prefetch, prefetch_all, prefetch_at};
