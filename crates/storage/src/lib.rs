//! The storage axis: access to files through a trait. A back end stores files. A decorator counts calls, records calls,
//! or makes calls fail.
//!
//! The tree makes all calls on files through a [`Storage`]. This crate is below the tree, and does not depend on the
//! contents of files. [`CATALOG`] lists the back ends, and [`Counting`], [`RecordingStorage`] and [`Faulty`] are the
//! decorators. The back end [`Memory`] is a simulated disk, which can lose unsynced data as in a power failure:
//!
//! ```
//! use std::path::Path;
//!
//! use lsmbench_storage::{Memory, Purpose, Storage, Unsynced};
//!
//! let (disk, path) = (Memory::default(), Path::new("db/wal"));
//! disk.create_directory(Path::new("db"))?;
//! let mut file = disk.create(path, Purpose::Log)?;
//! disk.sync_directory(Path::new("db"))?;
//! file.append(b"synced")?;
//! file.sync()?;
//! file.append(b" and lost")?;
//! let file = disk.after_crash(Unsynced::Dropped).open(path, Purpose::Log)?;
//! assert_eq!(*file.read(0, file.len() as usize)?, *b"synced");
//! # Ok::<(), lsmbench_storage::StorageError>(())
//! ```

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
