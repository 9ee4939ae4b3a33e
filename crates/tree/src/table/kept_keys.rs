//! What the writer of a table keeps of its keys beside the block in the making, where something asks for it.

use std::sync::Arc;

use types::KeyList;

use crate::design::LastKey;

/// Copies of keys. Most tables ask for none, and an entry then costs no more than seeing that.
pub(super) struct KeptKeys {
    /// All of them, where the filter is built from keys.
    all: Option<KeyList>,
    /// The last one, in an allocation of its own, where each may be the largest of the table.
    last: Option<Arc<[u8]>>,
    last_key: LastKey,
}

impl KeptKeys {
    /// Nothing so far; `None` where nothing is asked for.
    pub(super) fn new(needs_all: bool, last_key: LastKey) -> Option<Self> {
        let is_asked = needs_all || last_key == LastKey::Entry;
        is_asked.then(|| Self { all: needs_all.then(KeyList::default), last: None, last_key })
    }

    /// Takes the next key.
    pub(super) fn push(&mut self, key: &[u8]) {
        if let Some(all) = &mut self.all {
            all.push(key);
        }
        if self.last_key == LastKey::Entry {
            self.last = Some(key.into());
        }
    }

    /// All keys, where the filter is built from them.
    pub(super) fn all(&self) -> Option<&KeyList> {
        self.all.as_ref()
    }

    /// The last key, where each was copied.
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
