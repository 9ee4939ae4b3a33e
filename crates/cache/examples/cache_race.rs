//! All caches of the catalog in one interleaved run: hit rates by load and size with Belady's bound, then
//! the time of a hit and of a mixed load by one thread and by several, as ratios to `quick`. With `+read`
//! behind a label blocks are read in the cache and not handed out.
//!
//! `cargo run --release -p lsmbench-cache --example cache_race -- [rates|times] [--trace FILE.xz] [--load NAME]
//! [--theta X] [--scale N] [--threads N] [--bursts N] [LABEL…]`: without labels every variant with its defaults. A
//! trace is a stream of big-endian 32-bit names, xz-compressed; each is a request for one block.
#![allow(clippy::print_stdout)]

use std::fs::File;
use std::hint::{black_box, spin_loop};
use std::io::{BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use lsmbench_cache::{BlockId, CATALOG, Cache, Request, belady, replay};
use lzma_rust2::XzReader;
use rand::distr::Distribution;
use rand::{RngExt, SeedableRng};
use rand_distr::Zipf;
use rand_xoshiro::Xoshiro256PlusPlus;
use toml::Value;
use types::Bytes;

/// The length of blocks: what the tree's weigh.
const BLOCK_BYTES: u32 = 4096;

/// Requests of one burst: a tenth of a millisecond, so that most of them are undisturbed once all threads
/// run.
const BURST: usize = 1 << 12;

/// The bytes of all blocks where time is measured: what is timed is the cache, and not the memory of the
/// blocks. Each block has a reference count of its own.
static BYTES: [u8; BLOCK_BYTES as usize] = [1; BLOCK_BYTES as usize];

fn block() -> Bytes {
    Bytes::from_owner(Arc::new(BYTES.as_slice()), 0..BYTES.len())
}

/// What the command line asks for.
struct Plan {
    rates: bool,
    times: bool,
    trace: Option<String>,
    /// What the names of the loads to run begin with.
    load: String,
    /// Divides sizes and requests, for a quick look.
    scale: u64,
    /// The exponent of Zipf's law.
    theta: f64,
    threads: usize,
    bursts: usize,
    labels: Vec<String>,
}

fn main() {
    let plan = plan();
    if plan.rates {
        rates(&plan);
    }
    if plan.times {
        times(&plan);
    }
}

fn plan() -> Plan {
    let mut plan = Plan {
        rates: false,
        times: false,
        trace: None,
        load: String::new(),
        scale: 1,
        theta: 0.99,
        threads: 2,
        bursts: 400,
        labels: Vec::new(),
    };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().expect("an option is followed by its value");
        match arg.as_str() {
            "rates" => plan.rates = true,
            "times" => plan.times = true,
            "--trace" => plan.trace = Some(value()),
            "--load" => plan.load = value(),
            "--scale" => plan.scale = value().parse().expect("--scale takes a number"),
            "--bursts" => plan.bursts = value().parse().expect("--bursts takes a number"),
            "--theta" => plan.theta = value().parse().expect("--theta takes a number"),
            "--threads" => plan.threads = value().parse().expect("--threads takes a number"),
            _ => plan.labels.push(arg),
        }
    }
    if !plan.rates && !plan.times {
        (plan.rates, plan.times) = (true, true);
    }
    if plan.labels.is_empty() {
        plan.labels = CATALOG.kinds().map(str::to_owned).collect();
    }
    plan
}

/// The cache that a label names, of so many bytes.
fn build(label: &str, capacity: u64) -> Box<dyn Cache> {
    let choice = CATALOG.choose(&Value::from(label)).expect("labels name caches");
    let Value::Table(mut table) = choice.to_toml() else { unreachable!("a choice is a table") };
    if table.contains_key("capacity") {
        table.insert("capacity".to_owned(), Value::from(i64::try_from(capacity).expect("a size")));
    }
    CATALOG
        .build(&CATALOG.choose(&Value::Table(table)).expect("a size is all that differs"))
        .expect("it builds")
}

fn id(name: u64) -> BlockId {
    BlockId { tree: 1, table: name >> 8, offset: (name & 255) << 12 }
}

fn request(name: u64) -> Request {
    Request { id: id(name), bytes: BLOCK_BYTES }
}

/// A load, how many of its requests warm up, and the sizes of caches in blocks.
struct Load {
    name: &'static str,
    trace: Vec<Request>,
    warm_up: usize,
    sizes: Vec<u64>,
}

/// Zipf over 2^20 blocks, where `one_touch` of the requests are for blocks that come once.
fn zipf(name: &'static str, one_touch: f64, Plan { theta, scale, .. }: &Plan) -> Load {
    let blocks = (1 << 20) / scale;
    let random = &mut Xoshiro256PlusPlus::seed_from_u64(1);
    let ranks = Zipf::new(blocks as f64, *theta).expect("valid parameters");
    let requests = 5_000_000 / scale;
    let trace = (0..requests).map(|number| {
        let rank: f64 = ranks.sample(random);
        request(if random.random_bool(one_touch) { (1 << 40) + number } else { rank as u64 })
    });
    let sizes = vec![blocks / 256, blocks / 64, blocks / 16, blocks / 4];
    Load { name, trace: trace.collect(), warm_up: requests as usize / 2, sizes }
}

/// A loop over 1.2 times the middle size.
fn around(scale: u64) -> Load {
    let blocks = 65_536 / scale;
    let trace: Vec<Request> = (0..40 * blocks).map(|number| request(number % (blocks * 6 / 5))).collect();
    Load { name: "loop", warm_up: trace.len() / 2, trace, sizes: vec![blocks / 4, blocks, blocks * 9 / 8] }
}

fn read_trace(path: &str, scale: u64) -> Load {
    let file = BufReader::new(File::open(path).expect("the trace is a file"));
    let mut bytes = Vec::new();
    XzReader::new(file, true).read_to_end(&mut bytes).expect("the trace is xz-compressed");
    let names = bytes.chunks_exact(4).map(|name| u32::from_be_bytes(name.try_into().expect("four bytes")));
    let trace: Vec<Request> =
        names.take(5_000_000 / scale as usize).map(|name| request(name.into())).collect();
    Load { name: "trace", warm_up: trace.len() / 5, trace, sizes: vec![512, 2048, 8192, 32_768] }
}

fn rates(plan: &Plan) {
    let mut loads = vec![zipf("zipf", 0.0, plan), zipf("scan-mixed", 0.5, plan), around(plan.scale)];
    loads.extend(plan.trace.as_deref().map(|path| read_trace(path, plan.scale)));
    for load in loads.iter().filter(|load| load.name.starts_with(&plan.load)) {
        println!("\nhit rates, {} ({} requests, {} warm up)", load.name, load.trace.len(), load.warm_up);
        print!("{:28}", "blocks");
        load.sizes.iter().for_each(|size| print!("{size:>9}"));
        println!();
        for label in plan.labels.iter().filter(|label| !label.ends_with("+read")) {
            print!("{label:28}");
            for size in &load.sizes {
                let cache = build(label, size * u64::from(BLOCK_BYTES));
                print!("{:9.4}", replay(&*cache, &load.trace, load.warm_up).hit_rate());
            }
            println!();
        }
        print!("{:28}", "(belady)");
        for size in &load.sizes {
            print!("{:9.4}", belady(&load.trace, size * u64::from(BLOCK_BYTES), load.warm_up).hit_rate());
        }
        println!();
    }
}

/// A cache, and how it is asked.
struct Racer {
    cache: Box<dyn Cache>,
    is_reader: bool,
}

impl Racer {
    /// Asks for a block; says whether it was there.
    fn request(&self, id: &BlockId) -> bool {
        if self.is_reader {
            return self.cache.read(id, &mut |block| {
                black_box(block);
            });
        }
        let block = self.cache.get(id);
        black_box(&block);
        block.is_some()
    }
}

/// What no cache can go below that hands blocks out: an array of blocks that never changes, found without hash, lock or policy,
/// and handed out as the seam demands, by counting a reference.
struct Floor(Vec<Bytes>);

impl Cache for Floor {
    fn get(&self, id: &BlockId) -> Option<Bytes> {
        self.0.get((id.table << 8 | id.offset >> 12) as usize).cloned()
    }

    fn insert(&self, _: BlockId, _: Bytes) {}

    fn remove_table(&self, _: u64, _: u64) {}

    fn set_capacity(&self, _: u64) {}

    fn capacity(&self) -> u64 {
        u64::MAX
    }

    fn weight_bytes(&self) -> u64 {
        self.0.len() as u64 * u64::from(BLOCK_BYTES)
    }
}

/// A way to use a cache: which of so many blocks held are asked for.
struct Use {
    name: &'static str,
    held: u64,
    /// Whether a burst is preceded by the same requests untimed, so that what it touches is near.
    is_warmed: bool,
    names: Vec<u32>,
}

fn times(plan: &Plan) {
    let random = &mut Xoshiro256PlusPlus::seed_from_u64(2);
    let held = 65_536 / plan.scale;
    let ranks = Zipf::new(16.0 * held as f64, 0.99).expect("valid parameters");
    let count = 1 << 20;
    let uses = [
        Use {
            name: "hits out of the processor's caches, 64 k blocks",
            held,
            is_warmed: false,
            names: (0..count).map(|_| random.random_range(0..held as u32 * 3 / 4)).collect(),
        },
        Use {
            name: "hits in the processor's caches, 4 k blocks",
            held: held / 16,
            is_warmed: true,
            names: (0..count).map(|_| random.random_range(0..held as u32 / 16 * 3 / 4)).collect(),
        },
        Use {
            name: "zipf, insert on miss",
            held,
            is_warmed: false,
            names: (0..count).map(|_| ranks.sample(random) as u32).collect(),
        },
    ];
    for way in uses.iter().filter(|way| way.name.starts_with(&plan.load)) {
        time_all(plan, way);
    }
}

/// Times every cache in turn, burst after burst, and prints for each the median of those bursts in which
/// all threads ran at once: on a machine where others run too, some do not.
fn time_all(plan: &Plan, way: &Use) {
    let racer = |label: &String| Racer {
        cache: build(label.trim_end_matches("+read"), way.held * u64::from(BLOCK_BYTES)),
        is_reader: label.ends_with("+read"),
    };
    let mut racers: Vec<Racer> = plan.labels.iter().map(racer).collect();
    let largest = way.names.iter().max().map_or(0, |name| *name as usize);
    let floor = Floor((0..=largest).map(|_| block()).collect());
    racers.push(Racer { cache: Box::new(floor), is_reader: false });
    for racer in &racers {
        time(racer, &way.names, 1, false);
    }
    println!(
        "\nns per request of the run's wall time, {}: median of {} bursts, those in which all threads ran at once",
        way.name, plan.bursts
    );
    let numbers: Vec<usize> = (1..=plan.threads).filter(|threads| threads.is_power_of_two()).collect();
    let times: Vec<Vec<f64>> = numbers.iter().map(|threads| bursts(plan, way, &racers, *threads)).collect();
    print!("{:28}", "threads");
    numbers.iter().for_each(|threads| print!("{threads:>9}{:>9}", "x quick"));
    println!();
    let quick = plan.labels.iter().position(|label| label == "quick");
    for (at, label) in plan.labels.iter().map(String::as_str).chain(["(floor)"]).enumerate() {
        print!("{label:28}");
        for times in &times {
            print!("{:9.1}{:9.2}", times[at], quick.map_or(f64::NAN, |quick| times[quick] / times[at]));
        }
        println!();
    }
}

/// The median time of the bursts of each racer, all in turn in every burst.
fn bursts(plan: &Plan, way: &Use, racers: &[Racer], threads: usize) -> Vec<f64> {
    let mut times = vec![Vec::new(); racers.len()];
    for burst in 0..plan.bursts {
        let first = burst * BURST % (way.names.len() - BURST);
        for (racer, times) in racers.iter().zip(&mut times) {
            times.extend(time(racer, &way.names[first..first + BURST], threads, way.is_warmed));
        }
    }
    let median = |mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
    };
    times.into_iter().map(median).collect()
}

/// The nanoseconds of wall time per request while `threads` threads make the requests of `names` each,
/// beginning together and at different places; nothing if they did not run at once for nine tenths of it.
fn time(racer: &Racer, names: &[u32], threads: usize, is_warmed: bool) -> Option<f64> {
    let waiting = AtomicUsize::new(threads);
    let work = |thread: usize| {
        let (behind, first) = names.split_at(thread * names.len() / threads);
        let request_all = || {
            for &name in first.iter().chain(behind) {
                let id = id(name.into());
                if !racer.request(&id) {
                    racer.cache.insert(id, block());
                }
            }
        };
        if is_warmed {
            request_all();
        }
        waiting.fetch_sub(1, Ordering::AcqRel);
        while waiting.load(Ordering::Acquire) > 0 {
            spin_loop();
        }
        let start = Instant::now();
        request_all();
        (start, Instant::now())
    };
    let spans: Vec<(Instant, Instant)> = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|thread| scope.spawn(move || work(thread))).collect();
        let own = work(0);
        others.into_iter().map(|other| other.join().expect("no panic")).chain([own]).collect()
    });
    let (starts, ends) = (spans.iter().map(|span| span.0), spans.iter().map(|span| span.1));
    let (first, last) = (starts.clone().min()?, ends.clone().max()?);
    let together = ends.min()?.saturating_duration_since(starts.max()?);
    let ns = (last - first).as_nanos() as f64;
    (together.as_nanos() as f64 > 0.9 * ns).then(|| ns / (names.len() * threads) as f64)
}
