//! The traits of key formats. A key format encodes the number of a key as bytes.

use std::sync::Arc;

use types::PADDING;

use crate::operation::{KeyId, Operation};
use crate::trace::Recording;

/// The settings of a key format in a workload file. [`open`](Self::open) constructs the format from these settings,
/// after the traces of the workload were read.
pub trait KeyFormatPolicy: Send + Sync {
    /// Constructs the key format for a workload. `recording` contains the keys of the traces that the workload replays.
    ///
    /// # Errors
    /// Returns an error if the format takes its keys from a trace, but the workload has no trace.
    fn open(&self, recording: Option<&Arc<Recording>>) -> Result<Arc<dyn KeyFormat>, String>;
}

/// Encoder that converts key numbers to bytes.
///
/// Invariants:
/// 1. Different keys have different bytes. In particular, an absent key never equals a present key.
/// 2. If [`ordered`](Self::ordered), keys have the order of their numbers.
/// 3. Each absent key sorts directly after its own present key, or the absent keys have the same distribution as the
///    present keys.
/// 4. If the format [has numbers](Self::has_numbers), keys sort by the numbers that they encode.
/// 5. No key is empty or longer than [`max_bytes`](Self::max_bytes).
pub trait KeyFormat: Send + Sync {
    /// Appends the bytes of `key` to `out`. The index of the key is below [`capacity`](Self::capacity).
    fn append(&self, key: KeyId, out: &mut Vec<u8>);

    /// Appends the bytes of the keys of all `operations` to `keys`.
    fn append_all(&self, operations: &[Operation], keys: &mut KeyBytes) {
        for operation in operations {
            self.append(operation.key, &mut keys.bytes);
            keys.end_at(keys.bytes.len());
        }
    }

    /// Appends the exclusive end key of each scan or range delete that has a span. For any other operation, appends an
    /// empty key.
    fn append_ends(&self, operations: &[Operation], ends: &mut KeyBytes) {
        for operation in operations {
            if operation.span > 0 {
                self.append_above(operation.key, operation.span, &mut ends.bytes);
            }
            ends.end_at(ends.bytes.len());
        }
    }

    /// Returns whether each key encodes a number, so that a span (a difference of numbers) can be added to the key.
    fn has_numbers(&self) -> bool {
        false
    }

    /// Appends the key that lies `span` numbers above `key`, for the exclusive end of a scan. If no such key exists,
    /// appends a key that sorts after all keys. A format that does not [have numbers](Self::has_numbers) appends
    /// nothing.
    fn append_above(&self, _key: KeyId, _span: u32, _out: &mut Vec<u8>) {}

    /// Returns the number of different keys that the format can encode.
    fn capacity(&self) -> u64;

    /// Returns whether keys of this format sort by their numbers.
    fn ordered(&self) -> bool;

    /// Returns the length of the longest key of this format in bytes.
    fn max_bytes(&self) -> usize;
}

/// The bytes of the keys of many operations, one key after the other. Padding bytes follow the last key, so code can
/// load 8 bytes or more at any position of a key.
#[derive(Clone, Debug, Default)]
pub struct KeyBytes {
    pub(super) bytes: Vec<u8>,
    ends: Vec<u32>,
}

impl KeyBytes {
    /// Removes all keys, but keeps the allocated memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Reserves memory for `keys` more keys of `bytes_per_key` bytes.
    pub(crate) fn reserve(&mut self, keys: usize, bytes_per_key: usize) {
        self.bytes.reserve(keys * bytes_per_key + PADDING);
        self.ends.reserve(keys);
    }

    /// Returns the key that was appended as number `index`, from 0.
    ///
    /// # Panics
    /// Panics if fewer keys were appended.
    #[inline]
    pub fn key(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] as usize };
        &self.bytes[start..self.ends[index] as usize]
    }

    /// Ends the key whose bytes were appended last. `end` is the offset at which the key ends in the bytes of all keys.
    #[inline]
    pub(super) fn end_at(&mut self, end: usize) {
        self.ends.push(end as u32);
    }

    /// Records the ends of `keys` new keys, each of which has `bytes` bytes. The bytes of these keys were appended
    /// before.
    pub(super) fn ends_every(&mut self, bytes: usize, keys: usize) {
        let start = self.bytes.len() - keys * bytes;
        self.ends.extend((1..=keys).map(|key| (start + key * bytes) as u32));
    }
}
