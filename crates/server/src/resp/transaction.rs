//! Executes successive writes of a client. Their changes form one batch of the tree.

use std::collections::BTreeMap;
use std::ops::Bound;

use tree::WriteBatch;
use types::MAX_BATCH_BYTES;

use super::failure::Failure;
use crate::keyspace::Keyspace;
use crate::names::{Kind, after_prefix, field_prefix, hash_key, string_key};
use crate::stripes::Access;
use crate::view::{View, fields_of, kind_of};

/// The size of a write batch in bytes at which it is written to the tree, even if further writes follow.
const FULL_BYTES: usize = 4 << 20;

/// The number of bytes that each operation adds to the size of a write batch, besides its key and its value.
const OPERATION_BYTES: usize = 16;

/// The maximum number of hash fields that one batch deletes.
const DELETED_AT_ONCE: usize = 100_000;

/// The uncommitted writes of successive requests of one client. Later requests see the writes of earlier requests. The
/// names (Redis keys) of all writes are locked.
pub(crate) struct Transaction<'a> {
    keyspace: &'a Keyspace,
    batch: WriteBatch,
    batch_bytes: usize,
    /// The new value of each written key, or `None` for a deleted key. The field itself is `None` if no request of the
    /// batch reads names.
    written: Option<BTreeMap<Vec<u8>, Option<Vec<u8>>>>,
    /// The number of hashes that the batch creates, minus the number that it removes.
    hashes: i64,
}

impl<'a> Transaction<'a> {
    pub(crate) fn new(keyspace: &'a Keyspace, access: Access) -> Self {
        let written = (access == Access::Exclusive).then(BTreeMap::new);
        Self { keyspace, batch: WriteBatch::new(), batch_bytes: 0, written, hashes: 0 }
    }

    /// Returns whether the batch is so large that it must be written to the tree before the next request.
    pub(crate) fn is_full(&self) -> bool {
        self.batch_bytes >= FULL_BYTES
    }

    /// Writes the write batch of this transaction to the tree.
    pub(crate) fn commit(&mut self) -> Result<(), Failure> {
        if !self.batch.is_empty() {
            self.keyspace.space().write(&self.batch)?;
            self.batch.clear();
        }
        self.batch_bytes = 0;
        if let Some(written) = &mut self.written {
            written.clear();
        }
        self.keyspace.add_hashes(std::mem::take(&mut self.hashes));
        Ok(())
    }

    /// Returns the value of a string, including uncommitted writes. Returns `None` if the name does not exist.
    ///
    /// # Errors
    /// The name belongs to a hash, or the tree cannot be read.
    pub(crate) fn string(&self, name: &[u8]) -> Result<Option<Vec<u8>>, Failure> {
        string_of(self, name)
    }

    /// Returns the number of fields of a hash, including uncommitted writes. Returns `None` if the name does not exist.
    ///
    /// # Errors
    /// The name belongs to a string, or the tree cannot be read.
    pub(crate) fn hash(&self, name: &[u8]) -> Result<Option<u64>, Failure> {
        match fields_of(self, name)? {
            None if self.get(&string_key(name))?.is_some() => Err(Failure::WRONG_TYPE),
            fields => Ok(fields),
        }
    }

    /// Sets a string, and replaces any existing value.
    pub(crate) fn set_string(&mut self, name: &[u8], value: &[u8]) -> Result<(), Failure> {
        if fields_of(self, name)?.is_some() {
            self.remove_hash(name)?;
        }
        self.put(&string_key(name), value)
    }

    /// Removes a string or a hash. Returns whether the name existed.
    pub(crate) fn remove(&mut self, name: &[u8]) -> Result<bool, Failure> {
        match kind_of(self, name)? {
            None => return Ok(false),
            Some(Kind::String) => self.delete(&string_key(name))?,
            Some(Kind::Hash) => self.remove_hash(name)?,
        }
        Ok(true)
    }

    /// Changes the number of fields of a hash from `before` to `after`. If `after` is 0, removes the hash.
    pub(crate) fn set_fields(&mut self, name: &[u8], before: Option<u64>, after: u64) -> Result<(), Failure> {
        self.hashes += i64::from(after > 0) - i64::from(before.is_some());
        match after {
            0 => self.delete(&hash_key(name)),
            _ => self.put(&hash_key(name), &after.to_be_bytes()),
        }
    }

    /// Sets the value of a key in the tree.
    pub(crate) fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), Failure> {
        self.batch.put(key, value)?;
        self.batch_bytes += key.len() + value.len() + OPERATION_BYTES;
        if let Some(written) = &mut self.written {
            written.insert(key.to_vec(), Some(value.to_vec()));
        }
        Ok(())
    }

    /// Deletes a key in the tree.
    pub(crate) fn delete(&mut self, key: &[u8]) -> Result<(), Failure> {
        self.batch.delete(key)?;
        self.batch_bytes += key.len() + OPERATION_BYTES;
        if let Some(written) = &mut self.written {
            written.insert(key.to_vec(), None);
        }
        Ok(())
    }

    /// Removes a hash with all its fields. A hash with very many fields is removed in several batches. Each batch also
    /// stores the number of remaining fields, so a crash between two batches leaves a valid hash.
    fn remove_hash(&mut self, name: &[u8]) -> Result<(), Failure> {
        loop {
            let Some(count) = fields_of(self, name)? else { return Ok(()) };
            let (keys, is_last) = self.field_keys(name)?;
            for key in &keys {
                self.delete(key)?;
            }
            let left = count.saturating_sub(keys.len() as u64);
            self.set_fields(name, Some(count), if is_last { 0 } else { left.max(1) })?;
            if is_last {
                return Ok(());
            }
            self.commit()?;
        }
    }

    /// Returns the tree keys of the fields of a hash, including fields that this batch has written. The list ends early
    /// if one batch cannot delete more keys. The flag is true if the list contains all fields.
    fn field_keys(&self, name: &[u8]) -> Result<(Vec<Vec<u8>>, bool), Failure> {
        let low = field_prefix(name);
        let written = self.written.iter().flat_map(|written| written.range(low.clone()..));
        let of_hash = written.take_while(|(key, _)| key.starts_with(&low));
        let mut keys: Vec<Vec<u8>> =
            of_hash.filter(|(_, value)| value.is_some()).map(|(key, _)| key.clone()).collect();
        let is_new = |key: &[u8]| self.written.as_ref().is_none_or(|written| !written.contains_key(key));
        let high = after_prefix(low.clone());
        let high = high.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        let mut range = self.keyspace.space().range((Bound::Included(&*low), high))?;
        let mut bytes = 0;
        while let Some((key, _)) = range.next()? {
            if keys.len() >= DELETED_AT_ONCE || bytes >= MAX_BATCH_BYTES / 2 {
                return Ok((keys, false));
            }
            if is_new(key) {
                bytes += key.len() + OPERATION_BYTES;
                keys.push(key.to_vec());
            }
        }
        Ok((keys, true))
    }
}

impl View for Transaction<'_> {
    fn get(&self, key: &[u8]) -> tree::Result<Option<Vec<u8>>> {
        match self.written.as_ref().and_then(|written| written.get(key)) {
            Some(value) => Ok(value.clone()),
            None => self.keyspace.get(key),
        }
    }

    fn get_many(&self, keys: &[&[u8]], visit: &mut dyn FnMut(Option<&[u8]>) -> bool) -> tree::Result<()> {
        for key in keys {
            if !visit(self.get(key)?.as_deref()) {
                break;
            }
        }
        Ok(())
    }

    /// Returns whether a name of this transaction may be the name of a hash. Returns `false` for a batch that only sets
    /// names.
    fn may_have_hashes(&self) -> bool {
        self.written.is_some() && (self.keyspace.may_have_hashes() || self.hashes > 0)
    }
}

/// Returns the value of a string. `None` if the name does not exist.
///
/// # Errors
/// The name belongs to a hash, or the tree cannot be read.
pub(crate) fn string_of(view: &dyn View, name: &[u8]) -> Result<Option<Vec<u8>>, Failure> {
    match view.get(&string_key(name))? {
        None if fields_of(view, name)?.is_some() => Err(Failure::WRONG_TYPE),
        value => Ok(value),
    }
}
