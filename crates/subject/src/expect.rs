//! Converts the key distribution of a workload to a popularity, which is the input of the theoretical cache model.

use theory::Popularity;
use workload::{KeyDistribution, PopularKeys};

/// Returns the popularity of each of `keys` keys under a distribution. Returns `None` if the popularity is unknown.
pub(crate) fn popularity_of_keys(law: &dyn KeyDistribution, keys: u64) -> Option<Popularity> {
    let ranks = Popularity::ranks(keys);
    Some(Popularity::of_keys(&ranks, &law.shares(keys, &ranks)?))
}

/// Returns the popularity of each block, if a block contains `keys_per_block` of these keys. Keys are `ordered` by
/// their indexes, or scattered. Returns `None` if requests are not drawn at random, but sequential.
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
