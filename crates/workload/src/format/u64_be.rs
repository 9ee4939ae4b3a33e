//! Keys that are big-endian numbers of a fixed length. Keys sort by their indexes.
//!
//! Key i is written as the number 2i. The absent key after key i is written as 2i + 1. Absent keys therefore sort
//! between present keys, and no key that is added later equals an absent key. If the keys are `scattered`, a fixed
//! bijection replaces each number by another number, so that keys with neighboring indexes are far apart in key
//! order. The number fills keys of up to 8 bytes. Longer keys are padded with the digit `0`, as in `db_bench`.

use std::sync::Arc;

use catalog::{Build, Variant};

use super::numbered::{self, Numbers, Params};
use super::policy::{KeyBytes, KeyFormat, KeyFormatPolicy};
use crate::operation::{KeyId, Operation};
use crate::trace::Recording;

pub(crate) const VARIANT: Variant<dyn KeyFormatPolicy> = Variant::new::<Policy>(
    "u64",
    "a big-endian integer, padded with the digit 0; short keys that sort by their indexes",
    numbered::REFERENCE,
);

/// The padding byte of keys that are longer than 8 bytes, which is the length of the number in a key.
const PAD: u8 = b'0';

struct Policy(Params);

impl Build<dyn KeyFormatPolicy> for Policy {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn KeyFormatPolicy>, String> {
        Ok(Box::new(Self(params.checked()?)))
    }
}

impl KeyFormatPolicy for Policy {
    fn open(&self, _: Option<&Arc<Recording>>) -> Result<Arc<dyn KeyFormat>, String> {
        let bytes = self.0.bytes.0 as usize;
        let numbers = if bytes >= 8 { 1 << 63 } else { 1u64 << (8 * bytes) };
        Ok(Arc::new(U64 { bytes, numbers: self.0.numbers(numbers) }))
    }
}

struct U64 {
    bytes: usize,
    numbers: Numbers,
}

impl U64 {
    /// Returns the first eight bytes of the key that encodes `number`. If the key is shorter, the remaining bytes are
    /// 0.
    #[inline]
    fn head(&self, number: u64) -> [u8; 8] {
        let shift = 8 * 8usize.saturating_sub(self.bytes);
        (number << shift).to_be_bytes()
    }

    fn append_number(&self, number: u64, out: &mut Vec<u8>) {
        let end = out.len() + self.bytes;
        out.extend_from_slice(&self.head(number)[..self.bytes.min(8)]);
        out.resize(end, PAD);
    }
}

impl KeyFormat for U64 {
    fn append(&self, key: KeyId, out: &mut Vec<u8>) {
        self.append_number(self.numbers.of(key), out);
    }

    fn append_all(&self, operations: &[Operation], keys: &mut KeyBytes) {
        let start = keys.bytes.len();
        keys.bytes.resize(start + operations.len() * self.bytes, PAD);
        for (key, operation) in keys.bytes[start..].chunks_exact_mut(self.bytes).zip(operations) {
            let head = self.head(self.numbers.of(operation.key));
            match key.first_chunk_mut::<8>() {
                Some(first) => *first = head,
                None => key.copy_from_slice(&head[..self.bytes]),
            }
        }
        keys.ends_every(self.bytes, operations.len());
    }

    fn has_numbers(&self) -> bool {
        true
    }

    fn append_above(&self, key: KeyId, span: u32, out: &mut Vec<u8>) {
        match self.numbers.above(key, span) {
            Some(number) => self.append_number(number, out),
            None => out.resize(out.len() + self.bytes + 1, u8::MAX),
        }
    }

    fn capacity(&self) -> u64 {
        self.numbers.keys()
    }

    fn ordered(&self) -> bool {
        self.numbers.ordered()
    }

    fn max_bytes(&self) -> usize {
        self.bytes
    }
}
