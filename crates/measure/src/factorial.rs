//! Computes main effects and interactions in a sweep that contains every combination of its factors (Fisher, *The
//! Design of Experiments*, 1935).
//!
//! The response is the logarithm of a metric, so effects are ratios. Two factors that each multiply the metric have no
//! interaction. Each round of trials contains all combinations. An effect is computed separately in each round, so a
//! slowdown of a whole round has no effect. Confidence intervals and p-values are computed over rounds.

use statrs::distribution::{ContinuousCDF, FisherSnedecor, StudentsT};

use crate::comparison::Interval;
use crate::significance::{holm, mean_and_error};

/// The effect of a factor (a swept setting) on a metric, or the interaction of two factors. A level is one value of a
/// factor.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// The indexes of the factors in the sweep: one index for a main effect, two indexes for an interaction.
    pub factors: Vec<usize>,
    /// The effect at each level of the factor, or at each pair of levels of two factors.
    pub levels: Vec<LevelEffect>,
    /// The fraction of the variation between combinations that this effect explains, from 0 to 1.
    pub share: f64,
    /// The p-value of the effect: the probability of an effect of this size by chance, corrected for the number of
    /// effects. `None` for a single round.
    pub p_value: Option<f64>,
}

/// The effect at one level of a factor, or at a pair of levels of two factors.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelEffect {
    /// The index of the level of each factor in the effect.
    pub levels: Vec<usize>,
    /// The ratio of the metric at this level to the mean of the metric. For an interaction, this is the factor that
    /// remains after the main effects of both factors are removed.
    pub ratio: f64,
    /// The confidence interval of the ratio, over rounds of trials; `None` for a single round.
    pub interval: Option<Interval>,
}

/// Returns the main effects of all factors, followed by the interactions of all pairs of factors.
///
/// `counts` contains the number of levels of each factor. Each round contains the logarithm of the metric for every
/// combination of levels, in the order in which the level of the last factor changes fastest. The p-values come from
/// the analysis of variance with rounds as blocks, with the correction of Geisser & Greenhouse (*Annals of Mathematical
/// Statistics* 29, 1958) for correlated rounds.
///
/// # Panics
/// There is no round, or a round does not contain one value for each combination.
pub fn effects(counts: &[usize], rounds: &[Vec<f64>], confidence: f64) -> Vec<Effect> {
    let cells: usize = counts.iter().product();
    assert!(
        !rounds.is_empty() && rounds.iter().all(|round| round.len() == cells),
        "each round of trials must contain each combination of factor levels exactly once"
    );
    let mains = (0..counts.len()).map(|factor| vec![factor]);
    let pairs = (0..counts.len()).flat_map(|one| (one + 1..counts.len()).map(move |other| vec![one, other]));
    let total = variation(&mean_of_rounds(rounds));
    let mut found: Vec<Effect> =
        mains.chain(pairs).map(|factors| effect(counts, rounds, factors, total, confidence)).collect();
    let p_values: Vec<f64> = found.iter().filter_map(|effect| effect.p_value).collect();
    for (effect, p_value) in found.iter_mut().zip(holm(&p_values)) {
        effect.p_value = Some(p_value);
    }
    found
}

fn mean_of_rounds(rounds: &[Vec<f64>]) -> Vec<f64> {
    (0..rounds[0].len())
        .map(|cell| rounds.iter().map(|round| round[cell]).sum::<f64>() / rounds.len() as f64)
        .collect()
}

/// Returns how much values vary: the sum of their squared distances from their mean.
fn variation(cells: &[f64]) -> f64 {
    let mean = cells.iter().sum::<f64>() / cells.len() as f64;
    cells.iter().map(|value| (value - mean).powi(2)).sum()
}

/// Returns the level of the factor `factor` in the combination with the number `cell`. `counts` contains the number of
/// levels of each factor.
fn level_of(counts: &[usize], factor: usize, cell: usize) -> usize {
    let below: usize = counts[factor + 1..].iter().product();
    cell / below % counts[factor]
}

/// Returns the effect of the factors `factors` in one round of trials, as logarithms: one value for each combination of
/// their levels.
fn in_round(counts: &[usize], factors: &[usize], round: &[f64]) -> Vec<f64> {
    let grand = round.iter().sum::<f64>() / round.len() as f64;
    let mean_at = |chosen: &[(usize, usize)]| {
        let is_there =
            |cell: &usize| chosen.iter().all(|(factor, level)| level_of(counts, *factor, *cell) == *level);
        let at: Vec<usize> = (0..round.len()).filter(is_there).collect();
        at.iter().map(|cell| round[*cell]).sum::<f64>() / at.len() as f64 - grand
    };
    let of_one = |factor: usize, level: usize| mean_at(&[(factor, level)]);
    let all = levels(counts, factors).into_iter().map(|levels| match (factors, &levels[..]) {
        ([one, other], [first, second]) => {
            mean_at(&[(*one, *first), (*other, *second)]) - of_one(*one, *first) - of_one(*other, *second)
        }
        _ => of_one(factors[0], levels[0]),
    });
    all.collect()
}

/// Returns all combinations of the levels of the factors `factors`, as indexes of levels. The last factor changes
/// fastest.
fn levels(counts: &[usize], factors: &[usize]) -> Vec<Vec<usize>> {
    factors.iter().fold(vec![Vec::new()], |all, factor| {
        let extended = |levels: Vec<usize>| {
            (0..counts[*factor]).map(move |level| [levels.clone(), vec![level]].concat())
        };
        all.into_iter().flat_map(extended).collect()
    })
}

fn effect(counts: &[usize], rounds: &[Vec<f64>], factors: Vec<usize>, total: f64, confidence: f64) -> Effect {
    let by_round: Vec<Vec<f64>> = rounds.iter().map(|round| in_round(counts, &factors, round)).collect();
    let all = levels(counts, &factors);
    let repeats = rounds[0].len() as f64 / all.len() as f64;
    let means: Vec<f64> = mean_of_rounds(&by_round);
    let explained = repeats * means.iter().map(|log| log.powi(2)).sum::<f64>();
    let p_value = (rounds.len() > 1).then(|| {
        let rest = by_round
            .iter()
            .flat_map(|round| round.iter().zip(&means).map(|(log, mean)| (log - mean).powi(2)));
        chance(explained, repeats * rest.sum::<f64>(), rounds.len() as f64)
    });
    let of_level = |(at, levels): (usize, Vec<usize>)| {
        let logs: Vec<f64> = by_round.iter().map(|round| round[at]).collect();
        LevelEffect { levels, ratio: means[at].exp(), interval: interval(&logs, confidence) }
    };
    Effect {
        levels: all.into_iter().enumerate().map(of_level).collect(),
        share: if total > 0.0 { explained / total } else { 0.0 },
        p_value,
        factors,
    }
}

/// Returns the p-value of an effect, from the analysis of variance. `explained` is the variation that the effect
/// explains, and `rest` is the variation of the effect between rounds.
fn chance(explained: f64, rest: f64, rounds: f64) -> f64 {
    // Rounding errors cause variations up to this size, even if an effect does not exist or all rounds are equal.
    const ROUNDING: f64 = 1e-24;
    if explained <= ROUNDING {
        return 1.0;
    }
    if rest <= ROUNDING * explained {
        return 0.0;
    }
    let ratio = rounds * explained * (rounds - 1.0) / rest;
    FisherSnedecor::new(1.0, rounds - 1.0).map_or(1.0, |distribution| distribution.sf(ratio))
}

/// Returns Student's confidence interval for the mean of logarithms, as ratios. Returns `None` for a single round.
fn interval(logs: &[f64], confidence: f64) -> Option<Interval> {
    let (mean, error) = mean_and_error(logs)?;
    let student = StudentsT::new(0.0, 1.0, logs.len() as f64 - 1.0).ok()?;
    let reach = student.inverse_cdf(f64::midpoint(1.0, confidence)) * error;
    Some(Interval { low: (mean - reach).exp(), high: (mean + reach).exp() })
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    /// Returns rounds of a sweep with 2 × 3 combinations. `first` and `second` are the effects of the factors.
    /// `interacts` is the additional ratio of the combination (1, 2), and each measurement has noise of ±`noise`.
    fn rounds(seed: u64, first: f64, second: f64, interacts: f64, noise: f64) -> Vec<Vec<f64>> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut round = || {
            let luck: f64 = random.random_range(-0.3..0.3);
            let cells = (0..6).map(|cell| {
                let (a, b) = (cell / 3, cell % 3);
                let log = f64::from(a) * first.ln()
                    + f64::from(b) * second.ln()
                    + f64::from(a == 1 && b == 2) * interacts.ln();
                luck + log + noise * random.random_range(-1.0..1.0)
            });
            cells.collect::<Vec<f64>>()
        };
        (0..8).map(|_| round()).collect()
    }

    #[test]
    fn planted_effects_come_out_and_nothing_else() {
        let found = effects(&[2, 3], &rounds(1, 1.5, 1.1, 1.0, 0.0), 0.95);
        let factors: Vec<&[usize]> = found.iter().map(|effect| &effect.factors[..]).collect();
        assert_eq!(factors, [&[0][..], &[1], &[0, 1]]);
        // Levels lie as far above as below the mean of their logarithms.
        let ratios: Vec<f64> = found[0].levels.iter().map(|level| level.ratio).collect();
        assert!(
            (ratios[1] / ratios[0] - 1.5).abs() < 1e-9 && (ratios[0] * ratios[1] - 1.0).abs() < 1e-9,
            "{ratios:?}"
        );
        assert!((found[1].levels[2].ratio / found[1].levels[0].ratio - 1.21).abs() < 1e-9);
        assert!(found[2].levels.iter().all(|level| (level.ratio - 1.0).abs() < 1e-9), "{:?}", found[2]);
        let shares: f64 = found.iter().map(|effect| effect.share).sum();
        assert!((shares - 1.0).abs() < 1e-9, "{shares}");
        assert!(found[0].p_value < Some(1e-6) && found[2].p_value == Some(1.0), "{found:?}");
    }

    #[test]
    fn a_planted_interaction_is_told_from_chance() {
        let found = effects(&[2, 3], &rounds(2, 1.2, 1.0, 1.3, 0.05), 0.95);
        assert!(found[2].p_value < Some(0.01), "{:?}", found[2]);
        let of_planted = found[2].levels.iter().find(|level| level.levels == [1, 2]).unwrap();
        let interval = of_planted.interval.unwrap();
        // A third of the planted ratio's logarithm is the interaction: the rest is in the main effects.
        let expected = 1.3_f64.powf(1.0 / 3.0);
        assert!(
            interval.low < expected && expected < interval.high && interval.low > 1.0,
            "{interval:?} {expected}"
        );
    }

    /// Rule: if there is no effect, at most 5 of 100 sweeps have an effect with p ≤ 0.05 among their three effects.
    #[test]
    fn chance_makes_few_effects() {
        let alarmed = (0..400).filter(|seed| {
            let found = effects(&[2, 3], &rounds(100 + seed, 1.0, 1.0, 1.0, 0.05), 0.95);
            found.iter().any(|effect| effect.p_value.is_some_and(|p| p <= 0.05))
        });
        let alarmed = alarmed.count();
        assert!(alarmed <= 28, "{alarmed} of 400");
    }

    #[test]
    fn a_single_round_has_effects_without_intervals() {
        let found = effects(&[2], &[vec![0.0, 2.0_f64.ln()]], 0.95);
        assert!((found[0].levels[1].ratio - 2.0_f64.sqrt()).abs() < 1e-9);
        assert_eq!((found[0].p_value, found[0].levels[0].interval), (None, None));
    }
}
