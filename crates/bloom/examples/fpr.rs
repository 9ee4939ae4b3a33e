//! Prints the false-positive rate of every filter that takes `bits_per_key`, beside what theory says of it:
//! 1 M keys, 10 M absent probes per setting.
//!
//! `cargo run --release -p lsmbench-bloom --example fpr`
#![allow(clippy::print_stdout)] // The table is the point of this program.

use lsmbench_bloom::{CATALOG, Filter, FilterInput};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use types::{Bytes, KeyHash};

const KEYS: usize = 1_000_000;
const PROBES: usize = 10_000_000;
const PROBES_PER_BATCH: usize = 1 << 14;
const BITS_PER_KEY: [f64; 11] = [0.1, 1.0, 2.0, 4.0, 6.0, 7.8, 8.0, 10.0, 12.0, 14.0, 16.0];

fn main() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(42);
    let hashes: Vec<KeyHash> = (0..KEYS).map(|_| KeyHash(random.next_u64())).collect();
    println!(
        "{:<12} {:>9} {:>12} {:>12} {:>8} {:>14}",
        "filter", "bits/key", "theory", "measured", "ratio", "sampling error"
    );
    for variant in CATALOG.variants.iter().filter(|variant| variant.defaults().contains_key("bits_per_key")) {
        for bits_per_key in BITS_PER_KEY {
            let policy = CATALOG.build(&catalog::Choice::default_of(variant)).expect("defaults build");
            let input = FilterInput { hashes: &hashes, bits_per_key: Some(bits_per_key) };
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
        filter.may_contain_batch(&hashes[..count], &mut answers[..count]);
        positives += answers[..count].iter().filter(|answer| **answer).count();
        done += count;
    }
    positives as f64 / PROBES as f64
}
