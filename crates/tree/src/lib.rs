//! The tree: the only place where the axes meet.
//!
//! A [`Design`] names one variant on every axis; [`OpenOptions::open`] assembles them into a [`Tree`], a
//! durable ordered map from byte strings to byte strings.
//!
//! * Writes get a sequence number, go to the log and the memtable, and become visible in order ([`Tree::put`],
//!   [`WriteBatch`]).
//! * Reads load one pointer to an immutable view of memtables and runs, and take no lock ([`Tree::get`],
//!   [`Range`], [`Snapshot`]).
//! * Flushes and compactions make new tables and swap the view. Each table holds one version per key: which of
//!   two is newer follows from the order of runs.

mod assemble;
mod batch;
pub mod block;
mod checkpoint;
mod checksum;
mod codec;
pub mod conformance;
mod design;
mod error;
pub mod hash;
mod inner;
mod maintain;
mod manifest;
mod memory;
pub mod merge;
mod open_options;
mod opening;
mod range;
mod read;
mod recovered;
mod recovery;
#[doc(hidden)]
pub mod reseal;
mod seals;
mod snapshot;
mod stats;
mod sync;
mod table;
mod tree;
mod verify;
mod version;
mod visible;
pub mod wal;
mod write;

pub use batch::WriteBatch;
pub use checksum::Checksum;
pub use design::{
    AXES, BlockIndex, BlockOptions, DEPRECATIONS, Deprecation, Design, DesignError, InlineWork, LastKey,
    Mapped, MergeKernel, MergeOptions, Options, RangeOptions, SECOND_NAMES, StallOptions, TableOptions,
    TableReaders, TableReferences, ThreadOptions, Verify, axis, deprecations, own_key_entries, own_keys,
};
pub use error::{Error, Result};
pub use inner::Mode;
pub use open_options::OpenOptions;
pub use range::Range;
pub use read::Values;
pub use recovered::Recovery;
pub use snapshot::Snapshot;
pub use stats::{Counts, LevelCounts, LevelStats, Stats};
pub use tree::Tree;
pub use verify::{Verification, verify};
