//! An LSM-tree that is assembled from interchangeable components. Each kind of component, such as the filter, is an
//! axis, and each implementation is a variant of its axis.
//!
//! A [`Design`] names one variant of every axis. [`OpenOptions::open`] assembles these variants into a [`Tree`]: a
//! durable ordered map from byte strings to byte strings.
//!
//! ```
//! use lsmbench_tree::{Design, OpenOptions};
//!
//! let design = Design::default().with(&"storage = \"memory\"\nbloom = \"ribbon\"".parse()?)?;
//! let tree = OpenOptions::new(design).open("db")?;
//! tree.put(b"key", b"value")?;
//! assert_eq!(tree.get(b"key")?.as_deref(), Some(b"value".as_slice()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - A write gets a sequence number, goes to the WAL and the memtable, and becomes visible in the order of sequence
//!   numbers ([`Tree::put`], [`WriteBatch`]).
//! - A read loads one pointer to an immutable view of memtables and sorted runs, and takes no lock ([`Tree::get`],
//!   [`Range`], [`Snapshot`]).
//! - Flushes and compactions write new SSTables and replace the view. A sorted run contains at most one version of each
//!   key. The order of the runs determines which of two versions is newer.

mod approximate;
pub mod arbiter;
mod arbitration;
mod assemble;
mod balance;
mod batch;
mod blob;
pub mod block;
mod checkpoint;
mod checksum;
mod claim;
mod codec;
mod conditional;
pub mod conformance;
mod delay;
mod design;
mod destroy;
mod error;
mod failure;
mod families;
mod family_folder;
mod file_index;
pub mod hash;
mod inner;
mod level_locks;
mod log_shelf;
mod lookup_pool;
mod maintain;
mod manifest;
mod memory;
pub mod merge;
mod merge_operands;
mod next_log;
mod obsolete_files;
mod open_options;
mod opening;
mod pacing;
mod range;
mod range_deletes;
mod range_tombstones;
mod read;
mod recovered;
mod recovery;
#[doc(hidden)]
pub mod reseal;
mod run_lookup;
mod scanned;
mod schedule;
mod seals;
mod single_deletes;
mod snapshot;
pub mod sorted_view;
mod stats;
mod sync;
mod table;
mod tree;
pub mod values;
mod verify;
mod version;
mod visible;
pub mod wal;
mod write;

pub use batch::WriteBatch;
pub use blob::{FOOTER_BYTES as BLOB_FOOTER_BYTES, record_bytes as blob_record_bytes};
pub use checksum::Checksum;
pub use design::{
    AXES, BackgroundThreads, BlockIndex, BlockOptions, DEPRECATIONS, Deprecation, Design, DesignError,
    FamilyLayout, FilterPlace, InlineWork, LastKey, ManifestPlace, Mapped, MergeKernel, MergeOptions,
    Options, Pacing, RangeOptions, SECOND_NAMES, Schedule, StallOptions, TableLayout, TableNames,
    TableOptions, TableReaders, TableReferences, TableRelease, ThreadOptions, Verify, axis, deprecations,
    family_entries, family_of_path, own_key_entries, own_keys,
};
pub use destroy::destroy;
pub use error::{Error, Result};
pub use families::{Families, Family, FamilyBatch, FamilyId};
pub use family_folder::family_names;
pub use inner::Mode;
pub use open_options::OpenOptions;
pub use range::Range;
pub use read::MultiGetValues;
pub use recovered::Recovery;
pub use recovery::QUARANTINE;
pub use snapshot::Snapshot;
pub use stats::{BlobStats, Counts, LevelCounts, LevelStats, Stats};
pub use tree::Tree;
pub use types::MergeOperator;
pub use verify::{Verification, verify};
