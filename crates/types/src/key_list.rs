//! A list of many keys, whose bytes are in one arena.

/// A list of keys, in the order in which they were appended. The bytes of all keys are in one arena.
#[derive(Clone, Debug, Default)]
pub struct KeyList {
    bytes: Vec<u8>,
    /// The end of each key in the arena, as an offset in bytes.
    ends: Vec<usize>,
}

impl KeyList {
    /// Appends a key.
    #[inline]
    pub fn push(&mut self, key: &[u8]) {
        self.bytes.extend_from_slice(key);
        self.ends.push(self.bytes.len());
    }

    /// Returns the number of keys.
    #[inline]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether the list is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the key at position `index`, starting at 0, in the order in which the keys were appended.
    ///
    /// # Panics
    /// `index` is not below [`len`](Self::len).
    #[inline]
    pub fn key(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.bytes[start..self.ends[index]]
    }

    /// Iterates over all keys, in the order in which they were appended.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &[u8]> + ExactSizeIterator {
        (0..self.len()).map(|index| self.key(index))
    }
}

impl<K: AsRef<[u8]>> FromIterator<K> for KeyList {
    fn from_iter<I: IntoIterator<Item = K>>(keys: I) -> Self {
        let mut list = Self::default();
        keys.into_iter().for_each(|key| list.push(key.as_ref()));
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_back_as_pushed() {
        let keys: [&[u8]; 4] = [b"a", b"", b"", b"longer"];
        let list: KeyList = keys.iter().collect();
        assert!(list.iter().eq(keys) && list.len() == 4 && !list.is_empty());
    }
}
