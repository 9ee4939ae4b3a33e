//! Races every filter against `fastbloom` on absent keys at 10 bits per key: 1 M keys, which fit the caches,
//! and 40 M keys, which do not; probe by probe, and in batches of 32.
//!
//! `cargo run --release -p lsmbench-bloom --example bloom_race [-- [--keys N] KIND…]`
//!
//! All filters take turns in one run, on the same fresh hashes, and a ratio is taken within each round: what
//! disturbs the machine disturbs both sides. Printed are the medians over the rounds.
#![allow(clippy::print_stdout)] // The table is the point of this program.

use std::hint::black_box;
use std::time::Instant;

use catalog::Choice;
use lsmbench_bloom::{CATALOG, Filter, FilterInput};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use types::{Bytes, HashedKey, KeyHash, KeyList};

const REFERENCE: &str = "fastbloom";
const BITS_PER_KEY: f64 = 10.0;
const BATCH: usize = 32;
const PROBES: usize = 1 << 16;
const ROUNDS: usize = 61;

/// A filter in the race.
struct Entrant {
    label: String,
    filter: Box<dyn Filter>,
    /// Whether it looks at keys: those whose bytes are the hash.
    needs_keys: bool,
    build_ns: f64,
    bits_per_key: f64,
    positives: usize,
    /// Nanoseconds per probe in each round, one by one.
    single_ns: Vec<f64>,
    /// Nanoseconds per probe in each round, in batches.
    batch_ns: Vec<f64>,
}

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let sizes = match arguments.iter().position(|argument| argument == "--keys") {
        Some(at) => {
            let size = arguments.drain(at..).nth(1).expect("--keys N comes last");
            vec![size.parse().expect("a number of keys")]
        }
        None => vec![1_000_000, 40_000_000],
    };
    let labels: Vec<String> = if arguments.is_empty() {
        CATALOG
            .kinds()
            .filter(|kind| !matches!(*kind, "none" | "perfect" | REFERENCE))
            .map(Into::into)
            .collect()
    } else {
        arguments
    };
    for keys in sizes {
        let mut entrants: Vec<Entrant> = Vec::new();
        let hashes = draw(&mut Xoshiro256PlusPlus::seed_from_u64(1), keys);
        entrants.push(Entrant::new(REFERENCE, &hashes));
        entrants.extend(labels.iter().map(|label| Entrant::new(label, &hashes)));
        drop(hashes);
        race(&mut entrants);
        print(keys, &entrants);
    }
}

fn draw(random: &mut Xoshiro256PlusPlus, count: usize) -> Vec<KeyHash> {
    (0..count).map(|_| KeyHash(random.next_u64())).collect()
}

impl Entrant {
    fn new(label: &str, hashes: &[KeyHash]) -> Self {
        let choice = CATALOG.choose(&label.to_owned().into()).expect("a filter's label");
        let policy = CATALOG.build(&choice).expect("a filter that can be built");
        let takes_bits = Choice::params(&choice).contains_key("bits_per_key");
        let keys = policy.needs_keys().then(|| {
            let mut keys = hashes.to_vec();
            keys.sort_unstable();
            keys.iter().map(|hash| hash.0.to_be_bytes()).collect::<KeyList>()
        });
        let input =
            FilterInput { hashes, bits_per_key: takes_bits.then_some(BITS_PER_KEY), keys: keys.as_ref() };
        let start = Instant::now();
        let stored = policy.build(&input);
        let build_ns = start.elapsed().as_nanos() as f64 / hashes.len() as f64;
        let filter = policy.open(Bytes::copy_from(&stored)).expect("just built");
        let bits_per_key = filter.memory_bytes() as f64 * 8.0 / hashes.len() as f64;
        let (single_ns, batch_ns) = (Vec::new(), Vec::new());
        Self {
            label: choice.label(),
            filter,
            needs_keys: policy.needs_keys(),
            build_ns,
            bits_per_key,
            positives: 0,
            single_ns,
            batch_ns,
        }
    }

    fn positives_among(&self, hashes: &[KeyHash]) -> usize {
        if self.needs_keys {
            let key =
                |hash: KeyHash| self.filter.may_contain_key(HashedKey { bytes: &hash.0.to_be_bytes(), hash });
            return hashes.iter().filter(|hash| key(**hash)).count();
        }
        hashes.iter().filter(|hash| self.filter.may_contain(**hash)).count()
    }

    fn answer(&self, hashes: &[KeyHash], answers: &mut [bool; BATCH]) {
        if !self.needs_keys {
            return self.filter.may_contain_batch(hashes, answers);
        }
        let bytes: [[u8; 8]; BATCH] = std::array::from_fn(|at| hashes[at].0.to_be_bytes());
        let keys: [HashedKey<'_>; BATCH] =
            std::array::from_fn(|at| HashedKey { bytes: &bytes[at], hash: hashes[at] });
        self.filter.may_contain_keys(&keys, answers);
    }

    /// Probes `warm` first, untimed: what fits the caches is in them again after the others' turns.
    fn run(&mut self, warm: &[KeyHash], single: &[KeyHash], batched: &[KeyHash]) {
        black_box(self.positives_among(warm));
        let start = Instant::now();
        let positives = self.positives_among(single);
        self.single_ns.push(start.elapsed().as_nanos() as f64 / single.len() as f64);
        self.positives += black_box(positives);
        let mut answers = [false; BATCH];
        let start = Instant::now();
        for hashes in batched.chunks_exact(BATCH) {
            self.answer(hashes, &mut answers);
            black_box(&answers);
        }
        self.batch_ns.push(start.elapsed().as_nanos() as f64 / batched.len() as f64);
    }
}

fn race(entrants: &mut [Entrant]) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
    for round in 0..ROUNDS {
        let [warm, single, batched] = [(); 3].map(|()| draw(&mut random, PROBES));
        let count = entrants.len();
        for turn in 0..count {
            entrants[(turn + round) % count].run(&warm, &single, &batched);
        }
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn print(keys: usize, entrants: &[Entrant]) {
    let reference = &entrants[0];
    println!("\n{keys} keys, absent probes, {ROUNDS} rounds of {PROBES}");
    println!(
        "{:<34} {:>6} {:>9} {:>7} {:>8} {:>8} {:>7} {:>8} {:>7}",
        "filter", "bits", "fpr %", "/theory", "build ns", "probe ns", "ratio", "batch ns", "ratio"
    );
    for entrant in entrants {
        let fpr = entrant.positives as f64 / (ROUNDS * PROBES) as f64;
        let ratio = |of: &[f64], to: &[f64]| median(to.iter().zip(of).map(|(to, of)| to / of));
        println!(
            "{:<34} {:>6.2} {:>9.4} {:>7.3} {:>8.1} {:>8.2} {:>6.2}x {:>8.2} {:>6.2}x",
            entrant.label,
            entrant.bits_per_key,
            100.0 * fpr,
            fpr / entrant.filter.expected_fpr(),
            entrant.build_ns,
            median(entrant.single_ns.iter().copied()),
            ratio(&entrant.single_ns, &reference.single_ns),
            median(entrant.batch_ns.iter().copied()),
            // A batch races against the reference's single probes: it is a way to look up, not a filter.
            ratio(&entrant.batch_ns, &reference.single_ns),
        );
    }
}
