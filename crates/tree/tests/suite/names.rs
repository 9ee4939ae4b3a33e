//! Tests of the file names of SSTables.

use std::path::Path;
use std::sync::Arc;

use lsmbench_tree::{Mode, OpenOptions, Tree, verify};
use storage::{Memory, Purpose, Storage};

use crate::common::small_design;

fn open(storage: &Arc<dyn Storage>, names: &str) -> Tree {
    open_with(storage, &format!("names = \"{names}\""))
}

/// Opens a tree with these options of its tables.
fn open_with(storage: &Arc<dyn Storage>, table: &str) -> Tree {
    let design = small_design(&format!("compaction = \"leveled\"\ntable = {{ {table} }}"));
    let options = OpenOptions::new(design).mode(Mode::Counted).storage(Arc::clone(storage));
    options.open(Path::new("tree")).unwrap()
}

fn write(tree: &Tree, from: u32) {
    for number in from..from + 300 {
        tree.put(&number.to_be_bytes(), b"a value of some bytes").unwrap();
    }
    tree.flush().unwrap();
}

/// Returns the names of the files with this ending, in order.
fn named(storage: &Arc<dyn Storage>, folder: &str, ending: &str) -> Vec<String> {
    let mut names = storage.list(Path::new(folder)).unwrap();
    names.retain(|name| name.ends_with(ending));
    names.sort();
    names
}

#[test]
fn every_table_of_cs265_has_a_data_file_and_a_description() {
    let storage: Arc<dyn Storage> = Arc::new(Memory::default());
    let tree = open(&storage, "level-run");
    (0..5).for_each(|round| write(&tree, round * 200));
    let tables = named(&storage, "tree", ".bin");
    let metadata = named(&storage, "tree", ".meta");
    assert!(
        tables.len() > 3 && tables.iter().all(|name| name.starts_with('L') && name.contains("_R")),
        "{tables:?}"
    );
    let expected: Vec<String> = tables.iter().map(|name| name.replace(".bin", ".meta")).collect();
    assert_eq!(metadata, expected, "compacted tables are removed with their descriptions");
    let path = Path::new("tree").join(&metadata[0]);
    let file = storage.open(&path, Purpose::Manifest).unwrap();
    let json: serde_json::Value =
        serde_json::from_slice(&file.read(0, file.len() as usize).unwrap()).unwrap();
    let level = metadata[0][1..].split('_').next().unwrap();
    assert_eq!(json["level"].to_string(), level);
    assert!(
        json["entry_count"].as_u64().unwrap() > 10 && json["block_count"].as_u64().unwrap() > 1,
        "{json}"
    );
    assert_eq!(json["min_key"].as_str().unwrap().len(), 8);
    tree.checkpoint(Path::new("copy")).unwrap();
    assert_eq!(named(&storage, "copy", ".bin"), named(&storage, "tree", ".bin"));
    assert_eq!(named(&storage, "copy", ".meta"), named(&storage, "tree", ".meta"));
}

#[test]
fn a_store_reads_tables_of_every_name_and_removes_orphans() {
    let storage: Arc<dyn Storage> = Arc::new(Memory::default());
    for (round, names) in ["level-time", "number", "level-run", "level-time"].into_iter().enumerate() {
        let tree = open(&storage, names);
        for number in 0..round as u32 * 300 {
            assert!(tree.get(&number.to_be_bytes()).unwrap().is_some(), "{names}: {number}");
        }
        write(&tree, round as u32 * 300);
        tree.close().unwrap();
        assert!(verify(&storage, Path::new("tree")).unwrap().damage.is_empty());
    }
    assert!(named(&storage, "tree", ".sst").iter().all(|name| name.starts_with("sst_0")));
    let orphans = ["L0_R99999.bin", "L0_R99999.meta", "sst_0001_00099998.sst", "00000001.leaves"];
    for orphan in orphans {
        storage.create(&Path::new("tree").join(orphan), Purpose::Table).unwrap().sync().unwrap();
    }
    let foreign = "L0_R099.bin";
    storage.create(&Path::new("tree").join(foreign), Purpose::Table).unwrap().sync().unwrap();
    let tree = open(&storage, "number");
    let removed = &tree.recovery().removed_files;
    assert!(orphans.iter().all(|orphan| removed.iter().any(|name| name == orphan)), "{removed:?}");
    assert_eq!(
        named(&storage, "tree", foreign),
        [foreign],
        "another spelling is the file of another program"
    );
}

#[test]
fn a_filter_of_its_own_is_a_part_of_its_table() {
    let storage: Arc<dyn Storage> = Arc::new(Memory::default());
    for (round, table) in
        ["filter = \"apart\"", "names = \"level-time\", filter = \"apart\"", "filter = \"inside\""]
            .into_iter()
            .enumerate()
    {
        let tree = open_with(&storage, table);
        (0..round as u32 * 300)
            .for_each(|number| assert!(tree.get(&number.to_be_bytes()).unwrap().is_some()));
        write(&tree, round as u32 * 300);
        let filters = named(&storage, "tree", ".filter");
        let tables = [".table", ".sst"].map(|ending| named(&storage, "tree", ending)).concat();
        let has_table =
            |filter: &String| tables.iter().any(|table| table.split('.').next() == filter.split('.').next());
        assert!(filters.len() == tables.len() || round == 2, "{filters:?} {tables:?}");
        assert!(filters.iter().all(has_table), "{filters:?} {tables:?}");
        tree.close().unwrap();
    }
    let tree = open_with(&storage, "filter = \"apart\"");
    write(&tree, 5000);
    tree.checkpoint(Path::new("copy")).unwrap();
    assert_eq!(named(&storage, "copy", ".filter"), named(&storage, "tree", ".filter"));
    tree.close().unwrap();
    let filter = named(&storage, "tree", ".filter").remove(0);
    storage.remove(&Path::new("tree").join(&filter)).unwrap();
    let damage = verify(&storage, Path::new("tree")).unwrap().damage;
    assert!(damage.len() == 1 && damage[0].to_string().contains(&filter), "{damage:?}");
}

/// Tests the layout `index-first`: the root of a B-tree is at the start of its file, and the temporary file of its
/// leaves is removed.
#[test]
fn the_index_comes_first_if_it_must() {
    let storage: Arc<dyn Storage> = Arc::new(Memory::default());
    let tree = open_with(
        &storage,
        "layout = \"index-first\" }\nfence = \"static-btree(page_bytes=512)\"\nblock = { align = true",
    );
    write(&tree, 0);
    assert_eq!(named(&storage, "tree", ".leaves"), [""; 0]);
    for table in named(&storage, "tree", ".table") {
        let file = storage.open(&Path::new("tree").join(&table), Purpose::Table).unwrap();
        // The root of a tree with one layer is a page of kind 2, whose children are the data blocks from number 0 on.
        let root = file.read(0, 12).unwrap();
        assert_eq!((root[0], &root[8..12]), (2, &[0; 4][..]), "{table}");
    }
    for number in 0..300u32 {
        assert!(tree.get(&number.to_be_bytes()).unwrap().is_some());
    }
    tree.close().unwrap();
    assert!(verify(&storage, Path::new("tree")).unwrap().damage.is_empty());
}
