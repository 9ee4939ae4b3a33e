//! The estimated cost of a trial: bytes on storage, bytes of memory, and seconds.

use std::path::Path;

use catalog::Limit;
use results::RunMode;
use subject::Cost;
use tree::Design;
use types::quantity::{format_bytes, parse_bytes};
use workload::{Kind, Mixed, PhasePlan, Rate, Role, StoreStep, Work, WorkloadPlan};

use super::cell::Cell;

/// The assumed largest size of a store, as a multiple of the size of its SSTables. During a compaction of the whole
/// tree, the store contains the input and the output of the compaction, and also the WAL.
const MERGE_FACTOR: f64 = 2.5;

/// The assumed maximum number of versions of a key on storage, if the compaction policy has no size ratio.
const MOST_VERSIONS: f64 = 10.0;

/// The assumed overhead of an entry in an SSTable, in bytes.
const ENTRY_OVERHEAD_BYTES: f64 = 8.0;

/// The assumed number of memtables in memory: the active memtable, and two memtables that are being flushed.
const MEMTABLES: f64 = 3.0;

/// The assumed bits per key of a filter that has no parameter `bits_per_key`.
const MOST_FILTER_BITS: f64 = 32.0;

/// The assumed memory for checking answers, in bytes per key. lsmbench remembers the expected value of each key.
const MODEL_BYTES: f64 = 8.0;

/// The assumed additional memory for checking scans, in bytes per key. lsmbench needs this memory to sort the keys if
/// the key format does not order keys by their numbers.
const SORTING_BYTES: f64 = 50.0;

/// The assumed number of operations per second, by kind of operation.
const ASSUMED_RATES: [(Kind, f64); Kind::ALL.len()] = [
    (Kind::Get, 500e3),
    (Kind::Put, 400e3),
    (Kind::Insert, 400e3),
    (Kind::Delete, 400e3),
    (Kind::Range, 50e3),
    (Kind::ReadModifyWrite, 250e3),
    (Kind::Batch, 10e3),
    (Kind::MultiGet, 10e3),
    (Kind::DeleteRange, 200e3),
    (Kind::First, 200e3),
    (Kind::Last, 200e3),
    (Kind::Merge, 400e3),
    (Kind::PutIfAbsent, 250e3),
    (Kind::Prefix, 50e3),
    (Kind::SingleDelete, 400e3),
];

/// The estimated cost of one trial of one configuration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Estimate {
    /// The largest number of bytes on storage during the trial.
    pub storage_bytes: f64,
    /// The largest number of bytes of memory for memtables, the block cache, and the expected values of all keys.
    pub memory_bytes: f64,
    /// The estimated duration of each phase, in seconds.
    pub phase_seconds: Vec<f64>,
    /// The estimated number of keys in the store before each phase of a workload.
    pub phase_keys: Vec<f64>,
}

/// The estimated work of a phase: added keys, written entries, and duration in seconds.
#[derive(Clone, Copy, Debug, Default)]
struct PhaseWork {
    /// The number of keys that the phase adds to the store.
    added: f64,
    /// The number of entries that the phase writes, including new versions of existing keys.
    written: f64,
    seconds: f64,
}

impl Estimate {
    /// Returns the estimated cost of a trial of a component experiment.
    pub(crate) fn of_component(cell: &Cell, cost: Cost) -> Self {
        let Cost { memory_bytes, storage_bytes, phase_seconds } = cost;
        Self { storage_bytes, memory_bytes, phase_seconds, phase_keys: Vec::new() }.stored_by(&cell.design)
    }

    /// Returns the estimated cost of a trial with a planned workload. In counted mode, the rates of phases have no
    /// effect.
    pub fn of(cell: &Cell, plan: &WorkloadPlan, mode: RunMode) -> Self {
        let (mut keys, mut written_bytes, mut largest_entry) = (0.0, 0.0, 0.0);
        let mut estimate = Self::default();
        for phase in plan.phases() {
            let rate = if mode == RunMode::Timed { phase.phase().rate } else { Rate::Closed };
            let work = PhaseWork::of(phase, rate).times(match rate {
                Rate::Sustained(search) => f64::from(search.most_probes()),
                Rate::Closed | Rate::Open { .. } => 1.0,
            });
            let entry = plan.format().max_bytes() as f64 + phase.values().mean_bytes() + ENTRY_OVERHEAD_BYTES;
            estimate.phase_keys.push(keys);
            keys += work.added;
            written_bytes += work.written * entry;
            largest_entry = f64::max(largest_entry, entry);
            estimate.phase_seconds.push(work.seconds);
        }
        let memtables = memtable_bytes(&cell.design, written_bytes);
        let kept = written_bytes.min(keys * largest_entry * versions(&cell.design) + memtables);
        let kept = capacity(&cell.design, "compaction").map_or(kept, |most| kept.min(most + memtables));
        estimate.storage_bytes = kept * MERGE_FACTOR;
        let sorting = if plan.format().ordered() { 0.0 } else { SORTING_BYTES };
        let filters = filter_bytes(&cell.design, kept, kept / largest_entry.max(1.0));
        let cache = capacity(&cell.design, "cache").unwrap_or(0.0);
        estimate.memory_bytes = memtables + filters + cache + keys * (MODEL_BYTES + sorting);
        estimate.stored_by(&cell.design)
    }

    /// If the design keeps its files in memory, moves the storage bytes of the estimate to its memory bytes.
    fn stored_by(mut self, design: &Design) -> Self {
        if in_memory(design) {
            self.memory_bytes += std::mem::take(&mut self.storage_bytes);
        }
        self
    }

    /// Returns the estimated cost of a trial that starts from a copied store, so that it skips the first `phases`
    /// phases. The durations of these phases become 0.
    pub(super) fn without_phases(mut self, phases: usize) -> Self {
        self.phase_seconds.iter_mut().take(phases).for_each(|seconds| *seconds = 0.0);
        self
    }

    /// Returns the estimated duration of all phases together, in seconds.
    pub fn seconds(&self) -> f64 {
        self.phase_seconds.iter().sum()
    }

    /// Returns an error sentence if a trial needs more space than the file system of `folder` has, or more memory than
    /// the machine has.
    pub fn check(&self, cell: &Cell, folder: &Path) -> Result<(), String> {
        let name = format!("configuration {} ({})", cell.number, cell.label);
        match measure::probe::free_bytes(folder) {
            Some(free) if self.storage_bytes > free as f64 => {
                let (needed, free, folder) =
                    (rounded(self.storage_bytes), rounded(free as f64), folder.display());
                return Err(format!(
                    "{name} may need {needed} of storage, but the disk of {folder} has {free} free; insert fewer \
                     keys, or set `--out` to another disk"
                ));
            }
            _ => {}
        }
        match measure::probe::available_memory_bytes() {
            Some(available) if self.memory_bytes > available as f64 => {
                let (needed, available) = (rounded(self.memory_bytes), rounded(available as f64));
                Err(format!(
                    "{name} may need {needed} of memory, but {available} are available; insert fewer keys, or \
                     lower the capacities"
                ))
            }
            _ => Ok(()),
        }
    }
}

impl PhaseWork {
    /// Estimates the keys and the time of a phase. In a phase without roles, operations start at the rate `rate`. In a
    /// phase with roles, each role has its own rate.
    fn of(phase: &PhasePlan, rate: Rate) -> Self {
        match &phase.phase().work {
            Work::Load(load) => {
                let (puts, batch) =
                    (phase.operations().unwrap_or(0) as f64, f64::from(load.batch.unwrap_or(1)));
                let keys = puts * batch;
                let seconds = puts * seconds_at(rate, batch * seconds_of(Kind::Insert));
                Self { added: keys, written: keys, seconds }
            }
            Work::Mixed(mixed) => Self::of_mix(mixed, phase.operations(), rate),
            Work::Roles(roles) => Self::of_roles(roles),
            Work::Step(StoreStep::Sleep(ns)) => Self { seconds: *ns as f64 / 1e9, ..Self::default() },
            Work::Replay(_) | Work::Step(_) => Self::default(),
        }
    }

    /// Returns the work of `often` executions of this phase.
    fn times(self, often: f64) -> Self {
        Self { added: self.added * often, written: self.written * often, seconds: self.seconds * often }
    }

    /// Returns the total work of the roles of a phase, which run at the same time. The foreground roles determine the
    /// duration. A background role runs until the last foreground role ends.
    fn of_roles(roles: &[Role]) -> Self {
        let with_end = roles.iter().filter(|role| !role.is_background());
        let ends = with_end.map(|role| Self::of_mix(&role.mixed, role.mixed.operations, role.rate).seconds);
        let seconds = ends.fold(0.0, f64::max);
        let mut together = Self { seconds, ..Self::default() };
        for role in roles {
            let mut mixed = role.mixed.clone();
            if role.is_background() {
                mixed.time_limit_ns = Some((seconds * 1e9) as u64);
            }
            let work = Self::of_mix(&mixed, mixed.operations, role.rate);
            together.added += work.added;
            together.written += work.written;
        }
        together
    }

    /// Returns the work of an operation mix whose operations start at the rate `rate`. `operations` is `None` if a time
    /// limit ends the mix.
    fn of_mix(mixed: &Mixed, operations: Option<u64>, rate: Rate) -> Self {
        let share = |kind: Kind| mixed.mix.share(kind);
        let busy_seconds: f64 = Kind::ALL.into_iter().map(|kind| share(kind) * seconds_of(kind)).sum();
        let limit = mixed.time_limit_ns.map_or(f64::INFINITY, |ns| ns as f64 / 1e9);
        // Before the time limit, an open loop starts at most as many operations as its rate allows.
        let most = match rate {
            Rate::Open { per_second } => per_second * limit,
            Rate::Closed | Rate::Sustained(_) => f64::INFINITY,
        };
        let operations = operations.map_or(limit / busy_seconds, |operations| operations as f64).min(most);
        let seconds = (operations * seconds_at(rate, busy_seconds)).min(limit);
        let entries = |kind: Kind| if kind == Kind::Batch { f64::from(mixed.batch) } else { 1.0 };
        let written: f64 =
            Kind::ALL.into_iter().filter(|kind| kind.writes()).map(|kind| share(kind) * entries(kind)).sum();
        Self { added: operations * mixed.rate(Kind::Insert), written: operations * written, seconds }
    }
}

/// Returns the time from the start of an operation to the start of the next operation, in seconds. An operation keeps
/// the store busy for `busy_seconds`. In an open loop, the next operation starts when it is due, or later when the
/// store is free again.
fn seconds_at(rate: Rate, busy_seconds: f64) -> f64 {
    match rate {
        Rate::Open { per_second } => busy_seconds.max(1.0 / per_second),
        Rate::Closed | Rate::Sustained(_) => busy_seconds,
    }
}

fn seconds_of(kind: Kind) -> f64 {
    ASSUMED_RATES.iter().find(|(known, _)| *known == kind).map_or(1e-5, |(_, rate)| 1.0 / rate)
}

/// Returns the largest number of versions of one key that storage contains at the same time. Without compaction,
/// storage keeps all versions. With compaction, the estimate is the size ratio of the policy.
fn versions(design: &Design) -> f64 {
    let policy = design.choice("compaction");
    match (policy.kind(), policy.params().get("size_ratio").and_then(toml::Value::as_float)) {
        ("none", _) => f64::INFINITY,
        // A policy with a capacity keeps all versions until its capacity is reached.
        _ if capacity(design, "compaction").is_some() => f64::INFINITY,
        (_, ratio) => ratio.unwrap_or(MOST_VERSIONS).max(2.0),
    }
}

/// Returns the largest total size of all memtables in bytes. The size includes the immutable memtables that accumulate
/// until writers stall. These accumulated memtables contain at most `written_bytes` bytes.
fn memtable_bytes(design: &Design, written_bytes: f64) -> f64 {
    let capacity = design.memtable_capacity.0 as f64;
    let piled_up = (design.options.stall.frozen_memtables as f64 + 1.0 - MEMTABLES).max(0.0);
    capacity * MEMTABLES + (capacity * piled_up).min(written_bytes)
}

/// Returns the estimated size of all filters in bytes. The parameter `initial_keys` reserves memory for this number of
/// keys in each filter.
fn filter_bytes(design: &Design, stored_bytes: f64, entries: f64) -> f64 {
    let choice = design.choice("bloom");
    if choice.kind() == "none" {
        return 0.0;
    }
    let number = |key| {
        let value = choice.params().get(key)?;
        value.as_float().or_else(|| value.as_integer().map(|number| number as f64))
    };
    let tables = (stored_bytes / design.options.table.capacity.0 as f64).ceil() + MEMTABLES;
    let begun = number("initial_keys").unwrap_or(0.0) * tables;
    (entries + begun) * number("bits_per_key").unwrap_or(MOST_FILTER_BITS) / 8.0
}

/// Returns the parameter `capacity` of the variant on the axis `axis`, in bytes. Returns `None` if the variant has no
/// such parameter.
fn capacity(design: &Design, axis: &str) -> Option<f64> {
    let capacity = design.choice(axis).params().get("capacity")?.as_str()?;
    parse_bytes(capacity).ok().map(|bytes| bytes as f64)
}

/// Returns whether a tree with this design loses all its files when its process ends.
pub fn in_memory(design: &Design) -> bool {
    let is_gone = |(axis, _, limit): &(&str, _, Limit)| *axis == "storage" && *limit == Limit::NotDurable;
    design.limits().iter().any(is_gone)
}

/// Formats a size with two or three digits.
fn rounded(bytes: f64) -> String {
    let unit = [1u64 << 40, 1 << 30, 1 << 20, 1 << 10]
        .into_iter()
        .find(|unit| bytes >= *unit as f64 * 10.0)
        .unwrap_or(1);
    format_bytes(((bytes / unit as f64).round() as u64).saturating_mul(unit))
}

#[cfg(test)]
mod tests {
    use workload::Workload;

    use super::*;
    use subject::Task;

    fn estimate(design: &str, workload: &str) -> Estimate {
        estimate_in(RunMode::Timed, design, workload)
    }

    fn estimate_in(mode: RunMode, design: &str, workload: &str) -> Estimate {
        let workload = Workload::from_toml(&workload.parse().unwrap()).unwrap();
        let design = Design::default().with(&design.parse().unwrap()).unwrap();
        let plan = WorkloadPlan::new(&workload, 1, Path::new("")).unwrap();
        let task = Task::Workload(workload);
        let engine = super::super::engine::default_engine();
        Estimate::of(
            &Cell { number: 0, label: String::new(), swept: Vec::new(), engine, design, task },
            &plan,
            mode,
        )
    }

    #[test]
    fn overwriting_takes_space_only_where_nothing_is_merged() {
        let load = "[[phase]]\nname = \"load\"\ninsert = 1_000_000\n";
        let overwrite =
            format!("{load}[[phase]]\nname = \"over\"\noperations = 1_000_000_000\nmix = \"put\"\n");
        let merged = estimate("", &overwrite).storage_bytes;
        let kept = estimate("compaction = \"none\"", &overwrite).storage_bytes;
        assert!(merged < 5e9 && kept > 2e11, "{merged} {kept}");
        let dropped = estimate("compaction = \"fifo\"", &overwrite).storage_bytes;
        assert!((2.6e9..4e9).contains(&dropped), "{dropped}");
        let once = estimate("", load);
        assert!((2e8..4e8).contains(&once.storage_bytes), "{once:?}");
        for storage in ["memory", "simulated"] {
            let in_memory = estimate(&format!("storage = \"{storage}\""), load);
            assert!(in_memory.storage_bytes < 1.0 && in_memory.memory_bytes > once.memory_bytes + 2e8);
        }
        assert!((once.seconds() - 2.5).abs() < 0.1, "{once:?}");
    }

    #[test]
    fn what_piles_up_and_what_filters_begin_with_counts() {
        let load = "[[phase]]\nname = \"load\"\ninsert = 1_000_000\n";
        let memory = |design: &str| estimate(design, load).memory_bytes;
        let usual = memory("");
        let piled_up = memory("stall = { frozen_memtables = 1_000_000_000 }");
        assert!(
            (usual + 5e7..usual + 3e8).contains(&piled_up),
            "what is written is the most: {usual} {piled_up}"
        );
        let begun = memory(
            "bloom = { kind = \"dynamic\", initial_keys = 16_000_000 }\ntable = { capacity = \"64KiB\" }",
        );
        assert!(begun > 1e10, "each of thousands of tables begins with as much: {begun}");
        assert!(memory("bloom = \"none\"") < usual);
    }

    #[test]
    fn a_phase_that_ends_after_a_time_takes_that_time() {
        let timed = "[[phase]]\nname = \"load\"\ninsert = 1000\n[[phase]]\nname = \"puts\"\nseconds = \"30s\"\n\
                     mix = \"put\"\n";
        let estimate = estimate("compaction = \"none\"", timed);
        assert!((estimate.phase_seconds[1] - 30.0).abs() < 1e-9);
        assert!(estimate.storage_bytes > 1e9, "{estimate:?}");
    }

    /// Tests that an open loop starts `rate` × `seconds` operations, and that a phase with a number of operations takes
    /// at least as long as its rate requires.
    #[test]
    fn the_rate_of_an_open_loop_bounds_operations_and_time() {
        let load = "[[phase]]\nname = \"load\"\ninsert = 1000\n";
        let in_mode = |mode: RunMode, phase: &str| {
            let workload = format!("{load}[[phase]]\nname = \"puts\"\n{phase}");
            let found = estimate_in(mode, "compaction = \"none\"", &workload);
            (found.phase_seconds[1], found.storage_bytes)
        };
        let of = |phase: &str| in_mode(RunMode::Timed, phase);
        let is_near = |one: f64, other: f64| (one / other - 1.0).abs() < 1e-6;
        // 50,000 puts per second for 480 seconds are as many as 24 million puts, and not 400,000 per second.
        let (seconds, bytes) = of("mix = \"put\"\nseconds = \"480s\"\nrate = 50_000\n");
        let (_, counted) = of("mix = \"put\"\noperations = 24_000_000\n");
        assert!(is_near(seconds, 480.0) && is_near(bytes, counted), "{seconds} {bytes} {counted}");
        let (_, closed) = of("mix = \"put\"\nseconds = \"480s\"\n");
        assert!(closed > 7.0 * bytes, "{closed} {bytes}");
        // The store cannot keep up with this rate, so the estimate is that of a closed loop.
        let (seconds, hopeless) = of("mix = \"put\"\nseconds = \"480s\"\nrate = 500_000_000\n");
        assert!(is_near(seconds, 480.0) && is_near(hopeless, closed), "{seconds} {hopeless} {closed}");
        // The phase ends at the time limit, before it has started all operations.
        let both = "mix = \"put\"\noperations = 1_000_000_000\nseconds = \"480s\"\nrate = 50_000\n";
        assert!(is_near(of(both).1, counted), "{:?} {counted}", of(both));
        let slow = "mix = \"put\"\noperations = 10_000\nrate = 100\n";
        assert!(is_near(of(slow).0, 100.0), "{:?}", of(slow));
        let fast = "mix = \"put\"\noperations = 400_000\nrate = 50_000_000\n";
        assert!(is_near(of(fast).0, 1.0), "{:?}", of(fast));
        assert!(is_near(of("insert = 10_000\nrate = 100\n").0, 100.0));
        // 10 batches of 1000 keys.
        assert!(is_near(of("insert = 10_000\nbatch = 1000\nrate = 1\n").0, 10.0));
        let (seconds, _) = in_mode(RunMode::Counted, slow);
        assert!(is_near(seconds, 10_000.0 / 400e3), "counted mode ignores the rate: {seconds}");
    }

    #[test]
    fn each_role_has_its_own_rate() {
        let load = "[[phase]]\nname = \"load\"\ninsert = 1000\n";
        let roles = |writer: &str, reader: &str| {
            let role = |name: &str, text: &str| format!("[[phase.role]]\nname = \"{name}\"\n{text}");
            let (writer, reader) = (role("writer", writer), role("reader", reader));
            let workload = format!("{load}[[phase]]\nname = \"both\"\n{writer}{reader}");
            let found = estimate("compaction = \"none\"", &workload);
            (found.phase_seconds[1], found.storage_bytes)
        };
        let counted = format!("{load}[[phase]]\nname = \"puts\"\nmix = \"put\"\noperations = 1_000_000\n");
        let counted = estimate("compaction = \"none\"", &counted).storage_bytes;
        let puts = "mix = \"put\"\nrate = 10_000\n";
        // The reader takes 100 seconds because of its rate, and the writer runs until the reader ends.
        let (seconds, bytes) = roles(puts, "mix = \"get\"\noperations = 1000\nrate = 10\n");
        assert!((seconds - 100.0).abs() < 1e-6, "{seconds}");
        assert!((bytes / counted - 1.0).abs() < 1e-3, "{bytes} {counted}");
        let limited = format!("{puts}seconds = \"100s\"\n");
        let (seconds, bytes) = roles(&limited, "mix = \"get\"\n");
        assert!((seconds - 100.0).abs() < 1e-6, "{seconds}");
        assert!((bytes / counted - 1.0).abs() < 1e-3, "{bytes} {counted}");
    }

    #[test]
    fn a_huge_plan_is_refused() {
        let huge =
            "key = { format = \"u64\", bytes = 16 }\n[[phase]]\nname = \"load\"\ninsert = 4_000_000_000\n";
        let task = Task::from_toml(&huge.parse().unwrap()).unwrap();
        let design = Design::default().with(&"memtable.capacity = \"1MiB\"".parse().unwrap()).unwrap();
        let engine = super::super::engine::default_engine();
        let cell = Cell { number: 7, label: "x".to_owned(), swept: Vec::new(), engine, design, task };
        let estimate = Estimate { storage_bytes: 1e18, ..Estimate::default() };
        let message = estimate.check(&cell, Path::new("/")).unwrap_err();
        assert!(
            message.contains("configuration 7 (x) may need") && message.contains("of storage"),
            "{message}"
        );
        let estimate = Estimate { memory_bytes: 1e18, ..Estimate::default() };
        assert!(estimate.check(&cell, Path::new("/")).unwrap_err().contains("of memory"));
        let estimate = Estimate { memory_bytes: 1e300, ..Estimate::default() };
        assert!(estimate.check(&cell, Path::new("/")).unwrap_err().contains("of memory"));
    }
}
