//! The bounds of a prefix scan, which reads the keys that begin with given bytes.

/// Writes the exclusive end of all keys with a prefix to `end`. The end is the smallest key above all these keys. If
/// all bytes of the prefix are 0xff, no key is above all these keys, and the function returns false.
pub(crate) fn end_of(prefix: &[u8], end: &mut Vec<u8>) -> bool {
    end.clear();
    let Some(last) = prefix.iter().rposition(|byte| *byte != 0xff) else { return false };
    end.extend_from_slice(&prefix[..=last]);
    end[last] += 1;
    true
}

/// Returns the prefix of a key: its first `bytes` bytes, or the whole key if the key is shorter.
pub(crate) fn of(key: &[u8], bytes: u32) -> &[u8] {
    &key[..key.len().min(bytes as usize)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_above_all_keys_with_the_prefix() {
        let mut end = Vec::new();
        for (prefix, expected) in
            [(&b"ab"[..], Some(&b"ac"[..])), (b"a\xff\xff", Some(b"b")), (b"\xff", None), (b"", None)]
        {
            assert_eq!(end_of(prefix, &mut end).then_some(&end[..]), expected, "{prefix:?}");
        }
        assert_eq!((of(b"abc", 2), of(b"abc", 9)), (&b"ab"[..], &b"abc"[..]));
    }
}
