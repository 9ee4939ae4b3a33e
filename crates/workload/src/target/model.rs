//! The reference store: a sorted map with one lock. The store is very simple, so errors in the store are unlikely.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use types::{Direction, MergeOperator};

use super::{Scan, Target, TargetError, Write};

/// The entries of the store, and the sum of their key and value bytes.
#[derive(Debug, Default)]
struct Entries {
    map: BTreeMap<Vec<u8>, Vec<u8>>,
    bytes: u64,
}

impl Entries {
    fn insert(&mut self, key: &[u8], value: &[u8]) {
        self.bytes += (key.len() + value.len()) as u64;
        if let Some(old) = self.map.insert(key.to_vec(), value.to_vec()) {
            self.bytes -= (key.len() + old.len()) as u64;
        }
    }

    fn remove(&mut self, key: &[u8]) {
        if let Some(old) = self.map.remove(key) {
            self.bytes -= (key.len() + old.len()) as u64;
        }
    }

    fn merge(&mut self, key: &[u8], operand: &[u8], operator: MergeOperator) {
        let mut value = self.map.get(key).cloned().unwrap_or_default();
        operator.combine(&mut value, operand);
        self.insert(key, &value);
    }

    fn delete_range(&mut self, low: &[u8], high: &[u8]) {
        let inside = self.map.range::<[u8], _>((Bound::Included(low), Bound::Excluded(high)));
        let keys: Vec<Vec<u8>> = inside.map(|(key, _)| key.clone()).collect();
        keys.iter().for_each(|key| self.remove(key));
    }
}

/// The reference store for checks, which is an ordered map in memory. Every other store must return the same answers.
#[derive(Debug, Default)]
pub struct Model {
    entries: RwLock<Entries>,
    /// The merge operator. `None` if the store does not support merges.
    operator: Option<MergeOperator>,
}

impl Model {
    /// Sets the merge operator of the model, which must be the operator of the tested store.
    #[must_use]
    pub fn merging_by(self, operator: Option<MergeOperator>) -> Self {
        Self { operator, ..self }
    }

    /// Returns the number of keys in the store.
    pub fn len(&self) -> usize {
        self.read().map.len()
    }

    /// Returns whether the store is empty.
    pub fn is_empty(&self) -> bool {
        self.read().map.is_empty()
    }

    /// Returns the sum of the key and value bytes of all entries.
    pub fn live_bytes(&self) -> u64 {
        self.read().bytes
    }

    // A thread that panics while it holds the lock leaves only whole entries, because it changes the map with single
    // calls.
    fn read(&self) -> RwLockReadGuard<'_, Entries> {
        self.entries.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_lock(&self) -> RwLockWriteGuard<'_, Entries> {
        self.entries.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Target for Model {
    fn put(&self, key: &[u8], value: &[u8]) -> Result<(), TargetError> {
        self.write_lock().insert(key, value);
        Ok(())
    }

    fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, TargetError> {
        let entries = self.read();
        let found = entries.map.get(key);
        value.extend_from_slice(found.map_or(&[], Vec::as_slice));
        Ok(found.is_some())
    }

    fn delete(&self, key: &[u8]) -> Result<(), TargetError> {
        self.write_lock().remove(key);
        Ok(())
    }

    fn put_if_absent(&self, key: &[u8], value: &[u8]) -> Option<Result<bool, TargetError>> {
        let mut entries = self.write_lock();
        let is_absent = !entries.map.contains_key(key);
        if is_absent {
            entries.insert(key, value);
        }
        Some(Ok(is_absent))
    }

    fn merge(&self, key: &[u8], operand: &[u8]) -> Option<Result<(), TargetError>> {
        let operator = self.operator?;
        self.write_lock().merge(key, operand, operator);
        Some(Ok(()))
    }

    fn single_delete(&self, key: &[u8]) -> Option<Result<(), TargetError>> {
        Some(self.delete(key))
    }

    fn delete_range(&self, low: &[u8], high: &[u8]) -> Option<Result<(), TargetError>> {
        self.write_lock().delete_range(low, high);
        Some(Ok(()))
    }

    fn range(&self, scan: &Scan<'_>, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize, TargetError> {
        if scan.high.is_some_and(|high| high <= scan.low) {
            return Ok(0);
        }
        let high = scan.high.map_or(Bound::Unbounded, Bound::Excluded);
        let held = self.read();
        let mut entries = held.map.range::<[u8], _>((Bound::Included(scan.low), high));
        let mut read = 0;
        while read < scan.limit {
            let entry = match scan.direction {
                Direction::Forward => entries.next(),
                Direction::Backward => entries.next_back(),
            };
            let Some((key, value)) = entry else { break };
            visit(key, value);
            read += 1;
        }
        Ok(read)
    }

    fn write(&self, writes: &[Write<'_>]) -> Result<(), TargetError> {
        let mut entries = self.write_lock();
        for write in writes {
            match write {
                Write::Put { key, value } => entries.insert(key, value),
                Write::Delete { key } | Write::SingleDelete { key } => entries.remove(key),
                Write::Merge { key, operand } => {
                    let operator = self.operator.ok_or_else(|| write.unsupported())?;
                    entries.merge(key, operand, operator);
                }
                Write::DeleteRange { low, high } => entries.delete_range(low, high),
            }
        }
        Ok(())
    }

    fn flush(&self) -> Result<(), TargetError> {
        Ok(())
    }

    fn settle(&self) -> Result<(), TargetError> {
        Ok(())
    }

    fn close(&self) -> Result<(), TargetError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(model: &Model, scan: &Scan<'_>) -> String {
        let mut keys = Vec::new();
        let read = model.range(scan, &mut |key, _| keys.extend_from_slice(key)).unwrap();
        assert_eq!(read, keys.len());
        String::from_utf8(keys).unwrap()
    }

    #[test]
    fn ranges_respect_bounds_direction_and_limit() {
        let model = Model::default();
        for key in ["a", "b", "c", "d"] {
            model.put(key.as_bytes(), b"v").unwrap();
        }
        let all = Scan { low: b"", high: None, direction: Direction::Forward, limit: 9 };
        assert_eq!(keys(&model, &all), "abcd");
        assert_eq!(keys(&model, &Scan { low: b"b", high: Some(b"d"), ..all }), "bc");
        let backward = Scan { direction: Direction::Backward, limit: 2, ..all };
        assert_eq!(keys(&model, &backward), "dc");
        assert_eq!(keys(&model, &Scan { high: Some(b"c"), ..backward }), "ba");
        assert_eq!(keys(&model, &Scan { low: b"c", high: Some(b"b"), ..all }), "");
    }

    #[test]
    fn batches_and_multi_gets_do_what_single_calls_do() {
        let model = Model::default();
        model
            .write(&[
                Write::Put { key: b"a", value: b"1" },
                Write::Put { key: b"b", value: b"2" },
                Write::Delete { key: b"a" },
            ])
            .unwrap();
        let mut answers = vec![None; 2];
        model
            .multi_get(&[b"a", b"b"], &mut |place, value| answers[place] = value.map(<[u8]>::to_vec))
            .unwrap();
        assert_eq!(answers, [None, Some(b"2".to_vec())]);
        assert_eq!((model.len(), model.live_bytes()), (1, 2));
    }
}
