//! What streams through a tree: flushes, compactions, long ranges, and short ones.
//!
//! Random 16-byte keys with 100-byte values, in memory and uncompressed, so that what is timed is the work of
//! the processor. Each round fills a tree with as many runs as asked for, which times the flushes, reads it
//! whole, reads ranges of 100 entries from everywhere, and then merges it into one run. Prints for each the
//! median of the rounds. To compare two versions of the tree, build the example in both and run them in turn.
//!
//! `cargo run --release -p lsmbench-tree --example streams -- [ENTRIES] [RUNS] [ROUNDS] [design TOML]`

#![allow(clippy::print_stdout)] // a program that prints a table

mod entries;
mod numbers;

use std::error::Error;
use std::hint::black_box;
use std::ops::Bound;
use std::path::Path;
use std::time::Instant;

use lsmbench_tree::{Design, OpenOptions, Tree};

use entries::{VALUE, key};
use numbers::median;

type Outcome<T> = Result<T, Box<dyn Error>>;

const DESIGN: &str = r#"
    storage = "memory"
    compaction = "none"
    wal = "none"
    cache = { kind = "quick", capacity = "4GiB" }
    memtable = { kind = "vector", capacity = "4GiB" }
"#;

const ENTRY_BYTES: usize = 16 + VALUE.len();

/// Ranges of one round, and the entries of each.
const SCANS: u64 = 2_000;
const SCAN: usize = 100;

/// Nanoseconds that `work` takes, for each of `count`.
fn time(count: u64, work: impl FnOnce() -> Outcome<()>) -> Outcome<f64> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed().as_nanos() as f64 / count as f64)
}

/// Reads up to `limit` entries from `low` on; returns how many there were.
fn read(tree: &Tree, low: Bound<&[u8]>, limit: usize) -> Outcome<usize> {
    let mut range = tree.range((low, Bound::Unbounded))?;
    let (mut entries, mut bytes) = (0, 0);
    while entries < limit
        && let Some((key, value)) = range.next()?
    {
        bytes += key.len() + value.len();
        entries += 1;
    }
    black_box(bytes);
    Ok(entries)
}

/// Flush, compaction and long range in nanoseconds per entry, short ranges in nanoseconds each.
fn round(design: &Design, entries: u64, runs: u64) -> Outcome<[f64; 4]> {
    let tree = OpenOptions::new(design.clone()).open(Path::new("tree"))?;
    let mut flush = 0.0;
    for run in 0..runs {
        (run..entries).step_by(runs as usize).try_for_each(|number| tree.put(&key(number), &VALUE))?;
        flush += time(entries, || Ok(tree.flush()?))?;
    }
    let long = time(entries, || {
        assert_eq!(read(&tree, Bound::Unbounded, usize::MAX)?, entries as usize, "every entry once");
        Ok(())
    })?;
    let short = time(SCANS, || {
        (0..SCANS).try_for_each(|scan| read(&tree, Bound::Included(&key(!scan)), SCAN).map(drop))
    })?;
    let compaction = time(entries, || Ok(tree.compact()?))?;
    Ok([flush, compaction, long, short])
}

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default| arguments.next().map_or(Ok(default), |text| text.parse());
    let (entries, runs, rounds): (u64, u64, u64) = (number(1_000_000)?, number(10)?, number(5)?);
    let changes = arguments.next().unwrap_or_default();
    let design = Design::default().with(&DESIGN.parse()?)?.with(&changes.parse()?)?;
    let times = (0..rounds).map(|_| round(&design, entries, runs)).collect::<Outcome<Vec<_>>>()?;
    println!("{entries} entries in {runs} runs {changes}");
    for (index, name) in ["flush", "compaction", "long range", "range of 100"].iter().enumerate() {
        let time = median(times.iter().map(|round| round[index]).collect());
        let entries = if index == 3 { SCAN as f64 } else { 1.0 };
        let rate = ENTRY_BYTES as f64 * entries / time * 1e3;
        println!("{name:12} {time:9.1} ns {rate:8.0} MB/s");
    }
    Ok(())
}
