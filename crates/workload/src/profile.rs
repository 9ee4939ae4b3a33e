//! The profile of a phase. A profile contains statistics of the requested or the executed operations.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use xxhash_rust::xxh3::Xxh3;

use crate::batch::Batch;
use crate::extents::Extent;
use crate::operation::{Kind, Operation};
use crate::plan::{PhasePlan, PlannedKeys, PlannedWork};

/// The statistics of the operations of a phase, such as the popularity of keys. A statistic is `None` if it does not
/// apply to the phase, or if no formula can compute it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Profile {
    /// The number of operations. A group with all its members counts as one operation.
    pub operations: Option<u64>,
    /// The fraction of each kind among the operations. The members of a batch or a multi-get do not count.
    pub mix: BTreeMap<&'static str, f64>,
    /// The share of gets, including members of multi-gets, whose key never existed.
    pub absent: Option<f64>,
    /// The fraction of the accesses to existing keys that go to the most popular key. Inserts do not count as
    /// accesses.
    pub hottest_key: Option<f64>,
    /// The fraction of the accesses to existing keys that go to the most popular 1 % of the keys.
    pub hottest_1_percent: Option<f64>,
    /// The fraction of the accesses to existing keys that go to the most popular 10 % of the keys.
    pub hottest_10_percent: Option<f64>,
    /// The mean size of the written values, in bytes.
    pub value_bytes: Option<f64>,
    /// The mean length of the accessed keys, in bytes.
    pub key_bytes: Option<f64>,
    /// The mean number of entries that a scan requests.
    pub range_entries: Option<f64>,
    /// The number of different keys that the phase accessed or added.
    pub keys_touched: Option<u64>,
    /// The sum of the key and value bytes of all writes.
    pub written_bytes: Option<u64>,
    /// A hash over all operations of all threads. Runs with equal operations have equal hashes.
    pub stream_hash: Option<String>,
}

impl Profile {
    /// Returns the statistics of the operations that a phase requests. `from` contains the keys and versions that
    /// were used before the phase.
    pub fn intended(phase: &PhasePlan, from: Extent) -> Self {
        let mut profile = Self { operations: phase.operations(), ..Self::default() };
        let value_bytes = phase.values().mean_bytes();
        match &phase.work {
            PlannedWork::Load { keys, batch, .. } => {
                let kind = if batch.is_some() { Kind::Batch } else { Kind::Insert };
                profile.mix.insert(kind.name(), 1.0);
                profile.value_bytes = Some(value_bytes);
                profile.keys_touched = Some(*keys);
            }
            PlannedWork::Mixed(mixed) => {
                let mix = &mixed.spec.mix;
                let kinds = Kind::ALL.into_iter().filter(|kind| mix.has(*kind));
                profile.mix = kinds.map(|kind| (kind.name(), mix.share(kind))).collect();
                let gets = mix.has(Kind::Get) || mix.has(Kind::MultiGet);
                profile.absent = gets.then_some(mixed.spec.absent);
                profile.value_bytes = mixed.spec.reads("value").then_some(value_bytes);
                profile.range_entries = mix.has(Kind::Range).then(|| mixed.ranges.mean());
                if let (PlannedKeys::Drawn(law), keys @ 1..) = (&mixed.keys, from.keys) {
                    profile.hottest_key = law.share(keys, 1);
                    profile.hottest_1_percent = law.share(keys, keys.div_ceil(100));
                    profile.hottest_10_percent = law.share(keys, keys.div_ceil(10));
                }
            }
            // The roles have their own mixes, so the phase has no single mix.
            PlannedWork::Roles(_) | PlannedWork::Replay(_) | PlannedWork::Step => {}
        }
        profile
    }

    /// Returns the statistics of the operations that a phase executed. The function generates the operations of the
    /// phase again after the run and counts them. `performed` contains the number of operations that each thread
    /// executed, and `None` means all operations.
    ///
    /// The shares of the most popular keys come from the counted accesses. In a phase with few operations per key,
    /// chance makes some keys more popular than intended.
    pub fn realised(phase: &Arc<PhasePlan>, from: Extent, performed: Option<&[u64]>) -> Self {
        let mut recorder = Recorder::new(from.keys);
        let mut batch = Batch::default();
        let mut keys = from.keys;
        let streams = match performed {
            Some(_) => phase.performed_streams(from),
            None => phase.streams(from),
        };
        for (thread, mut stream) in streams.into_iter().enumerate() {
            let mut left =
                performed.map_or(u64::MAX, |performed| performed.get(thread).copied().unwrap_or(0));
            loop {
                let filled = stream.fill(&mut batch, left.min(Batch::OPERATIONS as u64) as usize);
                if filled == 0 {
                    break;
                }
                left -= filled as u64;
                recorder.record(&batch);
            }
            keys = keys.max(stream.extent().keys);
        }
        recorder.finish(keys)
    }
}

/// The bit of a key's access count that is set if the phase has added the key.
const ADDED: u32 = 1 << 31;

/// Counts the operations of a phase, and computes a [`Profile`] from the counts.
pub struct Recorder {
    /// The access count of every key, with the flag [`ADDED`] for keys that the phase has added.
    counts: Vec<u32>,
    kinds: [u64; Kind::ALL.len()],
    gets: Mean,
    values: Mean,
    key_bytes: Mean,
    ranges: Mean,
    written_bytes: u64,
    hash: Xxh3,
}

/// A sum of values and the number of these values, from which their mean is computed.
#[derive(Clone, Copy, Default)]
struct Mean {
    sum: u64,
    terms: u64,
}

impl Recorder {
    /// Creates a counter for a store with `keys` keys. The counter needs four bytes of memory per key.
    pub fn new(keys: u64) -> Self {
        Self {
            counts: vec![0; keys as usize],
            kinds: [0; Kind::ALL.len()],
            gets: Mean::default(),
            values: Mean::default(),
            key_bytes: Mean::default(),
            ranges: Mean::default(),
            written_bytes: 0,
            hash: Xxh3::new(),
        }
    }

    /// Counts all operations of a batch.
    pub fn record(&mut self, batch: &Batch) {
        for at in batch.heads() {
            self.kinds[batch.operations()[at].kind as usize] += 1;
        }
        for (at, operation) in batch.operations().iter().enumerate() {
            self.hash.update(&operation.to_bytes());
            if !matches!(operation.kind, Kind::Batch | Kind::MultiGet | Kind::First | Kind::Last) {
                let key_bytes = batch.key(at).len() as u64;
                self.key_bytes.add(key_bytes);
                if operation.kind.writes() {
                    let end_bytes = if operation.kind == Kind::DeleteRange { batch.end(at) } else { None };
                    self.written_bytes += key_bytes
                        + u64::from(operation.value.bytes)
                        + end_bytes.map_or(0, <[u8]>::len) as u64;
                }
                self.count(operation);
            }
        }
    }

    fn count(&mut self, operation: &Operation) {
        match operation.kind {
            Kind::Get => self.gets.add(u64::from(operation.key.is_absent())),
            Kind::Put | Kind::Insert | Kind::ReadModifyWrite | Kind::Merge | Kind::PutIfAbsent => {
                self.values.add(u64::from(operation.value.bytes));
            }
            Kind::Range => self.ranges.add(u64::from(operation.count)),
            Kind::Delete
            | Kind::SingleDelete
            | Kind::DeleteRange
            | Kind::Prefix
            | Kind::Batch
            | Kind::MultiGet
            | Kind::First
            | Kind::Last => {}
        }
        if !operation.key.is_absent() {
            self.access(operation.key.index() as usize, operation.kind == Kind::Insert);
        }
    }

    fn access(&mut self, index: usize, adds: bool) {
        if index >= self.counts.len() {
            self.counts.resize(index + 1, 0);
        }
        let count = &mut self.counts[index];
        if adds {
            *count |= ADDED;
        } else if *count & !ADDED < ADDED - 1 {
            *count += 1;
        }
    }

    /// Returns the profile of all counted operations. `keys` is the number of keys that exist after these operations.
    pub fn finish(self, keys: u64) -> Profile {
        let operations: u64 = self.kinds.iter().sum();
        let occurring = Kind::ALL.into_iter().filter(|kind| self.kinds[*kind as usize] > 0);
        let mix = occurring
            .map(|kind| (kind.name(), self.kinds[kind as usize] as f64 / operations as f64))
            .collect();
        let popularity = Popularity::new(&self.counts);
        let touched = self.counts.iter().filter(|count| **count > 0).count() as u64;
        Profile {
            operations: Some(operations),
            mix,
            absent: self.gets.mean(),
            hottest_key: popularity.share(1),
            hottest_1_percent: popularity.share(keys.div_ceil(100)),
            hottest_10_percent: popularity.share(keys.div_ceil(10)),
            value_bytes: self.values.mean(),
            key_bytes: self.key_bytes.mean(),
            range_entries: self.ranges.mean(),
            keys_touched: Some(touched),
            written_bytes: Some(self.written_bytes),
            stream_hash: Some(format!("{:016x}", self.hash.digest())),
        }
    }
}

impl Mean {
    fn add(&mut self, term: u64) {
        self.sum += term;
        self.terms += 1;
    }

    fn mean(self) -> Option<f64> {
        (self.terms > 0).then(|| self.sum as f64 / self.terms as f64)
    }
}

/// How often keys were accessed: the number of keys for each number of accesses.
struct Popularity {
    /// Pairs of a number of accesses and the number of keys with so many accesses, from the most popular keys to the
    /// least popular keys.
    classes: Vec<(u64, u64)>,
    accesses: u64,
}

impl Popularity {
    /// Computes how often keys were accessed from the access count of each key.
    fn new(counts: &[u32]) -> Self {
        const SMALL: u32 = 1 << 16;
        let mut small = vec![0u64; SMALL as usize];
        let mut large = Vec::new();
        for count in counts.iter().map(|count| count & !ADDED) {
            if count < SMALL { small[count as usize] += 1 } else { large.push(u64::from(count)) }
        }
        large.sort_unstable_by(|a, b| b.cmp(a));
        let mut classes: Vec<(u64, u64)> = large.into_iter().map(|count| (count, 1)).collect();
        classes.extend(small.into_iter().enumerate().skip(1).rev().map(|(count, keys)| (count as u64, keys)));
        let accesses = classes.iter().map(|(count, keys)| count * keys).sum();
        Self { classes, accesses }
    }

    /// Returns the share of all accesses that went to the `hottest` most popular keys.
    fn share(&self, hottest: u64) -> Option<f64> {
        if self.accesses == 0 {
            return None;
        }
        let (mut left, mut sum) = (hottest, 0);
        for (count, keys) in &self.classes {
            let taken = left.min(*keys);
            sum += count * taken;
            left -= taken;
        }
        Some(sum as f64 / self.accesses as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_popular_keys_come_first() {
        let mut counts = vec![0, 5, 1 | ADDED, 1, ADDED];
        counts.push(100_000);
        let popularity = Popularity::new(&counts);
        assert_eq!(popularity.accesses, 100_007);
        for (hottest, accesses) in [(1, 100_000), (2, 100_005), (3, 100_006), (10, 100_007)] {
            let expected = f64::from(accesses) / 100_007.0;
            assert_eq!(popularity.share(hottest).unwrap().to_bits(), expected.to_bits());
        }
        assert_eq!(Popularity::new(&[ADDED, 0]).share(1), None);
    }
}
