//! Checks whether an engine keeps its contract. Each check is a function that receives the engine or its constructor.

use std::cell::Cell;
use std::path::Path;

use results::columns as c;
use tempfile::TempDir;
use tree::Design;
use types::{Direction, MergeOperator};
use workload::Scan;

use super::stores;
use crate::{Codec, Engine, OpenStore, Opening, Store};

/// A function that builds the engine under test. Each call builds a new engine with the same parameters.
pub(crate) type Make<'a> = &'a dyn Fn() -> Box<dyn Engine>;

/// A function that checks one invariant of an engine.
pub(crate) type Check = fn(Make<'_>) -> Result<Kept, String>;

/// All checks of engines, each with its name.
pub(crate) const CHECKS: [(&str, Check); 9] = [
    ("model", |make| hold(&*make(), stores::model)),
    ("sizes", |make| hold(&*make(), stores::sizes)),
    ("batches", |make| whole_batches(&*make())),
    ("threads", |make| hold(&*make(), stores::threads)),
    ("terms", |make| every_term_is_taken(&*make())),
    ("reported", |make| reports_are_of_the_store(&*make())),
    ("reopen", it_opens_again),
    ("calls", |make| calls_are_declared(&*make())),
    ("merges", |make| merges_are_combined(&*make())),
];

/// The result of a check that found no violation of its invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// The engine keeps the invariant without exceptions.
    Yes,
    /// The engine keeps the invariant, but the check skipped a codec with this name, because the library of the engine
    /// was built without the codec.
    Without(String),
    /// The check did not run, because the engine lacks the capability that the check needs.
    NotAsked,
}

/// Returns a design with small memtables and a small cache, so that a few thousand writes cause flushes and
/// compactions.
fn small() -> Design {
    with(&Design::default(), "memtable.capacity = \"128KiB\"\ncache.capacity = \"1MiB\"")
}

/// Returns `design` with the TOML text `settings` applied to it.
fn with(design: &Design, settings: &str) -> Design {
    design
        .with(&settings.parse().expect("the design settings of an engine check must be valid TOML"))
        .expect("the settings of an engine check must be design options")
}

fn new_home() -> Result<TempDir, String> {
    tempfile::tempdir().map_err(|error| format!("cannot create a temporary folder: {error}"))
}

fn open(engine: &dyn Engine, home: &Path, design: &Design) -> Result<Box<dyn Store>, String> {
    engine.open(&Opening::new(home, design)).map_err(|error| format!("the store cannot be opened: {error}"))
}

fn hold(engine: &dyn Engine, check: stores::Check) -> Result<Kept, String> {
    let home = new_home()?;
    let limits = engine.entry_limits(&Opening::new(home.path(), &small()).options);
    check(&|| Ok(open(engine, home.path(), &small())?), &limits).map(|()| Kept::Yes)
}

fn whole_batches(engine: &dyn Engine) -> Result<Kept, String> {
    match engine.ranges_are_of_one_moment() {
        true => hold(engine, stores::whole_batches),
        false => Ok(Kept::NotAsked),
    }
}

/// Checks that the engine opens a store with each setting of a design: no filters, ribbon filters, no cache, each WAL
/// mode, and each codec. The library of an engine may lack a codec.
fn every_term_is_taken(engine: &dyn Engine) -> Result<Kept, String> {
    let designs = [
        "bloom = \"none\"\ncache = \"none\"",
        "bloom.bits_per_key = 6.5\nblock.size = \"16KiB\"\nwal = \"none\"",
        "bloom = \"ribbon(bits_per_key=10)\"\nwal = \"sync\"",
        "wal = \"interval(period=1ms)\"\ncompression = \"lz4\"",
        "compression = \"delta\"",
    ];
    let base = with(&Design::default(), "memtable.capacity = \"256KiB\"");
    let mut kept = Kept::Yes;
    for text in designs {
        let opening = Opening::new(Path::new(""), &with(&base, text));
        let (design, options) = (&opening.design, &opening.options);
        let home = new_home()?;
        if let Err(error) = open(engine, home.path(), design) {
            // A library may be built without a codec. Nothing else may be missing.
            let lacks_codec = error.contains("not linked with the binary");
            if !lacks_codec || options.codec == Codec::None {
                return Err(format!("{options:?}: {error}"));
            }
            kept = Kept::Without(options.codec.to_string());
            continue;
        }
        stores::survives(&|| Ok(open(engine, home.path(), design)?), &engine.entry_limits(options))
            .map_err(|broken| format!("{options:?}: {broken}"))?;
        let mapping = engine.mapping(options);
        let is_told = engine.reads_whole_design() || mapping.len() >= 4;
        if !is_told {
            return Err(format!("`mapping` returned fewer than 4 lines for {options:?}: {mapping:?}"));
        }
    }
    Ok(kept)
}

/// Checks the reports of an engine: that its version contains a dot, and that the statistics of a store with 5,000
/// entries are plausible.
fn reports_are_of_the_store(engine: &dyn Engine) -> Result<Kept, String> {
    let home = new_home()?;
    let store = open(engine, home.path(), &small())?;
    for number in 0..5_000u32 {
        store.put(&number.to_be_bytes(), &[7; 100]).map_err(|error| error.to_string())?;
    }
    store.flush().map_err(|error| error.to_string())?;
    store.settle().map_err(|error| error.to_string())?;
    let (stats, version) = (store.stats(), store.version());
    if !version.as_ref().is_some_and(|version| version.contains('.')) {
        return Err(format!("`version` must return a version with a dot, but returned {version:?}"));
    }
    if engine.reports_levels_and_stalls() && stats.sum_of_levels(&c::RUNS).is_none_or(|runs| runs == 0) {
        return Err(format!(
            "the engine declares that it reports levels, but `stats` reports no sorted run after a flush: \
             {stats:?}"
        ));
    }
    if engine.reports_memory() && stats.memory_bytes().is_none() {
        return Err(format!(
            "the engine declares that it reports memory, but `stats` contains no memory: {stats:?}"
        ));
    }
    let table_bytes = stats.whole.reading(&c::TABLE_BYTES);
    store.end().map_err(|error| error.to_string())?;
    match table_bytes {
        Some(bytes) if bytes <= 100_000 => Err(format!(
            "`stats` reports {bytes} bytes of SSTables for 5,000 entries of 104 bytes, expected more than \
             100,000"
        )),
        _ => Ok(Kept::Yes),
    }
}

/// Checks that a store without a WAL keeps all entries when it is flushed, closed and reopened. If the engine can
/// compact the whole store, the entries are counted after a compaction.
fn it_opens_again(make: Make<'_>) -> Result<Kept, String> {
    let home = new_home()?;
    let opening = Opening::new(&home.path().join("store"), &with(&small(), "wal = \"none\""));
    let store = OpenStore::open(make(), opening).map_err(|error| error.to_string())?;
    for number in 0..2_000u32 {
        store.target().put(&number.to_be_bytes(), &[7; 100]).map_err(|error| error.to_string())?;
    }
    let is_closed = Cell::new(false);
    let between = || {
        is_closed.set(true);
        Ok(())
    };
    let store = store.reopen(&between).map_err(|error| error.to_string())?;
    store.compact().transpose().map_err(|error| error.to_string())?;
    let scan = Scan { low: b"", high: None, direction: Direction::Forward, limit: usize::MAX };
    let entries = store.target().range(&scan, &mut |_, _| {}).map_err(|error| error.to_string())?;
    let disk = store.disk_bytes();
    match entries == 2_000 && is_closed.get() && disk.is_some_and(|bytes| bytes > 0) {
        true => Ok(Kept::Yes),
        false => Err(format!(
            "the reopened store must have 2,000 entries and files on disk, but it has {entries} entries and \
             {bytes} bytes of files",
            bytes = disk.unwrap_or(0)
        )),
    }
}

/// Checks that the stores of an engine support exactly the optional calls that the engine declares. A checkpoint must
/// be a separate store with exactly the entries that existed before the call.
fn calls_are_declared(engine: &dyn Engine) -> Result<Kept, String> {
    let home = new_home()?;
    let (own, copy) = (home.path().join("store"), home.path().join("copy"));
    std::fs::create_dir(&own).map_err(|error| error.to_string())?;
    let store = open(engine, &own, &small())?;
    let put = |numbers: std::ops::Range<u32>| {
        numbers.into_iter().try_for_each(|number| store.put(&number.to_be_bytes(), &[7; 100]))
    };
    put(0..2_000).map_err(|error| error.to_string())?;
    let checkpoint = store.checkpoint(&copy).transpose().map_err(|error| format!("checkpoint: {error}"))?;
    put(2_000..3_000).map_err(|error| error.to_string())?;
    let compacted = store.compact().transpose().map_err(|error| format!("compact: {error}"))?;
    let deleted = store.delete_range(&2_900_u32.to_be_bytes(), &3_000_u32.to_be_bytes());
    let deleted = deleted.transpose().map_err(|error| format!("delete_range: {error}"))?;
    let single = store.single_delete(&2_500_u32.to_be_bytes()).transpose();
    let single = single.map_err(|error| format!("single_delete: {error}"))?;
    let conditional = store.put_if_absent(&0_u32.to_be_bytes(), b"other").transpose();
    let conditional = conditional.map_err(|error| format!("put_if_absent: {error}"))?;
    for (call, declared, has) in [
        ("compact", engine.compacts_on_request(), compacted.is_some()),
        ("checkpoint", engine.makes_checkpoints(), checkpoint.is_some()),
        ("delete_range", engine.deletes_ranges(), deleted.is_some()),
        ("single_delete", engine.single_deletes(), single.is_some()),
        ("merge", false, store.merge(b"key", b"operand").is_some()),
        ("put_if_absent", engine.puts_if_absent(), conditional.is_some()),
    ] {
        if declared != has {
            return Err(match declared {
                true => {
                    format!("{call}: the engine declares this call, but its stores do not support the call")
                }
                false => format!(
                    "{call}: the stores of the engine support this call, but the engine does not declare it"
                ),
            });
        }
    }
    let entries_of = |store: &dyn Store| {
        let scan = Scan { low: b"", high: None, direction: Direction::Forward, limit: usize::MAX };
        store.range(&scan, &mut |_, _| {}).map_err(|error| error.to_string())
    };
    let entries = entries_of(&*store)?;
    store.end().map_err(|error| error.to_string())?;
    let expected = if deleted.is_some() { 2_900 } else { 3_000 } - u32::from(single.is_some()) as usize;
    if entries != expected {
        return Err(format!(
            "the store has {entries} entries after puts, a compaction and deletes, expected {expected}"
        ));
    }
    if checkpoint.is_none() {
        return Ok(Kept::Yes);
    }
    let copied = open(engine, &copy, &small())?;
    let entries = entries_of(&*copied)?;
    copied.end().map_err(|error| error.to_string())?;
    match entries {
        2_000 => Ok(Kept::Yes),
        _ => Err(format!(
            "the checkpoint has {entries} entries, expected the 2,000 entries before the call of `checkpoint`"
        )),
    }
}

/// Checks, for each merge operator, that a store combines values and operands like a reference map, also after flushes
/// and compactions.
fn merges_are_combined(engine: &dyn Engine) -> Result<Kept, String> {
    if !engine.merges() {
        return Ok(Kept::NotAsked);
    }
    for operator in MergeOperator::ALL {
        let (home, name) = (new_home()?, operator.name());
        let store = open(engine, home.path(), &with(&small(), &format!("merge_operator = \"{name}\"")))?;
        stores::merges(&*store, operator).map_err(|broken| format!("{name}: {broken}"))?;
        store.end().map_err(|error| error.to_string())?;
    }
    Ok(Kept::Yes)
}
