//! Tests that every invariant check fails for a store with a seeded fault.

use std::sync::Arc;

use types::Direction;
use workload::{Model, Scan, Target, TargetError, Write};

use super::stores::{self, Check, Opener};
use crate::EntryLimits;

/// The seeded fault of a test store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// A seeded fault: a scan omits its last entry.
    DropsLastOfRange,
    /// A seeded fault: a backward scan begins with its upper bound, although the bound is excluded.
    ReadsHighBound,
    /// A seeded fault: backward scans read forward.
    ForgetsDirection,
    /// A seeded fault: deletes have no effect.
    ForgetsDeletes,
    /// A seeded fault: a range delete does not delete its first key.
    SparesFirstOfRange,
    /// A seeded fault: the first and the last answer of a multi-get are swapped.
    SwapsMultiGet,
    /// A seeded fault: keys with an empty value are not found.
    SkipsEmptyValues,
    /// A seeded fault: keys end at their first zero byte.
    EndsKeysAtZero,
    /// A seeded fault: if a batch has several writes to one key, the first write wins.
    FirstOfBatchWins,
    /// A seeded fault: a reopened store is empty.
    ForgetsOnOpening,
    /// A seeded fault: values are truncated to 64 KiB.
    CutsLargeValues,
    /// A seeded fault: batches are written one entry at a time.
    TearsBatches,
    /// A seeded fault: some writes are lost.
    LosesRaces,
}

/// A test store with at most one fault. Reopened stores share the entries of the same model.
struct Canary {
    fault: Option<Fault>,
    model: Arc<Model>,
}

impl Canary {
    /// Returns an empty store with the given seeded fault.
    fn shared(fault: Option<Fault>) -> Self {
        Self { fault, model: Arc::default() }
    }

    /// Reopens the store on its entries.
    fn opened(&self) -> Self {
        let forgets = self.fault == Some(Fault::ForgetsOnOpening);
        let model = if forgets { Arc::default() } else { Arc::clone(&self.model) };
        Self { fault: self.fault, model }
    }

    fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    fn key<'a>(&self, key: &'a [u8]) -> &'a [u8] {
        match key.iter().position(|byte| *byte == 0).filter(|_| self.has(Fault::EndsKeysAtZero)) {
            Some(end) => &key[..end],
            None => key,
        }
    }
}

impl Target for Canary {
    fn put(&self, key: &[u8], value: &[u8]) -> Result<(), TargetError> {
        let is_lost = self.has(Fault::LosesRaces) && key.first() == Some(&3) && key.last() == Some(&9);
        let kept = if self.has(Fault::CutsLargeValues) { value.len().min(1 << 16) } else { value.len() };
        if is_lost { Ok(()) } else { self.model.put(self.key(key), &value[..kept]) }
    }

    fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, TargetError> {
        let before = value.len();
        let found = self.model.get(self.key(key), value)?;
        Ok(found && !(self.has(Fault::SkipsEmptyValues) && value.len() == before))
    }

    fn delete(&self, key: &[u8]) -> Result<(), TargetError> {
        if self.has(Fault::ForgetsDeletes) { Ok(()) } else { self.model.delete(self.key(key)) }
    }

    fn delete_range(&self, low: &[u8], high: &[u8]) -> Option<Result<(), TargetError>> {
        let low = if self.has(Fault::SparesFirstOfRange) { [low, &[0]].concat() } else { low.to_vec() };
        if *low < *high { self.model.delete_range(&low, high) } else { Some(Ok(())) }
    }

    fn range(&self, scan: &Scan<'_>, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize, TargetError> {
        let mut scan = *scan;
        if self.has(Fault::DropsLastOfRange) {
            let entries = self.model.range(&scan, &mut |_, _| {})?;
            scan.limit = entries.saturating_sub(1);
        }
        if self.has(Fault::ForgetsDirection) {
            scan.direction = Direction::Forward;
        }
        let mut high = scan.high.map(<[u8]>::to_vec);
        if self.has(Fault::ReadsHighBound)
            && scan.direction == Direction::Backward
            && let Some(high) = &mut high
        {
            high.push(0);
        }
        scan.high = high.as_deref();
        self.model.range(&scan, visit)
    }

    fn write(&self, writes: &[Write<'_>]) -> Result<(), TargetError> {
        if self.has(Fault::TearsBatches) {
            for write in writes {
                self.model.write(&[*write])?;
                std::thread::yield_now();
            }
            return Ok(());
        }
        let mut writes = writes.to_vec();
        if self.has(Fault::FirstOfBatchWins) {
            writes.reverse();
        }
        self.model.write(&writes)
    }

    fn multi_get(
        &self,
        keys: &[&[u8]],
        visit: &mut dyn FnMut(usize, Option<&[u8]>),
    ) -> Result<(), TargetError> {
        let last = keys.len() - 1;
        let swaps = self.has(Fault::SwapsMultiGet);
        let place = |place| if swaps && (place == 0 || place == last) { last - place } else { place };
        self.model.multi_get(keys, &mut |at, value| visit(place(at), value))
    }

    fn flush(&self) -> Result<(), TargetError> {
        Ok(())
    }

    fn settle(&self) -> Result<(), TargetError> {
        Ok(())
    }

    fn close(&self) -> Result<(), TargetError> {
        Ok(())
    }
}

#[test]
fn a_store_without_fault_keeps_every_invariant() {
    for check in [stores::model, stores::sizes, stores::whole_batches, stores::threads, stores::survives] {
        let store = Canary::shared(None);
        let opener: &Opener<'_> = &|| Ok(Box::new(store.opened()));
        check(opener, &EntryLimits::default()).unwrap();
    }
}

#[test]
fn every_fault_is_caught_by_its_invariant() {
    let faults = [
        (Fault::DropsLastOfRange, stores::model as Check),
        (Fault::ReadsHighBound, stores::model),
        (Fault::ForgetsDirection, stores::model),
        (Fault::ForgetsDeletes, stores::model),
        (Fault::SparesFirstOfRange, stores::model),
        (Fault::SwapsMultiGet, stores::model),
        (Fault::SkipsEmptyValues, stores::model),
        (Fault::EndsKeysAtZero, stores::model),
        (Fault::FirstOfBatchWins, stores::model),
        (Fault::ForgetsOnOpening, stores::survives),
        (Fault::CutsLargeValues, stores::sizes),
        (Fault::TearsBatches, stores::whole_batches),
        (Fault::LosesRaces, stores::threads),
    ];
    for (fault, check) in faults {
        let store = Canary::shared(Some(fault));
        let caught = check(&|| Ok(Box::new(store.opened())), &EntryLimits::default());
        assert!(caught.is_err(), "{fault:?} is not caught");
    }
}

#[test]
fn a_store_that_ignores_its_limits_is_caught() {
    for (key_bytes, value_bytes) in
        [(1..=usize::MAX, 0..=usize::MAX), (0..=100, 0..=usize::MAX), (0..=100, 1..=500), (0..=600, 0..=500)]
    {
        let limits = EntryLimits { key_bytes, value_bytes };
        let store = Canary::shared(None);
        let caught = stores::sizes(&|| Ok(Box::new(store.opened())), &limits).unwrap_err();
        assert!(caught.contains("is beyond the limits, but was accepted"), "{caught}");
    }
}
