//! Tests that codecs keep the invariants with other parameters, and that the check detects a codec that violates an
//! invariant.

mod c;
mod canary;

use std::collections::HashSet;

use canary::{Canary, Fault};
use catalog::laws::{check_all, check_invariants};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use toml::Value;

use super::corpora;
use super::invariants::{self, INVARIANTS, Subject};
use crate::{CATALOG, Compression, decompress};

/// Returns codecs of the catalog with parameters other than the defaults.
fn forms() -> Vec<(String, Box<dyn Compression>)> {
    let odd = [
        "zstd(level=-5)",
        "zstd(level=1)",
        "zstd(level=19)",
        r#"zstd(dictionary="2KiB")"#,
        r#"by-level(levels=["fsst", "zstd(level=1, dictionary=\"256B\")", "lz4"])"#,
        r#"by-entropy(small="900B", codecs=["lz4", "zstd(dictionary=1024)", "fsst"])"#,
        r#"by-content(text="fsst", binary="zstd(dictionary=1024)")"#,
        r#"by-content(binary_below=0.4, levels=["lz4", "fsst"])"#,
        r#"adaptive(period=3, light="fsst", dense="zstd(dictionary=1024)")"#,
        r#"by-level(levels=["snappy", "zstd(level=9)"])"#,
        "lz4-hc(level=1)",
        "lzma(level=0)",
        "adaptive(period=2)",
        r#"by-entropy(small="1KiB", large="4KiB")"#,
    ];
    let choices = odd.map(|label| CATALOG.choose(&Value::from(label)).unwrap());
    choices.map(|choice| (choice.label(), CATALOG.build(&choice).unwrap())).into()
}

/// Returns every codec of the catalog with its defaults, and some codecs with other parameters.
fn codecs() -> Vec<(String, Box<dyn Compression>)> {
    let defaults = CATALOG.all().map(|choice| (choice.label(), CATALOG.build(&choice).unwrap()));
    defaults.chain(forms()).collect()
}

#[test]
fn every_form_keeps_every_invariant() {
    let forms = forms().into_iter().map(|(label, codec)| (label, Subject(codec))).collect::<Vec<_>>();
    check_all(&forms, |(label, subject)| check_invariants(label, subject, INVARIANTS)).unwrap();
}

#[test]
fn codecs_that_learn_are_known() {
    let learns = |codec: &dyn Compression| (0..8).any(|level| codec.sample_bytes(level) > 0);
    let learners: Vec<String> =
        codecs().into_iter().filter(|(_, codec)| learns(&**codec)).map(|(label, _)| label).collect();
    assert!(learners.len() >= 6 && learners[0] == "fsst", "{learners:?}");
}

#[test]
fn codecs_shrink_what_can_be_shrunk() {
    let corpora = corpora::all();
    let block = &corpora.iter().find(|(name, _)| *name == "mixed 16 KiB").unwrap().1;
    let columns = ["none", "bitpack", "delta", "dictionary"];
    for (label, codec) in codecs().iter().filter(|(label, _)| !columns.contains(&label.as_str())) {
        let mut stored = Vec::new();
        codec.compress(5, block, &mut stored);
        let ratio = stored.len() as f64 / block.len() as f64;
        assert!((0.3..0.8).contains(&ratio), "{label}: {ratio}");
    }
    let integers = &corpora.iter().find(|(name, _)| *name == "integers 4 KiB").unwrap().1;
    for (label, codec) in codecs().iter().filter(|(label, _)| columns[1..].contains(&label.as_str())) {
        let mut stored = Vec::new();
        codec.compress(5, integers, &mut stored);
        assert!(stored.len() * 2 < integers.len(), "{label}: {} of {}", stored.len(), integers.len());
    }
}

#[test]
fn one_tag_is_one_codec() {
    let mut seen = HashSet::new();
    let defaults = CATALOG.all().map(|choice| CATALOG.build(&choice).unwrap());
    assert!(
        defaults.filter_map(|codec| codec.tag()).all(|tag| seen.insert(tag)),
        "two codecs have the same tag"
    );
}

#[test]
fn a_codec_without_fault_keeps_every_invariant() {
    let canary = Canary(None);
    for (name, block) in corpora::all() {
        invariants::check(&canary, &canary.decompressor(), &block)
            .unwrap_or_else(|broken| panic!("{name}: {broken}"));
    }
    for (_, block) in corpora::small() {
        invariants::check_corruption(&canary, &canary.decompressor(), &block).unwrap();
    }
    let table = corpora::table();
    let samples: Vec<&[u8]> = table.iter().map(Vec::as_slice).collect();
    let open = |dictionaries: &[u8]| canary.open(dictionaries);
    assert_eq!(invariants::check_learning(&canary, &open, &samples, &table), Ok(4));
}

#[test]
fn every_canary_is_caught() {
    let cases = [
        (Fault::LosesTheLastByte, "invariant 1"),
        (Fault::ClearsWhatWasThere, "invariant 1"),
        (Fault::NamesTheWrongTag, "invariant 1"),
        (Fault::GrowsRandomBlocks, "invariant 2"),
        (Fault::PanicsOnCorruption, "invariant 3"),
        (Fault::AcceptsAnyLength, "invariant 3"),
        (Fault::ForgetsWhatItLearnt, "invariant 4"),
        (Fault::PanicsOnCorruptDictionaries, "invariant 4"),
    ];
    let table = corpora::table();
    let samples: Vec<&[u8]> = table.iter().map(Vec::as_slice).collect();
    for (fault, invariant) in cases {
        let canary = Canary(Some(fault));
        let decompress = canary.decompressor();
        let broken = corpora::all()
            .iter()
            .find_map(|(_, block)| invariants::check(&canary, &decompress, block).err())
            .or_else(|| {
                let corpora = corpora::small();
                corpora
                    .iter()
                    .find_map(|(_, block)| invariants::check_corruption(&canary, &decompress, block).err())
            })
            .or_else(|| {
                let open = |dictionaries: &[u8]| canary.open(dictionaries);
                invariants::check_learning(&canary, &open, &samples, &table).err()
            });
        let broken = broken.unwrap_or_else(|| panic!("{fault:?} was not caught"));
        assert!(broken.contains(invariant), "{fault:?} was caught as: {broken}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    #[test]
    fn any_block_comes_back(
        letters in 1..=255u8,
        block in prop::collection::vec(any::<u8>(), 0..3000),
        level in 0..10usize,
    ) {
        let block: Vec<u8> = block.into_iter().map(|byte| byte % letters).collect();
        for (label, codec) in codecs() {
            prop_assert_eq!(invariants::check_at(&*codec, &decompress, level, &block), Ok(()), "{}", label);
        }
    }

    #[test]
    fn any_bytes_decode_or_are_refused(
        tag in any::<u8>(),
        stored in prop::collection::vec(any::<u8>(), 0..300),
        len in 0..5000usize,
    ) {
        for tag in (0..11).chain([tag]) {
            let mut out = vec![0; len];
            let _ = decompress(tag, &stored, &mut out);
        }
    }
}
