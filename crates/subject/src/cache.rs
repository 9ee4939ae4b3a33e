//! The block cache under test. The test measures the hit rate and the time per request, next to the hit rate of an
//! optimal cache.
//!
//! After a request that misses, the block is inserted, as in a tree. The first half of the requests warms the cache and
//! is not measured. All blocks share the same memory, so that the test times the cache and not accesses to blocks. Each
//! block has its own reference count, and starts at a position that identifies the block.

use std::hint::black_box;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use cache::{BlockId, BlockRequest, Cache, belady};
use catalog::{Build, ByteSize, Choice, ChoiceError, Count, Time, Variant};
use results::{Measurements, Metric, RunMode, columns as c};
use serde::{Deserialize, Serialize};
use theory::Eviction;
use types::Bytes;
use workload::Random;

use crate::bench::{Answers, Bench};
use crate::expect::popularity_of_blocks;
use crate::fault::Fault;
use crate::requests::RequestChoice;
use crate::seam::{Cost, Subject, check_count};

pub(crate) const VARIANT: Variant<dyn Subject> = Variant::new::<Hits>(
    "cache",
    "requests for blocks of one cache, with an insertion after each miss",
    r#"# Number of distinct blocks. A trace determines the number of blocks itself.
blocks     = 262_144
# Length of each block.
block      = "4KiB"
# Sequence of the requested blocks. Valid values: "scan-mixed", "loop", "trace", or a key distribution of
# workloads.
requests   = "zipfian"
# Number of requests. The first half of the requests only warms the cache.
operations = 4_000_000
# Number of threads. Each thread makes its own part of the requests.
threads    = 1
# Number of trees that request blocks. Each tree has an equal part of the blocks. All trees use the same
# SSTable numbers and offsets, so only the number of the tree distinguishes their blocks.
trees      = 1
# Whether the trees share one cache. Otherwise, each tree has its own cache with an equal part of the
# capacity.
shared     = true
# Whether the run also computes the best possible hit rate by Belady's rule. This computation takes
# longer than the requests.
bound      = true
# Time limit of each timed phase.
limit      = "10s"
"#,
);

/// The number of requests per slice. A slice is a number of operations that are timed together.
const SLICE: usize = 4096;

/// The largest number of threads that a phase may have.
const MOST_THREADS: u64 = 1024;

/// The largest number of trees of a trial. The cache gets requests for the blocks of all these trees.
const MOST_TREES: u64 = 1024;

/// The number of requests at the end of a phase whose blocks are checked: the cache must have the correct bytes for
/// them.
const CHECKED: usize = 1 << 16;

/// The shared buffer with the bytes of all blocks. The number of a block determines where the block starts.
static BYTES: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut random = Random::new(7);
    (0..STARTS + MOST_BLOCK_BYTES as usize).map(|_| random.bits() as u8).collect()
});

/// The number of positions in the buffer of all blocks ([`BYTES`]) at which a block can start.
const STARTS: usize = 1 << 16;

/// The largest size of a requested block in bytes.
const MOST_BLOCK_BYTES: u64 = 1 << 20;

struct Hits(Params);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    blocks: Count,
    block: ByteSize,
    requests: RequestChoice,
    operations: Count,
    threads: Count,
    trees: Count,
    shared: bool,
    bound: bool,
    limit: Time,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            blocks: Count(262_144),
            block: ByteSize(4096),
            requests: RequestChoice::of_keys("zipfian"),
            operations: Count(4_000_000),
            threads: Count(1),
            trees: Count(1),
            shared: true,
            bound: true,
            limit: Time(10_000_000_000),
        }
    }
}

impl Build<dyn Subject> for Hits {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn Subject>, String> {
        check_count("blocks", params.blocks.0, 1 << 40)?;
        check_count("block", params.block.0, MOST_BLOCK_BYTES)?;
        check_count("operations", params.operations.0, 1 << 32)?;
        check_count("threads", params.threads.0, MOST_THREADS)?;
        check_count("trees", params.trees.0, MOST_TREES.min(params.blocks.0))?;
        Ok(Box::new(Self(params)))
    }
}

impl Subject for Hits {
    fn axis(&self) -> &'static str {
        "cache"
    }

    fn phases(&self) -> &'static [&'static str] {
        &["requests", "hits"]
    }

    fn modes(&self) -> &'static [RunMode] {
        &[RunMode::Timed, RunMode::Counted]
    }

    fn verdict(&self) -> (&'static str, &'static Metric) {
        ("requests", &c::CACHE_HIT_RATE)
    }

    fn price(&self) -> &'static Metric {
        &c::CACHE_BYTES
    }

    fn threads(&self) -> u32 {
        self.0.threads.0 as u32
    }

    fn check_files(&self, base: &Path) -> Result<(), ChoiceError> {
        let Some(trace) = self.0.requests.build().file() else { return Ok(()) };
        trace.read(base).map(|_| ()).map_err(|error| ChoiceError::at("requests", error.to_string()))
    }

    fn cost(&self) -> Cost {
        let requests = self.0.operations.0 as f64;
        let bound = if self.0.bound { 1e-6 } else { 0.0 };
        // About 100 bytes for the handle of a block, times three because policies keep a history of evicted blocks.
        let memory_bytes = requests * 48.0 + self.0.blocks.0 as f64 * 300.0;
        Cost {
            memory_bytes,
            phase_seconds: vec![requests * (300e-9 + bound), requests * 50e-9],
            ..Cost::default()
        }
    }

    fn run(&self, bench: &mut Bench<'_>) -> Result<(), Fault> {
        let mut random = Random::new(bench.seed);
        let count = self.0.operations.0 as usize;
        let names = self.0.requests.build().names(self.0.blocks.0, count, &mut random, bench.base)?;
        let choice = bench.design.choice("cache").clone();
        self.requests(bench, &*self.cache(&choice)?, &names);
        let cache = self.cache(&choice)?;
        // In the worst case, all these blocks belong to one tree.
        let capacity = if self.0.shared { cache.capacity() } else { cache.capacity() / self.0.trees.0 };
        // The blocks take half of the capacity, so that no policy needs to evict.
        let held = (capacity / self.0.block.0 / 2).clamp(1, self.0.blocks.0);
        let names: Vec<u64> = (0..count / 2).map(|_| random.below(held)).collect();
        self.hits(bench, &*cache, held, &names);
        Ok(())
    }
}

/// A cache for several trees, with a separate cache for each tree. The cache of tree 1 is the first element.
struct CachePerTree(Vec<Box<dyn Cache>>);

impl CachePerTree {
    fn of(&self, tree: u64) -> &dyn Cache {
        &*self.0[tree as usize - 1]
    }
}

impl Cache for CachePerTree {
    fn get(&self, id: &BlockId) -> Option<Bytes> {
        self.of(id.tree).get(id)
    }

    fn insert(&self, id: BlockId, block: Bytes) {
        self.of(id.tree).insert(id, block);
    }

    fn remove_table(&self, tree: u64, table: u64) {
        self.of(tree).remove_table(tree, table);
    }

    fn set_capacity(&self, bytes: u64) {
        let share = bytes / self.0.len() as u64;
        self.0.iter().for_each(|cache| cache.set_capacity(share));
    }

    fn is_resizable(&self) -> bool {
        self.0.iter().all(|cache| cache.is_resizable())
    }

    fn capacity(&self) -> u64 {
        self.0.iter().fold(0, |sum, cache| sum.saturating_add(cache.capacity()))
    }

    fn weight_bytes(&self) -> u64 {
        self.0.iter().map(|cache| cache.weight_bytes()).sum()
    }
}

impl Hits {
    /// Builds one cache for all trees, or one cache per tree.
    fn cache(&self, choice: &Choice) -> Result<Box<dyn Cache>, ChoiceError> {
        let build = || cache::CATALOG.build(choice);
        let whole = build()?;
        if self.0.shared || self.0.trees.0 == 1 {
            return Ok(whole);
        }
        let caches: Result<Vec<_>, _> = (0..self.0.trees.0).map(|_| build()).collect();
        let caches = CachePerTree(caches?);
        caches.set_capacity(whole.capacity());
        Ok(Box::new(caches))
    }

    /// Returns the identifier of the block with the number `name`. 256 blocks with successive numbers belong to one
    /// SSTable.
    fn id(&self, name: u64) -> BlockId {
        let (mut tree, mut own) = (0, name);
        if self.0.trees.0 > 1 {
            let blocks_of_tree = self.0.blocks.0.div_ceil(self.0.trees.0);
            // A trace may request more than `blocks` blocks. The additional blocks belong to the last tree.
            tree = (name / blocks_of_tree).min(self.0.trees.0 - 1);
            own = name - tree * blocks_of_tree;
        }
        BlockId { tree: tree + 1, table: own >> 8, offset: (own & 255) << 12 }
    }

    fn block(&self, name: u64) -> Bytes {
        let start = start_of(name);
        Bytes::from_owner(Arc::new(BYTES.as_slice()), start..start + self.0.block.0 as usize)
    }

    /// Returns the loop of one thread, which requests the blocks with the numbers `names` from the cache and counts the
    /// hits.
    fn ask<'a>(
        &'a self,
        cache: &'a dyn Cache,
        names: &'a [u64],
        hits: &'a AtomicU64,
    ) -> impl FnMut(Range<usize>) + Send + 'a {
        move |range: Range<usize>| {
            let mut found = 0;
            for name in &names[range] {
                let id = self.id(*name);
                if let Some(block) = cache.get(&id) {
                    black_box(&block);
                    found += 1;
                } else {
                    cache.insert(id, self.block(*name));
                }
            }
            hits.fetch_add(found, Ordering::Relaxed);
        }
    }

    fn requests(&self, bench: &mut Bench<'_>, cache: &dyn Cache, names: &[u64]) {
        let mut phase = bench.begin("requests");
        let (warm, scored) = names.split_at(names.len() / 2);
        let hits = AtomicU64::new(0);
        self.ask(cache, warm, &hits)(0..warm.len());
        hits.store(0, Ordering::Relaxed);
        let plan = (scored.len() as u64, SLICE, self.0.limit.0);
        let timing = bench.together(self.threads(), plan, |_| self.ask(cache, scored, &hits));
        let (hits, asked) = (hits.into_inner(), timing.operations);
        timing.with_idle(self.idle(bench, scored)).write(&mut phase.cells);
        set_hits(&mut phase.cells, hits, asked);
        phase.cells.set(&c::CACHE_BYTES, cache.weight_bytes());
        if self.0.bound && asked == scored.len() as u64 {
            let request = |name: &u64| BlockRequest { id: self.id(*name), bytes: self.0.block.0 as u32 };
            let trace: Vec<BlockRequest> = names.iter().map(request).collect();
            let best = belady(&trace, cache.capacity(), warm.len()).hit_rate();
            phase.cells.set(&c::BEST_HIT_RATE, best);
        }
        self.expect(bench.design.choice("cache"), cache.capacity(), (warm.len(), asked), &mut phase.cells);
        self.check(cache, names, &mut phase.answers);
        bench.end(phase);
    }

    /// Adds the theoretical hit rates of the measured requests to the row `cells`. Adds nothing if the requests are not
    /// drawn from a distribution, or if each tree has its own cache.
    fn expect(&self, choice: &Choice, capacity: u64, (warm, asked): (usize, u64), cells: &mut Measurements) {
        // The theoretical hit rates are those of a single cache.
        let is_one = self.0.shared || self.0.trees.0 == 1;
        let Some(law) = self.0.requests.build().law().filter(|_| is_one) else { return };
        let blocks = popularity_of_blocks(&*law, self.0.blocks.0, 1.0, true);
        let Some(blocks) = blocks.filter(|_| asked > 0) else { return };
        let (held, warm) = ((capacity / self.0.block.0) as f64, warm as f64);
        cells.set(&c::BEST_STATIC_HIT_RATE, blocks.best_static_share(held));
        let rate = Eviction::of(choice)
            .map(|eviction| eviction.hit_rate_between(&blocks, held, 0.0, (warm, warm + asked as f64)));
        cells.set_some(&c::EXPECTED_HIT_RATE, rate);
    }

    /// Measures requests that are all hits. The function first inserts `held` blocks, which take half of the capacity,
    /// so the cache needs no evictions.
    fn hits(&self, bench: &mut Bench<'_>, cache: &dyn Cache, held: u64, names: &[u64]) {
        let mut phase = bench.begin("hits");
        let (all, hits): (Vec<u64>, _) = ((0..held).collect(), AtomicU64::new(0));
        // Some policies keep a block permanently only if it is requested again.
        for _ in 0..2 {
            self.ask(cache, &all, &hits)(0..all.len());
        }
        hits.store(0, Ordering::Relaxed);
        let plan = (names.len() as u64, SLICE, self.0.limit.0);
        let timing = bench.together(self.threads(), plan, |_| self.ask(cache, names, &hits));
        let asked = timing.operations;
        timing.with_idle(self.idle(bench, names)).write(&mut phase.cells);
        set_hits(&mut phase.cells, hits.into_inner(), asked);
        phase.cells.set(&c::CACHE_BYTES, cache.weight_bytes());
        self.check(cache, names, &mut phase.answers);
        bench.end(phase);
    }

    fn idle(&self, bench: &Bench<'_>, names: &[u64]) -> Option<f64> {
        let some = &names[..names.len().min(1 << 16)];
        bench.idle(some.len(), || {
            for name in some {
                black_box(self.id(*name));
            }
        })
    }

    /// Checks that the cache has the correct bytes for the blocks that were requested last. Also checks that the weight
    /// of the cache does not exceed its capacity.
    fn check(&self, cache: &dyn Cache, names: &[u64], answers: &mut Answers) {
        answers.expect(cache.weight_bytes() <= cache.capacity(), || {
            format!(
                "the cache contains {} bytes, but its capacity is {} bytes",
                cache.weight_bytes(),
                cache.capacity()
            )
        });
        for name in &names[names.len() - names.len().min(CHECKED)..] {
            let Some(block) = cache.get(&self.id(*name)) else { continue };
            let start = start_of(*name);
            let right = &BYTES[start..start + self.0.block.0 as usize];
            answers.expect(*block == *right, || format!("the cache returned wrong bytes for block {name}"));
        }
    }
}

fn set_hits(cells: &mut Measurements, hits: u64, asked: u64) {
    cells.set(&c::BLOCKS_FROM_CACHE, hits).set(&c::BLOCKS_READ, asked - hits);
    if asked > 0 {
        cells.set(&c::CACHE_HIT_RATE, hits as f64 / asked as f64);
    }
}

/// Returns the position in the buffer of all blocks ([`BYTES`]) at which a block starts.
fn start_of(name: u64) -> usize {
    (name.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as usize % STARTS
}

#[cfg(test)]
mod tests {
    use tree::Design;

    use super::*;

    /// A cache that confuses blocks, because the function changes the identifier of each block.
    struct Confused(Box<dyn Cache>, fn(BlockId) -> BlockId);

    impl Cache for Confused {
        fn get(&self, id: &BlockId) -> Option<Bytes> {
            self.0.get(&self.1(*id))
        }

        fn insert(&self, id: BlockId, block: Bytes) {
            self.0.insert(self.1(id), block);
        }

        fn remove_table(&self, tree: u64, table: u64) {
            self.0.remove_table(tree, table);
        }

        fn set_capacity(&self, bytes: u64) {
            self.0.set_capacity(bytes);
        }

        fn capacity(&self) -> u64 {
            self.0.capacity()
        }

        fn weight_bytes(&self) -> u64 {
            self.0.weight_bytes()
        }
    }

    /// Checks that a correct cache gives no wrong answers, and that a cache with changed identifiers gives wrong
    /// answers.
    fn check_confusion(subject: &Hits, confuse: fn(BlockId) -> BlockId) {
        let (design, here) = (Design::default(), Path::new("."));
        for is_confused in [false, true] {
            let mut bench = Bench::new(&design, (1, RunMode::Counted), (here, here), &|_| {});
            let cache = cache::CATALOG.build(design.choice("cache")).unwrap();
            let cache = if is_confused { Box::new(Confused(cache, confuse)) } else { cache };
            let names: Vec<u64> = (0..20_000).map(|number| number * 7 % 1000).collect();
            subject.requests(&mut bench, &*cache, &names);
            let phase = bench.into_phases().pop().unwrap();
            assert!(phase.answers.checked > 10_000, "{:?}", phase.answers);
            assert_eq!(phase.answers.wrong > 1000, is_confused, "{:?}", phase.answers);
        }
    }

    #[test]
    fn trees_that_share_a_cache_get_their_own_blocks() {
        let subject = Hits(Params { blocks: Count(1000), trees: Count(3), ..Params::default() });
        check_confusion(&subject, |id| BlockId { tree: 1, ..id });
        // Every block has its own identifier, also the blocks of a trace beyond `blocks`.
        let ids: std::collections::BTreeSet<BlockId> = (0..1500).map(|name| subject.id(name)).collect();
        assert_eq!((ids.len(), ids.last().map(|id| id.tree)), (1500, Some(3)));
    }

    /// Rule: if most requests are for one tree, a shared cache has a higher hit rate than one cache per tree.
    #[test]
    fn a_shared_cache_follows_the_requests_of_its_trees() {
        let here = Path::new(".");
        let design =
            Design::default().with(&"cache = \"lru(capacity=1MiB, shards=1)\"".parse().unwrap()).unwrap();
        let rate = |trees: u64, shared: bool| {
            let params = Params {
                blocks: Count(1000),
                operations: Count(20_000),
                trees: Count(trees),
                shared,
                ..Params::default()
            };
            let mut bench = Bench::new(&design, (1, RunMode::Counted), (here, here), &|_| {});
            let subject = Hits(params);
            let cache = subject.cache(design.choice("cache")).unwrap();
            assert_eq!(cache.capacity(), 1 << 20);
            // 200 of the first 250 blocks, which are those of the first of four trees.
            let names: Vec<u64> = (0..20_000).map(|number| number * 7 % 200).collect();
            subject.requests(&mut bench, &*cache, &names);
            let phase = bench.into_phases().pop().unwrap();
            assert_eq!(phase.answers.wrong, 0, "{:?}", phase.answers);
            phase.cells.get(&c::CACHE_HIT_RATE).number().unwrap()
        };
        assert!(rate(4, true) > 0.99 && (rate(1, true) - rate(4, true)).abs() < 1e-9);
        assert!(rate(4, false) < 0.5, "{}", rate(4, false));
    }

    #[test]
    fn a_block_that_is_another_one_is_caught() {
        let params = Params { blocks: Count(1000), operations: Count(20_000), ..Params::default() };
        check_confusion(&Hits(params), |id| BlockId { offset: id.offset & !(1 << 12), ..id });
    }
}
