//! Tests of power failures while many threads write in `timed` mode. The recovered content has all writes that the WAL
//! mode must preserve, only complete batches, and no write without the earlier writes of its thread.

use std::collections::HashSet;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use lsmbench_tree::{Design, Mode, OpenOptions, Tree, WriteBatch, verify};
use parking_lot::Mutex;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use storage::{
    DiskError, FaultEffect, FaultExtent, Faulty, FileOperation, InjectedFault, Memory, Purpose, Storage,
    Unsynced,
};

use crate::common::{open, small_design};
use crate::probe::{Probe, in_time, is_a};

const DIRECTORY: &str = "tree";
const WRITERS: usize = 4;
/// The number of commits of each writer.
const COMMITS: u64 = 150;
/// The test takes an image of the disk at one of every `CALLS_PER_IMAGE` calls.
const CALLS_PER_IMAGE: usize = 11;

/// The number of commits of each writer.
type Progress = [u64; WRITERS];

/// The progress of the writers, as the number of commits of each writer.
#[derive(Default)]
struct Ledger {
    begun: [AtomicU64; WRITERS],
    acknowledged: [AtomicU64; WRITERS],
    /// The number of commits that were durable when a `sync` returned.
    durable: [AtomicU64; WRITERS],
}

fn load(counters: &[AtomicU64; WRITERS]) -> Progress {
    std::array::from_fn(|writer| counters[writer].load(Ordering::SeqCst))
}

/// The image of a disk after a power failure.
struct Image {
    disk: Arc<Memory>,
    unsynced: Unsynced,
    /// The minimum number of commits in the image.
    least: Progress,
    most: Progress,
    /// The call before which the image was taken.
    moment: String,
}

/// Returns whether a WAL mode must preserve acknowledged writes, if the power failure leaves the disk as `unsynced`
/// defines.
fn promises(wal: &str, unsynced: Unsynced) -> bool {
    match wal {
        "sync" | "group" => true,
        "buffered" | "interval" => unsynced == Unsynced::Kept,
        _ => false,
    }
}

/// Writes one commit. The commit puts a new key, whose value is the known progress of the other writers, and
/// overwrites a second key. The commit also deletes a third key and puts a fourth key.
fn commit(tree: &Tree, ledger: &Ledger, writer: usize, number: u64) {
    ledger.begun[writer].store(number, Ordering::SeqCst);
    let known: Vec<u8> = load(&ledger.acknowledged).iter().flat_map(|commit| commit.to_be_bytes()).collect();
    let mut batch = WriteBatch::new();
    batch.put(&key("commit", writer, Some(number)), &known).unwrap();
    batch.put(&key("latest", writer, None), &number.to_be_bytes()).unwrap();
    batch.delete(&key("moving", writer, Some(number - 1))).unwrap();
    batch.put(&key("moving", writer, Some(number)), &vec![b'm'; (number % 400) as usize]).unwrap();
    tree.write(&batch).unwrap();
    ledger.acknowledged[writer].store(number, Ordering::SeqCst);
}

fn key(kind: &str, writer: usize, number: Option<u64>) -> Vec<u8> {
    let number = number.map_or_else(String::new, |number| format!("/{number:06}"));
    format!("{kind}/{writer}{number}").into_bytes()
}

/// Returns all keys that begin with `prefix`, with their values.
fn entries(tree: &Tree, prefix: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let end = [prefix, b"~"].concat();
    let mut range = tree.range((Bound::Included(prefix), Bound::Excluded(&end[..]))).unwrap();
    let mut entries = Vec::new();
    while let Some((key, value)) = range.next().unwrap() {
        entries.push((key.to_vec(), value.to_vec()));
    }
    entries
}

/// Returns the progress of each writer according to the content of a tree. Checks that the content is consistent.
fn progress(tree: &Tree, context: &str) -> Progress {
    let commits: [Vec<(Vec<u8>, Vec<u8>)>; WRITERS] =
        std::array::from_fn(|writer| entries(tree, &key("commit", writer, None)));
    let progress: Progress = std::array::from_fn(|writer| commits[writer].len() as u64);
    for writer in 0..WRITERS {
        let count = progress[writer];
        for ((found, known), number) in commits[writer].iter().zip(1..) {
            assert_eq!(*found, key("commit", writer, Some(number)), "{context}: writer {writer} has a gap");
            for (other, known) in known.as_chunks().0.iter().enumerate() {
                let known = u64::from_be_bytes(*known);
                assert!(
                    known <= progress[other],
                    "{context}: commit {number} of writer {writer} followed commit {known} of writer {other}, \
                     of whom {} are there",
                    progress[other]
                );
            }
        }
        let latest = tree.get(&key("latest", writer, None)).unwrap();
        assert_eq!(latest, (count > 0).then(|| count.to_be_bytes().to_vec()), "{context}: writer {writer}");
        let moving: Vec<Vec<u8>> =
            entries(tree, &key("moving", writer, None)).into_iter().map(|(key, _)| key).collect();
        let expected: Vec<Vec<u8>> =
            (count > 0).then(|| key("moving", writer, Some(count))).into_iter().collect();
        assert_eq!(moving, expected, "{context}: writer {writer}: a torn batch");
    }
    progress
}

/// Writes with all threads and takes images of the disk at the same time. Returns the images.
fn images(design: &Design, wal: &'static str, kinds: &'static [Unsynced]) -> Vec<Image> {
    let ledger = Arc::new(Ledger::default());
    let images: Arc<Mutex<Vec<Image>>> = Arc::default();
    let calls = AtomicUsize::new(0);
    let probe = Probe::new({
        let (ledger, images) = (Arc::clone(&ledger), Arc::clone(&images));
        move |disk, operation, path| {
            let is_log_sync = operation == FileOperation::Sync && is_a(path, "wal");
            if wal == "group" && is_log_sync {
                // During this time, other commits arrive and share the next sync.
                thread::sleep(Duration::from_micros(300));
            }
            let call = calls.fetch_add(1, Ordering::SeqCst);
            // At this point, a power failure tears the WAL, because the WAL is written but not synced.
            let interval = if is_log_sync { CALLS_PER_IMAGE / 3 } else { CALLS_PER_IMAGE };
            if call.is_multiple_of(interval) {
                let unsynced = match kinds[call / interval % kinds.len()] {
                    Unsynced::Torn { .. } => Unsynced::Torn { seed: call as u64 },
                    kind => kind,
                };
                let promised = if promises(wal, unsynced) { &ledger.acknowledged } else { &ledger.durable };
                let least = load(promised);
                let disk = disk.after_crash(unsynced);
                let most = load(&ledger.begun);
                let moment = format!("{operation:?} {}", path.display());
                images.lock().push(Image { disk, unsynced, least, most, moment });
            }
        }
    });
    let storage: Arc<dyn Storage> = Arc::new(probe);
    let tree = open(design, Mode::Timed, &storage, Path::new(DIRECTORY));
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let (tree, ledger, done) = (&tree, &*ledger, &done);
        let write = |writer| (1..=COMMITS).for_each(|number| commit(tree, ledger, writer, number));
        let writers: Vec<_> = (0..WRITERS).map(|writer| scope.spawn(move || write(writer))).collect();
        scope.spawn(move || maintain(tree, ledger, done));
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        done.store(true, Ordering::SeqCst);
    });
    tree.close().unwrap();
    std::mem::take(&mut *images.lock())
}

fn maintain(tree: &Tree, ledger: &Ledger, done: &AtomicBool) {
    for turn in 0.. {
        if done.load(Ordering::SeqCst) {
            return;
        }
        match turn % 4 {
            0 => {
                let acknowledged = load(&ledger.acknowledged);
                tree.sync().unwrap();
                for (durable, commit) in ledger.durable.iter().zip(acknowledged) {
                    durable.store(commit, Ordering::SeqCst);
                }
            }
            1 => tree.checkpoint(PathBuf::from(format!("copy-{turn}"))).unwrap(),
            2 => tree.compact().unwrap(),
            _ => thread::sleep(Duration::from_millis(2)),
        }
    }
}

/// The names and the bytes of all files of a checkpoint.
type Files = Vec<(String, Vec<u8>)>;

/// Opens an image and checks its content. Then the power fails again, both during and after the next recovery. `copies`
/// are the checkpoints that were checked in earlier images.
fn check(
    design: &Design,
    wal: &str,
    image: &Image,
    random: &mut Xoshiro256PlusPlus,
    copies: &mut HashSet<Files>,
) {
    let context = format!("wal = {wal}, {:?}, before {}", image.unsynced, image.moment);
    let storage: Arc<dyn Storage> = Arc::clone(&image.disk) as _;
    match verify(&storage, Path::new(DIRECTORY)) {
        Ok(report) => assert!(report.damage.is_empty(), "{context}: {:?}", report.damage),
        Err(error) => assert_eq!(image.least, [0; WRITERS], "{context}: {error}"),
    }
    check_copies(design, &storage, &context, copies);
    let mut disk = Arc::clone(&image.disk);
    let mut expected: Option<Progress> = None;
    for life in 0..3u64 {
        let faulty = Arc::new(Faulty::new(Arc::clone(&disk) as _));
        let at = random.random_range(0..60);
        faulty.inject(InjectedFault {
            at,
            extent: FaultExtent::Onwards,
            error: DiskError::Io,
            effect: FaultEffect::Nothing,
        });
        let _ = OpenOptions::new(design.clone()).mode(Mode::Counted).storage(faulty).open(DIRECTORY);
        disk = Arc::new(disk.after_crash(Unsynced::Torn { seed: random.random() }));
        let storage: Arc<dyn Storage> = Arc::clone(&disk) as _;
        let mode = if random.random() { Mode::Counted } else { Mode::Timed };
        let options = OpenOptions::new(design.clone()).mode(mode).storage(storage);
        let tree = options.open(DIRECTORY).unwrap_or_else(|error| panic!("{context}, life {life}: {error}"));
        let found = progress(&tree, &context);
        let (least, most) = (expected.unwrap_or(image.least), expected.unwrap_or(image.most));
        assert!(
            (0..WRITERS).all(|writer| (least[writer]..=most[writer]).contains(&found[writer])),
            "{context}, life {life}: {found:?} came back, {least:?} to {most:?} was expected"
        );
        expected = Some(found);
        let lives = entries(&tree, b"life/").len() as u64;
        assert!(lives <= life, "{context}");
        tree.put(format!("life/{life}").as_bytes(), b"lived").unwrap();
        drop(tree);
        disk = Arc::new(disk.after_crash(Unsynced::Torn { seed: random.random() }));
    }
}

/// Checks that a checkpoint in an image is either a consistent tree, or incomplete and rejected. Adds the checkpoint to
/// `copies`. A checkpoint that `copies` contains is not checked again, because all later images have the same files.
fn check_copies(design: &Design, storage: &Arc<dyn Storage>, context: &str, copies: &mut HashSet<Files>) {
    for turn in (1..).step_by(4).take(200) {
        let copy = PathBuf::from(format!("copy-{turn}"));
        let names = storage.list(&copy).unwrap_or_default();
        let bytes = |name: &String| {
            let file = storage.open(&copy.join(name), Purpose::Table).unwrap();
            file.read(0, file.len() as usize).unwrap().to_vec()
        };
        let is_complete = names.iter().any(|name| name == "manifest");
        if is_complete && copies.insert(names.iter().map(|name| (name.clone(), bytes(name))).collect()) {
            let copy = open(design, Mode::Counted, storage, &copy);
            progress(&copy, &format!("{context}, checkpoint {turn}"));
        }
    }
}

fn fail_everywhere(wal: &'static str, kinds: &'static [Unsynced]) {
    // In the first design, several threads write the parts of one compaction. In the third design, writers run all
    // background work.
    for (compaction, parts, inline) in [("leveled", 3, "none"), ("tiered", 1, "none"), ("leveled", 1, "all")]
    {
        let design = small_design(&format!(
            "wal = \"{wal}\"\ncompaction = \"{compaction}\"\n\
             threads = {{ max_subcompactions = {parts}, inline = \"{inline}\" }}"
        ));
        in_time(wal, move || {
            let images = images(&design, wal, kinds);
            let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
            let mut copies = HashSet::new();
            images.iter().for_each(|image| check(&design, wal, image, &mut random, &mut copies));
            println!("wal = {wal}, {compaction}, inline = {inline}: {} images", images.len());
        });
    }
}

const TORN: Unsynced = Unsynced::Torn { seed: 0 };

#[test]
fn synced_commits_of_many_threads_survive_power_loss() {
    fail_everywhere("sync", &[Unsynced::Dropped, TORN, Unsynced::Kept, TORN]);
}

#[test]
fn buffered_commits_of_many_threads_survive_the_death_of_the_process() {
    fail_everywhere("buffered", &[Unsynced::Kept]);
}

#[test]
fn without_a_log_a_prefix_of_the_commits_of_many_threads_comes_back() {
    fail_everywhere("none", &[Unsynced::Dropped, TORN, Unsynced::Kept]);
}

#[test]
fn grouped_commits_of_many_threads_survive_power_loss() {
    fail_everywhere("group", &[Unsynced::Dropped, TORN, Unsynced::Kept, TORN]);
}

#[test]
fn buffered_commits_of_many_threads_come_back_as_a_prefix_after_power_loss() {
    fail_everywhere("buffered", &[Unsynced::Dropped, TORN, TORN]);
}

#[test]
fn commits_synced_at_a_period_come_back_as_a_prefix_after_power_loss() {
    fail_everywhere("interval", &[Unsynced::Dropped, TORN, Unsynced::Kept, TORN]);
}
