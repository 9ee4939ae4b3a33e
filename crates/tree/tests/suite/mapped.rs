//! Tests of blocks that are read in place in memory-mapped tables: the checksums of these blocks, and reads that bypass
//! the cache.

use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use lsmbench_tree::{Design, Mode, OpenOptions, Tree};

/// Returns a store on disk with one table, and the path of the table.
fn on_disk(directory: &Path, toml: &str) -> (Tree, PathBuf) {
    let design = Design::default().with(&toml.parse().unwrap()).unwrap();
    let tree = OpenOptions::new(design).mode(Mode::Counted).open(directory).unwrap();
    tree.put(b"key", &[b'v'; 300]).unwrap();
    tree.flush().unwrap();
    let mut files = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let table = files.find(|path| path.extension().is_some_and(|extension| extension == "table"));
    (tree, table.expect("a flush makes a table"))
}

/// Changes one byte in the middle of the only value of `table`. The file is changed in place.
fn damage(table: &Path) {
    let file = std::fs::File::options().write(true).open(table).unwrap();
    file.write_all_at(b"w", 150).unwrap();
}

#[test]
fn a_mapped_block_is_held_to_its_checksum_once_or_always() {
    let directory = tempfile::tempdir().unwrap();
    for verify in ["once", "always"] {
        let toml = format!("storage = \"mmap\"\nblock = {{ verify = \"{verify}\" }}");
        let at = |name: &str| directory.path().join(format!("{verify}-{name}"));
        let (tree, table) = on_disk(&at("before"), &toml);
        damage(&table);
        assert!(tree.get(b"key").unwrap_err().is_damage(), "{verify}: the first look");
        assert!(tree.get(b"key").unwrap_err().is_damage(), "{verify}: a look that failed does not count");
        let (tree, table) = on_disk(&at("behind"), &toml);
        assert_eq!(tree.get(b"key").unwrap(), Some(vec![b'v'; 300]));
        damage(&table);
        match verify {
            "once" => {
                assert!(tree.get(b"key").unwrap().unwrap().contains(&b'w'), "it was checked");
            }
            _ => assert!(tree.get(b"key").unwrap_err().is_damage()),
        }
    }
}

#[test]
fn the_cache_keeps_what_is_unpacked_and_nothing_that_is_mapped() {
    let directory = tempfile::tempdir().unwrap();
    for (compression, storage, cached) in
        [("none", "mmap", false), ("lz4", "mmap", true), ("none", "pread", true)]
    {
        let toml = format!("compression = \"{compression}\"\nstorage = \"{storage}\"");
        let (tree, _) = on_disk(&directory.path().join(format!("{compression}-{storage}")), &toml);
        for _ in 0..2 {
            assert_eq!(tree.get(b"key").unwrap(), Some(vec![b'v'; 300]));
            assert_eq!(tree.multi_get(&[b"key", b"none"]).unwrap(), [Some(vec![b'v'; 300]), None]);
        }
        let stats = tree.stats();
        assert_eq!(stats.cache_bytes > 0, cached, "{toml}");
        let looks = (
            stats.counts.data_blocks_read,
            stats.counts.data_blocks_from_cache,
            stats.counts.blocks_in_place,
        );
        assert_eq!(looks, if cached { (1, 3, 0) } else { (0, 0, 4) }, "{toml}");
    }
}
