//! Shrinks a design so that a few dozen writes flush, compact and fill several levels.

use toml::Table;
use tree::Design;

/// The options that a small design sets to small values, if the design has these options. The order matters, because
/// an SSTable must have room for at least one block.
const SMALL: [&str; 16] = [
    "block = { size = \"512B\" }",
    "block = { restart_interval = 2 }",
    "table = { capacity = \"1KiB\" }",
    "memtable = { capacity = \"1KiB\" }",
    "cache = { capacity = \"16KiB\" }",
    "compaction = { size_ratio = 2 }",
    "compaction = { level0_runs = 2 }",
    "compaction = { largest_ratio = 3 }",
    "compaction = { num_runs = 3 }",
    "compaction = { tombstone_ttl = 20 }",
    "stall = { level0_runs = 0 }",
    "values = { threshold = 6 }",
    "values = { medium = 4, large = 8, medium_level = 1 }",
    "values = { file_size = \"512B\" }",
    "values = { stale_share = 0.1 }",
    "values = { partitions = 3 }",
];

/// Returns a design with the same components, but with small sizes for tests.
pub fn small(design: &Design) -> Design {
    let memory = design.options.memory.map(|_| "memory = \"64KiB\"");
    let changes = SMALL.into_iter().chain(memory);
    changes.fold(design.clone(), |design, change| {
        // A component without this parameter is unchanged.
        change.parse().ok().and_then(|change: Table| design.with(&change).ok()).unwrap_or(design)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_stay_and_sizes_shrink() {
        let design = Design::default().with(&"wal = \"sync\"\ncache = \"none\"".parse().unwrap()).unwrap();
        let small = small(&design);
        assert_eq!(small.memtable_capacity.0, 1024);
        for axis in ["wal", "cache", "fence", "bloom"] {
            assert_eq!(small.choice(axis).kind(), design.choice(axis).kind());
        }
        assert!(
            small.choice("compaction").to_string().contains("size_ratio=2"),
            "{}",
            small.choice("compaction")
        );
    }
}
