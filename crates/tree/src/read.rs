//! The read path of gets. A get searches the memtables and then the sorted runs, from the newest to the oldest. Filters
//! and key ranges exclude most runs.

use std::sync::Arc;

use arc_swap::Guard;
use types::{HashedKey, Lookup, MAX_KEY_BYTES, MergeOperator, SequenceNumber};

use crate::error::{Error, Result};
use crate::inner::Inner;
use crate::merge_operands::{OperandStack, unmarked, value_in};
use crate::run_lookup::{lookup_run, lookup_runs};
use crate::stats::Counters;
use crate::version::{SortedRun, View};

/// The results of a multi-get, in the order of the keys: a value for each found key, and `None` for each absent key.
pub type MultiGetValues = Vec<Option<Vec<u8>>>;

impl Inner {
    /// Returns the current view (the memtables and SSTables), and the sequence number of the last visible write.
    #[inline]
    pub(crate) fn now(&self) -> (Guard<Arc<View>>, SequenceNumber) {
        // The view is loaded before the sequence number. All writes in the SSTables of the view are therefore visible
        // at this sequence number. The sequence number hides only the newest entries of the memtables, so a reader sees
        // all writes up to one point in time.
        let view = self.view.load();
        (view, self.visible.last())
    }

    /// Looks up a key at the sequence number `snapshot`. Appends the value to `value` and returns whether the key was
    /// found.
    #[inline]
    pub(crate) fn get_in(
        &self,
        view: &View,
        snapshot: SequenceNumber,
        key: &[u8],
        value: &mut Vec<u8>,
    ) -> Result<bool> {
        check_key(key)?;
        let counters = self.counters.local();
        counters.gets.bump();
        let (key, start) = (self.hashed(key), value.len());
        let lookup = match lookup_memtables(view, snapshot, key, value) {
            Lookup::Absent => match &self.lookup_pool {
                Some(pool) if view.version.searches_plain_runs() => {
                    pool.lookup(&view.version, key, value, &self.counters)?
                }
                _ => lookup_runs(&view.version, key, value, counters)?,
            },
            answer => {
                counters.gets_from_memtable.bump();
                answer
            }
        };
        let found = lookup == Lookup::Found;
        counters.gets_found.add(u64::from(found));
        if found && let Some(operator) = self.merge_operator() {
            self.resolve(operator, view, snapshot, key, value, start)?;
        }
        Ok(found)
    }

    /// Replaces the stored bytes `value[start..]` with the value that they represent. If the stored bytes are a merge
    /// operand, this value is the newest value of the key, combined with all newer operands.
    #[inline(never)]
    fn resolve(
        &self,
        operator: MergeOperator,
        view: &View,
        snapshot: SequenceNumber,
        key: HashedKey<'_>,
        value: &mut Vec<u8>,
        start: usize,
    ) -> Result<()> {
        if let Some(len) = value_in(&value[start..]).map(<[u8]>::len) {
            value.truncate(start + len);
            return Ok(());
        }
        value.truncate(start);
        value.extend_from_slice(&self.combined(operator, view, snapshot, key)?);
        Ok(())
    }

    /// Returns the value of a key for a reader at `snapshot`: the newest value, combined with all newer merge operands.
    pub(crate) fn combined(
        &self,
        operator: MergeOperator,
        view: &View,
        snapshot: SequenceNumber,
        key: HashedKey<'_>,
    ) -> Result<Vec<u8>> {
        let (counters, mut stack, mut stored) = (self.counters.local(), OperandStack::default(), Vec::new());
        let mut is_sound = true;
        for slot in view.memtables() {
            is_sound &= slot.collect(key, snapshot, &mut stack);
            if stack.is_complete() {
                break;
            }
        }
        for run in &view.version.runs {
            if stack.is_complete() || !is_sound {
                break;
            }
            stored.clear();
            is_sound &= match lookup_run(run, key, &mut stored, counters)? {
                Lookup::Absent => continue,
                Lookup::Found => stack.add(Some(&stored)),
                Lookup::Deleted => stack.add(None),
            };
            // A range tombstone hides entries of older runs only.
            if run.deletes(key.bytes) {
                stack.end();
            }
        }
        let value = if is_sound { stack.value(operator) } else { None };
        value.ok_or_else(|| unmarked(&self.directory))
    }

    /// Looks up many keys in `view`, as of the sequence number `snapshot`. For each SSTable, one call probes the filter
    /// for all keys that are not found yet, so that CPU cache misses overlap.
    pub(crate) fn multi_get_in(
        &self,
        view: &View,
        snapshot: SequenceNumber,
        keys: &[&[u8]],
    ) -> Result<MultiGetValues> {
        let counters = self.counters.local();
        counters.gets.add(keys.len() as u64);
        let mut values: MultiGetValues = vec![None; keys.len()];
        let mut open = Vec::with_capacity(keys.len());
        for (index, key) in keys.iter().enumerate() {
            check_key(key)?;
            let key = self.hashed(key);
            let mut value = Vec::new();
            match lookup_memtables(view, snapshot, key, &mut value) {
                Lookup::Absent => open.push((index, key)),
                answer => {
                    counters.gets_from_memtable.bump();
                    values[index] = (answer == Lookup::Found).then_some(value);
                }
            }
        }
        if view.version.searches_plain_runs() {
            for run in &view.version.runs {
                multi_get_in_run(run, &mut open, &mut values, counters)?;
            }
        } else {
            for (index, key) in open {
                let mut value = Vec::new();
                let lookup = lookup_runs(&view.version, key, &mut value, counters)?;
                values[index] = (lookup == Lookup::Found).then_some(value);
            }
        }
        if let Some(operator) = self.merge_operator() {
            for (key, value) in keys.iter().zip(&mut values) {
                if let Some(value) = value {
                    self.resolve(operator, view, snapshot, self.hashed(key), value, 0)?;
                }
            }
        }
        counters.gets_found.add(values.iter().flatten().count() as u64);
        Ok(values)
    }
}

/// Returns an error if the key is longer than the maximum for keys.
pub(crate) fn check_key(key: &[u8]) -> Result<()> {
    if key.len() > MAX_KEY_BYTES { Err(Error::KeyTooLong(key.len())) } else { Ok(()) }
}

#[inline]
fn lookup_memtables(
    view: &View,
    snapshot: SequenceNumber,
    key: HashedKey<'_>,
    value: &mut Vec<u8>,
) -> Lookup {
    for slot in view.memtables() {
        match slot.get(key, snapshot, value) {
            Lookup::Absent => {}
            answer => return answer,
        }
    }
    Lookup::Absent
}

/// Returns whether the key exists in the SSTables of the view, that is whether its newest version there is not a
/// tombstone.
pub(crate) fn exists_in_runs(view: &View, key: HashedKey<'_>, counters: &Counters) -> Result<bool> {
    lookup_runs(&view.version, key, &mut Vec::new(), counters).map(|lookup| lookup == Lookup::Found)
}

/// Looks up keys in one sorted run. Each element of `open` is a key that is not found yet, with its index in `values`.
/// Writes the found values to `values`, and removes the keys with a value or a tombstone from `open`.
fn multi_get_in_run<'k>(
    run: &SortedRun,
    open: &mut Vec<(usize, HashedKey<'k>)>,
    values: &mut MultiGetValues,
    counters: &Counters,
) -> Result<()> {
    let mut answered = Vec::new();
    let mut covered: Vec<(usize, usize, HashedKey<'k>)> = Vec::new();
    for (index, key) in &*open {
        let Some(at) = run.table_for(key.bytes) else { continue };
        if !run.tables[at].has_only_range_tombstones_at(key.bytes) {
            covered.push((at, *index, *key));
        } else if run.tables[at].deletes(key.bytes) {
            answered.push(*index);
        }
    }
    // Because the sort is stable, the keys of one table stay in the order of the call.
    covered.sort_by_key(|(table, ..)| *table);
    for of_one_table in covered.chunk_by(|(a, ..), (b, ..)| a == b) {
        let table = &run.tables[of_one_table[0].0];
        let keys: Vec<HashedKey<'k>> = of_one_table.iter().map(|(.., key)| *key).collect();
        let passes = table.filter_all(&keys, counters);
        let level = counters.level(run.level);
        level.filter_probes.add(keys.len() as u64);
        level.filter_passes.add(passes.iter().filter(|passes| **passes).count() as u64);
        let mut passes = passes.into_iter();
        let passing: Vec<_> = of_one_table.iter().filter(|_| passes.next() == Some(true)).collect();
        let keys: Vec<HashedKey<'k>> = passing.iter().map(|(.., key)| *key).collect();
        let before = counters.looked();
        table.find_many(&keys, counters, |place, answer, value| {
            let (_, index, _) = *passing[place];
            if answer != Lookup::Absent {
                values[index] = (answer == Lookup::Found).then_some(value);
                answered.push(index);
            }
        })?;
        counters.attribute(run.level, before);
        if table.range_tombstones().is_some() {
            let deleted = of_one_table.iter().filter(|(.., key)| table.deletes(key.bytes));
            answered.extend(deleted.map(|(_, index, _)| *index));
        }
    }
    open.retain(|(index, _)| !answered.contains(index));
    Ok(())
}
