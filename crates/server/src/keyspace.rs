//! Manages the strings and hashes of one database, which are stored in one tree. In this module, a name is what Redis
//! calls a key: it identifies a string or a hash. A key is a key of the tree.

use std::ops::Bound;
use std::sync::atomic::{AtomicI64, Ordering};

use parking_lot::Mutex;
use tree::{Result, Snapshot, WriteBatch};
use types::SequenceNumber;

use crate::cursors::Cursors;
use crate::names::{FIELDS, HASHES, Kind, PLAIN, after_prefix, field_prefix, hash_key, name_of, string_key};
use crate::space::Space;
use crate::stripes::Stripes;
use crate::view::{View, read_count};

/// The maximum number of keys in one batch of deletes, when the server deletes all strings and hashes of a database.
const DELETED_AT_ONCE: usize = 10_000;

/// The number of keys in the first group of a read that gets many keys in groups. The first group is small, because the
/// size of the values is still unknown.
const FIRST_GROUP: usize = 8;

/// The maximum number of keys in one group, if many keys are read in groups.
const LARGEST_GROUP: usize = 256;

/// The desired total size of the values in one group, if many keys are read in groups, in bytes.
const GROUP_BYTES: usize = 1 << 20;

/// The strings and hashes of one database.
pub(crate) struct Keyspace {
    space: Space,
    stripes: Stripes,
    /// The number of Redis hashes (keys with fields) in the database. If it is 0, a lookup of a name need not check
    /// whether the name belongs to a hash.
    hashes: AtomicI64,
    /// The number of names (Redis keys) in the database, with the sequence number at which they were counted. `None`
    /// before the first count.
    size: Mutex<Option<(SequenceNumber, u64)>>,
    cursors: Mutex<Cursors>,
}

impl Keyspace {
    /// Creates the keyspace of a database, and counts the hashes in the database.
    ///
    /// # Errors
    /// The tree cannot be read.
    pub(crate) fn new(space: Space) -> Result<Self> {
        let mut hashes = 0;
        let mut range = space.range((Bound::Included(HASHES), Bound::Excluded(PLAIN)))?;
        while range.next()?.is_some() {
            hashes += 1;
        }
        drop(range);
        Ok(Self {
            space,
            stripes: Stripes::new(),
            hashes: AtomicI64::new(hashes),
            size: Mutex::new(None),
            cursors: Mutex::new(Cursors::default()),
        })
    }

    /// Returns the tree or the column family that stores this database.
    pub(crate) fn into_space(self) -> Space {
        self.space
    }

    /// Returns a reference to the tree or the column family that stores this database.
    pub(crate) fn space(&self) -> &Space {
        &self.space
    }

    pub(crate) fn stripes(&self) -> &Stripes {
        &self.stripes
    }

    pub(crate) fn cursors(&self) -> &Mutex<Cursors> {
        &self.cursors
    }

    /// Adds `count` to the number of hashes in the database: the hashes that a batch creates, minus those that it
    /// removes. The caller must hold the locks of the names that the batch writes.
    pub(crate) fn add_hashes(&self, count: i64) {
        if count != 0 {
            self.hashes.fetch_add(count, Ordering::Release);
        }
    }

    /// Reads the fields and values of a hash from one snapshot, and passes each of them to `visit` until it returns
    /// `false`. Returns the number of fields, or `None` if the hash does not exist.
    pub(crate) fn visit_fields(
        &self,
        name: &[u8],
        mut visit: impl FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<Option<u64>> {
        if !self.may_have_hashes() {
            return Ok(None);
        }
        let snapshot = self.space.snapshot();
        let Some(count) = snapshot.get(&hash_key(name))? else { return Ok(None) };
        let low = field_prefix(name);
        let high = after_prefix(low.clone());
        let mut range = snapshot.range((Bound::Included(&*low), high_bound(high.as_deref())))?;
        while let Some((key, value)) = range.next()? {
            if !visit(&key[low.len()..], value) {
                break;
            }
        }
        Ok(Some(read_count(&count)))
    }

    /// Passes the names (Redis keys) of the database to `visit` until it returns `false`, in the order of their keys in
    /// the tree. Starts at the tree's key `from`.
    pub(crate) fn visit_names(
        &self,
        from: &[u8],
        mut visit: impl FnMut(&[u8], Kind, &[u8]) -> bool,
    ) -> Result<()> {
        let snapshot = self.space.snapshot();
        for (low, high) in sections(from, None, true) {
            let mut range = snapshot.range((Bound::Included(low), high_bound(high)))?;
            while let Some((key, _)) = range.next()? {
                if let Some((kind, name)) = name_of(key)
                    && !visit(key, kind, name)
                {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Passes the strings with `low <= name < high` to `visit` until it returns `false`. Without `high`, the range has
    /// no end.
    pub(crate) fn visit_strings(
        &self,
        low: &[u8],
        high: Option<&[u8]>,
        is_backward: bool,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<()> {
        let (low, high) = (string_key(low), high.map(string_key));
        let mut sections: Vec<_> = sections(&low, high.as_deref(), false).collect();
        if is_backward {
            sections.reverse();
        }
        let snapshot = self.space.snapshot();
        for (low, high) in sections {
            if !visit_section(&snapshot, low, high, is_backward, visit)? {
                break;
            }
        }
        Ok(())
    }

    /// Counts the names (Redis keys) in the database. Reads all keys of the tree, unless nothing was written since the
    /// last count.
    pub(crate) fn count_names(&self) -> Result<u64> {
        let mut size = self.size.lock();
        let sequence = self.space.snapshot().sequence();
        if let Some((_, count)) = size.filter(|(counted_at, _)| *counted_at == sequence) {
            return Ok(count);
        }
        let snapshot = self.space.snapshot();
        let mut count = 0;
        for (low, high) in sections(b"", None, true) {
            let mut range = snapshot.range((Bound::Included(low), high_bound(high)))?;
            while range.next()?.is_some() {
                count += 1;
            }
        }
        *size = Some((snapshot.sequence(), count));
        Ok(count)
    }

    /// Deletes all names (Redis keys) of this database. No other client can write to it meanwhile. After a crash, some
    /// names may remain.
    pub(crate) fn clear(&self) -> Result<()> {
        let _held = self.stripes.lock_all();
        let mut from = Vec::new();
        let mut batch = WriteBatch::new();
        loop {
            batch.clear();
            let mut range = self.space.range((Bound::Included(&*from), Bound::Unbounded))?;
            let mut last = None;
            while batch.len() < DELETED_AT_ONCE
                && let Some((key, _)) = range.next()?
            {
                batch.delete(key)?;
                last = Some(key.to_vec());
            }
            drop(range);
            let Some(last) = last else { break };
            self.space.write(&batch)?;
            from = last;
            from.push(0);
        }
        self.hashes.store(0, Ordering::Release);
        Ok(())
    }
}

impl View for Keyspace {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.space.get(key)
    }

    fn get_many(&self, keys: &[&[u8]], visit: &mut dyn FnMut(Option<&[u8]>) -> bool) -> Result<()> {
        let snapshot = self.space.snapshot();
        let (mut rest, mut count) = (keys, FIRST_GROUP);
        while !rest.is_empty() {
            let (group, after) = rest.split_at(count.min(rest.len()));
            let mut bytes = 0;
            for value in snapshot.multi_get(group)? {
                bytes += value.as_ref().map_or(0, Vec::len);
                if !visit(value.as_deref()) {
                    return Ok(());
                }
            }
            // All values of a group are in memory at the same time, so the size of the next group is chosen for about
            // `GROUP_BYTES` of values.
            count = (GROUP_BYTES * group.len() / bytes.max(1)).clamp(1, LARGEST_GROUP);
            rest = after;
        }
        Ok(())
    }

    /// Returns whether the database may contain hashes. If the caller holds the lock of a name, `false` means that this
    /// name is not a hash.
    fn may_have_hashes(&self) -> bool {
        self.hashes.load(Ordering::Acquire) > 0
    }
}

fn high_bound(high: Option<&[u8]>) -> Bound<&[u8]> {
    high.map_or(Bound::Unbounded, Bound::Excluded)
}

/// Splits the key range from `low` to `high` (exclusive) into at most two ranges that leave out the keys of hash
/// fields. If `with_hashes` is false, the ranges also leave out the keys that store the number of fields of each hash.
fn sections<'a>(
    low: &'a [u8],
    high: Option<&'a [u8]>,
    with_hashes: bool,
) -> impl Iterator<Item = (&'a [u8], Option<&'a [u8]>)> {
    let after_fields = if with_hashes { HASHES } else { PLAIN };
    let first_end = high.map_or(FIELDS, |high| high.min(FIELDS));
    let second_low = low.max(after_fields);
    let first = (low < first_end).then_some((low, Some(first_end)));
    let second = high.is_none_or(|high| second_low < high).then_some((second_low, high));
    first.into_iter().chain(second)
}

/// Passes the strings in the key range from `low` to `high` to `visit`. Returns `false` if `visit` returned `false`.
fn visit_section(
    snapshot: &Snapshot,
    low: &[u8],
    high: Option<&[u8]>,
    is_backward: bool,
    visit: &mut dyn FnMut(&[u8], &[u8]) -> bool,
) -> Result<bool> {
    let mut range = snapshot.range((Bound::Included(low), high_bound(high)))?;
    loop {
        let entry = if is_backward { range.next_back()? } else { range.next()? };
        let Some((key, value)) = entry else { return Ok(true) };
        if let Some((Kind::String, name)) = name_of(key)
            && !visit(name, value)
        {
            return Ok(false);
        }
    }
}

#[cfg(test)]
mod tests {
    use tree::{Design, OpenOptions};

    use super::*;
    use crate::names::field_key;
    use crate::view::{fields_of, kind_of};

    fn keyspace(entries: &[(&[u8], &[u8])]) -> Keyspace {
        let design = Design::default().with(&"storage = \"memory\"".parse().unwrap()).unwrap();
        let tree = OpenOptions::new(design).open("keyspace").unwrap();
        entries.iter().for_each(|(key, value)| tree.put(key, value).unwrap());
        Keyspace::new(Space::Tree(tree)).unwrap()
    }

    fn mixed() -> Keyspace {
        keyspace(&[
            (&string_key(b"\0z"), b"1"),
            (&field_key(b"h", b"f"), b"2"),
            (&field_key(b"h", b"g"), b"3"),
            (&hash_key(b"h"), &2u64.to_be_bytes()),
            (b"a", b"4"),
            (b"b", b"5"),
        ])
    }

    #[test]
    fn strings_and_hashes_are_names_and_fields_are_not() {
        let keyspace = mixed();
        let mut names = Vec::new();
        keyspace
            .visit_names(b"", |_, kind, name| {
                names.push((kind.name(), name.to_vec()));
                true
            })
            .unwrap();
        let expected: [(&str, &[u8]); 4] =
            [("string", b"\0z"), ("hash", b"h"), ("string", b"a"), ("string", b"b")];
        assert!(names.iter().map(|(kind, name)| (*kind, &**name)).eq(expected), "{names:?}");
        assert_eq!(keyspace.count_names().unwrap(), 4);
        let mut batch = WriteBatch::new();
        batch.put(b"c", b"6").unwrap();
        keyspace.space().write(&batch).unwrap();
        assert_eq!(keyspace.count_names().unwrap(), 5);
        assert_eq!(fields_of(&keyspace, b"h").unwrap(), Some(2));
        assert_eq!(kind_of(&keyspace, b"h").unwrap(), Some(Kind::Hash));
        assert_eq!(kind_of(&keyspace, b"f").unwrap(), None);
    }

    #[test]
    fn ranges_have_strings_alone_in_both_directions() {
        let keyspace = mixed();
        let range = |low: &[u8], high: Option<&[u8]>, is_backward| {
            let mut found = Vec::new();
            keyspace
                .visit_strings(low, high, is_backward, &mut |name, _| {
                    found.push(name.to_vec());
                    true
                })
                .unwrap();
            found
        };
        assert_eq!(range(b"", None, false), [b"\0z".to_vec(), b"a".to_vec(), b"b".to_vec()]);
        assert_eq!(range(b"", None, true), [b"b".to_vec(), b"a".to_vec(), b"\0z".to_vec()]);
        assert_eq!(range(b"a", Some(b"b"), false), [b"a".to_vec()]);
        assert_eq!(range(b"", Some(b"\x01"), false), [b"\0z".to_vec()]);
        assert_eq!(range(b"b", Some(b"a"), false), Vec::<Vec<u8>>::new());
    }

    #[test]
    fn clearing_leaves_nothing() {
        let keyspace = mixed();
        keyspace.clear().unwrap();
        assert_eq!(keyspace.count_names().unwrap(), 0);
        assert!(!keyspace.may_have_hashes());
        assert!(keyspace.space().range(..).unwrap().next().unwrap().is_none());
    }
}
