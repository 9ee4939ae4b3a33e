//! Memory hints for structures with random accesses: huge pages for large arrays, and prefetching of cache lines. These
//! hints change only the time of an access, and never its result.

pub mod large;
mod prefetch;

pub use prefetch::{LINE_BYTES, prefetch, prefetch_all, prefetch_at};
