//! A simulated store that has the keys of all operations, but no values.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;

use catalog::Limit;
use compaction::{
    CompactionPolicy, ExactEntry, ExactKeys, SimulatedWrites, SimulationError, Simulator, picks_after_gets,
    picks_after_scan,
};
use engines::EngineStats;
use parking_lot::Mutex;
use tree::Design;
use types::{Direction, ENTRY_CHARGE_BYTES};
use workload::{Scan, Target, TargetError, Write};

use crate::costs::Costs;
use crate::readings::{Counts, readings};

/// A simulated tree that executes operations one at a time. The tree stores no values, so it returns empty values.
///
/// The keys in its memtables, SSTables and runs are exactly the keys of a real tree in `counted` mode, where one thread
/// executes all work. The simulation does not include read-triggered compactions and subcompactions.
pub struct SimulatedTree<'a> {
    state: Mutex<State<'a>>,
    costs: Costs,
}

struct State<'a> {
    simulator: Simulator<'a, ExactKeys>,
    /// The active memtable: for each key, the length of its value, or `None` for a tombstone.
    memtable: BTreeMap<Arc<[u8]>, Option<u32>>,
    /// The length of the value of each live key.
    live: HashMap<Arc<[u8]>, u32>,
    charged_bytes: u64,
    /// The number of writes to the active memtable so far.
    writes: u64,
    user_bytes: u64,
    capacity: u64,
    most_writes: u64,
    counts: Counts,
    /// The false-positive rate of each filter in the tree.
    fpr: f64,
    entries_per_block: f64,
}

impl<'a> SimulatedTree<'a> {
    /// Creates an empty tree of `design`. `policy` must be the compaction policy of the design.
    pub fn new(policy: &'a dyn CompactionPolicy, design: &Design, costs: Costs) -> Self {
        let capacity = design.memtable_capacity.0;
        let may_drop = design.limits().iter().any(|(_, _, limit)| *limit == Limit::DropsData);
        let keys = ExactKeys::new(design.options.table.capacity.0);
        let state = State {
            simulator: Simulator::of(policy, capacity, keys),
            memtable: BTreeMap::new(),
            live: HashMap::new(),
            charged_bytes: 0,
            writes: 0,
            user_bytes: 0,
            capacity,
            most_writes: design.memtable_entries.unwrap_or(u64::MAX),
            counts: Counts { live_bytes: (!may_drop).then_some(0), ..Counts::default() },
            fpr: costs.fpr,
            entries_per_block: costs.entries_per_block,
        };
        Self { state: Mutex::new(state), costs }
    }

    /// Compacts all SSTables into one run.
    ///
    /// # Errors
    /// The policy violates an invariant of compaction policies.
    pub fn compact(&self) -> Result<(), TargetError> {
        let mut state = self.state.lock();
        state.flush()?;
        Ok(state.simulator.compact_all()?)
    }

    /// Returns the counters of all operations so far and the current sizes of the tree, as the statistics that an
    /// engine reports.
    pub fn stats(&self) -> EngineStats {
        let state = self.state.lock();
        readings(&state.simulator.report(), &state.counts, &self.costs)
    }

    /// Returns the bytes that flushes and compactions have written so far, counted as keys, values and a fixed overhead
    /// per entry.
    pub fn report(&self) -> SimulatedWrites {
        self.state.lock().simulator.report()
    }
}

impl State<'_> {
    fn write(&mut self, key: &[u8], value: Option<&[u8]>) {
        let bytes = (key.len() + value.map_or(0, <[u8]>::len)) as u64;
        self.charged_bytes += bytes + ENTRY_CHARGE_BYTES;
        self.user_bytes += bytes;
        self.writes += 1;
        self.counts.user_bytes += bytes;
        self.counts.puts += u64::from(value.is_some());
        let key: Arc<[u8]> = key.into();
        let value_bytes = value.map(|value| value.len() as u32);
        let before = match value_bytes {
            Some(value_bytes) => self.live.insert(Arc::clone(&key), value_bytes),
            None => self.live.remove(&key),
        };
        let bytes_of = |value: Option<u32>| value.map_or(0, |value| key.len() as u64 + u64::from(value));
        self.counts.live_bytes =
            self.counts.live_bytes.map(|bytes| bytes + bytes_of(value_bytes) - bytes_of(before));
        self.memtable.insert(key, value_bytes);
    }

    fn flush_if_full(&mut self) -> Result<(), SimulationError> {
        let is_full = self.charged_bytes >= self.capacity || self.writes >= self.most_writes;
        if is_full { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), SimulationError> {
        if self.memtable.is_empty() {
            return Ok(());
        }
        let entries = std::mem::take(&mut self.memtable);
        let entries = entries.into_iter().map(|(key, value_bytes)| ExactEntry { key, value_bytes });
        (self.charged_bytes, self.writes) = (0, 0);
        let user_bytes = std::mem::take(&mut self.user_bytes);
        self.simulator.note_reads(self.counts.reads());
        self.simulator.flush_with(user_bytes, |contents, first_table| contents.add(entries, first_table))
    }

    /// Lets the policy pick a compaction if a real tree would call its policy after this read (`is_time`). A real tree
    /// calls its policy after fixed numbers of reads, because a policy may adapt to reads.
    fn pick_after_reads(&mut self, is_time: bool) -> Result<(), SimulationError> {
        if !is_time {
            return Ok(());
        }
        self.simulator.note_reads(self.counts.reads());
        self.simulator.pick_after_reads()
    }

    /// Executes a get, and counts its filter probes and searched blocks. Returns whether the key has a value.
    fn get(&mut self, key: &[u8]) -> bool {
        self.counts.gets += 1;
        if let Some(value) = self.memtable.get(key) {
            self.counts.gets_from_memtable += 1;
            self.counts.gets_found += u64::from(value.is_some());
            return value.is_some();
        }
        let shape = self.simulator.shape();
        for (_, run) in shape.levels.runs() {
            let at = run.tables.partition_point(|table| &*table.largest < key);
            let Some(table) = run.tables.get(at).filter(|table| &*table.smallest <= key) else { continue };
            self.counts.filter_probes += 1;
            match self.simulator.contents().find(table.id, key) {
                Some(entry) => {
                    self.counts.blocks_searched += 1.0;
                    self.counts.gets_found += u64::from(entry.value_bytes.is_some());
                    return entry.value_bytes.is_some();
                }
                None => self.counts.blocks_searched += self.fpr,
            }
        }
        false
    }

    /// Returns the live keys of a scan, in the direction of the scan. Counts the memtables and sorted runs that have
    /// entries in the key range.
    fn range(&mut self, scan: &Scan<'_>) -> Vec<Arc<[u8]>> {
        let bounds = (Bound::Included(scan.low), scan.high.map_or(Bound::Unbounded, Bound::Excluded));
        let is_empty = scan.high.is_some_and(|high| high <= scan.low);
        let is_forward = scan.direction == Direction::Forward;
        let memtable = self.memtable.range::<[u8], _>(if is_empty {
            (bounds.0, Bound::Included(scan.low))
        } else {
            bounds
        });
        let memtable: Vec<(&Arc<[u8]>, bool)> =
            memtable.take_while(|_| !is_empty).map(|(key, value)| (key, value.is_some())).collect();
        let mut sources = vec![memtable];
        let contents = self.simulator.contents();
        for (_, run) in self.simulator.shape().levels.runs() {
            let entries = run.tables.iter().flat_map(|table| contents.between(table.id, scan.low, scan.high));
            sources.push(entries.map(|entry| (&entry.key, entry.value_bytes.is_some())).collect());
        }
        sources.retain(|source| !source.is_empty());
        if !is_forward {
            sources.iter_mut().for_each(|source| source.reverse());
        }
        let mut next = vec![0; sources.len()];
        let mut live = Vec::new();
        while live.len() < scan.limit {
            let heads =
                sources.iter().zip(&next).filter_map(|(source, at)| source.get(*at).map(|(key, _)| *key));
            let Some(head) = (if is_forward { heads.min() } else { heads.max() }) else { break };
            let mut newest = None;
            for (source, at) in sources.iter().zip(&mut next) {
                if let Some((_, is_live)) = source.get(*at).filter(|(key, _)| *key == head) {
                    newest = newest.or(Some(*is_live));
                    *at += 1;
                }
            }
            live.extend((newest == Some(true)).then(|| Arc::clone(head)));
        }
        self.counts.ranges += 1;
        self.counts.range_sources += sources.len() as u64;
        self.counts.range_blocks +=
            sources.len() as f64 + live.len() as f64 / self.entries_per_block.max(1.0);
        live
    }
}

impl Target for SimulatedTree<'_> {
    fn put(&self, key: &[u8], value: &[u8]) -> Result<(), TargetError> {
        let mut state = self.state.lock();
        state.write(key, Some(value));
        Ok(state.flush_if_full()?)
    }

    fn get(&self, key: &[u8], _: &mut Vec<u8>) -> Result<bool, TargetError> {
        let mut state = self.state.lock();
        let found = state.get(key);
        let is_time = picks_after_gets(state.counts.gets, 1);
        state.pick_after_reads(is_time)?;
        Ok(found)
    }

    fn delete(&self, key: &[u8]) -> Result<(), TargetError> {
        let mut state = self.state.lock();
        state.write(key, None);
        Ok(state.flush_if_full()?)
    }

    fn range(&self, scan: &Scan<'_>, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize, TargetError> {
        let mut state = self.state.lock();
        let keys = state.range(scan);
        let is_time = picks_after_scan(state.counts.ranges);
        state.pick_after_reads(is_time)?;
        drop(state);
        keys.iter().for_each(|key| visit(key, &[]));
        Ok(keys.len())
    }

    fn write(&self, writes: &[Write<'_>]) -> Result<(), TargetError> {
        let mut state = self.state.lock();
        for write in writes {
            match write {
                Write::Put { key, value } => state.write(key, Some(value)),
                Write::Delete { key } => state.write(key, None),
                other => return Err(other.unsupported()),
            }
        }
        Ok(state.flush_if_full()?)
    }

    fn multi_get(
        &self,
        keys: &[&[u8]],
        visit: &mut dyn FnMut(usize, Option<&[u8]>),
    ) -> Result<(), TargetError> {
        let mut state = self.state.lock();
        for (place, key) in keys.iter().enumerate() {
            let found = state.get(key);
            visit(place, found.then_some(&[]));
        }
        let is_time = picks_after_gets(state.counts.gets, keys.len() as u64);
        Ok(state.pick_after_reads(is_time)?)
    }

    fn flush(&self) -> Result<(), TargetError> {
        Ok(self.state.lock().flush()?)
    }

    fn settle(&self) -> Result<(), TargetError> {
        Ok(())
    }

    fn close(&self) -> Result<(), TargetError> {
        Ok(())
    }
}
