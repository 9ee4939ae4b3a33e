//! Tests of corruption in every part of every file. The store must report every corruption, give no wrong answer, and
//! trust no corrupted length. The tests must detect stores that handle corruption wrongly.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use lsmbench_torture::damage::{self, CorruptionBudget};
use lsmbench_torture::{Check, Content, Maker, ScriptWrite, StoreKind, StoreUnderTest, TreeMaker};
use storage::{Purpose, ReadFile, Storage, StorageError, WriteFile};
use tree::Result;
use types::Bytes;

use crate::largest::largest_allocation_of;
use crate::{maker, subject};

/// WAL modes, each with a design. The files of these designs have different contents.
const DESIGNS: [(&str, &str); 5] = [
    ("none", "compaction = \"tiered\"\nbloom = \"ribbon\"\nblock = { memory_index = true }"),
    (
        "buffered",
        "compaction = \"leveled\"\nfence = \"static-btree\"\nvalues = \"tiered-by-size\"\n\
     table = { names = \"level-run\", filter = \"apart\", layout = \"index-first\" }",
    ),
    ("sync", "compression = \"zstd(dictionary=256)\"\nblock = { index = \"hash\" }\nvalues = \"blob-files\""),
    ("group", "block = { align = true, checksum = \"xxh3\" }\nbloom = \"grafite\"\nvalues = \"value-log\""),
    (
        "interval",
        "compaction = \"leveled-partial\"\nblock = { format = \"btree-page\" }\nfence = \"page-search\"",
    ),
];

/// Maximum size of an allocation in these tests. Without corruption, the largest allocation of a store is the write
/// buffer of an SSTable (1.1 MiB), and the list of images takes 7 MB. A corrupted 32-bit length exceeds this limit in
/// all but one of 256 cases.
const LARGEST_ALLOCATION: usize = 16 << 20;

#[test]
fn no_damage_is_missed_and_none_gives_a_wrong_answer() {
    for (wal, design) in DESIGNS {
        let subject = subject(&format!("wal = \"{wal}\"\n{design}"));
        let budget = CorruptionBudget { seed: 1, images: 600 };
        let (tally, largest) = largest_allocation_of(|| damage::explore(&subject, budget));
        assert_eq!(tally.findings.kept, [], "{}", subject.name);
        assert_eq!(tally.images, 600);
        assert!(tally.told > 400 && tally.harmless.iter().all(|count| *count > 5), "{tally:?}");
        assert!(largest < LARGEST_ALLOCATION, "{}: {largest} bytes at once", subject.name);
    }
}

#[test]
fn the_same_seed_gives_the_same_numbers() {
    let explored =
        |seed| damage::explore(&subject("wal = \"group\""), CorruptionBudget { seed, images: 200 });
    assert_eq!(explored(5), explored(5));
    assert_ne!(explored(5), explored(6));
}

/// The bug of a faulty store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bug {
    /// `verify` stops at the first corruption.
    VerifyStopsEarly,
    /// `verify` skips WALs.
    VerifySkipsLogs,
    /// `verify` leaves a lock file.
    VerifyLocks,
    /// A get that hits corruption reports the key as absent.
    DamageIsAbsence,
    /// A scan that hits corruption ends early.
    DamageEndsRanges,
    /// Corrupted SSTables are skipped silently.
    LeftOutInSilence,
    /// Quarantined files are not reported.
    QuarantineInSilence,
    /// Errors do not name the file.
    FileNotNamed,
    /// Corruption causes a panic.
    Panics,
    /// The version of the manifest is ignored.
    VersionIgnored,
    /// The lengths in an SSTable's footer are trusted.
    LengthBelieved,
}

/// A tree with a bug.
struct Wrong {
    tree: Box<dyn StoreUnderTest>,
    bug: Bug,
}

impl StoreUnderTest for Wrong {
    fn write(&self, commit: &[ScriptWrite]) -> Result<()> {
        self.tree.write(commit)
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        match self.tree.get(key) {
            Err(error) if self.bug == Bug::DamageIsAbsence && error.is_damage() => Ok(None),
            // Panics without a line on standard error for each.
            Err(error) if self.bug == Bug::Panics => std::panic::resume_unwind(Box::new(error.to_string())),
            found => found,
        }
    }

    fn range(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Result<Content> {
        match self.tree.range(low, high) {
            Err(error) if self.bug == Bug::DamageEndsRanges && error.is_damage() => Ok(Content::new()),
            found => found,
        }
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
        self.tree.checkpoint(directory)
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.tree.close()
    }
}

struct WrongMaker {
    tree: TreeMaker,
    bug: Bug,
}

impl WrongMaker {
    fn storage(&self, storage: &Arc<dyn Storage>) -> Arc<dyn Storage> {
        Arc::new(Healing { inner: Arc::clone(storage), bug: self.bug })
    }

    fn wrap(&self, tree: Box<dyn StoreUnderTest>) -> Box<dyn StoreUnderTest> {
        Box::new(Wrong { tree, bug: self.bug })
    }
}

impl Maker for WrongMaker {
    fn open(&self, storage: &Arc<dyn Storage>, directory: &Path) -> Result<Box<dyn StoreUnderTest>> {
        if self.bug == Bug::LeftOutInSilence {
            return Ok(self.open_quarantined(storage, directory)?.0);
        }
        match self.tree.open(&self.storage(storage), directory) {
            Err(error) if self.bug == Bug::FileNotNamed && error.is_damage() => {
                Err(tree::Error::Misuse("something is damaged".to_owned()))
            }
            opened => Ok(self.wrap(opened?)),
        }
    }

    fn open_quarantined(
        &self,
        storage: &Arc<dyn Storage>,
        directory: &Path,
    ) -> Result<(Box<dyn StoreUnderTest>, Vec<String>)> {
        let (tree, mut report) = self.tree.open_quarantined(&self.storage(storage), directory)?;
        if self.bug == Bug::QuarantineInSilence {
            report.clear();
        }
        Ok((self.wrap(tree), report))
    }

    fn verify(&self, storage: &Arc<dyn Storage>, directory: &Path) -> Result<Vec<String>> {
        if self.bug == Bug::VerifyLocks {
            drop(storage.lock(&directory.join("lock"))?);
        }
        let mut damage = self.tree.verify(&self.storage(storage), directory)?;
        match self.bug {
            Bug::VerifyStopsEarly => damage.truncate(1),
            Bug::VerifySkipsLogs => damage.retain(|line| !line.contains(".wal")),
            _ => {}
        }
        Ok(damage)
    }
}

/// Storage with a bug: it hides a wrong version of a manifest, or allocates as much memory as a corrupted length
/// demands.
struct Healing {
    inner: Arc<dyn Storage>,
    bug: Bug,
}

impl Storage for Healing {
    fn create(&self, path: &Path, purpose: Purpose) -> Result<Box<dyn WriteFile>, StorageError> {
        self.inner.create(path, purpose)
    }

    fn open(&self, path: &Path, purpose: Purpose) -> Result<Arc<dyn ReadFile>, StorageError> {
        let file = self.inner.open(path, purpose)?;
        let bytes = file.read(0, file.len() as usize)?;
        match (self.bug, purpose) {
            (Bug::VersionIgnored, Purpose::Manifest) if bytes.starts_with(b"lsmmanifest") => {
                Ok(Arc::new(Healed([b"lsmmanifest1", bytes.get(12..).unwrap_or_default()].concat())))
            }
            (Bug::LengthBelieved, Purpose::Table) => {
                let footer = bytes.last_chunk::<96>().map_or(&[][..], |footer| &footer[..80]);
                for section in footer.chunks(20) {
                    let length = u32::from_le_bytes(section[8..12].try_into().expect("four bytes"));
                    let _ = std::hint::black_box(Vec::<u8>::new().try_reserve(length as usize));
                }
                Ok(file)
            }
            _ => Ok(file),
        }
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), StorageError> {
        self.inner.rename(from, to)
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
        self.inner.sync_directory(directory)
    }

    fn lock(&self, path: &Path) -> Result<Box<dyn Send + Sync>, StorageError> {
        self.inner.lock(path)
    }
}

/// A file whose bytes differ from the bytes on the disk.
struct Healed(Vec<u8>);

impl ReadFile for Healed {
    fn read(&self, offset: u64, len: usize) -> Result<Bytes, StorageError> {
        Ok(Bytes::copy_from(&self.0[offset as usize..][..len]))
    }

    fn len(&self) -> u64 {
        self.0.len() as u64
    }
}

fn planted(toml: &str, bug: Bug) -> StoreKind {
    StoreKind { maker: Box::new(WrongMaker { tree: maker(toml), bug }), ..subject(toml) }
}

/// Explores until the test finds violations. Returns the failed checks. Each violation is reproduced from its
/// coordinates.
fn caught(subject: &StoreKind, name: &str) -> BTreeSet<Check> {
    let tally = damage::explore(subject, CorruptionBudget { seed: 1, images: 1200 });
    assert!(!tally.findings.kept.is_empty(), "{name} is not caught");
    for finding in &tally.findings.kept {
        let again = damage::replay(subject, finding.place).unwrap();
        assert_eq!(again.findings.kept.first(), Some(finding), "{name}");
    }
    let first = &tally.findings.kept[0];
    println!("{name}: {} ({})", first.violation, first.moment);
    tally.findings.kept.iter().map(|finding| finding.violation.check).collect()
}

#[test]
fn stores_that_deal_wrongly_with_damage_are_caught() {
    for (bug, by) in [
        (Bug::VerifyStopsEarly, Check::Told),
        (Bug::VerifySkipsLogs, Check::Told),
        (Bug::VerifyLocks, Check::Unchanged),
        (Bug::DamageIsAbsence, Check::Answer),
        (Bug::DamageEndsRanges, Check::Answer),
        (Bug::LeftOutInSilence, Check::Answer),
        (Bug::QuarantineInSilence, Check::Answer),
        (Bug::FileNotNamed, Check::Named),
        (Bug::Panics, Check::Panic),
        (Bug::VersionIgnored, Check::Told),
    ] {
        let caught = caught(&planted("wal = \"sync\"", bug), &format!("{bug:?}"));
        assert!(caught.contains(&by), "{bug:?} is caught by {caught:?}, not by {by:?}");
    }
}

/// Tests that corruption is detected in blocks without a checksum. A store that does not compare checksums behaves like
/// such a store.
#[test]
fn blocks_without_a_checksum_are_caught() {
    let subject = subject("wal = \"sync\"\nblock = { checksum = \"none\" }");
    let caught = caught(&subject, "NoChecksum");
    assert!(caught.contains(&Check::Told), "{caught:?}");
}

/// Tests that files of other stores are detected. If stores share one identity, a store accepts the files of another
/// store.
#[test]
fn files_that_are_not_told_from_those_of_other_stores_are_caught() {
    // Few files, so that a file of another store replaces one of the same kind within this many images.
    let toml = "wal = \"sync\"\ncompaction = { kind = \"l0-tiered\", read_triggered = \"4KiB\" }";
    let subject = StoreKind { maker: Box::new(SameIdentity(maker(toml))), ..subject(toml) };
    let is_told = |seed| {
        let tally = damage::explore(&subject, CorruptionBudget { seed, images: 1200 });
        tally.findings.kept.iter().any(|finding| finding.violation.check == Check::Told)
    };
    assert!((1..=16).any(is_told));
}

/// Opens trees that all have the same identity.
struct SameIdentity(TreeMaker);

impl SameIdentity {
    fn options(&self, storage: &Arc<dyn Storage>) -> tree::OpenOptions {
        let options = tree::OpenOptions::new(self.0.0.clone()).mode(tree::Mode::Counted).identity(7);
        options.storage(Arc::clone(storage))
    }
}

impl Maker for SameIdentity {
    fn open(&self, storage: &Arc<dyn Storage>, directory: &Path) -> Result<Box<dyn StoreUnderTest>> {
        Ok(Box::new(self.options(storage).open(directory)?))
    }

    fn open_quarantined(
        &self,
        storage: &Arc<dyn Storage>,
        directory: &Path,
    ) -> Result<(Box<dyn StoreUnderTest>, Vec<String>)> {
        let tree = self.options(storage).quarantine(true).open(directory)?;
        let report = tree.recovery().quarantined_files.clone();
        Ok((Box::new(tree), report))
    }

    fn verify(&self, storage: &Arc<dyn Storage>, directory: &Path) -> Result<Vec<String>> {
        self.0.verify(storage, directory)
    }
}

#[test]
fn a_length_that_is_believed_is_caught() {
    let subject = planted("wal = \"sync\"", Bug::LengthBelieved);
    let explore = || damage::explore(&subject, CorruptionBudget { seed: 1, images: 600 });
    let (_, largest) = largest_allocation_of(explore);
    assert!(largest > LARGEST_ALLOCATION, "{largest}");
}
