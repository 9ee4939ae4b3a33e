//! Shrinks a design so that a few dozen writes flush, compact and fill several levels.

use toml::{Table, Value};
use tree::Design;

/// The settings that reduce the sizes of a design. A setting is skipped if the design has no such option. The order
/// matters, because an SSTable must have room for at least one block.
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

/// Returns a design with the same components, but with sizes that are small enough for tests.
///
/// # Panics
/// A setting in the list `SMALL` is not valid TOML.
pub fn small(design: &Design) -> Design {
    let memory = design.options.memory.map(|_| "memory = \"64KiB\"");
    let changes = SMALL.into_iter().chain(memory);
    changes.fold(design.clone(), |design, change| {
        let change: Table =
            change.parse().expect("the settings that reduce the sizes of a design must be TOML");
        // A component without this parameter is unchanged.
        let design = design.with(&change).unwrap_or(design);
        let names: Vec<String> = design.families().map(str::to_owned).collect();
        names.into_iter().fold(design, |design, name| {
            let of_family = Table::from_iter([(name, Value::Table(change.clone()))]);
            let families = Table::from_iter([("families".to_owned(), Value::Table(of_family))]);
            design.with(&families).unwrap_or(design)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_shrink_with_their_store() {
        let text = "[families.a]\ncompaction = \"leveled\"\n[families.b]\nblock = { size = \"8KiB\" }";
        let small = small(&Design::default().with(&text.parse().unwrap()).unwrap());
        let [a, b] = ["a", "b"].map(|name| small.family(name).unwrap());
        assert!(a.choice("compaction").to_string().contains("size_ratio=2"), "{}", a.choice("compaction"));
        assert_eq!((a.memtable_capacity.0, b.options.block.size.0), (1024, 512));
    }

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
