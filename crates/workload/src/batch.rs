//! A batch of operations with encoded keys. A thread fills the batch before the measured time of its operations.
//! During the measured time, the thread only reads the batch.

use std::sync::Arc;

use crate::format::{KeyBytes, KeyFormat};
use crate::operation::{Kind, Operation};
use crate::values::Values;

/// The next operations of one thread in execution order, with their encoded keys and the source of their values
/// ([`Values`]).
#[derive(Default)]
pub struct Batch {
    pub(crate) operations: Vec<Operation>,
    keys: KeyBytes,
    /// For each scan or range delete with a span (the length of its key range), the exclusive end key. For any other
    /// operation, an empty key. The list is empty if no operation of the batch has a span.
    ends: KeyBytes,
    values: Option<Arc<Values>>,
}

impl Batch {
    /// Recommended number of operations per batch. The number is large enough to make the fixed cost per batch
    /// negligible, and small enough to keep a batch in the L1 cache of a CPU.
    pub const OPERATIONS: usize = 256;

    /// Returns all operations. A write batch or a multi-get is a group of operations: the head of the group comes
    /// first, and the members of the group follow the head.
    #[inline]
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// Returns the key of the operation at index `at`.
    ///
    /// # Panics
    /// Panics if the batch has no operation at this index.
    #[inline]
    pub fn key(&self, at: usize) -> &[u8] {
        self.keys.key(at)
    }

    /// Returns the exclusive end key of the scan or range delete at index `at`. Returns `None` for any other operation,
    /// and for a scan without an end key, which reads a given number of entries.
    #[inline]
    pub fn end(&self, at: usize) -> Option<&[u8]> {
        (self.operations[at].span > 0).then(|| self.ends.key(at))
    }

    /// Returns the value or the merge operand that the operation at index `at` writes. The result is empty for an
    /// operation that writes no value.
    ///
    /// # Panics
    /// Panics if the batch has no operation at this index.
    #[inline]
    pub fn value(&self, at: usize) -> &[u8] {
        let values =
            self.values.as_ref().expect("the source of values must be set in a batch with operations");
        values.slice(self.operations[at].value)
    }

    /// Returns the number of operations that the store executes in one call, from the operation at index `at` on. The
    /// number is 1 for a single operation. For a write batch or a multi-get, it includes the head and all members.
    #[inline]
    pub fn width(&self, at: usize) -> usize {
        let operation = &self.operations[at];
        match operation.kind {
            Kind::Batch | Kind::MultiGet => 1 + operation.count as usize,
            _ => 1,
        }
    }

    /// Iterates over the index of the first operation of each call of the store. A write batch or a multi-get is one
    /// call with several operations.
    pub fn heads(&self) -> impl Iterator<Item = usize> {
        let mut next = 0;
        std::iter::from_fn(move || {
            let at = next;
            (at < self.operations.len()).then(|| {
                next += self.width(at);
                at
            })
        })
    }

    /// Returns the number of key and value bytes that the operation at index `at` writes. A delete writes a key, a
    /// range delete writes two keys, and any other write writes a key and a value. For a write batch, the result is the
    /// sum over its members.
    pub fn written_bytes(&self, at: usize) -> u64 {
        let operation = &self.operations[at];
        match operation.kind {
            Kind::Get | Kind::Range | Kind::Prefix | Kind::MultiGet | Kind::First | Kind::Last => 0,
            Kind::Delete | Kind::SingleDelete => self.key(at).len() as u64,
            Kind::DeleteRange => (self.key(at).len() + self.end(at).map_or(0, <[u8]>::len)) as u64,
            Kind::Put | Kind::Insert | Kind::ReadModifyWrite | Kind::Merge | Kind::PutIfAbsent => {
                self.key(at).len() as u64 + u64::from(operation.value.bytes)
            }
            Kind::Batch => (at + 1..at + self.width(at)).map(|member| self.written_bytes(member)).sum(),
        }
    }

    /// Removes all operations, but keeps the allocated memory.
    pub(crate) fn clear(&mut self) {
        self.operations.clear();
        self.keys.clear();
        self.ends.clear();
    }

    /// Completes the batch after its operations were added. The function encodes their keys in `format`, and keeps
    /// `values`, from which the values of the operations come.
    pub(crate) fn finish(&mut self, format: &dyn KeyFormat, values: &Arc<Values>) {
        self.keys.reserve(self.operations.len(), format.max_bytes());
        format.append_all(&self.operations, &mut self.keys);
        if self.operations.iter().any(|operation| operation.span > 0) {
            format.append_ends(&self.operations, &mut self.ends);
        }
        if !self.values.as_ref().is_some_and(|held| Arc::ptr_eq(held, values)) {
            self.values = Some(Arc::clone(values));
        }
    }
}
