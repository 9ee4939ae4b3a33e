//! The trait of key indexes. A key index covers all files of a tree, so one lookup replaces one filter probe per sorted
//! run.

/// An index from the keys of a tree to the files that may contain them. An index never changes. A change of the tree
/// creates the next index from the current index.
///
/// Invariants:
/// 1. [`files`](Self::files) visits every file that contains a key with the hash. The function may visit further files.
/// 2. [`edited`](Self::edited) returns an index of the remaining and the added files, or `None`.
pub trait KeyIndex: Send + Sync {
    /// Calls `visit` with the number of each file that may contain a key with this hash. A number may occur twice.
    fn files(&self, hash: u64, visit: &mut dyn FnMut(u32));

    /// Returns the index after a change of the tree: the files `removed` have left the tree, and the files `added` have
    /// entered it. An added file may have the number of a removed file. Returns `None` if the index has no room, so
    /// that the caller must build an index from all files.
    fn edited(&self, removed: &[u32], added: &[FileKeys]) -> Option<Box<dyn KeyIndex>>;

    /// Returns the memory of the index in bytes.
    fn memory_bytes(&self) -> usize;
}

/// The hashes of the keys in one file of a tree.
#[derive(Clone, Debug, Default)]
pub struct FileKeys {
    /// The number of the file. Two files of a tree never have the same number, and the numbers are small.
    pub file: u32,
    /// The hash of each key in the file.
    pub hashes: Vec<u64>,
}
