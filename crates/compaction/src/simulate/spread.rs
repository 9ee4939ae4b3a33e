//! Approximate contents of a simulated tree: expected numbers of entries in SSTables with random keys. The module
//! computes the number of entries after a merge, and divides a run into SSTables.

use std::collections::HashMap;
use std::sync::Arc;

use super::contents::{Contents, MergeTerms};
use crate::shape::{TableId, TableShape};

/// The exclusive upper bound of the keys of a simulated tree. Keys are integers that an `f64` represents exactly.
const KEY_SPACE: u64 = 1 << 53;

/// A class of keys, such as the hot keys of a workload. All keys of a class are overwritten with equal probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeyClass {
    /// The number of keys in the class. Infinity if each random write goes to another key, so that no key is written
    /// twice.
    pub keys: f64,
    /// The fraction of all random writes that go to keys of this class, from 0 to 1.
    pub share: f64,
}

/// The writes that the simulator collects in one flush.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlushedWrites {
    /// The number of writes in the flush that add a new key. Each new key is added only once.
    pub adds: f64,
    /// The number of writes in the flush whose keys are drawn at random.
    pub draws: f64,
    /// The fraction of deletes among the writes with random keys.
    pub deletes: f64,
    /// The part of the key space that contains the new keys: its start and its end, as fractions of the key space.
    /// Random keys come from the whole key space.
    pub within: (f64, f64),
}

/// The expected numbers of entries in each SSTable of a simulated tree.
#[derive(Clone, Debug)]
pub struct Spread {
    classes: Vec<KeyClass>,
    entry_bytes: u64,
    tombstone_bytes: u64,
    entries_per_table: u64,
    tables: HashMap<TableId, Vec<Part>>,
}

/// The expected entries of one key class in a key interval. A key class is a set of keys that are written with equal
/// probability.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Part {
    /// The expected number of entries of the key class in the interval, including tombstones.
    entries: f64,
    /// The expected number of entries whose keys were added as new keys.
    added: f64,
    /// The expected number of tombstones of the key class in the interval.
    tombstones: f64,
}

/// A key interval of a simulated SSTable, in which the entries are evenly distributed.
#[derive(Clone, Debug, PartialEq)]
struct Stretch {
    /// The first key of the key interval.
    start: u64,
    /// The first key after the key interval.
    end: u64,
    /// The expected entries of each key class in the interval. These numbers need not be integers.
    parts: Vec<Part>,
}

impl Part {
    fn scaled(self, share: f64) -> Self {
        Self { entries: self.entries * share, added: self.added * share, tombstones: self.tombstones * share }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            entries: self.entries + other.entries,
            added: self.added + other.added,
            tombstones: self.tombstones + other.tombstones,
        }
    }
}

impl Stretch {
    fn entries(&self) -> f64 {
        self.parts.iter().map(|part| part.entries).sum()
    }

    fn width(&self) -> f64 {
        (self.end - self.start) as f64
    }

    /// Returns the expected entries of each key class in a part of the interval. `share` is the size of the part, as a
    /// fraction of the interval.
    fn share(&self, share: f64) -> impl Iterator<Item = Part> {
        self.parts.iter().map(move |part| part.scaled(share))
    }

    /// Returns the interval with `entries` expected entries in total. The entries of each key class are scaled by the
    /// same factor.
    fn resized(mut self, entries: f64) -> Self {
        let sum = self.entries();
        let share = if sum > 0.0 { entries / sum } else { 0.0 };
        self.parts.iter_mut().for_each(|part| *part = part.scaled(share));
        if sum <= 0.0
            && let Some(first) = self.parts.first_mut()
        {
            first.entries = entries;
        }
        self
    }

    /// Divides the interval at `key`, which is inside the interval. The second part is always `Some`.
    fn parted(self, key: u64) -> (Self, Option<Self>) {
        let below = (key - self.start) as f64 / self.width();
        let first = Self { end: key, parts: self.share(below).collect(), start: self.start };
        let second = Self { start: key, parts: self.share(1.0 - below).collect(), end: self.end };
        (first, Some(second))
    }
}

impl Spread {
    /// Creates the contents of an empty simulated tree. An entry with a value takes `entry_bytes` bytes, and a
    /// tombstone takes `tombstone_bytes` bytes. An SSTable has at most `entries_per_table` entries. With `u64::MAX`,
    /// each run is one SSTable.
    pub fn new(
        classes: Vec<KeyClass>,
        entry_bytes: u64,
        tombstone_bytes: u64,
        entries_per_table: u64,
    ) -> Self {
        Self { classes, entry_bytes, tombstone_bytes, entries_per_table, tables: HashMap::new() }
    }

    /// Returns the simulated SSTables of one flush. The first SSTable has the number `first_table`.
    ///
    /// If w writes have random keys out of n keys, the expected number of distinct written keys is n·(1 − (1 −
    /// 1/n)^w).
    pub fn flush(&mut self, writes: FlushedWrites, first_table: TableId) -> Vec<TableShape> {
        let all: f64 = self.classes.iter().map(|class| class.keys).sum();
        let FlushedWrites { adds, draws, deletes, within } = writes;
        let part = |class: &KeyClass, adds: f64, draws: f64| {
            let added = if all.is_finite() {
                (adds * class.keys / all).min(class.keys)
            } else {
                adds / self.classes.len() as f64
            };
            let draws = draws * class.share;
            let distinct = if draws <= 0.0 {
                0.0
            } else if class.keys.is_finite() {
                -class.keys * (draws * (-1.0 / class.keys.max(1.0)).ln_1p()).exp_m1()
            } else {
                draws
            };
            let entries =
                added + distinct - if class.keys.is_finite() { added * distinct / class.keys } else { 0.0 };
            Part { entries, added, tombstones: distinct * deletes }
        };
        let at = |position: f64| (position.clamp(0.0, 1.0) * KEY_SPACE as f64) as u64;
        let (low, high) = (at(within.0), at(within.1));
        let stretch = |start: u64, end: u64, adds: f64, draws: f64| Stretch {
            start,
            end,
            parts: self.classes.iter().map(|class| part(class, adds, draws)).collect(),
        };
        let high = high.max(low + 1).min(KEY_SPACE);
        let run = if draws > 0.0 && high - low < KEY_SPACE {
            // The random keys are in the whole key space, and the added keys are only in their range.
            let around = |start: u64, end: u64| {
                let share = (end - start) as f64 / KEY_SPACE as f64;
                stretch(start, end, 0.0, draws * share)
            };
            let inner = stretch(low, high, adds, draws * (high - low) as f64 / KEY_SPACE as f64);
            let mut run = vec![inner];
            if low > 0 {
                run.insert(0, around(0, low));
            }
            if high < KEY_SPACE {
                run.push(around(high, KEY_SPACE));
            }
            run
        } else {
            vec![stretch(low.min(high - 1), high, adds, draws)]
        };
        self.tables_of(&run, first_table, &[])
    }

    /// Returns, for each key class, the expected number of entries in the SSTables `tables`.
    pub fn entries_by_class<'t>(&self, tables: impl IntoIterator<Item = &'t TableId>) -> Vec<f64> {
        let mut sums = vec![0.0; self.classes.len()];
        for parts in tables.into_iter().filter_map(|table| self.tables.get(table)) {
            sums.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part.entries);
        }
        sums
    }

    /// Returns the expected total number of entries and of tombstones in all SSTables.
    pub fn entries(&self) -> (f64, f64) {
        let parts = self.tables.values().flatten();
        parts.fold((0.0, 0.0), |(entries, tombstones), part| {
            (entries + part.entries, tombstones + part.tombstones)
        })
    }

    fn tables_of(&mut self, run: &[Stretch], first_table: TableId, cuts: &[Arc<[u8]>]) -> Vec<TableShape> {
        let parts = split(run, cuts);
        let cut = parts.iter().flat_map(|part| cut(part, self.entries_per_table));
        let tables: Vec<(TableId, Stretch)> = (first_table..).zip(cut).collect();
        tables.into_iter().map(|(id, stretch)| self.table(id, stretch)).collect()
    }

    /// Creates a simulated SSTable with the number `id` and the entries of an interval, and returns its shape.
    fn table(&mut self, id: TableId, stretch: Stretch) -> TableShape {
        let entries = stretch.entries().round() as u64;
        let tombstones = stretch.parts.iter().map(|part| part.tombstones).sum::<f64>().round() as u64;
        let tombstones = tombstones.min(entries);
        let shape = TableShape {
            id,
            bytes: (entries - tombstones) * self.entry_bytes + tombstones * self.tombstone_bytes,
            entries,
            tombstones,
            smallest: stretch.start.to_be_bytes().into(),
            largest: (stretch.end - 1).to_be_bytes().into(),
        };
        self.tables.insert(id, stretch.parts);
        shape
    }

    /// Returns the key interval of a simulated SSTable, with the expected entries of each key class.
    fn stretch(&self, table: &TableShape) -> Stretch {
        let parts = self.tables.get(&table.id).cloned().unwrap_or_default();
        Stretch { start: key(&table.smallest), end: key(&table.largest) + 1, parts }
    }

    /// Merges several simulated runs, newest run first, and returns intervals in key order. The boundaries of all input
    /// SSTables divide the result, and the entries between two boundaries are evenly distributed.
    fn merged(&self, inputs: &[Vec<TableShape>], drops_tombstones: bool) -> Vec<Stretch> {
        let mut stretches: Vec<(usize, Stretch)> = Vec::new();
        for (rank, run) in inputs.iter().enumerate() {
            stretches.extend(run.iter().map(|table| (rank, self.stretch(table))));
        }
        stretches.sort_by_key(|(_, stretch)| stretch.start);
        let mut ends: Vec<u64> =
            stretches.iter().flat_map(|(_, stretch)| [stretch.start, stretch.end]).collect();
        ends.sort_unstable();
        ends.dedup();
        let mut open: Vec<&(usize, Stretch)> = Vec::new();
        let mut to_come = stretches.iter().peekable();
        let mut merged = Vec::new();
        for pair in ends.windows(2) {
            let (start, end) = (pair[0], pair[1]);
            open.retain(|(_, stretch)| stretch.end > start);
            open.extend(std::iter::from_fn(|| to_come.next_if(|(_, stretch)| stretch.start <= start)));
            open.sort_by_key(|(rank, _)| *rank);
            if open.is_empty() {
                continue;
            }
            let width = (end - start) as f64;
            let of_class = |(at, class): (usize, &KeyClass)| {
                let inputs =
                    open.iter().map(|(_, stretch)| stretch.parts[at].scaled(width / stretch.width()));
                union(class.keys * (width / KEY_SPACE as f64), inputs, drops_tombstones)
            };
            merged.push(Stretch {
                start,
                end,
                parts: self.classes.iter().enumerate().map(of_class).collect(),
            });
        }
        merged
    }
}

impl Contents for Spread {
    fn merge(&mut self, inputs: &[Vec<TableShape>], terms: &MergeTerms<'_>) -> Vec<TableShape> {
        let merged = self.merged(inputs, terms.drops_tombstones);
        self.tables_of(&merged, terms.first_table, terms.cuts)
    }

    fn forget(&mut self, tables: &[TableId]) {
        for table in tables {
            self.tables.remove(table);
        }
    }
}

/// Returns the expected entries after a merge of several random sets of keys, newest set first. `keys` is the number of
/// possible keys.
fn union(keys: f64, inputs: impl Iterator<Item = Part>, drops_tombstones: bool) -> Part {
    // The union of two random sets of a and b keys out of n possible keys has n·(1 − (1 − a/n)·(1 − b/n)) keys. Sets of
    // new keys are disjoint, so the size of their union is the sum of their sizes. A tombstone remains if no newer set
    // has its key.
    let is_open = keys.is_infinite();
    let mut sum = Part::default();
    // The computation uses logarithms, because a very small number that is subtracted from 1 would be lost by rounding.
    let (mut log_absent, mut log_drawn_absent) = (0.0, 0.0);
    for input in inputs {
        let newer_absent: f64 = if is_open { 1.0 } else { f64::exp(log_absent) };
        sum.tombstones += input.tombstones * newer_absent;
        sum.added += input.added;
        sum.entries += input.entries;
        if !is_open {
            let absent = (-input.entries / keys).max(-1.0).ln_1p();
            log_absent += absent;
            if input.added < keys {
                log_drawn_absent += absent - (-input.added / keys).ln_1p();
            }
        }
    }
    if !is_open {
        sum.added = sum.added.min(keys);
        sum.entries = match sum.added < keys {
            true if sum.added > 0.0 => -keys * ((-sum.added / keys).ln_1p() + log_drawn_absent).exp_m1(),
            true => -keys * log_drawn_absent.exp_m1(),
            false => keys,
        };
    }
    sum.tombstones = sum.tombstones.min(sum.entries);
    if drops_tombstones && sum.tombstones > 0.0 {
        let kept = 1.0 - sum.tombstones / sum.entries;
        return Part { tombstones: 0.0, ..sum.scaled(kept) };
    }
    sum
}

/// Returns the integer that the eight bytes of a simulated key represent.
fn key(bytes: &[u8]) -> u64 {
    u64::from_be_bytes(bytes.try_into().expect("a simulated key must have 8 bytes"))
}

/// Divides a simulated run at the keys `cuts`, which are sorted. Each part has a whole number of entries, and at least
/// one entry unless the whole run has none.
fn split(run: &[Stretch], cuts: &[Arc<[u8]>]) -> Vec<Vec<Stretch>> {
    if cuts.is_empty() {
        return vec![run.to_vec()];
    }
    let mut rest: Vec<Stretch> = run.iter().rev().cloned().collect();
    let (mut parts, mut part): (Vec<Vec<Stretch>>, Vec<Stretch>) = (Vec::new(), Vec::new());
    let (mut passed, mut given) = (0.0, 0.0);
    for cut in cuts.iter().map(|cut| key(cut)).chain([u64::MAX]) {
        while let Some(next) = rest.pop_if(|next| next.start < cut) {
            let (below, above) = if next.end <= cut { (next, None) } else { next.parted(cut) };
            rest.extend(above);
            passed += below.entries();
            part.push(below);
        }
        let whole = passed.round() - given;
        if whole >= 1.0 {
            let sum: f64 = part.iter().map(Stretch::entries).sum();
            let resized = std::mem::take(&mut part).into_iter().map(|stretch: Stretch| {
                let entries = stretch.entries() * (whole / sum);
                stretch.resized(entries)
            });
            parts.push(resized.collect());
            given += whole;
        }
    }
    // The rest has less than half an entry, which rounding has already added to the previous parts.
    match parts.last_mut() {
        Some(last) => last.extend(part.into_iter().map(|stretch| stretch.resized(0.0))),
        None => parts.push(part),
    }
    parts
}

/// Divides a simulated run into intervals of `entries_per_table` entries, one interval for each SSTable. The last
/// interval gets the remaining entries. Each interval has a whole number of entries.
fn cut(run: &[Stretch], entries_per_table: u64) -> Vec<Stretch> {
    let total = run.iter().map(Stretch::entries).sum::<f64>().round().max(1.0);
    let per_table = (entries_per_table as f64).min(total);
    let mut tables = Vec::new();
    let (mut start, mut passed, mut cut_off) = (run.first().map_or(0, |stretch| stretch.start), 0.0, 0.0);
    let mut held = vec![Part::default(); run.first().map_or(0, |stretch| stretch.parts.len())];
    let take = |held: &mut Vec<Part>, stretch: &Stretch, share: f64| {
        held.iter_mut().zip(stretch.share(share)).for_each(|(held, more)| *held = held.plus(more));
    };
    for stretch in run {
        let (entries, mut taken) = (stretch.entries(), 0.0);
        while passed + entries > cut_off + per_table && cut_off + per_table < total {
            cut_off += per_table;
            let share = (cut_off - passed) / entries;
            let end = (stretch.start + (stretch.width() * share) as u64).max(start + 1);
            take(&mut held, stretch, share - taken);
            taken = share;
            let parts = std::mem::replace(&mut held, vec![Part::default(); stretch.parts.len()]);
            tables.push(Stretch { start, end, parts }.resized(per_table));
            start = end;
        }
        take(&mut held, stretch, 1.0 - taken);
        passed += entries;
    }
    let end = run.last().map_or(KEY_SPACE, |stretch| stretch.end);
    tables.push(Stretch { start, end: end.max(start + 1), parts: held }.resized(total - cut_off));
    tables
}

#[cfg(test)]
mod tests;
