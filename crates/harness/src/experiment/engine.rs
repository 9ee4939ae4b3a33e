//! Which engine a cell runs: our own tree, or another one with the terms of its design.

use std::fmt;

use catalog::{Choice, ChoiceError, Limit};
use peers::{Budget, CATALOG, Codec, Engine, Filters, Log, Missing, Peer, Reads, UNEQUAL};
use results::RunMode;
use toml::Value;
use tree::Design;
use types::quantity::parse_nanoseconds;
use workload::Rate;

use super::cell::Cell;

pub(crate) use results::columns::ENGINE;

/// Paths of a design that other engines have a term for; a kind stands for all of its parameters.
const TERMS: [&[&str]; 11] = [
    &["memtable", "capacity"],
    &["memtable", "filter"],
    &["stall", "frozen_memtables"],
    &["cache"],
    &["bloom"],
    &["block", "size"],
    &["block", "restart_interval"],
    &["compression"],
    &["wal"],
    &["threads", "max_subcompactions"],
    &["storage"],
];

/// Reads an engine from TOML.
///
/// # Errors
/// Names the parameter at fault.
pub(crate) fn read_engine(value: &Value) -> Result<Choice, ChoiceError> {
    CATALOG.choose(value)
}

/// An engine with another value at a path inside it; the empty path stands for the whole of it.
///
/// # Errors
/// As [`read_engine`].
pub(super) fn with_engine(engine: &Choice, path: &[&str], value: Value) -> Result<Choice, ChoiceError> {
    let Some(parameter) = path.first() else { return read_engine(&value) };
    let mut table = engine.to_toml();
    if let Value::Table(table) = &mut table {
        table.insert((*parameter).to_owned(), value);
    }
    read_engine(&table)
}

/// Our own tree.
pub(crate) fn own_tree() -> Choice {
    CATALOG.baseline()
}

/// Whether it is our own tree.
pub(crate) fn is_tree(engine: &Choice) -> bool {
    engine.kind() == CATALOG.variants[0].kind
}

/// Another engine; nothing where it is our own tree.
pub(crate) fn peer(engine: &Choice) -> Option<Box<dyn Peer>> {
    match CATALOG.build(engine).map(|engine| *engine) {
        Ok(Engine::Peer(peer)) => Some(peer),
        // A choice that exists can be built.
        Ok(Engine::Tree) | Err(_) => None,
    }
}

/// What an engine is called in results: the label that it was given, or its choice.
pub(crate) fn engine_label(engine: &Choice) -> String {
    let given = engine.params().get("label").and_then(Value::as_str).filter(|label| !label.is_empty());
    given.map_or_else(|| engine.label(), str::to_owned)
}

/// How many terms of the design could not be made equal in a cell of another engine.
pub(crate) fn unequal_terms(cell: &Cell) -> usize {
    let lines = peer(&cell.engine).map_or_else(Vec::new, |peer| peer.mapping(&budget(&cell.design)));
    lines.iter().filter(|line| line.starts_with(UNEQUAL)).count()
}

/// Whether the value at a path of the design reaches other engines.
pub(super) fn is_term(path: &[&str]) -> bool {
    TERMS.iter().any(|term| path.starts_with(term))
}

/// Why an experiment that asks for the engine of this cell by its name is refused as a whole, if it is: engines keep
/// their own time.
pub(super) fn hindrance(mode: RunMode, cell: &Cell) -> Option<String> {
    let name = peer(&cell.engine).map(|_| engine_label(&cell.engine))?;
    (mode == RunMode::Counted).then(|| {
        format!(
            "trials.mode = \"counted\" runs our own tree alone: {name} {}; say mode = \"timed\", or engine = \
             \"lsmbench\"",
            Limit::NotDeterministic
        )
    })
}

/// The engine of a cell that is not here, with how to get it.
pub(super) fn absence(cell: &Cell) -> Option<Absence> {
    let missing = peer(&cell.engine)?.identify().err()?;
    Some(Absence { engine: engine_label(&cell.engine), missing })
}

/// An engine that is not on this machine or not in this build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Absence {
    /// What it is called in results.
    pub(crate) engine: String,
    /// How to get it.
    missing: Missing,
}

impl fmt::Display for Absence {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(text, "engine {} is not here: {}", self.engine, self.missing)
    }
}

/// Why a cell of another engine cannot run, if it cannot.
pub(super) fn refusal(mode: RunMode, cell: &Cell) -> Option<String> {
    let peer = peer(&cell.engine)?;
    let engine = engine_label(&cell.engine);
    if mode == RunMode::Counted {
        return Some(format!("counted mode: engine = {engine} {}", Limit::NotDeterministic));
    }
    let limits = cell.design.limits();
    if let Some((axis, choice, _)) = limits.into_iter().find(|(_, _, limit)| *limit == Limit::NotDurable) {
        return Some(format!(
            "engine {engine} keeps files, and {axis} = {choice} none: give both real storage"
        ));
    }
    if cell.design.to_toml().contains_key("memory") {
        return Some(format!(
            "engine {engine} has no terms for design.memory: give memtable.capacity and cache.capacity"
        ));
    }
    let asks_more = |rate: &Rate| {
        matches!(rate, Rate::Sustained(search)
            if search.objective.stalls_ns.is_some() || search.objective.level0_runs.is_some())
    };
    let phases = cell.task.workload().map_or(&[][..], |workload| &workload.phases);
    if let Some(phase) = phases.iter().find(|phase| asks_more(&phase.rate)) {
        let name = &phase.name;
        return Some(format!(
            "engine {engine}: the objective of phase {name} is about stalls or runs, which only our own tree tells"
        ));
    }
    peer.identify().err().map(|missing| missing.to_string())
}

/// What other engines are given of a design.
pub(crate) fn budget(design: &Design) -> Budget {
    let (cache, bloom, codec, log) =
        (design.choice("cache"), design.choice("bloom"), design.choice("compression"), design.choice("wal"));
    let number = |choice: &Choice, key: &str| {
        let value = choice.params().get(key)?;
        value.as_float().or_else(|| value.as_integer().map(|number| number as f64))
    };
    let text = |choice: &Choice, key: &str| choice.params().get(key)?.as_str().map(str::to_owned);
    let options = &design.options;
    Budget {
        memtable_bytes: design.memtable_capacity.0,
        memtable_filter_bytes: design.memtable_filter.map_or(0, |filter| filter.0),
        frozen_memtables: options.stall.frozen_memtables as u64,
        cache_bytes: text(cache, "capacity")
            .and_then(|capacity| types::quantity::parse_bytes(&capacity).ok())
            .unwrap_or(0),
        filter_bits_per_key: number(bloom, "bits_per_key").unwrap_or(0.0),
        filters: if bloom.kind() == "ribbon" { Filters::Ribbon } else { Filters::Bloom },
        block_bytes: options.block.size.0,
        restart_interval: options.block.restart_interval,
        codec: match codec.kind() {
            "none" => Codec::None,
            "lz4" => Codec::Lz4,
            "snappy" => Codec::Snappy,
            "zstd" => Codec::Zstd { level: number(codec, "level").unwrap_or(3.0) as i32 },
            _ => Codec::Other(codec.label()),
        },
        log: match log.kind() {
            "none" => Log::None,
            "sync" | "group" => Log::Sync,
            "interval" => Log::Interval {
                period_ns: text(log, "period")
                    .and_then(|period| parse_nanoseconds(&period).ok())
                    .unwrap_or(0),
            },
            _ => Log::Buffered,
        },
        background_threads: 1 + u32::try_from(options.threads.max_subcompactions).unwrap_or(u32::MAX - 1),
        reads: match design.choice("storage").kind() {
            "mmap" => Reads::Mapped,
            "direct" => Reads::Direct,
            _ => Reads::Copied,
        },
    }
}

/// The terms in which two budgets differ, by the paths of a design.
pub(super) fn budget_differences(a: &Budget, b: &Budget) -> Vec<String> {
    [
        ("memtable.capacity", a.memtable_bytes != b.memtable_bytes),
        ("memtable.filter", a.memtable_filter_bytes != b.memtable_filter_bytes),
        ("stall.frozen_memtables", a.frozen_memtables != b.frozen_memtables),
        ("cache.capacity", a.cache_bytes != b.cache_bytes),
        ("bloom.bits_per_key", a.filter_bits_per_key.total_cmp(&b.filter_bits_per_key).is_ne()),
        ("bloom.kind", a.filters != b.filters),
        ("block.size", a.block_bytes != b.block_bytes),
        ("block.restart_interval", a.restart_interval != b.restart_interval),
        ("compression", a.codec != b.codec),
        ("wal", a.log != b.log),
        ("threads.max_subcompactions", a.background_threads != b.background_threads),
        ("storage", a.reads != b.reads),
    ]
    .into_iter()
    .filter(|(_, differs)| *differs)
    .map(|(path, _)| path.to_owned())
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn design(text: &str) -> Design {
        Design::default().with(&text.parse().unwrap()).unwrap()
    }

    #[test]
    fn a_design_says_what_others_are_given() {
        let usual = budget(&design(""));
        assert_eq!(usual, Budget::default());
        let other = budget(&design(
            "memtable.capacity = \"1MiB\"\nmemtable.filter = \"16KiB\"\ncache = \"none\"\nbloom = \"none\"\nblock.size = \"8KiB\"\n\
             compression = \"zstd(level=7)\"\nwal = { kind = \"interval\", period = \"5ms\" }\nstorage = \"direct\"\n\
             threads.max_subcompactions = 3",
        ));
        let expected = Budget {
            memtable_bytes: 1 << 20,
            memtable_filter_bytes: 16 << 10,
            cache_bytes: 0,
            filter_bits_per_key: 0.0,
            block_bytes: 8 << 10,
            codec: Codec::Zstd { level: 7 },
            log: Log::Interval { period_ns: 5_000_000 },
            background_threads: 4,
            reads: Reads::Direct,
            ..Budget::default()
        };
        assert_eq!(other, expected);
        assert_eq!(budget(&design("compression = \"delta\"")).codec, Codec::Other("delta".to_owned()));
        let ribbon = budget(&design("bloom = \"ribbon(bits_per_key=10)\""));
        assert_eq!(ribbon, Budget { filters: Filters::Ribbon, ..Budget::default() });
        assert_eq!(budget_differences(&usual, &ribbon), ["bloom.kind"]);
        assert_eq!(budget_differences(&usual, &usual), Vec::<String>::new());
        assert_eq!(budget_differences(&usual, &other).len(), 9);
    }

    #[test]
    fn labels_are_those_that_were_given() {
        let choice = |text: &str| read_engine(&Value::String(text.to_owned())).unwrap();
        assert_eq!(engine_label(&choice("rocksdb")), "rocksdb");
        assert_eq!(engine_label(&choice("rocksdb(library=x.so, label=speedb)")), "speedb");
        assert!(is_tree(&own_tree()) && peer(&own_tree()).is_none());
        assert!(is_term(&["bloom", "bits_per_key"]) && is_term(&["wal"]) && !is_term(&["memtable"]));
    }
}
