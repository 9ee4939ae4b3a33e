//! Defines the interface of the store under test. It is small, so that tests can substitute a faulty store.

use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use storage::Storage;
use tree::{Design, MergeOperator, Mode, OpenOptions, Result, Tree, WriteBatch};
use xxhash_rust::xxh3::xxh3_64;

use crate::script::{Content, ScriptWrite};

/// An open store that a torture test writes, reads and checks.
pub trait StoreUnderTest {
    /// Applies the writes of one commit atomically.
    fn write(&self, commit: &[ScriptWrite]) -> Result<()>;

    /// Returns the value of a key. Returns `None` if the key is absent.
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>>;

    /// Returns the entries between two bounds.
    fn range(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Result<Content>;

    /// Returns the values of several keys from one consistent snapshot.
    fn snapshot(&self, keys: &[&[u8]]) -> Result<Vec<Option<Vec<u8>>>> {
        keys.iter().map(|key| self.get(key)).collect()
    }

    /// Flushes the memtable to SSTables.
    fn flush(&self) -> Result<()>;

    /// Compacts all SSTables into one sorted run.
    fn compact(&self) -> Result<()>;

    /// Makes all acknowledged writes durable.
    fn sync(&self) -> Result<()>;

    /// Creates a checkpoint in a new directory.
    fn checkpoint(&self, directory: &Path) -> Result<()>;

    /// Closes the store.
    fn close(self: Box<Self>) -> Result<()>;
}

/// Opens and verifies stores of one kind.
pub trait Maker: Send + Sync {
    /// Opens the store in `directory`, or creates it.
    fn open(&self, storage: &Arc<dyn Storage>, directory: &Path) -> Result<Box<dyn StoreUnderTest>>;

    /// Opens the store in `directory` in quarantine mode, which moves corrupted files away. Returns the store, and one
    /// line for each corrupted file.
    fn open_quarantined(
        &self,
        storage: &Arc<dyn Storage>,
        directory: &Path,
    ) -> Result<(Box<dyn StoreUnderTest>, Vec<String>)> {
        Ok((self.open(storage, directory)?, Vec::new()))
    }

    /// Returns the names of the folders with files of the store, relative to the directory of the store.
    fn folders(&self) -> Vec<String> {
        Vec::new()
    }

    /// Verifies the store in `directory` and returns one line per corruption.
    fn verify(&self, storage: &Arc<dyn Storage>, directory: &Path) -> Result<Vec<String>>;
}

/// Opens trees of one design in `counted` mode.
pub struct TreeMaker(pub Design);

impl TreeMaker {
    fn options(&self, storage: &Arc<dyn Storage>, directory: &Path) -> OpenOptions {
        // The identity of a store depends only on its directory. Equal histories then write equal bytes, and stores in
        // different directories differ.
        let identity = xxh3_64(directory.as_os_str().as_encoded_bytes());
        let options = OpenOptions::new(self.0.clone()).mode(Mode::Counted).identity(identity);
        options.storage(Arc::clone(storage))
    }
}

impl Maker for TreeMaker {
    fn open(&self, storage: &Arc<dyn Storage>, directory: &Path) -> Result<Box<dyn StoreUnderTest>> {
        Ok(Box::new(self.options(storage, directory).open(directory)?))
    }

    fn open_quarantined(
        &self,
        storage: &Arc<dyn Storage>,
        directory: &Path,
    ) -> Result<(Box<dyn StoreUnderTest>, Vec<String>)> {
        let tree = self.options(storage, directory).quarantine(true).open(directory)?;
        let report = tree.recovery().quarantined_files.clone();
        Ok((Box::new(tree), report))
    }

    fn verify(&self, storage: &Arc<dyn Storage>, directory: &Path) -> Result<Vec<String>> {
        let report = tree::verify(storage, directory)?;
        Ok(report.damage.iter().map(ToString::to_string).collect())
    }
}

/// Returns whether a script deletes this key with single deletes instead of ordinary deletes. Such a key is deleted
/// before each put, so that it has at most one put between two single deletes.
fn is_single(key: &[u8]) -> bool {
    key.last().is_some_and(|last| last % 3 == 0)
}

impl StoreUnderTest for Tree {
    fn write(&self, commit: &[ScriptWrite]) -> Result<()> {
        // With the operator that appends, a put is replaced by a delete of the key and a merge of each half of the
        // value.
        let merges = self.design().options.merge_operator == Some(MergeOperator::Append);
        if let ([ScriptWrite { key, value, end }], false) = (commit, merges) {
            return match (value, end) {
                (Some(value), _) if is_single(key) => {
                    let mut batch = WriteBatch::new();
                    batch.single_delete(key)?;
                    batch.put(key, value)?;
                    Tree::write(self, &batch)
                }
                (None, None) if is_single(key) => self.single_delete(key),
                // A conditional put does nothing if the key exists. The put that follows then replaces the value.
                (Some(value), _) if key.len() % 2 == 1 && self.put_if_absent(key, value)? => Ok(()),
                (Some(value), _) => self.put(key, value),
                (None, None) => self.delete(key),
                (None, Some(end)) => self.delete_range(key, end),
            };
        }
        let mut batch = WriteBatch::new();
        for ScriptWrite { key, value, end } in commit {
            match (value, end) {
                (Some(value), _) if merges => {
                    let (first, second) = value.split_at(value.len() / 2);
                    batch.delete(key)?;
                    batch.merge(key, first)?;
                    batch.merge(key, second)?;
                }
                (Some(value), _) => {
                    if is_single(key) {
                        batch.single_delete(key)?;
                    }
                    batch.put(key, value)?;
                }
                (None, None) if is_single(key) && !merges => batch.single_delete(key)?,
                (None, None) => batch.delete(key)?,
                (None, Some(end)) => batch.delete_range(key, end)?,
            }
        }
        Tree::write(self, &batch)
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        Tree::get(self, key)
    }

    fn range(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Result<Content> {
        let mut range = Tree::range(self, (low, high))?;
        let mut content = Content::new();
        while let Some((key, value)) = range.next()? {
            content.insert(key.to_vec(), value.to_vec());
        }
        Ok(content)
    }

    fn snapshot(&self, keys: &[&[u8]]) -> Result<Vec<Option<Vec<u8>>>> {
        Tree::snapshot(self).multi_get(keys)
    }

    fn flush(&self) -> Result<()> {
        Tree::flush(self)
    }

    fn compact(&self) -> Result<()> {
        Tree::compact(self)
    }

    fn sync(&self) -> Result<()> {
        Tree::sync(self)
    }

    fn checkpoint(&self, directory: &Path) -> Result<()> {
        Tree::checkpoint(self, directory)
    }

    fn close(self: Box<Self>) -> Result<()> {
        Tree::close(*self)
    }
}
