//! Values by size: small values in SSTables, large values in blob files. Flushes write large values to blob files.
//! Compactions to deeper levels also write medium values to blob files.
//!
//! Sources: Li et al., "Differentiated Key-Value Storage Management for Balanced I/O Performance" (`DiffKV`, USENIX ATC
//! 2021), with three size classes of values. Xanthakis et al., "Parallax" (`SoCC` 2021), with late separation of medium
//! values. A medium value stays next to its key while compactions merge the upper levels. In the upper levels, newer
//! versions replace many medium values before these values reach a blob file. In the deeper levels, compactions copy
//! only pointers.

use catalog::{Build, ByteSize, Variant};
use serde::{Deserialize, Serialize};

use super::params::{check_share, file_bytes, stale_files};
use super::policy::{BlobFileShape, ValuePolicy, Writing};

pub(super) const VARIANT: Variant<dyn ValuePolicy> = Variant::new::<TieredBySize>(
    "tiered-by-size",
    "small values in SSTables, large values in blob files, medium values in blob files only in lower levels",
    "# Size from which a value is large and goes to a blob file at the flush.\n\
     large = \"8KiB\"\n\
     # Size from which a value is medium. A medium value goes to a blob file at a compaction to medium_level\n\
     # or below.\n\
     medium = \"128B\"\n\
     # First level whose SSTables contain no medium values, at least 1.\n\
     medium_level = 2\n\
     # Size at which a blob file is complete. One flush or compaction can write several files.\n\
     file_size = \"64MiB\"\n\
     # Share of stale bytes in a blob file, above 0 and at most 1, at which compactions relocate its live\n\
     # values.\n\
     stale_share = 0.3\n",
);

/// The value policy `tiered-by-size` with its parameters.
struct TieredBySize(Params);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    large: ByteSize,
    medium: ByteSize,
    medium_level: usize,
    file_size: ByteSize,
    stale_share: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            large: ByteSize(8 << 10),
            medium: ByteSize(128),
            medium_level: 2,
            file_size: ByteSize(64 << 20),
            stale_share: 0.3,
        }
    }
}

impl Build<dyn ValuePolicy> for TieredBySize {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn ValuePolicy>, String> {
        file_bytes(params.file_size)?;
        check_share(params.stale_share)?;
        if params.medium > params.large {
            return Err(format!(
                "medium is {}; it must be at most {}, the value of large",
                params.medium, params.large
            ));
        }
        if params.medium_level == 0 {
            return Err("medium_level is 0; it must be at least 1, because flushes write level 0".to_owned());
        }
        Ok(Box::new(Self(params)))
    }
}

impl ValuePolicy for TieredBySize {
    fn separates_from(&self, writing: Writing) -> Option<u64> {
        match writing {
            Writing::Compaction { level } if level >= self.0.medium_level => Some(self.0.medium.0),
            _ => Some(self.0.large.0),
        }
    }

    fn file_bytes(&self) -> u64 {
        self.0.file_size.0
    }

    fn relocates(&self, files: &[BlobFileShape]) -> Vec<u64> {
        stale_files(files, self.0.stale_share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medium_values_leave_at_a_deeper_level() {
        let policy = TieredBySize(Params::default());
        let from = |writing| policy.separates_from(writing);
        assert_eq!(from(Writing::Flush), Some(8 << 10));
        assert_eq!(from(Writing::Compaction { level: 1 }), Some(8 << 10));
        assert_eq!(from(Writing::Compaction { level: 2 }), Some(128));
        assert_eq!(from(Writing::Compaction { level: 6 }), Some(128));
    }
}
