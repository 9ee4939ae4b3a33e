//! The trait of value policies, which decide where values are stored.

/// The kind of work that writes SSTables and can also write blob files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writing {
    /// A flush, which writes an SSTable of level 0.
    Flush,
    /// A compaction that writes SSTables of this level.
    Compaction {
        /// The level to which the SSTables of the compaction belong.
        level: usize,
    },
}

/// The number, sizes and partition of one blob file. From these, a value policy decides which blob files are rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlobFileShape {
    /// The number of the blob file. A file with a larger number is newer.
    pub id: u64,
    /// The total size of all values in the blob file with their keys and checksums, in bytes.
    pub bytes: u64,
    /// The part of `bytes` to which SSTables refer. The rest belongs to stale values. If a key is overwritten, its old
    /// value becomes stale when a compaction drops the old entry.
    pub live_bytes: u64,
    /// The partition to which all keys of the blob file belong. The number is below [`ValuePolicy::partitions`] of the
    /// policy that wrote the file.
    pub partition: u32,
}

impl BlobFileShape {
    /// Returns the number of bytes of stale values in the blob file.
    pub fn stale_bytes(&self) -> u64 {
        self.bytes.saturating_sub(self.live_bytes)
    }

    /// Returns the share of stale bytes in the blob file, from 0 to 1.
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

    /// Returns the number of partitions into which the policy divides keys by their hashes, at least 1. All keys of a
    /// blob file belong to one partition.
    fn partitions(&self) -> u32 {
        1
    }

    /// Returns the numbers of the blob files whose live values move to new files when a compaction reads their keys.
    /// `files` contains every blob file of the tree, from the oldest to the newest.
    fn relocates(&self, files: &[BlobFileShape]) -> Vec<u64>;

    /// Returns the numbers of the blob files whose live values must move now, even if no compaction is due. The tree
    /// then rewrites the SSTables that refer to these files. `files` contains every blob file of the tree, from the
    /// oldest to the newest.
    fn collects(&self, files: &[BlobFileShape]) -> Vec<u64> {
        let _ = files;
        Vec::new()
    }
}
