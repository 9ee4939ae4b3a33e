//! The seam of key formats: how the bytes of a key are made from its number.

use std::sync::Arc;

use types::PADDING;

use crate::operation::{KeyId, Operation};
use crate::trace::Recording;

/// A key format before it is known which traces a workload replays.
pub trait KeyFormatPolicy: Send + Sync {
    /// The format, for a workload that replays `recording`.
    ///
    /// # Errors
    /// If the format takes its keys from a trace and there is none.
    fn open(&self, recording: Option<&Arc<Recording>>) -> Result<Arc<dyn KeyFormat>, String>;
}

/// Writes keys.
///
/// Laws:
/// 1. Different keys have different bytes; in particular an absent key is never a present one.
/// 2. Where [`ordered`](Self::ordered), keys order like their numbers.
/// 3. The absent keys lie among the present ones, each right behind its own or spread as they are: of many,
///    all but a few lie between the smallest and the largest present key.
/// 4. Where it [has numbers](Self::has_numbers), keys order like the numbers they are written as.
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

    /// Whether keys are numbers that can be added to.
    fn has_numbers(&self) -> bool {
        false
    }

    /// Appends the key whose number is `span` above that of `key`, or one above all keys where there is none.
    /// Only for a format that [has numbers](Self::has_numbers); others append nothing.
    fn append_above(&self, _key: KeyId, _span: u32, _out: &mut Vec<u8>) {}

    /// The number of different keys there can be.
    fn capacity(&self) -> u64;

    /// Whether the order of keys is that of their numbers.
    fn ordered(&self) -> bool;

    /// The bytes of the longest key.
    fn max_bytes(&self) -> usize;
}

/// The keys of many operations, side by side, with room behind the last for wide loads.
#[derive(Clone, Debug, Default)]
pub struct KeyBytes {
    pub(super) bytes: Vec<u8>,
    ends: Vec<u32>,
}

impl KeyBytes {
    /// Forgets all keys and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Makes room for so many more keys of so many bytes.
    pub(crate) fn reserve(&mut self, keys: usize, bytes_per_key: usize) {
        self.bytes.reserve(keys * bytes_per_key + PADDING);
        self.ends.reserve(keys);
    }

    /// Key number `index`, in the order of appending.
    ///
    /// # Panics
    /// If there is no such key.
    #[inline]
    pub fn key(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] as usize };
        &self.bytes[start..self.ends[index] as usize]
    }

    /// Marks where the next key ends.
    #[inline]
    pub(super) fn end_at(&mut self, end: usize) {
        self.ends.push(end as u32);
    }

    /// Marks the ends of `keys` keys of `bytes` bytes each that were appended.
    pub(super) fn ends_every(&mut self, bytes: usize, keys: usize) {
        let start = self.bytes.len() - keys * bytes;
        self.ends.extend((1..=keys).map(|key| (start + key * bytes) as u32));
    }
}
