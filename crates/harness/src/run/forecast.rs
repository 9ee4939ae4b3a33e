//! What theory expects of a phase: of its writes from the policy and the flushes, of its gets from the runs that
//! there are, of the cache from the law of the keys. A phase to which a form does not apply gets none.

use std::sync::Arc;

use compaction::Load;
use model::{Eviction, Popularity, RunView, blocks_per_absent_get, blocks_per_present_get, growth};
use results::{Cells, columns as c};
use subject::popularity_of_blocks;
use tree::{Counts, Design, Stats};
use workload::{CacheState, Extent, KEYS, KeyFormat, KeySource, Kind, Mixed, Order, Phase, Standing, Work};

use super::report::{Measured, TreePhase};
use super::space;

/// The most flushes that a policy without a form is simulated for.
const MOST_SIMULATED: u64 = 20_000;

/// The part by which merges of different keys may change their bytes, for blocks and filters that are filled otherwise.
const MOST_RECODED: f64 = 0.1;

/// The share of blocks looked into in vain up to which the requests of a cache follow the law of the keys.
const MOST_STRAYS: f64 = 0.05;

/// What is expected of the phases of a trial, one after the other.
pub(super) struct Forecast {
    design: Design,
    format: Arc<dyn KeyFormat>,
    /// Whether every run holds keys from all over, as far as is known.
    overlaps: bool,
    /// The law that the cache was asked by last, and of how many keys.
    warm_with: Option<(String, u64)>,
    /// The blocks that were computed last: they are the same for phases that ask for keys alike.
    blocks: Option<(BlocksKey, Option<Popularity>)>,
}

/// What the popularity of blocks depends on: the law, the keys, and how many are in a block.
type BlocksKey = (String, u64, u64);

impl Forecast {
    /// For a tree of this design that takes keys of this format.
    pub(super) fn new(design: Design, format: &Arc<dyn KeyFormat>) -> Self {
        let format = Arc::clone(format);
        Self { design, format, overlaps: true, warm_with: None, blocks: None }
    }

    /// Takes note of a phase that was done before.
    pub(super) fn pass(&mut self, phase: &Phase) {
        self.overlaps &= !self.format.ordered() || adds_anywhere(&phase.work);
    }

    /// What is expected of a phase on a store that earlier ones left at `from`; to be called for each in turn.
    /// `live` is how many bytes of live data there are behind it, where that is known.
    pub(super) fn of_phase(
        &mut self,
        phase: &Phase,
        from: Extent,
        measured: &Measured,
        live: Option<u64>,
    ) -> Cells {
        let mut cells = Cells::default();
        let own_law = law_of(&phase.work).map(|law| (law, from.keys));
        if measured.warmed.is_some() {
            self.warm_with.clone_from(&own_law);
        } else if phase.before.cache != CacheState::AsIs {
            self.warm_with = None;
        }
        let Some(tree) = measured.of_tree() else { return cells };
        self.writes(phase, tree, &mut cells);
        if let Some(live) = live {
            space::set_bounds(&mut cells, &self.design, tree.settled, live);
        }
        self.pass(phase);
        if let Work::Mixed(mixed) = &phase.work {
            let is_only_gets = Kind::ALL.into_iter().all(|kind| kind == Kind::Get || !mixed.mix.has(kind));
            let is_still = tree.before.levels == tree.burst.levels;
            if is_only_gets && is_still && tree.burst.runs() > 0 {
                self.lookups(tree, &mut cells);
                self.cache(mixed, from.keys, tree, &mut cells);
            }
        }
        self.warm_with = own_law;
        cells
    }

    /// Of a phase that only adds keys to an empty tree.
    fn writes(&self, phase: &Phase, tree: TreePhase<'_>, cells: &mut Cells) {
        let TreePhase { before, settled, .. } = tree;
        let done = settled.counts.since(&before.counts);
        let is_first = before.counts.user_bytes_written == 0 && before.runs() == 0;
        if !is_first || !only_adds(&phase.work) || done.flushes == 0 || done.puts == 0 {
            return;
        }
        // A codec that compresses more the deeper a level is: bytes do not stay what they were when flushed.
        let kept = done.compaction_bytes_written as f64 / done.compaction_bytes_read.max(1) as f64;
        if done.compaction_bytes_read > 0 && (kept - 1.0).abs() > MOST_RECODED {
            return;
        }
        let policy = self.design.choice("compaction");
        let entry_bytes = (done.user_bytes_written / done.puts).max(1);
        let flushed = measured_entries(settled).max(1);
        let load = Load {
            writes_per_flush: (flushed / done.flushes).max(1),
            entry_bytes,
            entries_per_table: (self.design.options.table.capacity.0 / entry_bytes).max(1),
            distinct_keys: None,
        };
        if done.flushes > MOST_SIMULATED && !model::has_form(policy, load, done.flushes) {
            return;
        }
        let Ok(expected) = growth(policy, load, done.flushes) else { return };
        let flushed = done.flush_bytes as f64 / done.user_bytes_written as f64;
        cells.set(&c::EXPECTED_WRITE_AMP, expected.write_amp * flushed);
        cells.set(&c::EXPECTED_RUNS, expected.runs).set(&c::EXPECTED_LEVELS, expected.levels);
    }

    /// Of gets that meet runs which all may have the key.
    fn lookups(&self, tree: TreePhase<'_>, cells: &mut Cells) {
        let TreePhase { before, burst, .. } = tree;
        let done = burst.counts.since(&before.counts);
        let (Some(fpr), true) = (burst.expected_fpr, self.overlaps && done.gets > 0) else { return };
        // A fence that reads blocks to find one looks into more than the form counts.
        let reads_to_find = done.blocks_searched > done.fence_searches;
        if reads_to_find || burst.levels.iter().any(|level| level.tombstones > 0) {
            return;
        }
        let runs = run_views(burst, fpr);
        let share = |count: u64| count as f64 / done.gets as f64;
        // What is not found is absent; what is found and not in a memtable is in a run.
        let absent = share(done.gets - done.gets_found);
        let present = share(done.gets_found - done.gets_from_memtable.min(done.gets_found));
        let own = blocks_per_present_get(&runs).unwrap_or(0.0);
        let expected = absent * blocks_per_absent_get(&runs) + present * own;
        cells.set(&c::EXPECTED_BLOCKS_PER_GET, expected);
    }

    /// Of a cache that is asked for blocks by the law of the keys in them.
    fn cache(&mut self, mixed: &Mixed, keys: u64, tree: TreePhase<'_>, cells: &mut Cells) {
        let TreePhase { before, burst, .. } = tree;
        let done = burst.counts.since(&before.counts);
        let both = requests_by_law(&done).zip(self.block_bytes(burst));
        let (Some((requests, bytes)), KeySource::Drawn(law)) = (both, &mixed.keys) else { return };
        let Some(held) = self.cache_capacity().map(|capacity| capacity as f64 / bytes) else { return };
        let held_before = before.cache_bytes as f64 / bytes;
        let Ok(built) = KEYS.build(law) else { return };
        let blocks: u64 = burst.levels.iter().map(|level| level.blocks).sum();
        let per_block = measured_entries(burst) as f64 / blocks.max(1) as f64;
        let eviction = Eviction::of(self.design.choice("cache"));
        if built.standing() == Standing::InTurn {
            let in_turn = Eviction::hit_rate_in_turn(keys as f64, per_block, held, requests);
            if self.format.ordered() && before.cache_bytes == 0 && eviction.is_some() {
                cells.set(&c::EXPECTED_HIT_RATE, in_turn);
            }
            return;
        }
        let key = (law.label(), keys, per_block.to_bits());
        let known = self.blocks.take().filter(|(known, _)| *known == key);
        let ordered = self.format.ordered();
        let blocks = known.map_or_else(
            || popularity_of_blocks(&*built, keys, per_block, ordered),
            |(_, popularity)| popularity,
        );
        if let Some(blocks) = &blocks {
            cells.set(&c::BEST_STATIC_HIT_RATE, blocks.best_static_share(held));
            let is_warm = self.warm_with == Some((law.label(), keys)) && before.cache_bytes > 0;
            let rate = eviction.map(|eviction| match is_warm {
                true => eviction.hit_rate(blocks, held),
                false => eviction.hit_rate_between(blocks, held, held_before, (0.0, requests)),
            });
            cells.set_some(&c::EXPECTED_HIT_RATE, rate);
        }
        self.blocks = Some((key, blocks));
    }

    /// The mean length of a data block; `None` where blocks in memory are not as long as those in files.
    fn block_bytes(&self, stats: &Stats) -> Option<f64> {
        let is_plain = self.design.choice("compression").kind() == compression::CATALOG.variants[0].kind;
        let sum = |of: fn(&tree::LevelStats) -> u64| stats.levels.iter().map(of).sum::<u64>() as f64;
        is_plain.then(|| sum(|level| level.block_bytes) / sum(|level| level.blocks))
    }

    /// The bytes that the cache may hold; `None` where it has what others leave.
    fn cache_capacity(&self) -> Option<u64> {
        let built = cache::CATALOG.build(self.design.choice("cache")).ok();
        built.filter(|_| self.design.options.memory.is_none()).map(|cache| cache.capacity())
    }
}

/// The requests for data blocks of gets that nearly all went to the block of their key.
fn requests_by_law(done: &Counts) -> Option<f64> {
    let requests = done.blocks_from_cache + done.blocks_read;
    let pages = done.fence_pages_from_cache + done.fence_pages_read;
    let in_runs = done.gets_found - done.gets_from_memtable.min(done.gets_found);
    let strays = done.blocks_searched.saturating_sub(in_runs) as f64;
    (requests > 0 && pages == 0 && strays <= MOST_STRAYS * requests as f64).then_some(requests as f64)
}

fn measured_entries(stats: &Stats) -> u64 {
    stats.levels.iter().map(|level| level.entries).sum()
}

/// The runs, the newest first: those of a level are taken as alike, and all filters as the mean one.
fn run_views(stats: &Stats, fpr: f64) -> Vec<RunView> {
    let entries = measured_entries(stats).max(1) as f64;
    let levels = stats.levels.iter().filter(|level| level.runs > 0);
    let runs = levels.flat_map(|level| {
        let share = level.entries as f64 / entries / level.runs as f64;
        std::iter::repeat_n(RunView { share, fpr }, level.runs as usize)
    });
    runs.collect()
}

/// Whether work adds keys, and does nothing else.
fn only_adds(work: &Work) -> bool {
    match work {
        Work::Load(_) => true,
        Work::Mixed(mixed) => Kind::ALL.into_iter().all(|kind| mixed.mix.has(kind) == (kind == Kind::Insert)),
        Work::Text(_) => false,
    }
}

/// Whether the keys that work writes stand anywhere, where keys are ordered by their indexes.
fn adds_anywhere(work: &Work) -> bool {
    match work {
        Work::Load(load) => load.order == Order::Random,
        Work::Mixed(mixed) => !mixed.mix.has(Kind::Insert) && matches!(mixed.keys, KeySource::Drawn(_)),
        Work::Text(_) => false,
    }
}

/// The label of the law that work draws its keys by.
fn law_of(work: &Work) -> Option<String> {
    match work {
        Work::Mixed(mixed) => match &mixed.keys {
            KeySource::Drawn(law) => Some(law.label()),
            KeySource::Recorded(_) => None,
        },
        _ => None,
    }
}
