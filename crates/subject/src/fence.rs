//! The fence pointers under test. The test measures the time to find the block of a key, and the size of the fence
//! pointers. Keys are searched one by one, in batches, and in pairs for both ends of scans.
//!
//! The SSTable has two keys per block. All searched keys are in the SSTable. Every slice draws new keys, so the CPU can
//! predict neither branches nor cache lines. Pages of fence pointers that would be on storage are in memory, so the
//! times include neither the block cache nor the device.

use std::hint::black_box;
use std::ops::Range;

use catalog::{Build, Count, Time, Variant};
use fence::{BlockBounds, Fence, FenceInput, Separators, TableReadError, TableView};
use results::{Metric, RunMode, columns as c};
use serde::{Deserialize, Serialize};
use types::{Bytes, HashedKey, KeyHash};
use workload::Random;
use xxhash_rust::xxh3::xxh3_64;

use crate::bench::{Answers, Bench, TIME, Timing};
use crate::choices::{Chosen, Formats};
use crate::fault::Fault;
use crate::keys::{MOST_BYTES, SortedKeys, Spread};
use crate::seam::{Cost, Subject, check_count};

pub(crate) const VARIANT: Variant<dyn Subject> = Variant::new::<Searches>(
    "fence",
    "searches among the separators of one SSTable",
    r#"# Number of blocks of the SSTable. Each block has one separator and two keys.
entries    = 1_000_000
# Format of the keys, as for the keys of a workload.
keys       = "u64"
# Spacing of the key numbers. Valid values: "random", "even".
spread     = "random"
# Number of searches per phase.
operations = 1_000_000
# Number of searches per call in the phase "batch".
batch      = 32
# Number of blocks between the start and the end of a range, in the phase "range".
range      = 10
# Time limit of each timed phase.
limit      = "5s"
"#,
);

/// The number of keys in each block of the tested SSTable.
const KEYS_PER_BLOCK: usize = 2;

/// The length of each block of the tested SSTable, in bytes.
const PAGE_BYTES: u64 = 4096;

/// The number of searches in a timed slice. Before each slice, [`WARM_UP`] searches run untimed.
const SLICE: usize = 4096;
const WARM_UP: usize = 512;

struct Searches(Params);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    entries: Count,
    keys: Chosen<Formats>,
    spread: Spread,
    operations: Count,
    batch: Count,
    range: Count,
    limit: Time,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            entries: Count(1_000_000),
            keys: Chosen::default(),
            spread: Spread::Random,
            operations: Count(1_000_000),
            batch: Count(32),
            range: Count(10),
            limit: Time(5_000_000_000),
        }
    }
}

impl Build<dyn Subject> for Searches {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn Subject>, String> {
        check_count("entries", params.entries.0, 1 << 30)?;
        check_count("operations", params.operations.0, 1 << 40)?;
        check_count("batch", params.batch.0, SLICE as u64)?;
        check_count("range", params.range.0, params.entries.0)?;
        let format = params.keys.open()?;
        if params.entries.0 * KEYS_PER_BLOCK as u64 * format.max_bytes() as u64 > MOST_BYTES {
            return Err(
                "entries: the total length of the keys must not exceed 4 GiB; lower entries".to_owned()
            );
        }
        Ok(Box::new(Self(params)))
    }
}

/// Whether each search of a phase depends on the previous search, and how many keys one call searches.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// No search needs the result of another search.
    Independent,
    /// Each search needs the result of the previous search, because its key depends on the block that was found.
    Dependent,
    /// One call searches a batch of keys.
    Batch,
    /// One call searches two keys: the start key and the end key of a scan.
    Range,
}

impl Subject for Searches {
    fn axis(&self) -> &'static str {
        "fence"
    }

    fn phases(&self) -> &'static [&'static str] {
        &["build", "throughput", "latency", "batch", "range"]
    }

    fn modes(&self) -> &'static [RunMode] {
        &[RunMode::Timed]
    }

    fn verdict(&self) -> (&'static str, &'static Metric) {
        ("throughput", TIME)
    }

    fn price(&self) -> &'static Metric {
        &c::BYTES_PER_ENTRY
    }

    fn cost(&self) -> Cost {
        let (entries, operations) = (self.0.entries.0 as f64, self.0.operations.0 as f64);
        let bytes = entries * KEYS_PER_BLOCK as f64 * 80.0;
        let search = operations * 500e-9;
        Cost {
            memory_bytes: bytes,
            phase_seconds: vec![entries * 1e-6, search, search, search, search],
            ..Cost::default()
        }
    }

    fn run(&self, bench: &mut Bench<'_>) -> Result<(), Fault> {
        let mut random = Random::new(bench.seed);
        let entries = self.0.entries.0 as usize;
        let format = self.0.keys.open()?;
        let keys = SortedKeys::new(&*format, entries * KEYS_PER_BLOCK, self.0.spread, &mut random)?;
        let table = Table::new(&keys);
        let fence = self.build_fence(bench, &table)?;
        for (name, way) in [
            ("throughput", Way::Independent),
            ("latency", Way::Dependent),
            ("batch", Way::Batch),
            ("range", Way::Range),
        ] {
            let mut phase = bench.begin(name);
            let timing =
                self.search(bench, (&*fence.fence, &fence.table), way, &mut random, &mut phase.answers)?;
            timing.write(&mut phase.cells);
            phase.cells.set(&c::FENCE_SEARCHES, timing.operations);
            bench.end(phase);
        }
        Ok(())
    }
}

/// The fence pointers under test, which were opened for searches, and their SSTable.
struct Opened {
    fence: Box<dyn Fence>,
    table: Table,
}

impl Searches {
    fn build_fence(&self, bench: &mut Bench<'_>, table: &Table) -> Result<Opened, Fault> {
        let mut phase = bench.begin("build");
        let policy = fence::CATALOG.build(bench.design.choice("fence"))?;
        let separators: Separators = table.keys.iter().step_by(KEYS_PER_BLOCK).map(|key| &**key).collect();
        let block_starts: Vec<u32> =
            (0..separators.len()).map(|block| (block * KEYS_PER_BLOCK) as u32).collect();
        let bounds = policy.needs_bounds().then(|| table.bounds(separators.clone()));
        let input = FenceInput {
            separators: &separators,
            hashes: &table.hashes,
            block_starts: &block_starts,
            level: 0,
            bounds: bounds.as_ref(),
        };
        let (opened, timing) = bench.build(self.0.entries.0, || {
            let stored = policy.build(&input);
            let table = Table { stored: Bytes::copy_from(&stored), ..table.clone() };
            Ok(Opened { fence: policy.open(&table)?, table })
        })?;
        timing.write(&mut phase.cells);
        let bytes = opened.fence.memory_bytes();
        let about = bench.about();
        about.set_some(&c::BUILD_NS_PER_ENTRY, timing.typical_ns());
        about.set(&c::FENCE_BYTES, bytes as u64);
        about.set(&c::BYTES_PER_ENTRY, bytes as f64 / self.0.entries.0 as f64);
        bench.end(phase);
        Ok(opened)
    }

    fn search(
        &self,
        bench: &Bench<'_>,
        (fence, table): (&dyn Fence, &Table),
        way: Way,
        random: &mut Random,
        answers: &mut Answers,
    ) -> Result<Timing, Fault> {
        let batch = self.0.batch.0 as usize;
        // The compiler cannot know that this value is 0, so it cannot remove the dependence of the next probe on the
        // last answer.
        let nothing = black_box(0);
        let plan = (self.0.operations.0, SLICE, self.0.limit.0);
        bench.slices(plan, answers, |count, slice| {
            let stretch = (way == Way::Range).then_some(self.0.range.0 as usize);
            let probes = Probes::draw(table, WARM_UP + count, stretch, random);
            let keys = probes.keys();
            let mut blocks = vec![u32::MAX; keys.len()];
            let mut failed = None;
            let mut run = |range: Range<usize>| {
                let done =
                    search_all(fence, table, way, (&keys[range.clone()], &mut blocks[range]), batch, nothing);
                failed = failed.take().or(done.err());
            };
            run(0..WARM_UP);
            slice.time(|| run(WARM_UP..WARM_UP + count));
            if let Some(error) = failed {
                return Err(error.into());
            }
            slice.idle(|| idle_all(way, &keys[WARM_UP..], batch, nothing));
            for (at, block) in probes.blocks.iter().zip(&blocks) {
                slice.answers.expect(at == block, || {
                    format!("the search returned block {block} for a key in block {at}")
                });
            }
            Ok(())
        })
    }
}

fn search_all(
    fence: &dyn Fence,
    table: &Table,
    way: Way,
    (keys, blocks): (&[HashedKey<'_>], &mut [u32]),
    batch: usize,
    nothing: u32,
) -> Result<(), fence::FenceError> {
    match way {
        Way::Independent => {
            for (key, block) in keys.iter().zip(blocks) {
                *block = fence.find(*key, table)?;
            }
        }
        Way::Dependent => {
            let mut last = 0;
            for (at, block) in blocks.iter_mut().enumerate() {
                last = fence.find(keys[at + (last & nothing) as usize], table)?;
                *block = last;
            }
        }
        Way::Batch => {
            for (keys, blocks) in keys.chunks(batch).zip(blocks.chunks_mut(batch)) {
                fence.find_batch(keys, blocks, table)?;
            }
        }
        Way::Range => {
            for (key, block) in keys.iter().zip(blocks) {
                *block = fence.seek(key.bytes, table)?;
            }
        }
    }
    Ok(())
}

/// Runs the loops of [`search_all`] without searches, to measure the time of the loops alone. Each loop only accesses
/// the keys.
fn idle_all(way: Way, keys: &[HashedKey<'_>], batch: usize, nothing: u32) {
    match way {
        Way::Independent | Way::Range => keys.iter().for_each(|key| {
            black_box(key.bytes.as_ptr());
        }),
        Way::Dependent => {
            let mut last = 0;
            for at in 0..keys.len() {
                last = black_box(keys[at + (last & nothing) as usize].bytes.len() as u32);
            }
        }
        Way::Batch => keys.chunks(batch).for_each(|keys| {
            black_box(keys.as_ptr());
        }),
    }
}

/// The keys of the next searches, copied from the SSTable, and the block of each key.
struct Probes {
    arena: Vec<u8>,
    ends: Vec<(usize, KeyHash)>,
    blocks: Vec<u32>,
}

impl Probes {
    /// Draws random keys of the SSTable. If `stretch` is set, the keys are pairs of a start and an end of a scan, which
    /// are `stretch` blocks apart.
    fn draw(table: &Table, count: usize, stretch: Option<usize>, random: &mut Random) -> Self {
        let mut probes = Self { arena: Vec::new(), ends: Vec::new(), blocks: Vec::new() };
        let mut begin = 0;
        for number in 0..count {
            let at = match stretch.filter(|_| number % 2 == 1) {
                Some(blocks) => (begin + blocks * KEYS_PER_BLOCK).min(table.keys.len() - 1),
                None => random.below(table.keys.len() as u64) as usize,
            };
            begin = at;
            probes.arena.extend_from_slice(&table.keys[at]);
            probes.ends.push((probes.arena.len(), table.hashes[at]));
            probes.blocks.push((at / KEYS_PER_BLOCK) as u32);
        }
        // Wide loads may read bytes after the last key.
        probes.arena.resize(probes.arena.len() + types::PADDING, 0);
        probes
    }

    fn keys(&self) -> Vec<HashedKey<'_>> {
        let mut start = 0;
        let key = |(end, hash): &(usize, KeyHash)| {
            let bytes = &self.arena[start..*end];
            start = *end;
            HashedKey { bytes, hash: *hash }
        };
        self.ends.iter().map(key).collect()
    }
}

/// An SSTable that is entirely in memory, to which fence pointers belong.
#[derive(Clone)]
struct Table {
    stored: Bytes,
    /// All keys of the SSTable, which share one allocation.
    keys: std::sync::Arc<[Bytes]>,
    hashes: std::sync::Arc<[KeyHash]>,
}

impl Table {
    fn new(keys: &SortedKeys) -> Self {
        let all: Vec<u8> = keys.iter().flatten().copied().collect();
        let all = Bytes::copy_from(&all);
        let mut start = 0;
        let part = |key: &[u8]| {
            let part = all.slice(start..start + key.len());
            start += key.len();
            part
        };
        Self {
            stored: Bytes::copy_from(&[]),
            keys: keys.iter().map(part).collect(),
            hashes: keys.iter().map(|key| KeyHash(xxh3_64(key))).collect(),
        }
    }

    /// Returns the first key, the last key and the offset of each block. `first_keys` contains the first key of each
    /// block, and every block has the size of one page.
    fn bounds(&self, first_keys: Separators) -> BlockBounds {
        let last_keys = self.keys.iter().skip(KEYS_PER_BLOCK - 1).step_by(KEYS_PER_BLOCK);
        let offsets = (0..first_keys.len() as u64).map(|block| block * PAGE_BYTES).collect();
        BlockBounds { first_keys, last_keys: last_keys.map(|key| &**key).collect(), offsets }
    }
}

impl TableView for Table {
    fn block_count(&self) -> u32 {
        (self.keys.len() / KEYS_PER_BLOCK) as u32
    }

    fn stored_bytes(&self) -> u64 {
        self.stored.len() as u64
    }

    fn read_stored(&self, range: Range<u64>) -> Result<Bytes, TableReadError> {
        let length = self.stored.len() as u64;
        if range.start > range.end || range.end > length {
            return Err(format!(
                "the fence pointers have {length} stored bytes, but a search read the bytes {range:?}"
            )
            .into());
        }
        Ok(self.stored.slice(range.start as usize..range.end as usize))
    }

    fn page(&self, range: Range<u64>) -> Result<Bytes, TableReadError> {
        self.read_stored(range)
    }

    fn first_key(&self, block: u32) -> Result<Bytes, TableReadError> {
        let key = self.keys.get(block as usize * KEYS_PER_BLOCK);
        key.cloned().ok_or_else(|| format!("the fence read block {block}, which does not exist").into())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use fence::FenceError;
    use tree::Design;

    use super::*;

    /// Fault: the fence returns the block after the correct block.
    struct Off(Box<dyn Fence>);

    impl Fence for Off {
        fn seek(&self, key: &[u8], table: &dyn TableView) -> Result<u32, FenceError> {
            Ok((self.0.seek(key, table)? + 1) % table.block_count())
        }

        fn memory_bytes(&self) -> usize {
            0
        }
    }

    #[test]
    fn every_search_is_checked_whichever_way_it_is_done() {
        let (design, here) = (Design::default(), Path::new("."));
        let mut bench = Bench::new(&design, (1, RunMode::Timed), (here, here), &|_| {});
        let params = Params { entries: Count(1000), operations: Count(5000), ..Params::default() };
        let subject = Searches(params);
        let format = subject.0.keys.open().unwrap();
        let keys = SortedKeys::new(&*format, 2000, Spread::Random, &mut Random::new(1)).unwrap();
        let Opened { fence, table } = subject.build_fence(&mut bench, &Table::new(&keys)).unwrap();
        let off = Off(policy_of(&design, &table));
        for way in [Way::Independent, Way::Dependent, Way::Batch, Way::Range] {
            for (fence, is_right) in [(&*fence, true), (&off, false)] {
                let mut answers = Answers::default();
                subject.search(&bench, (fence, &table), way, &mut Random::new(2), &mut answers).unwrap();
                assert_eq!(answers.checked, 5000 + 2 * WARM_UP as u64);
                assert_eq!(answers.wrong, if is_right { 0 } else { answers.checked });
            }
        }
    }

    fn policy_of(design: &Design, table: &Table) -> Box<dyn Fence> {
        fence::CATALOG.build(design.choice("fence")).unwrap().open(table).unwrap()
    }
}
