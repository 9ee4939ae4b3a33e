//! Maps the keys of one SSTable to integers (numbers) that sort like the keys.
//!
//! The prefix that all keys share is removed. The next eight bytes of a key (the head) are read as a big-endian
//! integer. Low bits that are equal in all heads are removed too, and the smallest integer is subtracted. If all keys
//! have the same length and equal bytes after the head (such as padding), different keys have different numbers. In
//! any other case, keys with equal heads have equal numbers.

use std::cmp::Ordering;
use std::ops::Bound;

use types::{KeyList, common_prefix, head};

const HEAD_BYTES: usize = size_of::<u64>();

/// The mapping of the keys of one SSTable to numbers that sort like the keys.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Universe {
    /// The bytes with which all keys begin.
    prefix: Vec<u8>,
    /// The low bits that are equal in all heads. The head of a key is the eight bytes after the prefix that all keys
    /// share.
    low: u64,
    /// The number of low bits that are equal in all heads, which is less than 64.
    shift: u32,
    /// The smallest head of a key, without the bits that are equal in all heads.
    min: u64,
    /// The largest head of a key, without the bits that are equal in all heads.
    max: u64,
    /// The end that all keys have after their heads. `None` if the ends or the lengths of the keys differ, so that
    /// several keys may have the same number.
    tail: Option<Tail>,
}

/// The common end of keys that have one length and equal bytes after their heads.
#[derive(Debug, PartialEq, Eq)]
struct Tail {
    /// The number of bytes of each key in its head, which is eight, or fewer if the keys are short.
    head_bytes: usize,
    /// The bytes of a key after its head, which are the same in every key.
    rest: Vec<u8>,
}

impl Universe {
    /// Creates the mapping of `keys` to numbers. The keys are sorted, and the list is not empty.
    pub(crate) fn of(keys: &KeyList) -> Self {
        let (first, last) = (keys.key(0), keys.key(keys.len() - 1));
        let shared = common_prefix(first, last);
        let first_head = head(&first[shared..]);
        let differing = keys.iter().fold(0, |bits, key| bits | (head(&key[shared..]) ^ first_head));
        let shift = differing.trailing_zeros().min(u64::BITS - 1);
        let low = first_head & ((1u64 << shift) - 1);
        let (min, max) = (first_head >> shift, head(&last[shared..]) >> shift);
        let (head_bytes, rest) = split(&first[shared..]);
        let same = |key: &[u8]| key.len() == first.len() && split(&key[shared..]).1 == rest;
        let tail = keys.iter().all(same).then(|| Tail { head_bytes: head_bytes.len(), rest: rest.to_vec() });
        Self { prefix: first[..shared].to_vec(), low, shift, min, max, tail }
    }

    /// Returns the largest number that a key of the SSTable has.
    pub(crate) fn largest(&self) -> u64 {
        self.max - self.min
    }

    /// Returns the number to which a key of the SSTable is mapped.
    pub(crate) fn number(&self, key: &[u8]) -> u64 {
        (head(&key[self.prefix.len()..]) >> self.shift) - self.min
    }

    /// Returns the number to which any key is mapped. Returns `None` if the key is certainly not in the SSTable.
    pub(crate) fn find(&self, key: &[u8]) -> Option<u64> {
        let tail = self.without_prefix(key)?;
        let at = head(tail);
        let number = at >> self.shift;
        let is_it = at & self.low_mask() == self.low
            && (self.min..=self.max).contains(&number)
            && self.against_its_key(tail).is_none_or(Ordering::is_eq);
        is_it.then(|| number - self.min)
    }

    /// Returns the smallest and the largest number that a key of the SSTable between the bounds can have. Returns
    /// `None` if no key of the SSTable can be between the bounds.
    pub(crate) fn between(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Option<(u64, u64)> {
        let smallest = match low {
            Bound::Unbounded => self.min,
            Bound::Included(key) => self.first(key, Ordering::is_gt)?,
            Bound::Excluded(key) => self.first(key, Ordering::is_ge)?,
        };
        let largest = match high {
            Bound::Unbounded => self.max,
            Bound::Included(key) => self.last(key, Ordering::is_lt)?,
            Bound::Excluded(key) => self.last(key, Ordering::is_le)?,
        };
        let (smallest, largest) = (smallest.max(self.min), largest.min(self.max));
        (smallest <= largest).then(|| (smallest - self.min, largest - self.min))
    }

    /// Returns the smallest head of the keys above or at a lower bound, without the bits that are equal in all heads.
    /// Returns `None` if no key can be within the bound.
    ///
    /// If only one key can have the head of the bound, `passes` gets the order of the bound relative to this key, and
    /// returns whether the bound excludes the key. If so, the result is the next larger head.
    fn first(&self, bound: &[u8], passes: impl Fn(Ordering) -> bool) -> Option<u64> {
        let Some(tail) = self.without_prefix(bound) else {
            return (bound < &*self.prefix).then_some(self.min);
        };
        let at = head(tail);
        let (number, low) = (at >> self.shift, at & self.low_mask());
        let is_above = match low.cmp(&self.low) {
            Ordering::Equal => self.against_its_key(tail).is_some_and(passes),
            order => order.is_gt(),
        };
        if is_above { number.checked_add(1) } else { Some(number) }
    }

    /// Returns the largest head of the keys below or at an upper bound, without the bits that are equal in all heads.
    /// Returns `None` if no key can be within the bound.
    ///
    /// If only one key can have the head of the bound, `misses` gets the order of the bound relative to this key, and
    /// returns whether the bound excludes the key. If so, the result is the next smaller head.
    fn last(&self, bound: &[u8], misses: impl Fn(Ordering) -> bool) -> Option<u64> {
        let Some(tail) = self.without_prefix(bound) else {
            return (bound > &*self.prefix).then_some(self.max);
        };
        let at = head(tail);
        let (number, low) = (at >> self.shift, at & self.low_mask());
        let is_below = match low.cmp(&self.low) {
            Ordering::Equal => match self.against_its_key(tail) {
                Some(order) => misses(order),
                // A key below the bound can have the same head only if the bound is longer than the head, or ends with
                // a zero byte.
                None => misses(Ordering::Equal) && tail.len() <= HEAD_BYTES && tail.last() != Some(&0),
            },
            order => order.is_lt(),
        };
        if is_below { number.checked_sub(1) } else { Some(number) }
    }

    /// Compares a bound with the only stored key that can have the same head. `bound` begins after the prefix that all
    /// keys share. Returns `None` if several keys can have this head.
    fn against_its_key(&self, bound: &[u8]) -> Option<Ordering> {
        let Tail { head_bytes, rest } = self.tail.as_ref()?;
        // Empty slices are not compared, because even the comparison of empty slices can cost as much as a cache
        // miss.
        Some(match (bound.get(*head_bytes..), rest.is_empty()) {
            (None, _) | (Some([]), false) => Ordering::Less,
            (Some(behind), true) => behind.len().cmp(&0),
            (Some(behind), false) => behind.cmp(rest),
        })
    }

    fn without_prefix<'k>(&self, key: &'k [u8]) -> Option<&'k [u8]> {
        if self.prefix.is_empty() { Some(key) } else { key.strip_prefix(&*self.prefix) }
    }

    fn low_mask(&self) -> u64 {
        (1 << self.shift) - 1
    }
}

/// Splits a key, without the shared prefix, into its head (the first eight bytes) and the bytes after the head.
fn split(key: &[u8]) -> (&[u8], &[u8]) {
    key.split_at(key.len().min(HEAD_BYTES))
}

/// The stored words are `low | shift | min | max | tail`. The tail is 0, or 1 + the number of key bytes in a head.
/// The prefix and the bytes after heads follow. The length of each of these two byte strings is stored directly
/// before the byte string. Each byte string is padded to whole words.
impl Universe {
    pub(crate) fn encode(&self, words: &mut Vec<u64>) {
        let tail = self.tail.as_ref();
        words.extend([self.low, self.shift.into(), self.min, self.max]);
        words.push(tail.map_or(0, |tail| 1 + tail.head_bytes as u64));
        encode_bytes(&self.prefix, words);
        encode_bytes(tail.map_or(&[], |tail| &tail.rest), words);
    }

    /// Decodes a mapping from stored words. Returns `None` if the words are corrupt.
    pub(crate) fn decode(words: &mut impl ExactSizeIterator<Item = u64>) -> Option<Self> {
        let [low, shift, min, max, tail] = [(); 5].map(|()| words.next());
        let (low, shift, min, max) = (low?, shift?, min?, max?);
        if shift >= u64::BITS.into() || low >> shift != 0 || min > max || max > u64::MAX >> shift {
            return None;
        }
        let (prefix, rest) = (decode_bytes(words)?, decode_bytes(words)?);
        let tail = match tail? {
            0 if rest.is_empty() => None,
            head_bytes @ 1..=9 => Some(Tail { head_bytes: head_bytes as usize - 1, rest }),
            _ => return None,
        };
        Some(Self { prefix, low, shift: shift as u32, min, max, tail })
    }

    /// Returns the memory of the mapping in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.prefix.len() + self.tail.as_ref().map_or(0, |tail| tail.rest.len())
    }
}

/// Appends the length of a byte string, and then its bytes, padded to whole words.
pub(crate) fn encode_bytes(bytes: &[u8], words: &mut Vec<u64>) {
    words.push(bytes.len() as u64);
    words.extend(bytes.chunks(HEAD_BYTES).map(head));
}

/// Decodes the bytes that [`encode_bytes`] appended. Returns `None` if there are too few words.
pub(crate) fn decode_bytes(words: &mut impl ExactSizeIterator<Item = u64>) -> Option<Vec<u8>> {
    let len = usize::try_from(words.next()?).ok()?;
    let count = len.div_ceil(HEAD_BYTES);
    if count > words.len() {
        return None;
    }
    let mut bytes: Vec<u8> = words.take(count).flat_map(u64::to_be_bytes).collect();
    bytes.truncate(len);
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::*;

    fn universe(keys: &[impl AsRef<[u8]>]) -> (KeyList, Universe) {
        let keys: KeyList = keys.iter().collect();
        let universe = Universe::of(&keys);
        let mut words = Vec::new();
        universe.encode(&mut words);
        assert_eq!(Universe::decode(&mut words.into_iter()), Some(Universe::of(&keys)));
        (keys, universe)
    }

    fn included<'a>(low: &'a [u8], high: &'a [u8]) -> (Bound<&'a [u8]>, Bound<&'a [u8]>) {
        (Bound::Included(low), Bound::Included(high))
    }

    /// Tests that the mapping is one-to-one for integers between fixed leading and trailing bytes.
    #[test]
    fn padded_numbers_are_exact() {
        let key = |number: u32| [b"user", &number.to_be_bytes()[..], b"00000000"].concat();
        let (_, universe) = universe(&[key(0x0100), key(0x0300), key(0x5000)]);
        assert_eq!(universe.largest(), 0x4f);
        let between = |low: u32, high: u32| {
            let (low, high) = (key(low), key(high));
            universe.between(Bound::Included(&low), Bound::Excluded(&high))
        };
        assert_eq!(between(0x0100, 0x0101), Some((0, 0)));
        assert_eq!(between(0x0101, 0x0200), None);
        assert_eq!(between(0x0101, 0x0201), Some((1, 1)));
        assert_eq!(between(0x4f01, 0xffff), Some((0x4f, 0x4f)));
        assert_eq!(between(0x5001, 0xffff), None);
        let (above, below) = ([&key(0x0300)[..], b"!"].concat(), &key(0x0300)[..9]);
        assert_eq!(universe.between(Bound::Included(&above), Bound::Included(&key(0x0300))), None);
        assert_eq!(universe.between(Bound::Included(below), Bound::Excluded(below)), None);
        let (low, high) = included(b"a", b"use");
        assert_eq!(universe.between(low, high), None);
        let (low, high) = included(b"usf", b"z");
        assert_eq!(universe.between(low, high), None);
        let (low, high) = included(b"", b"z");
        assert_eq!(universe.between(low, high), Some((0, 0x4f)));
    }

    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![Just(0u8), Just(1), Just(b'a'), Just(0xff)];
        prop_oneof![proptest::collection::vec(byte.clone(), 0..4), proptest::collection::vec(byte, 8..12),]
    }

    fn bound() -> impl Strategy<Value = Bound<Vec<u8>>> {
        prop_oneof![
            Just(Bound::Unbounded),
            bytes().prop_map(Bound::Included),
            bytes().prop_map(Bound::Excluded)
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 20_000,
            rng_seed: RngSeed::Fixed(42),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        /// Tests with any strings: if a key is between two bounds, its number is in the range of numbers of these
        /// bounds.
        #[test]
        fn no_key_falls_out_of_its_bounds(
            keys in proptest::collection::btree_set(bytes(), 1..6), low in bound(), high in bound(),
        ) {
            let keys: Vec<Vec<u8>> = keys.into_iter().collect();
            let (keys, universe) = universe(&keys);
            let bounds = (low.as_ref().map(Vec::as_slice), high.as_ref().map(Vec::as_slice));
            let numbers = universe.between(bounds.0, bounds.1);
            for key in keys.iter() {
                use std::ops::RangeBounds;
                let number = universe.number(key);
                prop_assert_eq!(universe.find(key), Some(number));
                prop_assert!(number <= universe.largest());
                let inside = numbers.is_some_and(|(low, high)| (low..=high).contains(&number));
                prop_assert!(inside || !RangeBounds::<[u8]>::contains(&bounds, key), "{key:?} {bounds:?}");
            }
        }
    }
}
