//! The laws of the compression axis, for every codec of the catalog over every corpus, and proof that they
//! can be broken.

mod canary;
mod corpora;
mod laws;

use std::collections::HashSet;

use canary::{Canary, Fault};
use lsmbench_compression::{CATALOG, Compression, decompress};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use toml::Value;

/// Every codec of the catalog with its defaults, and some with others.
fn codecs() -> Vec<(String, Box<dyn Compression>)> {
    let odd = [
        "zstd(level=-5)",
        "zstd(level=1)",
        "zstd(level=19)",
        r#"by-level(levels=["snappy", "zstd(level=9)"])"#,
        "lz4-hc(level=1)",
        "lzma(level=0)",
        "adaptive(period=2)",
        r#"by-entropy(small="1KiB", large="4KiB")"#,
    ];
    let odd = odd.map(|label| CATALOG.choose(&Value::from(label)).unwrap());
    let choices = CATALOG.all().chain(odd);
    choices.map(|choice| (choice.label(), CATALOG.build(&choice).unwrap())).collect()
}

#[test]
fn the_catalog_keeps_its_laws() {
    catalog::laws::check(&CATALOG).unwrap();
}

#[test]
fn every_codec_keeps_its_laws() {
    for (label, codec) in codecs() {
        for (name, block) in corpora::all() {
            laws::check(&*codec, &decompress, &block)
                .unwrap_or_else(|broken| panic!("{label}: {name}: {broken}"));
        }
    }
}

#[test]
fn every_codec_survives_damage() {
    for (label, codec) in codecs() {
        for (name, block) in corpora::small() {
            laws::check_damage(&*codec, &decompress, &block)
                .unwrap_or_else(|broken| panic!("{label}: {name}: {broken}"));
        }
    }
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
        assert!((0.3..0.75).contains(&ratio), "{label}: {ratio}");
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
    assert!(defaults.filter_map(|codec| codec.tag()).all(|tag| seen.insert(tag)), "a tag stands twice");
}

#[test]
fn many_threads_share_one_codec() {
    let corpora = corpora::all();
    for (label, codec) in codecs() {
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for (name, block) in &corpora {
                        laws::check(&*codec, &decompress, block)
                            .unwrap_or_else(|broken| panic!("{label}: {name}: {broken}"));
                    }
                });
            }
        });
    }
}

#[test]
fn the_suite_passes_a_codec_without_fault() {
    let canary = Canary(None);
    for (name, block) in corpora::all() {
        laws::check(&canary, &canary.decompressor(), &block)
            .unwrap_or_else(|broken| panic!("{name}: {broken}"));
    }
    for (_, block) in corpora::small() {
        laws::check_damage(&canary, &canary.decompressor(), &block).unwrap();
    }
}

#[test]
fn the_suite_catches_every_fault() {
    let cases = [
        (Fault::LosesTheLastByte, "law 1"),
        (Fault::ClearsWhatWasThere, "law 1"),
        (Fault::NamesTheWrongTag, "law 1"),
        (Fault::GrowsRandomBlocks, "law 2"),
        (Fault::PanicsOnDamage, "law 3"),
        (Fault::AcceptsAnyLength, "law 3"),
    ];
    for (fault, law) in cases {
        let canary = Canary(Some(fault));
        let decompress = canary.decompressor();
        let broken = corpora::all()
            .iter()
            .find_map(|(_, block)| laws::check(&canary, &decompress, block).err())
            .or_else(|| {
                let corpora = corpora::small();
                corpora.iter().find_map(|(_, block)| laws::check_damage(&canary, &decompress, block).err())
            });
        let broken = broken.unwrap_or_else(|| panic!("{fault:?} was not caught"));
        assert!(broken.contains(law), "{fault:?} was caught as: {broken}");
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
            prop_assert_eq!(laws::check_at(&*codec, &decompress, level, &block), Ok(()), "{}", label);
        }
    }

    #[test]
    fn any_bytes_decode_or_are_refused(
        tag in any::<u8>(),
        stored in prop::collection::vec(any::<u8>(), 0..300),
        len in 0..5000usize,
    ) {
        for tag in (0..8).chain([tag]) {
            let mut out = vec![0; len];
            let _ = decompress(tag, &stored, &mut out);
        }
    }
}
