//! Copies of keys that the writer of an SSTable keeps for the filter and for the largest key.

use std::sync::Arc;

use types::KeyList;

use crate::design::LastKey;

/// Copies of the keys of a table. Most tables need no copies, so their writers have no `KeptKeys` and only check for it
/// at each entry.
pub(super) struct KeptKeys {
    /// All keys, if the filter needs all keys at once.
    all: Option<KeyList>,
    /// The last key in its own allocation. `None` unless every key is copied because it may be the largest key.
    last: Option<Arc<[u8]>>,
    last_key: LastKey,
}

impl KeptKeys {
    /// Creates an empty list of copies. `needs_all` is set if the filter needs all keys at once. Returns `None` if the
    /// table needs no copies.
    pub(super) fn new(needs_all: bool, last_key: LastKey) -> Option<Self> {
        let is_asked = needs_all || last_key == LastKey::Entry;
        is_asked.then(|| Self { all: needs_all.then(KeyList::default), last: None, last_key })
    }

    /// Adds a copy of the next key.
    pub(super) fn push(&mut self, key: &[u8]) {
        if let Some(all) = &mut self.all {
            all.push(key);
        }
        if self.last_key == LastKey::Entry {
            self.last = Some(key.into());
        }
    }

    /// Returns all keys. Returns `None` if the filter does not need all keys at once.
    pub(super) fn all(&self) -> Option<&KeyList> {
        self.all.as_ref()
    }

    /// Returns the last key. Returns `None` if the keys were not copied.
    pub(super) fn take_last(&mut self) -> Option<Arc<[u8]>> {
        self.last.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_kept_and_nothing_else() {
        assert!(KeptKeys::new(false, LastKey::Block).is_none());
        for (needs_all, last_key) in [(true, LastKey::Block), (false, LastKey::Entry), (true, LastKey::Entry)]
        {
            let mut kept = KeptKeys::new(needs_all, last_key).unwrap();
            [b"a", b"b", b"c"].iter().for_each(|key| kept.push(*key));
            assert_eq!(kept.all().map(KeyList::len), needs_all.then_some(3));
            let last = kept.take_last();
            assert_eq!(last.as_deref(), (last_key == LastKey::Entry).then_some(&b"c"[..]));
        }
    }
}
