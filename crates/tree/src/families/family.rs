//! Access to one column family of an open store.

use std::ops::RangeBounds;

use super::batch::FamilyId;
use super::store::Families;
use crate::batch::WriteBatch;
use crate::design::Design;
use crate::error::Result;
use crate::range::Range;
use crate::read::MultiGetValues;
use crate::snapshot::Snapshot;
use crate::stats::Stats;
use crate::tree::Tree;

/// One column family of an open store: an ordered map with its own design, which shares the WAL with the other
/// families.
#[derive(Clone, Copy)]
pub struct Family<'f> {
    families: &'f Families,
    id: FamilyId,
}

impl Families {
    /// Returns the column family with this name, or `None` if the store has no such family.
    pub fn family(&self, name: &str) -> Option<Family<'_>> {
        let place = self.names().position(|other| other == name)?;
        Some(self.of(FamilyId(place)))
    }

    /// Returns the column family with the number `id`. This number must come from the same store.
    pub fn of(&self, id: FamilyId) -> Family<'_> {
        Family { families: self, id }
    }
}

impl<'f> Family<'f> {
    /// Returns the number of this column family in its store.
    pub fn id(&self) -> FamilyId {
        self.id
    }

    /// Sets the value of a key in this column family.
    ///
    /// # Errors
    /// See [`Tree::put`](crate::Tree::put).
    pub fn put(&self, key: &[u8], value: &[u8]) -> Result<()> {
        let mut batch = WriteBatch::new();
        batch.put(key, value)?;
        self.write(&batch)
    }

    /// Deletes a key from this column family. An absent key is not an error.
    ///
    /// # Errors
    /// See [`Tree::delete`](crate::Tree::delete).
    pub fn delete(&self, key: &[u8]) -> Result<()> {
        let mut batch = WriteBatch::new();
        batch.delete(key)?;
        self.write(&batch)
    }

    /// Deletes a key that has at most one put since its previous single delete. Compactions then drop the deletion
    /// together with the put.
    ///
    /// # Errors
    /// See [`Tree::single_delete`](crate::Tree::single_delete).
    pub fn single_delete(&self, key: &[u8]) -> Result<()> {
        let mut batch = WriteBatch::new();
        batch.single_delete(key)?;
        self.write(&batch)
    }

    /// Merges an operand into the value of a key, with the merge operator of this column family.
    ///
    /// # Errors
    /// See [`Tree::merge`](crate::Tree::merge).
    pub fn merge(&self, key: &[u8], operand: &[u8]) -> Result<()> {
        let mut batch = WriteBatch::new();
        batch.merge(key, operand)?;
        self.write(&batch)
    }

    /// Deletes all keys from `low`, inclusive, to `high`, exclusive, with one range tombstone.
    ///
    /// # Errors
    /// See [`Tree::delete_range`](crate::Tree::delete_range).
    pub fn delete_range(&self, low: &[u8], high: &[u8]) -> Result<()> {
        let mut batch = WriteBatch::new();
        batch.delete_range(low, high)?;
        self.write(&batch)
    }

    /// Sets the value of a key if the key is absent, in one atomic step. Returns whether the value was set. Other
    /// writers of the store wait for the lookup of the key.
    ///
    /// # Errors
    /// See [`Tree::put_if_absent`](crate::Tree::put_if_absent).
    pub fn put_if_absent(&self, key: &[u8], value: &[u8]) -> Result<bool> {
        self.families.put_if_absent(self.id, key, value)
    }

    /// Applies all operations of a batch to this column family atomically.
    ///
    /// # Errors
    /// See [`Tree::write`](crate::Tree::write).
    pub fn write(&self, batch: &WriteBatch) -> Result<()> {
        self.families.write_parts(&[(self.id.0, batch)])
    }

    /// Returns the value of a key, or `None` if the key is absent.
    ///
    /// # Errors
    /// See [`Tree::get`](crate::Tree::get).
    pub fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.tree().get(key)
    }

    /// Appends the value of a key to `value` and returns `true`. Returns `false` if the key is absent.
    ///
    /// # Errors
    /// See [`Tree::get_into`](crate::Tree::get_into).
    pub fn get_into(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool> {
        self.tree().get_into(key, value)
    }

    /// Returns the values of many keys from one consistent view, in the order of `keys`.
    ///
    /// # Errors
    /// See [`Tree::multi_get`](crate::Tree::multi_get).
    pub fn multi_get(&self, keys: &[&[u8]]) -> Result<MultiGetValues> {
        self.tree().multi_get(keys)
    }

    /// Opens a scan of the keys of this column family between two bounds.
    ///
    /// # Errors
    /// See [`Tree::range`](crate::Tree::range).
    pub fn range(&self, bounds: impl RangeBounds<[u8]>) -> Result<Range<'f>> {
        self.tree().range(bounds)
    }

    /// Takes a snapshot of this column family. See [`Families::snapshots`] for snapshots of all families at one point
    /// in time.
    pub fn snapshot(&self) -> Snapshot {
        self.tree().snapshot()
    }

    /// Returns the counters and the sizes of this column family. The counters do not include the WAL, which all
    /// families share. The sizes of the cache are those of the cache that all families share.
    pub fn stats(&self) -> Stats {
        self.tree().stats()
    }

    /// Returns the design of this column family.
    pub fn design(&self) -> &'f Design {
        self.tree().design()
    }

    fn tree(&self) -> &'f Tree {
        self.families.tree(self.id)
    }
}
