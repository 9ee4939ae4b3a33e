//! Multi-gets of keys that no cache holds, over every back end that reads from a disk, in one interleaved run.
//!
//! One store on disk, written once: 16-byte keys, 100-byte values, one run, blocks of 4 KiB, no block cache. Each
//! round opens it with each back end in turn and looks the same random keys up, so many at a time. What the page
//! cache holds is dropped first, but for `pread` with warm pages, which reads the whole store before it is timed.
//! Prints microseconds per multi-get, the median of the rounds, and how many times faster than `direct`, the median
//! of the rounds' ratios.
//!
//! `cargo run --release -p lsmbench-tree --example multi_get_race -- [ENTRIES] [KEYS] [ROUNDS] [DIRECTORY]`

#![allow(clippy::print_stdout)] // a program that prints a table

mod entries;
mod numbers;

use std::error::Error;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Instant;

use lsmbench_tree::{Design, OpenOptions, Tree};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::fs::{Advice, fadvise};

use entries::{VALUE, key};
use numbers::median;

type Outcome<T> = Result<T, Box<dyn Error>>;

const DESIGN: &str = r#"
    cache = "none"
    wal = "none"
    table = { capacity = "1GiB" }
"#;

/// The label of the back end, and whether the page cache holds the store.
const CONTENDERS: [(&str, bool); 6] = [
    ("direct", false),
    ("pread", false),
    ("pread", true),
    ("uring", false),
    ("uring(queue_depth=8)", false),
    ("uring(direct=false)", false),
];

/// Multi-gets per round that are timed, and before them those that are not.
const BATCHES: usize = 100;
const WARM_UP: usize = 20;

fn open(directory: &Path, storage: &str) -> Outcome<Tree> {
    let design = Design::default().with(&format!("{DESIGN}storage = \"{storage}\"").parse()?)?;
    Ok(OpenOptions::new(design).open(directory)?)
}

fn write(directory: &Path, entries: u64) -> Outcome<()> {
    let tree = open(directory, "pread")?;
    (0..entries).try_for_each(|number| tree.put(&key(number), &VALUE))?;
    tree.compact()?;
    Ok(tree.close()?)
}

/// Takes every file of a store out of the page cache, or reads it in.
fn prepare(directory: &Path, is_warm: bool) -> Outcome<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if is_warm {
            fs::read(path)?;
        } else {
            fadvise(File::open(path)?, 0, None, Advice::DontNeed)?;
        }
    }
    Ok(())
}

/// Looks batches of keys up; microseconds per batch.
fn look_up(tree: &Tree, batches: &[Vec<[u8; 16]>]) -> Outcome<f64> {
    let start = Instant::now();
    for batch in batches {
        let keys: Vec<&[u8]> = batch.iter().map(<[u8; 16]>::as_slice).collect();
        if tree.multi_get(&keys)?.iter().any(|value| value.as_deref() != Some(&VALUE)) {
            return Err("a wrong answer".into());
        }
    }
    Ok(start.elapsed().as_secs_f64() * 1e6 / batches.len() as f64)
}

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: u64| arguments.next().map_or(Ok(default), |text| text.parse());
    let (entries, keys, rounds) = (number(1_000_000)?, number(32)?, number(9)?);
    let home = match arguments.next() {
        Some(parent) => tempfile::tempdir_in(PathBuf::from(parent))?,
        None => tempfile::tempdir()?,
    };
    let directory = home.path().join("store");
    write(&directory, entries)?;
    let mut times = vec![Vec::new(); CONTENDERS.len()];
    for round in 0..rounds {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(round);
        let mut batch = || (0..keys).map(|_| key(random.random_range(0..entries))).collect();
        let batches: Vec<Vec<[u8; 16]>> = (0..WARM_UP + BATCHES).map(|_| batch()).collect();
        let (warm_up, measured) = batches.split_at(WARM_UP);
        for (times, (storage, is_warm)) in times.iter_mut().zip(CONTENDERS) {
            let tree = open(&directory, storage)?;
            prepare(&directory, is_warm)?;
            look_up(&tree, warm_up)?;
            times.push(look_up(&tree, measured)?);
            tree.close()?;
        }
    }
    println!("{keys} keys of {entries} at a time, median of {rounds} rounds\n");
    println!("{:<24} {:>6} {:>16} {:>14}", "storage", "pages", "us per multi-get", "times direct");
    for ((storage, is_warm), of_storage) in CONTENDERS.iter().zip(&times) {
        let ratios = times[0].iter().zip(of_storage).map(|(direct, own)| direct / own).collect();
        let pages = if *is_warm { "warm" } else { "cold" };
        println!("{storage:<24} {pages:>6} {:>16.0} {:>14.2}", median(of_storage.clone()), median(ratios));
    }
    Ok(())
}
