//! Prints the false-positive rate of every filter that takes `bits_per_key`, beside what theory says of it:
//! 1 M keys, 10 M absent probes per setting. Then that of `grafite` for empty ranges, beside the bound of its
//! paper: 1 M ranges of random numbers, and 1 M that begin right behind a key.
//!
//! `cargo run --release -p lsmbench-bloom --example fpr`
#![allow(clippy::print_stdout)] // The table is the point of this program.

use std::ops::Bound;

use lsmbench_bloom::{CATALOG, Filter, FilterInput};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use types::{Bytes, HashedKey, KeyHash, KeyList};

const KEYS: usize = 1_000_000;
const PROBES: usize = 10_000_000;
const PROBES_PER_BATCH: usize = 1 << 14;
const BITS_PER_KEY: [f64; 11] = [0.1, 1.0, 2.0, 4.0, 6.0, 7.8, 8.0, 10.0, 12.0, 14.0, 16.0];

fn main() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(42);
    let mut hashes: Vec<KeyHash> = (0..KEYS).map(|_| KeyHash(random.next_u64())).collect();
    hashes.sort_unstable();
    let keys: KeyList = hashes.iter().map(|hash| hash.0.to_be_bytes()).collect();
    println!(
        "{:<12} {:>9} {:>12} {:>12} {:>8} {:>14}",
        "filter", "bits/key", "theory", "measured", "ratio", "sampling error"
    );
    for variant in CATALOG.variants().iter().filter(|variant| variant.defaults().contains_key("bits_per_key"))
    {
        for bits_per_key in BITS_PER_KEY {
            let policy = CATALOG.build(&variant.default_choice()).expect("defaults build");
            let input = FilterInput { hashes: &hashes, bits_per_key: Some(bits_per_key), keys: Some(&keys) };
            let filter = policy.open(Bytes::copy_from(&policy.build(&input))).expect("just built");
            let (theory, measured) = (filter.expected_fpr(), measure(&*filter));
            // One standard deviation of the share of positives among so many probes, relative to theory.
            let error = (theory * (1.0 - theory) / PROBES as f64).sqrt() / theory;
            println!(
                "{:<12} {bits_per_key:>9} {theory:>12.7} {measured:>12.7} {:>8.4} {:>13.2}%",
                variant.kind,
                measured / theory,
                100.0 * error
            );
        }
    }
    print_ranges(&hashes, &keys);
}

/// Ranges of 2⁵ and 2¹⁰ numbers, beside ε ≤ ℓ / 2^(B − 2).
fn print_ranges(hashes: &[KeyHash], keys: &KeyList) {
    println!(
        "\n{:<12} {:>9} {:>9} {:>12} {:>8} {:>8}",
        "ranges", "bits/key", "numbers", "bound", "random", "behind"
    );
    for (bits_per_key, length) in [(12.0, 32u64), (14.0, 32), (16.0, 32), (16.0, 1024), (20.0, 1024)] {
        let policy = CATALOG
            .build(&CATALOG.choose(&"grafite".to_owned().into()).expect("a kind"))
            .expect("defaults build");
        let input = FilterInput { hashes, bits_per_key: Some(bits_per_key), keys: Some(keys) };
        let filter = policy.open(Bytes::copy_from(&policy.build(&input))).expect("just built");
        let bound = length as f64 / (bits_per_key - 2.0).exp2();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(8);
        let anywhere = share_of_full(&*filter, hashes, (0..KEYS).map(|_| random.next_u64()), length);
        let behind = share_of_full(&*filter, hashes, hashes.iter().map(|hash| hash.0 + 1), length);
        println!(
            "{:<12} {bits_per_key:>9} {length:>9} {bound:>12.7} {:>7.4}x {:>7.4}x",
            "grafite",
            anywhere / bound,
            behind / bound
        );
    }
}

/// The share of the empty ones among ranges of `length` numbers that the filter takes for full.
fn share_of_full(
    filter: &dyn Filter,
    hashes: &[KeyHash],
    starts: impl Iterator<Item = u64>,
    length: u64,
) -> f64 {
    let (mut full, mut empty) = (0, 0);
    for start in starts {
        let end = start.saturating_add(length);
        let next = hashes.partition_point(|hash| hash.0 < start);
        if hashes.get(next).is_none_or(|hash| hash.0 >= end) {
            let (low, high) = (start.to_be_bytes(), end.to_be_bytes());
            empty += 1;
            full += u32::from(filter.may_contain_range(Bound::Included(&low), Bound::Excluded(&high)));
        }
    }
    f64::from(full) / f64::from(empty)
}

/// The share of positives among random hashes; that one of them is a key's has no measurable chance.
fn measure(filter: &dyn Filter) -> f64 {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let (mut positives, mut done) = (0, 0);
    let mut hashes = vec![KeyHash(0); PROBES_PER_BATCH];
    let mut answers = vec![false; PROBES_PER_BATCH];
    while done < PROBES {
        let count = PROBES_PER_BATCH.min(PROBES - done);
        hashes[..count].fill_with(|| KeyHash(random.next_u64()));
        let bytes: Vec<[u8; 8]> = hashes[..count].iter().map(|hash| hash.0.to_be_bytes()).collect();
        let keys = bytes.iter().zip(&hashes).map(|(bytes, hash)| HashedKey { bytes, hash: *hash });
        filter.may_contain_keys(&keys.collect::<Vec<_>>(), &mut answers[..count]);
        positives += answers[..count].iter().filter(|answer| **answer).count();
        done += count;
    }
    positives as f64 / PROBES as f64
}
