//! The Memento filter, a range filter. The filter stores the numbers of keys in the slots of a quotient filter. A
//! slot has the fingerprint of a number's prefix, and the last bits of the number.
//!
//! A [`Universe`] maps keys to numbers. The last `memento_bits` bits of a number are its memento, and the other bits
//! are its prefix. The hash of the prefix gives a quotient and a fingerprint. The slot of the quotient stores the
//! fingerprint and the memento. All numbers with equal prefixes are therefore in adjacent slots, and a short range
//! needs one or two lookups. Each lookup searches for a slot that has the fingerprint of the prefix and a memento
//! within the range.
//!
//! Two different prefixes collide with probability 2^−`fingerprint_bits` per stored number. A collision causes a
//! false positive only if the memento of the stored number is also in the range. The false-positive rate therefore
//! has an upper bound for every range, including ranges right after keys. The numbers of a range of length
//! 2^`memento_bits` have at most two prefixes. The filter reports every range with more than eight prefixes as not
//! empty.
//!
//! Source: Eslami, Dayan, "Memento Filter: A Fast, Dynamic, and Robust Range Filter" (SIGMOD 2025, arXiv 2408.05625),
//! section 4. The filter of the paper can grow, and stores all mementos of one fingerprint together. This filter is
//! built once from all keys, and has one slot per key number (`slots.rs`).
//!
//! The filter takes (`fingerprint_bits` + `memento_bits` + 2.2) / 8 / 0.95 bytes per key. A point lookup makes as
//! many memory accesses as a lookup of [`quotient`](crate::quotient). A short range makes as many memory accesses as
//! two point lookups.

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};
use types::Bytes;

use crate::budget::Budget;
use crate::corrupt::CorruptFilter;
use crate::filter::{Filter, FilterInput, FilterPolicy};
use crate::no_keys::NoKeys;
use crate::number_set::{ByNumber, NumberSet};
use crate::packed::MOST_WIDTH;
use crate::position::{mix, reduce, remix};
use crate::slots::{self, EXTRA_BITS, LOAD, Slots, select};
use crate::stored::Head;
use crate::universe::Universe;

pub(crate) const VARIANT: Variant<dyn FilterPolicy> = Variant::new::<Memento>(
    "memento",
    "a range filter that stores a hashed prefix and the last bits of each key; bounded false-positive rate",
    "# Fingerprint length in bits, 1 to 20. A longer fingerprint lowers the false-positive rate. An\n\
     # allocation such as \"monkey\" can replace the fingerprint length, to meet its memory budget.\n\
     fingerprint_bits = 7\n\
     # Number of last bits of each key number that the filter keeps, 1 to 10. The filter is effective for\n\
     # ranges of up to 2^memento_bits key numbers.\n\
     memento_bits = 5\n",
);

const TAG: [u8; 4] = *b"memo";

/// The seed of the hash function for the prefixes of key numbers.
const SEED: u64 = 0x6d_656d_656e_746f;

/// The largest number of prefixes that the filter probes for one range. The filter never reports a range with more
/// prefixes as empty.
const MOST_PREFIXES: u64 = 8;

const MOST_FINGERPRINT_BITS: u32 = 20;
const MOST_MEMENTO_BITS: u32 = 10;

/// Builds Memento filters, whose slots have a hashed prefix and the last bits of each key number.
struct Memento {
    fingerprint_bits: u32,
    memento_bits: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    fingerprint_bits: u32,
    memento_bits: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self { fingerprint_bits: 7, memento_bits: 5 }
    }
}

impl Build<dyn FilterPolicy> for Memento {
    type Params = Params;

    fn build(Params { fingerprint_bits, memento_bits }: Params) -> Result<Box<dyn FilterPolicy>, String> {
        for (name, bits, most) in [
            ("fingerprint_bits", fingerprint_bits, MOST_FINGERPRINT_BITS),
            ("memento_bits", memento_bits, MOST_MEMENTO_BITS),
        ] {
            if !(1..=most).contains(&bits) {
                return Err(format!("{name} is {bits}; it must be from 1 to {most}"));
            }
        }
        Ok(Box::new(Self { fingerprint_bits, memento_bits }))
    }
}

impl FilterPolicy for Memento {
    /// Builds the filter. The stored form has three parts: the length of a memento in bits, the mapping from keys to
    /// numbers, and the slots. The header field `probes` is the width of a slot in bits.
    fn build(&self, input: &FilterInput<'_>) -> Vec<u8> {
        let keys = input.needed_keys();
        if keys.is_empty() {
            return Head::new(TAG, 0, &[]).encode([0; 0].into_iter());
        }
        let bits = match input.bits_per_key {
            Some(bits) => Budget::width(bits * LOAD - EXTRA_BITS).clamp(self.memento_bits + 1, MOST_WIDTH),
            None => self.memento_bits + self.fingerprint_bits,
        };
        let universe = Universe::of(keys);
        let split = Split { quotients: slots::quotients(keys.len()), bits, memento_bits: self.memento_bits };
        let mut slots: Vec<(usize, u64)> = keys.iter().map(|key| split.slot(universe.number(key))).collect();
        slots.sort_unstable();
        slots.dedup();
        let mut words = vec![self.memento_bits.into()];
        universe.encode(&mut words);
        Slots::filled(&slots, split.quotients, bits).encode(&mut words);
        Head::new(TAG, bits, input.hashes).encode(words.into_iter())
    }

    fn open(&self, stored: Bytes) -> Result<Box<dyn Filter>, CorruptFilter> {
        let (head, mut words) = Head::decode(&stored, TAG)?;
        if head.keys == 0 && words.len() == 0 {
            return Ok(Box::new(NoKeys));
        }
        let corrupt = || {
            CorruptFilter(
                "the number of memento bits or the key mapping of the stored filter is corrupt, or does not \
                 match the header"
                    .to_owned(),
            )
        };
        let memento_bits = words.next().filter(|bits| (1..=MOST_MEMENTO_BITS.into()).contains(bits));
        let memento_bits = memento_bits.ok_or_else(corrupt)? as u32;
        let universe = Universe::decode(&mut words).ok_or_else(corrupt)?;
        if head.probes <= memento_bits {
            return Err(corrupt());
        }
        let slots = Slots::decode(&mut words, head.keys, head.probes)?;
        let split = Split { quotients: slots.quotients, bits: head.probes, memento_bits };
        Ok(Box::new(ByNumber(MementoFilter { universe, split, slots })))
    }

    fn bits_per_key(&self) -> Option<f64> {
        Some((f64::from(self.fingerprint_bits + self.memento_bits) + EXTRA_BITS) / LOAD)
    }

    fn needs_keys(&self) -> bool {
        true
    }
}

/// The rule that splits the number to which a key is mapped into a quotient and the content of a slot. The quotient
/// selects the slot.
struct Split {
    quotients: usize,
    /// The number of bits of a slot. The first bits are the fingerprint of the prefix, and the last bits are the
    /// memento.
    bits: u32,
    memento_bits: u32,
}

impl Split {
    /// Returns the quotient (the slot number) and the fingerprint for `prefix`, the first bits of a key's number.
    fn prefix(&self, prefix: u64) -> (usize, u64) {
        let mixed = mix(prefix, SEED);
        let mask = (1 << (self.bits - self.memento_bits)) - 1;
        (reduce(mixed, self.quotients), remix(mixed) >> 24 & mask)
    }

    /// Returns the quotient (the slot number) and the slot content for the number to which a key is mapped.
    fn slot(&self, number: u64) -> (usize, u64) {
        let (quotient, fingerprint) = self.prefix(number >> self.memento_bits);
        (quotient, fingerprint << self.memento_bits | number & self.largest_memento())
    }

    fn largest_memento(&self) -> u64 {
        (1 << self.memento_bits) - 1
    }
}

/// A Memento filter in memory. Each slot has a fingerprint and the last bits of the number to which a key is mapped.
struct MementoFilter {
    universe: Universe,
    split: Split,
    slots: Slots,
}

impl NumberSet for MementoFilter {
    fn universe(&self) -> &Universe {
        &self.universe
    }

    fn has_between(&self, first: u64, last: u64) -> bool {
        let (bits, most) = (self.split.memento_bits, self.split.largest_memento());
        let (from, to) = (first >> bits, last >> bits);
        if to - from >= MOST_PREFIXES {
            return true;
        }
        (from..=to).any(|prefix| {
            let (quotient, fingerprint) = self.split.prefix(prefix);
            let low = if prefix == from { first & most } else { 0 };
            let high = if prefix == to { last & most } else { most };
            let slots = fingerprint << bits | low..=fingerprint << bits | high;
            self.slots.has(quotient, |slot| slots.contains(&slot), select)
        })
    }

    /// Returns the false-positive rate of point lookups. The rate assumes that looked-up keys are mapped to random
    /// numbers between the smallest and the largest number of a stored key. Two numbers with equal prefixes differ in
    /// their stored last bits, so they are never confused.
    fn expected_fpr(&self) -> f64 {
        let prefixes = (self.universe.largest() >> self.split.memento_bits) as f64 + 1.0;
        let absent = 1.0 - self.slots.keys as f64 / (self.universe.largest() as f64 + 1.0);
        let others = 1.0 - 1.0 / prefixes;
        absent.max(0.0) * others * self.slots.fill()
    }

    fn memory_bytes(&self) -> usize {
        self.slots.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Bound;

    use types::{KeyHash, KeyList};

    use super::*;

    fn filter(numbers: &[u64]) -> Box<dyn Filter> {
        let keys: KeyList = numbers.iter().map(|number| number.to_be_bytes()).collect();
        let hashes = vec![KeyHash(0); numbers.len()];
        let policy = <Memento as Build<_>>::build(Params::default()).ok().unwrap();
        let stored = policy.build(&FilterInput { hashes: &hashes, bits_per_key: None, keys: Some(&keys) });
        policy.open(Bytes::copy_from(&stored)).unwrap()
    }

    fn asks(filter: &dyn Filter, start: u64, length: u64) -> bool {
        let (low, high) = (start.to_be_bytes(), (start + length).to_be_bytes());
        filter.may_contain_range(Bound::Included(&low), Bound::Excluded(&high))
    }

    /// Tests the claim of the authors that ranges of up to 2^5 numbers at any position have a false-positive rate of
    /// about 2 · 2^−`fingerprint_bits`.
    #[test]
    fn every_short_range_keeps_the_bound() {
        let mut numbers: Vec<u64> = (0..50_000).map(|i| mix(i, 1) >> 20).collect();
        numbers.sort_unstable();
        let filter = filter(&numbers);
        let bound = 2.0 * 0.95 / f64::from(1 << 7);
        for length in [1, 8, 32] {
            let random = (0..50_000).map(|i| mix(i, 2) >> 20);
            let behind = numbers.iter().map(|number| number + 1);
            for starts in [random.collect::<Vec<_>>(), behind.collect()] {
                let empty = starts.into_iter().filter(|start| {
                    let at = numbers.partition_point(|number| number < start);
                    numbers.get(at).is_none_or(|number| *number >= start + length)
                });
                let empty: Vec<u64> = empty.collect();
                let positives = empty.iter().filter(|start| asks(&*filter, **start, length)).count();
                let rate = positives as f64 / empty.len() as f64;
                assert!(rate < bound * 1.05, "{length}: {rate}, bound {bound}");
            }
        }
        assert!(filter.expected_fpr() < bound / 60.0);
    }

    /// Tests dense numbers, of which many have the same prefix. The filter never confuses numbers with equal
    /// prefixes.
    #[test]
    fn numbers_of_one_prefix_are_exact() {
        let numbers: Vec<u64> = (0..2000).map(|i| i * 3).collect();
        let filter = filter(&numbers);
        let answers = (0..5990).filter(|start| asks(&*filter, *start, 1) == (start % 3 == 0)).count();
        assert!(answers > 5900, "{answers}");
        assert!((0..1990).all(|i| asks(&*filter, i * 3, 1)));
        assert!(asks(&*filter, 1, 32 * MOST_PREFIXES + 32));
    }

    #[test]
    fn impossible_widths_are_refused() {
        for (fingerprint_bits, memento_bits) in [(0, 5), (21, 5), (7, 0), (7, 11)] {
            assert!(<Memento as Build<_>>::build(Params { fingerprint_bits, memento_bits }).is_err());
        }
    }
}
