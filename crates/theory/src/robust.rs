//! The cost of a design for a mix of operations that may drift, which is Endure's robust objective in one dimension.
//!
//! Source: Huynh, Chaudhari, Terzi, Athanassoulis, "Endure" (VLDB 2022), section 5. The objective is the largest mean
//! cost over all mixes whose Kullback-Leibler divergence from the expected mix w is at most ρ. The dual problem is the
//! minimum over λ > 0 and η of `η + ρλ + λ·Σ w_i·(e^((c_i − η)/λ) − 1)`. The minimum over η is `η = λ·ln Σ
//! w_i·e^(c_i/λ)`, which leaves `ρλ + λ·ln Σ w_i·e^(c_i/λ)`, convex in λ.

/// The golden ratio minus 1, which divides the interval of a golden-section search.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// The number of steps of the golden-section search for λ.
const ROUNDS: u32 = 200;

/// Returns the mean cost of an operation in the worst mix of operations. `costs` contains the cost of each kind of
/// operation. The worst mix is within the divergence `drift` of the expected mix `weights`, whose sum must be 1.
///
/// Without drift, the result is the mean for the expected mix. With unlimited drift, it is the largest cost of an
/// operation whose weight is not 0.
pub fn robust_cost(drift: f64, weights: &[f64], costs: &[f64]) -> f64 {
    let used: Vec<(f64, f64)> =
        weights.iter().copied().zip(costs.iter().copied()).filter(|(weight, _)| *weight > 0.0).collect();
    let mean: f64 = used.iter().map(|(weight, cost)| weight * cost).sum();
    let most = used.iter().map(|(_, cost)| *cost).fold(f64::NEG_INFINITY, f64::max);
    let spread = used.iter().map(|(_, cost)| most - cost).fold(0.0, f64::max);
    if used.is_empty() || drift <= 0.0 || spread <= 0.0 {
        return mean;
    }
    // The largest cost is subtracted from each cost, so that no exponential overflows.
    let value = |log_lambda: f64| {
        let lambda = log_lambda.exp() * spread;
        let sum: f64 = used.iter().map(|(weight, cost)| weight * ((cost - most) / lambda).exp()).sum();
        drift * lambda + lambda * sum.ln() + most
    };
    let (mut low, mut high) = (-30.0, 30.0);
    for _ in 0..ROUNDS {
        let (left, right) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
        if value(left) <= value(right) { high = right } else { low = left }
    }
    // No mix costs more than its most expensive operation.
    value(f64::midpoint(low, high)).clamp(mean, most)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the worst mean cost over all enumerated mixes of three operations within the divergence `drift`.
    fn enumerated(drift: f64, weights: [f64; 3], costs: [f64; 3]) -> f64 {
        const STEPS: i32 = 600;
        let mut worst: f64 = 0.0;
        for first in 0..=STEPS {
            for second in 0..=STEPS - first {
                let mix =
                    [first, second, STEPS - first - second].map(|part| f64::from(part) / f64::from(STEPS));
                let term = |(share, weight): (f64, f64)| {
                    if share > 0.0 { share * (share / weight).ln() } else { 0.0 }
                };
                if mix.into_iter().zip(weights).map(term).sum::<f64>() <= drift {
                    worst = worst.max(mix.iter().zip(costs).map(|(share, cost)| share * cost).sum());
                }
            }
        }
        worst
    }

    #[test]
    fn it_is_the_worst_of_the_enumerated_mixes() {
        let cases = [
            (0.1, [0.33, 0.33, 0.34], [1.0, 5.0, 3.0]),
            (0.5, [0.5, 0.3, 0.2], [0.2, 4.0, 9.0]),
            (1.0, [0.9, 0.05, 0.05], [1.0, 2.0, 30.0]),
            (2.0, [0.25, 0.5, 0.25], [7.0, 1.0, 3.0]),
        ];
        for (drift, weights, costs) in cases {
            let (form, enumerated) =
                (robust_cost(drift, &weights, &costs), enumerated(drift, weights, costs));
            assert!(form >= enumerated - 1e-9 && form <= enumerated * 1.02, "{drift}: {form} {enumerated}");
        }
    }

    #[test]
    fn its_ends_are_the_mean_and_the_worst_operation() {
        let (weights, costs) = ([0.2, 0.5, 0.3, 0.0], [1.0, 2.0, 8.0, 100.0]);
        assert!((robust_cost(0.0, &weights, &costs) - 3.6).abs() < 1e-12);
        assert!((robust_cost(1e6, &weights, &costs) - 8.0).abs() < 1e-6);
        let sweep: Vec<f64> =
            (0..40).map(|tenth| robust_cost(f64::from(tenth) / 10.0, &weights, &costs)).collect();
        assert!(sweep.windows(2).all(|pair| pair[0] <= pair[1] + 1e-9), "{sweep:?}");
        assert!((robust_cost(0.5, &[1.0], &[4.0]) - 4.0).abs() < 1e-12);
    }
}
