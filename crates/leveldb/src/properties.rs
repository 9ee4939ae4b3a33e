//! The properties of a store, which have the names of LevelDB's properties.

use std::fmt::Write as _;

use tree::{LevelStats, Tree};

/// The name of the property with the number of SSTables in a level, without the level number at its end.
const FILES_AT_LEVEL: &str = "leveldb.num-files-at-level";

/// The number of levels in LevelDB. Each of them has properties, even if the tree has fewer levels.
const LEVELS: usize = 7;

const MIB: f64 = (1u64 << 20) as f64;

/// Returns the value of a property as text. Returns `None` if the property does not exist.
pub(crate) fn text(tree: &Tree, name: &str) -> Option<String> {
    if let Some(level) = name.strip_prefix(FILES_AT_LEVEL) {
        return files_at_level(tree, level);
    }
    match name {
        "leveldb.stats" => Some(level_table(tree)),
        "leveldb.sstables" => Some(tables(tree)),
        "leveldb.approximate-memory-usage" => Some(memory_bytes(tree).to_string()),
        "lsmbench.design" => Some(tree.design().to_toml().to_string()),
        _ => None,
    }
}

fn files_at_level(tree: &Tree, level: &str) -> Option<String> {
    let level = level.parse::<usize>().ok()?;
    let levels = tree.stats().levels;
    (level < levels.len().max(LEVELS)).then(|| levels.get(level).map_or(0, |level| level.tables).to_string())
}

/// Returns a table of the levels with the columns of LevelDB: SSTables, size in MiB, seconds of compactions, MiB read
/// and MiB written. The last line contains the time of all compactions, because a tree does not measure it per level.
fn level_table(tree: &Tree) -> String {
    let stats = tree.stats();
    let mut text = "Level SSTables Size(MiB) Time(s) Read(MiB) Written(MiB)\n".to_owned();
    for level in 0..stats.levels.len().max(stats.level_counts.len()) {
        let LevelStats { tables, file_bytes, .. } = stats.levels.get(level).copied().unwrap_or_default();
        let counts = stats.level_counts.get(level).copied().unwrap_or_default();
        let [size, read, written] =
            [file_bytes, counts.bytes_read, counts.bytes_written].map(|bytes| bytes as f64 / MIB);
        let _ = writeln!(text, "{level:5} {tables:8} {size:9.0} {:>7} {read:9.0} {written:12.0}", "-");
    }
    let seconds = stats.counts.compaction_ns as f64 / 1e9;
    let _ = writeln!(text, "Compactions took {seconds:.3} s.");
    text
}

/// Returns one line per level, with the numbers of its sorted runs, SSTables, entries and bytes.
fn tables(tree: &Tree) -> String {
    let mut text = String::new();
    for (level, LevelStats { runs, tables, entries, file_bytes, .. }) in
        tree.stats().levels.iter().enumerate()
    {
        let _ = writeln!(
            text,
            "level {level}: {runs} sorted runs, {tables} SSTables, {entries} entries, {file_bytes} bytes"
        );
    }
    text
}

/// Returns the total memory of memtables, filters, fence pointers and cache, in bytes.
fn memory_bytes(tree: &Tree) -> u64 {
    let stats = tree.stats();
    stats.memtable_bytes + stats.filter_bytes + stats.fence_bytes + stats.cache_bytes
}
