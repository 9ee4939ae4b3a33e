//! Theoretical false-positive rates of filters.

/// Returns the false-positive rate of a Bloom filter with `bits` bits, `probes` hash functions and `keys` keys. For m
/// bits, k probes and n keys, the formula is (1 − e^(−kn/m))^k (Bloom 1970; Broder & Mitzenmacher, "Network
/// applications of Bloom filters", 2004).
pub(crate) fn standard(bits: u64, keys: u64, probes: u32) -> f64 {
    let fill = -(-(f64::from(probes) * keys as f64) / bits as f64).exp_m1();
    fill.powi(probes.cast_signed())
}

/// Returns the probability that a range filter reports an empty range of `length` numbers as not empty. The filter maps
/// each key number to a code below r = `codes`, and its keys have n = `keys` distinct codes.
///
/// For random codes and ℓ = `length`, the probability is 1 − (1 − n/r)^ℓ, which is below the bound nℓ/r of Costa,
/// Ferragina & Vinciguerra (arXiv 2311.15380, theorem 3.4). If `codes` is above the largest number `largest`, each
/// number has its own code, and the probability is 0.
pub(crate) fn codes(keys: u64, codes: u64, largest: u64, length: u64) -> f64 {
    if largest < codes {
        return 0.0;
    }
    -(length as f64 * (-(keys as f64 / codes as f64)).ln_1p()).exp_m1()
}

/// Returns the number of probes that minimizes [`standard`]. The result is ln 2 times the bits per key, rounded to a
/// whole number of at least one.
pub(crate) fn standard_probes(bits_per_key: f64) -> u32 {
    ((bits_per_key * std::f64::consts::LN_2).round() as u32).max(1)
}

/// Returns the false-positive rate of a filter whose keys are distributed over `blocks` blocks. The load of a block is
/// its number of keys, and `rate_at_load` is the false-positive rate at a load. The result is the mean rate over all
/// loads, because some blocks have more keys than others.
///
/// The loads have the binomial distribution. Putze, Sanders & Singler, "Cache-, hash- and space-efficient Bloom
/// filters" (2007), section 3, use the Poisson distribution, which is exact only for large filters.
pub(crate) fn blocked(keys: u64, blocks: u64, rate_at_load: impl Fn(u64) -> f64) -> f64 {
    /// The mean over the possible block loads ignores loads whose probability is below this fraction of the largest
    /// probability. The load of a block is its number of keys.
    const NEGLIGIBLE: f64 = 1e-17;
    /// The largest number of block loads that are evaluated on each side of the most likely load. Other loads are
    /// negligible for filters of normal size. The limit prevents a very long computation if a corrupt filter states a
    /// huge number of keys.
    const MOST_LOADS: usize = 10_000;
    if blocks == 1 {
        return rate_at_load(keys);
    }
    let odds = 1.0 / (blocks as f64 - 1.0);
    let mode = keys / blocks;
    // The weights are relative to the weight of the most likely load, so that no weight underflows.
    let (mut weights, mut sum) = (1.0, rate_at_load(mode));
    let mut add = |load: u64, weight: f64| {
        weights += weight;
        sum += weight * rate_at_load(load);
        weight > NEGLIGIBLE
    };
    let mut weight = 1.0;
    for load in (mode + 1..=keys).take(MOST_LOADS) {
        weight *= (keys - load + 1) as f64 / load as f64 * odds;
        if !add(load, weight) {
            break;
        }
    }
    let mut weight = 1.0;
    for load in (0..mode).rev().take(MOST_LOADS) {
        weight *= (load + 1) as f64 / ((keys - load) as f64 * odds);
        if !add(load, weight) {
            break;
        }
    }
    sum / weights
}

/// Returns the false-positive rate of a small Bloom filter. The filter has `bits` bits and `keys` keys, and each key
/// sets `probes` bits.
///
/// With k probes, the rate is the mean of fill^k, where the fill is the fraction of set bits. The fill of small filters
/// varies, so this mean is above the k-th power of the mean fill. The result approximates the mean of fill^k to second
/// order, from the exact mean and variance of the fill.
pub(crate) fn small(bits: u64, keys: u64, probes: u32) -> f64 {
    if keys == 0 {
        return 0.0;
    }
    let (m, k, balls) = (bits as f64, f64::from(probes), f64::from(probes) * keys as f64);
    let empty = (balls * (-1.0 / m).ln_1p()).exp();
    let both_empty = (balls * (-2.0 / m).ln_1p()).exp();
    let variance = (empty + (m - 1.0) * both_empty) / m - empty * empty;
    let fill = 1.0 - empty;
    let spread = k * (k - 1.0) / 2.0 * variance / (fill * fill);
    (fill.powi(probes.cast_signed()) * (1.0 + spread)).min(1.0)
}

/// Returns the exact false-positive rates of a Bloom filter with 0, 1, 2 … keys. The filter has `bits` bits, and each
/// key sets `probes` bits. A rate is the mean of (set / bits)^probes over the distribution of the number of set bits.
/// The list ends when nearly all bits are set.
///
/// The function is for words of a few dozen bits, for which the approximation [`small`] is too coarse.
pub(crate) fn word_rates(bits: u32, probes: u32) -> Vec<f64> {
    const FULL: f64 = 1.0 - 1e-9;
    let m = f64::from(bits);
    // The probabilities that 0, 1, 2 … bits are set.
    let mut likely = vec![0.0; bits as usize + 1];
    likely[0] = 1.0;
    let mut rates = vec![0.0];
    while rates.last().is_some_and(|rate| *rate < FULL) {
        for _ in 0..probes {
            for set in (0..likely.len()).rev() {
                let grown = if set == 0 { 0.0 } else { likely[set - 1] * (m - (set - 1) as f64) / m };
                likely[set] = likely[set] * set as f64 / m + grown;
            }
        }
        let hit = |set: usize| (set as f64 / m).powi(probes.cast_signed());
        rates.push(likely.iter().enumerate().map(|(set, likely)| likely * hit(set)).sum());
    }
    rates
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(got: f64, expected: f64, relative: f64) {
        assert!((got / expected - 1.0).abs() <= relative, "{got} is not {expected}");
    }

    #[test]
    fn standard_meets_the_published_values() {
        // Ten bits per key and seven probes give a false-positive rate of 0.8194 %.
        assert_close(standard(10_000_000, 1_000_000, 7), 0.008_194, 1e-3);
        assert!(standard(64, 0, 3).abs() < f64::EPSILON);
        assert_eq!(standard_probes(10.0), 7);
        assert_eq!(standard_probes(0.1), 1);
    }

    #[test]
    fn weights_of_loads_add_up() {
        for (keys, blocks) in [(0, 1), (0, 7), (5, 2), (1_000_000, 19_532), (3_000_000, 600)] {
            assert_close(blocked(keys, blocks, |_| 0.25), 0.25, 1e-12);
            let mean = keys as f64 / blocks as f64;
            let measured = blocked(keys, blocks, |load| load as f64);
            assert!((measured - mean).abs() <= 1e-9 * mean.max(1.0), "{measured} is not {mean}");
        }
    }

    #[test]
    fn impossible_numbers_end_soon_and_are_full() {
        for (keys, blocks) in [(u64::MAX, 2), (u64::MAX, 1 << 40), (1 << 60, 3)] {
            assert_close(blocked(keys, blocks, |load| small(512, load, 6)), 1.0, 1e-9);
        }
    }

    #[test]
    fn a_single_block_has_the_load_of_all_keys() {
        assert_close(blocked(40, 1, |load| small(512, load, 6)), small(512, 40, 6), 1e-15);
    }

    /// Tests that the approximation is exact for two probes: two keys set one bit each in a filter of two bits, so the
    /// fill is 1/2 or 1 with equal probability. The mean of fill² is (1/4 + 1)/2.
    #[test]
    fn second_order_is_exact_for_two_probes() {
        assert_close(small(2, 1, 2), 0.625, 1e-12);
    }

    #[test]
    fn rates_of_words_are_exact() {
        let rates = word_rates(2, 2);
        assert_close(rates[1], 0.625, 1e-12);
        // If four random bits of two are set, one bit remains 0 with probability 1/8.
        assert_close(rates[2], 0.25 / 8.0 + 7.0 / 8.0, 1e-12);
        let rates = word_rates(64, 4);
        assert!(rates.is_sorted() && rates[0] < f64::EPSILON);
        assert_close(rates[6], small(64, 6, 4), 0.02);
    }
}
