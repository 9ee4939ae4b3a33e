//! What filters can do at best.

use std::f64::consts::LN_2;

use super::Arguments;

/// The fewest bits per key at which a Bloom filter has this rate of false positives: `log2(1/p) / ln 2`.
///
/// With b bits per key and k probes a bit is 1 with probability 1 - e^(-k/b), so p = (1 - e^(-k/b))^k, which is
/// least where half of the bits are 1: k = b ln 2, p = 2^-(b ln 2) (Bloom, *Space/Time Trade-offs in Hash Coding*,
/// 1970; Broder and Mitzenmacher, *Network Applications of Bloom Filters*, 2004). Bits that are confined to words or
/// cache lines spread unevenly, which by convexity raises p.
pub(super) fn bloom_bits(with: &Arguments<'_>) -> Result<f64, String> {
    with.number("fpr").map(bits)
}

fn bits(fpr: f64) -> f64 {
    -fpr.log2() / LN_2
}

/// By how many percent the filters of a full tree get smaller if the rate of each level is in proportion to its size,
/// at the same sum of rates (Dayan, Athanassoulis and Idreos, *Monkey*, 2017).
///
/// Level i holds the share s = T^i / Σ T^j of the keys. With b bits everywhere each of the L rates is 2^-(b ln 2), and
/// their sum S is L times that. In proportion they are S·s (1 at most), and all filters take Σ s · log2(1/(S·s)) / ln 2
/// bits per key.
pub(super) fn monkey_saving_pct(with: &Arguments<'_>) -> Result<f64, String> {
    let (bits_per_key, ratio) = (with.number("bits_per_key")?, with.number("size_ratio")?);
    let levels = i32::try_from(with.count("levels")?.min(64)).map_err(|error| error.to_string())?;
    let sum = f64::from(levels) * (-bits_per_key * LN_2 * LN_2).exp();
    let total: f64 = (0..levels).map(|level| ratio.powi(level)).sum();
    let shares = (0..levels).map(|level| ratio.powi(level) / total);
    let taken: f64 = shares.map(|share| share * bits((sum * share).min(1.0))).sum();
    Ok(100.0 * (1.0 - taken / bits_per_key))
}
