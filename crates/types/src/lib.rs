//! Basic types that all crates use: keys and their hashes, entries and sequence numbers, batches of entries, shared
//! immutable bytes, pseudorandom numbers, the parts of lsmbench that only some systems support, and the error of user
//! requests.
//!
//! A [`HashedKey`] is a key with its hash. An [`Entry`] is a key with its value, or with a tombstone. An [`EntryBatch`]
//! copies the entries of a scan into one arena, and [`Bytes`] share memory without a copy. The module [`quantity`]
//! parses texts such as `4MiB`. A [`Problem`] is the error of a user request.
//!
//! This crate is at the bottom of the workspace, and needs only the standard library.
//!
//! ```
//! use lsmbench_types::{Entry, EntryBatch};
//!
//! let mut batch = EntryBatch::default();
//! batch.push(Entry { key: b"apple", value: Some(b"red") });
//! // An entry without a value is a tombstone, which marks a deleted key.
//! batch.push(Entry { key: b"pear", value: None });
//! assert_eq!(batch.entry(0).value, Some(b"red".as_slice()));
//! assert_eq!(batch.entry(1).value, None);
//! assert_eq!(batch.user_bytes(), 12);
//! ```

mod already_hashed;
mod avalanche;
mod batch;
mod bytes;
mod entry;
mod key;
mod key_list;
mod merge_operator;
mod names;
mod platform;
mod problem;
pub mod quantity;
mod scan;
mod split_mix;

pub use already_hashed::AlreadyHashed;
pub use avalanche::avalanche;
pub use batch::{Entries, EntryBatch, Rest};
pub use bytes::{Bytes, PADDING};
pub use entry::{ENTRY_CHARGE_BYTES, Entry, Lookup, SequenceNumber};
pub use key::{HashedKey, KeyHash, MAX_BATCH_BYTES, MAX_KEY_BYTES, MAX_VALUE_BYTES, common_prefix, head};
pub use key_list::KeyList;
pub use merge_operator::MergeOperator;
pub use names::valid_names;
pub use platform::{NotOnPlatform, Platform, PlatformPart};
pub use problem::{Outcome, Problem, shorten_words};
pub use scan::Direction;
pub use split_mix::SplitMix64;
