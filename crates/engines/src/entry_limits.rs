//! Defines and checks the sizes of keys and values that an engine accepts.

use std::ops::RangeInclusive;

#[cfg(any(feature = "more-peers", test))]
use workload::TargetError;

/// The sizes of keys and values that a store accepts, in bytes. A store rejects a write outside these ranges with an
/// error that names the range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryLimits {
    /// The accepted sizes of keys, in bytes.
    pub key_bytes: RangeInclusive<usize>,
    /// The accepted sizes of values, in bytes.
    pub value_bytes: RangeInclusive<usize>,
}

impl Default for EntryLimits {
    /// Returns limits that accept keys and values of any size.
    fn default() -> Self {
        Self { key_bytes: 0..=usize::MAX, value_bytes: 0..=usize::MAX }
    }
}

#[cfg(any(feature = "more-peers", test))]
impl EntryLimits {
    /// Checks that the size of a key is accepted.
    ///
    /// # Errors
    /// The size is not accepted. The error names the `engine`, the size, the accepted range, and the `remedy`.
    pub(crate) fn check_key(&self, key: &[u8], engine: &str, remedy: &str) -> Result<(), TargetError> {
        check("key", key.len(), &self.key_bytes, engine, remedy)
    }

    /// Checks that the sizes of a key and its value are accepted.
    ///
    /// # Errors
    /// A size is not accepted. The error names the `engine`, the size, the accepted range, and the `remedy`.
    pub(crate) fn check(
        &self,
        (key, value): (&[u8], &[u8]),
        engine: &str,
        remedy: &str,
    ) -> Result<(), TargetError> {
        self.check_key(key, engine, remedy)?;
        check("value", value.len(), &self.value_bytes, engine, remedy)
    }
}

impl EntryLimits {
    /// Returns the accepted size of a value that is nearest to `bytes`.
    pub fn nearest_value_bytes(&self, bytes: usize) -> usize {
        bytes.clamp(*self.value_bytes.start(), *self.value_bytes.end())
    }

    /// Returns the accepted size of a key that is nearest to `bytes`.
    pub fn nearest_key_bytes(&self, bytes: usize) -> usize {
        bytes.clamp(*self.key_bytes.start(), *self.key_bytes.end())
    }
}

#[cfg(any(feature = "more-peers", test))]
fn check(
    part: &str,
    bytes: usize,
    limits: &RangeInclusive<usize>,
    engine: &str,
    remedy: &str,
) -> Result<(), TargetError> {
    if limits.contains(&bytes) {
        return Ok(());
    }
    let (least, most) = (limits.start(), limits.end());
    Err(format!("{engine} accepts {part}s of {least} to {most} bytes, not of {bytes} bytes; {remedy}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_beyond_the_limits_is_an_error_with_the_limits() {
        let limits = EntryLimits { key_bytes: 1..=3, value_bytes: 1..=usize::MAX };
        let check = |key: &[u8], value: &[u8]| limits.check((key, value), "x", "do this");
        assert!(check(b"abc", b"v").is_ok());
        assert_eq!(
            check(b"abcd", b"v").unwrap_err().to_string(),
            "x accepts keys of 1 to 3 bytes, not of 4 bytes; do this"
        );
        assert!(check(b"", b"v").unwrap_err().to_string().contains("not of 0 bytes"));
        assert!(check(b"a", b"").unwrap_err().to_string().starts_with("x accepts values of 1 to "));
        assert_eq!((limits.nearest_value_bytes(0), limits.nearest_key_bytes(9)), (1, 3));
        assert_eq!(EntryLimits::default().nearest_value_bytes(0), 0);
    }
}
