//! A simulated tree of any size. Instead of entries, the tree contains the expected number of entries in each key
//! range.

use compaction::{CompactionPolicy, FlushedWrites, KeyClass, Operations, Simulator, Spread};
use engines::EngineStats;
use theory::{RunView, blocks_per_absent_get, blocks_per_present_get};
use tree::Design;
use types::{ENTRY_CHARGE_BYTES, Outcome, Problem};
use workload::{FORMATS, KEYS, Kind, LENGTHS, Load, Mixed, Order, Phase, StoreStep, Work, Workload};

use crate::costs::Costs;
use crate::phases::{added_keys, key_distribution, operations};
use crate::readings::{Counts, readings};

/// The largest number of flushes in a simulation. A simulation with this number of flushes takes about half a minute.
const MOST_FLUSHES: f64 = 3e7;

/// The largest number of SSTables in a simulation if the policy picks single SSTables. Each pick examines all SSTables.
const MOST_TABLES: f64 = 30_000.0;

/// The number of steps in which a phase without writes is simulated, if the compaction policy observes reads. After
/// each step, the policy can pick a compaction.
const READ_PARTS: u32 = 16;

/// The number of keys in the first class of keys that are written equally often. Each further class doubles the total
/// number of keys. The first class has two keys, because the formulas for expected numbers do not hold for a single
/// key.
const HEAD: u64 = 2;

/// A simulated tree that contains expected numbers of entries instead of entries.
pub(crate) struct ExpectedTree<'a> {
    simulator: Simulator<'a, Spread>,
    classes: Vec<KeyClass>,
    /// The label of the key distribution for which the classes of keys were computed.
    distribution: Option<String>,
    costs: Costs,
    counts: Counts,
    capacity: f64,
    most_writes: f64,
    /// The keys that earlier loads have added, as a fraction of all keys of the workload. A load in key order continues
    /// at this position of the key space.
    passed: f64,
    all_keys: f64,
    /// The numbers of writes so far: added keys, writes to random keys, and deletes, in this order.
    written: (f64, f64, f64),
    is_ordered: bool,
    may_drop: bool,
    /// Whether the compaction policy observes operations.
    observes_operations: bool,
    /// The writes that the active memtable contains.
    pending: FlushedWrites,
    /// The bytes of the active memtable: with and without the fixed overhead per entry, in this order.
    pending_bytes: (f64, f64),
}

/// The mean numbers of added keys, writes and reads per operation of a phase. A batch is one operation.
#[derive(Clone, Copy, Default)]
struct PerOperation {
    adds: f64,
    draws: f64,
    /// The fraction of deletes among the writes to random keys.
    deletes: f64,
    gets: f64,
    /// The fraction of the gets that find a value.
    found: f64,
    ranges: f64,
}

impl PerOperation {
    /// Returns the numbers of lookups and scans after `operations` operations of this phase. `before` contains the
    /// numbers at the start of the phase.
    fn reads_after(&self, operations: f64, before: Operations) -> Operations {
        let added = |rate: f64| (operations * rate).round() as u64;
        Operations {
            gets_found: before.gets_found + added(self.gets * self.found),
            gets_missing: before.gets_missing + added(self.gets * (1.0 - self.found)),
            scans: before.scans + added(self.ranges),
            ..before
        }
    }
}

impl<'a> ExpectedTree<'a> {
    pub(crate) fn new(
        policy: &'a dyn CompactionPolicy,
        design: &Design,
        workload: &Workload,
        costs: Costs,
    ) -> Outcome<Self> {
        let (classes, distribution) = classes(workload)?;
        let capacity = design.memtable_capacity.0;
        let all_keys = added_keys(workload);
        let bytes: f64 = workload.phases.iter().map(operations).sum::<f64>() * costs.entry_bytes;
        let flushes = bytes / capacity as f64;
        if flushes > MOST_FLUSHES {
            return Err(Problem::new(format!(
                "the writes fill {flushes:.0} memtables, but a simulation supports at most \
                 {MOST_FLUSHES:.0}; set a larger design.memtable.capacity"
            )));
        }
        let kind = design.choice("compaction").kind();
        let picks_tables = theory::picks_tables(design.choice("compaction"));
        let table_bytes = design.options.table.capacity.0.max(capacity.min(design.options.table.capacity.0));
        if picks_tables && all_keys * costs.entry_bytes / table_bytes as f64 > MOST_TABLES {
            return Err(Problem::new(format!(
                "compaction \"{kind}\" picks single SSTables, but the tree would exceed the limit of the \
                 simulation, {MOST_TABLES:.0} SSTables; set a larger design.table.capacity, or use another \
                 policy"
            )));
        }
        let per_table =
            if picks_tables { ((table_bytes as f64 / costs.entry_bytes) as u64).max(1) } else { u64::MAX };
        let contents = Spread::new(
            classes.clone(),
            costs.entry_bytes.round() as u64,
            costs.tombstone_bytes.round() as u64,
            per_table,
        );
        let format = FORMATS.build(&workload.key).map_err(|error| Problem::new(error.to_string()))?;
        let format = format.open(None).map_err(Problem::new)?;
        Ok(Self {
            simulator: Simulator::of(policy, capacity, contents),
            classes,
            distribution,
            costs,
            counts: Counts::default(),
            capacity: capacity as f64,
            most_writes: design.memtable_entries.map_or(f64::INFINITY, |most| most as f64),
            passed: 0.0,
            all_keys,
            written: (0.0, 0.0, 0.0),
            is_ordered: format.ordered(),
            observes_operations: policy.observed_flushes() > 0,
            may_drop: design.limits().iter().any(|(_, _, limit)| *limit == catalog::Limit::DropsData),
            pending: NO_WRITES,
            pending_bytes: (0.0, 0.0),
        })
    }

    pub(crate) fn stats(&self) -> EngineStats {
        let live_bytes = self.live_keys() * (self.costs.entry_bytes - ENTRY_CHARGE_BYTES as f64);
        let live_bytes = (!self.may_drop).then(|| live_bytes.round() as u64);
        let counts = Counts { live_bytes, ..self.counts };
        readings(&self.simulator.report(), &counts, &self.costs)
    }

    /// Returns the expected number of live keys. A key is live if its last write is not a delete.
    fn live_keys(&self) -> f64 {
        let (adds, draws, deletes) = self.written;
        let distinct = |class: &KeyClass| {
            if class.keys.is_finite() {
                -class.keys * (draws * class.share * (-1.0 / class.keys.max(1.0)).ln_1p()).exp_m1()
            } else {
                0.0
            }
        };
        let share = if draws > 0.0 { deletes / draws } else { 0.0 };
        (adds - share * self.classes.iter().map(distinct).sum::<f64>()).max(0.0)
    }

    /// Simulates a phase of the workload. Does nothing for a phase that cannot be simulated.
    pub(crate) fn phase(&mut self, phase: &Phase) -> Outcome<()> {
        match &phase.work {
            Work::Load(load) => self.load(load, operations(phase)),
            Work::Mixed(mixed) => self.mixed(mixed, operations(phase)),
            Work::Step(StoreStep::Flush) => self.flush(),
            Work::Step(StoreStep::Compact) => {
                self.flush()?;
                self.simulator.compact_all().map_err(|error| Problem::new(error.to_string()))
            }
            Work::Roles(_) | Work::Replay(_) | Work::Step(_) => Ok(()),
        }
    }

    fn load(&mut self, load: &Load, keys: f64) -> Outcome<()> {
        let rates = PerOperation { adds: 1.0, ..PerOperation::default() };
        let in_order = self.is_ordered && load.order != Order::Random;
        let start = self.passed;
        let share = keys / self.all_keys.max(1.0);
        let end = start + share;
        self.passed = end;
        let within = move |done: f64, next: f64| match load.order {
            Order::Sequential if in_order => (start + done * share, start + next * share),
            Order::Reverse if in_order => (end - next * share, end - done * share),
            _ => (0.0, 1.0),
        };
        self.write(rates, keys, &within)
    }

    fn mixed(&mut self, mixed: &Mixed, operations: f64) -> Outcome<()> {
        let is_read_only = Kind::ALL.into_iter().all(|kind| !kind.writes() || mixed.mix.share(kind) <= 0.0);
        let parts = if is_read_only && self.observes_operations { READ_PARTS } else { 1 };
        for _ in 0..parts {
            self.mixed_part(mixed, operations / f64::from(parts))?;
            self.simulator.note_reads(self.counts.reads());
            self.simulator.pick_after_reads().map_err(|error| Problem::new(error.to_string()))?;
        }
        Ok(())
    }

    fn mixed_part(&mut self, mixed: &Mixed, operations: f64) -> Outcome<()> {
        let share = |kind| mixed.mix.share(kind);
        let members = f64::from(mixed.batch);
        let deletes = mixed.rate(Kind::Delete);
        let draws = mixed.rate(Kind::Put) + share(Kind::ReadModifyWrite) + deletes;
        let live_before = self.live_keys();
        let live = |keys: f64, all: f64| (keys / all.max(1.0)).min(1.0);
        let rates = PerOperation {
            adds: mixed.rate(Kind::Insert),
            draws,
            deletes: if draws > 0.0 { deletes / draws } else { 0.0 },
            gets: share(Kind::Get) + share(Kind::ReadModifyWrite) + share(Kind::MultiGet) * members,
            found: (1.0 - mixed.absent) * live(live_before, self.written.0),
            ranges: share(Kind::Range),
        };
        let before = self.lookup_costs(mixed);
        self.write(rates, operations, &|_, _| (0.0, 1.0))?;
        let after = self.lookup_costs(mixed);
        // Lookups are spread over the phase, so their cost is the mean of the costs at both ends of the phase.
        let mean = |one: f64, other: f64| f64::midpoint(one, other);
        let gets = operations * rates.gets;
        let live = live(mean(live_before, self.live_keys()), self.written.0);
        self.counts.gets += gets.round() as u64;
        self.counts.gets_found += (gets * (1.0 - mixed.absent) * live).round() as u64;
        self.counts.filter_probes += (gets * mean(before.probes, after.probes)).round() as u64;
        self.counts.blocks_searched += gets * mean(before.blocks, after.blocks);
        let ranges = operations * rates.ranges;
        if ranges > 0.0 {
            let lengths =
                LENGTHS.build(&mixed.range.length).map_err(|error| Problem::new(error.to_string()))?;
            let sources = mean(before.sources, after.sources);
            self.counts.ranges += ranges.round() as u64;
            self.counts.range_sources += (ranges * sources).round() as u64;
            let blocks = lengths.mean() / self.costs.entries_per_block.max(1.0);
            self.counts.range_blocks += ranges * (sources + blocks);
        }
        Ok(())
    }

    /// Simulates the writes of `operations` operations, and flushes the memtable whenever it is full. `rates` contains
    /// the mean number of writes per operation. `within(a, b)` returns the part of the key space with the keys that are
    /// added by the operations from the fraction `a` to the fraction `b` of all operations.
    fn write(
        &mut self,
        rates: PerOperation,
        operations: f64,
        within: &dyn Fn(f64, f64) -> (f64, f64),
    ) -> Outcome<()> {
        let (entry, tombstone) = (self.costs.entry_bytes, self.costs.tombstone_bytes);
        let writes_each = rates.adds + rates.draws;
        if writes_each <= 0.0 || operations <= 0.0 {
            return Ok(());
        }
        let draw_bytes = rates.deletes * tombstone + (1.0 - rates.deletes) * entry;
        let bytes_each = rates.adds * entry + rates.draws * draw_bytes;
        let (mut done, before) = (0.0, self.counts.reads());
        while done < operations {
            let room = ((self.capacity - self.pending_bytes.0) / bytes_each).ceil().max(1.0);
            let room = room.min(((self.most_writes - self.writes()) / writes_each).ceil().max(1.0));
            let step = room.min(operations - done);
            let part = within(done / operations, (done + step) / operations);
            self.add(rates, step, part);
            let user = bytes_each - writes_each * ENTRY_CHARGE_BYTES as f64;
            self.pending_bytes.0 += step * bytes_each;
            self.pending_bytes.1 += step * user;
            self.counts.user_bytes += (step * user).round() as u64;
            self.counts.puts += (step * (rates.adds + rates.draws * (1.0 - rates.deletes))).round() as u64;
            done += step;
            self.simulator.note_reads(rates.reads_after(done, before));
            // A difference of less than half a byte is a rounding error.
            if self.pending_bytes.0 + 0.5 >= self.capacity || self.writes() + 0.5 >= self.most_writes {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn writes(&self) -> f64 {
        self.pending.adds + self.pending.draws
    }

    /// Adds the writes of `operations` operations to the active memtable. `rates` contains the mean number of writes
    /// per operation. New keys are in the part `within` of the key space, given by its start and its end.
    fn add(&mut self, rates: PerOperation, operations: f64, within: (f64, f64)) {
        let pending = &mut self.pending;
        let (adds, draws) = (operations * rates.adds, operations * rates.draws);
        let deletes = pending.deletes * pending.draws + draws * rates.deletes;
        if adds > 0.0 {
            pending.within = match pending.adds > 0.0 {
                true => (pending.within.0.min(within.0), pending.within.1.max(within.1)),
                false => within,
            };
        }
        let (all_adds, all_draws, all_deletes) = &mut self.written;
        *all_adds += adds;
        *all_draws += draws;
        *all_deletes += draws * rates.deletes;
        pending.adds += adds;
        pending.draws += draws;
        pending.deletes = if pending.draws > 0.0 { deletes / pending.draws } else { 0.0 };
    }

    fn flush(&mut self) -> Outcome<()> {
        let writes = std::mem::replace(&mut self.pending, NO_WRITES);
        if writes.adds + writes.draws <= 0.0 {
            return Ok(());
        }
        let (_, user) = std::mem::take(&mut self.pending_bytes);
        self.simulator
            .flush_with(user.round() as u64, |contents, first| contents.flush(writes, first))
            .map_err(|error| Problem::new(error.to_string()))
    }

    /// Returns the expected cost of a lookup in the current sorted runs. Lookups in memtables are not included.
    fn lookup_costs(&self, mixed: &Mixed) -> LookupCosts {
        let shares = self.read_shares(mixed);
        let mut missed: Vec<f64> = shares.clone();
        let mut costs = LookupCosts::default();
        let (mut views, mut probes_present) = (Vec::new(), 0.0);
        for (_, run) in self.simulator.shape().levels.runs() {
            let ids: Vec<u64> = run.tables.iter().map(|table| table.id).collect();
            let entries = self.simulator.contents().entries_by_class(&ids);
            probes_present += missed.iter().sum::<f64>();
            let mut share = 0.0;
            for ((left, class), entries) in missed.iter_mut().zip(&self.classes).zip(entries) {
                let keys = if class.keys.is_finite() { class.keys } else { self.all_keys };
                let found = *left * (entries / keys.max(1.0)).min(1.0);
                share += found;
                *left -= found;
            }
            views.push(RunView { share, fpr: self.costs.fpr });
            costs.sources += 1.0;
        }
        let present = blocks_per_present_get(&views).unwrap_or(0.0);
        costs.blocks = mixed.absent * blocks_per_absent_get(&views) + (1.0 - mixed.absent) * present;
        costs.probes = mixed.absent * costs.sources + (1.0 - mixed.absent) * probes_present;
        costs
    }

    /// Returns, for each class of keys, the fraction of the reads that request a key of this class. A class is a set of
    /// keys that are written equally often.
    fn read_shares(&self, mixed: &Mixed) -> Vec<f64> {
        let choice = key_distribution(mixed).map(catalog::Choice::label);
        let all: f64 = self.classes.iter().map(|class| class.keys).sum();
        match (&self.distribution, choice) {
            (Some(distribution), Some(choice)) if *distribution == choice => {
                self.classes.iter().map(|class| class.share).collect()
            }
            _ if all.is_finite() => self.classes.iter().map(|class| class.keys / all).collect(),
            _ => vec![1.0; self.classes.len()],
        }
    }
}

/// The expected costs of a lookup: numbers of data blocks, filter probes and sorted runs.
#[derive(Clone, Copy, Default)]
struct LookupCosts {
    blocks: f64,
    probes: f64,
    sources: f64,
}

/// The content of an empty memtable: no writes.
const NO_WRITES: FlushedWrites = FlushedWrites { adds: 0.0, draws: 0.0, deletes: 0.0, within: (0.0, 1.0) };

/// Returns classes of keys that the workload writes equally often, and the key distribution from which they are
/// computed.
fn classes(workload: &Workload) -> Outcome<(Vec<KeyClass>, Option<String>)> {
    let keys = added_keys(workload);
    let mut of_writes: Option<&catalog::Choice> = None;
    for phase in &workload.phases {
        let Work::Mixed(mixed) = &phase.work else { continue };
        let draws = Kind::ALL
            .into_iter()
            .any(|kind| kind.writes() && ![Kind::Insert, Kind::Batch].contains(&kind) && mixed.has(kind));
        let Some(distribution) = key_distribution(mixed).filter(|_| draws) else { continue };
        if of_writes.is_some_and(|other| other != distribution) {
            return Err(Problem::new(format!(
                "phase \"{}\" writes keys from another distribution than an earlier phase; the simulation \
                 of expected values supports only one distribution",
                phase.name
            )));
        }
        of_writes = Some(distribution);
    }
    let Some(distribution) = of_writes else {
        return Ok((vec![KeyClass { keys: f64::INFINITY, share: 1.0 }], None));
    };
    let built = KEYS.build(distribution).map_err(|error| Problem::new(error.to_string()))?;
    let ranks = ranks(keys as u64);
    let Some(shares) = built.shares(keys as u64, &ranks) else {
        let even = KeyClass { keys, share: 1.0 };
        return Ok((vec![even], Some(distribution.label())));
    };
    let (mut last, mut sum, mut classes) = (0, 0.0, Vec::new());
    for (rank, share) in ranks.into_iter().zip(shares) {
        classes.push(KeyClass { keys: (rank - last) as f64, share: (share - sum).max(0.0) });
        (last, sum) = (rank, share.max(sum));
    }
    let is_even = classes.iter().all(|class| (class.share * keys / class.keys - 1.0).abs() < 1e-6);
    let even = || vec![KeyClass { keys, share: 1.0 }];
    Ok((if is_even { even() } else { classes }, Some(distribution.label())))
}

/// Returns the last rank of each class of keys. The most frequently written key has rank 1.
fn ranks(keys: u64) -> Vec<u64> {
    let mut last = HEAD.min(keys);
    let mut ranks = vec![last];
    while last < keys {
        last = (last * 2).min(keys);
        ranks.push(last);
    }
    ranks
}
