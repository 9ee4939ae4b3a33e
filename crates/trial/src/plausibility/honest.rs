//! Tests that correctly measured rows exceed no bound. The tests cover every cache, every filter and every codec, with
//! inputs of different patterns.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;

use bloom::FilterInput;
use cache::{BlockId, BlockRequest, belady, replay};
use results::{Row, Schema, columns as c};
use tree::Design;
use types::{HashedKey, KeyHash, KeyList};
use workload::{Batch, Extent, Workload, WorkloadPlan};

use super::{Facts, FilterFacts, StoredValues, implausible};
use crate::limits::Limits;

/// Returns sequences of `count` keys with different access patterns, each with its name. In some sequences, the second
/// half differs from the first half.
fn streams(count: u64) -> Vec<(&'static str, Vec<u64>)> {
    let mut state = 7_u64;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    let uniform: Vec<u64> = (0..count).map(|_| next() % 1000).collect();
    let skewed: Vec<u64> =
        (0..count).map(|_| (next() % 1000) * (next() % 1000) * (next() % 1000) / 1_000_000).collect();
    let phased: Vec<u64> = (0..count).map(|at| next() % 300 + if at < count / 2 { 0 } else { 500 }).collect();
    let turned: Vec<u64> =
        (0..count).map(|at| if at < count / 2 { next() % 300 } else { at % 400 }).collect();
    vec![
        ("regular", (0..count).map(|at| at % 700).collect()),
        ("uniform", uniform),
        ("skewed", skewed),
        ("phased", phased),
        ("turned", turned),
    ]
}

/// Returns each variant of an axis with its default parameters, except ideal variants and variants that need a file or
/// a program.
fn variants(axis: &dyn catalog::Axis) -> Vec<catalog::Choice> {
    let variants = axis.variants().into_iter().filter(|variant| !variant.oracle);
    variants.filter_map(|variant| axis.choose(&toml::Value::from(variant.kind)).ok()).collect()
}

/// Tests that the hit rate of every cache is below the bounds, for any requests.
#[test]
fn honest_hit_rates_are_plausible() {
    let facts = Facts {
        keeps_bytes: true,
        filters: FilterFacts { are_even: true, ..FilterFacts::default() },
        ..Facts::default()
    };
    let request = |key: &u64| BlockRequest { id: BlockId { tree: 0, table: 0, offset: *key }, bytes: 100 };
    for (name, keys) in streams(8000) {
        let trace: Vec<BlockRequest> = keys.iter().map(request).collect();
        for (choice, capacity) in
            variants(&cache::CATALOG).iter().flat_map(|choice| [(choice, 5_000), (choice, 40_000)])
        {
            let mut table = choice.to_toml();
            if let Some(own) = table.as_table_mut().and_then(|table| table.get_mut("capacity")) {
                *own = toml::Value::from(capacity);
            }
            let Ok(cache) = cache::CATALOG.choose(&table).and_then(|choice| cache::CATALOG.build(&choice))
            else {
                continue;
            };
            let score = replay(&*cache, &trace, trace.len() / 2);
            let bound = belady(&trace, cache.capacity(), trace.len() / 2);
            let mut row = Row::new(&Schema::runs::<&str>(&[]).unwrap());
            row.set(&c::CACHE_HIT_RATE, score.hit_rate()).set(&c::BEST_HIT_RATE, bound.hit_rate());
            row.set(&c::BLOCKS_READ, score.requests - score.hits).set(&c::BLOCKS_FROM_CACHE, score.hits);
            if ["uniform", "skewed"].contains(&name) {
                // The frequencies of the most popular blocks of independent requests, as they were drawn.
                let mut counts = BTreeMap::<u64, u64>::new();
                keys.iter().for_each(|key| *counts.entry(*key).or_default() += 1);
                let mut counts: Vec<u64> = counts.into_values().collect();
                counts.sort_unstable_by_key(|count| Reverse(*count));
                let held = counts.iter().take((cache.capacity() / 100) as usize).sum::<u64>();
                row.set(&c::BEST_STATIC_HIT_RATE, held as f64 / keys.len() as f64);
            }
            assert_eq!(implausible(&row, &facts), None, "{name}: {}", choice.label());
        }
    }
}

/// Tests that the false positives of every filter are plausible, for any keys in the filter and any requested keys.
#[test]
fn honest_false_positives_are_plausible() {
    // Keys, and absent keys between them, after them and among them.
    let spread = |key: u64| key.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let regular: Vec<u64> = (0..4000).map(|at| at * 1000).collect();
    let random: Vec<u64> = (1..4001).map(|at| spread(at) >> 8).collect();
    let clustered: Vec<u64> = (0..4000).map(|at| (at / 100) * 1_000_000_000 + at % 100 * 2).collect();
    let absent: Vec<u64> =
        (0..20_000_u64).flat_map(|at| [at * 200 + 7, spread(at + 9999) >> 8, at * 1000 + 500]).collect();
    for (name, mut keys) in [("regular", regular), ("random", random), ("clustered", clustered)] {
        keys.sort_unstable();
        let hash = |key: u64| KeyHash(scrambled(key));
        let hashes: Vec<KeyHash> = keys.iter().map(|key| hash(*key)).collect();
        let spelt: KeyList = keys.iter().map(|key| key.to_be_bytes()).collect();
        for choice in variants(&bloom::CATALOG) {
            let Ok(policy) = bloom::CATALOG.build(&choice) else { continue };
            let input = FilterInput {
                hashes: &hashes,
                bits_per_key: None,
                keys: policy.needs_keys().then_some(&spelt),
            };
            let filter = policy.open(types::Bytes::copy_from(&policy.build(&input))).unwrap();
            let asked = absent.iter().filter(|key| keys.binary_search(key).is_err());
            let (mut positives, mut negatives) = (0_u64, 0_u64);
            for key in asked {
                let bytes = key.to_be_bytes();
                match filter.may_contain_key(HashedKey { bytes: &bytes, hash: hash(*key) }) {
                    true => positives += 1,
                    false => negatives += 1,
                }
            }
            let mut row = Row::new(&Schema::runs::<&str>(&[]).unwrap());
            row.set(&c::FPR, positives as f64 / (positives + negatives) as f64);
            row.set(&c::EXPECTED_FPR, filter.expected_fpr()).set(&c::RUNS, 1_u64);
            row.set(&c::FILTER_NEGATIVES, negatives).set(&c::FILTER_FALSE_POSITIVES, positives);
            row.set(&c::FILTER_PROBES, positives + negatives);
            row.set(&c::BITS_PER_KEY, filter.memory_bytes() as f64 * 8.0 / keys.len() as f64);
            let design =
                Design::default().with(&toml::Table::from_iter([("bloom".to_owned(), choice.to_toml())]));
            let values = StoredValues { follow_design: true, compressible: 0.0 };
            let facts = Facts::of(&design.unwrap(), values, Limits::OF_ANY);
            assert_eq!(implausible(&row, &facts), None, "{name} keys: {}", choice.label());
        }
    }
}

/// Tests that the compressed bytes of every codec are plausible, for values of any size and any compressibility, in
/// blocks of any size.
#[test]
fn honest_compressed_bytes_are_plausible() {
    for (compressible, value_bytes) in
        [(0.0, 24), (0.0, 400), (0.3, 1000), (0.5, 100), (0.9, 64), (0.9, 2000)]
    {
        let text = format!(
            "[[phase]]\nname = \"load\"\ninsert = 3000\n\
             value = {{ bytes = {value_bytes}, compressible = {compressible} }}"
        );
        let workload = Workload::from_toml(&text.parse().unwrap()).unwrap();
        let plan = WorkloadPlan::new(&workload, value_bytes, Path::new("")).unwrap();
        let (mut batch, mut values) = (Batch::default(), Vec::new());
        for mut stream in plan.phases()[0].streams(Extent::default()) {
            while stream.fill(&mut batch, Batch::OPERATIONS) > 0 && values.len() < 1 << 18 {
                batch.heads().for_each(|at| values.extend_from_slice(batch.value(at)));
            }
        }
        for (choice, block_bytes) in
            variants(&compression::CATALOG).iter().flat_map(|choice| [(choice, 4096), (choice, 65_536)])
        {
            let Ok(codec) = compression::CATALOG.build(choice) else { continue };
            let mut stored = Vec::new();
            for block in values.chunks(block_bytes) {
                codec.compress(3, block, &mut stored);
            }
            let table = toml::Table::from_iter([("compression".to_owned(), choice.to_toml())]);
            let design = Design::default().with(&table).unwrap();
            let values_of = StoredValues { follow_design: true, compressible };
            let facts = Facts { value_share: Some(1.0), ..Facts::of(&design, values_of, Limits::OF_ANY) };
            let mut row = Row::new(&Schema::runs::<&str>(&[]).unwrap());
            row.set(&c::LIVE_BYTES, values.len() as u64).set(&c::TABLE_BYTES, stored.len() as u64);
            let what =
                format!("{}, {value_bytes} bytes, {compressible}, blocks of {block_bytes}", choice.label());
            assert_eq!(implausible(&row, &facts), None, "{what}");
            // Bytes far below this bound are still found.
            if compressible < 0.8 {
                row.set(&c::TABLE_BYTES, (values.len() / 10) as u64);
                assert!(implausible(&row, &facts).is_some(), "{what}");
            }
        }
    }
}

/// Returns a 64-bit hash of a number. If one bit of the number changes, about half of the bits of the hash change.
fn scrambled(key: u64) -> u64 {
    let mixed = (key ^ (key >> 31)).wrapping_mul(0x7FB5_D329_728E_A185);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x81DA_DEF4_BC2D_D44D);
    mixed ^ (mixed >> 33)
}
