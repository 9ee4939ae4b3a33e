//! The memtable under test. The test measures inserts, lookups, scans and the preparation of a flush, by one thread and
//! by several threads.
//!
//! Each key is inserted once, in random order. Each value contains the number of its key. All threads share one
//! memtable, and each thread inserts and looks up its own keys. Before the measurement, another memtable is filled and
//! freed, as in a tree.

use std::hint::black_box;
use std::ops::{Bound, Range};

use catalog::{Build, ByteSize, Count, Time, Variant};
use memtable::Memtable;
use results::{Measurements, Metric, RunMode, columns as c};
use serde::{Deserialize, Serialize};
use tree::Design;
use tree::hash::KeyHasher;
use types::{Direction, ENTRY_CHARGE_BYTES, EntryBatch, HashedKey, KeyHash, Lookup, SequenceNumber};
use workload::Random;

use crate::bench::{Answers, Bench, TIME, Timing, share_of};
use crate::choices::{Chosen, Formats};
use crate::fault::Fault;
use crate::keys::{MOST_BYTES, SortedKeys, Spread};
use crate::seam::{Cost, Subject, check_count};

pub(crate) const VARIANT: Variant<dyn Subject> = Variant::new::<Writes>(
    "memtable",
    "inserts, lookups and scans in one memtable, and the sort before its flush",
    r#"# Number of entries that are inserted.
entries    = 500_000
# Format of the keys, as for the keys of a workload.
keys       = "u64"
# Length of each value.
value      = "100B"
# Number of lookups in each lookup phase. The scans of a scan phase together read the same number of
# entries.
operations = 500_000
# Number of entries per scan.
scan       = 100
# Number of threads that insert and look up keys.
threads    = 1
# Time limit of each timed phase of lookups or scans.
limit      = "1s"
"#,
);

/// The number of inserts or lookups that are timed together.
const SLICE: usize = 256;
const SCANS_PER_SLICE: usize = 4;

/// The largest number of threads that a phase may have.
const MOST_THREADS: u64 = 1024;

/// The number of lookups whose values are checked after the phase.
const CHECKED: usize = 512;

struct Writes(Params);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    entries: Count,
    keys: Chosen<Formats>,
    value: ByteSize,
    operations: Count,
    scan: Count,
    threads: Count,
    limit: Time,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            entries: Count(500_000),
            keys: Chosen::default(),
            value: ByteSize(100),
            operations: Count(500_000),
            scan: Count(100),
            threads: Count(1),
            limit: Time(1_000_000_000),
        }
    }
}

impl Build<dyn Subject> for Writes {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn Subject>, String> {
        check_count("entries", params.entries.0, 1 << 31)?;
        check_count("operations", params.operations.0, 1 << 40)?;
        check_count("value", params.value.0, 1 << 20)?;
        check_count("scan", params.scan.0, 1 << 20)?;
        check_count("threads", params.threads.0, MOST_THREADS)?;
        let format = params.keys.open()?;
        if params.entries.0 * 2 * format.max_bytes() as u64 > MOST_BYTES {
            return Err("entries: the inserted and the absent keys must not exceed 4 GiB in total; lower \
                        entries"
                .to_owned());
        }
        Ok(Box::new(Self(params)))
    }
}

impl Subject for Writes {
    fn axis(&self) -> &'static str {
        "memtable"
    }

    fn phases(&self) -> &'static [&'static str] {
        &["insert", "get", "get-absent", "scan", "freeze", "drain"]
    }

    fn modes(&self) -> &'static [RunMode] {
        &[RunMode::Timed]
    }

    fn reads(&self) -> &'static [&'static str] {
        &["hash"]
    }

    fn verdict(&self) -> (&'static str, &'static Metric) {
        match self.0.threads.0 {
            1 => ("insert", TIME),
            _ => ("insert", &c::OPS_PER_SECOND),
        }
    }

    fn price(&self) -> &'static Metric {
        &c::BYTES_PER_ENTRY
    }

    fn threads(&self) -> u32 {
        self.0.threads.0 as u32
    }

    fn cost(&self) -> Cost {
        let (entries, operations) = (self.0.entries.0 as f64, self.0.operations.0 as f64);
        let get = (operations * 1e-6).min(self.0.limit.0 as f64 / 1e9);
        let bytes = self.0.value.0 as f64 + 200.0;
        let phase_seconds = vec![entries * 4e-6, get, get, get, entries * 0.2e-6, entries * 0.1e-6];
        Cost { memory_bytes: entries * bytes, phase_seconds, ..Cost::default() }
    }

    fn run(&self, bench: &mut Bench<'_>) -> Result<(), Fault> {
        let data = Data::new(&self.0, bench.design, &mut Random::new(bench.seed))?;
        let policy = bench.design.memtables()?;
        // Another memtable is filled and freed first, because some memtables reuse the memory of their predecessor, as
        // in a tree.
        data.fill(&*policy.create(data.capacity_bytes()));
        let table = policy.create(data.capacity_bytes());
        self.insert(bench, &*table, &data);
        self.get(bench, &*table, &data, "get");
        self.get(bench, &*table, &data, "get-absent");
        self.scan(bench, &*table, &data);
        Self::flush(bench, &*table, &data);
        Ok(())
    }
}

/// The keys of a trial. Keys with even numbers are inserted, and keys with odd numbers stay absent.
struct Data {
    keys: SortedKeys,
    hashes: Vec<KeyHash>,
    /// The numbers of the inserted keys, in the order of insertion.
    order: Vec<u32>,
    value_bytes: usize,
}

impl Data {
    fn new(params: &Params, design: &Design, random: &mut Random) -> Result<Self, Fault> {
        let hasher: Box<dyn KeyHasher> = tree::hash::CATALOG.build(design.choice("hash"))?;
        let entries = params.entries.0 as usize;
        let keys = SortedKeys::new(&*params.keys.open()?, 2 * entries, Spread::Random, random)?;
        let mut order: Vec<u32> = (0..entries as u32).map(|number| 2 * number).collect();
        shuffle(&mut order, random);
        let of_keys = keys.iter().map(|key| hasher.hash(key)).collect();
        Ok(Self { keys, hashes: of_keys, order, value_bytes: params.value.0 as usize })
    }

    /// Inserts all entries into a memtable, and prepares them for a flush.
    fn fill(&self, table: &dyn Memtable) {
        let mut value = vec![b'v'; self.value_bytes];
        for (number, sequence) in self.order.iter().zip(1..) {
            Self::write_value(*number, &mut value);
            table.insert(self.key(*number), sequence, Some(&value));
        }
        table.freeze();
    }

    fn key(&self, number: u32) -> HashedKey<'_> {
        HashedKey { bytes: self.keys.get(number as usize), hash: self.hashes[number as usize] }
    }

    /// Writes the number of a key to the start of its value.
    fn write_value(number: u32, value: &mut [u8]) {
        let front = value.len().min(size_of::<u32>());
        value[..front].copy_from_slice(&number.to_le_bytes()[..front]);
    }

    /// Returns whether `value` is the value that was inserted for the key with this number.
    fn is_value(&self, number: u32, value: &[u8]) -> bool {
        let mut right = vec![b'v'; self.value_bytes];
        Self::write_value(number, &mut right);
        value == right
    }

    /// Returns the size of all entries in bytes: the keys, the values and a fixed charge per entry. A tree counts the
    /// size of its memtable in the same way.
    fn capacity_bytes(&self) -> usize {
        let keys: usize = self.order.iter().map(|number| self.keys.get(*number as usize).len()).sum();
        keys + self.order.len() * (self.value_bytes + ENTRY_CHARGE_BYTES as usize)
    }
}

fn shuffle(items: &mut [u32], random: &mut Random) {
    for at in (1..items.len()).rev() {
        items.swap(at, random.below(at as u64 + 1) as usize);
    }
}

impl Writes {
    fn insert(&self, bench: &mut Bench<'_>, table: &dyn Memtable, data: &Data) {
        let mut phase = bench.begin("insert");
        let plan = (data.order.len() as u64, SLICE, u64::MAX);
        let timing = bench.together(self.threads(), plan, |_| {
            let mut value = vec![b'v'; data.value_bytes];
            move |range: Range<usize>| {
                for at in range {
                    let number = data.order[at];
                    Data::write_value(number, &mut value);
                    table.insert(data.key(number), at as SequenceNumber + 1, Some(&value));
                }
            }
        });
        let idle = Self::idle(bench, data, &data.order[..data.order.len().min(1 << 16)]);
        timing.with_idle(idle).write(&mut phase.cells);
        phase.answers.expect(table.len() == data.order.len(), || {
            format!(
                "{} entries were inserted, but the memtable reports {} entries",
                data.order.len(),
                table.len()
            )
        });
        let bytes = table.memory_bytes();
        let about = bench.about();
        about.set(&c::MEMTABLE_BYTES, bytes as u64);
        about.set(&c::BYTES_PER_ENTRY, bytes as f64 / data.order.len() as f64);
        let shards = table.shard_lens();
        let in_shards: usize = shards.iter().sum();
        phase.answers.expect(shards.is_empty() || in_shards == table.len(), || {
            format!(
                "the shards of the memtable report {in_shards} entries, but the memtable reports {}",
                table.len()
            )
        });
        set_balance(about, &shards);
        about.set_some(&c::SHARD_MOVED_KEYS, table.moved_keys().map(|keys| keys as u64));
        bench.end(phase);
    }

    /// Measures the time per operation for reading the key and writing the value, without the memtable, in nanoseconds.
    /// Returns `None` in counted mode.
    fn idle(bench: &Bench<'_>, data: &Data, numbers: &[u32]) -> Option<f64> {
        let mut value = vec![b'v'; data.value_bytes];
        bench.idle(numbers.len(), || {
            for number in numbers {
                let key = data.key(*number);
                Data::write_value(*number, &mut value);
                black_box((key.bytes.first(), key.hash, &value));
            }
        })
    }

    /// Measures lookups of present keys, or of absent keys that sort next to present keys.
    fn get(&self, bench: &mut Bench<'_>, table: &dyn Memtable, data: &Data, name: &'static str) {
        let mut phase = bench.begin(name);
        let is_present = name == "get";
        let (operations, entries) = (self.0.operations.0, data.order.len() as u64);
        let random = &mut Random::new(bench.seed ^ 1);
        let wanted: Vec<u32> =
            (0..operations).map(|_| 2 * random.below(entries) as u32 + u32::from(!is_present)).collect();
        let timing = bench.together(self.threads(), (operations, SLICE, self.0.limit.0), |_| {
            let mut value = Vec::with_capacity(data.value_bytes);
            let wanted = &wanted;
            move |range: Range<usize>| {
                for number in &wanted[range] {
                    value.clear();
                    black_box(table.get(data.key(*number), SequenceNumber::MAX, &mut value));
                }
            }
        });
        let idle = Self::idle(bench, data, &wanted[..wanted.len().min(1 << 16)]);
        let found = if is_present { timing.operations } else { 0 };
        phase.cells.set(&c::FOUND, found).set(&c::MISSING, timing.operations - found);
        timing.with_idle(idle).write(&mut phase.cells);
        check_lookups(table, data, &wanted, is_present, &mut phase.answers);
        bench.end(phase);
    }

    fn scan(&self, bench: &mut Bench<'_>, table: &dyn Memtable, data: &Data) {
        let mut phase = bench.begin("scan");
        let (length, entries) = (self.0.scan.0 as usize, data.order.len() as u64);
        let random = &mut Random::new(bench.seed ^ 2);
        let scans = self.0.operations.0.div_ceil(self.0.scan.0);
        let starts: Vec<u32> = (0..scans).map(|_| 2 * random.below(entries) as u32).collect();
        let scan = |start: u32, batch: &mut EntryBatch| {
            batch.clear();
            let from = Bound::Included(data.keys.get(start as usize));
            table.scan(from, Direction::Forward, SequenceNumber::MAX, length, batch);
        };
        let timing = bench.together(self.threads(), (scans, SCANS_PER_SLICE, self.0.limit.0), |_| {
            let (mut batch, starts) = (EntryBatch::default(), &starts);
            move |range: Range<usize>| {
                for start in &starts[range] {
                    scan(*start, &mut batch);
                    black_box(&batch);
                }
            }
        });
        timing.write(&mut phase.cells);
        let mut batch = EntryBatch::default();
        for start in &starts[..starts.len().min(16)] {
            scan(*start, &mut batch);
            let left = (data.keys.len() - *start as usize) / 2;
            phase.answers.expect(batch.len() == length.min(left), || {
                format!("a scan read {} entries, expected {}", batch.len(), length.min(left))
            });
            for (number, entry) in (*start..).step_by(2).zip(batch.iter()) {
                check_entry(data, number, entry, &mut phase.answers);
            }
        }
        bench.end(phase);
    }

    /// Measures the two steps before a flush writes data: the sorting that the memtable has postponed (`freeze`), and
    /// the iteration over all entries (`drain`).
    fn flush(bench: &mut Bench<'_>, table: &dyn Memtable, data: &Data) {
        let entries = data.order.len();
        // A single call processes all entries, and each entry counts as one operation.
        let whole = |bench: &Bench<'_>, call: &(dyn Fn() + Sync)| -> Timing {
            bench.together(1, (entries as u64, entries, u64::MAX), |_| |_: Range<usize>| call())
        };
        let mut phase = bench.begin("freeze");
        whole(bench, &|| table.freeze()).write(&mut phase.cells);
        bench.end(phase);
        let mut phase = bench.begin("drain");
        let drain = || {
            table.drain(&mut |entry| {
                black_box(entry.key);
            });
        };
        whole(bench, &drain).write(&mut phase.cells);
        let mut number = 0;
        table.drain(&mut |entry| {
            if (number as usize) < data.keys.len() {
                check_entry(data, number, entry, &mut phase.answers);
            }
            number += 2;
        });
        phase.answers.expect(number as usize == data.keys.len(), || {
            format!("the flush read {} entries, but {entries} were inserted", number / 2)
        });
        bench.end(phase);
    }
}

/// Sets the columns that describe how evenly the entries are spread over the shards of a memtable. `shards` contains
/// the number of entries of each shard, and is empty for a memtable without shards.
fn set_balance(cells: &mut Measurements, shards: &[usize]) {
    let (Some(fewest), Some(most)) = (shards.iter().min(), shards.iter().max()) else { return };
    cells.set(&c::SHARD_ENTRIES_MIN, *fewest as u64).set(&c::SHARD_ENTRIES_MAX, *most as u64);
    let mean = shards.iter().sum::<usize>() as f64 / shards.len() as f64;
    let variance =
        shards.iter().map(|entries| (*entries as f64 - mean).powi(2)).sum::<f64>() / shards.len() as f64;
    cells.set(&c::SHARD_CV, variance.sqrt() / mean);
    cells.set(&c::SHARD_CHI_SQUARE, variance * shards.len() as f64 / mean);
}

fn check_lookups(table: &dyn Memtable, data: &Data, wanted: &[u32], is_present: bool, answers: &mut Answers) {
    let mut value = Vec::new();
    for at in share_of(wanted.len(), 0, 1).step_by(wanted.len().div_ceil(CHECKED).max(1)) {
        let number = wanted[at];
        value.clear();
        let found = table.get(data.key(number), SequenceNumber::MAX, &mut value) == Lookup::Found;
        let is_right = found == is_present && (!found || data.is_value(number, &value));
        answers.expect(is_right, || {
            let kind = if is_present { "inserted" } else { "absent" };
            let key = data.keys.get(number as usize);
            format!("a lookup of the {kind} key {key:x?} in the memtable did not return the expected result")
        });
    }
}

fn check_entry(data: &Data, number: u32, entry: types::Entry<'_>, answers: &mut Answers) {
    let is_key = entry.key == data.keys.get(number as usize);
    let is_value = entry.value.is_some_and(|value| data.is_value(number, value));
    answers.expect(is_key && is_value, || {
        let expected = data.keys.get(number as usize);
        format!(
            "a scan of the memtable returned key {:x?}; expected key {expected:x?} with its value",
            entry.key
        )
    });
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    /// A memtable that is correct, or returns a wrong value in one of a hundred lookups, or drops one entry in a
    /// thousand.
    struct Liar {
        inner: Box<dyn Memtable>,
        lie: Lie,
        calls: AtomicU32,
    }

    #[derive(Clone, Copy, PartialEq)]
    enum Lie {
        None,
        Value,
        Entry,
    }

    impl Liar {
        fn lies(&self, lie: Lie, every: u32) -> bool {
            self.lie == lie && self.calls.fetch_add(1, Ordering::Relaxed) % every == every - 1
        }
    }

    impl Memtable for Liar {
        fn insert(&self, key: HashedKey<'_>, sequence: SequenceNumber, value: Option<&[u8]>) {
            if !self.lies(Lie::Entry, 1000) {
                self.inner.insert(key, sequence, value);
            }
        }

        fn get(&self, key: HashedKey<'_>, snapshot: SequenceNumber, value: &mut Vec<u8>) -> Lookup {
            let found = self.inner.get(key, snapshot, value);
            if found == Lookup::Found && self.lies(Lie::Value, 100) {
                value[0] ^= 1;
            }
            found
        }

        fn sequence_of(&self, key: HashedKey<'_>, snapshot: SequenceNumber) -> Option<SequenceNumber> {
            self.inner.sequence_of(key, snapshot)
        }

        fn scan(
            &self,
            from: Bound<&[u8]>,
            direction: Direction,
            snapshot: SequenceNumber,
            limit: usize,
            batch: &mut EntryBatch,
        ) {
            self.inner.scan(from, direction, snapshot, limit, batch);
        }

        fn len(&self) -> usize {
            self.inner.len()
        }

        fn memory_bytes(&self) -> usize {
            self.inner.memory_bytes()
        }
    }

    fn wrong(lie: Lie, threads: u64) -> Vec<(&'static str, u64)> {
        let (design, here) = (Design::default(), Path::new("."));
        let mut bench = Bench::new(&design, (1, RunMode::Timed), (here, here), &|_| {});
        let params = Params {
            entries: Count(4000),
            operations: Count(4000),
            threads: Count(threads),
            ..Params::default()
        };
        let subject = Writes(params);
        let data = Data::new(&subject.0, &design, &mut Random::new(1)).unwrap();
        let policy = memtable::CATALOG.build(design.choice("memtable")).unwrap();
        let table = Liar { inner: policy.create(data.capacity_bytes()), lie, calls: AtomicU32::new(0) };
        subject.insert(&mut bench, &table, &data);
        subject.get(&mut bench, &table, &data, "get");
        subject.get(&mut bench, &table, &data, "get-absent");
        subject.scan(&mut bench, &table, &data);
        Writes::flush(&mut bench, &table, &data);
        bench.into_phases().into_iter().map(|phase| (phase.name, phase.answers.wrong)).collect()
    }

    #[test]
    fn lies_are_caught_where_they_are_told() {
        for threads in [1, 3] {
            let right = wrong(Lie::None, threads);
            assert!(right.iter().all(|(_, wrong)| *wrong == 0), "{right:?}");
            assert_eq!(
                right.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
                Writes(Params::default()).phases()
            );
        }
        let value = wrong(Lie::Value, 1);
        assert!(value[1].1 > 2 && value[2].1 == 0, "{value:?}");
        let entry = wrong(Lie::Entry, 1);
        assert!(entry[0].1 == 1 && entry[5].1 > 0, "{entry:?}");
    }

    #[test]
    fn balance_is_told_of_shards_and_of_nothing_else() {
        let balance = |shards: &[usize]| {
            let mut cells = Measurements::default();
            set_balance(&mut cells, shards);
            cells
        };
        assert_eq!(balance(&[]), Measurements::default());
        // Deviations of 10, 10, 20 and 20 from a mean of 100.
        let mut told = Measurements::default();
        told.set(&c::SHARD_ENTRIES_MIN, 80_u64).set(&c::SHARD_ENTRIES_MAX, 120_u64);
        told.set(&c::SHARD_CV, 2.5_f64.sqrt() / 10.0).set(&c::SHARD_CHI_SQUARE, 10.0);
        assert_eq!(balance(&[90, 110, 80, 120]), told);
    }
}
