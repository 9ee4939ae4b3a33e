//! Converts the key distribution of a workload to the popularity of its keys, from which a model computes the
//! theoretical hit rate of a cache.

use theory::Popularity;
use workload::{KeyDistribution, PopularKeys};

/// Returns the popularity of each of `keys` keys, which are drawn from a distribution. Returns `None` if the popularity
/// is unknown.
pub(crate) fn popularity_of_keys(law: &dyn KeyDistribution, keys: u64) -> Option<Popularity> {
    let ranks = Popularity::ranks(keys);
    Some(Popularity::of_keys(&ranks, &law.shares(keys, &ranks)?))
}

/// Returns the popularity of each block with `keys_per_block` keys. If `ordered` is set, keys with successive indexes
/// share a block, otherwise they are scattered. Returns `None` if requests are sequential instead of random.
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
