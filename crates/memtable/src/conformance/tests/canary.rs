//! A memtable that is correct or has exactly one seeded fault. The checks must detect this fault.

use std::cmp::Reverse;
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard};
use std::thread;

use types::{Direction, Entries, Entry, EntryBatch, HashedKey, Lookup, Rest, SequenceNumber};

use super::super::model::{Known, Model, Scan, Version, Write};
use crate::{Memtable, MemtablePolicy, NewEntry};

/// The fault that is seeded into a memtable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    ForgetsOldestVersion,
    SeesTheFuture,
    InsertsLate,
    WritesInTwoSteps,
    HidesTombstones,
    RepeatsTheBoundary,
    GoesOnPastTheLimit,
    GoesOnOneLate,
    ForgetsValuesInPlace,
    LosesTheLastInsertAtFreeze,
    DrainsOldVersions,
    ForgetsAShard,
    ForgetsTheEndOfABatch,
    NumbersTheNewest,
}

/// Creates memtables with a seeded fault. With `None`, the memtables are correct.
pub(crate) struct Canary(pub(crate) Option<Fault>);

impl MemtablePolicy for Canary {
    fn create(&self, _: usize) -> Box<dyn Memtable> {
        Box::new(Table { fault: self.0, state: Mutex::default() })
    }
}

/// A scan that skips an entry when it continues.
struct Late {
    /// All entries of the scan. The memory is never freed, because the test process ends soon.
    all: &'static EntryBatch,
    /// The index of the next entry.
    next: usize,
}

impl<'a> Rest<'a> for Late {
    fn find(&mut self, limit: usize, found: &mut Vec<Entry<'a>>) {
        found.extend(self.all.iter().skip(self.next).take(limit));
        self.next = self.next.saturating_add(limit).saturating_add(1);
    }
}

struct Table {
    fault: Option<Fault>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    model: Model,
    /// The insert that the memtable delays.
    late: Option<Write>,
    last: Option<Version>,
    inserted: usize,
    bytes: usize,
}

impl Table {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no thread panics with the lock")
    }

    fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    fn snapshot(&self, asked: SequenceNumber) -> SequenceNumber {
        if self.has(Fault::SeesTheFuture) { SequenceNumber::MAX } else { asked }
    }
}

impl State {
    fn add(&mut self, write: &Write) {
        self.model.insert(write);
        self.last = Some((write.key.clone(), Reverse(write.sequence)));
    }

    fn forget_oldest(&mut self, key: &[u8]) {
        let versions: Vec<_> = self.model.0.keys().filter(|(k, _)| k == key).cloned().collect();
        if versions.len() > 2 {
            self.model.0.remove(versions.last().expect("several"));
        }
    }
}

impl Memtable for Table {
    fn insert(&self, key: HashedKey<'_>, sequence: SequenceNumber, value: Option<&[u8]>) {
        let write = Write { key: key.bytes.to_vec(), sequence, value: value.map(<[u8]>::to_vec) };
        if let (true, Some(value)) = (self.has(Fault::WritesInTwoSteps), value) {
            let half = Some(value[..value.len() / 2].to_vec());
            self.state().add(&Write { value: half, ..write.clone() });
            thread::yield_now();
        }
        let mut state = self.state();
        state.inserted += 1;
        state.bytes += key.bytes.len() + value.map_or(0, <[u8]>::len);
        if self.has(Fault::InsertsLate) {
            if let Some(late) = state.late.replace(write) {
                state.add(&late);
            }
            return;
        }
        state.add(&write);
        if self.has(Fault::ForgetsOldestVersion) {
            state.forget_oldest(key.bytes);
        }
    }

    fn insert_all(&self, first: SequenceNumber, entries: &mut dyn Iterator<Item = NewEntry<'_>>) {
        let mut entries: Vec<_> = entries.collect();
        if self.has(Fault::ForgetsTheEndOfABatch) && entries.len() > 1 {
            entries.pop();
        }
        for (sequence, (key, value)) in (first..).zip(entries) {
            self.insert(key, sequence, value);
        }
    }

    fn get(&self, key: HashedKey<'_>, snapshot: SequenceNumber, value: &mut Vec<u8>) -> Lookup {
        match self.state().model.get(key.bytes, self.snapshot(snapshot)) {
            Known::Nothing => Lookup::Absent,
            Known::Tombstone => Lookup::Deleted,
            Known::Value(found) => {
                value.extend(found);
                Lookup::Found
            }
        }
    }

    fn sequence_of(&self, key: HashedKey<'_>, snapshot: SequenceNumber) -> Option<SequenceNumber> {
        let snapshot = if self.has(Fault::NumbersTheNewest) { SequenceNumber::MAX } else { snapshot };
        self.state().model.sequence_of(key.bytes, self.snapshot(snapshot))
    }

    fn scan(
        &self,
        from: Bound<&[u8]>,
        direction: Direction,
        snapshot: SequenceNumber,
        limit: usize,
        batch: &mut EntryBatch,
    ) {
        let from = match from {
            Bound::Excluded(key) if self.has(Fault::RepeatsTheBoundary) => Bound::Included(key),
            from => from,
        };
        let limit = limit.saturating_add(usize::from(self.has(Fault::GoesOnPastTheLimit)));
        let snapshot = self.snapshot(snapshot);
        for (key, value) in self.state().model.scan(Scan { from, direction, snapshot, limit }) {
            if value.is_some() || !self.has(Fault::HidesTombstones) {
                batch.push(Entry { key: &key, value: value.as_deref() });
            }
        }
    }

    fn entries(
        &self,
        from: Bound<&[u8]>,
        direction: Direction,
        snapshot: SequenceNumber,
        limit: usize,
    ) -> Entries<'_> {
        let mut batch = EntryBatch::default();
        self.scan(from, direction, snapshot, limit, &mut batch);
        if self.has(Fault::ForgetsValuesInPlace) {
            let keys = batch.clone();
            batch.clear();
            keys.iter().for_each(|entry| batch.push(Entry { value: entry.value.map(|_| &b""[..]), ..entry }));
        }
        if self.has(Fault::GoesOnOneLate) {
            let mut all = EntryBatch::default();
            self.scan(from, direction, snapshot, usize::MAX, &mut all);
            return Entries::of(Late { all: Box::leak(Box::new(all)), next: 0 }, limit);
        }
        batch.into()
    }

    fn freeze(&self) {
        let mut state = self.state();
        if let (true, Some(last)) = (self.has(Fault::LosesTheLastInsertAtFreeze), state.last.take()) {
            state.model.0.remove(&last);
        }
    }

    fn drain(&self, sink: &mut dyn FnMut(Entry<'_>)) {
        let state = self.state();
        let mut last = None;
        for ((key, _), value) in &state.model.0 {
            if self.has(Fault::DrainsOldVersions) || last != Some(key) {
                sink(Entry { key, value: value.as_deref() });
            }
            last = Some(key);
        }
    }

    fn len(&self) -> usize {
        self.state().inserted
    }

    fn shard_lens(&self) -> Vec<usize> {
        let all = self.state().inserted;
        if self.has(Fault::ForgetsAShard) { vec![all / 2] } else { vec![all / 2, all - all / 2] }
    }

    fn memory_bytes(&self) -> usize {
        self.state().bytes
    }
}
