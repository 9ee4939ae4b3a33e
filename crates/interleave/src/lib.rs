//! Our lock-free structures, compiled a second time with the atomics of `loom`, which runs a model of a few threads
//! through all their interleavings and all reads that the memory model allows.
//!
//! The files are those of the crates they belong to; their imports from `crate::sync` resolve to the watched types of
//! this crate. `tests/models.rs` runs the [models](Model), and runs each again for every site with a memory ordering,
//! with that site relaxed.

mod cell;
mod models;
mod sync;

// The modelled files, and the small ones that they depend on.
#[expect(dead_code, reason = "a model uses a part of the tree")]
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
#[expect(dead_code, unused_macro_rules, reason = "memtables with a lock are not among the models")]
#[path = "../../memtable/src/versions.rs"]
mod versions;

pub use models::{MODELS, Model, Verdict};
pub use sync::Site;
