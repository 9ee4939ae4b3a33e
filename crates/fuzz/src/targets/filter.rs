//! Fuzz target for the stored bytes of filters of every variant.

use std::ops::Bound;

use bloom::{CATALOG, Filter, FilterInput, FilterPolicy};
use types::{Bytes, HashedKey, KeyHash, KeyList};

use super::input::{SPARE_BYTES, choose};
use crate::bounds::bounded;
use crate::target::{FuzzTarget, InputForm};

/// The fuzz target for a stored filter, which the target opens and probes. The first byte of an input selects the
/// variant.
///
/// An opened filter must answer every probe, with the same answer each time and in batches. Its false-positive rate
/// must be between 0 and 1. Its memory must be at most 64 bytes per byte of input, plus 4,096 bytes.
pub(super) const TARGET: FuzzTarget = FuzzTarget {
    name: "filter",
    about: "a stored Bloom filter of any variant, which the target opens and probes",
    form: InputForm::Bytes,
    seeds,
    run,
};

/// The number of pseudorandom key hashes with which the target probes each opened filter. The target also probes hashes
/// at the limits of integers.
const QUESTIONS: u64 = 40;

fn policies() -> Vec<Box<dyn FilterPolicy>> {
    CATALOG
        .all()
        .map(|choice| CATALOG.build(&choice).expect("every filter must build with its default parameters"))
        .collect()
}

fn hash(number: u64) -> KeyHash {
    KeyHash(number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

fn key(number: u64) -> Vec<u8> {
    format!("user{:08}", number * 7).into_bytes()
}

fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (number, policy) in policies().iter().enumerate() {
        for count in [1, 5, 60, 300] {
            let hashes: Vec<KeyHash> = (0..count).map(hash).collect();
            let keys: KeyList = (0..count).map(key).collect();
            for bits_per_key in [None, Some(3.0)] {
                let stored = policy.build(&FilterInput { hashes: &hashes, bits_per_key, keys: Some(&keys) });
                seeds.push([&[number as u8][..], &stored].concat());
            }
        }
    }
    seeds
}

fn run(input: &[u8]) -> bool {
    let Some((variant, stored)) = choose(input) else { return false };
    let variants = CATALOG.variants().len();
    let choice = CATALOG
        .all()
        .nth(variant % variants)
        .expect("the first byte of an input must select a filter variant");
    let policy = CATALOG.build(&choice).expect("every filter must build with its default parameters");
    let stored = Bytes::copy_from(stored);
    bounded(input.len(), SPARE_BYTES, || {
        let Ok(filter) = policy.open(stored.clone()) else { return false };
        check(&*filter, input.len());
        let again = policy
            .open(stored.clone())
            .expect("a filter that was opened once must open again from the same bytes");
        for number in 0..QUESTIONS {
            let same = filter.may_contain(hash(number)) == again.may_contain(hash(number));
            assert!(same, "two filters opened from the same bytes gave different answers");
        }
        true
    })
}

fn check(filter: &dyn Filter, bytes: usize) {
    let rate = filter.expected_fpr();
    assert!((0.0..=1.0).contains(&rate), "the expected false-positive rate is {rate}, not between 0 and 1");
    assert!(
        filter.memory_bytes() <= 64 * bytes + 4096,
        "an input of {bytes} bytes opened as a filter with {} bytes of memory; the limit is 64 bytes per byte plus \
         4096",
        filter.memory_bytes()
    );
    let edges = [KeyHash(0), KeyHash(u64::MAX), KeyHash(1 << 63)];
    let hashes: Vec<KeyHash> = (0..QUESTIONS).map(hash).chain(edges).collect();
    let keys: Vec<Vec<u8>> = (0..hashes.len() as u64).map(key).collect();
    let asked: Vec<HashedKey<'_>> =
        keys.iter().zip(&hashes).map(|(key, hash)| HashedKey { bytes: key, hash: *hash }).collect();
    let mut answers = vec![false; hashes.len()];
    filter.may_contain_keys(&asked, &mut answers);
    for (question, answer) in asked.iter().zip(&answers) {
        assert_eq!(
            filter.may_contain_key(*question),
            *answer,
            "a batch of keys and single probes gave different answers"
        );
    }
    filter.may_contain_batch(&hashes, &mut answers);
    for (hash, answer) in hashes.iter().zip(&answers) {
        assert_eq!(
            filter.may_contain(*hash),
            *answer,
            "a batch of hashes and single probes gave different answers"
        );
    }
    for pair in keys.windows(2) {
        for (low, high) in [(&pair[0], &pair[1]), (&pair[1], &pair[0])] {
            filter.may_contain_range(Bound::Included(low), Bound::Excluded(high));
            filter.may_contain_range(Bound::Excluded(low), Bound::Unbounded);
        }
    }
    filter.may_contain_range(Bound::Unbounded, Bound::Included(b""));
    filter.may_contain_range(Bound::Included(b""), Bound::Included(&[0xff; 40]));
}
