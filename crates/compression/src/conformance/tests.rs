//! The laws of the compression axis, for every codec of the catalog over every corpus, and proof that they
//! can be broken.

mod c;
mod canary;
mod corpora;
mod laws;

use std::collections::HashSet;

use canary::{Canary, Fault};
use laws::Opened;
use lsmbench_compression::{CATALOG, Compression, CorruptBlock, Decompressor, decompress};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use toml::Value;

/// Every codec of the catalog with its defaults, and some with others.
fn codecs() -> Vec<(String, Box<dyn Compression>)> {
    let odd = [
        "zstd(level=-5)",
        "zstd(level=1)",
        "zstd(level=19)",
        r#"zstd(dictionary="2KiB")"#,
        r#"by-level(levels=["fsst", "zstd(level=1, dictionary=\"256B\")", "lz4"])"#,
        r#"by-entropy(small="900B", codecs=["lz4", "zstd(dictionary=1024)", "fsst"])"#,
        r#"by-content(text="fsst", binary="zstd(dictionary=1024)")"#,
        r#"adaptive(period=3, light="fsst", dense="zstd(dictionary=1024)")"#,
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
fn every_codec_survives_corruption() {
    for (label, codec) in codecs() {
        for (name, block) in corpora::small() {
            laws::check_corruption(&*codec, &decompress, &block)
                .unwrap_or_else(|broken| panic!("{label}: {name}: {broken}"));
        }
    }
}

fn open(dictionaries: &[u8]) -> Result<Opened, CorruptBlock> {
    let opened = Decompressor::open(dictionaries)?;
    Ok(Box::new(move |tag, stored, out| opened.decompress(tag, stored, out)))
}

#[test]
fn every_codec_that_learns_keeps_its_laws() {
    let table = corpora::table();
    let samples: Vec<&[u8]> = table.iter().map(Vec::as_slice).collect();
    let mut blocks = table.clone();
    blocks.extend(corpora::all().into_iter().map(|(_, block)| block));
    let mut learners = Vec::new();
    for (label, codec) in codecs() {
        let learnt = laws::check_learning(&*codec, &open, &samples, &blocks)
            .unwrap_or_else(|broken| panic!("{label}: {broken}"));
        assert_eq!(learnt > 0, (0..8).any(|level| codec.sample_bytes(level) > 0), "{label}");
        learners.extend((learnt > 0).then_some(label));
    }
    assert!(learners.len() >= 6 && learners[0] == "fsst", "{learners:?}");
}

#[test]
fn nothing_is_learnt_from_nothing_in_common() {
    for (label, codec) in codecs() {
        for samples in [&[][..], &[&b""[..]], &[&b"a"[..], b"b"]] {
            laws::check_learning(&*codec, &open, samples, &corpora::table()[..3])
                .unwrap_or_else(|broken| panic!("{label}: {broken}"));
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
        laws::check_corruption(&canary, &canary.decompressor(), &block).unwrap();
    }
    let table = corpora::table();
    let samples: Vec<&[u8]> = table.iter().map(Vec::as_slice).collect();
    let open = |dictionaries: &[u8]| canary.open(dictionaries);
    assert_eq!(laws::check_learning(&canary, &open, &samples, &table), Ok(4));
}

#[test]
fn the_suite_catches_every_fault() {
    let cases = [
        (Fault::LosesTheLastByte, "law 1"),
        (Fault::ClearsWhatWasThere, "law 1"),
        (Fault::NamesTheWrongTag, "law 1"),
        (Fault::GrowsRandomBlocks, "law 2"),
        (Fault::PanicsOnCorruption, "law 3"),
        (Fault::AcceptsAnyLength, "law 3"),
        (Fault::ForgetsWhatItLearnt, "law 4"),
        (Fault::PanicsOnCorruptDictionaries, "law 4"),
    ];
    let table = corpora::table();
    let samples: Vec<&[u8]> = table.iter().map(Vec::as_slice).collect();
    for (fault, law) in cases {
        let canary = Canary(Some(fault));
        let decompress = canary.decompressor();
        let broken = corpora::all()
            .iter()
            .find_map(|(_, block)| laws::check(&canary, &decompress, block).err())
            .or_else(|| {
                let corpora = corpora::small();
                corpora
                    .iter()
                    .find_map(|(_, block)| laws::check_corruption(&canary, &decompress, block).err())
            })
            .or_else(|| {
                let open = |dictionaries: &[u8]| canary.open(dictionaries);
                laws::check_learning(&canary, &open, &samples, &table).err()
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
        for tag in (0..11).chain([tag]) {
            let mut out = vec![0; len];
            let _ = decompress(tag, &stored, &mut out);
        }
    }
}
