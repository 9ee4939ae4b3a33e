//! Files as a trait: back ends that keep them, and decorators that count and fail.

mod storage;

pub use storage::{Purpose, ReadFile, Storage, StorageError, WriteFile};
