//! Tests of correct designs. The tests must find no violation, and equal seeds must give equal counts.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use lsmbench_torture::{Maker, StoreKind, StoreUnderTest, TreeMaker, crash, errors};
use storage::Storage;
use tree::Result;
use tree::wal::WalMode;

use crate::{maker, subject};

const MODES: [&str; 5] = ["none", "buffered", "sync", "group", "interval"];

/// Compaction policies. The policies differ in the data that a compaction rewrites, and in the data that it only moves.
const COMPACTIONS: [&str; 5] = ["l0-tiered", "leveled", "tiered", "leveled-partial", "universal"];

/// All value policies.
const VALUES: [&str; 5] =
    ["hash-partitioned", "blob-files", "value-log", "tiered-by-size", "blob-files(relocation=apart)"];

/// A design whose puts are merges. The design has values in blob files, block indexes in memory, and compactions that
/// release their inputs late.
const MERGING: &str = "wal = \"sync\"\ncompaction = \"tiered\"\nmerge_operator = \"append\"\nvalues = \"blob-files\"\n\
                       block = { memory_index = true }\ntable = { release = \"next-compaction\" }";

/// A design without a manifest. The names of its files are the only record of a change.
const SCANNED: &str = "compaction = \"merge-all(runs=3)\"\ntable = { manifest = \"none\" }";

/// Returns the TOML of the designs under test.
fn designs() -> impl Iterator<Item = String> {
    let scanned = ["buffered", "group"].map(|mode| format!("wal = \"{mode}\"\n{SCANNED}"));
    let design = |((mode, compaction), values)| {
        format!("wal = \"{mode}\"\ncompaction = \"{compaction}\"\nvalues = \"{values}\"")
    };
    MODES.into_iter().zip(COMPACTIONS).zip(VALUES).map(design).chain([MERGING.to_owned()]).chain(scanned)
}

#[test]
fn no_crash_loses_or_invents_anything() {
    for design in designs() {
        let subject = subject(&design);
        let tally = crash::explore(&subject, crash::CrashBudget { seed: 1, states: 500 });
        assert_eq!(tally.findings.kept, [], "{}", subject.name);
        assert!(tally.recovered >= 500 && tally.second > 20, "{}: {tally:?}", subject.name);
    }
}

#[test]
fn no_error_is_lost_and_none_loses_anything() {
    for design in designs() {
        let subject = subject(&design);
        let tally = errors::explore(&subject, errors::FaultBudget { seed: 1, faults: 150 });
        assert_eq!(tally.findings.kept, [], "{}", subject.name);
        assert_eq!(tally.faults, 150);
        assert!(tally.reported > 100 && tally.failed_calls > 300, "{}: {tally:?}", subject.name);
    }
}

#[test]
fn the_same_seed_gives_the_same_numbers() {
    let explored = |seed| {
        let subject = subject("wal = \"group\"");
        let crashes = crash::explore(&subject, crash::CrashBudget { seed, states: 150 });
        (crashes, errors::explore(&subject, errors::FaultBudget { seed, faults: 60 }))
    };
    assert_eq!(explored(5), explored(5));
    assert_ne!(explored(5), explored(6));
}

/// Opens the store with a different design each time. The number of files selects the design, so stores on equal disks
/// have equal designs.
struct Changing(Vec<TreeMaker>);

impl Maker for Changing {
    fn open(&self, storage: &Arc<dyn Storage>, directory: &Path) -> Result<Box<dyn StoreUnderTest>> {
        let files = match storage.list(directory) {
            Err(error) if error.kind() == ErrorKind::NotFound => 0,
            names => names?.len(),
        };
        self.0[files % self.0.len()].open(storage, directory)
    }

    fn verify(&self, storage: &Arc<dyn Storage>, directory: &Path) -> Result<Vec<String>> {
        self.0[0].verify(storage, directory)
    }
}

#[test]
fn log_modes_and_designs_may_change_at_every_opening() {
    let designs = [
        "wal = \"buffered\"\ncompaction = \"leveled\"",
        "wal = \"none\"\ncompaction = \"tiered\"\nbloom = \"ribbon\"\nvalues = \"value-log\"",
        "wal = \"sync\"\ncompaction = \"leveled-partial\"\ncompression = \"lz4\"\ntable = { names = \"level-run\", layout = \"index-first\" }",
        "wal = \"interval\"\ncompaction = \"universal\"\nfence = \"static-btree\"\ntable = { names = \"level-time\", filter = \"apart\" }",
        "wal = \"group\"\nblock = { align = true }\ncache = \"none\"\nvalues = \"blob-files\"",
    ];
    let makers = designs.iter().map(|toml| maker(toml)).collect();
    // Together they promise only the promises of the weakest.
    let subject =
        StoreKind { name: "changing".to_owned(), wal: WalMode::NONE, maker: Box::new(Changing(makers)) };
    let crashes = crash::explore(&subject, crash::CrashBudget { seed: 1, states: 1500 });
    assert_eq!(crashes.findings.kept, []);
    let errors = errors::explore(&subject, errors::FaultBudget { seed: 1, faults: 200 });
    assert_eq!(errors.findings.kept, []);
}
