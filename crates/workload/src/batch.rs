//! A run of operations with their keys written out: made before the clock runs, read while it does.

use std::sync::Arc;

use crate::format::{KeyBytes, KeyFormat};
use crate::operation::{Kind, Operation};
use crate::values::Values;

/// Operations in the order in which they are done, ready to be read by a timed loop.
#[derive(Default)]
pub struct Batch {
    pub(crate) operations: Vec<Operation>,
    keys: KeyBytes,
    /// Where ranges end that span so many numbers, one for each operation; none at all without such ranges.
    ends: KeyBytes,
    values: Option<Arc<Values>>,
}

impl Batch {
    /// A good number of operations per batch: many enough to hide the cost of filling it, few enough to
    /// stay in the first cache.
    pub const OPERATIONS: usize = 256;

    /// All operations, the members of a group behind its head.
    #[inline]
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// The key of operation number `at`.
    ///
    /// # Panics
    /// If there is no such operation.
    #[inline]
    pub fn key(&self, at: usize) -> &[u8] {
        self.keys.key(at)
    }

    /// The first key that range number `at` no longer reads, where its span says.
    #[inline]
    pub fn end(&self, at: usize) -> Option<&[u8]> {
        (self.operations[at].span > 0).then(|| self.ends.key(at))
    }

    /// The value that operation number `at` writes.
    ///
    /// # Panics
    /// If there is no such operation.
    #[inline]
    pub fn value(&self, at: usize) -> &[u8] {
        let values = self.values.as_ref().expect("a batch with operations was filled with its values");
        values.slice(self.operations[at].value)
    }

    /// The operations that one call does, given the place of the first: the operation alone, or a head with
    /// its members.
    #[inline]
    pub fn width(&self, at: usize) -> usize {
        let operation = &self.operations[at];
        match operation.kind {
            Kind::Batch | Kind::MultiGet => 1 + operation.count as usize,
            _ => 1,
        }
    }

    /// The places of all operations that are no members of another.
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

    /// The key and value bytes that operation number `at` writes: those of a put, an insert or the write of
    /// a read-modify-write, the key of a delete, and the sum over the members of a batch.
    pub fn written_bytes(&self, at: usize) -> u64 {
        let operation = &self.operations[at];
        match operation.kind {
            Kind::Get | Kind::Range | Kind::MultiGet => 0,
            Kind::Delete => self.key(at).len() as u64,
            Kind::Put | Kind::Insert | Kind::ReadModifyWrite => {
                self.key(at).len() as u64 + u64::from(operation.value.bytes)
            }
            Kind::Batch => (at + 1..at + self.width(at)).map(|member| self.written_bytes(member)).sum(),
        }
    }

    /// Forgets the operations and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.operations.clear();
        self.keys.clear();
        self.ends.clear();
    }

    /// Writes out the keys of all operations, and takes the values they are cut from.
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
