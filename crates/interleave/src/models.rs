//! The models. Each model runs a few threads, and asserts conditions that must hold in every interleaving.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize as StdAtomicUsize, Ordering::Relaxed};

use catalog::Catalog;
use loom::model::Builder;
use loom::thread;
use types::{Direction, HashedKey, KeyHash, Lookup};

use crate::cell::Watched;
use crate::epochs::{Epochs, Garbage};
use crate::memtable::{Memtable, MemtablePolicy};
use crate::sync::{AtomicUsize, Ordering, Site, passed, weaken, yield_now};
use crate::visible::Visible;
use crate::{arena_skiplist, bplus};

/// A model: a program with a few threads that asserts conditions on a lock-free structure.
pub struct LoomModel {
    /// The name of the lock-free structure that the model tests.
    pub name: &'static str,
    /// The maximum number of preemptions in one interleaving of the threads. `None` means no limit. A preemption is a
    /// switch from a thread that could continue to another thread.
    pub preemptions: Option<usize>,
    body: fn(),
}

/// The result of running a model of a lock-free structure.
#[derive(Clone, Debug)]
pub struct LoomVerdict {
    /// The number of interleavings that loom tried.
    pub interleavings: usize,
    /// The message of the condition that an interleaving violates. `None` if all conditions hold in all interleavings.
    pub failure: Option<String>,
    /// The atomic operations in the source that the model executed, if their ordering is stronger than `Relaxed`.
    pub sites: BTreeSet<Site>,
}

/// The maximum number of steps in one interleaving. A model that needs more steps fails, because its threads probably
/// wait for each other forever.
const MOST_STEPS: usize = 4000;

/// All models of lock-free structures.
pub const MODELS: &[LoomModel] = &[
    LoomModel { name: "visible", preemptions: None, body: visible },
    LoomModel { name: "epochs", preemptions: None, body: epochs },
    LoomModel { name: "arena-skiplist", preemptions: Some(2), body: arena_skiplist },
    LoomModel { name: "bplus", preemptions: Some(2), body: bplus },
    LoomModel { name: "bplus: a split of a leaf", preemptions: Some(3), body: bplus_split },
    LoomModel {
        name: "bplus: a forward scan",
        preemptions: Some(1),
        body: || bplus_walk(Direction::Forward),
    },
    LoomModel {
        name: "bplus: a backward scan",
        preemptions: Some(1),
        body: || bplus_walk(Direction::Backward),
    },
    LoomModel { name: "bplus: several versions of one key", preemptions: Some(1), body: bplus_versions },
    LoomModel { name: "bplus: one call with several inserts", preemptions: Some(2), body: bplus_several },
];

impl LoomModel {
    /// Runs the model in all interleavings with at most `preemptions` preemptions. If `weak` names an atomic operation,
    /// this operation has the ordering `Relaxed`. Several threads can run models at the same time.
    pub fn run(&self, weak: Option<&Site>) -> LoomVerdict {
        weaken(weak.cloned());
        passed();
        let interleavings = Arc::new(StdAtomicUsize::new(0));
        let counted = Arc::clone(&interleavings);
        let mut builder = Builder::new();
        builder.preemption_bound = self.preemptions;
        builder.max_branches = MOST_STEPS;
        let body = self.body;
        let done = catch_unwind(AssertUnwindSafe(|| {
            builder.check(move || {
                counted.fetch_add(1, Relaxed);
                body();
            });
        }));
        weaken(None);
        let failure = done.err().map(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message").to_owned()
        });
        LoomVerdict { interleavings: interleavings.load(Relaxed), failure, sites: passed() }
    }
}

/// Model of the visible sequence number: two threads commit, one thread with two writes and the other thread with one
/// write. The commits may end in any order. A thread that sees a sequence number must see all writes up to this number.
fn visible() {
    let visible = Arc::new(Visible::new(0));
    let written: Arc<[Watched<bool>; 3]> = Arc::new(std::array::from_fn(|_| Watched::new(false)));
    let commit = |first: u64, last: u64| {
        let (visible, written) = (Arc::clone(&visible), Arc::clone(&written));
        move || {
            (first..=last).for_each(|number| written[number as usize - 1].set(true));
            visible.done(first, last);
            // If two commits end at the same time, neither may see that the other is done. Both therefore try again, as
            // in `publish`.
            while visible.advance() < last {
                yield_now();
            }
            let seen = visible.last();
            assert!([0, 2, 3].contains(&seen), "a reader saw only some writes of a commit");
            assert!((0..seen).all(|number| *written[number as usize].get()));
        }
    };
    let writers = [thread::spawn(commit(1, 2)), thread::spawn(commit(3, 3))];
    writers
        .into_iter()
        .for_each(|writer| writer.join().expect("each thread of the model must end without a panic"));
    assert_eq!(visible.last(), 3, "an acknowledged write is not visible at the end of the model");
}

/// Model of epochs, which delay the freeing of memory. Readers access a slot without a lock while a writer replaces its
/// content. The old content must not be freed before its last reader has finished.
fn epochs() {
    struct Shared {
        epochs: Epochs,
        slot: AtomicUsize,
        pieces: [Watched<bool>; 3],
    }
    /// A block of memory in a model. Dropping the value records that the block was freed.
    struct Piece(Arc<Shared>, usize);
    impl Drop for Piece {
        fn drop(&mut self) {
            self.0.pieces[self.1].set(false);
        }
    }
    let shared = Arc::new(Shared {
        epochs: Epochs::new(),
        slot: AtomicUsize::new(0),
        pieces: std::array::from_fn(|_| Watched::new(true)),
    });
    let reader = {
        let shared = Arc::clone(&shared);
        thread::spawn(move || {
            for _ in 0..2 {
                let reading = shared.epochs.read();
                let piece = shared.slot.load(Ordering::Acquire);
                assert!(*shared.pieces[piece].get(), "a reader accessed memory after it was freed");
                drop(reading);
            }
        })
    };
    let mut garbage = Garbage::default();
    for next in 1..3 {
        let old = next - 1;
        shared.slot.store(next, Ordering::Release);
        shared.epochs.throw_away(&mut garbage, Piece(Arc::clone(&shared), old));
    }
    reader.join().expect("each thread of the model must end without a panic");
    drop(garbage);
}

/// The catalog of the memtables that have models.
static MEMTABLES: Catalog<dyn MemtablePolicy> = Catalog::new(
    catalog::origin!(),
    "memtable",
    "those without locks",
    &[arena_skiplist::VARIANT, bplus::VARIANT],
);

fn memtable(kind: &str) -> Arc<dyn Memtable> {
    let choice =
        MEMTABLES.choose(&kind.into()).expect("the catalog of modeled memtables must contain the memtable");
    let policy = MEMTABLES.build(&choice).expect("a memtable must be valid with its default parameters");
    Arc::from(policy.create(1 << 16))
}

fn key(bytes: &[u8]) -> HashedKey<'_> {
    HashedKey { bytes, hash: KeyHash(u64::from(bytes[0])) }
}

fn value_of(memtable: &dyn Memtable, name: &[u8]) -> Option<Vec<u8>> {
    let mut value = Vec::new();
    (memtable.get(key(name), u64::MAX - 1, &mut value) == Lookup::Found).then_some(value)
}

/// Model of a memtable: two threads insert the keys `names` while a third thread reads. The keys `before` are in the
/// memtable from the start. A get must find a complete entry or no entry, and all entries must be present at the end.
fn inserts(memtable: &Arc<dyn Memtable>, before: &[&[u8]], names: [&'static [u8]; 2]) {
    for (name, sequence) in before.iter().zip(1..) {
        memtable.insert(key(name), sequence, Some(name));
    }
    let insert = |name: &'static [u8], sequence: u64| {
        let memtable = Arc::clone(memtable);
        thread::spawn(move || memtable.insert(key(name), sequence, Some(name)))
    };
    let writers = [insert(names[0], 20), insert(names[1], 21)];
    for name in names {
        let found = value_of(&**memtable, name);
        assert!(found.is_none_or(|found| found == name), "a get returned the value of another key");
    }
    before.iter().for_each(|name| {
        assert!(
            value_of(&**memtable, name).is_some(),
            "a get during the inserts missed a key from before the inserts"
        );
    });
    writers
        .into_iter()
        .for_each(|writer| writer.join().expect("each thread of the model must end without a panic"));
    for name in before.iter().chain(&names) {
        assert_eq!(
            value_of(&**memtable, name).as_deref(),
            Some(*name),
            "a get at the end misses an inserted key"
        );
    }
}

fn arena_skiplist() {
    inserts(&memtable("arena-skiplist"), &[], [b"b", b"c"]);
}

fn bplus() {
    inserts(&memtable("bplus"), &[b"b"], [b"a", b"c"]);
}

/// Model of the memtable `bplus`: two threads insert into a full leaf, so both must split it.
fn bplus_split() {
    inserts(&memtable("bplus"), &[b"b", b"d", b"f"], [b"a", b"e"]);
}

/// Model of the memtable `bplus`: a scan reads a full leaf entry by entry, while an insert splits the leaf.
fn bplus_walk(direction: Direction) {
    let memtable = memtable("bplus");
    let before = [b"b", b"d", b"f"];
    for (name, sequence) in before.into_iter().zip(1..) {
        memtable.insert(key(name), sequence, Some(name));
    }
    let walker = {
        let memtable = Arc::clone(&memtable);
        thread::spawn(move || walk(&*memtable, direction))
    };
    memtable.insert(key(b"e"), 20, Some(b"e"));
    let mut seen = walker.join().expect("each thread of the model must end without a panic");
    if direction == Direction::Backward {
        seen.reverse();
    }
    assert!(seen.is_sorted(), "a scan returned keys out of order");
    seen.retain(|key| key != b"e");
    assert_eq!(seen, before, "a scan must return exactly once each key that existed before the scan");
}

/// Model of the memtable `bplus`: a leaf contains several versions of one key, and another key. A scan reads the leaf
/// while the insert of one more version splits it.
fn bplus_versions() {
    let memtable = memtable("bplus");
    for (name, sequence) in [b"b", b"b", b"d"].into_iter().zip(1..) {
        memtable.insert(key(name), sequence, Some(name));
    }
    let walker = {
        let memtable = Arc::clone(&memtable);
        thread::spawn(move || walk(&*memtable, Direction::Forward))
    };
    memtable.insert(key(b"b"), 20, Some(b"b"));
    let seen = walker.join().expect("each thread of the model must end without a panic");
    assert_eq!(seen, [b"b", b"d"], "a scan must return each key exactly once");
}

/// Returns the keys that a scan of the memtable returns if it fetches one entry at a time.
fn walk(memtable: &dyn Memtable, direction: Direction) -> Vec<Vec<u8>> {
    let mut entries = memtable.entries(Bound::Unbounded, direction, u64::MAX - 1, 1);
    let mut seen = Vec::new();
    while !entries.is_empty() {
        seen.push(entries.entry(0).key.to_vec());
        assert!(entries.go_on(1), "a scan of the memtable must find its current entry again");
    }
    seen
}

/// Model of the memtable `bplus`: one thread inserts several keys in order with one call, while another thread inserts
/// a key between these keys.
fn bplus_several() {
    let memtable = memtable("bplus");
    memtable.insert(key(b"a"), 1, Some(b"a"));
    let writers = [(10, &[b"b", b"d"][..]), (20, &[b"c"][..])].map(|(first, names)| {
        let memtable = Arc::clone(&memtable);
        thread::spawn(move || {
            let mut entries = names.iter().map(|name| (key(&name[..]), Some(&name[..])));
            memtable.insert_all(first, &mut entries);
        })
    });
    for name in [b"b", b"c", b"d"] {
        let found = value_of(&*memtable, name);
        assert!(found.is_none_or(|found| found == name), "a get returned the value of another key");
    }
    writers
        .into_iter()
        .for_each(|writer| writer.join().expect("each thread of the model must end without a panic"));
    for name in [b"a", b"b", b"c", b"d"] {
        assert_eq!(
            value_of(&*memtable, name).as_deref(),
            Some(&name[..]),
            "a get at the end misses an inserted key"
        );
    }
}
