//! Tests that compare every textbook policy with an independent model of its published rule, request by request. All
//! blocks have one length, and the cache has one shard. The tests use several cache sizes and kinds of workload.
//!
//! The models keep entries in plain lists, count entries, and search lists from end to end. The models share no code
//! with the crate. A model is useless if it also agrees with other policies. Each model must therefore disagree with
//! every other policy.

mod loads;
mod models;

use catalog::Choice;
use lsmbench_cache::{BlockId, CATALOG, Cache};
use models::{MODELS, Model};
use toml::Value;
use types::Bytes;

/// Length of every block in bytes. The length is a power of two, so that shares in bytes are as exact as counts of
/// entries.
const BLOCK_BYTES: u64 = 1024;

/// Sizes of the caches in blocks.
const SIZES: [usize; 5] = [1, 7, 50, 128, 400];

fn choice(label: &str, blocks: usize) -> Choice {
    let open =
        if label.contains('(') { label.trim_end_matches(')').to_owned() + ", " } else { format!("{label}(") };
    let label = format!("{open}capacity={}, shards=1)", blocks as u64 * BLOCK_BYTES);
    CATALOG.choose(&Value::from(label)).unwrap()
}

/// Returns the block name for a number of a workload. Models use the number itself.
fn id(name: u64) -> BlockId {
    BlockId { tree: 1, table: name / 100, offset: name % 100 * 4096 }
}

/// Runs a workload on the cache and on the model, and returns the number of hits. The error names the first request
/// for which the two disagree.
fn compare(cache: &dyn Cache, model: &mut dyn Model, load: &[u64]) -> Result<u32, String> {
    let block = Bytes::copy_from(&[0; BLOCK_BYTES as usize]);
    let mut hits = 0;
    for (number, &name) in load.iter().enumerate() {
        let is_hit = cache.get(&id(name)).is_some();
        if !is_hit {
            cache.insert(id(name), block.clone());
        }
        let expected = model.request(name);
        if is_hit != expected {
            return Err(format!("request {number} for {name}: hit is {is_hit}, the rule says {expected}"));
        }
        hits += u32::from(is_hit);
    }
    Ok(hits)
}

#[test]
fn every_policy_follows_its_rule() {
    for (label, make) in MODELS {
        for blocks in SIZES {
            for (name, load) in loads::all(blocks) {
                let choice = choice(label, blocks);
                let cache = CATALOG.build(&choice).unwrap();
                let hits = compare(&*cache, &mut *make(blocks), &load)
                    .unwrap_or_else(|error| panic!("{choice} under {name}: {error}"));
                assert!(hits > 0 || name == "loop", "{choice} under {name}: nothing was ever hit");
            }
        }
    }
}

/// Returns the label of the model for a policy. The policy `library` without a library is `lru` through the C ABI,
/// so it has the model of `lru`.
fn rule(label: &str) -> &str {
    if label == "library" { "lru" } else { label }
}

#[test]
fn every_model_tells_its_policy_from_all_others() {
    let blocks = 50;
    let (_, load) = loads::all(blocks).remove(0);
    for (label, _) in MODELS {
        for (other, make) in MODELS.iter().filter(|(other, _)| rule(other) != rule(label)) {
            let cache = CATALOG.build(&choice(label, blocks)).unwrap();
            assert!(compare(&*cache, &mut *make(blocks), &load).is_err(), "{label} passes for {other}");
        }
    }
}

#[test]
fn every_policy_that_evicts_in_shards_has_a_model() {
    let sharded = CATALOG.variants().iter().filter(|variant| variant.defaults().contains_key("shards"));
    for variant in sharded {
        let is_meant = |label: &str| label.split('(').next() == Some(variant.kind);
        assert!(MODELS.iter().any(|(label, _)| is_meant(label)), "{} has no model", variant.kind);
    }
}
