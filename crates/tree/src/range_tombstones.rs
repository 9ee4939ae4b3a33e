//! Range tombstones of SSTables: disjoint ranges of keys that are deleted in all older runs.
//!
//! A run has at most one version of each key. When a run is written, its range tombstones remove the deleted entries of
//! that run. The tombstones therefore hide only older runs and need no sequence numbers. Ranges that overlap or touch
//! become one range.

use std::sync::Arc;

use types::MAX_KEY_BYTES;

use crate::codec::{Reader, put_bytes, put_varint};

/// A range of keys: from `low`, inclusive, to `high`, exclusive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyRange {
    /// The first deleted key (inclusive).
    pub(crate) low: Arc<[u8]>,
    /// The end of the deleted range (exclusive).
    pub(crate) high: Arc<[u8]>,
}

/// Disjoint ranges of deleted keys, in key order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RangeTombstones(Vec<KeyRange>);

impl KeyRange {
    /// Returns the total length of both bounds of the deleted range, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        (self.low.len() + self.high.len()) as u64
    }

    /// Returns the largest deleted key, if `high` ends with a zero byte. This key is `high` without the zero byte.
    /// Otherwise, the range has no largest key, and the function returns `high`.
    pub(crate) fn largest(&self) -> &[u8] {
        match self.high.split_last() {
            Some((0, rest)) => rest,
            _ => &self.high,
        }
    }
}

/// Returns the smallest key above `key`.
pub(crate) fn successor(key: &[u8]) -> Arc<[u8]> {
    [key, &[0]].concat().into()
}

/// Returns the exclusive end of the key range that contains every key below `cut`, and no other key. The returned end
/// has a zero byte as its last byte, which `cut` may lack. [`largest`](KeyRange::largest) therefore returns a key below
/// `cut`, and the next SSTable can begin at `cut`. Returns `None` if no key is below `cut`.
///
/// The end is the smallest key above the largest key below `cut`. This largest key exists, because keys have at most
/// [`MAX_KEY_BYTES`] bytes.
pub(crate) fn end_below(cut: &[u8]) -> Option<Arc<[u8]>> {
    let (last, rest) = cut.split_last()?;
    let Some(below) = last.checked_sub(1) else { return Some(cut.into()) };
    let mut end = rest.to_vec();
    end.push(below);
    end.resize(MAX_KEY_BYTES, 0xff);
    end.push(0);
    Some(end.into())
}

impl RangeTombstones {
    /// Returns the union of key ranges, which may overlap and may be in any order.
    pub(crate) fn union(mut ranges: Vec<KeyRange>) -> Self {
        ranges.sort_by(|a, b| a.low.cmp(&b.low));
        let mut union: Vec<KeyRange> = Vec::with_capacity(ranges.len());
        for range in ranges {
            match union.last_mut() {
                Some(last) if range.low <= last.high => {
                    if range.high > last.high {
                        last.high = range.high;
                    }
                }
                _ => union.push(range),
            }
        }
        Self(union)
    }

    /// Returns the deleted ranges in key order.
    pub(crate) fn ranges(&self) -> &[KeyRange] {
        &self.0
    }

    /// Returns whether there are no deleted ranges.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether a range tombstone deletes the key.
    pub(crate) fn cover(&self, key: &[u8]) -> bool {
        let begun = self.0.partition_point(|range| *range.low <= *key);
        begun.checked_sub(1).is_some_and(|last| *key < *self.0[last].high)
    }

    /// Returns the parts of the deleted ranges between `low`, inclusive, and `high`, exclusive. `None` means that there
    /// is no bound on this side.
    pub(crate) fn between(&self, low: Option<&[u8]>, high: Option<&[u8]>) -> Vec<KeyRange> {
        let inside = |range: &KeyRange| {
            let mut range = range.clone();
            if let Some(low) = low
                && *range.low < *low
            {
                range.low = low.into();
            }
            if let Some(high) = high
                && *range.high >= *high
            {
                range.high = end_below(high)?;
            }
            (range.low < range.high).then_some(range)
        };
        self.0.iter().filter_map(inside).collect()
    }

    /// Returns the total length of the bounds of all ranges, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.iter().map(KeyRange::bytes).sum()
    }

    /// Returns the range tombstones as the bytes of a part of an SSTable.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_varint(&mut out, self.0.len() as u64);
        for range in &self.0 {
            put_bytes(&mut out, &range.low);
            put_bytes(&mut out, &range.high);
        }
        out
    }

    /// Decodes the range tombstones of an SSTable. Returns `None` if the bytes are corrupt: if there is no range, if a
    /// range is empty, if a key is too long, or if the ranges are out of order.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let mut ranges: Vec<KeyRange> = Vec::new();
        for _ in 0..reader.varint()? {
            let range = KeyRange { low: reader.bytes()?.into(), high: reader.bytes()?.into() };
            // The successor of a key with maximum length is one byte longer.
            let is_sound =
                range.low < range.high && range.low.len().max(range.high.len()) <= MAX_KEY_BYTES + 1;
            if !is_sound || ranges.last().is_some_and(|last| last.high > range.low) {
                return None;
            }
            ranges.push(range);
        }
        (reader.is_at_end() && !ranges.is_empty()).then_some(Self(ranges))
    }
}

impl FromIterator<KeyRange> for RangeTombstones {
    /// Collects range tombstones that are already disjoint and in key order.
    fn from_iter<I: IntoIterator<Item = KeyRange>>(ranges: I) -> Self {
        Self(ranges.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn range(low: &[u8], high: &[u8]) -> KeyRange {
        KeyRange { low: low.into(), high: high.into() }
    }

    /// Generates short keys from few different bytes, so that ranges often overlap or touch.
    fn key() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(prop::sample::select(vec![0u8, 1, b'a', 0xff]), 0..4)
    }

    proptest! {
        /// Tests that a union contains exactly the keys of its ranges. Encoding and decoding must not change a union,
        /// and the parts of a cut union must contain all its keys.
        #[test]
        fn unions_and_parts_have_the_keys_of_their_ranges(
            pairs in prop::collection::vec((key(), key()), 0..12), keys in prop::collection::vec(key(), 1..40), cut in key()
        ) {
            let ranges: Vec<KeyRange> =
                pairs.iter().filter(|(low, high)| low < high).map(|(low, high)| range(low, high)).collect();
            let union = RangeTombstones::union(ranges.clone());
            prop_assert!(union.ranges().windows(2).all(|pair| pair[0].high < pair[1].low));
            let decoded = RangeTombstones::decode(&union.encode());
            prop_assert_eq!(decoded, (!union.is_empty()).then(|| union.clone()));
            let below: RangeTombstones = union.between(None, Some(&cut)).into_iter().collect();
            let above: RangeTombstones = union.between(Some(&cut), None).into_iter().collect();
            prop_assert!(below.ranges().last().is_none_or(|last| last.largest() < &*cut));
            for key in keys {
                let is_inside = ranges.iter().any(|range| *range.low <= *key && *key < *range.high);
                prop_assert_eq!(union.cover(&key), is_inside);
                prop_assert_eq!(below.cover(&key), is_inside && key < cut);
                prop_assert_eq!(above.cover(&key), is_inside && key >= cut);
                prop_assert!(union.ranges().iter().all(|range| *key >= *range.high || *key <= *range.largest()));
            }
        }
    }

    #[test]
    fn corrupt_ranges_are_rejected() {
        let good = RangeTombstones::union(vec![range(b"a", b"c"), range(b"x", b"z")]).encode();
        assert!(RangeTombstones::decode(&good).is_some());
        for cut in 0..good.len() {
            assert_eq!(RangeTombstones::decode(&good[..cut]), None);
        }
        let long = vec![b'b'; MAX_KEY_BYTES + 2];
        for bad in [
            vec![],
            vec![range(b"c", b"a")],
            vec![range(b"a", b"a")],
            vec![range(b"a", b"c"), range(b"b", b"d")],
            vec![range(b"a", &long)],
        ] {
            assert_eq!(RangeTombstones::decode(&RangeTombstones(bad).encode()), None);
        }
    }

    #[test]
    fn the_key_before_a_cut_is_the_largest_below_it() {
        assert_eq!(end_below(b""), None);
        assert_eq!(end_below(b"a\0").as_deref(), Some(&b"a\0"[..]));
        let end = end_below(b"ab").unwrap();
        assert!(end[..] > b"aa\xff\xff\xff\xff"[..] && end[..] < b"ab"[..]);
        assert_eq!(successor(b"ab")[..], *b"ab\0");
    }
}
