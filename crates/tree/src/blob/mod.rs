//! Blob files, which store values separately from their keys. SSTables refer to these values by pointers.
//!
//! A blob file is a sequence of records and a footer:
//!
//! ```text
//! record*   u32 checksum, u32 key length, u32 value length, key, value
//! footer    u64 records, u64 bytes of all records, u32 partition, u32 checksum, magic number
//! ```
//!
//! The checksum of a record covers the record, its offset and the seal of the file (see [`seals`](crate::seals)). A
//! reader therefore detects a record in the wrong file or at the wrong offset. A record repeats its key, so a reader
//! detects a pointer to the value of another key. In an SSTable with pointers, each stored value begins with a tag byte
//! that distinguishes values from pointers. The SSTable also lists the blob files to which it points. For each of these
//! files, the list has the number and the total length of the records to which the SSTable points. The live bytes of a
//! blob file are the sum of these lengths over all SSTables.

mod file;
mod record;
mod references;
mod registry;
mod stored;
mod writer;

use std::path::{Path, PathBuf};

pub(crate) use file::{BlobFile, BlobSource};
pub(crate) use record::reseal;
pub use record::{FOOTER_BYTES, record_bytes};
pub(crate) use references::{Reference, References, shapes};
pub(crate) use registry::BlobFiles;
pub(crate) use stored::{Pointer, Stored};
pub(crate) use writer::BlobWriter;

/// Returns the path of the blob file `number` of the tree in `directory`.
pub(crate) fn blob_path(directory: &Path, number: u64) -> PathBuf {
    directory.join(format!("{number:08}.blob"))
}
