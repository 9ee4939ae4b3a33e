//! Basic types that all crates use: keys and their hashes, entries and sequence numbers, batches of entries, shared
//! immutable bytes, pseudorandom numbers, the parts of lsmbench that only some systems support, and the error of user
//! requests.
//!
//! This crate needs only the standard library.

mod already_hashed;
mod avalanche;
mod batch;
mod bytes;
mod entry;
mod key;
mod key_list;
mod merge_operator;
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
pub use platform::{NotOnPlatform, Platform, PlatformPart};
pub use problem::{Outcome, Problem};
pub use scan::Direction;
pub use split_mix::SplitMix64;
