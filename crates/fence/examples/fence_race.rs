//! All fences beside the standard library, in one interleaved run: nanoseconds per search and how many times
//! as fast that is, for one key at a time and for batches of 32.
//!
//! Integer keys race `slice::partition_point` over the integers themselves, byte strings of 24 bytes a
//! binary search over the strings in one arena (the variant `binary`). Probes are random keys that are not
//! in the table, a new slice of them in each round, so that neither branches nor cache lines can be learnt.
//! Contenders take turns; the figure is the median of the rounds, the ratio the median of the ratios within
//! rounds.
//!
//! `cargo run --release -p lsmbench-fence --example fence_race -- [--rounds N] [VARIANT…]`

#![allow(clippy::print_stdout)] // a program that prints a table

use std::hint::black_box;
use std::ops::Range;
use std::time::Instant;

use catalog::Choice;
use lsmbench_fence::{CATALOG, Fence, FenceInput, ReadError, Separators, TableView};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use toml::Value;
use types::{Bytes, HashedKey, KeyHash};

const BATCH: usize = 32;

/// Searches per contender and round.
const SEARCHES: usize = 1 << 13;

/// Searches before them that are not timed: they bring the contender's own lines back into the cache.
const WARM_UP: usize = 1 << 11;

/// A kind of key, and the sizes it is raced at.
#[derive(Clone, Copy, PartialEq)]
enum Keys {
    /// Random integers, as eight bytes in big-endian order.
    Integers,
    /// `user` and the 20 digits of a random integer.
    Users,
}

impl Keys {
    fn name(self) -> &'static str {
        match self {
            Self::Integers => "u64",
            Self::Users => "user + 20 digits",
        }
    }

    fn spell(self, number: u64) -> Vec<u8> {
        match self {
            Self::Integers => number.to_be_bytes().to_vec(),
            Self::Users => format!("user{number:020}").into_bytes(),
        }
    }
}

/// Who takes part: what it does with one slice of the probes.
struct Contender<'a> {
    name: String,
    run: Box<dyn Fn(Range<usize>) -> u64 + 'a>,
    /// Nanoseconds per search, by round.
    times: Vec<f64>,
    bytes_per_key: Option<f64>,
}

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let rounds = match arguments.iter().position(|argument| argument == "--rounds") {
        Some(at) => {
            let pair: Vec<String> = arguments.drain(at..arguments.len().min(at + 2)).collect();
            pair.get(1).and_then(|rounds| rounds.parse().ok()).expect("--rounds N")
        }
        None => 60,
    };
    for (keys, count) in [
        (Keys::Integers, 16 << 10),
        (Keys::Integers, 4 << 20),
        (Keys::Users, 16 << 10),
        (Keys::Users, 1 << 20),
    ] {
        race(keys, count, rounds, &arguments);
    }
}

fn race(keys: Keys, count: usize, rounds: usize, kinds: &[String]) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut numbers: Vec<u64> = (0..count).map(|_| random.next_u64()).collect();
    numbers.sort_unstable();
    let separators: Separators = {
        let spelt: Vec<Vec<u8>> = numbers.iter().map(|number| keys.spell(*number)).collect();
        spelt.iter().map(Vec::as_slice).collect()
    };
    let probes: Vec<u64> = (0..(WARM_UP + SEARCHES) * rounds).map(|_| random.next_u64()).collect();
    let arena: Vec<u8> = probes.iter().flat_map(|probe| keys.spell(*probe)).collect();
    let key_bytes = keys.spell(0).len();
    let hashed: Vec<HashedKey<'_>> =
        arena.chunks_exact(key_bytes).map(|bytes| HashedKey { bytes, hash: KeyHash(0) }).collect();
    let tables = open_all(&separators, kinds);
    let mut contenders = Vec::new();
    if keys == Keys::Integers {
        let run = |range: Range<usize>| {
            probes[range].iter().map(|probe| numbers.partition_point(|number| number <= probe) as u64).sum()
        };
        contenders.push(Contender::new("partition_point".to_owned(), Some(8.0), run));
    }
    for (label, table, fence) in &tables {
        let bytes_per_key = fence.memory_bytes() as f64 / count as f64;
        let find = |range: Range<usize>| {
            hashed[range].iter().map(|key| u64::from(fence.find(*key, table).expect("memory"))).sum()
        };
        contenders.push(Contender::new(label.clone(), Some(bytes_per_key), find));
        let find_batch = |range: Range<usize>| {
            let mut blocks = [0; BATCH];
            let batches = hashed[range].chunks_exact(BATCH);
            batches
                .map(|keys| {
                    fence.find_batch(keys, &mut blocks, table).expect("memory");
                    blocks.iter().map(|block| u64::from(*block)).sum::<u64>()
                })
                .sum()
        };
        contenders.push(Contender::new(format!("{label}, batch"), None, find_batch));
    }
    for round in 0..rounds {
        let start = round * (WARM_UP + SEARCHES);
        // Who goes first changes, so that nobody always follows the same one.
        let at = round % contenders.len();
        let (front, back) = contenders.split_at_mut(at);
        back.iter_mut().chain(front).for_each(|contender| contender.time(start));
    }
    report(&format!("{}, {count} separators", keys.name()), &contenders);
}

fn report(title: &str, contenders: &[Contender<'_>]) {
    println!("{title}\n  {:<28} {:>9} {:>8} {:>12}", "", "ns/search", "ratio", "bytes/key");
    for contender in contenders {
        let ratios = contenders[0].times.iter().zip(&contender.times).map(|(base, own)| base / own);
        let bytes = contender.bytes_per_key.map_or(String::new(), |bytes| format!("{bytes:.1}"));
        println!(
            "  {:<28} {:>9.2} {:>7.2}× {bytes:>12}",
            contender.name,
            median(contender.times.iter().copied()),
            median(ratios)
        );
    }
}

impl<'a> Contender<'a> {
    fn new(name: String, bytes_per_key: Option<f64>, run: impl Fn(Range<usize>) -> u64 + 'a) -> Self {
        Self { name, run: Box::new(run), times: Vec::new(), bytes_per_key }
    }

    fn time(&mut self, first: usize) {
        let warm = first + WARM_UP;
        black_box((self.run)(first..warm));
        let start = Instant::now();
        black_box((self.run)(warm..warm + SEARCHES));
        self.times.push(start.elapsed().as_nanos() as f64 / SEARCHES as f64);
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The fences to race; `binary` first, since it is what the others are measured by.
fn open_all(separators: &Separators, kinds: &[String]) -> Vec<(String, Table, Box<dyn Fence>)> {
    let labels: Vec<String> = match kinds {
        [] => CATALOG.variants().iter().map(|variant| variant.kind.to_owned()).collect(),
        kinds => std::iter::once("binary".to_owned()).chain(kinds.iter().cloned()).collect(),
    };
    let hashes: Vec<KeyHash> = (0..separators.len() as u64).map(|i| KeyHash(i << 20 | 1)).collect();
    let block_starts: Vec<u32> = (0..separators.len() as u32).collect();
    let open = |label: String| {
        let choice: Choice =
            CATALOG.choose(&Value::String(label.clone())).unwrap_or_else(|error| panic!("{error}"));
        let policy = CATALOG.build(&choice).unwrap_or_else(|error| panic!("{error}"));
        let stored =
            policy.build(&FenceInput { separators, hashes: &hashes, block_starts: &block_starts, level: 0 });
        let first_keys = separators.clone();
        let table = Table { stored: Bytes::copy_from(&stored), first_keys };
        let fence = policy.open(&table).expect("just built");
        (label, table, fence)
    };
    labels.into_iter().map(open).collect()
}

/// A table of one key per block, whose pages cost nothing to read.
struct Table {
    stored: Bytes,
    first_keys: Separators,
}

impl TableView for Table {
    fn block_count(&self) -> u32 {
        self.first_keys.len() as u32
    }

    fn stored_bytes(&self) -> u64 {
        self.stored.len() as u64
    }

    fn read_stored(&self, range: Range<u64>) -> Result<Bytes, ReadError> {
        Ok(self.stored.slice(range.start as usize..range.end as usize))
    }

    fn page(&self, range: Range<u64>) -> Result<Bytes, ReadError> {
        self.read_stored(range)
    }

    fn first_key(&self, block: u32) -> Result<Bytes, ReadError> {
        Ok(Bytes::copy_from(self.first_keys.get(block as usize)))
    }
}
