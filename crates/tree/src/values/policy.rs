//! The trait of value policies, which decide where values are stored.

/// The kind of work that writes SSTables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writing {
    /// A flush, which writes to level 0.
    Flush,
    /// A compaction whose output goes to this level.
    Compaction {
        /// The level of the output.
        level: usize,
    },
}

/// The data about one blob file that a value policy receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlobFileShape {
    /// The number of the file. A file with a larger number is newer.
    pub id: u64,
    /// The total size of all values with their keys and checksums, in bytes.
    pub bytes: u64,
    /// The part of `bytes` to which SSTables refer. A value without a reference from an SSTable is stale. If a key is
    /// overwritten, the old value becomes stale when a compaction drops the old entry.
    pub live_bytes: u64,
    /// The partition of the keys. The number is below [`ValuePolicy::partitions`] of the policy that wrote the file.
    pub partition: u32,
}

impl BlobFileShape {
    /// Returns the number of bytes of stale values.
    pub fn stale_bytes(&self) -> u64 {
        self.bytes.saturating_sub(self.live_bytes)
    }

    /// Returns the share of stale bytes in the file, from 0 to 1.
    pub fn stale_share(&self) -> f64 {
        if self.bytes == 0 { 0.0 } else { self.stale_bytes() as f64 / self.bytes as f64 }
    }
}

/// A value policy. The policy decides which values are stored in blob files, and which blob files are rewritten
/// because many of their values are stale.
///
/// Contract:
/// 1. Calls with equal arguments return equal results.
/// 2. [`file_bytes`](Self::file_bytes) and [`partitions`](Self::partitions) are above 0.
/// 3. [`relocates`](Self::relocates) and [`collects`](Self::collects) return only files of their argument, each file at
///    most once.
/// 4. Garbage collection ends. If each collected file is replaced with a file that contains its live values, `collects`
///    returns no file after finitely many rounds.
pub trait ValuePolicy: Send + Sync {
    /// Returns the minimum size, in bytes, of values that a flush or compaction of this kind writes to blob files.
    /// Returns `None` if all values stay in the SSTables.
    fn separates_from(&self, writing: Writing) -> Option<u64>;

    /// Returns the size at which a blob file is complete, in bytes.
    fn file_bytes(&self) -> u64;

    /// Returns the number of partitions, at least 1. The hashes of all keys in a blob file belong to one partition.
    fn partitions(&self) -> u32 {
        1
    }

    /// Returns the numbers of the files whose live values move to new files when a compaction reads their keys. `files`
    /// contains every blob file of the tree, from the oldest to the newest.
    fn relocates(&self, files: &[BlobFileShape]) -> Vec<u64>;

    /// Returns the numbers of the files whose live values must move now, even if no compaction is due. The tree then
    /// rewrites the SSTables that refer to these files. `files` contains every blob file of the tree, from the oldest
    /// to the newest.
    fn collects(&self, files: &[BlobFileShape]) -> Vec<u64> {
        let _ = files;
        Vec::new()
    }
}
