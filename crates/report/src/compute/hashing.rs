//! Computations about keys that hashes spread at random: keys per shard, keys per hash slot, and cache hits.

use statrs::distribution::{ChiSquared, ContinuousCDF, Discrete, DiscreteCDF, Poisson};
use statrs::function::erf::erf;

use super::Arguments;

/// Computes how unevenly n random keys spread over m shards: the coefficient of variation of the number of keys per
/// shard, sqrt((m - 1) / n).
///
/// The number of keys in a shard is binomial with mean n/m and variance n (1/m)(1 - 1/m). The formula is the square
/// root of the variance, divided by the mean.
pub(super) fn even_shards_cv(with: &Arguments<'_>) -> Result<f64, String> {
    Ok(((with.number("shards")? - 1.0) / with.number("keys")?).sqrt())
}

/// Computes how unevenly random keys spread over shards: the standard deviation of the number of keys per shard, in
/// percent of the mean. Each shard has an equal share of the hash values.
pub(super) fn even_shards_std_pct(with: &Arguments<'_>) -> Result<f64, String> {
    even_shards_cv(with).map(|cv| 100.0 * cv)
}

/// Computes the expected deviation of the most uneven shard from the mean number of keys per shard, in percent of the
/// mean. Each shard has an equal share of the hash values.
///
/// The deviations are treated as independent normal variables Z. The result is based on E max |Z| = ∫ 1 - erf(x/√2)^m
/// dx over x > 0 for m shards.
pub(super) fn even_shards_max_pct(with: &Arguments<'_>) -> Result<f64, String> {
    let (std, shards) = (even_shards_std_pct(with)?, with.number("shards")?);
    let step = 1e-3;
    let beyond = |x: f64| 1.0 - erf(x / std::f64::consts::SQRT_2).powf(shards);
    let largest: f64 = (0..10_000).map(|at| beyond((f64::from(at) + 0.5) * step) * step).sum();
    Ok(std * largest)
}

/// Computes the probability that random keys spread over equal shards at least as unevenly as measured. The measured
/// unevenness is the coefficient of variation (CV) of the number of keys per shard.
///
/// For n keys and m shards, n · CV² has a χ² distribution with m - 1 degrees of freedom.
pub(super) fn chi_square_p(with: &Arguments<'_>) -> Result<f64, String> {
    let chi_square = with.number("keys")? * with.number("cv")?.powi(2);
    let distribution = ChiSquared::new(with.number("shards")? - 1.0).map_err(|error| error.to_string())?;
    Ok(distribution.sf(chi_square))
}

/// Computes how many keys move when shard n is added to a hash ring, as a multiple of 1/n of all keys. The result is 1:
/// the new shard receives 1/n of the keys, and no key moves between the existing shards. Source: Karger et al.,
/// *Consistent Hashing and Random Trees*, 1997.
pub(super) fn ring_moved(with: &Arguments<'_>) -> Result<f64, String> {
    let shards = with.number("shards")?;
    Ok(shards * (1.0 / shards))
}

/// Computes how unevenly a hash ring divides the hash values between shards: the coefficient of variation of their
/// shares, 1 / sqrt(V), with V virtual nodes per shard. The share of a shard is the sum of V gaps between nodes, and
/// the length of each gap has a nearly exponential distribution.
pub(super) fn ring_cv(with: &Arguments<'_>) -> Result<f64, String> {
    with.number("virtual_nodes").map(|nodes| 1.0 / nodes.sqrt())
}

/// Computes the highest possible hit rate, in percent, of a cache that contains a fraction of all keys. Requests are
/// drawn independently from a Zipf distribution. The best cache contains the most popular keys, so the rate is 100
/// H(share·n, θ) / H(n, θ), with H(n, θ) = Σ i^-θ over i = 1 … n.
pub(super) fn zipf_share_pct(with: &Arguments<'_>) -> Result<f64, String> {
    let (keys, theta) = (with.count("keys")?, with.number("theta")?);
    let held = (with.number("share")? * keys as f64).round() as u64;
    Ok(100.0 * harmonic(held, theta) / harmonic(keys, theta))
}

/// Computes the generalized harmonic number H(n, θ) = Σ i^-θ over i = 1 … n. The relative error is below 1e-15.
fn harmonic(most: u64, theta: f64) -> f64 {
    const COUNTED: u64 = 10_000;
    let counted = most.min(COUNTED);
    let first: f64 = (1..=counted).rev().map(|rank| (rank as f64).powf(-theta)).sum();
    if most <= COUNTED {
        return first;
    }
    let (from, to) = (counted as f64, most as f64);
    let integral = match (1.0 - theta).abs() < 1e-12 {
        true => (to / from).ln(),
        false => (to.powf(1.0 - theta) - from.powf(1.0 - theta)) / (1.0 - theta),
    };
    let ends = 0.5 * (to.powf(-theta) - from.powf(-theta));
    let slopes = theta / 12.0 * (from.powf(-theta - 1.0) - to.powf(-theta - 1.0));
    first + integral + ends + slopes
}

/// Computes the probability that a hash slot has exactly k keys, if a slot has λ random keys on average: e^-λ λ^k / k!.
pub(super) fn poisson(with: &Arguments<'_>) -> Result<f64, String> {
    let k = with.count("k")?;
    Ok(slots(with)?.pmf(k))
}

/// Computes the probability that a hash slot has at least k keys, if a slot has λ random keys on average.
pub(super) fn poisson_tail(with: &Arguments<'_>) -> Result<f64, String> {
    let k = with.count("k")?;
    let slots = slots(with)?;
    Ok(if k == 0 { 1.0 } else { slots.sf(k - 1) })
}

/// Computes the fraction of the non-empty hash slots that have exactly one key: P(1) / (1 - P(0)). P(k) is the
/// probability that a slot has exactly k keys.
pub(super) fn hash_slots_usable(with: &Arguments<'_>) -> Result<f64, String> {
    let slots = slots(with)?;
    Ok(slots.pmf(1) / (1.0 - slots.pmf(0)))
}

/// Computes the percentage of keys that have no other key in their hash slot: 100 e^-λ. The slot of a key has λ other
/// keys on average.
pub(super) fn hash_lookups_usable_pct(with: &Arguments<'_>) -> Result<f64, String> {
    with.number("lambda").map(|lambda| 100.0 * (-lambda).exp())
}

fn slots(with: &Arguments<'_>) -> Result<Poisson, String> {
    Poisson::new(with.number("lambda")?).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_counted_is_known() {
        for theta in [0.5, 0.99, 1.0, 1.2] {
            let counted: f64 = (1..=300_000_u32).rev().map(|rank| f64::from(rank).powf(-theta)).sum();
            let known = harmonic(300_000, theta);
            assert!((known / counted - 1.0).abs() < 1e-12, "{theta}: {known} and {counted}");
            assert!((harmonic(3, theta) - (1.0 + 2_f64.powf(-theta) + 3_f64.powf(-theta))).abs() < 1e-12);
        }
    }
}
