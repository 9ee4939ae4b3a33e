//! The keys of YCSB. A key consists of the text `user` and the decimal FNV-1a hash of the index. Keys therefore do
//! not sort by their indexes. The keys equal the keys of YCSB with `insertorder=hashed` and `zeropadding=1`.
//!
//! The absent key of an index is the present key with `:` instead of its last digit. In ASCII, `:` sorts after all
//! digits. Absent keys are distributed among the present keys. No present key contains `:`.

use std::sync::Arc;

use catalog::Variant;

use super::policy::{KeyFormat, KeyFormatPolicy};
use crate::fnv::fnv1a_abs;
use crate::operation::KeyId;
use crate::trace::Recording;

pub(crate) const VARIANT: Variant<dyn KeyFormatPolicy> =
    Variant::plain("user", "\"user\" and a hashed number of up to 19 digits, as in YCSB", || Box::new(User));

/// The text with which every key of the format `user` begins.
const PREFIX: &[u8] = b"user";

/// Last byte of an absent key, instead of a digit. The byte `:` follows `9` in ASCII, so the absent key sorts after the
/// keys that differ only in the last digit.
const ABSENT: u8 = b':';

/// The key format `user` of YCSB, which has no parameters.
struct User;

impl KeyFormatPolicy for User {
    fn open(&self, _: Option<&Arc<Recording>>) -> Result<Arc<dyn KeyFormat>, String> {
        Ok(Arc::new(Self))
    }
}

/// Length of the longest key of the format `user`, in bytes. The largest hash is 2⁶³, which has 19 digits.
const LONGEST: usize = PREFIX.len() + 19;

impl KeyFormat for User {
    fn append(&self, key: KeyId, out: &mut Vec<u8>) {
        let digits = super::digits::decimal_digits(fnv1a_abs(key.index()));
        let leading = digits.iter().take(digits.len() - 1).take_while(|digit| **digit == b'0').count();
        out.extend_from_slice(PREFIX);
        out.extend_from_slice(&digits[leading..]);
        if key.is_absent() {
            *out.last_mut().expect("a key of the format \"user\" must have at least one digit") = ABSENT;
        }
    }

    fn capacity(&self) -> u64 {
        1 << 62
    }

    fn ordered(&self) -> bool {
        false
    }

    fn max_bytes(&self) -> usize {
        LONGEST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_keys_of_ycsb() {
        let mut key = Vec::new();
        User.append(KeyId::present(0), &mut key);
        assert_eq!(key, b"user6284781860667377211");
        key.clear();
        User.append(KeyId::absent(0), &mut key);
        assert_eq!(key, b"user628478186066737721:");
    }
}
