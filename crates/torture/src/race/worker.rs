//! Implements a writer thread of a race, which executes random writes and reads, and records them.

use std::ops::{Bound, Range};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::history::{Cell, Log, Moment, OperationKind};
use super::keys::{self, HIDDEN, Key, Keys, NOTHING, Version};
use super::store::{Cursor, Pair, Shared, View};
use crate::script::ScriptWrite;
use crate::violation::{Check, Violation};

/// The state that all threads share in one round of a race.
pub(crate) struct Arena<'a> {
    pub(crate) store: &'a dyn Shared,
    pub(crate) keys: Keys,
    pub(crate) round: u32,
    /// The counter that provides the logical timestamps of all threads.
    pub(crate) clock: AtomicU64,
    /// Whether the round of the race has ended: a thread found a violation, or all writers are done.
    pub(crate) is_over: AtomicBool,
}

impl Arena<'_> {
    /// Returns the next logical timestamp, which is later than every earlier timestamp.
    pub(crate) fn now(&self) -> Moment {
        self.clock.fetch_add(1, Ordering::SeqCst)
    }

    /// Runs an operation. Returns its result, with the timestamps of its call and its return.
    pub(crate) fn timed<T>(
        &self,
        call: impl FnOnce() -> tree::Result<T>,
    ) -> Result<(T, (Moment, Moment)), Violation> {
        let called = self.now();
        let done = call();
        let returned = self.now();
        Ok((done.map_err(failed)?, (called, returned)))
    }
}

/// Returns the violation for an unexpected error: a call failed although the disk has no faults.
pub(crate) fn failed(error: impl std::fmt::Display) -> Violation {
    Violation::new(Check::GoesOn, format!("a call failed on a disk without faults: {error}"))
}

/// Returns a key with the version of the value that was read.
///
/// # Errors
/// The value was never written to the key.
fn cell(key: Key, value: Option<&[u8]>) -> Result<Cell, Violation> {
    let version = match value {
        None => NOTHING,
        Some(value) => keys::version_of(key, value).ok_or_else(|| {
            let shown = &value[..value.len().min(24)];
            Violation::new(
                Check::Invention,
                format!(
                    "a read of key {key} returned {} bytes that were never written to it: {shown:?} …",
                    value.len()
                ),
            )
        })?,
    };
    Ok(Cell { key, version })
}

/// A cursor over a key range, with the entries that it has returned so far.
pub(crate) struct Walk<'s> {
    cursor: Box<dyn Cursor + 's>,
    range: Range<Key>,
    front: Vec<Pair>,
    back: Vec<Pair>,
}

/// The end of the key range at which a cursor reads its next entry.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Front,
    Back,
}

impl<'s> Walk<'s> {
    pub(crate) fn new(cursor: Box<dyn Cursor + 's>, range: Range<Key>) -> Self {
        Self { cursor, range, front: Vec::new(), back: Vec::new() }
    }

    /// Reads the next entry from one end of the key range. Returns `false` if no entry remains.
    pub(crate) fn step(&mut self, end: End) -> Result<bool, Violation> {
        let (entry, read) = match end {
            End::Front => (self.cursor.next(), &mut self.front),
            End::Back => (self.cursor.next_back(), &mut self.back),
        };
        let entry = entry.map_err(failed)?;
        let is_there = entry.is_some();
        read.extend(entry);
        Ok(is_there)
    }

    /// Reads all remaining entries, each from the end that `end` chooses. Returns every key of the range with its
    /// version, including absent keys.
    pub(crate) fn finish(mut self, mut end: impl FnMut() -> End, keys: Keys) -> Result<Vec<Cell>, Violation> {
        while self.step(end())? {}
        let entries: Vec<Pair> = self.front.into_iter().chain(self.back.into_iter().rev()).collect();
        let mut cells: Vec<Cell> = self.range.clone().map(|key| Cell { key, version: NOTHING }).collect();
        let mut next = self.range.start;
        for (key, value) in entries {
            let number =
                keys::parse(&key, keys.len()).filter(|number| (next..self.range.end).contains(number));
            let Some(number) = number else {
                let what = format!(
                    "a cursor returned the key {:?}, which is not in the rest of its range: the keys with the numbers \
                     {next} to {} (exclusive)",
                    String::from_utf8_lossy(&key),
                    self.range.end
                );
                return Err(Violation::new(Check::Cursor, what));
            };
            cells[usize::from(number - self.range.start)] = cell(number, Some(&value))?;
            next = number + 1;
        }
        Ok(cells)
    }
}

/// Returns the bounds of a range of keys for a cursor. If `is_exact` is true, they are the first key of the range and
/// the first key after it (exclusive). Otherwise, they are the last key before the range (exclusive) and the last key
/// of the range.
fn bounds(range: &Range<Key>, keys: Keys, is_exact: bool) -> (Bound<Vec<u8>>, Bound<Vec<u8>>) {
    let low = match range.start {
        0 => Bound::Unbounded,
        start if is_exact => Bound::Included(keys::bytes(start)),
        start => Bound::Excluded(keys::bytes(start - 1)),
    };
    let high = match range.end {
        end if usize::from(end) == keys.len() => Bound::Unbounded,
        end if is_exact => Bound::Excluded(keys::bytes(end)),
        0 => Bound::Excluded(Vec::new()),
        end => Bound::Included(keys::bytes(end - 1)),
    };
    (low, high)
}

/// A function that opens a cursor between two bounds.
type Open<'a, 's> = &'a dyn Fn(Bound<&[u8]>, Bound<&[u8]>) -> tree::Result<Box<dyn Cursor + 's>>;

/// Opens a cursor over a range of keys with the function `open`.
pub(crate) fn walk<'s>(
    open: Open<'_, 's>,
    range: Range<Key>,
    keys: Keys,
    is_exact: bool,
) -> tree::Result<Walk<'s>> {
    let (low, high) = bounds(&range, keys, is_exact);
    let cursor = open(low.as_ref().map(Vec::as_slice), high.as_ref().map(Vec::as_slice))?;
    Ok(Walk::new(cursor, range))
}

/// Reads a whole store with one cursor. Returns every key with its version.
pub(crate) fn everything(open: Open<'_, '_>, keys: Keys) -> Result<Vec<Cell>, Violation> {
    let walk = walk(open, 0..keys.len() as Key, keys, true).map_err(failed)?;
    walk.finish(|| End::Front, keys)
}

/// A writer thread of a race, which writes and reads.
pub(crate) struct Worker<'a> {
    arena: &'a Arena<'a>,
    number: usize,
    random: Xoshiro256PlusPlus,
    log: Log,
    commits: usize,
    /// A cursor that stays open during several operations, with the timestamps of its opening.
    held: Option<(Walk<'a>, (Moment, Moment))>,
}

impl<'a> Worker<'a> {
    /// Creates the writer thread with the number `number`.
    pub(crate) fn new(arena: &'a Arena<'a>, number: usize, seed: u64) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self { arena, number, random, log: Log::default(), commits: 0, held: None }
    }

    /// Runs `operations` random operations, or fewer if the round ends earlier. Returns the recorded operations.
    pub(crate) fn run(mut self, operations: usize) -> Result<Log, Violation> {
        for _ in 0..operations.min(keys::MOST_COMMITS) {
            if self.arena.is_over.load(Ordering::Relaxed) {
                break;
            }
            self.act()?;
        }
        while self.held.is_some() {
            self.go_on()?;
        }
        Ok(self.log)
    }

    fn act(&mut self) -> Result<(), Violation> {
        match self.random.random_range(0..100) {
            0..32 => self.commit_one(true),
            32..40 => self.commit_one(false),
            40..50 => self.commit_batch(),
            50..74 => self.get(),
            74..82 => self.multi_get(),
            82..90 => self.cursor(),
            90..93 => self.snapshot(),
            _ => self.go_on(),
        }
    }

    /// Returns a random key that this writer may write: usually a key that it owns, and with probability 1/4 a key that
    /// all writers share.
    fn writable(&mut self) -> Key {
        let owner = if self.random.random_bool(0.25) { self.arena.keys.writers } else { self.number };
        let mut keys = self.arena.keys.of(owner);
        let at = self.random.random_range(0..keys.len());
        keys.nth(at).expect("the random key number must be below the number of keys")
    }

    fn any_key(&mut self) -> Key {
        self.random.random_range(0..self.arena.keys.len() as Key)
    }

    fn commit_one(&mut self, is_put: bool) -> Result<(), Violation> {
        let key = self.writable();
        self.commit(&[(key, is_put)])
    }

    fn commit_batch(&mut self) -> Result<(), Violation> {
        let count = self.random.random_range(2..8);
        let writes: Vec<(Key, bool)> =
            (0..count).map(|_| (self.writable(), self.random.random_bool(0.7))).collect();
        self.commit(&writes)
    }

    /// Writes one commit, which puts or deletes each key of `writes`. The flag is true for a delete. If a key occurs
    /// twice, only its last write is visible.
    fn commit(&mut self, writes: &[(Key, bool)]) -> Result<(), Violation> {
        self.commits += 1;
        let version = keys::version(self.arena.round, self.number, self.commits);
        let (mut commit, mut cells) = (Vec::new(), Vec::new());
        for (at, (key, is_put)) in writes.iter().enumerate() {
            let is_hidden = writes[at + 1..].iter().any(|(later, _)| later == key);
            let version: Version = match (is_put, is_hidden) {
                (false, _) => NOTHING,
                (true, true) => version | HIDDEN,
                (true, false) => version,
            };
            // Half of the deletes are range deletes of the one key, so that they meet no key of another writer.
            let end =
                (!is_put && self.random.random_bool(0.5)).then(|| [&keys::bytes(*key)[..], &[0]].concat());
            commit.push(ScriptWrite {
                key: keys::bytes(*key),
                value: is_put.then(|| keys::value(*key, version)),
                end,
            });
            if !is_hidden {
                cells.push(Cell { key: *key, version });
            }
        }
        let ((), moments) = self.arena.timed(|| self.arena.store.write(&commit))?;
        self.log.add(OperationKind::Commit, moments, &cells);
        Ok(())
    }

    fn get(&mut self) -> Result<(), Violation> {
        let key = self.any_key();
        let bytes = keys::bytes(key);
        let (value, moments) = self.arena.timed(|| self.arena.store.get(&bytes))?;
        self.log.add(OperationKind::Get, moments, &[cell(key, value.as_deref())?]);
        Ok(())
    }

    fn multi_get(&mut self) -> Result<(), Violation> {
        let count = self.random.random_range(2..12);
        let asked: Vec<Key> = (0..count).map(|_| self.any_key()).collect();
        let (cells, moments) =
            self.arena.timed(|| Ok(ask(&|keys| self.arena.store.multi_get(keys), &asked)))?;
        self.log.add(OperationKind::MultiGet, moments, &cells?);
        Ok(())
    }

    /// Opens a cursor. Half of all cursors are read to their end at once, and the others a few entries at a time.
    fn cursor(&mut self) -> Result<(), Violation> {
        while self.held.is_some() {
            self.go_on()?;
        }
        let (a, b) = (self.any_key(), self.any_key());
        let range =
            if self.random.random_bool(0.5) { 0..self.arena.keys.len() as Key } else { a.min(b)..a.max(b) };
        let is_exact = self.random.random_bool(0.5);
        let store = self.arena.store;
        let open = |low: Bound<&[u8]>, high: Bound<&[u8]>| store.cursor(low, high);
        let opened = self.arena.timed(|| walk(&open, range, self.arena.keys, is_exact))?;
        self.held = Some(opened);
        if self.random.random_bool(0.5) { self.finish() } else { Ok(()) }
    }

    /// Reads the next entries from the cursor that stays open.
    fn go_on(&mut self) -> Result<(), Violation> {
        let Some((walk, _)) = &mut self.held else { return self.get() };
        for _ in 0..self.random.random_range(1..6) {
            let end = if self.random.random_bool(0.5) { End::Front } else { End::Back };
            if !walk.step(end)? {
                return self.finish();
            }
        }
        Ok(())
    }

    /// Reads the cursor that stays open to its end.
    fn finish(&mut self) -> Result<(), Violation> {
        let Some((walk, moments)) = self.held.take() else { return Ok(()) };
        let share = [0.0, 1.0, 0.5][self.random.random_range(0..3)];
        let random = &mut self.random;
        let end = || if random.random_bool(share) { End::Back } else { End::Front };
        let cells = walk.finish(end, self.arena.keys)?;
        self.log.add(OperationKind::Cursor, moments, &cells);
        Ok(())
    }

    /// Takes a snapshot, and reads it through all read paths while other threads run.
    fn snapshot(&mut self) -> Result<(), Violation> {
        let (view, moments) = self.arena.timed(|| Ok(self.arena.store.view()))?;
        let asked: Vec<Key> = (0..4).map(|_| self.any_key()).collect();
        let mut cells = ask(&|keys| view.multi_get(keys), &asked)?;
        for end in [End::Front, End::Back] {
            std::thread::yield_now();
            cells.extend(read_view(&*view, end, self.arena.keys)?);
            for key in &asked {
                let value = view.get(&keys::bytes(*key)).map_err(failed)?;
                cells.push(cell(*key, value.as_deref())?);
            }
        }
        self.log.add(OperationKind::Snapshot, moments, &cells);
        Ok(())
    }
}

/// Reads all entries of a snapshot with one cursor, from one end.
pub(crate) fn read_view(view: &dyn View, end: End, keys: Keys) -> Result<Vec<Cell>, Violation> {
    let open = |low: Bound<&[u8]>, high: Bound<&[u8]>| view.cursor(low, high);
    let walk = walk(&open, 0..keys.len() as Key, keys, true).map_err(failed)?;
    walk.finish(|| end, keys)
}

/// Reads the keys `asked` with one multi-get. Returns each of them with its version.
fn ask(
    multi_get: &dyn Fn(&[&[u8]]) -> tree::Result<tree::MultiGetValues>,
    asked: &[Key],
) -> Result<Vec<Cell>, Violation> {
    let bytes: Vec<Vec<u8>> = asked.iter().map(|key| keys::bytes(*key)).collect();
    let slices: Vec<&[u8]> = bytes.iter().map(Vec::as_slice).collect();
    let values = multi_get(&slices).map_err(failed)?;
    if values.len() != asked.len() {
        let what = format!("a multi-get returned {} values for {} keys", values.len(), asked.len());
        return Err(Violation::new(Check::Reads, what));
    }
    asked.iter().zip(&values).map(|(key, value)| cell(*key, value.as_deref())).collect()
}
