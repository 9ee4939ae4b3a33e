//! Converts between names and keys. A name is what Redis calls a key: it identifies a string or a hash. A key is a key
//! of the tree.
//!
//! | key of the tree | meaning |
//! |---|---|
//! | the name | a string; the keys of strings have the order of their names |
//! | `00` + the name | a string whose name begins with the byte `00`; the prefix does not change the order |
//! | `00 01` + length of the name (4 bytes) + the name + the field | a field of a hash |
//! | `00 02` + the name | a hash: the number of its fields |
//!
//! The tree therefore stores names that do not begin with the byte `00` unchanged, and `lsmbench shell` reads them.

use std::borrow::Cow;

use types::MAX_KEY_BYTES;

/// The prefix of all tree keys that store hash fields. It is also a lower bound of these keys. The tree key of a string
/// is larger, unless the name of the string is empty or begins with the byte `00`.
pub(crate) const FIELDS: &[u8] = &[0, 1];

/// The prefix of all tree keys that store hashes. It is also a lower bound of these keys, and an upper bound
/// (exclusive) of the tree keys of hash fields.
pub(crate) const HASHES: &[u8] = &[0, 2];

/// An upper bound (exclusive) of the tree keys of hashes. It is also a lower bound of the tree keys of strings, unless
/// the name of the string is empty or begins with the byte `00`.
pub(crate) const PLAIN: &[u8] = &[1];

/// The size of the first part of a hash field's tree key, in bytes: a prefix, and the length of the hash's name.
const FIELD_HEAD_BYTES: usize = 6;

/// The maximum total size of the name of a hash and the name of a field, in bytes.
pub(crate) const MAX_FIELD_BYTES: usize = MAX_KEY_BYTES - FIELD_HEAD_BYTES;

/// The kind of a name (a Redis key): a string or a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    String,
    Hash,
}

impl Kind {
    /// Returns the name of the kind in replies: `string` or `hash`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Hash => "hash",
        }
    }
}

/// Returns the tree's key of a string, whose name in Redis is `name`.
pub(crate) fn string_key(name: &[u8]) -> Cow<'_, [u8]> {
    match name.first() {
        Some(0) => Cow::Owned([&[0], name].concat()),
        _ => Cow::Borrowed(name),
    }
}

/// Returns the tree's key of a hash, under which the number of its fields is stored. `name` is the name of the hash in
/// Redis.
pub(crate) fn hash_key(name: &[u8]) -> Vec<u8> {
    [HASHES, name].concat()
}

/// Returns the prefix with which the tree's keys of the fields of a hash begin. `name` is the name of the hash in
/// Redis.
pub(crate) fn field_prefix(name: &[u8]) -> Vec<u8> {
    // A name is shorter than 64 KiB.
    let length = (name.len() as u32).to_be_bytes();
    [FIELDS, &length, name].concat()
}

/// Returns the tree's key of a field of a hash. `name` is the name of the hash in Redis.
pub(crate) fn field_key(name: &[u8], field: &[u8]) -> Vec<u8> {
    let mut key = field_prefix(name);
    key.extend_from_slice(field);
    key
}

/// Returns the smallest key that is larger than all keys with the prefix `prefix`; `None` if no such key exists.
pub(crate) fn after_prefix(mut prefix: Vec<u8>) -> Option<Vec<u8>> {
    while let Some(last) = prefix.pop() {
        if last < u8::MAX {
            prefix.push(last + 1);
            return Some(prefix);
        }
    }
    None
}

/// Returns the name and the kind of the string or hash to which a key of the tree belongs. Returns `None` for the key
/// of a hash field.
pub(crate) fn name_of(key: &[u8]) -> Option<(Kind, &[u8])> {
    match key {
        [0, 0, ..] => Some((Kind::String, &key[1..])),
        [0, 2, name @ ..] => Some((Kind::Hash, name)),
        [0, ..] => None,
        name => Some((Kind::String, name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_order_and_come_back() {
        let names: [&[u8]; 10] =
            [b"", b"\0", b"\0\0", b"\0\x01", b"\0\x02a", b"\0\xff", b"\x01", b"a", b"a\0", b"\xff"];
        let keys: Vec<_> = names.iter().map(|name| string_key(name)).collect();
        assert!(keys.is_sorted_by(|a, b| a < b), "{keys:?}");
        for (name, key) in names.iter().zip(&keys) {
            assert_eq!(name_of(key), Some((Kind::String, *name)));
            assert!(**key < *FIELDS || **key >= *PLAIN, "{key:?} is among the hashes");
            assert_eq!(name_of(&hash_key(name)), Some((Kind::Hash, *name)));
            assert!(*hash_key(name) >= *HASHES && *hash_key(name) < *PLAIN);
            let field = field_key(name, b"f");
            assert!(*field >= *FIELDS && *field < *HASHES && name_of(&field).is_none());
        }
    }

    #[test]
    fn no_two_fields_share_a_key() {
        assert_ne!(field_key(b"ab", b"c"), field_key(b"a", b"bc"));
        let end = after_prefix(field_prefix(b"a")).unwrap();
        assert!(*field_key(b"a", b"\xff\xff") < *end && *field_key(b"b", b"") >= *end);
        assert_eq!(after_prefix(vec![1, 255, 255]), Some(vec![2]));
        assert_eq!(after_prefix(vec![255]), None);
    }
}
