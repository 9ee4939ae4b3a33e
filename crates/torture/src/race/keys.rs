//! Defines the keys and values of a race. A key identifies the writer that owns it, and a value identifies the write
//! that stored it.

/// The number of keys that each writer of a race owns. All writers also share this number of further keys.
const KEYS_EACH: usize = 12;

/// The number of a key of a race. Keys are stored in the order of their numbers.
pub(crate) type Key = u16;

/// A number that identifies the write of a value in a race. An absent key has the version [`NOTHING`].
///
/// The bits of a version, from the highest bit:
///
/// * 1 bit: whether the same commit writes the key again later.
/// * 31 bits: the number of the round.
/// * 8 bits: the number of the writer.
/// * 24 bits: the number of the commit, counted from 1 in each round.
pub(crate) type Version = u64;

/// The version that stands for an absent key: the key was never written, or it was deleted.
pub(crate) const NOTHING: Version = 0;

/// The bit of a version that is set if a later write of the same commit replaces the value. No read may return such a
/// version.
pub(crate) const HIDDEN: Version = 1 << 63;

/// The maximum number of commits per writer and round, because a version stores the number of its commit in 24 bits.
pub(crate) const MOST_COMMITS: usize = (1 << 24) - 1;

/// The keys of a race with a given number of writers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keys {
    /// The number of writers of the race.
    pub(crate) writers: usize,
}

impl Keys {
    /// Returns the number of keys of the race, including the shared keys.
    pub(crate) fn len(self) -> usize {
        (self.writers + 1) * KEYS_EACH
    }

    /// Returns the writer that owns a key. Returns `None` for a key that all writers share.
    pub(crate) fn owner(self, key: Key) -> Option<usize> {
        let owner = usize::from(key) % (self.writers + 1);
        (owner < self.writers).then_some(owner)
    }

    /// Returns the keys that writer `owner` owns, which are spread over the key space. If `owner` is the number of
    /// writers, returns the keys that all writers share.
    pub(crate) fn of(self, owner: usize) -> impl ExactSizeIterator<Item = Key> {
        (owner..self.len()).step_by(self.writers + 1).map(|key| key as Key)
    }
}

/// Returns the bytes with which a key is stored. Keys have several lengths, and are stored in the order of their
/// numbers.
pub(crate) fn bytes(key: Key) -> Vec<u8> {
    let mut bytes = format!("{key:04}").into_bytes();
    bytes.resize(bytes.len() + usize::from(key) % 7, b'k');
    bytes
}

/// Returns the key that is stored as the bytes `bytes_found`. Returns `None` if these bytes are none of the first
/// `count` keys.
pub(crate) fn parse(bytes_found: &[u8], count: usize) -> Option<Key> {
    let number = std::str::from_utf8(bytes_found.get(..4)?).ok()?.parse::<Key>().ok()?;
    (usize::from(number) < count && bytes(number) == bytes_found).then_some(number)
}

/// Returns the version of a value that commit number `commit` of a writer writes.
pub(crate) fn version(round: u32, writer: usize, commit: usize) -> Version {
    u64::from(round & 0x7fff_ffff) << 32 | (writer as u64) << 24 | commit as u64
}

/// Returns the round, the writer and the commit that a version identifies.
pub(crate) fn parts(version: Version) -> (u32, usize, usize) {
    let version = version & !HIDDEN;
    ((version >> 32) as u32, (version >> 24 & 0xff) as usize, (version & 0xff_ffff) as usize)
}

/// Returns the value that a write stores for a key. Its bytes and its length identify the version `version` of the
/// write.
pub(crate) fn value(key: Key, version: Version) -> Vec<u8> {
    let mixed = (version ^ u64::from(key) << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let len = match mixed % 64 {
        0 => 700,
        1..8 => mixed % 200,
        _ => mixed % 50,
    };
    let mut value = version.to_be_bytes().to_vec();
    value.extend_from_slice(&key.to_be_bytes());
    value.resize(value.len() + len as usize, mixed as u8);
    value
}

/// Returns the version of the write that stored the value `found` for a key. Returns `None` if no write stores this
/// value.
pub(crate) fn version_of(key: Key, found: &[u8]) -> Option<Version> {
    let version = u64::from_be_bytes(*found.first_chunk()?);
    (version != NOTHING && value(key, version) == found).then_some(version)
}

/// Formats a version as ROUND.WRITER.COMMIT, or as "nothing" for an absent key.
pub(crate) fn named(version: Version) -> String {
    let (round, writer, commit) = parts(version);
    match version {
        NOTHING => "nothing".to_owned(),
        _ if version & HIDDEN != 0 => format!("{round}.{writer}.{commit} (hidden)"),
        _ => format!("{round}.{writer}.{commit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_in_the_order_of_their_numbers_and_have_one_owner() {
        let keys = Keys { writers: 3 };
        let all: Vec<Vec<u8>> = (0..keys.len() as Key).map(bytes).collect();
        assert!(all.is_sorted());
        for (number, key) in all.iter().enumerate() {
            assert_eq!(parse(key, keys.len()), Some(number as Key));
        }
        assert_eq!((parse(b"0001", keys.len()), parse(b"00", 3), parse(&bytes(9), 9)), (None, None, None));
        for owner in 0..=keys.writers {
            assert_eq!(keys.of(owner).count(), KEYS_EACH);
            assert!(keys.of(owner).all(|key| keys.owner(key).unwrap_or(keys.writers) == owner));
        }
    }

    #[test]
    fn a_value_tells_its_version_and_no_other_is_taken_for_it() {
        for (round, writer, commit) in [(0, 0, 1), (7, 3, 500), (u32::MAX >> 1, 255, MOST_COMMITS)] {
            let version = version(round, writer, commit);
            assert_eq!(parts(version), (round, writer, commit));
            let mut bytes = value(5, version);
            assert_eq!(version_of(5, &bytes), Some(version));
            assert_eq!(version_of(6, &bytes), None);
            bytes.push(0);
            assert_eq!(version_of(5, &bytes), None);
            bytes.truncate(3);
            assert_eq!(version_of(5, &bytes), None);
        }
    }
}
