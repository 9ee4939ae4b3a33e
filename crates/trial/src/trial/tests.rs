//! Tests that a trial reports no measured values if its store gave one wrong answer.

use std::path::Path;

use engines::{Engine, EngineOptions, EngineStats, Identity, Missing, Store};
use results::columns as c;
use tempfile::TempDir;
use types::Direction;
use workload::{Scan, Target, TargetError, Write as StoreWrite};

use super::*;
use crate::configuration::Configuration;

const WORKLOAD: &str = r#"
    [[phase]]
    name   = "load"
    insert = 200
    [[phase]]
    name       = "look"
    operations = 500
    mix        = { get = 8, range = 2 }
    range      = { kind = "fixed", entries = 3 }
    [[phase]]
    name       = "prune"
    operations = 20
    mix        = "delete"
"#;

/// The kind of wrong answer that the faulty store of a test gives.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Lie {
    None,
    /// A value with a wrong first byte.
    Value,
    /// A missing result for an existing key.
    Miss,
    /// A scan that leaves out one entry.
    Range,
    /// A delete that has no effect. No answer of the phase reveals the lost delete, so only the check of the final
    /// content detects it.
    Delete,
    /// The store lacks its first key after it is opened again, and so does a copy of the store.
    Opening,
}

/// An engine for tests, whose stores give one wrong answer. All other answers are those of the tree of lsmbench.
struct LyingEngine(Box<dyn Engine>, Lie);

impl Engine for LyingEngine {
    fn identify(&self) -> Result<Identity, Missing> {
        self.0.identify()
    }

    fn mapping(&self, options: &EngineOptions) -> Vec<String> {
        self.0.mapping(options)
    }

    fn open(&self, opening: &Opening) -> Result<Box<dyn Store>, TargetError> {
        let tree = self.0.open(opening)?;
        if self.1 == Lie::Opening {
            let mut first = Vec::new();
            let scan = Scan { low: b"", high: None, direction: Direction::Forward, limit: 1 };
            tree.range(&scan, &mut |key, _| first = key.to_vec())?;
            tree.delete(&first)?;
        }
        Ok(Box::new(Liar { tree, lie: self.1, left: AtomicU64::new(3) }))
    }
}

/// A store that gives one wrong answer on purpose.
struct Liar {
    tree: Box<dyn Store>,
    lie: Lie,
    left: AtomicU64,
}

impl Liar {
    /// Returns whether the faulty store must give its wrong answer now. The store gives this answer at the third
    /// opportunity.
    fn lies(&self, lie: Lie) -> bool {
        self.lie == lie && self.left.fetch_sub(1, Ordering::Relaxed) == 1
    }
}

impl Target for Liar {
    fn put(&self, key: &[u8], value: &[u8]) -> Result<(), TargetError> {
        self.tree.put(key, value)
    }

    fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, TargetError> {
        let found = self.tree.get(key, value)?;
        if found && self.lies(Lie::Value) {
            value[0] ^= 1;
        }
        Ok(found && !self.lies(Lie::Miss))
    }

    fn delete(&self, key: &[u8]) -> Result<(), TargetError> {
        if self.lies(Lie::Delete) { Ok(()) } else { self.tree.delete(key) }
    }

    fn range(&self, scan: &Scan<'_>, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize, TargetError> {
        let limit = if self.lies(Lie::Range) { scan.limit - 1 } else { scan.limit };
        self.tree.range(&Scan { limit, ..*scan }, visit)
    }

    fn write(&self, writes: &[StoreWrite<'_>]) -> Result<(), TargetError> {
        self.tree.write(writes)
    }

    fn multi_get(
        &self,
        keys: &[&[u8]],
        visit: &mut dyn FnMut(usize, Option<&[u8]>),
    ) -> Result<(), TargetError> {
        self.tree.multi_get(keys, visit)
    }

    fn flush(&self) -> Result<(), TargetError> {
        self.tree.flush()
    }

    fn settle(&self) -> Result<(), TargetError> {
        self.tree.settle()
    }

    fn close(&self) -> Result<(), TargetError> {
        self.tree.close()
    }
}

impl Store for Liar {
    fn version(&self) -> Option<String> {
        self.tree.version()
    }

    fn stats(&self) -> EngineStats {
        self.tree.stats()
    }

    fn checkpoint(&self, directory: &Path) -> Option<Result<(), TargetError>> {
        self.tree.checkpoint(directory)
    }
}

fn report(lie: Lie) -> TrialReport {
    report_of(WORKLOAD, lie)
}

fn report_of(workload: &str, lie: Lie) -> TrialReport {
    let folder = TempDir::new().unwrap();
    let spec = TrialSpec {
        configuration: Configuration {
            engine: CATALOG.baseline(),
            design: Design::default(),
            task: Task::from_toml(&workload.parse().unwrap()).unwrap(),
        },
        base: folder.path().to_owned(),
        seed: 42,
        mode: RunMode::Counted,
        sampling: 1,
        check: 1,
        interval_ns: 1_000_000_000,
        directory: folder.path().join("tree"),
        results: Some(folder.path().to_owned()),
        cell: 0,
        trial: 0,
        memory_limit: None,
        warm_memory: None,
        fixture: None,
        turns: None,
        recording: None,
        observed: None,
    };
    let tree = CATALOG.build(&spec.configuration.engine).unwrap();
    let store = OpenStore::open(Box::new(LyingEngine(tree, lie)), opening(&spec)).unwrap();
    let workload = Workload::from_toml(&workload.parse().unwrap()).unwrap();
    Trial::new(spec, &workload, store, Meter::begin(RunMode::Counted), |_| {}).unwrap().run().unwrap()
}

/// Returns the total number of wrong answers in all rows, and whether any row contains measured values.
fn wrong_and_numbers(report: &TrialReport) -> (u64, bool) {
    let rows = || report.rows.iter();
    let wrong = rows().filter_map(|row| row.integer(&c::WRONG_ANSWERS));
    (wrong.sum(), rows().any(|row| !row.get(&c::OPS).is_empty()))
}

#[test]
fn one_wrong_answer_takes_every_number_away() {
    let right = report(Lie::None);
    assert_eq!(wrong_and_numbers(&right), (0, true));
    assert!(right.wrong.is_empty(), "{:?}", right.wrong);
    for lie in [Lie::Value, Lie::Miss, Lie::Range, Lie::Delete] {
        let report = report(lie);
        let (wrong, numbers) = wrong_and_numbers(&report);
        assert!(wrong >= 1 && !numbers, "{lie:?}: {:?}", report.rows);
        assert!(!report.wrong.is_empty(), "{lie:?} is not described");
        assert!(report.timeline.is_empty() && report.levels.is_empty(), "{lie:?}");
    }
}

#[test]
fn what_is_lost_when_a_store_is_opened_again_or_copied_is_found() {
    let load = "[[phase]]\nname = \"load\"\ninsert = 200\n";
    for step in ["reopen", "checkpoint"] {
        let workload = format!("{load}[[phase]]\nname = \"between\"\nstep = \"{step}\"\n");
        let right = report_of(&workload, Lie::None);
        assert_eq!(wrong_and_numbers(&right), (0, true), "{step}: {:?}", right.wrong);
        let report = report_of(&workload, Lie::Opening);
        let (wrong, numbers) = wrong_and_numbers(&report);
        assert!(wrong >= 1 && !numbers, "{step}: {:?}", report.rows);
        assert_eq!(report.wrong[0].contains("checkpoint: "), step == "checkpoint", "{:?}", report.wrong);
    }
}
