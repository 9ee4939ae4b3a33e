//! The merge kernel of the tree beside `std::collections::BinaryHeap`, over the same sources in memory.
//!
//! Sorted runs of random 16-byte keys with 100-byte values stand in memory as they are; every entry is copied
//! out into one buffer of 64 KiB, as a compaction would. `merge` is `lsmbench_tree::merge::Merge`, the very code
//! that ranges and compactions run, `merge by heap`
//! the other kernel, `merge.kernel = "heap"`. `heap of keys` pops the smallest key, a byte string, and pushes the next one
//! of that run; `heap of heads` does so with our 16-byte heads, which is right only where keys have no more
//! bytes. `peek_mut` exchanges the key in place. `copy` copies the runs one after the other: what no merge can
//! do without. Contenders take turns. Prints the median of the rounds for each number of runs: of equal runs, of
//! runs of which one has nine tenths of the entries, and of runs that do not overlap.
//!
//! `cargo run --release -p lsmbench-tree --example merge_kernel -- [ENTRIES] [ROUNDS]`

#![allow(clippy::print_stdout)] // a program that prints a table

mod numbers;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::convert::Infallible;
use std::hint::black_box;
use std::time::Instant;

use lsmbench_tree::merge::{HeapMerge, Kernel, Merge, Source, head};
use types::{Direction, avalanche};

use numbers::median;

const KEY_BYTES: usize = 16;
const ENTRY_BYTES: usize = KEY_BYTES + 100;

/// The buffer that entries are copied to.
const BUFFER_BYTES: usize = 64 << 10;

/// A run in memory and the place of the current entry.
#[derive(Clone)]
struct Run<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Run<'a> {
    #[inline]
    fn entry(&self) -> &'a [u8] {
        &self.bytes[self.at..self.at + ENTRY_BYTES]
    }

    #[inline]
    fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }
}

impl Source for Run<'_> {
    type Context = ();
    type Error = Infallible;

    #[inline]
    fn head(&self) -> u128 {
        head(&self.entry()[..KEY_BYTES])
    }

    #[inline]
    fn key(&self) -> &[u8] {
        &self.entry()[..KEY_BYTES]
    }

    #[inline]
    fn advance(&mut self, (): &()) -> Result<bool, Infallible> {
        self.at += ENTRY_BYTES;
        Ok(!self.is_at_end())
    }
}

/// Where entries are copied to.
struct Sink {
    buffer: Vec<u8>,
    entries: u64,
}

impl Sink {
    fn new() -> Self {
        Self { buffer: Vec::with_capacity(BUFFER_BYTES + ENTRY_BYTES), entries: 0 }
    }

    #[inline]
    fn take(&mut self, entry: &[u8]) {
        if self.buffer.len() >= BUFFER_BYTES {
            black_box(&*self.buffer);
            self.buffer.clear();
        }
        self.buffer.extend_from_slice(entry);
        self.entries += 1;
    }
}

fn merge<'a, K: Kernel<Run<'a>>>(runs: &[Run<'a>], sink: &mut Sink) {
    let mut merge = K::new(runs.to_vec(), Direction::Forward);
    while let Some(run) = merge.current() {
        sink.take(run.entry());
        let Ok(()) = merge.advance(&());
    }
}

/// What a heap compares: the key as it is, or its head.
trait Rank<'a>: Ord {
    fn of(run: &Run<'a>) -> Self;
}

impl<'a> Rank<'a> for &'a [u8] {
    fn of(run: &Run<'a>) -> Self {
        &run.entry()[..KEY_BYTES]
    }
}

impl<'a> Rank<'a> for u128 {
    fn of(run: &Run<'a>) -> Self {
        run.head()
    }
}

fn heap_of<'a, R: Rank<'a>>(runs: &[Run<'a>]) -> BinaryHeap<Reverse<(R, usize)>> {
    runs.iter().enumerate().map(|(index, run)| Reverse((R::of(run), index))).collect()
}

fn heap<'a, R: Rank<'a>>(runs: &[Run<'a>], sink: &mut Sink) {
    let (mut runs, mut heap) = (runs.to_vec(), heap_of::<R>(runs));
    while let Some(Reverse((_, index))) = heap.pop() {
        let run = &mut runs[index];
        sink.take(run.entry());
        let Ok(stands) = run.advance(&());
        if stands {
            heap.push(Reverse((R::of(run), index)));
        }
    }
}

fn heap_peek_mut<'a, R: Rank<'a>>(runs: &[Run<'a>], sink: &mut Sink) {
    let (mut runs, mut heap) = (runs.to_vec(), heap_of::<R>(runs));
    while let Some(mut top) = heap.peek_mut() {
        let run = &mut runs[top.0.1];
        sink.take(run.entry());
        let Ok(stands) = run.advance(&());
        if stands {
            top.0.0 = R::of(run);
        } else {
            PeekMut::pop(top);
        }
    }
}

fn copy(runs: &[Run<'_>], sink: &mut Sink) {
    for run in runs {
        run.bytes.chunks_exact(ENTRY_BYTES).for_each(|entry| sink.take(entry));
    }
}

/// The entries `numbers` as one sorted run.
fn run_of(numbers: impl Iterator<Item = u64>) -> Vec<u8> {
    let mut keys: Vec<u128> =
        numbers.map(|number| u128::from(avalanche(number)) << 64 | u128::from(avalanche(!number))).collect();
    keys.sort_unstable();
    let mut bytes = Vec::with_capacity(keys.len() * ENTRY_BYTES);
    for key in keys {
        bytes.extend_from_slice(&key.to_be_bytes());
        bytes.resize(bytes.len() + ENTRY_BYTES - KEY_BYTES, 7);
    }
    bytes
}

/// What takes turns.
type Contender = for<'a> fn(&[Run<'a>], &mut Sink);

const CONTENDERS: [(&str, Contender); 7] = [
    ("merge", |runs, sink| merge::<Merge<_>>(runs, sink)),
    ("merge by heap", |runs, sink| merge::<HeapMerge<_>>(runs, sink)),
    ("heap of keys", |runs, sink| heap::<&[u8]>(runs, sink)),
    ("  peek_mut", |runs, sink| heap_peek_mut::<&[u8]>(runs, sink)),
    ("heap of heads", |runs, sink| heap::<u128>(runs, sink)),
    ("  peek_mut", |runs, sink| heap_peek_mut::<u128>(runs, sink)),
    ("copy", copy),
];

/// Shares so many entries out to so many runs.
type Shape = fn(u64, u64) -> Vec<Vec<u8>>;

const SHAPES: [(&str, Shape); 3] = [("equal", equal), ("one large", one_large), ("disjoint", disjoint)];

fn equal(entries: u64, count: u64) -> Vec<Vec<u8>> {
    (0..count).map(|run| run_of((run..entries).step_by(count as usize))).collect()
}

fn one_large(entries: u64, count: u64) -> Vec<Vec<u8>> {
    let run = |number: u64| match number % 10 {
        9 if count > 1 => 1 + number / 10 % (count - 1),
        _ => 0,
    };
    (0..count).map(|index| run_of((0..entries).filter(|number| run(*number) == index))).collect()
}

fn disjoint(entries: u64, count: u64) -> Vec<Vec<u8>> {
    let all = run_of(0..entries);
    all.chunks(entries.div_ceil(count) as usize * ENTRY_BYTES).map(<[u8]>::to_vec).collect()
}

/// Lets the contenders take turns on runs of one shape, and prints what each takes.
fn race(stored: &[Vec<u8>], entries: u64, rounds: usize) {
    let runs: Vec<Run<'_>> = stored.iter().map(|bytes| Run { bytes, at: 0 }).collect();
    let mut times = [const { Vec::new() }; CONTENDERS.len()];
    for round in 0..rounds {
        for turn in 0..CONTENDERS.len() {
            let side = (turn + round) % CONTENDERS.len();
            let mut sink = Sink::new();
            let start = Instant::now();
            CONTENDERS[side].1(&runs, &mut sink);
            times[side].push(start.elapsed().as_nanos() as f64 / entries as f64);
            assert_eq!(sink.entries, entries, "every entry once");
        }
    }
    for (name, own) in CONTENDERS.map(|(name, _)| name).iter().zip(&times) {
        let ratio = median(times[0].iter().zip(own).map(|(merge, own)| own / merge).collect());
        let time = median(own.clone());
        let rate = ENTRY_BYTES as f64 / time;
        println!("  {name:13} {time:6.1} ns/entry {rate:6.2} GB/s; merge is {ratio:5.2}× as fast");
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default| arguments.next().map_or(Ok(default), |text| text.parse());
    let (entries, rounds): (u64, usize) = (number(100_000)?, number(25)?.try_into()?);
    for (shape, runs_of) in SHAPES {
        for count in [1, 2, 4, 10, 16] {
            println!("{entries} entries in {count} runs, {shape}");
            race(&runs_of(entries, count), entries, rounds);
        }
    }
    Ok(())
}
