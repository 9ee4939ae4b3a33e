//! Memory hints for data structures with random accesses: huge pages for large arrays, and prefetching of cache
//! lines. The hints change only the time of an access, never its result.

pub mod large;
mod prefetch;

pub use prefetch::{LINE_BYTES, prefetch, prefetch_all, prefetch_at};
