//! A ranking of variants with ties. Two variants are tied if they do not differ significantly.

use results::Better;

use crate::{Comparison, Criteria, Sample, Verdict, adjust, compare};

/// The position of a variant in a ranking with ties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankedVariant {
    /// The index of the variant in the list of samples that were ranked.
    pub variant: usize,
    /// The rank of the variant: the number of significantly better variants, plus 1. Tied variants can have equal
    /// ranks.
    pub rank: usize,
    /// The variants that are significantly better than this variant, best variant first.
    pub beaten_by: Vec<usize>,
    /// The variants that do not differ significantly from this variant, best variant first.
    pub tied_with: Vec<usize>,
}

/// Ranks variants by pairwise comparisons, with a common correction of all p-values. The result is sorted by the
/// median, best variant first, and omits variants without a value.
///
/// Ties are not transitive: the first and the third of three variants may differ significantly, although the second
/// variant is tied with both.
///
/// # Panics
/// Panics if neither higher nor lower is better.
pub fn standings(samples: &[Sample], better: Better, criteria: &Criteria) -> Vec<RankedVariant> {
    assert!(
        better != Better::Neither,
        "a ranking must have a metric whose higher or lower values are better"
    );
    let sign = if better == Better::Lower { 1.0 } else { -1.0 };
    let badness = |variant: &usize| sign * samples[*variant].median().unwrap_or(f64::INFINITY);
    let mut order: Vec<usize> =
        (0..samples.len()).filter(|variant| samples[*variant].median().is_some()).collect();
    order.sort_by(|a, b| badness(a).total_cmp(&badness(b)));
    let pairs = order
        .iter()
        .enumerate()
        .flat_map(|(at, one)| order[at + 1..].iter().map(move |other| (*one, *other)));
    let pairs: Vec<(usize, usize)> = pairs.collect();
    let compared =
        |(one, other): &(usize, usize)| compare(&samples[*one], &samples[*other], better, criteria);
    let mut comparisons: Vec<Comparison> = pairs.iter().map(compared).collect();
    adjust(&mut comparisons);
    // The first variant of a pair is the baseline of its comparison, so it is better if the second variant regressed.
    let winner = |((one, other), comparison): (&(usize, usize), &Comparison)| match comparison.verdict {
        Verdict::Regressed => Some((*one, *other)),
        Verdict::Improved => Some((*other, *one)),
        Verdict::Equivalent | Verdict::Inconclusive => None,
    };
    let beats: Vec<(usize, usize)> = pairs.iter().zip(&comparisons).filter_map(winner).collect();
    let standing = |variant: &usize| {
        let others = || order.iter().copied().filter(|other| other != variant);
        let beaten_by: Vec<usize> = others().filter(|other| beats.contains(&(*other, *variant))).collect();
        let is_tied =
            |other: &usize| !beats.contains(&(*other, *variant)) && !beats.contains(&(*variant, *other));
        let tied_with = others().filter(is_tied).collect();
        RankedVariant { variant: *variant, rank: beaten_by.len() + 1, beaten_by, tied_with }
    };
    order.iter().map(standing).collect()
}

/// Returns for each variant a variant that dominates it, or `None` if the variant is on the Pareto front. A dominating
/// variant is significantly better in at least one metric, and has no worse median in any metric.
///
/// `standings` contains the ranking for each metric. `medians` contains, for each metric, its better direction and the
/// median of each variant.
pub fn dominated(medians: &[(Better, Vec<f64>)], standings: &[Vec<RankedVariant>]) -> Vec<Option<usize>> {
    let variants = medians.first().map_or(0, |(_, values)| values.len());
    let beats = |one: usize, other: usize| {
        let is_beaten = |of: &RankedVariant| of.variant == other && of.beaten_by.contains(&one);
        standings.iter().any(|standings| standings.iter().any(is_beaten))
    };
    let is_no_worse = |one: usize, other: usize| {
        medians.iter().all(|(better, values)| match better {
            Better::Lower => values[one] <= values[other],
            Better::Higher => values[one] >= values[other],
            Better::Neither => true,
        })
    };
    let dominates = |one: usize, other: usize| one != other && beats(one, other) && is_no_worse(one, other);
    (0..variants).map(|variant| (0..variants).find(|other| dominates(*other, variant))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(name: &str, level: f64, spread: f64) -> Sample {
        let signs = [1.0, -0.6, 0.3, -0.9, 0.7, -0.2, 0.5, -0.8];
        let shift = name.len() % signs.len();
        Sample::new(name, (0..8).map(|at| (at, level * (1.0 + spread * signs[(at as usize + shift) % 8]))))
    }

    #[test]
    fn planted_ties_are_ties_and_both_beat_the_third() {
        let samples = [
            sample("slowest", 150.0, 0.02),
            sample("a", 100.0, 0.05),
            sample("bb", 101.0, 0.05),
            Sample::new("no", []),
        ];
        let found = standings(&samples, Better::Lower, &Criteria::default());
        let ranks: Vec<(usize, usize)> =
            found.iter().map(|standing| (standing.variant, standing.rank)).collect();
        assert_eq!((ranks[2], found.len()), ((0, 3), 3), "{found:?}");
        assert_eq!((ranks[0].1, ranks[1].1), (1, 1), "{found:?}");
        assert_eq!((&found[0].tied_with[..], &found[0].beaten_by[..]), (&[found[1].variant][..], &[][..]));
        assert_eq!(found[2].beaten_by.len(), 2);
        let higher = standings(&samples, Better::Higher, &Criteria::default());
        assert_eq!((higher[0].variant, higher[1].rank), (0, 2));
    }

    #[test]
    fn the_front_has_what_no_other_variant_dominates() {
        let fast = [sample("slow", 150.0, 0.01), sample("a", 100.0, 0.01), sample("bb", 130.0, 0.01)];
        let small = [sample("slow", 10.0, 0.01), sample("a", 20.0, 0.01), sample("bb", 25.0, 0.01)];
        let metrics = [&fast, &small];
        let of = |samples: &[Sample; 3]| standings(samples, Better::Lower, &Criteria::default());
        let medians = metrics.map(|samples| {
            (Better::Lower, samples.iter().map(|sample| sample.median().unwrap()).collect::<Vec<f64>>())
        });
        let found = dominated(&medians, &metrics.map(of));
        assert_eq!(found, [None, None, Some(1)]);
        assert_eq!(dominated(&medians[..1], &[of(&fast)]), [Some(1), None, Some(1)]);
    }
}
