//! Memory hints for structures with random accesses: huge pages for large arrays, and prefetching of cache lines.
//! Huge pages and prefetches change only the time of an access, but not its result.

pub mod large;
mod prefetch;

pub use prefetch::{LINE_BYTES, prefetch, prefetch_all, prefetch_at};
