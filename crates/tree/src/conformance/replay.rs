//! Seeded operations that a test applies to a tree and to a `BTreeMap`.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use storage::Storage;
use types::{Direction, MergeOperator};

use crate::{Design, Mode, OpenOptions, Snapshot, Tree, WriteBatch};

/// The reference model of a tree: an ordered map in memory, which must always have the same entries as the tree.
pub type Model = BTreeMap<Vec<u8>, Vec<u8>>;

/// A write operation that a replay executes on a tree and on its reference model.
#[derive(Clone, Debug)]
pub enum Write {
    /// Puts a key and a value.
    Put(Vec<u8>, Vec<u8>),
    /// Deletes a key.
    Delete(Vec<u8>),
    /// Deletes the keys from the first key, inclusive, to the second key, exclusive.
    DeleteRange(Vec<u8>, Vec<u8>),
    /// Deletes a key that has at most one put since its previous single delete.
    SingleDelete(Vec<u8>),
    /// Merges an operand into the value of a key.
    Merge(Vec<u8>, Vec<u8>),
}

impl Write {
    /// Applies the write to the reference model. Merges use `operator`. Without an operator, merges change nothing.
    pub fn apply(&self, model: &mut Model, operator: Option<MergeOperator>) {
        match self {
            Self::Put(key, value) => drop(model.insert(key.clone(), value.clone())),
            Self::Delete(key) | Self::SingleDelete(key) => drop(model.remove(key)),
            Self::DeleteRange(low, high) => model.retain(|key, _| key < low || key >= high),
            Self::Merge(key, operand) => operator.into_iter().for_each(|operator| {
                operator.combine(model.entry(key.clone()).or_default(), operand);
            }),
        }
    }

    /// Adds the write to a batch.
    ///
    /// # Errors
    /// Returns an error if a key, a value or the batch is longer than its limit, or if a range ends below its start.
    pub fn add_to(&self, batch: &mut WriteBatch) -> crate::Result<()> {
        match self {
            Self::Put(key, value) => batch.put(key, value),
            Self::Delete(key) => batch.delete(key),
            Self::DeleteRange(low, high) => batch.delete_range(low, high),
            Self::SingleDelete(key) => batch.single_delete(key),
            Self::Merge(key, operand) => batch.merge(key, operand),
        }
    }
}

/// An operation that a replay executes on a tree and on its reference model.
#[derive(Clone, Debug)]
pub enum Step {
    /// Writes to one key, or to all keys of a range.
    Write(Write),
    /// Writes a batch.
    Batch(Vec<Write>),
    /// Puts a value if its key is absent.
    PutIfAbsent(Vec<u8>, Vec<u8>),
    /// Looks up one key.
    Get(Vec<u8>),
    /// Looks up several keys at once.
    MultiGet(Vec<Vec<u8>>),
    /// Scans the keys between two bounds. The scan reads one entry for each element of the list: the next entry from
    /// the front if the element is `true`, and the next entry from the back if it is `false`.
    Range(Bound<Vec<u8>>, Bound<Vec<u8>>, Vec<bool>),
    /// Takes a snapshot, which replaces the previous snapshot.
    TakeSnapshot,
    /// Compares the entries of the snapshot with the reference model as it was when the snapshot was taken.
    CheckSnapshot,
    /// Flushes all memtables.
    Flush,
    /// Waits until no compaction is due.
    Settle,
    /// Compacts all runs into one run.
    Compact,
    /// Closes the tree and opens it again.
    Reopen,
}

/// Returns `count` pseudo-random operations on a few hundred keys. Because of the few keys, overwrites, deletes and
/// lookups of existing keys are common. The same seed always gives the same operations.
pub fn steps(seed: u64, count: usize) -> Vec<Step> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    with_single_deletes((0..count).map(|_| step(&mut random)).collect())
}

/// Returns whether a replay deletes this key only by single deletes and range deletes. A replay puts a value of such a
/// key only if the key is absent.
fn is_single(key: &[u8]) -> bool {
    key.last().is_some_and(|last| last % 3 == 0)
}

/// Replaces some operations on the keys for which [`is_single`] is true, so that no put overwrites such a key. A delete
/// of such a key becomes a single delete. A put of such a key also becomes a single delete if the key exists.
fn with_single_deletes(steps: Vec<Step>) -> Vec<Step> {
    let mut present = BTreeSet::new();
    let write = |present: &mut BTreeSet<Vec<u8>>, write| match write {
        Write::Put(key, value) if is_single(&key) => {
            if present.remove(&key) {
                return Write::SingleDelete(key);
            }
            present.insert(key.clone());
            Write::Put(key, value)
        }
        Write::Delete(key) if is_single(&key) => {
            present.remove(&key);
            Write::SingleDelete(key)
        }
        Write::DeleteRange(low, high) => {
            present.retain(|key| *key < low || *key >= high);
            Write::DeleteRange(low, high)
        }
        other => other,
    };
    let step = |step| match step {
        Step::Write(one) => Step::Write(write(&mut present, one)),
        Step::Batch(writes) => Step::Batch(writes.into_iter().map(|one| write(&mut present, one)).collect()),
        Step::PutIfAbsent(key, value) => {
            present.insert(key.clone());
            Step::PutIfAbsent(key, value)
        }
        others => others,
    };
    steps.into_iter().map(step).collect()
}

/// Replaces the keys and values in the operations with keys and values of four bytes. All entries except tombstones
/// then have equal sizes.
pub fn in_pairs(steps: Vec<Step>) -> Vec<Step> {
    let short = |bytes: Vec<u8>| {
        let sum = bytes.iter().fold(7u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(*byte)));
        (sum % 400).to_be_bytes().to_vec()
    };
    let write = |write| match write {
        Write::Put(key, value) => Write::Put(short(key), short(value)),
        Write::Delete(key) | Write::SingleDelete(key) => Write::Delete(short(key)),
        Write::DeleteRange(low, high) => {
            let (low, high) = (short(low), short(high));
            if low < high { Write::DeleteRange(low, high) } else { Write::DeleteRange(high, low) }
        }
        Write::Merge(key, operand) => Write::Merge(short(key), short(operand)),
    };
    let step = |step| match step {
        Step::Write(one) => Step::Write(write(one)),
        Step::Batch(writes) => Step::Batch(writes.into_iter().map(write).collect()),
        Step::PutIfAbsent(key, value) => Step::PutIfAbsent(short(key), short(value)),
        Step::Get(key) => Step::Get(short(key)),
        Step::MultiGet(keys) => Step::MultiGet(keys.into_iter().map(short).collect()),
        Step::Range(low, high, ends) => Step::Range(low.map(short), high.map(short), ends),
        others => others,
    };
    with_single_deletes(steps.into_iter().map(step).collect())
}

/// Replaces two of three puts with merges, for a design with a merge operator. Keys with single deletes get no merges.
pub fn with_merges(steps: Vec<Step>) -> Vec<Step> {
    let mut puts = 0;
    let mut write = |write| match write {
        Write::Put(key, value) if !is_single(&key) => {
            puts += 1;
            if puts % 3 == 0 { Write::Put(key, value) } else { Write::Merge(key, value) }
        }
        other => other,
    };
    let step = |step| match step {
        Step::Write(one) => Step::Write(write(one)),
        Step::Batch(writes) => Step::Batch(writes.into_iter().map(&mut write).collect()),
        others => others,
    };
    steps.into_iter().map(step).collect()
}

fn step(random: &mut impl Rng) -> Step {
    match random.random_range(0..1000) {
        0..450 => Step::Write(Write::Put(key(random), value(random))),
        450..535 => Step::Write(Write::Delete(key(random))),
        535..550 => Step::Write(delete_range(random)),
        550..600 => {
            let count = random.random_range(1..20);
            let write = |_| match random.random_range(0..50) {
                0..40 => Write::Put(key(random), value(random)),
                40..49 => Write::Delete(key(random)),
                _ => delete_range(random),
            };
            Step::Batch((0..count).map(write).collect())
        }
        600..640 => Step::PutIfAbsent(key(random), value(random)),
        640..820 => Step::Get(key(random)),
        820..850 => {
            let count = random.random_range(0..12);
            Step::MultiGet((0..count).map(|_| key(random)).collect())
        }
        850..950 => {
            let ends = random.random_range(0..60);
            let only = random.random_range(0..3);
            let ends =
                (0..ends).map(|_| if only < 2 { only == 0 } else { random.random_bool(0.5) }).collect();
            Step::Range(bound(random), bound(random), ends)
        }
        950..960 => Step::TakeSnapshot,
        960..985 => Step::CheckSnapshot,
        985..990 => Step::Flush,
        990..994 => Step::Settle,
        994..996 => Step::Compact,
        _ => Step::Reopen,
    }
}

/// Returns a range delete of a few neighboring keys. In one of ten cases, the range contains a large part of all
/// keys.
fn delete_range(random: &mut impl Rng) -> Write {
    let (low, high) = if random.random_ratio(1, 10) {
        (key(random), key(random))
    } else {
        let first: u32 = random.random_range(0..400);
        let end = first + random.random_range(0..12);
        (format!("user{first:04}").into_bytes(), format!("user{end:04}").into_bytes())
    };
    if low < high { Write::DeleteRange(low, high) } else { Write::DeleteRange(high, low) }
}

fn key(random: &mut impl Rng) -> Vec<u8> {
    let number: u32 = random.random_range(0..400);
    match random.random_range(0..20) {
        0 => Vec::new(),
        1 => vec![0xff; number as usize % 30],
        2 => number.to_be_bytes().to_vec(),
        3 => format!("user{number:04}/with/a/longer/tail").into_bytes(),
        _ => format!("user{number:04}").into_bytes(),
    }
}

fn value(random: &mut impl Rng) -> Vec<u8> {
    let len = match random.random_range(0..40) {
        0 => 0,
        1 => random.random_range(500..3000),
        _ => random.random_range(1..60),
    };
    let compressible: bool = random.random_bool(0.5);
    (0..len).map(|_| if compressible { b'v' } else { random.random() }).collect()
}

fn bound(random: &mut impl Rng) -> Bound<Vec<u8>> {
    match random.random_range(0..5) {
        0 => Bound::Unbounded,
        1 | 2 => Bound::Included(key(random)),
        _ => Bound::Excluded(key(random)),
    }
}

/// A replay, which applies the same operations to a tree and to its reference model and compares the results.
pub struct Replay<'a> {
    design: &'a Design,
    mode: Mode,
    storage: Arc<dyn Storage>,
    directory: &'a Path,
    model: Model,
    tree: Option<Tree>,
    snapshot: Option<(Snapshot, Model)>,
}

impl<'a> Replay<'a> {
    /// Opens a tree of this design in `directory` of `storage`.
    ///
    /// # Errors
    /// If the tree cannot be opened.
    pub fn new(
        design: &'a Design,
        mode: Mode,
        storage: Arc<dyn Storage>,
        directory: &'a Path,
    ) -> Result<Self, String> {
        let mut replay =
            Self { design, mode, storage, directory, model: Model::new(), tree: None, snapshot: None };
        replay.open()?;
        Ok(replay)
    }

    fn open(&mut self) -> Result<(), String> {
        let options = OpenOptions::new(self.design.clone()).mode(self.mode);
        let tree = options.storage(Arc::clone(&self.storage)).open(self.directory);
        self.tree = Some(tree.map_err(|error| format!("the tree cannot be opened: {error}"))?);
        Ok(())
    }

    fn tree(&self) -> &Tree {
        self.tree.as_ref().expect("the model test must have an open tree")
    }

    /// Applies all operations, and then compares every key of the tree and the model, forward and backward.
    ///
    /// # Errors
    /// If an operation fails, or if its result differs from the result of the model. The error contains the operation
    /// and both results.
    pub fn run(&mut self, steps: &[Step]) -> Result<(), String> {
        for (index, step) in steps.iter().enumerate() {
            self.apply(step).map_err(|error| format!("step {index}, {step:?}: {error}"))?;
        }
        self.check_everything()
    }

    fn apply(&mut self, step: &Step) -> Result<(), String> {
        let text = |error: crate::Error| error.to_string();
        match step {
            Step::Write(write) => {
                match write {
                    Write::Put(key, value) => self.tree().put(key, value),
                    Write::Delete(key) => self.tree().delete(key),
                    Write::DeleteRange(low, high) => self.tree().delete_range(low, high),
                    Write::SingleDelete(key) => self.tree().single_delete(key),
                    Write::Merge(key, operand) => self.tree().merge(key, operand),
                }
                .map_err(text)?;
                write.apply(&mut self.model, self.design.options.merge_operator);
            }
            Step::Batch(operations) => self.batch(operations).map_err(text)?,
            Step::PutIfAbsent(key, value) => {
                let is_absent = !self.model.contains_key(key);
                expect(&self.tree().put_if_absent(key, value).map_err(text)?, &is_absent)?;
                self.model.entry(key.clone()).or_insert_with(|| value.clone());
            }
            Step::Get(key) => {
                let got = self.tree().get(key).map_err(text)?;
                expect(&got, &self.model.get(key).cloned())?;
            }
            Step::MultiGet(keys) => {
                let slices: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
                let got = self.tree().multi_get(&slices).map_err(text)?;
                expect(&got, &keys.iter().map(|key| self.model.get(key).cloned()).collect())?;
            }
            Step::Range(low, high, ends) => {
                let bounds = (low.as_ref().map(Vec::as_slice), high.as_ref().map(Vec::as_slice));
                let range = self.tree().range(bounds).map_err(text)?;
                // Some scans announce how many entries they read. Some of the announced numbers are wrong.
                let range = match ends.len() % 3 {
                    0 => range,
                    more => range.expecting(ends.len() / more),
                };
                check_range(range, &self.model, low, high, ends)?;
            }
            Step::TakeSnapshot => self.snapshot = Some((self.tree().snapshot(), self.model.clone())),
            Step::CheckSnapshot => self.check_snapshot()?,
            Step::Flush => self.tree().flush().map_err(text)?,
            Step::Settle => self.tree().settle().map_err(text)?,
            Step::Compact => self.tree().compact().map_err(text)?,
            Step::Reopen => {
                self.snapshot = None;
                self.tree.take().expect("the model test must have an open tree").close().map_err(text)?;
                self.open()?;
            }
        }
        Ok(())
    }

    fn batch(&mut self, writes: &[Write]) -> crate::Result<()> {
        let mut batch = WriteBatch::new();
        writes.iter().try_for_each(|write| write.add_to(&mut batch))?;
        self.tree().write(&batch)?;
        let operator = self.design.options.merge_operator;
        writes.iter().for_each(|write| write.apply(&mut self.model, operator));
        Ok(())
    }

    fn check_snapshot(&self) -> Result<(), String> {
        let Some((snapshot, model)) = &self.snapshot else { return Ok(()) };
        for more in [1, 2] {
            let range = snapshot.range(..).map_err(|error| error.to_string())?;
            check_range(range, model, &Bound::Unbounded, &Bound::Unbounded, &vec![true; model.len() + more])?;
        }
        for key in model.keys().step_by(7).chain(self.model.keys().step_by(5)) {
            expect(&snapshot.get(key).map_err(|error| error.to_string())?, &model.get(key).cloned())?;
        }
        Ok(())
    }

    /// Compares every key of the tree with the reference model, by scans in both directions and by gets.
    fn check_everything(&self) -> Result<(), String> {
        // The scan requests more entries than exist. `check_range` reads an even number of entries by one call of
        // `visit`, and an odd number one by one.
        for (front, more) in [(true, 1), (true, 2), (false, 1), (false, 2)] {
            let range = self.tree().range(..).map_err(|error| error.to_string())?;
            let ends = vec![front; self.model.len() + more];
            check_range(range, &self.model, &Bound::Unbounded, &Bound::Unbounded, &ends)?;
        }
        for (key, value) in &self.model {
            expect(&self.tree().get(key).map_err(|error| error.to_string())?, &Some(value.clone()))?;
        }
        Ok(())
    }
}

fn check_range(
    mut range: crate::Range<'_>,
    model: &Model,
    low: &Bound<Vec<u8>>,
    high: &Bound<Vec<u8>>,
    ends: &[bool],
) -> Result<(), String> {
    let inside = |key: &Vec<u8>| {
        let above = match low {
            Bound::Included(low) => key >= low,
            Bound::Excluded(low) => key > low,
            Bound::Unbounded => true,
        };
        above
            && match high {
                Bound::Included(high) => key <= high,
                Bound::Excluded(high) => key < high,
                Bound::Unbounded => true,
            }
    };
    let mut expected = model.iter().filter(|(key, _)| inside(key));
    for same in ends.chunk_by(|one, next| one == next) {
        let front = same[0];
        let mut wanted = Vec::new();
        for _ in same {
            let entry = if front { expected.next() } else { expected.next_back() };
            wanted.extend(entry.map(|(key, value)| (key.clone(), value.clone())));
        }
        let mut got = Vec::new();
        // The scan reads an even number of entries by one call of `visit`, and an odd number one by one.
        if same.len().is_multiple_of(2) {
            let direction = if front { Direction::Forward } else { Direction::Backward };
            let visited = range.visit(direction, same.len(), |key, value| {
                got.push((key.to_vec(), value.to_vec()));
            });
            expect(&visited.map_err(|error| error.to_string())?, &got.len())?;
        } else {
            for _ in same {
                let entry = if front { range.next() } else { range.next_back() };
                let entry = entry.map_err(|error| error.to_string())?;
                got.extend(entry.map(|(key, value)| (key.to_vec(), value.to_vec())));
            }
        }
        expect(&got, &wanted)?;
    }
    Ok(())
}

fn expect<T: PartialEq + std::fmt::Debug>(got: &T, wanted: &T) -> Result<(), String> {
    if got == wanted { Ok(()) } else { Err(format!("the tree returned {got:?}; expected {wanted:?}")) }
}
