//! The trait of value policies, which decide where values live. A policy sees blob files as plain data.

/// The work that writes SSTables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writing {
    /// A flush, which writes to level 0.
    Flush,
    /// A compaction that writes to this level.
    Compaction {
        /// The level of the output.
        level: usize,
    },
}

/// The data of one blob file that a policy sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlobFileShape {
    /// The number of the file. A file with a larger number is newer.
    pub id: u64,
    /// The bytes of all values, with their keys and checksums.
    pub bytes: u64,
    /// The part of `bytes` that SSTables refer to. A value is stale when no SSTable refers to it. The newest version of
    /// a key makes an older value stale at the compaction that drops the older entry.
    pub live_bytes: u64,
    /// The partition of the keys, below [`ValuePolicy::partitions`] of the policy that wrote the file.
    pub partition: u32,
}

impl BlobFileShape {
    /// Returns the bytes of stale values.
    pub fn stale_bytes(&self) -> u64 {
        self.bytes.saturating_sub(self.live_bytes)
    }

    /// Returns the stale part of the file, 0 to 1.
    pub fn stale_share(&self) -> f64 {
        if self.bytes == 0 { 0.0 } else { self.stale_bytes() as f64 / self.bytes as f64 }
    }
}

/// A value policy. The policy decides which values leave the SSTables and live in blob files, and which blob files are
/// rewritten because many of their values are stale.
///
/// Contract:
/// 1. Equal questions get equal answers.
/// 2. [`file_bytes`](Self::file_bytes) and [`partitions`](Self::partitions) are above 0.
/// 3. [`relocates`](Self::relocates) and [`collects`](Self::collects) name each file at most once, and only files that
///    they were shown.
/// 4. Collecting ends: if each collected file is replaced by a file with its live values, `collects` names no file
///    after finitely many rounds.
pub trait ValuePolicy: Send + Sync {
    /// Returns the size in bytes from which this work writes values to blob files. `None` if all values stay in the
    /// SSTables.
    fn separates_from(&self, writing: Writing) -> Option<u64>;

    /// Returns the size in bytes at which a blob file is complete.
    fn file_bytes(&self) -> u64;

    /// Returns the number of partitions, at least 1. A blob file has only values of keys whose hashes are in one partition.
    fn partitions(&self) -> u32 {
        1
    }

    /// Returns the files whose live values move to new files when a compaction reads their keys. `files` is every blob
    /// file of the tree, oldest first.
    fn relocates(&self, files: &[BlobFileShape]) -> Vec<u64>;

    /// Returns the files whose live values must move now, even if no compaction is due. The tree then rewrites the
    /// SSTables that refer to them. `files` is every blob file of the tree, oldest first.
    fn collects(&self, files: &[BlobFileShape]) -> Vec<u64> {
        let _ = files;
        Vec::new()
    }
}
