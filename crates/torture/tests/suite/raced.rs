//! Tests of races. Correct trees must have no violation. For a tree with an injected bug, the check that is meant for
//! this bug must detect it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use lsmbench_torture::race::{Contestant, Cursor, Pair, Race, Shared, SharedMaker, TimedMaker, View};
use lsmbench_torture::{Check, Content, ScriptWrite, StoreUnderTest};
use parking_lot::Mutex;
use storage::{Memory, Storage};
use tree::{MultiGetValues, Result};

use crate::design;

/// One call in this number of calls is faulty.
const PERIOD: usize = 37;

/// Maximum number of races until the bug must be detected.
const RACES: u64 = 60;

/// Number of rounds per race.
const ROUNDS: u32 = 4;

/// The bug of a faulty tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bug {
    /// A get sometimes returns an earlier value.
    StaleGet,
    /// A write becomes visible, is acknowledged, and is undone.
    WriteUndone,
    /// A write is acknowledged first, and applied together with the next write.
    WriteLate,
    /// The writes of a batch are applied one by one.
    TornBatch,
    /// A snapshot returns current values.
    LeakingSnapshot,
    /// A cursor sometimes skips an entry.
    SkippingCursor,
    /// A cursor returns a deleted key.
    GhostInCursor,
    /// A cursor sometimes returns an entry twice.
    RepeatingCursor,
    /// A multi-get reads its keys one after the other, without a common snapshot.
    MultiGetOfMoments,
    /// A byte of a value is sometimes wrong.
    WrongByte,
    /// Each half of the threads sees its own writes before the other half sees them.
    TwoOrders,
    /// A clean close loses the last writes.
    LostAtEnd,
    /// A key is missing in checkpoints.
    HoleInCheckpoint,
}

/// The state of a tree with a bug.
#[derive(Default)]
struct State {
    calls: AtomicUsize,
    /// For each key, the first value that was written, or the value that the last delete removed.
    before: Mutex<BTreeMap<Vec<u8>, Vec<u8>>>,
    late: Mutex<Vec<ScriptWrite>>,
    /// For each half of the threads, the writes that only this half can see so far.
    early: [Mutex<BTreeMap<Vec<u8>, Vec<u8>>>; 2],
}

impl State {
    fn is_due(&self) -> bool {
        self.calls.fetch_add(1, Ordering::Relaxed) % PERIOD == PERIOD - 1
    }
}

/// A tree with a bug.
struct Wrong {
    tree: Arc<dyn Shared>,
    storage: Arc<dyn Storage>,
    maker: TimedMaker,
    bug: Bug,
    state: Arc<State>,
}

/// Returns the half to which the current thread belongs.
fn half() -> usize {
    static THREADS: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static THREAD: usize = THREADS.fetch_add(1, Ordering::Relaxed));
    THREAD.with(|thread| thread % 2)
}

impl Wrong {
    /// Applies writes that one half of the threads sees before the other half.
    fn write_early(&self, commit: &[ScriptWrite]) -> Result<()> {
        let early = &self.state.early[half()];
        for ScriptWrite { key, value, .. } in commit {
            value.iter().for_each(|value| drop(early.lock().insert(key.clone(), value.clone())));
        }
        (0..20).for_each(|_| thread::yield_now());
        let written = self.tree.write(commit);
        commit.iter().for_each(|write| drop(early.lock().remove(&write.key)));
        written
    }

    /// Applies a write and undoes it.
    fn write_undone(&self, write: &ScriptWrite) -> Result<()> {
        let before = self.tree.get(&write.key)?;
        self.tree.write(std::slice::from_ref(write))?;
        self.tree.write(&[ScriptWrite { key: write.key.clone(), value: before, end: None }])
    }

    /// Updates [`State::before`] for the keys of a commit.
    fn remember(&self, commit: &[ScriptWrite]) -> Result<()> {
        for ScriptWrite { key, value, .. } in commit {
            if let (None, Some(before)) = (value, self.tree.get(key)?) {
                self.state.before.lock().insert(key.clone(), before);
            } else if let Some(value) = value {
                self.state.before.lock().entry(key.clone()).or_insert_with(|| value.clone());
            }
        }
        Ok(())
    }

    /// Returns the entries of a cursor, changed by the bug.
    fn entries(&self, mut cursor: Box<dyn Cursor + '_>) -> Result<Vec<Pair>> {
        let mut entries = BTreeMap::new();
        while let Some((key, value)) = cursor.next()? {
            entries.insert(key, value);
        }
        let inside = |key: &Vec<u8>| {
            entries.keys().next().is_some_and(|first| first < key)
                && entries.keys().next_back().is_some_and(|last| key < last)
        };
        if self.bug == Bug::GhostInCursor {
            let before = self.state.before.lock();
            let ghost = before.iter().find(|(key, _)| inside(key) && !entries.contains_key(*key));
            if let Some((key, value)) = ghost.map(|(key, value)| (key.clone(), value.clone())) {
                entries.insert(key, value);
            }
        }
        let mut entries: Vec<Pair> = entries.into_iter().collect();
        if !entries.is_empty() && self.state.is_due() {
            match self.bug {
                Bug::SkippingCursor => drop(entries.remove(entries.len() / 2)),
                Bug::RepeatingCursor => entries.insert(0, entries[entries.len() / 2].clone()),
                _ => {}
            }
        }
        Ok(entries)
    }
}

impl StoreUnderTest for Wrong {
    fn write(&self, commit: &[ScriptWrite]) -> Result<()> {
        match (self.bug, commit) {
            (Bug::TornBatch, _) => {
                commit.iter().try_for_each(|write| self.tree.write(std::slice::from_ref(write)))
            }
            (Bug::WriteUndone, [write]) if self.state.is_due() => self.write_undone(write),
            (Bug::WriteLate, [write]) if self.state.is_due() => {
                let late = std::mem::replace(&mut *self.state.late.lock(), vec![write.clone()]);
                self.tree.write(if late.is_empty() { commit } else { &late })
            }
            (Bug::TwoOrders, _) => self.write_early(commit),
            (Bug::StaleGet | Bug::GhostInCursor, _) => {
                self.remember(commit)?;
                self.tree.write(commit)
            }
            _ => self.tree.write(commit),
        }
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let mut found = self.tree.get(key)?;
        match self.bug {
            Bug::StaleGet if self.state.is_due() => {
                found = self.state.before.lock().get(key).cloned().or(found);
            }
            Bug::WrongByte if self.state.is_due() => {
                found = found.map(|mut value| {
                    value[4] ^= 1;
                    value
                });
            }
            _ => {}
        }
        Ok(found)
    }

    fn range(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Result<Content> {
        self.tree.range(low, high)
    }

    fn flush(&self) -> Result<()> {
        self.tree.flush()
    }

    fn compact(&self) -> Result<()> {
        self.tree.compact()
    }

    fn sync(&self) -> Result<()> {
        self.tree.sync()
    }

    fn checkpoint(&self, directory: &Path) -> Result<()> {
        self.tree.checkpoint(directory)?;
        if self.bug == Bug::HoleInCheckpoint {
            let copy = self.maker.open(&self.storage, directory)?;
            if let Some((key, _)) = copy.cursor(Bound::Unbounded, Bound::Unbounded)?.next()? {
                copy.write(&[ScriptWrite { key, value: None, end: None }])?;
            }
            copy.close()?;
        }
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<()> {
        if self.bug == Bug::LostAtEnd {
            let last = self.tree.cursor(Bound::Unbounded, Bound::Unbounded)?.next_back()?;
            if let Some((key, _)) = last {
                self.tree.write(&[ScriptWrite { key, value: None, end: None }])?;
            }
        }
        // Without a WAL a close makes writes durable; with a WAL it does nothing.
        self.tree.sync()
    }
}

impl Shared for Wrong {
    fn multi_get(&self, keys: &[&[u8]]) -> Result<MultiGetValues> {
        match self.bug {
            Bug::MultiGetOfMoments => keys
                .iter()
                .map(|key| {
                    thread::yield_now();
                    self.tree.get(key)
                })
                .collect(),
            Bug::TwoOrders => {
                let mut values = self.tree.multi_get(keys)?;
                let early = self.state.early[half()].lock();
                for (key, value) in keys.iter().zip(&mut values) {
                    *value = early.get(*key).cloned().or(value.take());
                }
                Ok(values)
            }
            _ => self.tree.multi_get(keys),
        }
    }

    fn cursor(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Result<Box<dyn Cursor + '_>> {
        let cursor = self.tree.cursor(low, high)?;
        match self.bug {
            Bug::SkippingCursor | Bug::RepeatingCursor | Bug::GhostInCursor => {
                let entries = self.entries(cursor)?;
                Ok(Box::new(Read(entries.into_iter())))
            }
            _ => Ok(cursor),
        }
    }

    fn view(&self) -> Box<dyn View> {
        match self.bug {
            Bug::LeakingSnapshot => Box::new(Present(Arc::clone(&self.tree))),
            _ => self.tree.view(),
        }
    }
}

/// A cursor over entries that were read earlier.
struct Read(std::vec::IntoIter<Pair>);

impl Cursor for Read {
    fn next(&mut self) -> Result<Option<Pair>> {
        Ok(self.0.next())
    }

    fn next_back(&mut self) -> Result<Option<Pair>> {
        Ok(self.0.next_back())
    }
}

/// A wrong snapshot, which reads the current values instead.
struct Present(Arc<dyn Shared>);

impl View for Present {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.0.get(key)
    }

    fn multi_get(&self, keys: &[&[u8]]) -> Result<MultiGetValues> {
        self.0.multi_get(keys)
    }

    fn cursor(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Result<Box<dyn Cursor + '_>> {
        self.0.cursor(low, high)
    }
}

struct WrongMaker {
    toml: &'static str,
    bug: Bug,
}

impl SharedMaker for WrongMaker {
    fn open(&self, storage: &Arc<dyn Storage>, directory: &Path) -> Result<Box<dyn Shared>> {
        let maker = TimedMaker(design(self.toml));
        // Checkpoints are opened without the bug, which affects only the store.
        if directory != Path::new("store") {
            return maker.open(storage, directory);
        }
        let tree = Arc::from(maker.open(storage, directory)?);
        let (storage, state) = (Arc::clone(storage), Arc::default());
        Ok(Box::new(Wrong { tree, storage, maker, bug: self.bug, state }))
    }
}

fn contestant(toml: &'static str, bug: Bug) -> Contestant {
    let plain = Contestant::tree(toml, design(toml)).expect("the design can be built");
    Contestant { maker: Box::new(WrongMaker { toml, bug }), ..plain }
}

/// Runs races until the check `by` detects the bug.
#[track_caller]
fn assert_caught(bug: Bug, by: Check) {
    let contestant = contestant("wal = \"buffered\"", bug);
    let mut caught = BTreeSet::new();
    for seed in 1..=RACES {
        let mut race = Race::in_memory(&contestant, 4, seed);
        let found = (0..ROUNDS).find_map(|_| race.round().err());
        let Some(violation) = found else { continue };
        caught.insert(violation.check);
        if violation.check == by {
            println!("{bug:?}, race {seed}: {violation}");
            return;
        }
    }
    panic!("{bug:?} is caught by {caught:?}, not by {by:?}");
}

#[test]
fn races_on_trees_find_nothing() {
    for toml in [
        "",
        "wal = \"none\"\nmemtable = \"arena-skiplist\"\ncache = \"lockfree-clock\"",
        "wal = \"group\"\nbloom = \"none\"\nthreads = { per_lookup = 3, background = \"shared\" }\n\
         table = { release = \"next-compaction\" }",
        "threads = { schedule = \"silk\", max_subcompactions = 2 }\n\
         compaction = { kind = \"leveled\", size_ratio = 2 }",
    ] {
        let contestant = Contestant::tree(toml, design(toml)).expect("the design can be built");
        let mut race = Race::in_memory(&contestant, 3, 1);
        for _ in 0..ROUNDS {
            assert_eq!(race.round(), Ok(()), "{toml}");
        }
        let tally = race.tally;
        assert!(tally.operations > 15_000 && tally.commits > 5000 && tally.reads > 50_000, "{tally:?}");
        assert!(tally.opened > 3, "{tally:?}");
    }
}

#[test]
fn a_race_on_a_storage_leaves_nothing_beside_the_store() {
    let contestant = Contestant::tree("default", design("")).expect("the design can be built");
    let storage: Arc<dyn Storage> = Arc::new(Memory::default());
    let mut race = Race::on_storage(&contestant, Arc::clone(&storage), Path::new("there"), 2, 7);
    for _ in 0..ROUNDS {
        assert_eq!(race.round(), Ok(()));
    }
    assert!(storage.list(Path::new("there/copy")).is_ok_and(|names| names.is_empty()));
    assert!(!storage.list(Path::new("there/store")).expect("the store is there").is_empty());
}

#[test]
fn stale_values_are_caught() {
    assert_caught(Bug::StaleGet, Check::Stale);
}

#[test]
fn a_write_that_is_undone_is_caught() {
    assert_caught(Bug::WriteUndone, Check::Stale);
}

#[test]
fn a_write_that_comes_late_is_caught() {
    assert_caught(Bug::WriteLate, Check::Stale);
}

#[test]
fn a_torn_batch_is_caught() {
    assert_caught(Bug::TornBatch, Check::Batch);
}

#[test]
fn a_snapshot_that_sees_later_writes_is_caught() {
    assert_caught(Bug::LeakingSnapshot, Check::Moments);
    assert_caught(Bug::LeakingSnapshot, Check::Future);
}

#[test]
fn a_cursor_that_skips_a_key_is_caught() {
    assert_caught(Bug::SkippingCursor, Check::Missing);
}

#[test]
fn a_cursor_that_shows_a_deleted_key_is_caught() {
    assert_caught(Bug::GhostInCursor, Check::Deletion);
}

#[test]
fn a_cursor_that_repeats_a_key_is_caught() {
    assert_caught(Bug::RepeatingCursor, Check::Cursor);
}

#[test]
fn a_multi_get_of_several_moments_is_caught() {
    assert_caught(Bug::MultiGetOfMoments, Check::Moments);
}

#[test]
fn a_wrong_byte_is_caught() {
    assert_caught(Bug::WrongByte, Check::Invention);
}

#[test]
fn threads_that_see_two_orders_are_caught() {
    assert_caught(Bug::TwoOrders, Check::Serial);
}

#[test]
fn a_write_that_is_lost_at_a_clean_end_is_caught() {
    assert_caught(Bug::LostAtEnd, Check::Promise);
}

#[test]
fn a_hole_in_a_checkpoint_is_caught() {
    assert_caught(Bug::HoleInCheckpoint, Check::Checkpoint);
}
