//! The merge of a tree's runs beside a binary heap over the same runs, in one interleaved run.
//!
//! Random 16-byte keys, 100-byte values, in memory and uncompressed, in blocks of 64 KiB. `merged` reads a
//! tree that holds all of them in as many runs as asked for. `heap` reads a tree per run and merges them
//! by a `std::collections::BinaryHeap` of keys, pop and push per entry. `chained` reads those trees one
//! after the other: what decoding the blocks costs either of them. Every entry is copied into one buffer,
//! as a compaction would. Prints nanoseconds per entry, the median of the rounds, gigabytes
//! per second, and how many times faster than the heap, the median of the rounds' ratios; behind them the
//! same for what remains when `chained` is taken off.
//!
//! `cargo run --release -p lsmbench-tree --example merge_race -- [ENTRIES] [RUNS] [ROUNDS]`

#![allow(clippy::print_stdout)] // a program that prints a table

mod entries;
mod numbers;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use lsmbench_tree::{Design, OpenOptions, Range, Tree};

use entries::{VALUE, key};
use numbers::median;

type Outcome<T> = Result<T, Box<dyn Error>>;

const DESIGN: &str = r#"
    storage = "memory"
    compaction = "none"
    compression = "none"
    cache = "none"
    wal = "none"
    block = { size = "64KiB" }
    memtable = { kind = "vector", capacity = "4GiB" }
"#;

const ENTRY_BYTES: usize = 16 + VALUE.len();

/// A store in memory.
fn open(name: &str) -> Outcome<Tree> {
    let design = Design::default().with(&DESIGN.parse()?)?;
    Ok(OpenOptions::new(design).open(Path::new(name))?)
}

/// Adds entries as one run.
fn add_run(tree: &Tree, numbers: impl Iterator<Item = u64>) -> Outcome<()> {
    for number in numbers {
        tree.put(&key(number), &VALUE)?;
    }
    Ok(tree.flush()?)
}

/// Copies an entry, as a compaction would.
fn copy(block: &mut Vec<u8>, key: &[u8], value: &[u8]) {
    if block.len() > 1 << 16 {
        black_box(&*block);
        block.clear();
    }
    block.extend_from_slice(key);
    block.extend_from_slice(value);
}

/// Reads a range to its end; returns the number of entries.
fn read(range: &mut Range<'_>) -> Outcome<usize> {
    let mut block = Vec::with_capacity(1 << 17);
    let mut entries = 0;
    while let Some((key, value)) = range.next()? {
        copy(&mut block, key, value);
        entries += 1;
    }
    Ok(entries)
}

/// Merges ranges by a heap; returns the number of entries.
fn merge_by_heap(mut ranges: Vec<Range<'_>>) -> Outcome<usize> {
    let mut block = Vec::with_capacity(1 << 17);
    // The heap holds a copy of each range's key: what a range gives out is borrowed from it.
    let mut values = vec![Vec::new(); ranges.len()];
    let mut heap = BinaryHeap::new();
    for (source, range) in ranges.iter_mut().enumerate() {
        if let Some((key, value)) = range.next()? {
            values[source].extend_from_slice(value);
            heap.push(Reverse((<[u8; 16]>::try_from(key)?, source)));
        }
    }
    let mut entries = 0;
    while let Some(Reverse((key, source))) = heap.pop() {
        copy(&mut block, &key, &values[source]);
        entries += 1;
        if let Some((key, value)) = ranges[source].next()? {
            values[source].clear();
            values[source].extend_from_slice(value);
            heap.push(Reverse((<[u8; 16]>::try_from(key)?, source)));
        }
    }
    Ok(entries)
}

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default| arguments.next().map_or(Ok(default), |text| text.parse());
    let (entries, runs, rounds): (u64, u64, u64) = (number(1_000_000)?, number(10)?, number(5)?);
    let all = open("all")?;
    let mut single = Vec::new();
    for run in 0..runs {
        let tree = open(&format!("run-{run}"))?;
        let numbers = || (run..entries).step_by(runs as usize);
        add_run(&tree, numbers())?;
        add_run(&all, numbers())?;
        single.push(tree);
    }
    let ranges = || single.iter().map(|tree| tree.range(..)).collect::<Result<Vec<_>, _>>();
    let mut times = [const { Vec::new() }; 3];
    for round in 0..rounds {
        for turn in 0..3 {
            let side = (turn + round as usize) % 3;
            let start = Instant::now();
            let seen = match side {
                0 => read(&mut all.range(..)?)?,
                1 => merge_by_heap(ranges()?)?,
                _ => ranges()?.iter_mut().map(read).sum::<Outcome<usize>>()?,
            };
            times[side].push(start.elapsed().as_nanos() as f64 / entries as f64);
            assert_eq!(seen, entries as usize, "every entry once");
        }
    }
    println!("{entries} entries in {runs} runs");
    for (name, own) in ["merged", "heap", "chained"].iter().zip(&times) {
        let ratio = median(own.iter().zip(&times[1]).map(|(own, heap)| heap / own).collect());
        let over = |side: &[f64]| side.iter().zip(&times[2]).map(|(own, chained)| own - chained).collect();
        let (time, net) = (median(own.clone()), median(over(own)));
        let rate = ENTRY_BYTES as f64 / time;
        println!(
            "{name:8} {time:6.1} ns/entry {rate:6.2} GB/s {ratio:5.2}× heap; without decoding {net:6.1} ns"
        );
    }
    Ok(())
}
