//! Tests of bugs between a tree and its disk. In these tests, the storage drops a call, executes a call too early, or
//! overwrites a file in place. Each bug imitates the storage calls of a faulty engine, and the tests must detect each
//! bug.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use lsmbench_torture::{Check, Maker, StoreKind, StoreUnderTest, TreeMaker, crash, errors};
use storage::{Purpose, ReadFile, Storage, StorageError, WriteFile};
use tree::Result;
use types::Bytes;

use crate::{maker, subject};

/// The bug of the storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bug {
    /// Directories are never synced.
    NoDirectorySync,
    /// A write is acknowledged before the WAL sync, which never happens.
    LogNotSynced,
    /// The manifest names SSTables whose bytes are not synced.
    TableNotSynced,
    /// Changes of the manifest are not synced.
    ManifestNotSynced,
    /// A new manifest overwrites the old manifest in place.
    ManifestInPlace,
    /// The new manifest replaces the old one in two steps.
    RenameInTwoSteps,
    /// A WAL is removed when its flush begins, not when the SSTable is durable.
    LogRemovedEarly,
    /// Recovery removes a WAL after reading it, before its SSTables are durable.
    LogRemovedByRecovery,
    /// Recovery accepts the first half of a WAL as the whole WAL.
    LogReadInPart,
    /// A checkpoint does not sync its directory.
    CheckpointNotSynced,
    /// Errors of a WAL sync are ignored.
    SyncErrorIgnored,
    /// Errors lose their file and their cause.
    ErrorWithoutCause,
}

/// Storage with a bug.
struct Planted {
    inner: Arc<dyn Storage>,
    bug: Bug,
}

impl Planted {
    /// Removes the WAL of the memtable that is being flushed. The removal is durable.
    fn remove_oldest_log(&self, directory: &Path) -> Result<(), StorageError> {
        let mut names = self.inner.list(directory)?;
        names.retain(|name| name.split('.').nth(1) == Some("wal"));
        match &names[..] {
            [oldest, _, ..] => {
                self.inner.remove(&directory.join(oldest))?;
                self.inner.sync_directory(directory)
            }
            _ => Ok(()),
        }
    }

    fn forget<T>(&self, done: Result<T, StorageError>) -> Result<T, StorageError> {
        match done {
            Err(error) if self.bug == Bug::ErrorWithoutCause => {
                Err(StorageError::new("work", "", std::io::Error::from(error.kind())))
            }
            done => done,
        }
    }
}

impl Storage for Planted {
    fn create(&self, path: &Path, purpose: Purpose) -> Result<Box<dyn WriteFile>, StorageError> {
        if self.bug == Bug::LogRemovedEarly && purpose == Purpose::Table {
            self.remove_oldest_log(path.parent().unwrap())?;
        }
        let path = match self.bug {
            Bug::ManifestInPlace if path.ends_with("manifest.tmp") => &path.with_extension(""),
            _ => path,
        };
        let inner = self.forget(self.inner.create(path, purpose))?;
        Ok(Box::new(PlantedWriter { inner, bug: self.bug, purpose }))
    }

    fn open(&self, path: &Path, purpose: Purpose) -> Result<Arc<dyn ReadFile>, StorageError> {
        let file = self.inner.open(path, purpose)?;
        match self.bug {
            Bug::LogRemovedByRecovery if purpose == Purpose::Log && file.len() > HEADER_BYTES => {
                self.inner.remove(path)?;
                self.inner.sync_directory(path.parent().unwrap())?;
                Ok(file)
            }
            Bug::LogReadInPart if purpose == Purpose::Log => Ok(Arc::new(FirstHalf(file))),
            _ => Ok(file),
        }
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), StorageError> {
        match self.bug {
            Bug::ManifestInPlace => Ok(()),
            Bug::RenameInTwoSteps => {
                if self.inner.open(to, Purpose::Manifest).is_ok() {
                    self.inner.remove(to)?;
                }
                self.inner.hard_link(from, to)?;
                self.inner.remove(from)
            }
            _ => self.forget(self.inner.rename(from, to)),
        }
    }

    fn remove(&self, path: &Path) -> Result<(), StorageError> {
        self.inner.remove(path)
    }

    fn hard_link(&self, existing: &Path, new: &Path) -> Result<(), StorageError> {
        self.inner.hard_link(existing, new)
    }

    fn list(&self, directory: &Path) -> Result<Vec<String>, StorageError> {
        self.inner.list(directory)
    }

    fn create_directory(&self, directory: &Path) -> Result<(), StorageError> {
        self.inner.create_directory(directory)
    }

    fn sync_directory(&self, directory: &Path) -> Result<(), StorageError> {
        let is_copy = directory.to_string_lossy().starts_with("copy");
        match self.bug {
            Bug::NoDirectorySync => Ok(()),
            Bug::CheckpointNotSynced if is_copy => Ok(()),
            _ => self.forget(self.inner.sync_directory(directory)),
        }
    }

    fn lock(&self, path: &Path) -> Result<Box<dyn Send + Sync>, StorageError> {
        self.inner.lock(path)
    }
}

struct PlantedWriter {
    inner: Box<dyn WriteFile>,
    bug: Bug,
    purpose: Purpose,
}

impl WriteFile for PlantedWriter {
    fn append(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        self.inner.append(bytes)
    }

    fn sync(&mut self) -> Result<(), StorageError> {
        match (self.bug, self.purpose) {
            (Bug::LogNotSynced, Purpose::Log)
            | (Bug::TableNotSynced, Purpose::Table)
            | (Bug::ManifestNotSynced, Purpose::Manifest) => Ok(()),
            (Bug::SyncErrorIgnored, Purpose::Log) => {
                let _ = self.inner.sync();
                Ok(())
            }
            _ => self.inner.sync(),
        }
    }

    fn len(&self) -> u64 {
        self.inner.len()
    }
}

/// Size of the header of a WAL in bytes.
const HEADER_BYTES: u64 = 20;

/// A WAL of which only the first half is readable. The header of the WAL is always readable.
struct FirstHalf(Arc<dyn ReadFile>);

impl ReadFile for FirstHalf {
    fn read(&self, offset: u64, len: usize) -> Result<Bytes, StorageError> {
        self.0.read(offset, len)
    }

    fn len(&self) -> u64 {
        (self.0.len() / 2).max(HEADER_BYTES.min(self.0.len()))
    }
}

/// Opens trees on storage with a seeded fault, and verifies these trees without the fault.
struct PlantedMaker {
    tree: TreeMaker,
    bug: Bug,
}

impl Maker for PlantedMaker {
    fn open(&self, storage: &Arc<dyn Storage>, directory: &Path) -> Result<Box<dyn StoreUnderTest>> {
        let storage: Arc<dyn Storage> = Arc::new(Planted { inner: Arc::clone(storage), bug: self.bug });
        self.tree.open(&storage, directory)
    }

    fn verify(&self, storage: &Arc<dyn Storage>, directory: &Path) -> Result<Vec<String>> {
        self.tree.verify(storage, directory)
    }
}

fn planted(toml: &str, bug: Bug) -> StoreKind {
    let plain = subject(toml);
    StoreKind { maker: Box::new(PlantedMaker { tree: maker(toml), bug }), ..plain }
}

/// Explores crashes until a violation is found. Returns the failed checks.
fn caught_by_crashes(toml: &str, bug: Bug) -> BTreeSet<Check> {
    let subject = planted(toml, bug);
    let tally = crash::explore(&subject, crash::CrashBudget { seed: 1, states: 1500 });
    assert!(!tally.findings.kept.is_empty(), "{bug:?} is not caught");
    for finding in &tally.findings.kept {
        let again = crash::replay(&subject, finding.place).unwrap();
        assert!(again.findings.kept.contains(finding), "{bug:?}: {finding:?} is not found again: {again:?}");
    }
    println!("{bug:?}: {} (behind: {})", tally.findings.kept[0].violation, tally.findings.kept[0].moment);
    tally.findings.kept.iter().map(|finding| finding.violation.check).collect()
}

#[track_caller]
fn assert_caught(bug: Bug, toml: &str, by: &[Check]) {
    let caught = caught_by_crashes(toml, bug);
    assert!(by.iter().all(|check| caught.contains(check)), "{bug:?} is caught by {caught:?}, not by {by:?}");
}

#[test]
fn a_missing_directory_sync_is_caught() {
    assert_caught(Bug::NoDirectorySync, "wal = \"sync\"", &[Check::Promise]);
}

#[test]
fn an_acknowledgement_before_the_sync_is_caught() {
    assert_caught(Bug::LogNotSynced, "wal = \"sync\"", &[Check::Promise]);
    assert_caught(Bug::LogNotSynced, "wal = \"group\"", &[Check::Promise]);
}

#[test]
fn a_table_that_is_not_synced_before_the_manifest_names_it_is_caught() {
    assert_caught(Bug::TableNotSynced, "wal = \"buffered\"", &[Check::CleanBefore]);
}

#[test]
fn a_manifest_that_is_not_synced_is_caught() {
    assert_caught(Bug::ManifestNotSynced, "wal = \"sync\"", &[Check::CleanBefore]);
}

#[test]
fn a_manifest_written_in_place_is_caught() {
    assert_caught(Bug::ManifestInPlace, "wal = \"sync\"", &[Check::CleanBefore]);
}

#[test]
fn a_manifest_that_is_gone_for_a_moment_is_caught() {
    assert_caught(Bug::RenameInTwoSteps, "wal = \"sync\"", &[Check::CleanBefore]);
}

#[test]
fn a_log_removed_before_its_table_is_durable_is_caught() {
    assert_caught(Bug::LogRemovedEarly, "wal = \"sync\"", &[Check::CleanBefore]);
}

/// Tests a bug that only a crash during a recovery reveals.
#[test]
fn a_log_removed_by_recovery_before_its_tables_are_durable_is_caught() {
    let subject = planted("wal = \"sync\"", Bug::LogRemovedByRecovery);
    let tally = crash::explore(&subject, crash::CrashBudget { seed: 1, states: 1500 });
    assert!(!tally.findings.kept.is_empty());
    assert!(tally.findings.kept.iter().all(|finding| finding.place.recovery.is_some()), "{tally:?}");
}

#[test]
fn a_recovery_that_stops_in_the_middle_in_silence_is_caught() {
    assert_caught(Bug::LogReadInPart, "wal = \"sync\"", &[Check::Promise]);
}

#[test]
fn a_checkpoint_that_is_not_synced_is_caught() {
    assert_caught(Bug::CheckpointNotSynced, "wal = \"buffered\"", &[Check::Checkpoint]);
}

#[test]
fn errors_that_are_lost_on_the_way_are_caught() {
    for (bug, by) in [(Bug::SyncErrorIgnored, Check::Report), (Bug::ErrorWithoutCause, Check::Report)] {
        let subject = planted("wal = \"sync\"", bug);
        let tally = errors::explore(&subject, errors::FaultBudget { seed: 1, faults: 1500 });
        let caught: BTreeSet<Check> =
            tally.findings.kept.iter().map(|finding| finding.violation.check).collect();
        assert!(caught.contains(&by), "{bug:?} is caught by {caught:?}, not by {by:?}");
        for finding in &tally.findings.kept {
            let again = errors::replay(&subject, finding.place).unwrap();
            assert_eq!(again.findings.kept.first(), Some(finding), "{bug:?}");
        }
        println!("{bug:?}: {} ({})", tally.findings.kept[0].violation, tally.findings.kept[0].moment);
    }
}
