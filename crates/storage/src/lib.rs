//! The storage axis: access to files through a trait. A back end stores files. A decorator counts calls, records
//! calls, or makes calls fail.

mod aligned;
mod appending;
mod block_writer;
pub mod conformance;
mod counting;
mod direct;
mod expected;
mod faulty;
mod fuse;
mod holder;
mod mapped_log;
mod memory;
mod mmap;
pub mod page_cache;
mod page_cached;
mod posix;
mod pread;
mod recording;
mod simulated;
mod storage;
mod together;
mod uring;

use catalog::Catalog;

pub use counting::{Counting, FileCounts, PurposeCounts};
pub use faulty::{Call, DiskError, FaultEffect, FaultExtent, Faulty, FileOperation, InjectedFault};
pub use holder::Held;
pub use memory::{Memory, States, Unsynced};
pub use recording::{RecordingStorage, StorageChange, StorageReplay};
pub use storage::{DeviceTime, Purpose, ReadFile, Storage, StorageError, WriteFile};

/// The catalog of all storage back ends. The first back end is the baseline.
pub static CATALOG: Catalog<dyn Storage> = Catalog::new(
    catalog::origin!(),
    "storage",
    "the method by which files are read and written",
    &[pread::VARIANT, mmap::VARIANT, direct::VARIANT, uring::VARIANT, memory::VARIANT, simulated::VARIANT],
);
