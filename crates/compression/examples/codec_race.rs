//! Codecs through the seam of the axis beside the crates that they are made of, in one interleaved run.
//!
//! Blocks of 4 KiB, of three kinds: entries whose values are half random, as `db_bench` makes them, rows of JSON, and
//! random bytes. The crate is called as its own documentation recommends for many small buffers: contexts and
//! output buffers are made once. `adaptive` stands beside the codec that it picks, called through the seam too.
//! Rounds are many and short, so that what else runs on the machine spoils few of them.
//! Prints megabytes per second (of uncompressed bytes), medians of the rounds, and the time of the seam over
//! the time of the crate, medians of the rounds' ratios.
//!
//! `cargo run --release -p lsmbench-compression --example codec_race -- [ROUNDS]`

#![allow(clippy::print_stdout)] // a program that prints a table

use std::hint::black_box;
use std::time::Instant;

use lsmbench_compression::{CATALOG, Compression, Decompressor, Dictionaries};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use toml::Value;
use zstd::zstd_safe::{CCtx, CDict, DCtx, DDict};

const BLOCK_BYTES: usize = 4096;
const BLOCKS: usize = 64;
/// Blocks from which codecs learn.
const SAMPLES: usize = 512;
/// What every codec's output fits in.
const ROOM: usize = 2 * BLOCK_BYTES + 1024;
/// The level of the tree that blocks are written for.
const LEVEL: usize = 6;

/// Compresses a block into a buffer; returns the tag and the length.
type Compress = Box<dyn FnMut(&[u8], &mut Vec<u8>) -> (u8, usize)>;
/// Decompresses what has a tag into a whole block.
type Decompress = Box<dyn FnMut(u8, &[u8], &mut [u8])>;

/// A codec by one way of calling it.
struct Side {
    compress: Compress,
    decompress: Decompress,
}

/// Makes a block of one kind.
type Make = fn(&mut Xoshiro256PlusPlus) -> Vec<u8>;

/// Entries of 100 bytes of which 50 are random.
fn half_random(random: &mut Xoshiro256PlusPlus) -> Vec<u8> {
    let mut block = vec![0; BLOCK_BYTES];
    for value in block.chunks_mut(100) {
        let (fresh, repeated) = value.split_at_mut(50.min(value.len()));
        random.fill_bytes(fresh);
        repeated.copy_from_slice(&fresh[..repeated.len()]);
    }
    block
}

fn noise(random: &mut Xoshiro256PlusPlus) -> Vec<u8> {
    let mut block = vec![0; BLOCK_BYTES];
    random.fill_bytes(&mut block);
    block
}

fn json(random: &mut Xoshiro256PlusPlus) -> Vec<u8> {
    let cities = ["Lisbon", "Porto", "Coimbra", "Braga", "Faro", "Evora"];
    let mut block = Vec::new();
    while block.len() < BLOCK_BYTES {
        let (id, city) =
            (random.random_range(0..10_000_000u32), cities[random.random_range(0..cities.len())]);
        let (age, score) = (random.random_range(18..90u32), random.random_range(0..100_000u32));
        let row = format!(
            "{{\"id\": {id}, \"name\": \"user{id}\", \"city\": \"{city}\", \"age\": {age}, \"score\": {score}}}\n"
        );
        block.extend_from_slice(row.as_bytes());
    }
    block.truncate(BLOCK_BYTES);
    block
}

fn seam(label: &str) -> Box<dyn Compression> {
    CATALOG.build(&CATALOG.choose(&Value::from(label)).expect("a codec of the catalog")).expect("it builds")
}

/// A codec through the seam, learnt from samples where it learns.
fn through_the_seam(label: &str, samples: &[&[u8]]) -> Side {
    let mut dictionaries = Dictionaries::default();
    let codec = seam(label);
    let learnt = codec.learn(LEVEL, samples, &mut dictionaries);
    let decompressor = Decompressor::open(&dictionaries.encode()).expect("they were just made");
    Side {
        compress: Box::new(move |block, out| {
            out.clear();
            let tag = learnt.as_deref().unwrap_or(&*codec).compress(LEVEL, block, out);
            (tag, out.len())
        }),
        decompress: Box::new(move |tag, stored, out| {
            decompressor.decompress(tag, stored, out).expect("it was just stored");
        }),
    }
}

/// A crate called with an output buffer that is made once.
fn directly(
    mut compress: impl FnMut(&[u8], &mut [u8]) -> usize + 'static,
    mut decompress: impl FnMut(&[u8], &mut [u8]) -> usize + 'static,
) -> Side {
    Side {
        compress: Box::new(move |block, out| {
            out.resize(ROOM, 0);
            (0, compress(block, out))
        }),
        decompress: Box::new(move |_, stored, out| assert_eq!(decompress(stored, out), BLOCK_BYTES)),
    }
}

fn lz4() -> Side {
    use lz4_flex::block::{CompressTable, compress_into_with_table, decompress_into};
    let mut table = CompressTable::default();
    directly(
        move |block, out| compress_into_with_table(block, out, &mut table).expect("there is room"),
        |stored, out| decompress_into(stored, out).expect("it was just stored"),
    )
}

fn lz4_hc() -> Side {
    use lz4::block::{CompressionMode, compress_to_buffer};
    directly(
        |block, out| {
            let mode = Some(CompressionMode::HIGHCOMPRESSION(9));
            compress_to_buffer(block, mode, false, out).expect("there is room")
        },
        |stored, out| lz4_flex::block::decompress_into(stored, out).expect("it was just stored"),
    )
}

fn snappy() -> Side {
    let (mut encoder, mut decoder) = (snap::raw::Encoder::new(), snap::raw::Decoder::new());
    directly(
        move |block, out| encoder.compress(block, out).expect("there is room"),
        move |stored, out| decoder.decompress(stored, out).expect("it was just stored"),
    )
}

fn zstd_alone(level: i32) -> Side {
    let mut compressor = zstd::bulk::Compressor::new(level).expect("there is such a level");
    let mut decompressor = zstd::bulk::Decompressor::new().expect("there is no dictionary to refuse");
    directly(
        move |block, out| compressor.compress_to_buffer(block, out).expect("there is room"),
        move |stored, out| decompressor.decompress_to_buffer(stored, out).expect("it was just stored"),
    )
}

fn zstd_with_dictionary(samples: &[&[u8]], bytes: usize) -> Side {
    let dictionary = zstd::dict::from_samples(samples, bytes).expect("there are enough samples");
    let (compressor, decompressor) = (CDict::create(&dictionary, 3), DDict::create(&dictionary));
    let (mut compression, mut decompression) = (CCtx::create(), DCtx::create());
    directly(
        move |block, out| compression.compress_using_cdict(out, block, &compressor).expect("there is room"),
        move |stored, out| {
            decompression.decompress_using_ddict(out, stored, &decompressor).expect("it was just stored")
        },
    )
}

fn fsst(samples: &[&[u8]]) -> Side {
    let compressor = fsst::Compressor::train(&samples.to_vec());
    let decoder = compressor.clone();
    let mut room: Vec<u8> = Vec::with_capacity(ROOM);
    Side {
        compress: Box::new(move |block, out| {
            *out = compressor.compress(block);
            (0, out.len())
        }),
        decompress: Box::new(move |_, stored, _| {
            let len = decoder.decompressor().decompress_into(stored, room.spare_capacity_mut());
            assert_eq!(black_box(len), BLOCK_BYTES);
        }),
    }
}

/// Compresses, or decompresses, all blocks by one side; returns the nanoseconds of one.
fn pass(side: &mut Side, blocks: &[Vec<u8>], compresses: bool) -> f64 {
    let mut out = Vec::with_capacity(ROOM);
    if compresses {
        (side.compress)(&blocks[0], &mut out);
        let start = Instant::now();
        for block in blocks {
            black_box((side.compress)(black_box(block), &mut out));
        }
        return start.elapsed().as_nanos() as f64 / blocks.len() as f64;
    }
    let store = |block: &Vec<u8>| {
        let (tag, len) = (side.compress)(block, &mut out);
        (tag, out[..len].to_vec())
    };
    let stored: Vec<(u8, Vec<u8>)> = blocks.iter().map(store).collect();
    let mut out = vec![0; BLOCK_BYTES];
    let (tag, first) = &stored[0];
    (side.decompress)(*tag, first, &mut out);
    let start = Instant::now();
    for (tag, stored) in &stored {
        (side.decompress)(*tag, black_box(stored), &mut out);
    }
    start.elapsed().as_nanos() as f64 / blocks.len() as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Races the two sides of one codec and prints a line for each way.
fn race(name: &str, sides: &mut [Side; 2], blocks: &[Vec<u8>], rounds: usize) {
    for compresses in [true, false] {
        let mut times = [Vec::new(), Vec::new()];
        for round in 0..rounds {
            for turn in 0..2 {
                let at = (turn + round) % 2;
                times[at].push(pass(&mut sides[at], blocks, compresses));
            }
        }
        let ratio = median(times[1].iter().zip(&times[0]).map(|(seam, alone)| seam / alone).collect());
        let [alone, seam] = times.map(|times| BLOCK_BYTES as f64 * 1000.0 / median(times));
        let way = if compresses { "compress" } else { "decompress" };
        println!("{name:24} {way:10} {alone:8.0} MB/s alone {seam:8.0} MB/s by the seam  time ×{ratio:.3}");
    }
}

/// The codec that `adaptive` settles on for these blocks.
fn picked(blocks: &[Vec<u8>]) -> &'static str {
    let codec = seam("adaptive");
    let tags = blocks.iter().map(|block| codec.compress(LEVEL, block, &mut Vec::new()));
    match tags.last() {
        Some(1) => "lz4",
        Some(3) => "zstd",
        _ => "none",
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rounds = std::env::args().nth(1).map_or(Ok(201), |text| text.parse())?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let kinds: [(&str, Make); 3] = [("half random", half_random), ("json", json), ("random", noise)];
    for (kind, make) in kinds {
        let blocks: Vec<Vec<u8>> = (0..SAMPLES + BLOCKS).map(|_| make(&mut random)).collect();
        let (samples, blocks) = blocks.split_at(SAMPLES);
        let samples: Vec<&[u8]> = samples.iter().map(Vec::as_slice).collect();
        println!("{kind}:");
        let mut codecs = vec![
            ("lz4", lz4()),
            ("lz4-hc", lz4_hc()),
            ("snappy", snappy()),
            ("zstd", zstd_alone(3)),
            ("zstd(level=-5)", zstd_alone(-5)),
        ];
        if kind != "random" {
            codecs.push(("fsst", fsst(&samples)));
            codecs.push(("zstd(dictionary=16KiB)", zstd_with_dictionary(&samples, 16 << 10)));
        }
        for (label, alone) in codecs {
            race(label, &mut [alone, through_the_seam(label, &samples)], blocks, rounds);
        }
        let pick = picked(blocks);
        let sides = &mut [through_the_seam(pick, &[]), through_the_seam("adaptive", &[])];
        race(&format!("adaptive beside {pick}"), sides, blocks, rounds);
    }
    Ok(())
}
