//! Measures the costs of entries on sample SSTables of a design: file bytes, filter bytes and device time.

use std::path::Path;
use std::sync::Arc;

use catalog::ByteSize;
use compaction::{LevelReport, Written};
use toml::{Table, Value};
use tree::{Design, Mode, OpenOptions, Stats, Tree};
use types::{ENTRY_CHARGE_BYTES, Outcome, Problem};
use workload::{Batch, Extent, Kind, PhasePlan, WorkloadPlan};

/// The numbers of entries in the two sample SSTables from which the simulation measures its costs.
const SAMPLES: [usize; 2] = [2_000, 14_000];

/// The number of gets with which the device time of a block read is measured.
const GETS: usize = 500;

/// The costs of SSTables in file bytes, memory and device time. Each cost is a sum of a part per SSTable and a part per
/// charged byte.
///
/// The charged bytes of an SSTable are its keys, its values and a fixed overhead per entry
/// ([`TableShape::bytes`](compaction::TableShape::bytes)). The simulation measures both parts on two sample SSTables of
/// the design, which are on a simulated device.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Costs {
    /// The size of an SSTable file, in bytes.
    pub file_bytes: Linear,
    /// The size of a filter, in bytes.
    pub filter_bytes: Linear,
    /// The size of fence pointers, in bytes.
    pub fence_bytes: Linear,
    /// The device time to write SSTables, in nanoseconds.
    pub write_ns: Linear,
    /// The device time to read SSTables in a compaction, in nanoseconds.
    pub read_ns: Linear,
    /// The false-positive rate of a filter of the design.
    pub fpr: f64,
    /// The device time to read one data block, in nanoseconds.
    pub block_read_ns: f64,
    /// The number of entries in a data block.
    pub entries_per_block: f64,
    /// The number of charged bytes of a put: its key and value bytes, and the fixed overhead that the memtable counts
    /// per entry.
    pub entry_bytes: f64,
    /// The number of charged bytes of a tombstone: its key bytes, and the fixed overhead that the memtable counts per
    /// entry.
    pub tombstone_bytes: f64,
}

/// A linear cost of SSTables: a constant per SSTable, plus a factor per charged byte (key and value bytes, and a fixed
/// overhead per entry).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Linear {
    /// The constant cost of each SSTable, even without entries.
    pub per_table: f64,
    /// The cost per charged byte of an SSTable: per byte of its keys and values, and of a fixed overhead per entry.
    pub per_byte: f64,
}

impl Linear {
    /// Fits a linear cost to two samples. Each sample is a pair of charged bytes and a cost.
    fn through([(few, low), (many, high)]: [(f64, f64); 2]) -> Self {
        let per_byte = if many > few { (high - low) / (many - few) } else { 0.0 };
        let per_table = (low - per_byte * few).max(0.0);
        Self { per_table, per_byte: per_byte.max(0.0) }
    }

    /// Returns the cost of `tables` SSTables. `bytes` is the total number of their charged bytes: keys, values and a
    /// fixed overhead per entry.
    pub fn of(self, tables: u64, bytes: u64) -> f64 {
        self.per_table * tables as f64 + self.per_byte * bytes as f64
    }
}

impl Costs {
    /// Measures the costs of SSTables on two samples, which contain entries of the workload `plan`. The samples are on
    /// the storage `simulated` with the device class `device`.
    ///
    /// # Errors
    /// The plan has no writes, or the device or the design cannot be built.
    pub fn sample(design: &Design, plan: &WorkloadPlan, device: &str) -> Outcome<Self> {
        let entries = entries(plan);
        if entries.is_empty() {
            return Err(Problem::new("the workload writes no entries; begin with a phase with insert = …"));
        }
        let design = sampled(design)?;
        let storage = storage::CATALOG.choose(&Value::from(format!("simulated(device={device})")));
        let storage = storage.and_then(|choice| storage::CATALOG.build(&choice));
        let storage = storage.map_err(|error| Problem::new(format!("--device {device}: {error}")))?;
        let wrong = |error: tree::Error| {
            Problem::new(format!(
                "cannot build the sample SSTables on which the simulation measures its costs: {error}"
            ))
        };
        let options = OpenOptions::new(design).mode(Mode::Counted).identity(0).storage(Arc::from(storage));
        let tree = options.open(Path::new("sample")).map_err(wrong)?;
        Self::measure(&tree, &entries).map_err(wrong)
    }

    fn measure(tree: &Tree, entries: &[(Vec<u8>, Vec<u8>)]) -> tree::Result<Self> {
        let charged = |entries: &[(Vec<u8>, Vec<u8>)]| -> f64 {
            entries.iter().map(|(key, value)| key.len() + value.len()).sum::<usize>() as f64
                + entries.len() as f64 * ENTRY_CHARGE_BYTES as f64
        };
        let cut = (entries.len() * SAMPLES[0] / (SAMPLES[0] + SAMPLES[1])).clamp(1, entries.len());
        let parts = [&entries[..cut], &entries[cut..]];
        let mut seen = vec![tree.stats()];
        for part in parts.iter().filter(|part| !part.is_empty()) {
            part.iter().try_for_each(|(key, value)| tree.put(key, value))?;
            tree.flush()?;
            seen.push(tree.stats());
        }
        let line = |cost: fn(&Stats) -> u64| {
            let costs: Vec<f64> =
                seen.windows(2).map(|pair| (cost(&pair[1]) - cost(&pair[0])) as f64).collect();
            match costs[..] {
                [one] => Linear { per_table: 0.0, per_byte: one / charged(parts[0]) },
                _ => Linear::through([(charged(parts[0]), costs[0]), (charged(parts[1]), costs[1])]),
            }
        };
        let mut costs = Self {
            file_bytes: line(|stats| stats.counts.flush_bytes),
            filter_bytes: line(|stats| stats.filter_bytes),
            fence_bytes: line(|stats| stats.fence_bytes),
            write_ns: line(|stats| stats.device.map_or(0, |device| device.write_ns)),
            ..Self::default()
        };
        let stats = tree.stats();
        costs.fpr = stats.expected_fpr.unwrap_or(1.0);
        let blocks: u64 = stats.levels.iter().map(|level| level.blocks).sum();
        costs.entries_per_block = entries.len() as f64 / blocks.max(1) as f64;
        costs.entry_bytes = charged(entries) / entries.len() as f64;
        let keys: usize = entries.iter().map(|(key, _)| key.len()).sum();
        costs.tombstone_bytes = keys as f64 / entries.len() as f64 + ENTRY_CHARGE_BYTES as f64;
        costs.block_read_ns = block_read_ns(tree, entries)?;
        let before = device_read_ns(&tree.stats());
        tree.compact()?;
        let read = device_read_ns(&tree.stats()) - before;
        costs.read_ns = Linear { per_table: 0.0, per_byte: read as f64 / charged(entries) };
        Ok(costs)
    }

    /// Returns the total file size of `tables` SSTables, in bytes. `bytes` is the total number of their charged bytes:
    /// keys, values and a fixed overhead per entry.
    pub fn file_bytes_of(&self, tables: u64, bytes: u64) -> u64 {
        self.file_bytes.of(tables, bytes).round() as u64
    }

    /// Returns the total file size of the SSTables of a level, in bytes.
    pub fn file_bytes_of_level(&self, level: &LevelReport) -> u64 {
        self.file_bytes_of(level.tables as u64, level.bytes)
    }

    /// Returns the device time to write SSTables, in nanoseconds. `bytes` is the total number of their charged bytes:
    /// keys, values and a fixed overhead per entry.
    pub fn write_ns_of(&self, written: Written, bytes: u64) -> f64 {
        self.write_ns.of(written.tables, bytes)
    }
}

fn device_read_ns(stats: &Stats) -> u64 {
    stats.device.map_or(0, |device| device.read_ns)
}

/// Measures the mean device time to read one data block, in nanoseconds, with gets of keys that exist.
fn block_read_ns(tree: &Tree, entries: &[(Vec<u8>, Vec<u8>)]) -> tree::Result<f64> {
    let before = tree.stats();
    for (key, _) in entries.iter().step_by((entries.len() / GETS).max(1)) {
        tree.get(key)?;
    }
    let after = tree.stats();
    let blocks = after.counts.data_blocks_read - before.counts.data_blocks_read;
    Ok((device_read_ns(&after) - device_read_ns(&before)) as f64 / blocks.max(1) as f64)
}

/// Returns a copy of the design for the sample SSTables. The copy writes one SSTable per flush. It has no WAL, no cache
/// and no compaction, because the samples do not measure these components.
fn sampled(design: &Design) -> Outcome<Design> {
    let mut changes = Table::new();
    for (axis, choice) in [("compaction", "none"), ("wal", "none"), ("cache", "none"), ("storage", "memory")]
    {
        changes.insert(axis.to_owned(), Value::from(choice));
    }
    let mut base = design.clone();
    base.options.memory = None;
    base.memtable_entries = None;
    let mut design = base.with(&changes).map_err(|error| {
        Problem::new(format!(
            "cannot build the sample SSTables on which the simulation measures its costs: {error}"
        ))
    })?;
    design.memtable_capacity = ByteSize(1 << 40);
    design.memtable_filter = None;
    design.options.table.capacity = ByteSize(1 << 40);
    Ok(design)
}

/// Returns the entries for the sample SSTables: the first entries that the plan writes, without duplicate keys and in
/// key order.
fn entries(plan: &WorkloadPlan) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut entries = std::collections::BTreeMap::new();
    let most = SAMPLES.iter().sum();
    let mut extent = Extent::default();
    for phase in plan.phases().iter().filter(|phase| phase.replay().is_none() && phase.step().is_none()) {
        if entries.len() >= most {
            break;
        }
        extent = collect(phase, extent, most, &mut entries);
    }
    entries.into_iter().collect()
}

/// Adds the entries that a phase writes to `entries`. Returns the numbers of keys and versions that exist after the
/// phase.
fn collect(
    phase: &Arc<PhasePlan>,
    extent: Extent,
    most: usize,
    entries: &mut std::collections::BTreeMap<Vec<u8>, Vec<u8>>,
) -> Extent {
    let (mut batch, mut after) = (Batch::default(), extent);
    for mut stream in phase.streams(extent) {
        while entries.len() < most && stream.fill(&mut batch, Batch::OPERATIONS) > 0 {
            for (at, operation) in batch.operations().iter().enumerate() {
                if matches!(operation.kind, Kind::Put | Kind::Insert | Kind::ReadModifyWrite) {
                    entries.insert(batch.key(at).to_vec(), batch.value(at).to_vec());
                }
            }
        }
        after = after.join(stream.extent());
    }
    after
}
