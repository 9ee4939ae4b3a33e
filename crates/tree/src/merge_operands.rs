//! Stored values of trees with a merge operator. The last byte of a stored value is a tag that distinguishes values
//! from merge operands.
//!
//! A put stores a value, and a merge stores an operand. The current value of a key is its newest stored value,
//! combined with all newer operands. Reads combine the operands that are newer than the newest value or tombstone.
//! Flushes and compactions combine the versions of a key in their inputs.

use std::path::Path;

use types::MergeOperator;

use crate::error::Error;

/// The tag (last byte) of a stored value that is a complete value.
const VALUE: u8 = 0;

/// The tag (last byte) of a stored value that is a merge operand.
const OPERAND: u8 = 1;

/// Returns the bytes that a tree with a merge operator stores for a value: the value, and the tag byte of values.
pub(crate) fn stored_value(value: &[u8]) -> Vec<u8> {
    [value, &[VALUE]].concat()
}

/// Returns the bytes that a tree with a merge operator stores for a merge operand: the operand, and the tag byte of
/// operands.
pub(crate) fn stored_operand(operand: &[u8]) -> Vec<u8> {
    [operand, &[OPERAND]].concat()
}

/// Returns whether the stored bytes are a merge operand, and not a value.
#[inline]
pub(crate) fn is_operand(stored: &[u8]) -> bool {
    stored.last() == Some(&OPERAND)
}

/// Returns the value that the stored bytes contain. Returns `None` if the bytes are a merge operand or corrupt.
#[inline]
pub(crate) fn value_in(stored: &[u8]) -> Option<&[u8]> {
    stored.strip_suffix(&[VALUE])
}

/// Returns whether the last stored byte is the tag of a value or of a merge operand. If not, the bytes are corrupt.
pub(crate) fn is_marked(stored: &[u8]) -> bool {
    matches!(stored.last(), Some(&(VALUE | OPERAND)))
}

/// Returns the error for a stored value in the store `directory` whose last byte is not a valid tag.
pub(crate) fn unmarked(directory: &Path) -> Error {
    Error::damaged(
        directory,
        0,
        "the last byte of a stored value is neither the tag of a value (0) nor the tag of a merge operand \
         (1)",
    )
}

/// Returns the error that a WAL contains merges, although the store has no merge operator.
pub(crate) fn unexpected_merge(log: &Path) -> Error {
    Error::damaged(log, 0, "the WAL contains merges, but the manifest states no merge operator")
}

/// The versions of one key that determine its value: the merge operands, and the newest version that is not an operand.
#[derive(Debug, Default)]
pub(crate) struct OperandStack {
    /// The merge operands of the key, newest first.
    operands: Vec<Vec<u8>>,
    base: Option<Base>,
}

/// The version to which the merge operands apply: the newest version that is not an operand.
#[derive(Debug)]
enum Base {
    Value(Vec<u8>),
    /// The key has no value before the merge operands: the version is a tombstone, or no older version exists.
    Absent,
}

impl OperandStack {
    /// Adds the next older version of the key to the stack. `stored` contains the stored bytes of the version, or
    /// `None` for a tombstone. Returns `false` if the bytes are corrupt.
    #[must_use]
    pub(crate) fn add(&mut self, stored: Option<&[u8]>) -> bool {
        match stored.map(<[u8]>::split_last) {
            None => self.base = Some(Base::Absent),
            Some(Some((&VALUE, value))) => self.base = Some(Base::Value(value.to_vec())),
            Some(Some((&OPERAND, operand))) => self.operands.push(operand.to_vec()),
            Some(_) => return false,
        }
        true
    }

    /// Records that the key has no older version, so the operands apply to an empty value. Has no effect if the newest
    /// value or tombstone is already known.
    pub(crate) fn end(&mut self) {
        self.base.get_or_insert(Base::Absent);
    }

    /// Returns whether the newest value or tombstone of the key is known. Older versions then have no effect on the
    /// value.
    pub(crate) fn is_complete(&self) -> bool {
        self.base.is_some()
    }

    /// Returns the value of the key, combined from all added versions. Older versions must not exist. Returns `None` if
    /// the key is deleted or absent.
    pub(crate) fn value(self, operator: MergeOperator) -> Option<Vec<u8>> {
        let mut value = match self.base {
            Some(Base::Value(value)) => value,
            _ if self.operands.is_empty() => return None,
            _ => Vec::new(),
        };
        self.operands.iter().rev().for_each(|operand| operator.combine(&mut value, operand));
        Some(value)
    }

    /// Returns one version that replaces all added versions, in its stored form. It is a value if the newest value or
    /// tombstone of the key is known, and an operand otherwise. Returns `None` if the versions are only a tombstone, or
    /// if there are no versions.
    pub(crate) fn stored(self, operator: MergeOperator) -> Option<Vec<u8>> {
        if self.is_complete() {
            return self.value(operator).map(|value| stored_value(&value));
        }
        let mut operands = self.operands.into_iter().rev();
        let mut combined = operands.next()?;
        operands.for_each(|operand| operator.combine(&mut combined, &operand));
        Some(stored_operand(&combined))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_end_at_the_first_value_or_tombstone() {
        let stack = |stored: &[Option<Vec<u8>>]| {
            let mut stack = OperandStack::default();
            assert!(stored.iter().all(|stored| stack.add(stored.as_deref())));
            stack
        };
        let (append, operand) = (MergeOperator::Append, |text: &str| Some(stored_operand(text.as_bytes())));
        let value = stored_value(b"a");
        let open = [operand("c"), operand("b")];
        assert_eq!(stack(&open).value(append).as_deref(), Some(&b"bc"[..]));
        assert_eq!(stack(&open).stored(append), operand("bc"));
        let based = [operand("c"), operand("b"), Some(value.clone())];
        assert_eq!(stack(&based).value(append).as_deref(), Some(&b"abc"[..]));
        assert_eq!(stack(&based).stored(append), Some(stored_value(b"abc")));
        assert_eq!(stack(&[operand("b"), None]).stored(append), Some(stored_value(b"b")));
        assert_eq!(stack(&[None]).stored(append), None);
        assert!(!OperandStack::default().add(Some(b"")) && !OperandStack::default().add(Some(&[7])));
        assert_eq!((value_in(&value), value_in(&[OPERAND])), (Some(&b"a"[..]), None));
    }
}
