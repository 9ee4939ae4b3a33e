//! The functions of `leveldb/c.h`. Each file contains the functions for one type of object.

mod access;
mod batch;
mod cache;
mod call_options;
mod comparator;
mod env;
mod filter_policy;
mod inspection;
mod iterator;
mod memory;
mod options;
mod seam;
mod snapshot;
mod store;

pub use access::*;
pub use batch::*;
pub use cache::*;
pub use call_options::*;
pub use comparator::*;
pub use env::*;
pub use filter_policy::*;
pub use inspection::*;
pub use iterator::*;
pub use memory::{leveldb_free, leveldb_major_version, leveldb_minor_version};
pub use options::*;
pub use snapshot::*;
pub use store::*;
