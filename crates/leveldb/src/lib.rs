//! The C interface of LevelDB over a tree of any design.
//!
//! The shared library exports all functions of LevelDB's header `leveldb/c.h`, and one further function,
//! [`leveldb_settle`]. A store has the design of the file that the environment variable `LSMBENCH_DESIGN` names. Without
//! the variable, the design has LevelDB's default options. Options that the program sets replace the matching keys of
//! the design.
//!
//! The modules at the root are safe Rust over the tree. The module `c` converts pointers, and catches panics.
//!
//! # Safety
//!
//! The rules of `leveldb/c.h` hold for all exported functions:
//!
//! - Each handle must come from the function that creates this type of handle, and must not be used after the
//!   function that destroys it. A null handle is an error or has no effect.
//! - A pointer to bytes must point to as many bytes as the length after it states. No other thread may change these
//!   bytes during the call. A text ends with a null byte.
//! - `errptr` is null, or points to a null pointer or to a message from `malloc`. A call that fails replaces the message.
//! - Threads may share a store, a snapshot, and objects that no thread changes. For all other types of objects, the
//!   program must use a lock.
//! - A snapshot or an iterator is destroyed before its store is closed.

mod administration;
mod c;
mod cursor;
mod design;
mod failure;
mod key_order;
mod properties;
mod settings;
mod shared_cache;
mod store;

pub use c::*;
