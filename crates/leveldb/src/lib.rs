//! The C interface of LevelDB over a tree of any design.
//!
//! The shared library exports all functions of LevelDB's header `leveldb/c.h`, and one additional function,
//! [`leveldb_settle`]. The environment variable `LSMBENCH_DESIGN` names the design file of a store. Without the
//! variable, the design corresponds to LevelDB's default options. Options that the program sets replace the matching
//! keys of the design.
//!
//! The modules at the root are safe Rust code that uses the tree. The module `c` converts pointers and catches panics.
//!
//! A program in C makes the same calls as this example:
//!
//! ```
//! use lsmbench_leveldb::*;
//!
//! # let folder = tempfile::tempdir()?;
//! # let directory = std::ffi::CString::new(folder.path().to_str().expect("the path must be UTF-8"))?;
//! let (mut error, mut length) = (std::ptr::null_mut(), 0);
//! // SAFETY: the handles come from the library, and the texts have the passed lengths.
//! unsafe {
//!     let options = leveldb_options_create();
//!     leveldb_options_set_create_if_missing(options, 1);
//!     let db = leveldb_open(options, directory.as_ptr(), &mut error);
//!     let (reads, writes) = (leveldb_readoptions_create(), leveldb_writeoptions_create());
//!
//!     leveldb_put(db, writes, c"key".as_ptr(), 3, c"value".as_ptr(), 5, &mut error);
//!     let value = leveldb_get(db, reads, c"key".as_ptr(), 3, &mut length, &mut error);
//!     assert!(error.is_null());
//!     assert_eq!(std::slice::from_raw_parts(value.cast::<u8>(), length), b"value");
//!
//!     leveldb_free(value.cast());
//!     leveldb_close(db);
//! #     leveldb_readoptions_destroy(reads);
//! #     leveldb_writeoptions_destroy(writes);
//! #     leveldb_options_destroy(options);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Safety
//!
//! The rules of `leveldb/c.h` apply to all exported functions:
//!
//! - Each handle must come from the function that creates this type of handle. After the function that destroys the
//!   handle, the handle must not be used. A null handle is an error or has no effect.
//! - A pointer to bytes must point to the number of bytes that the next argument states. No other thread may change
//!   these bytes during the call. A text ends with a null byte.
//! - `errptr` is null, or points to a null pointer or to a message from `malloc`. If a call fails, it frees this
//!   message and stores a new message.
//! - Threads may share a store, a snapshot, and objects that no thread changes. For all other objects, the program must
//!   use a lock.
//! - A program must destroy all snapshots and iterators of a store before it closes the store.

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
