//! The default design beside the `fjall` crate, in one interleaved run.
//!
//! One thread, 16-byte keys, 100-byte values; logs buffered on both sides, filters of 10 bits per key on
//! both, caches that hold everything on both, no compression, the same memtable size. Each round fills two
//! new stores and reads them; who goes first alternates. Prints, for each workload, the median of the
//! rounds' rates and the median of the ratios within rounds.
//!
//! `cargo run --release -p lsmbench-tree --example beside_fjall -- [KEYS] [ROUNDS] [design TOML]`

#![allow(clippy::print_stdout)] // a program that prints a table

mod numbers;

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use fjall::config::{BloomConstructionPolicy, FilterPolicy, FilterPolicyEntry};
use fjall::{Database, Keyspace, KeyspaceCreateOptions};
use lsmbench_tree::{Design, OpenOptions, Tree};
use types::avalanche;

use numbers::median;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Enough for all data on both sides.
const CACHE_BYTES: u64 = 1 << 30;

/// The memtable on both sides: Fjall's default.
const MEMTABLE: &str = "64MiB";
const MEMTABLE_BYTES: u64 = 64 << 20;

/// Entries that one scan reads.
const SCAN: usize = 100;

/// What both sides can do.
trait Store {
    fn put(&self, key: &[u8], value: &[u8]) -> Outcome<()>;
    /// The length of the value, if there is one.
    fn get(&self, key: &[u8]) -> Outcome<Option<usize>>;
    /// The bytes of the first entries from `key` on.
    fn scan(&self, key: &[u8]) -> Outcome<usize>;
    /// Waits until no background work is left.
    fn settle(&self) -> Outcome<()>;
}

impl Store for Tree {
    fn put(&self, key: &[u8], value: &[u8]) -> Outcome<()> {
        Ok(Tree::put(self, key, value)?)
    }

    fn get(&self, key: &[u8]) -> Outcome<Option<usize>> {
        Ok(Tree::get(self, key)?.map(|value| value.len()))
    }

    fn scan(&self, key: &[u8]) -> Outcome<usize> {
        let mut range = self.range((std::ops::Bound::Included(key), std::ops::Bound::Unbounded))?;
        let mut bytes = 0;
        for _ in 0..SCAN {
            let Some((key, value)) = range.next()? else { break };
            bytes += key.len() + value.len();
        }
        Ok(bytes)
    }

    fn settle(&self) -> Outcome<()> {
        self.flush()?;
        Ok(Tree::settle(self)?)
    }
}

struct Fjall {
    database: Database,
    keyspace: Keyspace,
}

impl Fjall {
    fn open(path: &Path) -> Outcome<Self> {
        let bits = FilterPolicyEntry::Bloom(BloomConstructionPolicy::BitsPerKey(10.0));
        let database = Database::builder(path).cache_size(CACHE_BYTES).open()?;
        let options = || {
            KeyspaceCreateOptions::default()
                .max_memtable_size(MEMTABLE_BYTES)
                .filter_policy(FilterPolicy::all(bits))
        };
        let keyspace = database.keyspace("data", options)?;
        Ok(Self { database, keyspace })
    }
}

impl Store for Fjall {
    fn put(&self, key: &[u8], value: &[u8]) -> Outcome<()> {
        Ok(self.keyspace.insert(key, value)?)
    }

    fn get(&self, key: &[u8]) -> Outcome<Option<usize>> {
        Ok(self.keyspace.get(key)?.map(|value| value.len()))
    }

    fn scan(&self, key: &[u8]) -> Outcome<usize> {
        let mut bytes = 0;
        for entry in self.keyspace.range(key..).take(SCAN) {
            let (key, value) = entry.into_inner()?;
            bytes += key.len() + value.len();
        }
        Ok(bytes)
    }

    fn settle(&self) -> Outcome<()> {
        self.keyspace.rotate_memtable_and_wait()?;
        while self.database.outstanding_flushes() > 0 || self.database.active_compactions() > 0 {
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }
}

/// Key number `number`: 16 random-looking bytes. Numbers from the number of keys on are absent.
fn key(number: u64) -> [u8; 16] {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&avalanche(number).to_be_bytes());
    key[8..].copy_from_slice(&avalanche(number ^ 0x5555).to_be_bytes());
    key
}

const WORKLOADS: [&str; 4] = ["fillrandom", "readrandom", "readmissing", "scan-100"];

/// Operations per second of the four workloads on a new store.
fn round(store: &dyn Store, keys: u64, seed: u64) -> Outcome<[f64; 4]> {
    let mut pool = vec![0u8; 1 << 20];
    for (index, chunk) in pool.chunks_mut(8).enumerate() {
        chunk.copy_from_slice(&avalanche(index as u64).to_le_bytes());
    }
    let pick = |n: u64| avalanche(seed ^ n.wrapping_mul(0x9e37_79b9_7f4a_7c15)) % keys;
    let rate = |operations: u64, start: Instant| operations as f64 / start.elapsed().as_secs_f64();
    let start = Instant::now();
    for number in 0..keys {
        let at = (number as usize * 104) % (pool.len() - 100);
        store.put(&key(number), &pool[at..at + 100])?;
    }
    let fill = rate(keys, start);
    store.settle()?;
    // One pass that is not timed brings the blocks into the caches.
    for number in 0..keys {
        store.get(&key(number))?;
    }
    let start = Instant::now();
    for n in 0..keys {
        if store.get(&key(pick(n)))? != Some(100) {
            return Err("a key that was put is not found".into());
        }
    }
    let read = rate(keys, start);
    let start = Instant::now();
    for n in 0..keys {
        if store.get(&key(keys + pick(n)))?.is_some() {
            return Err("a key that was never put is found".into());
        }
    }
    let missing = rate(keys, start);
    let scans = keys / 20;
    let start = Instant::now();
    for n in 0..scans {
        store.scan(&key(pick(n)))?;
    }
    Ok([fill, read, missing, rate(scans, start)])
}

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let keys: u64 = arguments.next().map_or(Ok(1_000_000), |text| text.parse())?;
    let rounds: usize = arguments.next().map_or(Ok(3), |text| text.parse())?;
    let budget =
        format!("memtable = {{ capacity = \"{MEMTABLE}\" }}\ncache = {{ capacity = {CACHE_BYTES} }}");
    let design =
        Design::default().with(&budget.parse()?)?.with(&arguments.next().unwrap_or_default().parse()?)?;
    let home = tempfile::tempdir()?;
    let mut rates = Vec::new();
    for number in 0..rounds {
        let mut both = [[0.0; 4]; 2];
        for turn in 0..2 {
            let side = (turn + number) % 2;
            let path = home.path().join(format!("store-{number}-{side}"));
            both[side] = match side {
                0 => round(&OpenOptions::new(design.clone()).open(&path)?, keys, number as u64)?,
                _ => round(&Fjall::open(&path)?, keys, number as u64)?,
            };
            std::fs::remove_dir_all(&path)?;
        }
        rates.push(both);
    }
    println!("{keys} keys, {rounds} rounds; thousand operations per second, medians");
    println!("{:<12} {:>10} {:>10} {:>8}", "", "lsmbench", "fjall", "ratio");
    for (index, workload) in WORKLOADS.iter().enumerate() {
        let of = |side: usize| median(rates.iter().map(|both| both[side][index]).collect()) / 1000.0;
        let ratio = median(rates.iter().map(|both| both[0][index] / both[1][index]).collect());
        println!("{workload:<12} {:>10.1} {:>10.1} {ratio:>8.2}", of(0), of(1));
    }
    Ok(())
}
