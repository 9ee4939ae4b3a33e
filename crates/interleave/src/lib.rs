//! The structures of ours that have no locks, compiled a second time with the atomics of `loom`, which runs a model
//! of a few threads through all their interleavings and all that the memory model lets them read.
//!
//! The files are those of the crates they belong to; what these import from `crate::sync` is here what is
//! watched. `tests/models.rs` runs the [models](Model), and each once more for every place where it asks
//! for an order, with that place relaxed.

mod cell;
mod models;
mod sync;

// The files that are modelled, and the small ones that they stand on.
#[expect(dead_code, reason = "a model does a part of what the tree does")]
#[path = "../../tree/src/visible.rs"]
mod visible;

#[path = "../../cache/src/epochs.rs"]
mod epochs;

#[path = "../../memtable/src/arena_skiplist.rs"]
mod arena_skiplist;
#[path = "../../memtable/src/bplus.rs"]
mod bplus;
#[path = "../../memtable/src/bplus_node.rs"]
mod bplus_node;
#[path = "../../memtable/src/memtable.rs"]
pub mod memtable;
mod shared_arena;
#[expect(dead_code, unused_macro_rules, reason = "memtables behind a lock are not among the models")]
#[path = "../../memtable/src/versions.rs"]
mod versions;

pub use models::{MODELS, Model, Verdict};
pub use sync::Site;
