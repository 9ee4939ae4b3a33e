//! Model checking of the lock-free structures in this repository. This crate compiles their source files a second time,
//! with the atomics of `loom`. `loom` executes a model with a few threads in all interleavings, and with all values
//! that the memory model permits for each read.
//!
//! The source files import their atomics from `crate::sync`, which is a module with instrumented types in this crate.
//! `tests/models.rs` runs the [models](LoomModel). The tests also weaken one memory ordering of the source at a time to
//! `Relaxed`, and run the models again. An ordinary test run does so for every eighth ordering, and a nightly run for
//! every ordering.

mod cell;
mod models;
mod sync;

// The modeled files, and small files on which they depend.
#[expect(dead_code, reason = "the models use only some functions of this file")]
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

pub use models::{LoomModel, LoomVerdict, MODELS};
pub use sync::Site;
