//! All laws over one engine: in this process, and in one of its own.

use std::cell::Cell;
use std::fmt;
use std::path::Path;
use std::process::{Command, ExitCode};

use catalog::Choice;
use lsmbench_engines::{Codec, Engine, Identity, OpenStore, Opening, Store};
use results::columns as c;
use tree::Design;
use types::Direction;
use workload::{Scan, TargetError};

use crate::laws::{self, Law};
use crate::{ONE, choose, engine};

/// A check of one engine: how many terms it was kept under, or what is broken.
type Check = fn(&dyn Engine) -> Result<Kept, String>;

/// The checks, each with its name in the table of docs/peers.md.
const CHECKS: [(&str, Check); 7] = [
    ("model", |engine| hold(engine, laws::model)),
    ("sizes", |engine| hold(engine, laws::sizes)),
    ("batches", whole_batches),
    ("threads", |engine| hold(engine, laws::threads)),
    ("terms", every_term_is_taken),
    ("told", what_is_told_is_of_the_store),
    ("reopen", it_opens_again),
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
    let engine = engine(&choose(label));
    let mut code = ExitCode::SUCCESS;
    for (name, check) in CHECKS {
        match check(&*engine) {
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

/// A design of small memtables and caches, so that a few thousand writes flush and compact, with further settings.
fn small(settings: &str) -> Design {
    let text = format!("memtable.capacity = \"128KiB\"\ncache.capacity = \"1MiB\"\n{settings}");
    Design::default().with(&text.parse().unwrap()).unwrap()
}

fn open(engine: &dyn Engine, home: &Path, design: &Design) -> Result<Box<dyn Store>, TargetError> {
    engine.open(&Opening::new(home, design))
}

fn hold(engine: &dyn Engine, law: Law) -> Result<Kept, String> {
    let home = tempfile::tempdir().unwrap();
    law(&|| open(engine, home.path(), &small("")).unwrap()).map(|()| Kept::Yes)
}

fn whole_batches(engine: &dyn Engine) -> Result<Kept, String> {
    match engine.ranges_are_of_one_moment() {
        true => hold(engine, laws::whole_batches),
        false => Ok(Kept::NotAsked),
    }
}

/// Whatever the terms: no filters, ribbons, no cache, each log, each codec that it has.
fn every_term_is_taken(engine: &dyn Engine) -> Result<Kept, String> {
    let designs = [
        "bloom = \"none\"\ncache = \"none\"",
        "bloom.bits_per_key = 6.5\nblock.size = \"16KiB\"\nwal = \"none\"",
        "bloom = \"ribbon(bits_per_key=10)\"\nwal = \"sync\"",
        "wal = \"interval(period=1ms)\"\ncompression = \"lz4\"",
        "compression = \"delta\"",
    ];
    let mut kept = Kept::Yes;
    for text in designs {
        let design = Design::default().with(&"memtable.capacity = \"256KiB\"".parse().unwrap()).unwrap();
        let opening = Opening::new(Path::new(""), &design.with(&text.parse().unwrap()).unwrap());
        let (design, options) = (&opening.design, &opening.options);
        let home = tempfile::tempdir().unwrap();
        if let Err(refusal) = open(engine, home.path(), design) {
            // A library may be built without a codec. Nothing else may be missing.
            let lacks_codec = refusal.to_string().contains("not linked with the binary");
            if !lacks_codec || options.codec == Codec::None {
                return Err(format!("{options:?}: {refusal}"));
            }
            kept = Kept::Without(options.codec.to_string());
            continue;
        }
        laws::survives(&|| open(engine, home.path(), design).unwrap())
            .map_err(|broken| format!("{options:?}: {broken}"))?;
        let mapping = engine.mapping(options);
        let is_told = if engine.reads_whole_design() { mapping.is_empty() } else { mapping.len() >= 4 };
        if !is_told {
            return Err(format!("{options:?}: the mapping is {mapping:?}"));
        }
    }
    Ok(kept)
}

/// What an engine tells of itself once it holds something is not nothing.
fn what_is_told_is_of_the_store(engine: &dyn Engine) -> Result<Kept, String> {
    let home = tempfile::tempdir().unwrap();
    let store = open(engine, home.path(), &small("")).unwrap();
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
    if engine.reports_levels_and_stalls() && stats.sum_of_levels(&c::RUNS).is_none_or(|runs| runs == 0) {
        return Err(format!("it reports levels, and has none: {stats:?}"));
    }
    if engine.reports_memory() && stats.memory_bytes().is_none() {
        return Err(format!("it reports its memory, and has none: {stats:?}"));
    }
    let table_bytes = stats.whole.reading(&c::TABLE_BYTES);
    store.end().unwrap();
    match table_bytes {
        Some(bytes) if bytes <= 100_000 => {
            Err(format!("5,000 entries of 104 bytes lie in {bytes} bytes of tables"))
        }
        _ => Ok(Kept::Yes),
    }
}

/// A store that is opened again holds what it held, and still does after a compaction of all of it, where the engine
/// has a call for that.
fn it_opens_again(_: &dyn Engine) -> Result<Kept, String> {
    let home = tempfile::tempdir().unwrap();
    let opening = Opening::new(&home.path().join("store"), &small("wal = \"none\""));
    let label = std::env::var(ONE).unwrap();
    let store = OpenStore::open(engine(&choose(&label)), opening).unwrap();
    for number in 0..2_000u32 {
        store.target().put(&number.to_be_bytes(), &[7; 100]).unwrap();
    }
    let is_closed = Cell::new(false);
    let between = || {
        is_closed.set(true);
        Ok(())
    };
    let store = store.reopen(&between).map_err(|error| error.to_string())?;
    let compacted = store.compact().transpose().map_err(|error| error.to_string())?;
    println!("compacts on request: {}", compacted.is_some());
    let scan = Scan { low: b"", high: None, direction: Direction::Forward, limit: usize::MAX };
    let entries = store.target().range(&scan, &mut |_, _| {}).map_err(|error| error.to_string())?;
    let disk = store.disk_bytes();
    match entries == 2_000 && is_closed.get() && disk.is_some_and(|bytes| bytes > 0) {
        true => Ok(Kept::Yes),
        false => Err(format!("{entries} entries of 2,000 in {disk:?} bytes")),
    }
}
