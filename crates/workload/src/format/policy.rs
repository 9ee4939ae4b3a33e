//! The traits of key formats, which encode the number of a key as bytes.

use std::sync::Arc;

use types::PADDING;

use crate::operation::{KeyId, Operation};
use crate::trace::Recording;

/// A key format before the traces that the workload replays are known.
pub trait KeyFormatPolicy: Send + Sync {
    /// Returns the format for a workload that replays `recording`.
    ///
    /// # Errors
    /// If the format takes its keys from a trace and the workload has none.
    fn open(&self, recording: Option<&Arc<Recording>>) -> Result<Arc<dyn KeyFormat>, String>;
}

/// Encoder of keys.
///
/// Invariants:
/// 1. Different keys have different bytes; in particular an absent key never equals a present one.
/// 2. If [`ordered`](Self::ordered), keys have the order of their numbers.
/// 3. The absent keys lie among the present keys: each right after its own present key, or spread like the present
///    keys. Of many absent keys, all but a few lie between the smallest and the largest present key.
/// 4. If the format [has numbers](Self::has_numbers), keys sort by the numbers that they encode.
/// 5. No key is longer than [`max_bytes`](Self::max_bytes), or empty.
pub trait KeyFormat: Send + Sync {
    /// Appends the bytes of `key`, whose index is below [`capacity`](Self::capacity).
    fn append(&self, key: KeyId, out: &mut Vec<u8>);

    /// Appends the keys of all `operations`.
    fn append_all(&self, operations: &[Operation], keys: &mut KeyBytes) {
        for operation in operations {
            self.append(operation.key, &mut keys.bytes);
            keys.end_at(keys.bytes.len());
        }
    }

    /// Appends where the ranges among `operations` end that have a span, and empty keys for all others.
    fn append_ends(&self, operations: &[Operation], ends: &mut KeyBytes) {
        for operation in operations {
            if operation.span > 0 {
                self.append_above(operation.key, operation.span, &mut ends.bytes);
            }
            ends.end_at(ends.bytes.len());
        }
    }

    /// Returns whether keys are numbers that can be added to.
    fn has_numbers(&self) -> bool {
        false
    }

    /// Appends the key whose number exceeds the number of `key` by `span`. If no such key exists, appends a key above
    /// all keys. Only for a format that [has numbers](Self::has_numbers); other formats append nothing.
    fn append_above(&self, _key: KeyId, _span: u32, _out: &mut Vec<u8>) {}

    /// Returns the number of different keys that the format can encode.
    fn capacity(&self) -> u64;

    /// Returns whether keys sort by their numbers.
    fn ordered(&self) -> bool;

    /// Returns the length of the longest key in bytes.
    fn max_bytes(&self) -> usize;
}

/// The contiguous keys of many operations, with padding after the last for wide loads.
#[derive(Clone, Debug, Default)]
pub struct KeyBytes {
    pub(super) bytes: Vec<u8>,
    ends: Vec<u32>,
}

impl KeyBytes {
    /// Removes all keys and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Reserves memory for `keys` more keys of `bytes_per_key` bytes.
    pub(crate) fn reserve(&mut self, keys: usize, bytes_per_key: usize) {
        self.bytes.reserve(keys * bytes_per_key + PADDING);
        self.ends.reserve(keys);
    }

    /// Returns key number `index`, in the order of appending.
    ///
    /// # Panics
    /// If the key does not exist.
    #[inline]
    pub fn key(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] as usize };
        &self.bytes[start..self.ends[index] as usize]
    }

    /// Sets the end of the next key.
    #[inline]
    pub(super) fn end_at(&mut self, end: usize) {
        self.ends.push(end as u32);
    }

    /// Sets the ends of `keys` appended keys of `bytes` bytes each.
    pub(super) fn ends_every(&mut self, bytes: usize, keys: usize) {
        let start = self.bytes.len() - keys * bytes;
        self.ends.extend((1..=keys).map(|key| (start + key * bytes) as u32));
    }
}
