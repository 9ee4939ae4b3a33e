//! Blob files: values apart from their keys. SSTables refer to the values by pointers.
//!
//! A blob file is a sequence of records and a footer:
//!
//! ```text
//! record*   u32 checksum, u32 key length, u32 value length, key, value
//! footer    u64 records, u64 bytes of all records, u32 partition, u32 checksum, magic number
//! ```
//!
//! The checksum of a record also covers the seal of the file and the offset, so a record at a wrong place is detected. A
//! record repeats its key, so a pointer to another key's value is detected. An SSTable with pointers marks each of its
//! values with one byte, and lists the blob files with the records and bytes that it refers to. The live bytes of a blob
//! file are the sum over all SSTables.

mod file;
mod record;
mod references;
mod registry;
mod stored;
mod writer;

use std::path::{Path, PathBuf};

pub(crate) use file::{BlobFile, BlobSource};
pub(crate) use record::{record_bytes, reseal};
pub(crate) use references::{Reference, References, shapes};
pub(crate) use registry::BlobFiles;
pub(crate) use stored::{Pointer, Stored};
pub(crate) use writer::BlobWriter;

/// Returns the path of a blob file.
pub(crate) fn blob_path(directory: &Path, number: u64) -> PathBuf {
    directory.join(format!("{number:08}.blob"))
}
