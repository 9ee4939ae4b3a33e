//! Benchmarks of the time to open each fence, and of the time per search. The SSTables have 16 K blocks of 8 keys,
//! so that all data fits the CPU caches. The keys are `user` with 20 digits (a common prefix, then digits), or 8
//! random bytes.
//!
//! `cargo bench -p lsmbench-fence` runs the benchmarks. With `-- --test`, every benchmark runs once with few keys.

use std::hint::black_box;
use std::ops::Range;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use lsmbench_fence::{CATALOG, Fence, FenceInput, FencePolicy, Separators, TableReadError, TableView};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use types::{Bytes, HashedKey, KeyHash};

const PROBES: usize = 1024;
const KEYS_PER_BLOCK: usize = 8;

/// An SSTable in memory, whose fence the benchmarks search. A read only clones a pointer.
struct Table {
    keys: Vec<Vec<u8>>,
    first_keys: Vec<Bytes>,
    stored: Bytes,
}

impl Table {
    fn new(policy: &dyn FencePolicy, keys: Vec<Vec<u8>>) -> Self {
        let first_keys = || keys.iter().step_by(KEYS_PER_BLOCK).map(Vec::as_slice);
        let separators: Separators = first_keys().collect();
        let hashes: Vec<KeyHash> = (0..keys.len()).map(hash).collect();
        let block_starts: Vec<u32> = (0..keys.len() as u32).step_by(KEYS_PER_BLOCK).collect();
        let input = FenceInput {
            separators: &separators,
            hashes: &hashes,
            block_starts: &block_starts,
            level: 0,
            bounds: None,
        };
        let stored = Bytes::copy_from(&policy.build(&input));
        Self { first_keys: first_keys().map(Bytes::copy_from).collect(), keys, stored }
    }

    /// Draws random keys of the SSTable into one buffer, and returns the buffer with the hashes of the keys.
    fn draw(&self, random: &mut Xoshiro256PlusPlus) -> (Vec<u8>, Vec<KeyHash>) {
        let ranks: Vec<usize> = (0..PROBES).map(|_| random.next_u64() as usize % self.keys.len()).collect();
        let arena = ranks.iter().flat_map(|rank| self.keys[*rank].iter().copied()).collect();
        (arena, ranks.into_iter().map(hash).collect())
    }

    /// Searches the drawn keys with `fence`, and returns the sum of the block numbers that the fence returned.
    fn find(&self, fence: &dyn Fence, (arena, hashes): &(Vec<u8>, Vec<KeyHash>)) -> u64 {
        let keys = arena.chunks_exact(self.keys[0].len()).zip(hashes);
        keys.map(|(bytes, hash)| {
            u64::from(fence.find(HashedKey { bytes, hash: *hash }, self).expect("memory"))
        })
        .sum()
    }
}

impl TableView for Table {
    fn block_count(&self) -> u32 {
        self.first_keys.len() as u32
    }

    fn stored_bytes(&self) -> u64 {
        self.stored.len() as u64
    }

    fn read_stored(&self, range: Range<u64>) -> Result<Bytes, TableReadError> {
        Ok(self.stored.slice(range.start as usize..range.end as usize))
    }

    fn page(&self, range: Range<u64>) -> Result<Bytes, TableReadError> {
        self.read_stored(range)
    }

    fn first_key(&self, block: u32) -> Result<Bytes, TableReadError> {
        Ok(self.first_keys[block as usize].clone())
    }
}

fn hash(rank: usize) -> KeyHash {
    KeyHash((rank as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

fn keys_of(shape: &str) -> Vec<Vec<u8>> {
    let count = if std::env::args().any(|argument| argument == "--test") { 100 } else { 1 << 17 };
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut keys: Vec<Vec<u8>> = (0..count)
        .map(|_| match shape {
            "user" => format!("user{:020}", random.next_u64()).into_bytes(),
            _ => random.next_u64().to_be_bytes().to_vec(),
        })
        .collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

fn policies() -> impl Iterator<Item = (&'static str, Box<dyn FencePolicy>)> {
    CATALOG
        .variants()
        .iter()
        .map(|variant| (variant.kind, CATALOG.build(&variant.default_choice()).expect("defaults build")))
}

fn open(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("open, user");
    for (kind, policy) in policies() {
        let table = Table::new(&*policy, keys_of("user"));
        group.throughput(Throughput::Elements(table.first_keys.len() as u64));
        group.bench_function(kind, |bencher| bencher.iter(|| policy.open(black_box(&table)).map(drop)));
    }
}

/// Benchmarks the search of `PROBES` keys per iteration. Each iteration draws new keys, so that branch predictors
/// cannot learn them.
fn find(criterion: &mut Criterion) {
    for shape in ["user", "u64"] {
        let mut group = criterion.benchmark_group(format!("find, {shape}"));
        group.throughput(Throughput::Elements(PROBES as u64));
        for (kind, policy) in policies() {
            let table = Table::new(&*policy, keys_of(shape));
            let fence = policy.open(&table).expect("just built");
            let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
            group.bench_function(kind, |bencher| {
                bencher.iter_batched_ref(
                    || table.draw(&mut random),
                    |drawn| table.find(&*fence, drawn),
                    BatchSize::SmallInput,
                );
            });
        }
    }
}

criterion_group!(benches, open, find);
criterion_main!(benches);
