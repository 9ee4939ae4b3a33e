//! Emulates a column family in a store without column families. Each key of the family begins with one byte: the number
//! of the family.

use std::cell::Cell;

use workload::{Scan, Target, TargetError, Write};

thread_local! {
    /// A reused buffer of each thread for the stored form of a key: the prefix of the column family, followed by the
    /// key.
    static KEY: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// A column family that is emulated by a key prefix. Applications of stores without column families separate their
/// kinds of keys in the same way.
pub(crate) struct Prefixed<'s> {
    store: &'s dyn Target,
    prefix: u8,
}

impl<'s> Prefixed<'s> {
    pub(crate) fn new(store: &'s dyn Target, prefix: u8) -> Self {
        Self { store, prefix }
    }

    /// Calls `act` with the stored form of the key `key`, which begins with the number of the column family.
    fn at<R>(&self, key: &[u8], act: impl FnOnce(&[u8]) -> R) -> R {
        let mut buffer = KEY.take();
        buffer.clear();
        buffer.push(self.prefix);
        buffer.extend_from_slice(key);
        let result = act(&buffer);
        KEY.set(buffer);
        result
    }

    fn key(&self, key: &[u8]) -> Vec<u8> {
        [&[self.prefix], key].concat()
    }

    /// Returns the exclusive upper bound of all keys of the column family. `None` if the prefix of the family is 255,
    /// the last one.
    fn end(&self) -> Option<Vec<u8>> {
        self.prefix.checked_add(1).map(|next| vec![next])
    }
}

/// Returns the key of a write. For a range delete, returns the start and the end of the range.
fn keys_of<'w>(write: &Write<'w>) -> (&'w [u8], Option<&'w [u8]>) {
    match write {
        Write::Put { key, .. }
        | Write::Delete { key }
        | Write::SingleDelete { key }
        | Write::Merge { key, .. } => (key, None),
        Write::DeleteRange { low, high } => (low, Some(high)),
    }
}

/// Returns a copy of a write with other keys. For a range delete, `key` is the start and `end` is the end of the range.
/// Other writes do not use `end`.
fn at_keys<'w>(write: &Write<'w>, (key, end): (&'w [u8], &'w [u8])) -> Write<'w> {
    match write {
        Write::Put { value, .. } => Write::Put { key, value },
        Write::Delete { .. } => Write::Delete { key },
        Write::SingleDelete { .. } => Write::SingleDelete { key },
        Write::Merge { operand, .. } => Write::Merge { key, operand },
        Write::DeleteRange { .. } => Write::DeleteRange { low: key, high: end },
    }
}

impl Target for Prefixed<'_> {
    fn put(&self, key: &[u8], value: &[u8]) -> Result<(), TargetError> {
        self.at(key, |key| self.store.put(key, value))
    }

    fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, TargetError> {
        self.at(key, |key| self.store.get(key, value))
    }

    fn delete(&self, key: &[u8]) -> Result<(), TargetError> {
        self.at(key, |key| self.store.delete(key))
    }

    fn merge(&self, key: &[u8], operand: &[u8]) -> Option<Result<(), TargetError>> {
        self.at(key, |key| self.store.merge(key, operand))
    }

    fn single_delete(&self, key: &[u8]) -> Option<Result<(), TargetError>> {
        self.at(key, |key| self.store.single_delete(key))
    }

    fn put_if_absent(&self, key: &[u8], value: &[u8]) -> Option<Result<bool, TargetError>> {
        self.at(key, |key| self.store.put_if_absent(key, value))
    }

    fn delete_range(&self, low: &[u8], high: &[u8]) -> Option<Result<(), TargetError>> {
        let high = self.key(high);
        self.at(low, |low| self.store.delete_range(low, &high))
    }

    fn range(&self, scan: &Scan<'_>, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize, TargetError> {
        let high = scan.high.map(|high| self.key(high)).or_else(|| self.end());
        self.at(scan.low, |low| {
            let scan = Scan { low, high: high.as_deref(), ..*scan };
            self.store.range(&scan, &mut |key, value| visit(&key[1..], value))
        })
    }

    fn write(&self, writes: &[Write<'_>]) -> Result<(), TargetError> {
        let keys = writes.iter().map(|write| {
            let (key, end) = keys_of(write);
            (self.key(key), end.map(|end| self.key(end)).unwrap_or_default())
        });
        let keys: Vec<(Vec<u8>, Vec<u8>)> = keys.collect();
        let writes = writes.iter().zip(&keys).map(|(write, (key, end))| at_keys(write, (key, end)));
        self.store.write(&writes.collect::<Vec<_>>())
    }

    fn multi_get(
        &self,
        keys: &[&[u8]],
        visit: &mut dyn FnMut(usize, Option<&[u8]>),
    ) -> Result<(), TargetError> {
        let keys: Vec<Vec<u8>> = keys.iter().map(|key| self.key(key)).collect();
        let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
        self.store.multi_get(&keys, visit)
    }

    fn flush(&self) -> Result<(), TargetError> {
        self.store.flush()
    }

    fn settle(&self) -> Result<(), TargetError> {
        self.store.settle()
    }

    fn close(&self) -> Result<(), TargetError> {
        self.store.close()
    }
}

#[cfg(test)]
mod tests {
    use types::Direction;
    use workload::Model;

    use super::*;

    #[test]
    fn families_of_one_store_do_not_see_each_other() {
        let store = Model::default();
        let [low, high, last] = [0, 1, u8::MAX].map(|prefix| Prefixed::new(&store, prefix));
        low.write(&[Write::Put { key: b"a", value: b"1" }, Write::Put { key: b"", value: b"2" }]).unwrap();
        high.put(b"a", b"3").unwrap();
        last.put(b"z", b"4").unwrap();
        let all = |family: &Prefixed<'_>, low, high, direction| {
            let mut found = Vec::new();
            let scan = Scan { low, high, direction, limit: 9 };
            family.range(&scan, &mut |key, value| found.push((key.to_vec(), value.to_vec()))).unwrap();
            found
        };
        let entry = |key: &[u8], value: &[u8]| (key.to_vec(), value.to_vec());
        assert_eq!(all(&low, b"", None, Direction::Backward), [entry(b"a", b"1"), entry(b"", b"2")]);
        assert_eq!(all(&low, b"", Some(b"a"), Direction::Forward), [entry(b"", b"2")]);
        assert_eq!(all(&high, b"a", None, Direction::Forward), [entry(b"a", b"3")]);
        assert_eq!(all(&last, b"", None, Direction::Forward), [entry(b"z", b"4")]);
        let mut found = Vec::new();
        let mut visit = |place, value: Option<&[u8]>| found.push((place, value.map(<[u8]>::to_vec)));
        high.multi_get(&[b"z", b"a"], &mut visit).unwrap();
        found.sort();
        assert_eq!(found, [(0, None), (1, Some(b"3".to_vec()))]);
        low.delete(b"a").unwrap();
        assert!(!low.get(b"a", &mut Vec::new()).unwrap() && high.get(b"a", &mut Vec::new()).unwrap());
        low.delete_range(b"", b"zz").unwrap().unwrap();
        assert_eq!(all(&low, b"", None, Direction::Forward), []);
        assert_eq!(all(&high, b"", None, Direction::Forward).len(), 1);
    }
}
