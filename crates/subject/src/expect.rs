//! Computes the popularity of keys and of blocks from the key distribution of a workload. A model then computes the
//! theoretical hit rate of a cache from the popularity.

use theory::Popularity;
use workload::{KeyDistribution, PopularKeys};

/// Returns the popularity of each of `keys` keys, which are drawn from a distribution. Returns `None` if the popularity
/// is unknown.
pub(crate) fn popularity_of_keys(law: &dyn KeyDistribution, keys: u64) -> Option<Popularity> {
    let ranks = Popularity::ranks(keys);
    Some(Popularity::of_keys(&ranks, &law.shares(keys, &ranks)?))
}

/// Returns the popularity of each block, if a block contains `keys_per_block` keys. If `ordered` is true, keys with
/// successive indexes share a block. Otherwise, these keys are scattered over all blocks. Returns `None` if requests
/// are sequential instead of random.
pub fn popularity_of_blocks(
    law: &dyn KeyDistribution,
    keys: u64,
    keys_per_block: f64,
    ordered: bool,
) -> Option<Popularity> {
    let standing = match law.standing() {
        PopularKeys::InTurn => return None,
        PopularKeys::Together if ordered => theory::PopularKeyOrder::Together,
        PopularKeys::Together | PopularKeys::Scattered => theory::PopularKeyOrder::Scattered,
    };
    popularity_of_keys(law, keys)?.of_blocks(keys_per_block, standing)
}
