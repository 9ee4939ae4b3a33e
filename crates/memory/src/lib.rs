//! What structures that are read at random ask of memory: huge pages under large arrays, and cache lines before
//! they are needed. Both are hints that change time and nothing else.

pub mod large;
mod prefetch;

pub use prefetch::{LINE_BYTES, prefetch, prefetch_all};
