//! Fuzz targets for the files of a store. The fuzz input replaces one file of a complete store, like a corruption of
//! this file.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use storage::{Memory, Purpose, Storage};
use tree::{Design, Error, Mode, OpenOptions, Tree, reseal, verify};

use crate::bounds::bounded;
use crate::target::{FuzzTarget, InputForm};

/// The fuzz target for an SSTable of any design, including an SSTable whose values are in a blob file. All targets for
/// stores have the same invariants:
///
/// * A store opens or reports the corruption, and each later call returns a result or an error. This also holds for a
///   store that moves corrupt files to the quarantine.
/// * If `verify` finds no corruption, scans return ascending keys, are equal in both directions, and agree with gets.
pub(super) const TABLE: FuzzTarget = FuzzTarget {
    name: "table",
    about: "an SSTable of a store, which the target verifies, opens, reads and changes",
    form: InputForm::Bytes,
    seeds: table_seeds,
    run: |input| feed(&[&TABLE_HOST, &APART_HOST], input, |bytes, host| reseal::table(bytes, host.seal)),
};

/// The fuzz target for a blob file, which contains the values of a store.
pub(super) const BLOB: FuzzTarget = FuzzTarget {
    name: "blob",
    about: "a blob file of a store, which the target verifies, opens, reads and changes",
    form: InputForm::Bytes,
    seeds: || vec![BLOB_HOST.content().to_vec()],
    run: |input| feed(&[&BLOB_HOST], input, |bytes, host| reseal::blob(bytes, host.seal)),
};

/// The fuzz target for the write-ahead log (WAL) of a store. One store syncs its writes, and another store does not.
pub(super) const LOG: FuzzTarget = FuzzTarget {
    name: "log",
    about: "the write-ahead log of a store, which the target verifies, opens, reads and changes",
    form: InputForm::Bytes,
    seeds: || LOG_HOSTS.iter().map(|host| host.content().to_vec()).collect(),
    run: |input| feed(&LOG_HOSTS.each_ref(), input, |bytes, host| reseal::log(bytes, host.seal)),
};

/// The fuzz target for the manifest of a store.
pub(super) const MANIFEST: FuzzTarget = FuzzTarget {
    name: "manifest",
    about: "the manifest of a store, which the target verifies, opens, reads and changes",
    form: InputForm::Bytes,
    seeds: || vec![MANIFEST_HOST.content().to_vec()],
    run: |input| feed(&[&MANIFEST_HOST], input, |bytes, _| reseal::manifest(bytes)),
};

/// The number of bytes of memory that a store may use in addition to 64 bytes per byte of input: its memtable, its
/// cache, and the buffers of the SSTables that it writes.
const STORE_BYTES: usize = 16 << 20;

/// The directory of every store of this module.
const DIRECTORY: &str = "store";

/// The design of a small tree, in which a few entries are sufficient to use all components.
const SMALL: &str = r#"
    memtable = { capacity = "64KiB" }
    table = { capacity = "64KiB" }
    block = { size = "512B", restart_interval = 4 }
    cache = { capacity = "16KiB" }
    wal = "buffered"
"#;

/// Designs whose SSTables have different contents. One design for each variant of [`TABLE_AXES`] is added to this list.
const TABLE_DESIGNS: [&str; 11] = [
    "block = { index = \"hash\" }",
    "block = { index = \"fingerprint\" }",
    "block = { memory_index = true }\nbloom = \"none\"",
    "block = { align = true }\ncompression = \"lz4\"",
    "block = { checksum = \"none\" }",
    "block = { checksum = \"none\" }\ncompression = \"zstd\"",
    "block = { checksum = \"xxh3\", format = \"plain(version=1)\" }",
    "block = { format = \"btree-page\" }\nfence = \"page-search\"",
    "block = { format = \"fixed-pairs\", index = \"fingerprint\" }",
    "compression = \"zstd(dictionary=256)\"",
    "fence = \"static-btree\"\nbloom = \"none\"",
];

/// The axes of a design whose variants change the contents of SSTables.
const TABLE_AXES: [&str; 5] = ["bloom", "fence", "format", "compression", "hash"];

static TABLE_HOST: LazyLock<Host> = LazyLock::new(|| Host::with_table("", ".table"));

/// A design option that stores values of at least 21 bytes in a blob file. These are the values of keys with at least
/// two digits.
const VALUES_APART: &str = "values = { kind = \"blob-files\", threshold = 21 }";

static APART_HOST: LazyLock<Host> = LazyLock::new(|| Host::with_table(VALUES_APART, ".table"));

static BLOB_HOST: LazyLock<Host> = LazyLock::new(|| Host::with_table(VALUES_APART, ".blob"));

static LOG_HOSTS: [LazyLock<Host>; 3] = [
    LazyLock::new(|| Host::with_log("wal = \"sync\"")),
    LazyLock::new(|| Host::with_log("wal = \"buffered\"")),
    LazyLock::new(|| Host::with_log("merge_operator = \"append\"")),
];

static MANIFEST_HOST: LazyLock<Host> = LazyLock::new(Host::with_manifest);

/// A complete store as a list of files, of which the fuzz input replaces one.
struct Host {
    design: Design,
    /// The name and the content of each file of the store.
    files: Vec<(String, Vec<u8>)>,
    /// The index of the file that the fuzz input replaces.
    replaced: usize,
    /// The seal of the file that the fuzz input replaces. The seal is a number that identifies the file and its store,
    /// and every checksum of the file covers it. A manifest has the seal 0.
    seal: u64,
}

fn small(toml: &str) -> Design {
    let parsed = |text: &str| text.parse().expect("the designs of the targets must be TOML");
    let small = Design::default().with(&parsed(SMALL)).expect("the design `SMALL` must be valid");
    small.with(&parsed(toml)).expect("the designs of the targets must be valid")
}

fn key(number: u32) -> Vec<u8> {
    format!("user{:04}", number * 13 % 1000).into_bytes()
}

/// Opens a store in counted mode, in which writes also run the flushes and compactions. With `quarantine`, corrupt
/// files are moved aside.
fn open(design: &Design, storage: &Arc<dyn Storage>, quarantine: bool) -> Result<Tree, Error> {
    let options = OpenOptions::new(design.clone()).mode(Mode::Counted).storage(Arc::clone(storage));
    options.quarantine(quarantine).open(DIRECTORY)
}

/// Creates an in-memory store with one entry for each number in `numbers`. Every seventh entry is deleted, and half of
/// these deletes are single deletes.
fn filled(design: &Design, numbers: std::ops::Range<u32>) -> (Arc<dyn Storage>, Tree) {
    let storage: Arc<dyn Storage> = Arc::new(Memory::default());
    let tree = open(design, &storage, false).expect("the in-memory store of the fuzz target must open");
    for number in numbers {
        let done = match number % 7 {
            6 if number % 2 == 1 => tree.single_delete(&key(number)),
            6 => tree.delete(&key(number)),
            1 if design.options.merge_operator.is_some() => tree.merge(&key(number - 1), b" and more"),
            _ => tree.put(&key(number), format!("value {number} of the store").as_bytes()),
        };
        done.expect("the in-memory store of the fuzz target must accept the write");
        if number == 30 {
            tree.delete_range(b"user01", b"user02")
                .expect("the in-memory store of the fuzz target must accept the write");
        }
    }
    (storage, tree)
}

impl Host {
    /// Returns the files of a store with one SSTable and an empty WAL. The fuzz input replaces the file whose name ends
    /// with `replaced`, which is the SSTable or its blob file.
    fn with_table(toml: &str, replaced: &str) -> Self {
        let design = small(toml);
        let (storage, tree) = filled(&design, 0..60);
        tree.flush().expect("the in-memory store of the fuzz target must flush");
        drop(tree);
        Self::of(design, &*storage, replaced)
    }

    /// Returns the files of a store with writes in its WAL. The fuzz input replaces the WAL.
    fn with_log(toml: &str) -> Self {
        let design = small(toml);
        let (storage, tree) = filled(&design, 0..20);
        let mut batch = tree::WriteBatch::new();
        (20..24).for_each(|number| {
            batch
                .put(&key(number), b"of a batch")
                .expect("the batch of the fuzz target must accept the write");
        });
        tree.write(&batch).expect("the in-memory store of the fuzz target must accept the batch");
        drop(tree);
        Self::of(design, &*storage, ".wal")
    }

    /// Returns the files of a store with several SSTables. The fuzz input replaces the manifest of the store.
    fn with_manifest() -> Self {
        let design = small("compaction = { kind = \"tiered\", size_ratio = 6 }");
        let (storage, tree) = filled(&design, 0..10);
        for first in [10, 20, 30] {
            tree.flush().expect("the in-memory store of the fuzz target must flush");
            (first..first + 10).for_each(|number| {
                tree.put(&key(number), b"later")
                    .expect("the in-memory store of the fuzz target must accept the write");
            });
        }
        drop(tree);
        Self::of(design, &*storage, "manifest")
    }

    /// Returns the files of the store in `storage`. The fuzz input replaces the first file whose name ends with
    /// `replaced`.
    fn of(design: Design, storage: &dyn Storage, replaced: &str) -> Self {
        let directory = Path::new(DIRECTORY);
        let names =
            storage.list(directory).expect("the fuzz target must be able to list the files of its store");
        let content = |name: &String| {
            let file = storage
                .open(&directory.join(name), Purpose::Table)
                .expect("the fuzz target must be able to open each file of its store");
            file.read(0, file.len() as usize)
                .expect("the fuzz target must be able to read each file of its store")
                .to_vec()
        };
        let files: Vec<_> =
            names.iter().filter(|name| *name != "lock").map(|name| (name.clone(), content(name))).collect();
        let replaced = files.iter().position(|(name, _)| name.ends_with(replaced));
        let replaced = replaced.expect("the store must have a file whose name has the requested ending");
        let number = files[replaced].0.split('.').next().and_then(|number| number.parse().ok());
        let seal = number.map_or(0, |number| {
            reseal::seal(storage, directory, number)
                .expect("the fuzz target must be able to read the manifest of its store")
        });
        Self { design, files, replaced, seal }
    }

    /// Returns the name of the file that the fuzz input replaces.
    fn name(&self) -> &str {
        &self.files[self.replaced].0
    }

    /// Returns the original content of the file that the fuzz input replaces.
    fn content(&self) -> &[u8] {
        &self.files[self.replaced].1
    }

    /// Returns a storage in memory with the files of the store, in which `input` is the content of the replaced file.
    fn storage(&self, input: &[u8]) -> Arc<dyn Storage> {
        let (storage, directory) = (Memory::default(), Path::new(DIRECTORY));
        storage
            .create_directory(directory)
            .expect("the in-memory storage must create the directory of the store");
        for (at, (name, content)) in self.files.iter().enumerate() {
            let content = if at == self.replaced { input } else { content };
            let mut file = storage
                .create(&directory.join(name), Purpose::Table)
                .expect("the in-memory storage must create each file of the store");
            file.append(content)
                .and_then(|()| file.sync())
                .expect("the in-memory storage must append to the file and sync it");
        }
        Arc::new(storage)
    }
}

/// Returns SSTables of all designs that change the contents of SSTables. Each of these SSTables can replace the SSTable
/// of one [`Host`], because all of them have the same file name.
fn table_seeds() -> Vec<Vec<u8>> {
    let variants = tree::AXES.iter().filter(|axis| TABLE_AXES.contains(&axis.name())).flat_map(|axis| {
        axis.variants().into_iter().map(|variant| format!("{} = \"{}\"", axis.name(), variant.kind))
    });
    let designs = variants.chain(TABLE_DESIGNS.map(str::to_owned));
    let table = |design: String| {
        let host = Host::with_table(&design, ".table");
        assert_eq!(
            host.name(),
            TABLE_HOST.name(),
            "the SSTable of the design {design} has a different file number"
        );
        host.content().to_vec()
    };
    designs.map(table).chain([APART_HOST.content().to_vec()]).collect()
}

/// Opens and uses each store of `hosts` with the input in place of one file: first with the input unchanged, and then
/// with corrected checksums. Returns whether any store accepts the input.
fn feed(hosts: &[&LazyLock<Host>], input: &[u8], reseal: impl Fn(&mut [u8], &Host)) -> bool {
    let mut is_taken = false;
    for host in hosts {
        let mut sealed = input.to_vec();
        reseal(&mut sealed, host);
        is_taken |= check(host, input);
        if sealed != input {
            is_taken |= check(host, &sealed);
        }
    }
    is_taken
}

/// Opens and uses the store of `host`, in which `input` replaces a file. Returns whether `verify` finds no corruption
/// in the store.
fn check(host: &Host, input: &[u8]) -> bool {
    bounded(input.len(), STORE_BYTES, || {
        let storage = host.storage(input);
        let report = verify(&storage, Path::new(DIRECTORY));
        let is_clean = report.as_ref().is_ok_and(|report| report.damage.is_empty());
        match open(&host.design, &storage, false) {
            Ok(tree) => live(&tree, is_clean),
            Err(error) => {
                assert!(!is_clean, "`verify` finds no corruption, but the store does not open: {error}");
            }
        }
        if !is_clean && let Ok(tree) = open(&host.design, &host.storage(input), true) {
            live(&tree, false);
        }
        is_clean
    })
}

/// Reads all entries of a store in both directions, and writes to the store. If `is_clean` is true, `verify` found no
/// corruption, so all reads must succeed and agree.
fn live(tree: &Tree, is_clean: bool) {
    let forward = scan(tree, false);
    let backward = scan(tree, true);
    for number in (0..60).step_by(7) {
        let got = tree.get(&key(number));
        assert!(!is_clean || got.is_ok(), "`verify` finds no corruption, but a get returns an error");
    }
    if is_clean {
        let (forward, mut backward) = (
            forward.expect("a store in which `verify` finds no corruption must be readable"),
            backward.expect("a store in which `verify` finds no corruption must be readable backward"),
        );
        backward.reverse();
        assert!(
            forward.windows(2).all(|pair| pair[0].0 < pair[1].0),
            "the scan returned keys that are not in ascending order"
        );
        assert!(forward == backward, "forward and backward scans return different entries");
        for (key, value) in &forward {
            let got = tree.get(key).expect("a store in which `verify` finds no corruption must answer gets");
            assert_eq!(got.as_ref(), Some(value), "a get and a scan return different values of a key");
        }
    }
    let goes_on = tree.put(b"one more", b"value").and_then(|()| tree.flush()).and_then(|()| tree.compact());
    if let Err(error) = goes_on {
        assert!(
            !is_clean,
            "`verify` finds no corruption, but the store rejects a write, a flush or a compaction: {error}"
        );
    }
    if is_clean {
        assert_eq!(
            tree.get(b"one more").expect("a store that accepted a write must return the written value"),
            Some(b"value".to_vec())
        );
    }
}

type Entries = Vec<(Vec<u8>, Vec<u8>)>;

/// Returns all entries of a store in key order, or in reverse order if `backward` is true. Returns the first error
/// instead if the scan fails.
fn scan(tree: &Tree, backward: bool) -> Result<Entries, Error> {
    let mut range = tree.range(..)?;
    let mut entries = Entries::new();
    loop {
        let entry = if backward { range.next_back()? } else { range.next()? };
        match entry {
            Some((key, value)) => entries.push((key.to_vec(), value.to_vec())),
            None => return Ok(entries),
        }
    }
}
