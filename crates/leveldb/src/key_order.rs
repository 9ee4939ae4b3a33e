//! The comparators of calling programs. A tree orders keys by their bytes, so a comparator must agree with the order of
//! bytes.

use std::cmp::Ordering;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::failure::Failure;

/// A comparator of the calling program: a named order of keys.
pub(crate) trait KeyOrder: Send + Sync {
    /// Compares two keys in the order of the comparator.
    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering;

    /// Returns the name of the comparator.
    fn name(&self) -> String;
}

/// Returns an error if the comparator and the order of bytes disagree about two keys.
pub(crate) fn check_order(order: &dyn KeyOrder, a: &[u8], b: &[u8]) -> Result<(), Failure> {
    if order.compare(a, b) == a.cmp(b) {
        return Ok(());
    }
    Err(Failure::invalid(format!(
        "the comparator \"{}\" does not order the keys \"{}\" and \"{}\" by their bytes; lsmbench supports only the \
         order of bytes, so use the default comparator",
        order.name(),
        a.escape_ascii(),
        b.escape_ascii()
    )))
}

/// Checks that the comparator of the calling program orders the keys of a store by their bytes.
///
/// The check compares each key with the last written key. It calls the comparator only with keys of the program,
/// because the comparator may rely on their format.
pub(crate) struct CheckedOrder {
    order: Arc<dyn KeyOrder>,
    /// The last written key. `None` if the store has no keys yet.
    last: Mutex<Option<Vec<u8>>>,
}

impl CheckedOrder {
    /// Creates the check of a comparator for a store. `last` is any key of the store, or `None` if the store is empty.
    pub(crate) fn new(order: Arc<dyn KeyOrder>, last: Option<Vec<u8>>) -> Self {
        Self { order, last: Mutex::new(last) }
    }

    /// Returns the comparator of the program.
    pub(crate) fn order(&self) -> &Arc<dyn KeyOrder> {
        &self.order
    }

    /// Checks the comparator with the key of a read and the last written key. Returns an error if it orders them
    /// differently from their bytes.
    pub(crate) fn check_read(&self, key: &[u8]) -> Result<(), Failure> {
        match &*self.last.lock() {
            Some(last) => check_order(&*self.order, last, key),
            None => Ok(()),
        }
    }

    /// Checks the comparator with each key of a write and the key before it. Returns an error if it orders two of them
    /// differently from their bytes.
    pub(crate) fn check_written<'k>(&self, keys: impl Iterator<Item = &'k [u8]>) -> Result<(), Failure> {
        let mut last = self.last.lock();
        for key in keys {
            if let Some(last) = &*last {
                check_order(&*self.order, last, key)?;
            }
            let last = last.get_or_insert_default();
            last.clear();
            last.extend_from_slice(key);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A comparator that treats upper and lower case as equal.
    struct WithoutCase;

    impl KeyOrder for WithoutCase {
        fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
            a.to_ascii_lowercase().cmp(&b.to_ascii_lowercase())
        }

        fn name(&self) -> String {
            "without case".to_owned()
        }
    }

    #[test]
    fn each_key_is_compared_with_the_key_that_was_written_last() {
        let order = CheckedOrder::new(Arc::new(WithoutCase), None);
        order.check_read(b"anything").unwrap();
        order.check_written([&b"a"[..], b"b", b"a", b"k"].into_iter()).unwrap();
        let expected = "Invalid argument: the comparator \"without case\" does not order the keys \"k\" and \"K\" by their \
                        bytes; lsmbench supports only the order of bytes, so use the default comparator";
        assert_eq!(order.check_read(b"K").unwrap_err().to_string(), expected);
        assert_eq!(order.check_written(std::iter::once(&b"K"[..])).unwrap_err().to_string(), expected);
        order.check_read(b"k").unwrap();
    }
}
