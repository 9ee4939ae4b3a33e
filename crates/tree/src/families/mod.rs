//! Column families: several trees in one directory that share one WAL, one cache and one memory budget.
//!
//! Each family is a separate tree in its own subdirectory, but without a WAL. The WAL of all families is in the
//! directory of the store. Each record of the shared WAL contains one commit. For each family of the commit, the
//! record contains the number of the family, the sequence number of its first operation in that family, and its
//! operations.
//!
//! - The manifest of a family states the sequence number up to which the family is flushed. Recovery applies only the
//!   parts of a record above this number, so it can replay a record twice without an effect.
//! - The store syncs the WAL before a memtable becomes immutable. A family is therefore never ahead of the durable WAL,
//!   and recovery restores each batch completely or not at all. The result does not depend on which families have
//!   flushed the batch.
//! - A segment of the WAL is removed when every family has flushed the operations that the segment contains.

mod batch;
mod family;
mod membership;
mod memory_share;
mod opening;
mod part;
mod recovered;
mod retired;
mod shared_log;
mod store;
mod tally;

pub use batch::{FamilyBatch, FamilyId};
pub use family::Family;
pub(crate) use membership::Membership;
pub(crate) use recovered::{FamilyProgress, read_segment};
pub use store::Families;
