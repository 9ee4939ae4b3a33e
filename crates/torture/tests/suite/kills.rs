//! Tests of stores whose process died under load. The check must accept correct stores, and must detect each injected
//! bug. The tests simulate the death of a process by dropping the store, because all completed system calls survive.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lsmbench_torture::kill::{Event, KeptCommits, Ledger, Life, WRITERS};
use lsmbench_torture::{Check, Content, ScriptWrite, StoreKind, StoreUnderTest, Violation};
use parking_lot::Mutex;
use storage::{Memory, Storage};
use tree::{Design, OpenOptions, Result, Tree};

use crate::design;

const DIRECTORY: &str = "store";

/// Number of reports after which a process dies.
const EVENTS: usize = 700;

/// Number of writes by which the faulty store delays a write. The number is more than one, because the last write
/// before the kill may be unreported.
const LATE: usize = 3;

/// The bug of a faulty store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lie {
    None,
    /// A write is acknowledged first and applied with the [`LATE`]th next write of its writer.
    EarlyAcknowledgement,
    /// Every third write is acknowledged and never applied.
    Hole,
    /// The last write of each batch is dropped.
    HalfBatch,
    /// A request for a flush does nothing.
    NoFlush,
}

/// A store with a bug. The writers of the store are stopped after a number of reports.
struct Liar {
    tree: Tree,
    lie: Lie,
    writes: AtomicUsize,
    /// Acknowledged writes that are not applied yet, by writer.
    pending: Mutex<BTreeMap<u8, VecDeque<Vec<ScriptWrite>>>>,
}

impl Liar {
    fn do_writes(&self, commit: &[ScriptWrite]) -> Result<()> {
        StoreUnderTest::write(&self.tree, commit)
    }

    /// Adds a write to the pending writes of its writer. Returns the write that must be applied now.
    fn late(&self, commit: &[ScriptWrite]) -> Option<Vec<ScriptWrite>> {
        let mut pending = self.pending.lock();
        let pending = pending.entry(commit[0].key[0]).or_default();
        pending.push_back(commit.to_vec());
        if pending.len() > LATE { pending.pop_front() } else { None }
    }
}

impl StoreUnderTest for Liar {
    fn write(&self, commit: &[ScriptWrite]) -> Result<()> {
        let number = self.writes.fetch_add(1, Ordering::Relaxed);
        match self.lie {
            Lie::EarlyAcknowledgement => self.late(commit).map_or(Ok(()), |late| self.do_writes(&late)),
            Lie::Hole if number > 40 && number.is_multiple_of(3) => Ok(()),
            Lie::HalfBatch if number > 40 && commit.len() > 2 => self.do_writes(&commit[..commit.len() - 1]),
            _ => self.do_writes(commit),
        }
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.tree.get(key)
    }

    fn range(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Result<Content> {
        StoreUnderTest::range(&self.tree, low, high)
    }

    fn flush(&self) -> Result<()> {
        if self.lie == Lie::NoFlush { Ok(()) } else { self.tree.flush() }
    }

    fn compact(&self) -> Result<()> {
        // A compaction flushes first.
        if self.lie == Lie::NoFlush { Ok(()) } else { self.tree.compact() }
    }

    fn sync(&self) -> Result<()> {
        if self.lie == Lie::NoFlush { Ok(()) } else { self.tree.sync() }
    }

    fn checkpoint(&self, directory: &Path) -> Result<()> {
        self.tree.checkpoint(directory)
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.tree.close()
    }
}

/// Runs the writers on a faulty store, stops them after some reports, and checks the store.
fn killed(design: &Design, lie: Lie) -> std::result::Result<(Ledger, KeptCommits), Violation> {
    let storage: Arc<dyn Storage> = Arc::new(Memory::default());
    let writers = Life::new(1);
    let options = OpenOptions::new(design.clone()).storage(Arc::clone(&storage));
    let tree = options.open(DIRECTORY).expect("a new store opens");
    let store = Liar { tree, lie, writes: AtomicUsize::new(0), pending: Mutex::default() };
    let ledger = Mutex::new((Ledger::new([0; WRITERS]), 0));
    let tell = |event: Event| {
        let mut ledger = ledger.lock();
        // After the death no report is recorded.
        if ledger.1 == EVENTS {
            drop(ledger);
            std::panic::resume_unwind(Box::new("killed"));
        }
        ledger.1 += 1;
        ledger.0.note(event).expect("events come in turn");
    };
    writers.play(&store, [0; WRITERS], &tell).expect_err("it does not come to the end");
    drop(store);
    let subject = StoreKind::tree("killed", design.clone()).expect("the design can be built");
    let ledger = ledger.into_inner().0;
    let found = writers.check(&subject, &storage, Path::new(DIRECTORY), &ledger)?;
    Ok((ledger, found))
}

#[test]
fn an_honest_store_passes_in_every_log_mode() {
    for mode in ["none", "buffered", "sync", "group", "interval"] {
        let (ledger, found) = killed(&design(&format!("wal = \"{mode}\"")), Lie::None).unwrap();
        assert!(ledger.acknowledged() > 150, "{mode}: {ledger:?}");
        if mode != "none" {
            assert!(found.fewest.iter().sum::<usize>() >= ledger.acknowledged(), "{mode}: {found:?}");
            assert_eq!(ledger.lost(&found), 0);
        }
    }
}

#[test]
fn every_lie_is_caught() {
    for (lie, wal, checks) in [
        (Lie::EarlyAcknowledgement, "sync", &[Check::Promise][..]),
        (Lie::EarlyAcknowledgement, "buffered", &[Check::Promise]),
        (Lie::Hole, "group", &[Check::Promise, Check::Order, Check::Batch, Check::Deletion]),
        (Lie::HalfBatch, "buffered", &[Check::Batch, Check::Order]),
        (Lie::NoFlush, "none", &[Check::Promise]),
    ] {
        let toml = format!("wal = \"{wal}\"");
        let design = match lie {
            // A memtable that holds everything is flushed only on request.
            Lie::NoFlush => Design::default().with(&toml.parse().unwrap()).unwrap(),
            _ => design(&toml),
        };
        let violation = killed(&design, lie).map(|(_, found)| found).expect_err("it was not caught");
        println!("{lie:?} with wal = {wal}: {violation}");
        assert!(checks.contains(&violation.check), "{lie:?}: {violation}");
    }
}
