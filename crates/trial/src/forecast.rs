//! Computes the theoretical values of a phase. Values for writes follow from the compaction policy and the number of
//! flushes, and values for gets from the number of sorted runs. Values for the cache follow from the key distribution.
//! If a formula does not apply to a phase, its value is absent.

use std::sync::Arc;

use compaction::SimulatedLoad;
use engines::EngineStats;
use results::{Measurements, columns as c, counters as n};
use subject::popularity_of_blocks;
use theory::{Eviction, Popularity, RunView, blocks_per_absent_get, blocks_per_present_get, growth};
use tree::Design;
use workload::{
    CacheState, Extent, KEYS, KeyFormat, KeySource, Kind, Mixed, Order, Phase, PopularKeys, Work,
};

use super::blobs::Separation;
use super::measured::Measured;
use super::space;

/// The largest number of flushes that a forecast simulates. Only a policy without a closed formula needs a simulation.
const MOST_SIMULATED: u64 = 20_000;

/// The maximum relative difference between the bytes that compactions read and the bytes that they write. With a larger
/// difference, compactions drop or compress data, so the formulas for write amplification do not apply.
const MOST_RECODED: f64 = 0.1;

/// The maximum fraction of cache requests for blocks that do not contain the requested key. Above this fraction, the
/// formulas for hit rates do not apply, because the requests do not follow the key distribution of the phase.
const MOST_STRAYS: f64 = 0.05;

/// Computes the theoretical values of the phases of a trial, one phase after the other.
pub(super) struct Forecast {
    design: Design,
    format: Arc<dyn KeyFormat>,
    /// Whether the formulas may assume that each sorted run covers the whole key range, so that all runs overlap.
    overlaps: bool,
    /// The number of uniformly random overwrites since the last write of another kind. The formulas for blob files need
    /// this number.
    overwrites: u64,
    /// The key distribution of the phase that last filled the cache, and the number of keys in that phase. `None` if no
    /// phase has filled the cache.
    warm_with: Option<(String, u64)>,
    /// The last computed popularity of the blocks of the store, with its inputs. Phases with equal inputs use the same
    /// result.
    blocks: Option<(BlocksKey, Option<Popularity>)>,
}

/// The inputs from which the popularity of the blocks of a store is computed: the key distribution, the number of keys,
/// and the number of keys per block.
type BlocksKey = (String, u64, u64);

impl Forecast {
    /// Creates the object that computes theoretical values for a tree with this design and with keys of this format.
    pub(super) fn new(design: Design, format: &Arc<dyn KeyFormat>) -> Self {
        let format = Arc::clone(format);
        Self { design, format, overlaps: true, overwrites: 0, warm_with: None, blocks: None }
    }

    /// Records the writes of a phase, which determine whether all sorted runs overlap. The trial calls this function
    /// once per phase, also for the phases of a fixture.
    pub(super) fn pass(&mut self, phase: &Phase) {
        self.overlaps &= !self.format.ordered() || adds_anywhere(&phase.work);
        match &phase.work {
            Work::Mixed(mixed) if overwrites_evenly(mixed) => {
                self.overwrites = self.overwrites.saturating_add(mixed.operations.unwrap_or(0));
            }
            _ if phase.may_write() => self.overwrites = 0,
            _ => {}
        }
    }

    /// Computes the theoretical values of a phase. Call this function for each phase in order.
    /// * `from` contains the keys and versions that earlier phases used.
    /// * `live` is the number of live bytes after the phase, if known.
    pub(super) fn of_phase(
        &mut self,
        phase: &Phase,
        from: Extent,
        measured: &Measured,
        live: Option<u64>,
    ) -> Measurements {
        let mut cells = Measurements::default();
        // The formulas describe one tree.
        if self.design.families().next().is_some() {
            return cells;
        }
        let own_law = law_of(&phase.work).map(|law| (law, from.keys));
        if measured.warmed.is_some() {
            self.warm_with.clone_from(&own_law);
        } else if phase.before.cache != CacheState::AsIs {
            self.warm_with = None;
        }
        cells.extend(self.writes(phase, measured).unwrap_or_default());
        cells.extend(self.collections(phase, from.keys, measured, live).unwrap_or_default());
        let settled = measured.settled.as_ref().map(|settled| &settled.stats);
        let bounds = live.zip(settled).and_then(|(live, settled)| space::bounds(&self.design, settled, live));
        cells.extend(bounds.unwrap_or_default());
        self.pass(phase);
        if let Work::Mixed(mixed) = &phase.work {
            let is_only_gets = Kind::ALL.into_iter().all(|kind| kind == Kind::Get || !mixed.mix.has(kind));
            let is_still = measured.before.has_levels_of(&measured.burst);
            if is_only_gets && is_still && measured.burst.sum_of_levels(&c::RUNS).is_some_and(|runs| runs > 0)
            {
                cells.extend(self.lookups(measured).unwrap_or_default());
                cells.extend(self.cache(mixed, from.keys, measured).unwrap_or_default());
            }
        }
        self.warm_with = own_law;
        cells
    }

    /// Computes the expected write amplification and number of sorted runs of a phase that only adds keys to an empty
    /// store. Returns `None` for any other phase, and for an engine that does not report the inputs of the formulas.
    fn writes(&self, phase: &Phase, measured: &Measured) -> Option<Measurements> {
        let (before, settled) = (&measured.before, &measured.settled.as_ref()?.stats);
        let done = |metric| settled.whole.counted(metric, &before.whole);
        let is_first =
            before.whole.count(&c::USER_BYTES_WRITTEN)? == 0 && before.whole.reading(&c::RUNS)? == 0;
        let (flushes, puts, user_bytes) =
            (done(&c::FLUSHES)?, done(&n::PUTS)?, done(&c::USER_BYTES_WRITTEN)?);
        // The formulas assume memtables of one size.
        if !is_first || self.design.moves_memory() || !only_adds(&phase.work) || flushes == 0 || puts == 0 {
            return None;
        }
        if !self.design.keeps_values_inline() {
            let separation = Separation::of(&self.design, phase, user_bytes as f64 / puts as f64)?;
            return separation.of_load(measured);
        }
        // If the codec compresses more at deeper levels, the number of bytes changes after the flush.
        let (read, written) = (done(&c::COMPACTION_BYTES_READ)?, done(&c::COMPACTION_BYTES_WRITTEN)?);
        let kept = written as f64 / read.max(1) as f64;
        if read > 0 && (kept - 1.0).abs() > MOST_RECODED {
            return None;
        }
        let policy = self.design.choice("compaction");
        let entry_bytes = (user_bytes / puts).max(1);
        let entries = settled.sum_of_levels(&n::ENTRIES)?.max(1);
        let load = SimulatedLoad {
            writes_per_flush: (entries / flushes).max(1),
            entry_bytes,
            entries_per_table: (self.design.options.table.capacity.0 / entry_bytes).max(1),
            distinct_keys: None,
        };
        if flushes > MOST_SIMULATED && !theory::has_form(policy, load, flushes) {
            return None;
        }
        let expected = growth(policy, load, flushes).ok()?;
        let flush_amp = done(&c::FLUSH_BYTES)? as f64 / user_bytes as f64;
        let mut cells = Measurements::default();
        cells.set(&c::EXPECTED_WRITE_AMP, expected.write_amp * flush_amp);
        cells.set(&c::EXPECTED_RUNS, expected.runs).set(&c::EXPECTED_LEVELS, expected.levels);
        Some(cells)
    }

    /// Computes the expected bytes that flushes and garbage collection write to blob files, in a phase that only
    /// overwrites uniformly random keys. Returns `None` for any other phase, and for keys or values of different sizes.
    fn collections(
        &self,
        phase: &Phase,
        keys: u64,
        measured: &Measured,
        live: Option<u64>,
    ) -> Option<Measurements> {
        let Work::Mixed(mixed) = &phase.work else { return None };
        if keys <= 1 || !overwrites_evenly(mixed) || self.design.moves_memory() {
            return None;
        }
        let done = |metric| measured.burst.whole.counted(metric, &measured.before.whole);
        let user_bytes = done(&c::USER_BYTES_WRITTEN)? as f64 / done(&n::PUTS)?.max(1) as f64;
        let is_even = (live? as f64 - keys as f64 * user_bytes).abs() < 0.5;
        let separation = Separation::of(&self.design, phase, user_bytes).filter(|_| is_even)?;
        separation.of_overwrites(keys as f64, self.overwrites, measured)
    }

    /// Computes the expected number of blocks that a get reads. The formula assumes that every searched run may contain
    /// the key. Returns `None` for a phase to which this assumption does not apply.
    fn lookups(&self, measured: &Measured) -> Option<Measurements> {
        let Measured { before, burst, .. } = measured;
        let done = |metric| burst.whole.counted(metric, &before.whole);
        let (fpr, gets) = (burst.whole.number(&c::EXPECTED_FPR)?, done(&n::GETS)?);
        // Some fences read blocks to find the block of a key. The formula does not count these additional blocks.
        let reads_to_find = done(&n::BLOCKS_SEARCHED)? > done(&c::FENCE_SEARCHES)?;
        let range_tombstones = burst.whole.reading(&c::RANGE_TOMBSTONES).unwrap_or(0);
        let tombstones = burst.sum_of_levels(&n::TOMBSTONES)? + range_tombstones;
        let is_inline = self.design.keeps_values_inline();
        if !self.overlaps || !is_inline || gets == 0 || reads_to_find || tombstones > 0 {
            return None;
        }
        let runs = run_views(burst, fpr)?;
        let share = |count: u64| count as f64 / gets as f64;
        // A key that is not found is absent. A key that is found, and not in a memtable, is in a run.
        let (found, from_memtable) = (done(&n::GETS_FOUND)?, done(&n::GETS_FROM_MEMTABLE)?);
        let absent = share(gets - found);
        let present = share(found - from_memtable.min(found));
        let own = blocks_per_present_get(&runs).unwrap_or(0.0);
        let expected = absent * blocks_per_absent_get(&runs) + present * own;
        let mut cells = Measurements::default();
        cells.set(&c::EXPECTED_BLOCKS_PER_GET, expected);
        Some(cells)
    }

    /// Computes the expected hit rates of the cache. The formulas assume that requests follow the key distribution.
    /// Returns `None` for a phase to which this assumption does not apply.
    fn cache(&mut self, mixed: &Mixed, keys: u64, measured: &Measured) -> Option<Measurements> {
        let Measured { before, burst, .. } = measured;
        let (requests, bytes) = requests_by_law(before, burst).zip(self.block_bytes(burst))?;
        let KeySource::Drawn(law) = &mixed.keys else { return None };
        let held = self.cache_capacity().map(|capacity| capacity as f64 / bytes)?;
        let bytes_before = before.whole.reading(&c::CACHE_BYTES)?;
        let held_before = bytes_before as f64 / bytes;
        let built = KEYS.build(law).ok()?;
        let blocks = burst.sum_of_levels(&n::BLOCKS)?;
        let per_block = burst.sum_of_levels(&n::ENTRIES)? as f64 / blocks.max(1) as f64;
        let eviction = Eviction::of(self.design.choice("cache"));
        let mut cells = Measurements::default();
        if built.standing() == PopularKeys::InTurn {
            let in_turn = Eviction::hit_rate_in_turn(keys as f64, per_block, held, requests);
            if self.format.ordered() && bytes_before == 0 && eviction.is_some() {
                cells.set(&c::EXPECTED_HIT_RATE, in_turn);
            }
            return Some(cells);
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
            let is_warm = self.warm_with == Some((law.label(), keys)) && bytes_before > 0;
            let rate = eviction.map(|eviction| match is_warm {
                true => eviction.hit_rate(blocks, held),
                false => eviction.hit_rate_between(blocks, held, held_before, (0.0, requests)),
            });
            cells.set_some(&c::EXPECTED_HIT_RATE, rate);
        }
        self.blocks = Some((key, blocks));
        Some(cells)
    }

    /// Returns the mean length of a data block in bytes. Returns `None` if blocks in memory and blocks in files have
    /// different lengths.
    fn block_bytes(&self, stats: &EngineStats) -> Option<f64> {
        let is_plain = self.design.choice("compression").kind() == compression::CATALOG.variants()[0].kind;
        let (bytes, blocks) = (stats.sum_of_levels(&n::BLOCK_BYTES)?, stats.sum_of_levels(&n::BLOCKS)?);
        is_plain.then(|| bytes as f64 / blocks as f64)
    }

    /// Returns the capacity of the cache in bytes. Returns `None` if the capacity is not fixed, because the cache
    /// gets the rest of a memory budget or an arbiter moves memory.
    fn cache_capacity(&self) -> Option<u64> {
        let built = cache::CATALOG.build(self.design.choice("cache")).ok();
        built
            .filter(|_| self.design.options.memory.is_none() && !self.design.moves_memory())
            .map(|cache| cache.capacity())
    }
}

/// Returns how many data blocks the gets of a phase requested from the cache. Returns `None` if the formulas of hit
/// rates do not apply. This is the case if too many of these blocks did not contain the requested key
/// ([`MOST_STRAYS`]), or if pages of an index were also requested.
fn requests_by_law(before: &EngineStats, burst: &EngineStats) -> Option<f64> {
    let done = |metric| burst.whole.counted(metric, &before.whole);
    let pages = done(&n::INDEX_PAGES_FROM_CACHE)? + done(&c::BLOCKS_READ_INDEX)?;
    let requests = done(&c::BLOCKS_FROM_CACHE)? + done(&c::BLOCKS_READ)? - pages;
    let (found, from_memtable) = (done(&n::GETS_FOUND)?, done(&n::GETS_FROM_MEMTABLE)?);
    let in_runs = found - from_memtable.min(found);
    let strays = done(&n::BLOCKS_SEARCHED)?.saturating_sub(in_runs) as f64;
    (requests > 0 && pages == 0 && strays <= MOST_STRAYS * requests as f64).then_some(requests as f64)
}

/// Describes the sorted runs of a store for the formulas of lookups, from the newest to the oldest run. The function
/// assumes that all runs of a level have equal sizes, and that all filters have the mean false-positive rate.
fn run_views(stats: &EngineStats, fpr: f64) -> Option<Vec<RunView>> {
    let entries = stats.sum_of_levels(&n::ENTRIES)?.max(1) as f64;
    let mut views = Vec::new();
    for level in &stats.levels {
        let (of_level, runs) = (level.reading(&n::ENTRIES)?, level.reading(&c::RUNS)?);
        let share = of_level as f64 / entries / runs as f64;
        views.extend(std::iter::repeat_n(RunView { share, fpr }, runs as usize));
    }
    Some(views)
}

/// Returns whether a phase only adds keys, because its work is a load or a mix of inserts.
fn only_adds(work: &Work) -> bool {
    match work {
        Work::Load(_) => true,
        Work::Mixed(mixed) => Kind::ALL.into_iter().all(|kind| mixed.mix.has(kind) == (kind == Kind::Insert)),
        Work::Roles(_) | Work::Replay(_) | Work::Step(_) => false,
    }
}

/// Returns whether a mix only overwrites keys, and draws all keys with equal probability.
fn overwrites_evenly(mixed: &Mixed) -> bool {
    let is_uniform = matches!(&mixed.keys, KeySource::Drawn(law) if law.kind() == KEYS.baseline().kind());
    is_uniform && Kind::ALL.into_iter().all(|kind| mixed.mix.has(kind) == (kind == Kind::Put))
}

/// Returns whether the writes of a phase are spread over the whole key range, so that all sorted runs overlap. The
/// result is valid only for key formats that sort keys by their indexes.
fn adds_anywhere(work: &Work) -> bool {
    match work {
        Work::Load(load) => load.order == Order::Random,
        Work::Mixed(mixed) => !mixed.has(Kind::Insert) && matches!(mixed.keys, KeySource::Drawn(_)),
        Work::Roles(roles) => roles.iter().all(|role| !role.mixed.has(Kind::Insert)),
        Work::Replay(_) => false,
        // A step adds no keys.
        Work::Step(_) => true,
    }
}

/// Returns the key distribution of a phase as text, with its parameters. `None` if the phase draws no keys from a
/// distribution.
fn law_of(work: &Work) -> Option<String> {
    match work {
        Work::Mixed(mixed) => match &mixed.keys {
            KeySource::Drawn(law) => Some(law.label()),
            KeySource::Recorded(_) => None,
        },
        _ => None,
    }
}
