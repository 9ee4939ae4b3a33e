//! A tree whose policy drops data. Tests of a tree whose compaction policy drops data. A lookup finds the newest
//! version or nothing, and all dropped data is older than the remaining data.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::common::{Model, Step, Write, memory, open, small_design, steps};
use lsmbench_tree::{Design, Mode, Snapshot, Tree, WriteBatch};
use storage::Storage;

/// For every key, the number of its newest write and its value. The value is `None` after a delete.
type Newest = BTreeMap<Vec<u8>, (u64, Option<Vec<u8>>)>;

/// A tree whose policy drops data, and the writes to this tree.
struct Dropping {
    design: Design,
    mode: Mode,
    storage: Arc<dyn Storage>,
    tree: Option<Tree>,
    newest: Newest,
    writes: u64,
    /// The number of the newest write that a check found dropped. Reads must never again return this write or an older
    /// write.
    cut: u64,
    snapshot: Option<(Snapshot, Model)>,
}

fn all(tree: &Tree) -> Model {
    let mut range = tree.range(..).unwrap();
    let mut content = Model::new();
    while let Some((key, value)) = range.next().unwrap() {
        content.insert(key.to_vec(), value.to_vec());
    }
    content
}

impl Dropping {
    fn new(design: Design, mode: Mode) -> Self {
        let storage = memory();
        let tree = Some(open(&design, mode, &storage, Path::new("tree")));
        let (newest, snapshot) = (Newest::new(), None);
        Self { design, mode, storage, tree, newest, writes: 0, cut: 0, snapshot }
    }

    fn tree(&self) -> &Tree {
        self.tree.as_ref().expect("a tree is open")
    }

    fn write(&mut self, writes: &[Write]) {
        let mut batch = WriteBatch::new();
        for write in writes {
            write.add_to(&mut batch).unwrap();
            self.writes += 1;
            match write {
                Write::Put(key, value) => {
                    self.newest.insert(key.clone(), (self.writes, Some(value.clone())));
                }
                Write::Delete(key) | Write::SingleDelete(key) => {
                    drop(self.newest.insert(key.clone(), (self.writes, None)));
                }
                Write::Merge(..) => unreachable!("the design has no merge operator"),
                Write::DeleteRange(low, high) => {
                    let inside = self.newest.range_mut(low.clone()..high.clone());
                    inside.for_each(|(_, newest)| *newest = (self.writes, None));
                }
            }
        }
        self.tree().write(&batch).unwrap();
    }

    /// Checks one answer. The answer must be the newest version, or nothing if the tree may have dropped the data.
    fn check(&self, key: &[u8], found: Option<&Vec<u8>>) {
        let newest = self.newest.get(key).and_then(|(_, value)| value.as_ref());
        assert!(found.is_none() || found == newest, "{key:?}: an older value, or one that was deleted");
    }

    /// Checks that the content consists of all writes with at least some write number. This number must never decrease.
    fn check_all(&mut self) {
        self.tree().settle().unwrap();
        let content = all(self.tree());
        let (mut gone, mut there) = (0, u64::MAX);
        for (key, (write, value)) in &self.newest {
            assert_eq!(self.tree().get(key).unwrap().as_ref(), content.get(key), "{key:?}");
            match (value, content.get(key)) {
                (None, None) => {}
                (Some(_), None) => gone = gone.max(*write),
                (_, found) => {
                    assert_eq!(found, value.as_ref(), "{key:?}");
                    there = there.min(*write);
                }
            }
        }
        assert!(gone < there, "write {gone} is gone, and the older {there} is there");
        assert!(there > self.cut, "write {there} is there again, {} was gone", self.cut);
        self.cut = self.cut.max(gone);
    }

    fn apply(&mut self, step: &Step) {
        match step {
            Step::Write(write) => self.write(std::slice::from_ref(write)),
            Step::Batch(writes) => self.write(writes),
            // The model does not know whether the tree has dropped the key, so the test puts the key unconditionally.
            Step::PutIfAbsent(key, value) => self.write(&[Write::Put(key.clone(), value.clone())]),
            Step::Get(key) => self.check(key, self.tree().get(key).unwrap().as_ref()),
            Step::MultiGet(keys) => {
                let slices: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
                let values = self.tree().multi_get(&slices).unwrap();
                keys.iter().zip(&values).for_each(|(key, value)| self.check(key, value.as_ref()));
            }
            Step::Range(..) => all(self.tree()).iter().for_each(|(key, value)| self.check(key, Some(value))),
            Step::TakeSnapshot => {
                self.tree().settle().unwrap();
                self.snapshot = Some((self.tree().snapshot(), all(self.tree())));
            }
            Step::CheckSnapshot => {
                let Some((snapshot, content)) = &self.snapshot else { return };
                for (key, value) in content {
                    assert_eq!(snapshot.get(key).unwrap().as_ref(), Some(value), "{key:?} of a snapshot");
                }
            }
            Step::Flush => self.tree().flush().unwrap(),
            Step::Settle => self.check_all(),
            Step::Compact => self.tree().compact().unwrap(),
            Step::Reopen => {
                self.check_all();
                self.snapshot = None;
                let before = all(self.tree());
                self.tree.take().expect("a tree is open").close().unwrap();
                self.tree = Some(open(&self.design, self.mode, &self.storage, Path::new("tree")));
                if self.mode == Mode::Counted {
                    self.tree().settle().unwrap();
                    assert!(all(self.tree()).iter().all(|(key, value)| before.get(key) == Some(value)));
                }
            }
        }
    }
}

#[test]
fn what_is_found_is_the_newest_and_what_is_gone_is_the_oldest() {
    for mode in [Mode::Counted, Mode::Timed] {
        for seed in 0..3 {
            let design = small_design("compaction = \"fifo(capacity=12KiB)\"");
            let mut dropping = Dropping::new(design, mode);
            steps(seed, 4_000).iter().for_each(|step| dropping.apply(step));
            dropping.check_all();
            assert!(dropping.cut > 500, "{mode:?}, seed {seed}: next to nothing was dropped");
            let stats = dropping.tree().stats();
            assert!(stats.counts.compactions < 20, "only those that were asked for: {:?}", stats.counts);
        }
    }
}

/// Tests that a tombstone is dropped together with all entries that it hides, and not earlier.
#[test]
fn a_tombstone_that_is_dropped_uncovers_nothing() {
    let design = small_design("compaction = \"fifo(capacity=12KiB)\"");
    let tree = open(&design, Mode::Counted, &memory(), Path::new("tree"));
    tree.put(b"key", b"value").unwrap();
    tree.flush().unwrap();
    tree.delete(b"key").unwrap();
    tree.flush().unwrap();
    for number in 0..500u32 {
        assert_eq!(tree.get(b"key").unwrap(), None);
        tree.put(&number.to_be_bytes(), &[7; 60]).unwrap();
    }
    tree.settle().unwrap();
    assert!(tree.stats().counts.drops > 10);
    assert_eq!(tree.get(&0u32.to_be_bytes()).unwrap(), None, "the first key is gone");
    assert_eq!(tree.get(&499u32.to_be_bytes()).unwrap().as_deref(), Some(&[7; 60][..]));
    let levels = tree.stats().levels;
    let bytes: u64 = levels.iter().map(|level| level.user_bytes).sum();
    assert!((8_000..=12_288).contains(&bytes), "{bytes}");
}
