//! Computations about filters: their bits per key and false-positive rates, and lower bounds for both.

use std::f64::consts::LN_2;

use statrs::distribution::{Binomial, DiscreteCDF};

use super::Arguments;

/// Computes the smallest number of bits per key with which a Bloom filter can reach a false-positive rate p:
/// `log2(1/p) / ln 2`.
///
/// With b bits per key and k probes, a bit is 1 with probability 1 - e^(-k/b), and the rate is p = (1 - e^(-k/b))^k.
/// The rate is lowest if half of the bits are 1: k = b ln 2, p = 2^-(b ln 2). Sources: Bloom, *Space/Time Trade-offs in
/// Hash Coding*, 1970; Broder and Mitzenmacher, *Network Applications of Bloom Filters*, 2004. A filter that confines
/// the bits of a key to a word or a cache line spreads bits unevenly. By convexity, uneven bits raise p.
pub(super) fn bloom_bits(with: &Arguments<'_>) -> Result<f64, String> {
    with.number("fpr").map(bits)
}

fn bits(fpr: f64) -> f64 {
    -fpr.log2() / LN_2
}

/// Computes the percentage of filter memory that Monkey saves in a full tree if the sum of the false-positive rates
/// stays the same. Monkey makes the rate of each level proportional to the level's size (Dayan, Athanassoulis and
/// Idreos, *Monkey*, 2017).
///
/// Level i of L levels has the fraction s = T^i / Σ T^j of the keys. Without Monkey, the sum of the rates is S = L ·
/// 2^-(b ln 2). Monkey's rates are S·s, and at most 1. Its filters need Σ s · log2(1/(S·s)) / ln 2 bits per key.
pub(super) fn monkey_saving_pct(with: &Arguments<'_>) -> Result<f64, String> {
    let (bits_per_key, ratio) = (with.number("bits_per_key")?, with.number("size_ratio")?);
    let levels = i32::try_from(with.count("levels")?.min(64)).map_err(|error| error.to_string())?;
    let sum = f64::from(levels) * (-bits_per_key * LN_2 * LN_2).exp();
    let total: f64 = (0..levels).map(|level| ratio.powi(level)).sum();
    let shares = (0..levels).map(|level| ratio.powi(level) / total);
    let taken: f64 = shares.map(|share| share * bits((sum * share).min(1.0))).sum();
    Ok(100.0 * (1.0 - taken / bits_per_key))
}

/// Computes the false-positive rate, in percent, of a Bloom filter with b bits per key and k probes: 100 (1 -
/// e^(-k/b))^k. Without the argument `probes`, uses the best number of probes: 100 · 2^-(b ln 2).
pub(super) fn bloom_fpr_pct(with: &Arguments<'_>) -> Result<f64, String> {
    let bits_per_key = with.number("bits_per_key")?;
    match with.number_or("probes", 0.0)? {
        0.0 => Ok(100.0 * best_rate(bits_per_key)),
        probes => Ok(100.0 * rate(bits_per_key, probes)),
    }
}

/// Computes the largest percentage of false positives that any layout of the same bits can save, compared with a
/// classical Bloom filter with k probes: 100 (1 - 2^-(b ln 2) / (1 - e^(-k/b))^k).
pub(super) fn filter_gain_pct(with: &Arguments<'_>) -> Result<f64, String> {
    let (bits_per_key, probes) = (with.number("bits_per_key")?, with.number("probes")?);
    Ok(100.0 * (1.0 - best_rate(bits_per_key) / rate(bits_per_key, probes)))
}

/// Computes the percentage of false positives that more bits per key save: 100 (1 - p(to)/p(from)). Both filters use
/// the best number of probes. The time of a lookup decreases by at most this percentage.
pub(super) fn false_positives_saved_pct(with: &Arguments<'_>) -> Result<f64, String> {
    let [from, to] = [with.number("from_bits")?, with.number("to_bits")?].map(whole_rate);
    Ok(100.0 * (1.0 - to / from))
}

/// Computes how much lookup time the second of two increases of the filter bits saves, in percent. The argument
/// `first_pct` is the percentage of the time that the first increase saved.
///
/// A lookup takes t = a + c·p at a false-positive rate p. If the rates are p0, p1 and p2, and the first increase saves
/// the fraction s, the second increase saves the fraction s/(1 - s) · (p1 - p2)/(p0 - p1).
pub(super) fn filter_step_pct(with: &Arguments<'_>) -> Result<f64, String> {
    let saved = with.number("first_pct")? / 100.0;
    let rates: Vec<f64> = with.numbers("bits")?.into_iter().map(whole_rate).collect();
    match rates[..] {
        [before, between, after] => {
            Ok(100.0 * saved / (1.0 - saved) * (between - after) / (before - between))
        }
        _ => Err(
            "`bits` must be three numbers of bits per key: before the first increase, after it, and after the second \
             increase"
                .to_owned(),
        ),
    }
}

/// Computes the false-positive rate of a Bloom filter with k probes: (1 - e^(-k/b))^k.
fn rate(bits_per_key: f64, probes: f64) -> f64 {
    (1.0 - (-probes / bits_per_key).exp()).powf(probes)
}

/// Computes the lowest false-positive rate of a Bloom filter with b bits per key: 2^-(b ln 2).
fn best_rate(bits_per_key: f64) -> f64 {
    (-bits_per_key * LN_2 * LN_2).exp()
}

/// Computes the false-positive rate of a Bloom filter with the best whole number of probes, which is near b ln 2.
fn whole_rate(bits_per_key: f64) -> f64 {
    rate(bits_per_key, (bits_per_key * LN_2).round().max(1.0))
}

/// Computes by how many bits per key the filters of the largest level exceed the filters of the smallest level under
/// Monkey: -(L - 1) log2 T / ln 2. The number is negative, because Monkey makes the false-positive rate of a level
/// proportional to the size of the level.
pub(super) fn monkey_bits_gained(with: &Arguments<'_>) -> Result<f64, String> {
    Ok(-(with.number("levels")? - 1.0) * with.number("size_ratio")?.log2() / LN_2)
}

/// Computes the probability that a test with `probes` lookups of absent keys passes: the measured false-positive rate
/// differs from `expected` by less than `within`.
pub(super) fn filter_test_passes(with: &Arguments<'_>) -> Result<f64, String> {
    let (probes, fpr) = (with.count("probes")?, with.number("fpr")?);
    let (expected, within) = (with.number("expected")?, with.number("within")?);
    let positives = Binomial::new(fpr, probes).map_err(|error| error.to_string())?;
    let most = ((expected + within) * probes as f64).ceil() - 1.0;
    let least = ((expected - within) * probes as f64).floor() + 1.0;
    let below = if least <= 0.0 { 0.0 } else { positives.cdf(least as u64 - 1) };
    Ok(if most < 0.0 { 0.0 } else { positives.cdf(most as u64) - below })
}
