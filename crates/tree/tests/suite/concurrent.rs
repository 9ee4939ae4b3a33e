//! Many threads use one tree, and the test checks their reads at the same time.
//!
//! Three groups of keys have invariants that hold at all times. Each *register* has one writer, which counts up. A read
//! must not return a version older than the last version acknowledged before the read. A read must also not return a
//! version newer than the last version begun before the end of the read (linearizability of one key). The *cycle* is a
//! list of keys that one writer writes in order, round after round. Every snapshot contains a prefix of the writes, so
//! no key is ahead of the previous key. Batches move money between *accounts*, so the accounts have the same sum in
//! every snapshot.

use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use catalog::Axis;
use lsmbench_tree::{AXES, Design, Mode, MultiGetValues, Range, Snapshot, Tree, WriteBatch};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use storage::Storage;

use crate::common::{memory, open, small_design};
use crate::probe::in_time;

const DIRECTORY: &str = "tree";
const REGISTERS: usize = 24;
const REGISTER_WRITERS: usize = 2;
const REGISTER_VERSIONS: u64 = 120;
/// One of every `DELETE_PERIOD` versions of a register is a delete.
const DELETE_PERIOD: u64 = 5;
const CYCLE: usize = 24;
const ROUNDS: u64 = 60;
const BANKS: usize = 2;
const ACCOUNTS: usize = 8;
/// The sum of all accounts of a bank.
const CAPITAL: i64 = 8_000;
const TRANSFERS: usize = 500;
/// The initial value of each account.
const BALANCE: i64 = CAPITAL / 8;

/// The bounds on the versions of each register.
struct Registers {
    /// The version of the last write that began.
    begun: Vec<AtomicU64>,
    /// The version of the last acknowledged write.
    acknowledged: Vec<AtomicU64>,
    /// The newest version that any thread has read.
    seen: Vec<AtomicU64>,
}

impl Registers {
    fn new() -> Self {
        let zeros = || (0..REGISTERS).map(|_| AtomicU64::new(0)).collect();
        Self { begun: zeros(), acknowledged: zeros(), seen: zeros() }
    }

    /// Returns whether a version is a delete. Version 0, before the first write, is also a delete.
    fn is_delete(version: u64) -> bool {
        version.is_multiple_of(DELETE_PERIOD)
    }

    /// Returns the oldest version of a register that a read may return if the read begins now.
    fn floor(&self, register: usize) -> u64 {
        let acknowledged = self.acknowledged[register].load(Ordering::SeqCst);
        acknowledged.max(self.seen[register].load(Ordering::SeqCst))
    }

    /// Checks the result of a read that has ended. `floor` is the oldest allowed version from the start of the read.
    fn check(&self, register: usize, floor: u64, got: Option<&[u8]>) {
        let ceiling = self.begun[register].load(Ordering::SeqCst);
        let version = got.map_or_else(
            // An absent key may be any delete. Only the oldest possible delete is certain.
            || if Self::is_delete(floor) { floor } else { floor.next_multiple_of(DELETE_PERIOD) },
            |value| {
                let version = number(value);
                assert!(!Self::is_delete(version), "register {register}: a value of a delete, {version}");
                version
            },
        );
        assert!(
            (floor..=ceiling).contains(&version),
            "register {register}: version {version} was read, {floor} to {ceiling} are possible"
        );
        self.seen[register].fetch_max(version, Ordering::SeqCst);
    }
}

fn register_key(register: usize) -> Vec<u8> {
    format!("register/{register:03}").into_bytes()
}

fn cycle_key(place: usize) -> Vec<u8> {
    format!("cycle/{place:03}").into_bytes()
}

fn account_key(bank: usize, account: usize) -> Vec<u8> {
    format!("bank/{bank}/{account:03}").into_bytes()
}

/// Returns a value that begins with a number and has a length that depends on the number.
fn value(number: u64) -> Vec<u8> {
    [&number.to_be_bytes()[..], &vec![b'.'; (number % 61) as usize]].concat()
}

fn number(value: &[u8]) -> u64 {
    u64::from_be_bytes(*value.first_chunk().expect("eight bytes at least"))
}

fn write_registers(tree: &Tree, registers: &Registers, writer: usize) {
    for version in 1..=REGISTER_VERSIONS {
        for register in (writer..REGISTERS).step_by(REGISTER_WRITERS) {
            registers.begun[register].store(version, Ordering::SeqCst);
            match Registers::is_delete(version) {
                true => tree.delete(&register_key(register)).unwrap(),
                false => tree.put(&register_key(register), &value(version)).unwrap(),
            }
            registers.acknowledged[register].store(version, Ordering::SeqCst);
        }
    }
}

fn write_cycle(tree: &Tree) {
    for round in 1..=ROUNDS {
        for place in 0..CYCLE {
            tree.put(&cycle_key(place), &value(round)).unwrap();
        }
    }
}

/// Moves money between the accounts of one bank. Each batch first writes invalid balances, which are visible only if
/// the batch is torn or reordered.
fn write_bank(tree: &Tree, bank: usize) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(bank as u64);
    let mut balances = [BALANCE; ACCOUNTS];
    for _ in 0..TRANSFERS {
        let from = random.random_range(0..ACCOUNTS);
        let to = (from + random.random_range(1..ACCOUNTS)) % ACCOUNTS;
        let amount = random.random_range(0..100);
        balances[from] -= amount;
        balances[to] += amount;
        let mut batch = WriteBatch::new();
        batch.put(&account_key(bank, from), b"one million pounds sterling").unwrap();
        batch.delete(&account_key(bank, to)).unwrap();
        batch.put(&account_key(bank, from), &balances[from].to_be_bytes()).unwrap();
        batch.put(&account_key(bank, to), &balances[to].to_be_bytes()).unwrap();
        tree.write(&batch).unwrap();
    }
}

fn open_banks(tree: &Tree) {
    let mut batch = WriteBatch::new();
    for (bank, account) in (0..BANKS).flat_map(|bank| (0..ACCOUNTS).map(move |account| (bank, account))) {
        batch.put(&account_key(bank, account), &BALANCE.to_be_bytes()).unwrap();
    }
    tree.write(&batch).unwrap();
}

/// Returns the values of all keys that begin with `prefix`.
fn values<'t>(range: impl Fn(Bound<&[u8]>, Bound<&[u8]>) -> Range<'t>, prefix: &str) -> Vec<Vec<u8>> {
    let end = format!("{prefix}~");
    let mut range = range(Bound::Included(prefix.as_bytes()), Bound::Excluded(end.as_bytes()));
    let mut values = Vec::new();
    while let Some((_, value)) = range.next().unwrap() {
        values.push(value.to_vec());
    }
    values
}

/// Checks the rounds of the cycle in a snapshot. From key to key, the rounds never increase. The rounds of all keys
/// differ by at most one.
fn check_cycle(rounds: &[u64], how: &str) {
    let first = rounds.first().copied().unwrap_or(0);
    let last = if rounds.len() == CYCLE { rounds[CYCLE - 1] } else { 0 };
    assert!(rounds.is_sorted_by(|a, b| a >= b) && first - last <= 1, "{how}: no prefix: {rounds:?}");
}

fn check_banks<'t>(range: impl Fn(Bound<&[u8]>, Bound<&[u8]>) -> Range<'t>, how: &str) {
    for bank in 0..BANKS {
        let balances = values(&range, &format!("bank/{bank}/"));
        let sum: i64 = balances
            .iter()
            .map(|balance| i64::from_be_bytes(balance.as_slice().try_into().expect("a balance, not junk")))
            .sum();
        assert_eq!((balances.len(), sum), (ACCOUNTS, CAPITAL), "{how}");
    }
}

/// Checks the cycle and the banks in a snapshot of a tree.
fn check_moment<'t>(range: impl Fn(Bound<&[u8]>, Bound<&[u8]>) -> Range<'t>, how: &str) {
    let rounds: Vec<u64> = values(&range, "cycle/").iter().map(|value| number(value)).collect();
    check_cycle(&rounds, how);
    check_banks(&range, how);
}

fn check_multi_get(tree: &Tree) {
    let keys: Vec<Vec<u8>> = (0..CYCLE).map(cycle_key).collect();
    let slices: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
    let values: MultiGetValues = tree.multi_get(&slices).unwrap();
    let rounds: Vec<u64> = values.iter().map(|value| value.as_deref().map_or(0, number)).collect();
    check_cycle(&rounds, "multi-get");
}

/// Checks that a snapshot is consistent and that every read path returns the same content.
fn check_snapshot(tree: &Tree, registers: &Registers, random: &mut impl Rng) {
    let register = random.random_range(0..REGISTERS);
    let floor = registers.floor(register);
    let snapshot = tree.snapshot();
    let first = snapshot.get(&register_key(register)).unwrap();
    registers.check(register, floor, first.as_deref());
    let forward = content(&snapshot, |_| true);
    check_moment(|low, high| snapshot.range((low, high)).unwrap(), "snapshot");
    thread::yield_now();
    assert_eq!(snapshot.get(&register_key(register)).unwrap(), first);
    assert_eq!(content(&snapshot, |_| false), forward, "backward");
    assert_eq!(content(&snapshot, |index| index % 3 == 1), forward, "from both ends");
    assert_eq!(content(&snapshot, |_| true), forward, "again");
}

/// Returns the content of a snapshot in key order. `is_front` selects the end from which each entry is read.
fn content(snapshot: &Snapshot, is_front: impl Fn(usize) -> bool) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut range = snapshot.range(..).unwrap();
    let (mut front, mut back) = (Vec::new(), Vec::new());
    for index in 0.. {
        let (entry, end) = match is_front(index) {
            true => (range.next().unwrap(), &mut front),
            false => (range.next_back().unwrap(), &mut back),
        };
        match entry {
            Some((key, value)) => end.push((key.to_vec(), value.to_vec())),
            None => break,
        }
    }
    front.extend(back.into_iter().rev());
    front
}

fn read(tree: &Tree, registers: &Registers, seed: u64, done: &AtomicBool) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    while !done.load(Ordering::SeqCst) {
        match random.random_range(0..8) {
            0 => check_moment(|low, high| tree.range((low, high)).unwrap(), "range"),
            1 => check_multi_get(tree),
            2 => check_snapshot(tree, registers, &mut random),
            _ => {
                let register = random.random_range(0..REGISTERS);
                let floor = registers.floor(register);
                let got = tree.get(&register_key(register)).unwrap();
                registers.check(register, floor, got.as_deref());
            }
        }
    }
}

fn maintain(tree: &Tree, design: &Design, storage: &Arc<dyn Storage>, done: &AtomicBool) {
    for turn in 0.. {
        if done.load(Ordering::SeqCst) {
            return;
        }
        match turn % 4 {
            0 => tree.flush().unwrap(),
            1 => tree.compact().unwrap(),
            2 => assert!(tree.stats().counts.puts > 0),
            _ => {
                let copy = PathBuf::from(format!("copy-{turn}"));
                tree.checkpoint(&copy).unwrap();
                let copy = open(design, Mode::Counted, storage, &copy);
                check_moment(|low, high| copy.range((low, high)).unwrap(), "checkpoint");
            }
        }
    }
}

/// Checks the content of the tree after all writers have finished.
fn check_end(tree: &Tree, registers: &Registers, how: &str) {
    for register in 0..REGISTERS {
        let got = tree.get(&register_key(register)).unwrap();
        registers.check(register, REGISTER_VERSIONS, got.as_deref());
    }
    let rounds: Vec<u64> = values(|low, high| tree.range((low, high)).unwrap(), "cycle/")
        .iter()
        .map(|value| number(value))
        .collect();
    assert_eq!(rounds, [ROUNDS; CYCLE], "{how}");
    check_banks(|low, high| tree.range((low, high)).unwrap(), how);
}

/// Runs writers, readers and maintenance at the same time, and then checks the content before and after reopening the
/// tree.
fn stress(design: &Design, mode: Mode) {
    let storage = memory();
    let tree = open(design, mode, &storage, Path::new(DIRECTORY));
    let (registers, done) = (Registers::new(), AtomicBool::new(false));
    open_banks(&tree);
    thread::scope(|scope| {
        let (tree, registers, done, storage) = (&tree, &registers, &done, &storage);
        let _end = Ended(done);
        let mut writers = vec![scope.spawn(move || write_cycle(tree))];
        writers
            .extend((0..REGISTER_WRITERS).map(|w| scope.spawn(move || write_registers(tree, registers, w))));
        writers.extend((0..BANKS).map(|bank| scope.spawn(move || write_bank(tree, bank))));
        for seed in 0..2 {
            scope.spawn(move || read(tree, registers, seed, done));
        }
        scope.spawn(move || maintain(tree, design, storage, done));
        writers.into_iter().for_each(|writer| writer.join().unwrap());
    });
    check_end(&tree, &registers, "at the end");
    tree.settle().unwrap();
    check_end(&tree, &registers, "settled");
    tree.close().unwrap();
    let tree = open(design, mode, &storage, Path::new(DIRECTORY));
    check_end(&tree, &registers, "reopened");
}

/// Sets the flag when the guard is dropped, even by a panic, so that readers do not wait forever.
struct Ended<'a>(&'a AtomicBool);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Returns designs that together contain each variant of every axis whose components several threads share.
fn designs() -> Vec<String> {
    let shared = ["memtable", "cache", "bloom", "fence", "compaction", "compression", "wal"];
    let axes: Vec<_> = AXES.iter().filter(|axis| shared.contains(&axis.name())).collect();
    let count = axes.iter().map(|axis| axis.variants().len()).max().expect("there are axes");
    let line = |axis: &dyn Axis, number: usize| {
        let variants = axis.variants();
        format!("{} = \"{}\"\n", axis.name(), variants[number % variants.len()].kind)
    };
    (0..2 * count).map(|number| axes.iter().map(|axis| line(**axis, number)).collect()).collect()
}

#[test]
fn every_read_is_right_while_many_threads_write_in_timed_mode() {
    for text in designs() {
        let design = small_design(&text);
        in_time(&text, move || stress(&design, Mode::Timed));
    }
}

#[test]
fn every_read_is_right_while_writers_flush_and_compact() {
    for text in ["inline = \"flush\"", "inline = \"all\""] {
        for stall in ["frozen_memtables = 1, level0_runs = 2", "frozen_memtables = 3"] {
            let design = small_design(&format!("threads = {{ {text} }}\nstall = {{ {stall} }}"));
            in_time(text, move || stress(&design, Mode::Timed));
        }
    }
}

#[test]
fn every_read_is_right_while_several_threads_search_for_it() {
    let text = "threads = { per_lookup = 3, background = \"shared\" }\nbloom = \"none\"\ncompaction = \"tiered\"\n\
                cache = \"none\"\ntable = { release = \"next-compaction\" }\nblock = { memory_index = true }";
    let design = small_design(text);
    in_time(text, move || stress(&design, Mode::Timed));
}

#[test]
fn every_read_is_right_while_an_arbiter_moves_memory() {
    let arbiter = "arbiter = { kind = \"marginal\", period = 0.1, step = 25, margin = 0 }";
    for budget in ["", "memory = \"48KiB\"\ncache = \"lockfree-clock\""] {
        let design = small_design(&format!("{arbiter}\n{budget}"));
        in_time(budget, move || stress(&design, Mode::Timed));
    }
}

#[test]
fn every_read_is_right_while_writers_are_delayed() {
    let text = "stall = { frozen_memtables = 1, level0_runs = 4, pacing = \"delay\" }";
    let design = small_design(text);
    in_time(text, move || stress(&design, Mode::Timed));
}
