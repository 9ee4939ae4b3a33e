//! Copies of the keys of an SSTable, which its writer keeps for the filter and for the largest key.

use std::sync::Arc;

use types::KeyList;

use crate::design::LastKey;

/// Copies of the keys of an SSTable, which its writer keeps for the filter and for the largest key. Most writers need
/// no copies and have no `KeptKeys`.
pub(super) struct KeptKeys {
    /// Copies of all keys of the SSTable, if the filter needs all keys at once.
    all: Option<KeyList>,
    /// The key of the last entry of the SSTable, if `table.last_key` requires a copy of every key. Otherwise `None`.
    last: Option<Arc<[u8]>>,
    last_key: LastKey,
}

impl KeptKeys {
    /// Creates an empty list of copies for the writer of an SSTable. `needs_all` is set if the filter needs all keys at
    /// once. Returns `None` if the writer needs no copies.
    pub(super) fn new(needs_all: bool, last_key: LastKey) -> Option<Self> {
        let is_asked = needs_all || last_key == LastKey::Entry;
        is_asked.then(|| Self { all: needs_all.then(KeyList::default), last: None, last_key })
    }

    /// Copies the next key of the SSTable, if the filter or the option `table.last_key` needs a copy.
    pub(super) fn push(&mut self, key: &[u8]) {
        if let Some(all) = &mut self.all {
            all.push(key);
        }
        if self.last_key == LastKey::Entry {
            self.last = Some(key.into());
        }
    }

    /// Returns the copies of all keys of the SSTable. Returns `None` if the filter does not need all keys at once.
    pub(super) fn all(&self) -> Option<&KeyList> {
        self.all.as_ref()
    }

    /// Removes and returns the copy of the last key of the SSTable. Returns `None` if the last key was not copied.
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
