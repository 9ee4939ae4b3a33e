//! Fuzz targets for compressed blocks of every codec, with and without dictionaries.

use std::sync::LazyLock;

use catalog::Choice;
use compression::{CATALOG, Compression, Decompressor, Dictionaries, RAW, decompress};

use super::input::{SPARE_BYTES, choose};
use crate::bounds::bounded;
use crate::target::{FuzzTarget, InputForm};

/// The fuzz target for a compressed block. An input consists of a tag that names a codec, two bytes of length, and the
/// compressed bytes. Two decompressions must give the same result, and a block must be unchanged after compression and
/// decompression.
pub(super) const TARGET: FuzzTarget = FuzzTarget {
    name: "codec",
    about: "a compressed block of any codec",
    form: InputForm::Bytes,
    seeds: codec_seeds,
    run: run_codec,
};

/// The fuzz target for a block that was compressed with dictionaries. An input consists of the length of the
/// dictionaries (two bytes), the dictionaries, a tag, the length of the block (two bytes), and the stored bytes.
pub(super) const DICTIONARIES: FuzzTarget = FuzzTarget {
    name: "dictionaries",
    about: "the dictionaries of an SSTable, and a block that was compressed with one of these dictionaries",
    form: InputForm::Bytes,
    seeds: dictionary_seeds,
    run: run_dictionaries,
};

/// Every codec of the catalog, with its label.
static CODECS: LazyLock<Vec<(String, Box<dyn Compression>)>> = LazyLock::new(|| {
    let build = |choice: Choice| {
        (choice.label(), CATALOG.build(&choice).expect("every codec must build with its default parameters"))
    };
    CATALOG.all().map(build).collect()
});

/// Returns uncompressed blocks with contents that are typical for a tree: rows of text, numbers, and incompressible
/// bytes.
fn blocks() -> Vec<Vec<u8>> {
    let rows: Vec<u8> =
        (0..120u32).flat_map(|i| format!("user{:06} name-{} true;", i * 3, i % 7).into_bytes()).collect();
    let numbers: Vec<u8> = (0..300u64).flat_map(|i| (1_700_000_000 + i * 13).to_le_bytes()).collect();
    let noise: Vec<u8> = (0..500u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    vec![rows, numbers, noise, vec![7; 2000], b"x".to_vec(), Vec::new()]
}

/// Builds an input from the tag of a codec, the length of the block, and the stored bytes.
fn framed(tag: u8, len: usize, stored: &[u8]) -> Vec<u8> {
    [&[tag][..], &(len as u16).to_le_bytes(), stored].concat()
}

fn codec_seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (_, codec) in CODECS.iter() {
        for block in blocks() {
            let mut stored = Vec::new();
            let tag = codec.compress(0, &block, &mut stored);
            if tag != RAW || seeds.is_empty() {
                seeds.push(framed(tag, block.len(), &stored));
            }
        }
    }
    seeds
}

fn dictionary_seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for codec in ["zstd(dictionary=256)", "fsst"] {
        let choice = CATALOG
            .choose(&toml::Value::from(codec))
            .expect("the catalog of codecs must contain the codec of the test data");
        let codec = CATALOG.build(&choice).expect("the codec of the test data must build");
        let samples: Vec<Vec<u8>> = (0..64).flat_map(|_| blocks().into_iter().take(1)).collect();
        let samples: Vec<&[u8]> = samples.iter().map(Vec::as_slice).collect();
        let mut dictionaries = Dictionaries::default();
        let learnt = codec
            .learn(0, &samples, &mut dictionaries)
            .expect("the samples must train a dictionary of the codec");
        let encoded = dictionaries.encode();
        for block in blocks() {
            let mut stored = Vec::new();
            let tag = learnt.compress(0, &block, &mut stored);
            let front = (encoded.len() as u16).to_le_bytes();
            seeds.push([&front[..], &encoded, &framed(tag, block.len(), &stored)].concat());
        }
    }
    seeds
}

fn run_codec(input: &[u8]) -> bool {
    let decoded = decode_framed(input, |tag, stored, out| decompress(tag, stored, out).is_ok());
    for (label, codec) in CODECS.iter() {
        let mut stored = Vec::new();
        let tag = codec.compress(0, input, &mut stored);
        assert!(stored.len() <= input.len(), "{label}: the compressed block is longer than the block");
        let mut back = vec![0; input.len()];
        let decoded = decompress(tag, &stored, &mut back);
        assert!(decoded.is_ok() && back == input, "{label}: decompression does not restore the block");
    }
    decoded
}

fn run_dictionaries(input: &[u8]) -> bool {
    let Some((len, rest)) = input.split_first_chunk::<2>() else { return false };
    let Some((dictionaries, framed)) = rest.split_at_checked(usize::from(u16::from_le_bytes(*len))) else {
        return false;
    };
    let opened = bounded(input.len(), SPARE_BYTES, || Decompressor::open(dictionaries));
    opened.is_ok_and(|decompressor| {
        decode_framed(framed, |tag, stored, out| decompressor.decompress(tag, stored, out).is_ok())
    })
}

/// Decodes an input twice with `decode`, and checks that both results are equal. Returns whether the input is valid.
fn decode_framed(framed: &[u8], decode: impl Fn(u8, &[u8], &mut [u8]) -> bool) -> bool {
    let Some((tag, rest)) = choose(framed) else { return false };
    let Some((len, stored)) = rest.split_first_chunk::<2>() else { return false };
    let len = usize::from(u16::from_le_bytes(*len));
    let (mut first, mut second) = (vec![0; len], vec![0xff; len]);
    bounded(framed.len() + len, SPARE_BYTES, || {
        let decoded = decode(tag as u8, stored, &mut first);
        assert_eq!(
            decoded,
            decode(tag as u8, stored, &mut second),
            "one of two decodings of the same input failed"
        );
        assert!(!decoded || first == second, "two decodings of the same input returned different bytes");
        decoded
    })
}
