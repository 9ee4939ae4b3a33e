//! Common parts of the tests of the tree: designs under test, storage, and entries of one size.

use std::path::Path;
use std::sync::Arc;

use lsmbench_tree::{AXES, Design, Mode, OpenOptions, Tree};
use storage::{Memory, Storage};

use lsmbench_tree::conformance::small;
pub(crate) use lsmbench_tree::conformance::{Model, Replay, Step, Write, in_pairs, steps, with_merges};

/// Returns the design of [`small`] with the values of a TOML table.
pub(crate) fn small_design(toml: &str) -> Design {
    small(&toml.parse().unwrap()).unwrap()
}

/// Returns every design that differs from the small default design in one place: each variant of each axis, then the
/// options.
pub(crate) fn all_designs() -> Vec<(String, Design)> {
    let mut designs = vec![("default".to_owned(), small_design(""))];
    for axis in AXES {
        for variant in axis.variants() {
            let text = format!("{} = \"{}\"", axis.name(), variant.kind);
            designs.push((text.clone(), small_design(&text)));
        }
    }
    let options = [
        "block = { restart_interval = 1 }",
        "block = { restart_hints = false }",
        "block = { memory_index = true }",
        "block = { memory_index = true, restart_interval = 3, index = \"hash\" }\ncompression = \"lz4\"\nbloom = \"none\"",
        "block = { index = \"hash\" }",
        "block = { index = \"hash\", index_load = 0.25, size = \"64KiB\", restart_interval = 100 }\n\
         table = { capacity = \"64KiB\" }",
        "block = { index = \"hash\", index_load = 4 }",
        "block = { index = \"fingerprint\" }",
        "block = { index = \"fingerprint\", restart_interval = 1 }",
        "block = { format = \"btree-page\", index = \"hash\" }",
        "block = { format = \"btree-page\", index = \"fingerprint\" }\nfence = \"page-search\"",
        "block = { align = true }",
        "block = { align = true, index = \"hash\" }\ncompression = \"zstd\"",
        "block = { checksum = \"none\" }",
        "block = { checksum = \"crc32\" }",
        "block = { checksum = \"xxh3\" }",
        "block = { checksum = \"xxh64\" }",
        "block = { size = \"64KiB\" }\ntable = { capacity = \"64KiB\" }",
        "table = { capacity = \"1MiB\" }",
        "compression = \"fsst\"\ntable = { capacity = \"32KiB\" }",
        "compression = \"zstd(dictionary=256)\"\ntable = { capacity = \"32KiB\" }\nmemtable = { capacity = \"8KiB\" }",
        "compression = 'adaptive(period=3, light=\"fsst\", dense=\"zstd(dictionary=256)\")'\n\
         table = { capacity = \"32KiB\" }\nmemtable = { capacity = \"8KiB\" }",
        "compression = 'by-level(levels=[\"fsst\", \"zstd(dictionary=256)\", \"lz4\"])'\n\
         table = { capacity = \"32KiB\" }\nmemtable = { capacity = \"8KiB\" }",
        "memory = \"64KiB\"",
        "memory = \"64KiB\"\narbiter = { kind = \"marginal\", period = 0.2, step = 25, margin = 0 }",
        "stall = { frozen_memtables = 1, level0_runs = 2 }",
        "stall = { frozen_memtables = 1, level0_runs = 2, pacing = \"delay\", reserve_wal = true }",
        "memtable = { entries = 7 }",
        "memtable = { kind = \"sharded-btree\", key_range = true }",
        "memtable = { kind = \"bplus\", filter = \"100B\", key_range = true }",
        "allocation = \"per-table(bits=3000)\"",
        "table = { last_key = \"entry\" }",
        "table = { names = \"level-run\" }",
        "storage = \"direct\"\ntable = { layout = \"index-first\" }",
        "table = { layout = \"index-first\" }\ncompression = \"zstd(dictionary=256)\"",
        "table = { layout = \"index-first\" }\nfence = \"static-btree\"\nblock = { align = true }",
        "table = { layout = \"index-first\" }\nfence = \"page-search\"\nbloom = \"none\"",
        "table = { names = \"level-time\", filter = \"apart\" }",
        "table = { release = \"next-compaction\" }",
        "table = { manifest = \"none\" }\ncompaction = { kind = \"merge-all\", runs = 3 }",
        "table = { manifest = \"none\", layout = \"index-first\" }\ncompaction = \"none\"\nwal = \"none\"",
        "range = { references = \"table\" }",
        "range = { readers = \"eager\" }",
        "range = { read_ahead = \"2KiB\" }",
        "range = { read_ahead = \"128KiB\", readers = \"eager\" }\ncache = \"none\"",
        "range = { references = \"table\", readers = \"eager\" }\nbloom = { kind = \"prefix\", length = 6 }",
        "merge = { kernel = \"heap\" }",
        "merge = { single_deletes = false }",
        "merge = { kernel = \"heap\" }\nthreads = { max_subcompactions = 4 }\ncompaction = \"tiered\"",
        "fence = { kind = \"adaptive\", eytzinger_threshold = 2, eytzinger_min_level = 1 }",
        "threads = { inline = \"flush\" }",
        "threads = { inline = \"all\" }\nstall = { frozen_memtables = 1, level0_runs = 2 }",
        "threads = { background = \"shared\" }",
        "threads = { compaction_nice = 3 }",
        "threads = { schedule = \"silk\" }\ncompaction = { kind = \"leveled\", size_ratio = 2 }",
        "threads = { schedule = \"silk\", bandwidth = \"20MiB\", max_subcompactions = 3 }\n\
         compaction = { kind = \"leveled-partial\", size_ratio = 2, level0_runs = 2 }\ncache = \"none\"",
        "threads = { per_lookup = 3 }\nbloom = \"none\"\ncache = \"none\"\ncompaction = \"tiered\"",
        "threads = { max_subcompactions = 4 }",
        "threads = { level_locks = true, per_lookup = 2 }\nbloom = \"none\"",
        "threads = { level_locks = true }\nculling = \"chucky\"\nsorted_view = \"remix\"",
        "sorted_view = { kind = \"remix\", segment_entries = 1 }\ncompaction = \"tiered\"\n\
         block = { format = \"btree-page\" }",
        "sorted_view = { kind = \"remix\", segment_entries = 5 }\n\
         culling = { kind = \"chucky\", fingerprint_bits = 4 }\nmerge_operator = \"append\"\nbloom = \"none\"",
        "sorted_view = \"remix\"\nvalues = { kind = \"blob-files\", threshold = 10 }\ncompaction = \"leveled-partial\"",
        "culling = { kind = \"chucky\", fingerprint_bits = 5 }\nbloom = \"none\"\ncompaction = \"tiered\"",
        "threads = { max_subcompactions = 3 }\ncompaction = \"leveled\"\nfence = \"static-btree\"\ncache = \"none\"",
        "compaction = { kind = \"leveled\", size_ratio = 2 }",
        "compaction = { kind = \"l0-tiered\", size_ratio = 2, max_compaction = \"4KiB\", trivial_moves = true }\n\
         table = { capacity = \"4KiB\" }",
        "compaction = { kind = \"tiered\", size_ratio = 2 }",
        "compaction = { kind = \"lazy-leveled\", size_ratio = 2 }",
        "compaction = { kind = \"adaptive\", largest_ratio = 3, window = 2, read_price = \"1MiB\" }",
        "fence = \"static-btree\"\ncache = \"none\"",
        "fence = \"page-search\"\ncache = \"none\"\nblock = { align = true }",
        "bloom = { kind = \"prefix\", length = 6, whole_keys = false }",
        "bloom = \"none\"\ncache = \"none\"\nwal = \"none\"",
        "values = { kind = \"blob-files\", threshold = 0, file_size = \"1KiB\", stale_share = 0.3 }",
        "values = { kind = \"blob-files\", threshold = 20, relocation = \"apart\", stale_share = 0.2 }\n\
         compaction = \"tiered\"\nblock = { format = \"btree-page\" }",
        "values = { kind = \"value-log\", file_size = \"2KiB\", stale_share = 0.4 }\nthreads = { max_subcompactions = 3 }",
        "values = { kind = \"hash-partitioned\", threshold = 5, partitions = 3, stale_share = 0.1 }\ncache = \"none\"",
        "values = { kind = \"tiered-by-size\", large = 40, medium = 10, medium_level = 1, file_size = \"1KiB\" }\n\
         compaction = { kind = \"leveled\", size_ratio = 2 }\ncompression = \"lz4\"",
    ];
    designs.extend(options.into_iter().map(|text| (text.to_owned(), small_design(text))));
    designs
}

/// Opens a tree of this design on the given storage.
pub(crate) fn open(design: &Design, mode: Mode, storage: &Arc<dyn Storage>, directory: &Path) -> Tree {
    let options = OpenOptions::new(design.clone()).mode(mode).storage(Arc::clone(storage));
    options.open(directory).unwrap_or_else(|error| panic!("the tree does not open: {error}"))
}

/// Returns storage in memory with memory-mapped files.
pub(crate) fn mapped_memory() -> Arc<dyn Storage> {
    Arc::new(Memory::mapped())
}

/// Returns storage in memory without memory-mapped files.
pub(crate) fn memory() -> Arc<dyn Storage> {
    Arc::new(Memory::default())
}
