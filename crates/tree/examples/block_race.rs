//! Looking keys up in blocks of every format with every index, and checking blocks by every checksum, in one
//! interleaved run.
//!
//! Blocks of 4 KiB with keys of 24 bytes (`user` and 20 digits) and values of 100, sixteen of them, which stay in the
//! processor's caches, visited in random order with other keys in every round; a lookup includes reading the block's
//! tail, as a get in a tree does. Keys that are present, then keys that are not but lie between those of the
//! block. Prints nanoseconds per lookup, the medians of the rounds, and
//! how many times faster than a search over restart points, the medians of the rounds' ratios.
//!
//! `cargo run --release -p lsmbench-tree --example block_race -- [ROUNDS]`

#![allow(clippy::print_stdout)] // a program that prints a table

mod numbers;

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use lsmbench_tree::block::{BlockBuilder, CATALOG, Found, checksum, find};
use lsmbench_tree::{BlockIndex, BlockOptions, Checksum, hash};
use toml::Value;
use types::{Entry, HashedKey, KeyHash, avalanche};

use numbers::median;

type Outcome<T> = Result<T, Box<dyn Error>>;

const BLOCK_BYTES: usize = 4096 - 13;
const BLOCKS: usize = 16;
const LOOKUPS: usize = 1 << 10;
const KEY_BYTES: usize = 24;
const VALUE: [u8; 100] = [7; 100];

/// Keys in order; those of even numbers are stored, those between them are not.
fn key(number: u64) -> [u8; KEY_BYTES] {
    let text = format!("user{:020}", number * 1_000_003);
    text.as_bytes().try_into().expect("24 bytes")
}

/// A block and the keys in it.
struct Filled {
    block: Vec<u8>,
    numbers: std::ops::Range<u64>,
}

/// One way to look keys up.
struct Contender {
    name: String,
    blocks: Vec<Filled>,
}

impl Contender {
    fn new(format: &str, options: &BlockOptions, hash: impl Fn(&[u8]) -> KeyHash) -> Outcome<Self> {
        let built = CATALOG.build(&CATALOG.choose(&Value::from(format))?)?;
        let mut builder = BlockBuilder::new(&*built, options);
        let (mut blocks, mut first, mut number) = (Vec::new(), 0, 0);
        while blocks.len() < BLOCKS {
            let key = key(number);
            let entry = Entry { key: &key, value: Some(&VALUE) };
            if builder.would_exceed(&entry, BLOCK_BYTES) {
                blocks.push(Filled { block: builder.finish(<[u8]>::to_vec), numbers: first..number });
                first = number;
            }
            builder.add(entry, hash(&key));
            number += 2;
        }
        let interval =
            if format == "delta" { format!("/{}", options.restart_interval) } else { String::new() };
        Ok(Self { name: format!("{format}{interval} {:?}", options.index).to_lowercase(), blocks })
    }

    /// Blocks in random order with a key for each, present or `absent`.
    fn probes(
        &self,
        absent: u64,
        seed: u64,
        hash: impl Fn(&[u8]) -> KeyHash,
    ) -> Vec<(usize, [u8; KEY_BYTES], KeyHash)> {
        let probe = |draw: usize| {
            let draw = seed << 32 | draw as u64;
            let place = avalanche(draw) as usize % self.blocks.len();
            let numbers = &self.blocks[place].numbers;
            let entries = (numbers.end - numbers.start) / 2 - absent;
            let key = key(numbers.start + avalanche(!draw) % entries * 2 + absent);
            (place, key, hash(&key))
        };
        (0..LOOKUPS).map(probe).collect()
    }

    /// Looks all up; returns how many are there and the nanoseconds that one took.
    fn look_up(&self, probes: &[(usize, [u8; KEY_BYTES], KeyHash)]) -> (usize, f64) {
        let start = Instant::now();
        let mut found = 0;
        for (place, key, hash) in probes {
            let key = HashedKey { bytes: key, hash: *hash };
            let block = black_box(&self.blocks[*place].block[..]);
            found += usize::from(matches!(find(block, key), Some(Found::Value(_))));
        }
        (found, start.elapsed().as_nanos() as f64 / probes.len() as f64)
    }
}

fn contenders(hash: impl Fn(&[u8]) -> KeyHash + Copy) -> Outcome<Vec<Contender>> {
    let mut all = Vec::new();
    let formats = CATALOG.kinds().map(|kind| (kind, 16)).chain([("delta", 1)]);
    for (format, restart_interval) in formats {
        for index in BlockIndex::ALL {
            let options = BlockOptions { restart_interval, index, ..BlockOptions::default() };
            all.push(Contender::new(format, &options, hash)?);
        }
    }
    Ok(all)
}

fn race_lookups(rounds: usize) -> Outcome<()> {
    let hasher = hash::CATALOG.build(&hash::CATALOG.baseline())?;
    let hash = |key: &[u8]| hasher.hash(key);
    let contenders = contenders(hash)?;
    let mut times = vec![[const { Vec::new() }; 2]; contenders.len()];
    for round in 0..rounds {
        for turn in 0..contenders.len() {
            let at = (turn + round) % contenders.len();
            for absent in [0, 1] {
                let [cold, warm] =
                    [0, 1].map(|half| contenders[at].probes(absent as u64, 2 * round as u64 + half, hash));
                contenders[at].look_up(&cold);
                let (found, time) = contenders[at].look_up(&warm);
                assert_eq!(found, LOOKUPS * (1 - absent), "{}", contenders[at].name);
                times[at][absent].push(time);
            }
        }
    }
    println!(
        "{:24} {:>8} {:>8} {:>8} {:>8} {:>12}",
        "block", "hit ns", "miss ns", "hit ×", "miss ×", "bytes/entry"
    );
    for (contender, own) in contenders.iter().zip(&times) {
        let ratio = |side: usize| {
            median(own[side].iter().zip(&times[0][side]).map(|(own, base)| base / own).collect())
        };
        let entries: u64 =
            contender.blocks.iter().map(|filled| (filled.numbers.end - filled.numbers.start) / 2).sum();
        let bytes: usize = contender.blocks.iter().map(|filled| filled.block.len()).sum();
        println!(
            "{:24} {:8.1} {:8.1} {:8.2} {:8.2} {:12.1}",
            contender.name,
            median(own[0].clone()),
            median(own[1].clone()),
            ratio(0),
            ratio(1),
            bytes as f64 / entries as f64
        );
    }
    Ok(())
}

fn race_checksums(rounds: usize) {
    let blocks: Vec<Vec<u8>> = (0..BLOCKS as u64)
        .map(|block| (0..512).flat_map(|at| avalanche(block << 9 | at).to_le_bytes()).collect())
        .collect();
    let kinds = &Checksum::ALL[1..];
    let mut times = vec![Vec::new(); kinds.len()];
    for round in 0..rounds {
        for turn in 0..kinds.len() {
            let at = (turn + round) % kinds.len();
            let start = Instant::now();
            for draw in 0..LOOKUPS {
                let block = &blocks[draw % BLOCKS];
                black_box(checksum(kinds[at], 7, draw as u64 * 4096, black_box(block)));
            }
            times[at].push(start.elapsed().as_nanos() as f64 / LOOKUPS as f64);
        }
    }
    println!("{:24} {:>8} {:>8}", "checksum of 4 KiB", "ns", "GB/s");
    for (kind, own) in kinds.iter().zip(times) {
        let time = median(own);
        println!("{:24} {time:8.1} {:8.1}", format!("{kind:?}").to_lowercase(), 4096.0 / time);
    }
}

fn main() -> Outcome<()> {
    let rounds = std::env::args().nth(1).map_or(Ok(301), |text| text.parse())?;
    race_lookups(rounds)?;
    race_checksums(rounds);
    Ok(())
}
