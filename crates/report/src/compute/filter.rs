//! Lower bounds of filters: bits per key and rates of false positives.

use std::f64::consts::LN_2;

use statrs::distribution::{Binomial, DiscreteCDF};

use super::Arguments;

/// The fewest bits per key at which a Bloom filter has a given rate of false positives: `log2(1/p) / ln 2`.
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

/// The percentage of filter memory that a full tree saves if the rate of each level is proportional to its size, at the
/// same sum of rates (Dayan, Athanassoulis and Idreos, *Monkey*, 2017).
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

/// The rate of false positives of a Bloom filter of b bits per key, in percent: with k probes 100 (1 - e^(-k/b))^k;
/// without `probes` the best rate, 100 · 2^-(b ln 2).
pub(super) fn bloom_fpr_pct(with: &Arguments<'_>) -> Result<f64, String> {
    let bits_per_key = with.number("bits_per_key")?;
    match with.number_or("probes", 0.0)? {
        0.0 => Ok(100.0 * best_rate(bits_per_key)),
        probes => Ok(100.0 * rate(bits_per_key, probes)),
    }
}

/// The largest percentage of false positives that another layout of the same bits saves against a classical filter with
/// k probes: 100 (1 - 2^-(b ln 2) / (1 - e^(-k/b))^k). No rate is below the one at which half of the bits are 1.
pub(super) fn filter_gain_pct(with: &Arguments<'_>) -> Result<f64, String> {
    let (bits_per_key, probes) = (with.number("bits_per_key")?, with.number("probes")?);
    Ok(100.0 * (1.0 - best_rate(bits_per_key) / rate(bits_per_key, probes)))
}

/// The percentage of false positives saved by more bits per key, 100 (1 - p(to)/p(from)), with the best number of
/// probes. A lookup whose time is only that of false positives gets faster by that, and any other by less.
pub(super) fn false_positives_saved_pct(with: &Arguments<'_>) -> Result<f64, String> {
    let [from, to] = [with.number("from_bits")?, with.number("to_bits")?].map(whole_rate);
    Ok(100.0 * (1.0 - to / from))
}

/// The time that a second step of filter bits saves, in percent of the time before it, if the first step saved s
/// percent and all false positives cost the same.
///
/// Lookups take t = a + c·p at a rate p. The first step saves s of t, and so c (p0 - p1) = s·t. The second saves
/// c (p1 - p2) of the remaining t (1 - s), which is the share s/(1 - s) · (p1 - p2)/(p0 - p1).
pub(super) fn filter_step_pct(with: &Arguments<'_>) -> Result<f64, String> {
    let saved = with.number("first_pct")? / 100.0;
    let rates: Vec<f64> = with.numbers("bits")?.into_iter().map(whole_rate).collect();
    match rates[..] {
        [before, between, after] => {
            Ok(100.0 * saved / (1.0 - saved) * (between - after) / (before - between))
        }
        _ => {
            Err("bits are three numbers: before the first step, between both, and after the second"
                .to_owned())
        }
    }
}

/// The rate of false positives with k probes, (1 - e^(-k/b))^k.
fn rate(bits_per_key: f64, probes: f64) -> f64 {
    (1.0 - (-probes / bits_per_key).exp()).powf(probes)
}

/// The lowest rate of false positives, 2^-(b ln 2).
fn best_rate(bits_per_key: f64) -> f64 {
    (-bits_per_key * LN_2 * LN_2).exp()
}

/// The rate of false positives with the integer number of probes nearest to the best, b ln 2, and at least one.
fn whole_rate(bits_per_key: f64) -> f64 {
    rate(bits_per_key, (bits_per_key * LN_2).round().max(1.0))
}

/// The difference in bits per key between the largest and the smallest level of a tree, if rates of false positives are
/// proportional to sizes: log2 of the rates' quotient over ln 2, -(L - 1) log2 T / ln 2.
pub(super) fn monkey_bits_gained(with: &Arguments<'_>) -> Result<f64, String> {
    Ok(-(with.number("levels")? - 1.0) * with.number("size_ratio")?.log2() / LN_2)
}

/// The probability that a test with a number of probes of absent keys measures a filter's rate within `within` of
/// `expected`.
pub(super) fn filter_test_passes(with: &Arguments<'_>) -> Result<f64, String> {
    let (probes, fpr) = (with.count("probes")?, with.number("fpr")?);
    let (expected, within) = (with.number("expected")?, with.number("within")?);
    let positives = Binomial::new(fpr, probes).map_err(|error| error.to_string())?;
    let most = ((expected + within) * probes as f64).ceil() - 1.0;
    let least = ((expected - within) * probes as f64).floor() + 1.0;
    let below = if least <= 0.0 { 0.0 } else { positives.cdf(least as u64 - 1) };
    Ok(if most < 0.0 { 0.0 } else { positives.cdf(most as u64) - below })
}
