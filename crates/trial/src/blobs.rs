//! Computes the expected bytes of blob files: in a load of distinct keys, and while keys are overwritten at random.

use engines::EngineStats;
use results::{Measurements, columns as c, counters as n};
use theory::{Overwrites, collection, flushes_per_merge, separated_growth, separated_write_amp};
use tree::values::{CATALOG, ValuePolicy, Writing};
use tree::{BLOB_FOOTER_BYTES, Design, blob_record_bytes};
use types::ENTRY_CHARGE_BYTES;
use workload::{Phase, SIZES};

use super::measured::Measured;

/// The maximum number of levels of a tree. A design may move values to blob files only in compactions of some levels,
/// so every level is checked.
const MOST_LEVELS: usize = 64;

/// Where the values of a phase are stored, and how large they are, in a design with blob files. All values of the phase
/// have the same size.
pub(super) struct Separation<'a> {
    design: &'a Design,
    policy: Box<dyn ValuePolicy>,
    /// Whether flushes write the values to blob files. Otherwise, the values stay in SSTables.
    is_apart: bool,
    /// The size of a record in a blob file: a key, its value and the overhead of the record.
    record_bytes: f64,
    /// The number of values that the flush of a full memtable writes to blob files.
    per_flush: f64,
}

impl<'a> Separation<'a> {
    /// Returns how the design stores the values of a phase whose puts have `user_bytes` bytes of key and value on
    /// average. Returns `None` if the sizes of values differ, or if compactions move the values from SSTables to blob
    /// files.
    pub(super) fn of(design: &'a Design, phase: &Phase, user_bytes: f64) -> Option<Self> {
        let policy = CATALOG.build(design.choice("values")).ok()?;
        let size = Some(&phase.value.size).filter(|size| size.kind() == SIZES.baseline().kind())?;
        let value_bytes = u64::from(SIZES.build(size).ok()?.max());
        let leaves = |writing| policy.separates_from(writing).is_some_and(|least| value_bytes >= least);
        let is_apart = leaves(Writing::Flush);
        if !is_apart && (0..MOST_LEVELS).any(|level| leaves(Writing::Compaction { level })) {
            return None;
        }
        let record_bytes = user_bytes + blob_record_bytes(0, 0) as f64;
        let capacity = design.memtable_capacity.0 as f64;
        let per_flush = (capacity / (user_bytes + ENTRY_CHARGE_BYTES as f64)).ceil();
        let per_flush = design.memtable_entries.map_or(per_flush, |most| per_flush.min(most as f64));
        Some(Self { design, policy, is_apart, record_bytes, per_flush })
    }

    /// Computes the theoretical values of a phase that only adds keys to an empty store, such as its write
    /// amplification. Returns `None` if no formula exists for the compaction policy.
    pub(super) fn of_load(&self, measured: &Measured) -> Option<Measurements> {
        let settled = &measured.settled.as_ref()?.stats;
        let done = |stats: &EngineStats, metric| stats.whole.counted(metric, &measured.before.whole);
        let flushes = done(settled, &c::FLUSHES)?;
        let (entries, entry_bytes) = stored(settled)?;
        let growth = separated_growth(
            self.design.choice("compaction"),
            flushes,
            self.buffers(self.per_flush, entry_bytes),
        )?;
        let blob_bytes = self.flushed(entries, flushes as f64);
        let written_apart = if self.is_apart { done(settled, &c::BLOB_BYTES_WRITTEN)? } else { 0 };
        let table_bytes = done(settled, &c::FLUSH_BYTES)?.saturating_sub(written_apart) as f64;
        let user_bytes = done(settled, &c::USER_BYTES_WRITTEN)? as f64;
        let mut cells = Measurements::default();
        let stored_bytes = settled.sum_of_levels(&c::TABLE_BYTES)? as f64;
        let write_amp =
            separated_write_amp(growth.write_amp, (table_bytes, blob_bytes), stored_bytes, user_bytes);
        cells.set(&c::EXPECTED_WRITE_AMP, write_amp);
        cells.set(&c::EXPECTED_RUNS, growth.runs).set(&c::EXPECTED_LEVELS, growth.levels);
        if self.is_apart {
            let (entries, _) = stored(&measured.burst)?;
            let flushes = done(&measured.burst, &c::FLUSHES)? as f64;
            cells.set(&c::EXPECTED_BLOB_BYTES_WRITTEN, self.flushed(entries, flushes).round() as u64);
            cells.set(&c::EXPECTED_BLOB_LIVE_SHARE, 1.0);
        }
        Some(cells)
    }

    /// Computes the theoretical bytes of blob files for a phase that overwrites random keys of a store with `keys`
    /// keys. `earlier` is the number of overwrites before this phase. Returns `None` if no formula applies to the
    /// design or to the state of the store.
    pub(super) fn of_overwrites(&self, keys: f64, earlier: u64, measured: &Measured) -> Option<Measurements> {
        let Measured { before, burst, .. } = measured;
        let done = |metric| burst.whole.counted(metric, &before.whole);
        let (flushes, puts) = (done(&c::FLUSHES)? as f64, done(&n::PUTS)? as f64);
        if !self.is_apart || flushes == 0.0 || burst.sum_of_levels(&n::TOMBSTONES)? > 0 {
            return None;
        }
        // A flush writes only the newest of several writes of the same key.
        let per_flush = -keys * (puts / flushes * (-1.0 / keys).ln_1p()).exp_m1();
        let (_, entry_bytes) = stored(burst)?;
        let flushes_per_merge = flushes_per_merge(
            self.design.choice("compaction"),
            self.buffers(keys, entry_bytes),
            self.buffers(per_flush, entry_bytes),
        )?;
        let file_bytes = self.policy.file_bytes() as f64;
        // A collection takes files until their total size reaches the size of a segment. On average, the last of these
        // files ends half a file beyond this size.
        let segment_bytes = file_bytes + file_bytes.min(per_flush * self.record_bytes) / 2.0;
        let overwrites = Overwrites {
            keys,
            earlier: earlier as f64 / keys,
            flushes,
            flush_records: per_flush,
            flushes_per_merge,
            file_records: self.file_records(),
            segment_records: segment_bytes / self.record_bytes,
            partitions: self.policy.partitions(),
        };
        let steady = collection(self.design.choice("values"), &overwrites)?;
        let mut cells = Measurements::default();
        let written = steady.write_amp * self.flushed(flushes * per_flush, flushes);
        cells.set(&c::EXPECTED_BLOB_BYTES_WRITTEN, written.round() as u64);
        cells.set(&c::EXPECTED_BLOB_LIVE_SHARE, steady.live_share);
        Some(cells)
    }

    /// Returns how many full memtables `entries` entries fill, if their values are in blob files. `entry_bytes` is the
    /// size of a key with the pointer to its value.
    fn buffers(&self, entries: f64, entry_bytes: f64) -> f64 {
        entries * (entry_bytes + ENTRY_CHARGE_BYTES as f64) / self.design.memtable_capacity.0 as f64
    }

    /// Returns how many bytes `flushes` flushes write to blob files: `records` records, and the footers of the files.
    /// Returns 0 if the values stay in SSTables.
    fn flushed(&self, records: f64, flushes: f64) -> f64 {
        if !self.is_apart || flushes == 0.0 {
            return 0.0;
        }
        let (per_flush, partitions) = (records / flushes, f64::from(self.policy.partitions()));
        // The expected number of partitions to which a flush writes at least one record.
        let written = partitions * (1.0 - (1.0 - 1.0 / partitions).powf(per_flush));
        let files = flushes * written * (per_flush / partitions / self.file_records()).ceil();
        records * self.record_bytes + files * BLOB_FOOTER_BYTES as f64
    }

    /// Returns the number of records after which a blob file is full.
    fn file_records(&self) -> f64 {
        (self.policy.file_bytes() as f64 / self.record_bytes).ceil()
    }
}

/// Returns the number of entries in SSTables, and the mean size of an entry in bytes. An entry is a key with its value,
/// or a key with a pointer if the value is in a blob file.
fn stored(stats: &EngineStats) -> Option<(f64, f64)> {
    let entries = stats.sum_of_levels(&n::ENTRIES)?.max(1) as f64;
    Some((entries, stats.sum_of_levels(&n::ENTRY_BYTES)? as f64 / entries))
}
