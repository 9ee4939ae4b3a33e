//! The Zipfian distribution over ranks. This module samples exactly for any exponent and any number of ranks. The
//! module also computes sums of probabilities.
//!
//! The ranks are split into buckets. Each of the first [`HEAD`] ranks has a bucket of its own. The width of each
//! later bucket is 1/32 of its first rank. An alias table (Walker 1977, Vose 1991) selects a bucket in proportion to
//! its width times the weight of its first rank. A rank in the bucket is then drawn uniformly, and kept with
//! probability (rank / first rank)^−θ. The last rank of the bucket has the smallest probability, which is computed
//! only once. A comparison with this smallest probability decides most draws. Only a few percent of the draws need
//! the computation of a power.

use crate::random::{Random, threshold};

/// Number of ranks, from the first rank on, that have a bucket of their own. Later buckets contain several ranks.
const HEAD: u64 = 256;

/// The divisor that determines the size of later buckets. A bucket whose first rank is `first` contains `first /
/// GROWTH` ranks.
const GROWTH: u64 = 32;

/// Returns an error if no Zipfian distribution with the exponent `theta` exists.
pub(crate) fn check_theta(theta: f64) -> Result<(), String> {
    if theta.is_finite() && theta >= 0.0 {
        Ok(())
    } else {
        Err(format!("theta is {theta}; a zipfian exponent is a finite number from 0 (uniform) upwards"))
    }
}

/// Sampler of a Zipfian distribution over the ranks `0..ranks`. Rank r is drawn in proportion to (r + 1)^−θ.
#[derive(Clone, Debug)]
pub(crate) struct Zipf {
    slots: Vec<Slot>,
    buckets: Vec<Bucket>,
    /// How far a random number is shifted to the right, so that its upper bits select a slot of the alias table.
    slot_shift: u32,
    theta: f64,
}

/// A slot of the alias table, which the upper bits of a random number select. If the other bits are below the
/// threshold, the draw selects the bucket with the number of the slot. Otherwise, the draw selects the bucket `alias`.
#[derive(Clone, Copy, Debug)]
struct Slot {
    threshold: u64,
    alias: u32,
}

/// A bucket: `width` successive ranks from the rank `first` on, counted from 1. To draw from a bucket, the sampler
/// draws one of its ranks uniformly, and keeps the draw with a probability that falls with the rank.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    first: u64,
    width: u64,
    /// A threshold that decides most draws without the computation of a power. A draw from the bucket is always kept if
    /// its second random number is at most this threshold.
    squeeze: u64,
}

impl Zipf {
    /// Creates the sampler for `ranks` ranks, at least 1. The caller has already checked the exponent `theta`.
    pub(crate) fn new(ranks: u64, theta: f64) -> Self {
        let mut buckets = Vec::new();
        let mut weights = Vec::new();
        let mut first = 1;
        while first <= ranks {
            let width = if first <= HEAD { 1 } else { (first / GROWTH).min(ranks - first + 1) };
            let last = first + width - 1;
            // Rounded down by far more than the error of the power, so that the threshold is never too high.
            let kept = (last as f64 / first as f64).powf(-theta) * (1.0 - 1e-12);
            let squeeze = if width == 1 { u64::MAX } else { threshold(kept) };
            weights.push(width as f64 * (first as f64).powf(-theta));
            buckets.push(Bucket { first, width, squeeze });
            first += width;
        }
        let slots = alias_table(&weights);
        let slot_shift = 64 - slots.len().ilog2();
        Self { slots, buckets, slot_shift, theta }
    }

    /// Draws a rank of the Zipfian distribution, counted from 0.
    #[inline]
    pub(crate) fn draw(&self, random: &mut Random) -> u64 {
        loop {
            let bits = random.bits();
            let own = (bits >> self.slot_shift) as usize;
            let slot = &self.slots[own];
            let below = bits << (64 - self.slot_shift) < slot.threshold;
            let bucket = &self.buckets[if below { own } else { slot.alias as usize }];
            let place = u128::from(random.bits()) * u128::from(bucket.width);
            let rank = bucket.first + (place >> 64) as u64;
            let thinning = place as u64;
            if thinning <= bucket.squeeze || self.kept(bucket, rank, thinning) {
                return rank - 1;
            }
        }
    }

    /// Returns whether the sampler keeps `rank`, which it drew from `bucket`. The random number `thinning` decides, so
    /// that each rank is drawn with its exact probability.
    #[cold]
    fn kept(&self, bucket: &Bucket, rank: u64, thinning: u64) -> bool {
        crate::random::unit(thinning) < (rank as f64 / bucket.first as f64).powf(-self.theta)
    }
}

/// The Zipfian distribution over a number of ranks that grows. The sampler draws from a table for more ranks than
/// exist, and repeats a draw of a rank that does not exist yet. Draws therefore have exactly the Zipfian distribution
/// over the existing ranks, and a new rank needs no new table.
#[derive(Clone, Debug)]
pub(crate) struct GrowingZipf {
    zipf: Zipf,
    theta: f64,
    ranks: u64,
    room: u64,
}

impl GrowingZipf {
    /// Creates the distribution over a single rank. The caller has already checked the exponent `theta`.
    pub(crate) fn new(theta: f64) -> Self {
        Self { zipf: Zipf::new(1, theta), theta, ranks: 1, room: 1 }
    }

    /// Sets the number of existing ranks to `ranks`. If `room` has changed, the function builds a new table, in which
    /// the number of ranks can grow up to `room`.
    pub(crate) fn resize(&mut self, ranks: u64, room: u64) {
        if room != self.room {
            self.zipf = Zipf::new(room, self.theta);
            self.room = room;
        }
        self.ranks = ranks;
    }

    /// Draws one of the existing ranks of the Zipfian distribution, counted from 0.
    #[inline]
    pub(crate) fn draw(&self, random: &mut Random) -> u64 {
        loop {
            let rank = self.zipf.draw(random);
            if rank < self.ranks {
                return rank;
            }
        }
    }
}

/// Builds an alias table with Vose's method. With this table, an index is drawn in constant time, with a probability in
/// proportion to its weight. The number of slots is a power of two, so random bits select a slot.
fn alias_table(weights: &[f64]) -> Vec<Slot> {
    let slots = weights.len().next_power_of_two().max(2);
    let total: f64 = weights.iter().sum();
    let mut areas: Vec<f64> = weights.iter().map(|weight| weight / total * slots as f64).collect();
    areas.resize(slots, 0.0);
    let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..slots).partition(|slot| areas[*slot] < 1.0);
    // At first, each slot selects only its own bucket. Slots that are left over because of rounding errors keep this
    // bucket.
    let mut table = vec![Slot { threshold: u64::MAX, alias: 0 }; slots];
    for (own, slot) in table.iter_mut().enumerate() {
        slot.alias = own as u32;
    }
    while let (Some(filled), Some(giver)) = (small.pop(), large.last().copied()) {
        table[filled] = Slot { threshold: threshold(areas[filled]), alias: giver as u32 };
        areas[giver] -= 1.0 - areas[filled];
        if areas[giver] < 1.0 {
            large.pop();
            small.push(giver);
        }
    }
    // Slots after the last weight have no bucket of their own. If such a slot still selects itself because of rounding
    // errors, it now selects the first bucket.
    for slot in table.iter_mut().skip(weights.len()).filter(|slot| slot.alias as usize >= weights.len()) {
        *slot = Slot { threshold: 0, alias: 0 };
    }
    table
}

/// Returns the generalized harmonic number H(n, θ) = Σ i^−θ for i = 1..=n.
///
/// The function adds the first terms one by one. For the other terms, the function uses the Euler–Maclaurin formula,
/// whose error is far smaller than the rounding error of the sum.
pub(crate) fn harmonic(n: u64, theta: f64) -> f64 {
    const SUMMED: u64 = 4096;
    let head: f64 = (1..=n.min(SUMMED)).rev().map(|i| (i as f64).powf(-theta)).sum();
    if n <= SUMMED {
        return head;
    }
    let (a, b) = (SUMMED as f64, n as f64);
    let power = |x: f64| x.powf(-theta);
    let integral = if (theta - 1.0).abs() < 1e-9 {
        (b / a).ln()
    } else {
        (b.powf(1.0 - theta) - a.powf(1.0 - theta)) / (1.0 - theta)
    };
    let ends = (power(b) - power(a)) / 2.0;
    let slopes = theta * (power(a) / a - power(b) / b) / 12.0;
    head + integral + ends + slopes
}

#[cfg(test)]
mod tests {
    use statrs::distribution::{ChiSquared, ContinuousCDF};

    use super::*;

    /// Returns the p-value of a χ² test of draws over a few thousand ranks against the exact probabilities. Rare
    /// ranks are combined into groups. Returns `None` if there are fewer than two groups.
    fn chi2_p(ranks: u64, theta: f64, draws: u64) -> Option<f64> {
        let zipf = Zipf::new(ranks, theta);
        let mut random = Random::new(ranks ^ theta.to_bits());
        let mut counts = vec![0u64; ranks as usize];
        for _ in 0..draws {
            counts[zipf.draw(&mut random) as usize] += 1;
        }
        let total: f64 = (1..=ranks).map(|r| (r as f64).powf(-theta)).sum();
        let (mut chi2, mut cells) = (0.0, 0.0f64);
        let (mut pooled, mut pooled_expected) = (0.0, 0.0);
        for (rank, count) in counts.iter().enumerate() {
            pooled += *count as f64;
            pooled_expected += ((rank + 1) as f64).powf(-theta) / total * draws as f64;
            if pooled_expected >= 50.0 {
                chi2 += (pooled - pooled_expected).powi(2) / pooled_expected;
                cells += 1.0;
                (pooled, pooled_expected) = (0.0, 0.0);
            }
        }
        (cells >= 2.0).then(|| ChiSquared::new(cells - 1.0).unwrap().sf(chi2))
    }

    #[test]
    fn draws_match_the_exact_probabilities() {
        for theta in [0.0, 0.5, 0.99, 1.0, 1.2, 2.0, 5.0] {
            for ranks in [1, 2, 3, 255, 256, 257, 300, 5000] {
                let Some(p) = chi2_p(ranks, theta, 400_000) else { continue };
                assert!((1e-4..1.0 - 1e-4).contains(&p), "theta {theta}, {ranks} ranks: p = {p}");
            }
        }
    }

    /// Tests that the χ² test detects a distribution whose exponent differs by only two percent.
    #[test]
    fn the_chi2_test_has_teeth() {
        let (ranks, draws) = (5000u64, 400_000u64);
        let (zipf, mut random) = (Zipf::new(ranks, 1.01), Random::new(1));
        let total: f64 = (1..=ranks).map(|r| (r as f64).powf(-0.99)).sum();
        let head = (0..draws).filter(|_| zipf.draw(&mut random) < 10).count() as f64;
        let expected = (1..=10).map(|r| f64::from(r).powf(-0.99)).sum::<f64>() / total * draws as f64;
        assert!((head - expected) / expected.sqrt() > 5.0);
    }

    /// Tests that smaller ranks are also drawn more often inside a bucket. The difference is only a few tenths of a
    /// percent, so counts of single ranks cannot show this difference.
    #[test]
    fn buckets_are_thinned_towards_their_end() {
        const RANKS: u64 = 1_000_000;
        let (zipf, draws) = (Zipf::new(RANKS, 1.0), 3_000_000);
        let halves = |rank: u64| {
            let bucket = zipf.buckets.partition_point(|bucket| bucket.first <= rank) - 1;
            let Bucket { first, width, .. } = zipf.buckets[bucket];
            (width > 1, rank - first < width / 2)
        };
        let (mut tail, mut first_half, mut random) = (0.0, 0.0, Random::new(12));
        for _ in 0..draws {
            let (in_tail, in_first) = halves(zipf.draw(&mut random) + 1);
            tail += f64::from(in_tail);
            first_half += f64::from(in_tail && in_first);
        }
        let wide = zipf.buckets.iter().filter(|bucket| bucket.width > 1);
        let (mut expected, mut total) = (0.0, 0.0);
        for Bucket { first, width, .. } in wide {
            let below = harmonic(first - 1, 1.0);
            expected += harmonic(first - 1 + width / 2, 1.0) - below;
            total += harmonic(first - 1 + width, 1.0) - below;
        }
        let z = (first_half - tail * expected / total) / (tail / 4.0).sqrt();
        assert!(z.abs() < 4.5, "{z} standard deviations");
    }

    /// Tests a distribution over 10⁹ ranks: the shares of geometric ranges of ranks must match the sums of
    /// probabilities.
    #[test]
    fn a_billion_ranks_are_exact_and_quick_to_set_up() {
        const RANKS: u64 = 1_000_000_000;
        for theta in [0.5, 0.99, 1.0, 1.5] {
            let zipf = Zipf::new(RANKS, theta);
            assert!(zipf.slots.len() <= 1024, "{}", zipf.slots.len());
            let mut random = Random::new(11);
            let draws = 400_000u64;
            let mut decades = [0u64; 31];
            for _ in 0..draws {
                decades[(zipf.draw(&mut random) + 1).ilog2() as usize] += 1;
            }
            let total = harmonic(RANKS, theta);
            for (decade, count) in decades.iter().enumerate().take(30) {
                let (low, high) = ((1u64 << decade) - 1, ((2u64 << decade) - 1).min(RANKS));
                let below = if low == 0 { 0.0 } else { harmonic(low, theta) };
                let expected = (harmonic(high, theta) - below) / total * draws as f64;
                let z = (*count as f64 - expected) / expected.max(1.0).sqrt();
                assert!(z.abs() < 5.5, "theta {theta}, ranks {low}..{high}: {count}, expected {expected}");
            }
        }
    }

    #[test]
    fn harmonic_numbers_are_right() {
        for (n, theta, expected) in [
            (1, 0.99, 1.0),
            (4096, 0.0, 4096.0),
            (10_000_000_000, 0.99, 26.469_028_201_75),
            (1_000_000, 1.0, 14.392_726_722_865),
        ] {
            let got = harmonic(n, theta);
            assert!((got / expected - 1.0).abs() < 1e-11, "{n} {theta}: {got}");
        }
        for theta in [0.3, 0.99, 1.0, 1.7] {
            let naive: f64 = (1..=100_000u64).rev().map(|i| (i as f64).powf(-theta)).sum();
            assert!((harmonic(100_000, theta) / naive - 1.0).abs() < 1e-12, "{theta}");
        }
    }

    #[test]
    fn impossible_exponents_are_refused() {
        assert!([0.0, 0.99, 1.0, 3.0].into_iter().all(|theta| check_theta(theta).is_ok()));
        assert!([-0.1, f64::NAN, f64::INFINITY].into_iter().all(|theta| check_theta(theta).is_err()));
    }
}
