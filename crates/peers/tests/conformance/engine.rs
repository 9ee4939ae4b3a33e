//! All laws over one engine: in this process, and in one of its own.

use std::fmt;
use std::path::Path;
use std::process::{Command, ExitCode};

use catalog::Choice;
use lsmbench_peers::{Budget, Codec, Filters, Identity, Log, Peer};
use workload::Target;

use crate::laws::{self, Law};
use crate::{ONE, choose, peer};

/// A check of one engine: how many terms it was kept under, or what is broken.
type Check = fn(&dyn Peer) -> Result<Kept, String>;

/// The checks, each with its name in the table of docs/peers.md.
const CHECKS: [(&str, Check); 6] = [
    ("model", |peer| hold(peer, laws::model)),
    ("sizes", |peer| hold(peer, laws::sizes)),
    ("batches", whole_batches),
    ("threads", |peer| hold(peer, laws::threads)),
    ("terms", every_term_is_taken),
    ("told", what_is_told_is_of_the_store),
];

/// Names of all checks.
pub(crate) fn names() -> Vec<&'static str> {
    CHECKS.iter().map(|(name, _)| *name).collect()
}

/// How lines of a process that checks one engine begin which say what came of it.
const VERSION: &str = "version ";
const KEPT: &str = "kept ";
const WITHOUT: &str = "without ";

/// What came of a check that broke nothing.
enum Kept {
    /// It was made.
    Yes,
    /// It was made, but for what the engine was built without.
    Without(String),
    /// It does not apply to the engine.
    NotAsked,
}

/// What came of all checks of an engine.
pub(crate) enum Outcome {
    /// Nothing is broken.
    Kept(Report),
    /// What the process printed.
    Broken(String),
}

/// An engine that kept its laws.
pub(crate) struct Report {
    pub(crate) label: String,
    pub(crate) version: String,
    pub(crate) identity: Identity,
    /// Names of the checks that were made.
    pub(crate) kept: Vec<String>,
    /// What it was built without.
    pub(crate) without: Vec<String>,
}

impl fmt::Display for Report {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { label, version, identity, kept, without } = self;
        write!(text, "{label} {version}: {} laws passed: {}", kept.len(), kept.join(", "))?;
        without.iter().try_for_each(|what| write!(text, "; without {what}"))?;
        identity.doubts.iter().try_for_each(|doubt| write!(text, "\n    {doubt}"))
    }
}

/// Checks an engine in a process of its own.
pub(crate) fn check_apart(choice: &Choice, identity: Identity) -> Outcome {
    let program = std::env::current_exe().unwrap();
    let ended = Command::new(program).env(ONE, choice.label()).output().unwrap();
    let (told, errors) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    if !ended.status.success() {
        return Outcome::Broken(format!("{told}{errors}{}", ended.status));
    }
    let told_as = |start: &str| -> Vec<String> {
        told.lines().filter_map(|line| line.strip_prefix(start)).map(str::to_owned).collect()
    };
    Outcome::Kept(Report {
        label: choice.label(),
        version: told_as(VERSION).pop().unwrap_or_default(),
        identity,
        kept: told_as(KEPT),
        without: told_as(WITHOUT),
    })
}

/// Checks an engine in this process, and tells on standard output what came of it.
pub(crate) fn check_here(label: &str) -> ExitCode {
    let peer = peer(&choose(label)).unwrap();
    let mut code = ExitCode::SUCCESS;
    for (name, check) in CHECKS {
        match check(&*peer) {
            Ok(Kept::Yes) => println!("{KEPT}{name}"),
            Ok(Kept::Without(what)) => println!("{KEPT}{name}\n{WITHOUT}{what}"),
            Ok(Kept::NotAsked) => {}
            Err(broken) => {
                eprintln!("{name}: {broken}");
                code = ExitCode::FAILURE;
            }
        }
    }
    code
}

/// A small budget, so that a few thousand writes flush and compact.
fn small() -> Budget {
    Budget { memtable_bytes: 128 << 10, cache_bytes: 1 << 20, ..Budget::default() }
}

fn open(peer: &dyn Peer, home: &Path, budget: &Budget) -> Box<dyn Target> {
    peer.open(home, budget).unwrap()
}

fn hold(peer: &dyn Peer, law: Law) -> Result<Kept, String> {
    let home = tempfile::tempdir().unwrap();
    law(&|| open(peer, home.path(), &small())).map(|()| Kept::Yes)
}

fn whole_batches(peer: &dyn Peer) -> Result<Kept, String> {
    match peer.ranges_are_of_one_moment() {
        true => hold(peer, laws::whole_batches),
        false => Ok(Kept::NotAsked),
    }
}

/// Whatever the terms: no filters, ribbons, no cache, each log, each codec that it has.
fn every_term_is_taken(peer: &dyn Peer) -> Result<Kept, String> {
    let base = Budget { memtable_bytes: 256 << 10, ..Budget::default() };
    let budgets = [
        Budget { filter_bits_per_key: 0.0, cache_bytes: 0, ..base.clone() },
        Budget { filter_bits_per_key: 6.5, block_bytes: 16 << 10, log: Log::None, ..base.clone() },
        Budget { filters: Filters::Ribbon, log: Log::Sync, ..base.clone() },
        Budget { log: Log::Interval { period_ns: 1_000_000 }, codec: Codec::Lz4, ..base.clone() },
        Budget { codec: Codec::Other("delta".to_owned()), ..base },
    ];
    let mut kept = Kept::Yes;
    for budget in &budgets {
        let home = tempfile::tempdir().unwrap();
        if let Err(refusal) = peer.open(home.path(), budget) {
            // A library may be built without a codec. Nothing else may be missing.
            let lacks_codec = refusal.to_string().contains("not linked with the binary");
            if !lacks_codec || budget.codec == Codec::None {
                return Err(format!("{budget:?}: {refusal}"));
            }
            kept = Kept::Without(budget.codec.to_string());
            continue;
        }
        laws::survives(&|| open(peer, home.path(), budget))
            .map_err(|broken| format!("{budget:?}: {broken}"))?;
        let mapping = peer.mapping(budget);
        if mapping.len() < 4 {
            return Err(format!("{budget:?}: the mapping is {mapping:?}"));
        }
    }
    Ok(kept)
}

/// What an engine tells of itself once it holds something is not nothing.
fn what_is_told_is_of_the_store(peer: &dyn Peer) -> Result<Kept, String> {
    let home = tempfile::tempdir().unwrap();
    let store = peer.open(home.path(), &small()).unwrap();
    for number in 0..5_000u32 {
        store.put(&number.to_be_bytes(), &[7; 100]).unwrap();
    }
    store.flush().unwrap();
    store.settle().unwrap();
    let (stats, version) = (store.stats(), store.version());
    println!("told {stats:?}");
    let Some(version) = version.filter(|version| version.contains('.')) else {
        return Err(format!("its version is {:?}", store.version()));
    };
    println!("{VERSION}{version}");
    store.close().unwrap();
    match stats.table_bytes {
        Some(bytes) if bytes <= 100_000 => {
            Err(format!("5,000 entries of 104 bytes lie in {bytes} bytes of tables"))
        }
        _ => Ok(Kept::Yes),
    }
}
