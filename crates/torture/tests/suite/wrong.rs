//! Tests of trees with a bug, such as batches that are written one by one, dropped tombstones, and syncs without
//! effect. The check that is meant for a bug must detect it.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use lsmbench_torture::{
    Check, Content, Maker, ScriptWrite, StoreKind, StoreUnderTest, TreeMaker, crash, errors,
};
use parking_lot::Mutex;
use storage::Storage;
use tree::Result;

use crate::{maker, subject};

/// The bug of a faulty tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bug {
    /// The writes of a batch are logged one by one.
    TornBatch,
    /// A delete of a key that is no longer in memory writes no tombstone and only hides the key.
    TombstoneDropped,
    /// `sync` does nothing.
    SyncDoesNothing,
    /// `flush` does nothing.
    FlushDoesNothing,
    /// A filter lacks one key, so gets do not find this key.
    KeyMissed,
    /// Errors of writes are ignored.
    ErrorIgnored,
    /// A failed read stops the writes.
    ReadStopsWrites,
}

/// A tree with a bug.
struct Wrong {
    tree: Box<dyn StoreUnderTest>,
    bug: Bug,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Keys written since the last flush.
    in_memory: BTreeSet<Vec<u8>>,
    /// Deleted keys without a tombstone.
    hidden: BTreeSet<Vec<u8>>,
    has_failed: bool,
}

impl Wrong {
    /// Returns the commit without the deletes whose tombstones the bug drops.
    fn without_tombstones(&self, commit: &[ScriptWrite]) -> Vec<ScriptWrite> {
        let state = &mut *self.state.lock();
        let mut kept = Vec::new();
        for write in commit {
            state.hidden.remove(&write.key);
            if write.value.is_none() && !state.in_memory.contains(&write.key) {
                state.hidden.insert(write.key.clone());
                continue;
            }
            state.in_memory.insert(write.key.clone());
            kept.push(write.clone());
        }
        kept
    }
}

impl StoreUnderTest for Wrong {
    fn write(&self, commit: &[ScriptWrite]) -> Result<()> {
        match self.bug {
            Bug::TornBatch => {
                commit.iter().try_for_each(|write| self.tree.write(std::slice::from_ref(write)))
            }
            Bug::TombstoneDropped => match &self.without_tombstones(commit)[..] {
                [] => Ok(()),
                kept => self.tree.write(kept),
            },
            Bug::ErrorIgnored => {
                let _ = self.tree.write(commit);
                Ok(())
            }
            Bug::ReadStopsWrites if self.state.lock().has_failed => {
                Err(tree::Error::Failed("a read failed".to_owned()))
            }
            _ => self.tree.write(commit),
        }
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        if (self.bug == Bug::KeyMissed && key == b"7") || self.state.lock().hidden.contains(key) {
            return Ok(None);
        }
        let found = self.tree.get(key);
        self.state.lock().has_failed |= found.is_err();
        found
    }

    fn range(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Result<Content> {
        let mut content = self.tree.range(low, high)?;
        content.retain(|key, _| !self.state.lock().hidden.contains(key));
        Ok(content)
    }

    fn flush(&self) -> Result<()> {
        if self.bug == Bug::FlushDoesNothing {
            return Ok(());
        }
        self.state.lock().in_memory.clear();
        self.tree.flush()
    }

    fn compact(&self) -> Result<()> {
        self.tree.compact()
    }

    fn sync(&self) -> Result<()> {
        if self.bug == Bug::SyncDoesNothing { Ok(()) } else { self.tree.sync() }
    }

    fn checkpoint(&self, directory: &Path) -> Result<()> {
        self.tree.checkpoint(directory)
    }

    fn close(self: Box<Self>) -> Result<()> {
        let hidden = std::mem::take(&mut self.state.lock().hidden);
        for key in hidden {
            self.tree.write(&[ScriptWrite { key, value: None, end: None }])?;
        }
        self.tree.close()
    }
}

struct WrongMaker {
    tree: TreeMaker,
    bug: Bug,
}

impl Maker for WrongMaker {
    fn open(&self, storage: &Arc<dyn Storage>, directory: &Path) -> Result<Box<dyn StoreUnderTest>> {
        let tree = self.tree.open(storage, directory)?;
        Ok(Box::new(Wrong { tree, bug: self.bug, state: Mutex::default() }))
    }

    fn verify(&self, storage: &Arc<dyn Storage>, directory: &Path) -> Result<Vec<String>> {
        self.tree.verify(storage, directory)
    }
}

fn wrong(toml: &str, bug: Bug) -> StoreKind {
    let plain = subject(toml);
    StoreKind { maker: Box::new(WrongMaker { tree: maker(toml), bug }), ..plain }
}

#[track_caller]
fn assert_caught(bug: Bug, toml: &str, by: Check) {
    let tally = crash::explore(&wrong(toml, bug), crash::CrashBudget { seed: 1, states: 1500 });
    let caught: BTreeSet<Check> = tally.findings.kept.iter().map(|finding| finding.violation.check).collect();
    assert!(caught.contains(&by), "{bug:?} is caught by {caught:?}, not by {by:?}");
    println!("{bug:?}: {} (behind: {})", tally.findings.kept[0].violation, tally.findings.kept[0].moment);
}

#[test]
fn a_torn_batch_is_caught() {
    assert_caught(Bug::TornBatch, "wal = \"sync\"", Check::Batch);
}

#[test]
fn a_tombstone_dropped_too_early_is_caught() {
    // A read of the store that still runs finds the key before a crash could.
    assert_caught(Bug::TombstoneDropped, "wal = \"sync\"", Check::Reads);
}

#[test]
fn a_sync_that_does_nothing_is_caught() {
    assert_caught(Bug::SyncDoesNothing, "wal = \"buffered\"", Check::Promise);
}

#[test]
fn a_flush_that_does_nothing_is_caught() {
    assert_caught(Bug::FlushDoesNothing, "wal = \"none\"", Check::Promise);
}

#[test]
fn a_filter_that_lacks_a_key_is_caught() {
    assert_caught(Bug::KeyMissed, "wal = \"sync\"", Check::Reads);
}

#[test]
fn stores_that_deal_wrongly_with_errors_are_caught() {
    for (bug, by) in [(Bug::ErrorIgnored, Check::Report), (Bug::ReadStopsWrites, Check::GoesOn)] {
        let tally =
            errors::explore(&wrong("wal = \"sync\"", bug), errors::FaultBudget { seed: 1, faults: 1500 });
        let caught: BTreeSet<Check> =
            tally.findings.kept.iter().map(|finding| finding.violation.check).collect();
        assert!(caught.contains(&by), "{bug:?} is caught by {caught:?}, not by {by:?}");
    }
}
