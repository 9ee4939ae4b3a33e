//! A batch of entries from an ordered source. The source is searched once per batch instead of once per entry.

use crate::Entry;

/// The initial capacity of the list of entries that a scan returns, which is small because most scans are short.
const FOUND_AT_FIRST: usize = 16;

/// The entries that a scan has found, in the order of the scan. The entries are borrowed or copied.
pub struct Entries<'a> {
    found: EntryStorage<'a>,
    /// The rest of the scan, which continues after these entries. `None` if the scan cannot continue.
    rest: Option<Box<dyn Rest<'a> + 'a>>,
}

/// The entries of a batch, which are borrowed from the source or copied.
enum EntryStorage<'a> {
    InPlace(Vec<Entry<'a>>),
    Copied(EntryBatch),
}

/// A scan that can continue after the entries that it has already returned. A source whose scans keep their position
/// implements this trait, so that the next batch needs no search.
pub trait Rest<'a>: Send + Sync {
    /// Appends the next entries of the scan to `found`, until `found` has `limit` entries. If `found` then has fewer
    /// entries, the scan is at its end.
    fn find(&mut self, limit: usize, found: &mut Vec<Entry<'a>>);
}

impl<'a> Entries<'a> {
    /// Creates a batch that borrows its entries from the source.
    pub fn in_place(found: Vec<Entry<'a>>) -> Self {
        Self { found: EntryStorage::InPlace(found), rest: None }
    }

    /// Returns the first entries of a scan, up to `limit`. The entries are borrowed.
    pub fn of(mut scan: impl Rest<'a> + 'a, limit: usize) -> Self {
        let mut found = Vec::with_capacity(limit.min(FOUND_AT_FIRST));
        scan.find(limit, &mut found);
        Self { found: EntryStorage::InPlace(found), rest: Some(Box::new(scan)) }
    }

    /// Returns the number of entries in the batch.
    #[inline]
    pub fn len(&self) -> usize {
        match &self.found {
            EntryStorage::InPlace(found) => found.len(),
            EntryStorage::Copied(batch) => batch.len(),
        }
    }

    /// Returns whether the batch is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the entry at position `index`, starting at 0.
    ///
    /// # Panics
    /// `index` is not below [`len`](Self::len).
    #[inline]
    pub fn entry(&self, index: usize) -> Entry<'_> {
        match &self.found {
            EntryStorage::InPlace(found) => found[index],
            EntryStorage::Copied(batch) => batch.entry(index),
        }
    }

    /// Iterates over all entries, in order.
    pub fn iter(&self) -> impl Iterator<Item = Entry<'_>> {
        (0..self.len()).map(|index| self.entry(index))
    }

    /// Replaces the entries of the batch with the next entries of the scan, up to `limit` entries. If the scan cannot
    /// continue, returns `false` and changes nothing. The caller must then start another scan.
    pub fn go_on(&mut self, limit: usize) -> bool {
        let (EntryStorage::InPlace(found), Some(rest)) = (&mut self.found, &mut self.rest) else {
            return false;
        };
        found.clear();
        rest.find(limit, found);
        true
    }
}

impl From<EntryBatch> for Entries<'_> {
    fn from(batch: EntryBatch) -> Self {
        Self { found: EntryStorage::Copied(batch), rest: None }
    }
}

/// Copies of entries in the order of a scan. One arena contains the keys and values of all entries.
#[derive(Clone, Debug, Default)]
pub struct EntryBatch {
    arena: Vec<u8>,
    spans: Vec<Span>,
}

/// The position of one entry in the arena of a batch. The key is from `key_start` to `value_start`, and the value is
/// from `value_start` to `end`.
#[derive(Clone, Copy, Debug)]
struct Span {
    key_start: usize,
    value_start: usize,
    end: usize,
    tombstone: bool,
}

impl EntryBatch {
    /// Removes all entries of the batch. The allocated memory is kept for later entries.
    pub fn clear(&mut self) {
        self.arena.clear();
        self.spans.clear();
    }

    /// Appends an entry.
    #[inline]
    pub fn push(&mut self, entry: Entry<'_>) {
        let key_start = self.arena.len();
        self.arena.extend_from_slice(entry.key);
        let value_start = self.arena.len();
        if let Some(value) = entry.value {
            self.arena.extend_from_slice(value);
        }
        let end = self.arena.len();
        self.spans.push(Span { key_start, value_start, end, tombstone: entry.value.is_none() });
    }

    /// Returns the number of entries.
    #[inline]
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Returns whether the batch is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Returns the total size of all keys and values in bytes.
    #[inline]
    pub fn user_bytes(&self) -> usize {
        self.arena.len()
    }

    /// Returns the entry at position `index`, starting at 0, in the order in which the entries were appended.
    ///
    /// # Panics
    /// `index` is not below [`len`](Self::len).
    #[inline]
    pub fn entry(&self, index: usize) -> Entry<'_> {
        let span = self.spans[index];
        let value = &self.arena[span.value_start..span.end];
        Entry {
            key: &self.arena[span.key_start..span.value_start],
            value: (!span.tombstone).then_some(value),
        }
    }

    /// Iterates over all entries, in the order in which they were appended.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Entry<'_>> + ExactSizeIterator {
        (0..self.len()).map(|index| self.entry(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back_as_pushed() {
        let mut batch = EntryBatch::default();
        let entries = [
            Entry { key: b"a", value: Some(b"1") },
            Entry { key: b"", value: Some(b"") },
            Entry { key: b"b", value: None },
        ];
        for entry in entries {
            batch.push(entry);
        }
        assert!(batch.iter().eq(entries));
        assert_eq!(batch.user_bytes(), 3);
        batch.clear();
        assert!(batch.is_empty());
    }
}
