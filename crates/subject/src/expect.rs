//! From a law of keys, as workloads draw them, to popularity, as the model takes it.

use theory::Popularity;
use workload::{KeyDistribution, Standing};

/// How popular each of `keys` keys is under a law; `None` where its shares are not known.
pub(crate) fn popularity_of_keys(law: &dyn KeyDistribution, keys: u64) -> Option<Popularity> {
    let ranks = Popularity::ranks(keys);
    Some(Popularity::of_keys(&ranks, &law.shares(keys, &ranks)?))
}

/// How popular each block of so many of these keys is, where keys are `ordered` by their indexes or stand anywhere;
/// `None` where requests are no draws, but come in turn.
pub fn popularity_of_blocks(
    law: &dyn KeyDistribution,
    keys: u64,
    keys_per_block: f64,
    ordered: bool,
) -> Option<Popularity> {
    let standing = match law.standing() {
        Standing::InTurn => return None,
        Standing::Together if ordered => theory::Standing::Together,
        Standing::Together | Standing::Scattered => theory::Standing::Scattered,
    };
    popularity_of_keys(law, keys)?.of_blocks(keys_per_block, standing)
}
