//! Sorted tables on storage: blocks, the filter, the fence, and how they are written, opened and read.
//!
//! A table file is, from front to back: data blocks, the filter, the fence, the directory, the properties,
//! and a footer of fixed length. Every part is under a checksum that knows the file and the offset it
//! belongs to.

mod block;
mod block_builder;
mod block_cursor;
mod check;
mod directory;
mod fingerprints;
mod footer;
mod hash_index;
mod properties;
mod reader;
mod run_cursor;
mod writer;

pub(crate) use properties::Properties;
pub(crate) use reader::{Component, Table, TableContext, table_path};
pub(crate) use run_cursor::RunCursor;
pub(crate) use writer::TableWriter;
