//! One compaction by one thread and by several, in one interleaved run.
//!
//! Random 16-byte keys with 100-byte values in several runs that all overlap, merged into one run. Contenders
//! differ in `threads.max_subcompactions` and in nothing else; they take turns, each with a tree of its own. Prints
//! the median of the rounds, and how many times faster than one part, the median of the rounds' ratios.
//!
//! `cargo run --release -p lsmbench-tree --example compaction_race -- [ENTRIES] [RUNS] [ROUNDS] [design TOML]`

#![allow(clippy::print_stdout)] // a program that prints a table

mod entries;
mod numbers;

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use lsmbench_tree::{Design, Mode, OpenOptions};

use entries::{VALUE, key};
use numbers::median;

type Outcome<T> = Result<T, Box<dyn Error>>;

const DESIGN: &str = r#"
    storage = "memory"
    compaction = "none"
    wal = "none"
    cache = "none"
    memtable = { kind = "vector", capacity = "4GiB" }
    table = { capacity = "8MiB" }
"#;

const ENTRY_BYTES: usize = 16 + VALUE.len();

/// The numbers of parts that race.
const PARTS: [usize; 3] = [1, 2, 4];

/// Nanoseconds per entry that a compaction in so many parts takes.
fn compact(design: &Design, parts: usize, entries: u64, runs: u64) -> Outcome<f64> {
    let parts = format!("threads = {{ max_subcompactions = {parts} }}");
    let design = design.with(&parts.parse()?)?;
    let tree = OpenOptions::new(design).mode(Mode::Timed).open(Path::new("tree"))?;
    for run in 0..runs {
        (run..entries).step_by(runs as usize).try_for_each(|number| tree.put(&key(number), &VALUE))?;
        tree.flush()?;
    }
    let start = Instant::now();
    tree.compact()?;
    let time = start.elapsed().as_nanos() as f64 / entries as f64;
    let kept: u64 = tree.stats().levels.iter().map(|level| level.entries).sum();
    assert_eq!(kept, entries, "every entry once");
    Ok(time)
}

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default| arguments.next().map_or(Ok(default), |text| text.parse());
    let (entries, runs, rounds): (u64, u64, usize) =
        (number(1_000_000)?, number(10)?, number(5)?.try_into()?);
    let changes = arguments.next().unwrap_or_default();
    let design = Design::default().with(&DESIGN.parse()?)?.with(&changes.parse()?)?;
    let mut times = [const { Vec::new() }; PARTS.len()];
    for round in 0..rounds {
        for turn in 0..PARTS.len() {
            let side = (turn + round) % PARTS.len();
            times[side].push(compact(&design, PARTS[side], entries, runs)?);
        }
    }
    println!("{entries} entries in {runs} runs {changes}");
    for (parts, own) in PARTS.iter().zip(&times) {
        let ratio = median(times[0].iter().zip(own).map(|(one, own)| one / own).collect());
        let time = median(own.clone());
        let rate = ENTRY_BYTES as f64 / time * 1e3;
        println!("{parts} parts {time:7.1} ns/entry {rate:6.0} MB/s {ratio:5.2}× one part");
    }
    Ok(())
}
