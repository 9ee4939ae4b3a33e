//! The model test of the whole tree: a tree of every design gives the same answers as a `BTreeMap`.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use crate::common::{
    Model, Replay, all_designs, in_pairs, mapped_memory, memory, open, small_design, steps, with_merges,
};
use catalog::laws::is_sampled;
use lsmbench_tree::{AXES, Design, Mode, OpenOptions, WriteBatch, conformance};
use storage::{Purpose, Storage, StorageError};

/// The number of operations per design and seed.
const STEPS: usize = 4_000;

/// The number of seeds per design. Without `LSMBENCH_NIGHTLY`, a design runs with one of these seeds in each mode.
const SEEDS: usize = 3;

/// Returns the storage of a design. The files of each design are in a separate directory.
fn storage_of(design: &Design) -> Arc<dyn Storage> {
    match design.choice("storage").kind() {
        "memory" => memory(),
        _ => Arc::from(storage::CATALOG.build(design.choice("storage")).unwrap()),
    }
}

/// Returns the error of a storage that this machine does not support, or `None` if the machine supports the storage.
/// Some kernels reject `io_uring`, and some file systems reject `O_DIRECT`.
fn refusal(design: &Design) -> Option<StorageError> {
    let home = tempfile::tempdir().unwrap();
    let storage = storage_of(design);
    storage.create_directory(home.path()).unwrap();
    let refused = storage.create(&home.path().join("probe"), Purpose::Table).err();
    refused.filter(|error| error.kind() == ErrorKind::Unsupported)
}

fn replay_all(mode: Mode) {
    let mut designs = all_designs();
    designs.retain(|(name, design)| {
        let refusal = refusal(design);
        refusal.iter().for_each(|refusal| println!("left out: {name}: {refusal}"));
        refusal.is_none()
    });
    let mut operations = 0;
    for (number, (name, design)) in designs.iter().enumerate() {
        // The designs of the storage axis run on real files. All other designs run in memory, which is equivalent and
        // faster.
        let on_disk = name.starts_with("storage");
        // The two modes use different seeds.
        let begin = number + usize::from(mode == Mode::Timed);
        for seed in (0..SEEDS).filter(|seed| is_sampled(begin + seed, SEEDS)) {
            let home = tempfile::tempdir().unwrap();
            let (storage, directory) = match on_disk {
                true => (storage_of(design), home.path().join("tree")),
                // Depending on the seed, the tree reads blocks in place or copies them.
                false if seed.is_multiple_of(2) => (mapped_memory(), Path::new("tree").to_owned()),
                false => (memory(), Path::new("tree").to_owned()),
            };
            let steps = steps(seed as u64, STEPS);
            let replay = Replay::new(design, mode, storage, &directory);
            let outcome = replay.and_then(|mut replay| replay.run(&steps));
            if let Err(difference) = outcome {
                panic!("{name}, {mode:?}, seed {seed}: {difference}");
            }
            operations += steps.len();
        }
    }
    println!("{mode:?}: {operations} operations over {} designs, no difference", designs.len());
}

#[test]
fn every_design_answers_like_the_model_in_counted_mode() {
    replay_all(Mode::Counted);
}

#[test]
fn every_design_answers_like_the_model_in_timed_mode() {
    replay_all(Mode::Timed);
}

/// Tests in every design that reads, flushes and compactions combine the operands of merges.
#[test]
fn merges_are_answered_like_the_model() {
    let designs = [
        "merge_operator = \"add\"",
        "merge_operator = \"append\"",
        "merge_operator = \"max\"",
        "merge_operator = \"append\"\nmerge = { kernel = \"heap\" }\nthreads = { max_subcompactions = 4 }\ncompaction = \"tiered\"",
        "merge_operator = \"append\"\ncompaction = \"leveled\"\nmemtable = \"vector\"\nwal = \"none\"",
        "merge_operator = \"append\"\nthreads = { per_lookup = 3 }\nbloom = \"none\"\ncompaction = \"tiered\"",
        "merge_operator = \"append\"\ncompression = \"lz4\"\nblock = { index = \"hash\" }\nbloom = \"none\"",
        "merge_operator = \"append\"\nvalues = \"blob-files(threshold=8, file_size=1KiB, stale_share=0.3)\"",
        "merge_operator = \"add\"\nvalues = \"value-log(file_size=1KiB, stale_share=0.2)\"\ncompaction = \"tiered\"",
    ];
    for text in designs {
        let design = small_design(text);
        for mode in [Mode::Counted, Mode::Timed] {
            for seed in 0..2 {
                let storage = if seed == 0 { mapped_memory() } else { memory() };
                let mut replay = Replay::new(&design, mode, storage, Path::new("tree")).unwrap();
                let outcome = replay.run(&with_merges(steps(seed, STEPS)));
                outcome.unwrap_or_else(|difference| panic!("{text}, {mode:?}, seed {seed}: {difference}"));
            }
        }
    }
}

/// Tests that a design with another merge operator cannot open the store, and that merges need a merge operator.
#[test]
fn a_store_keeps_its_merge_operator() {
    let (storage, path) = (memory(), Path::new("tree"));
    let plain = open(&small_design(""), Mode::Counted, &storage, path);
    let refused = plain.merge(b"key", b"1").unwrap_err().to_string();
    assert!(refused.contains("the design has no merge operator; set merge_operator"), "{refused}");
    let mut batch = WriteBatch::new();
    batch.merge(b"key", b"1").unwrap();
    assert!(plain.write(&batch).is_err() && plain.get(b"key").unwrap().is_none());
    plain.put(b"key", b"value").unwrap();
    plain.close().unwrap();
    let options = OpenOptions::new(small_design("merge_operator = \"add\"")).storage(Arc::clone(&storage));
    let refused = options.open(path).err().unwrap().to_string();
    assert!(refused.contains("created with no merge operator, but the design has the merge"), "{refused}");
    let unknown = Design::default().with(&"merge_operator = \"sum\"".parse().unwrap()).unwrap_err();
    assert!(
        unknown.to_string().contains("unknown merge operator \"sum\". Valid: \"add\", \"append\", \"max\""),
        "{unknown}"
    );
}

/// Tests that a block format that is optimized for entries of equal size gives the same answers as the model.
#[test]
fn pairs_of_one_size_are_answered_like_the_model_by_every_format() {
    for variant in tree_formats() {
        for more in ["", "block = { index = \"fingerprint\" }", "fence = \"page-search\"\ncache = \"none\""] {
            let design = small_design(&format!("format = \"{variant}\"\n{more}"));
            for seed in 0..SEEDS {
                let mut replay = Replay::new(&design, Mode::Counted, memory(), Path::new("tree")).unwrap();
                let outcome = replay.run(&in_pairs(steps(seed as u64, STEPS)));
                outcome.unwrap_or_else(|difference| panic!("{variant}, {more}, seed {seed}: {difference}"));
            }
        }
    }
}

fn tree_formats() -> impl Iterator<Item = &'static str> {
    let formats = AXES.iter().find(|axis| axis.name() == "format").unwrap();
    formats.variants().into_iter().map(|variant| variant.kind)
}

/// Tests that a tree of any design can read the tables of any other design, because each table records how it was
/// written.
#[test]
fn tables_of_one_design_are_read_under_another() {
    let designs: Vec<Design> = [
        "compression = \"zstd(dictionary=256)\"\nmemtable = { capacity = \"8KiB\" }\ntable = { capacity = \"8KiB\" }",
        "block = { index = \"hash\", checksum = \"xxh3\" }\ncompression = \"fsst\"",
        "block = { format = \"btree-page\", index = \"fingerprint\" }\nbloom = \"ribbon\"",
        "fence = \"static-btree\"\nhash = \"wyhash\"\ntable = { names = \"level-run\" }",
        "fence = \"static-btree(separators=largest)\"\ntable = { names = \"level-time\", layout = \"index-first\" }",
        "compression = \"lz4\"",
    ]
    .map(small_design)
    .into();
    let storage = memory();
    let mut model = Model::new();
    for (round, design) in designs.iter().cycle().take(3 * designs.len()).enumerate() {
        let tree = open(design, Mode::Counted, &storage, Path::new("tree"));
        for (key, value) in &model {
            assert_eq!(tree.get(key).unwrap().as_ref(), Some(value), "round {round}");
        }
        for number in 0..300u32 {
            let key = format!("user{:04}", (number * 7 + round as u32 * 131) % 900).into_bytes();
            let value = format!("{{\"round\": {round}, \"number\": {number}}}").into_bytes();
            tree.put(&key, &value).unwrap();
            model.insert(key, value);
        }
        tree.flush().unwrap();
        let mut range = tree.range(..).unwrap();
        for (key, value) in &model {
            assert_eq!(range.next().unwrap(), Some((&key[..], &value[..])), "round {round}");
        }
        assert_eq!(range.next().unwrap(), None, "round {round}");
    }
}

/// Tests that the check that other crates call passes for a correct design, and fails for a design that loses data.
#[test]
fn the_public_check_passes_for_a_good_design_and_finds_one_that_drops_data() {
    conformance::check(&small_design("")).unwrap();
    let forgetful = small_design("compaction = { kind = \"fifo\", capacity = \"4KiB\" }");
    let difference = conformance::check(&forgetful).unwrap_err();
    assert!(difference.contains("seed 0"), "{difference}");
}
