//! Every memtable of the catalog beside the crossbeam skip list, in one interleaved run.
//!
//! Random 16-byte keys, 100-byte values. Each round fills a new memtable of each kind, looks every key up
//! in another order, freezes it and drains it; then the same by two threads at once. Who goes first moves
//! on from round to round. A policy lives through all rounds, so that memtables which hand their memory on
//! do so, as in a tree. Lookups stop after half a second. Prints nanoseconds per entry, the median of the
//! rounds, and how many times faster than the skip list that is, the median of the rounds' ratios. What one
//! thread does alone counts the processor's time, which neighbours on the machine disturb least; where
//! threads work together it is wall time. `↑2` is how much more two threads do than one in the same wall
//! time, and behind it how much more they would do if each had a processor to itself: what is left of two
//! for the processor time that they cost each other, which leaves out the time that locks let them sleep.
//!
//! `cargo run --release -p lsmbench-memtable --example memtable_race -- [ENTRIES] [ROUNDS] [LABEL…]`

#![allow(clippy::print_stdout)] // a program that prints a table

use std::hint::black_box;
use std::thread;
use std::time::Duration;

use lsmbench_memtable::{CATALOG, Memtable, MemtablePolicy};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::time::{ClockId, clock_gettime};
use toml::Value;
use types::{HashedKey, KeyHash, Lookup};
use xxhash_rust::xxh3::xxh3_64;

const BASELINE: &str = "skiplist";
const VALUE: [u8; 100] = [7; 100];
const ENTRY_BYTES: usize = 16 + VALUE.len() + 8;

/// After this time lookups are many enough.
const LOOKUP_TIME: Duration = Duration::from_millis(500);

/// Lookups between two looks at the clock.
const LOOKUPS_PER_STEP: usize = 256;

/// What is timed, in the order of the columns.
const COLUMNS: [&str; 7] = ["insert", "get", "freeze", "drain", "insert T2", "get T2", "bytes/entry"];

type Key = ([u8; 16], KeyHash);

/// The columns, the wall time of an insert by one thread, and the processor time of one by two threads.
type Row = [f64; COLUMNS.len() + 2];

/// A contestant and its rows, one per round.
struct Contestant {
    label: String,
    policy: Box<dyn MemtablePolicy>,
    rounds: Vec<Row>,
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default| arguments.next().map_or(default, |text| text.parse().expect("a number"));
    let (entries, rounds): (usize, usize) = (number(500_000), number(5));
    let labels: Vec<String> = arguments.collect();
    let (keys, asked) = keys(entries);
    let mut contestants = contestants(&labels);
    for round in 0..rounds {
        for turn in 0..contestants.len() {
            let at = (turn + round) % contestants.len();
            let row = race(&*contestants[at].policy, &keys, &asked);
            contestants[at].rounds.push(row);
        }
    }
    print(&contestants);
}

/// The baseline, and the variants asked for or all.
fn contestants(labels: &[String]) -> Vec<Contestant> {
    let baseline = CATALOG.choose(&Value::String(BASELINE.to_owned())).expect("it is in the catalog");
    let others: Vec<_> = if labels.is_empty() {
        CATALOG.all().filter(|choice| choice.kind() != BASELINE).collect()
    } else {
        let choose = |label: &String| CATALOG.choose(&Value::String(label.clone()));
        labels.iter().map(|label| choose(label).unwrap_or_else(|error| panic!("{error}"))).collect()
    };
    let contestant = |choice: catalog::Choice| Contestant {
        label: choice.label(),
        policy: CATALOG.build(&choice).expect("a choice can be built"),
        rounds: Vec::new(),
    };
    [baseline].into_iter().chain(others).map(contestant).collect()
}

/// Distinct keys, and the same in another order.
fn keys(entries: usize) -> (Vec<Key>, Vec<Key>) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let keys: Vec<Key> = (0..entries)
        .map(|_| {
            let bytes: [u8; 16] = random.random();
            (bytes, KeyHash(xxh3_64(&bytes)))
        })
        .collect();
    let mut asked = keys.clone();
    asked.shuffle(&mut random);
    (keys, asked)
}

/// One round of one contestant.
fn race(policy: &dyn MemtablePolicy, keys: &[Key], asked: &[Key]) -> Row {
    let entries = keys.len() as f64;
    let create = || policy.create(keys.len() * ENTRY_BYTES);
    let nanos = |time: Duration| time.as_nanos() as f64 / entries;
    let table = create();
    let mut insert = Duration::ZERO;
    let wall = timed(wall_time, || insert = timed(processor_time, || fill(&*table, keys, 1)));
    let get = look_up(processor_time, &*table, asked);
    let bytes = table.memory_bytes() as f64 / entries;
    let freeze = timed(wall_time, || table.freeze());
    let mut drained = 0;
    let drain = timed(processor_time, || {
        table.drain(&mut |entry| drained += usize::from(!black_box(entry.key).is_empty()));
    });
    assert_eq!(drained, keys.len(), "every key is drained once");
    drop(table);
    let table = create();
    let (low, high) = keys.split_at(keys.len() / 2);
    let mut work = Duration::ZERO;
    let insert_by_two = timed(wall_time, || {
        thread::scope(|scope| {
            let other = scope.spawn(|| timed(processor_time, || fill(&*table, low, 1)));
            work = timed(processor_time, || fill(&*table, high, low.len() as u64 + 1));
            work += other.join().expect("no insert panics");
        });
    });
    let (low, high) = asked.split_at(asked.len() / 2);
    let get_by_two = thread::scope(|scope| {
        let other = scope.spawn(|| look_up(wall_time, &*table, low));
        let own = look_up(wall_time, &*table, high);
        f64::midpoint(own, other.join().expect("no lookup panics")) / 2.0
    });
    [
        nanos(insert),
        get,
        nanos(freeze),
        nanos(drain),
        nanos(insert_by_two),
        get_by_two,
        bytes,
        nanos(wall),
        nanos(work),
    ]
}

fn timed(clock: impl Fn() -> Duration, work: impl FnOnce()) -> Duration {
    let start = clock();
    work();
    clock().saturating_sub(start)
}

/// What this thread had of the processor.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec as u32)
}

fn wall_time() -> Duration {
    let time = clock_gettime(ClockId::Monotonic);
    Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec as u32)
}

fn hashed(key: &Key) -> HashedKey<'_> {
    HashedKey { bytes: &key.0, hash: key.1 }
}

fn fill(table: &dyn Memtable, keys: &[Key], first: u64) {
    for (key, sequence) in keys.iter().zip(first..) {
        table.insert(hashed(key), sequence, Some(&VALUE));
    }
}

/// Nanoseconds per lookup.
fn look_up(clock: impl Fn() -> Duration, table: &dyn Memtable, asked: &[Key]) -> f64 {
    let mut value = Vec::with_capacity(VALUE.len());
    let start = clock();
    let mut done = 0;
    for step in asked.chunks(LOOKUPS_PER_STEP) {
        for key in step {
            value.clear();
            assert_eq!(table.get(hashed(key), u64::MAX, &mut value), Lookup::Found);
            black_box(&value);
        }
        done += step.len();
        if clock() > start + LOOKUP_TIME {
            break;
        }
    }
    clock().saturating_sub(start).as_nanos() as f64 / done as f64
}

fn print(contestants: &[Contestant]) {
    print!("{:32}", "ns/entry (× skiplist)");
    COLUMNS.iter().for_each(|column| print!("{column:>20}"));
    println!("{:>20}", "insert ↑2");
    for contestant in contestants {
        print!("{:32}", contestant.label);
        for column in 0..COLUMNS.len() {
            let times = contestant.rounds.iter().map(|row| row[column]);
            let rounds = contestant.rounds.iter().zip(&contestants[0].rounds);
            let ratios = rounds.map(|(row, baseline)| baseline[column] / row[column].max(f64::MIN_POSITIVE));
            let (time, ratio) = (median(times), median(ratios));
            let ratio = if ratio < 1e4 { format!("({ratio:.2})") } else { String::new() };
            print!("{time:>11.1} {ratio:>8}");
        }
        let gain = |gain: fn(&Row) -> f64| median(contestant.rounds.iter().map(gain));
        println!("{:>11.2} {:>8.2}", gain(|row| row[7] / row[4]), gain(|row| 2.0 * row[0] / row[8]));
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
