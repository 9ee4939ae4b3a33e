//! Memory hints for structures that are read at random: huge pages for large arrays, and prefetching of cache lines.
//! Both change the time of an access and nothing else.

pub mod large;
mod prefetch;

pub use prefetch::{LINE_BYTES, prefetch, prefetch_all};
