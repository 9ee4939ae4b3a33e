//! Large values in blob files. Each flush and each compaction creates its own blob files.
//!
//! Sources: the integrated `BlobDB` of `RocksDB` (2021), Titan (`PingCAP`), and the key-value separation of Fjall. A
//! flush writes large values to a blob file, and the SSTables contain pointers to the values. A compaction copies the
//! pointers and leaves the values in their files. If a pointer refers to a file with many stale values, the
//! compaction copies the value to a new file.

use catalog::{Build, ByteSize, Variant};
use serde::{Deserialize, Serialize};

use super::params::{check_share, file_bytes, stale_files};
use super::policy::{BlobFileShape, ValuePolicy, Writing};

pub(super) const VARIANT: Variant<dyn ValuePolicy> = Variant::new::<BlobFiles>(
    "blob-files",
    "each flush and compaction writes large values to new blob files; live values leave files with many \
     stale values",
    "# Smallest size of a value that goes to a blob file. With a smaller size, compactions write less, but\n\
     # scans read more scattered values.\n\
     threshold = \"512B\"\n\
     # Size at which a blob file is complete. One flush or compaction can write several files.\n\
     file_size = \"64MiB\"\n\
     # Share of stale bytes in a blob file, above 0 and at most 1, at which its live values are relocated.\n\
     # With a smaller share, the store takes less space, but relocation writes more.\n\
     stale_share = 0.5\n\
     # When live values are relocated. \"compaction\": when a compaction reads their keys. \"apart\": as\n\
     # soon as the file has this share of stale bytes.\n\
     relocation = \"compaction\"\n",
);

/// The value policy `blob-files` with its parameters.
struct BlobFiles(Params);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    threshold: ByteSize,
    file_size: ByteSize,
    stale_share: f64,
    relocation: Relocation,
}

/// The time at which the live values of a blob file with many stale values move to a new blob file.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Relocation {
    /// Live values move when a compaction reads their keys.
    Compaction,
    /// Live values move as soon as the share of stale bytes in their blob file is at least `stale_share`.
    Apart,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            threshold: ByteSize(512),
            file_size: ByteSize(64 << 20),
            stale_share: 0.5,
            relocation: Relocation::Compaction,
        }
    }
}

impl Build<dyn ValuePolicy> for BlobFiles {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn ValuePolicy>, String> {
        file_bytes(params.file_size)?;
        check_share(params.stale_share)?;
        Ok(Box::new(Self(params)))
    }
}

impl ValuePolicy for BlobFiles {
    fn separates_from(&self, _: Writing) -> Option<u64> {
        Some(self.0.threshold.0)
    }

    fn file_bytes(&self) -> u64 {
        self.0.file_size.0
    }

    fn relocates(&self, files: &[BlobFileShape]) -> Vec<u64> {
        stale_files(files, self.0.stale_share)
    }

    fn collects(&self, files: &[BlobFileShape]) -> Vec<u64> {
        match self.0.relocation {
            Relocation::Compaction => Vec::new(),
            Relocation::Apart => stale_files(files, self.0.stale_share),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_from_the_stale_share_on_are_relocated() {
        let policy = |relocation| BlobFiles(Params { relocation, ..Params::default() });
        let file = |id, live_bytes| BlobFileShape { id, bytes: 100, live_bytes, partition: 0 };
        let files = [file(1, 100), file(4, 51), file(7, 50), file(9, 1)];
        assert_eq!(policy(Relocation::Compaction).relocates(&files), [7, 9]);
        assert!(policy(Relocation::Compaction).collects(&files).is_empty());
        assert_eq!(policy(Relocation::Apart).collects(&files), [7, 9]);
    }
}
